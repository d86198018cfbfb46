"""Variants of heuristics and of look-ahead policies: which part of stand-by gains, and AY as a criterion.

The parts of stand-by run in the plain simulator on the short points of the paper's experiment, the criteria in machine
code on all points with m = 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs.studies.coupled.lookahead import POINT
from docs.studies.coupled.optima import known_optima
from docs.studies.rows import read_rows_with_gaps
from hindsched import instances
from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.jobs import job_key, load_shared, names_of
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.coupled.paper import Paper, experiment
from hindsched.instances.errors import SelfCheckError
from hindsched.instances.states import UP
from hindsched.online.coupled import make_policy, run_policy
from hindsched.online.coupled.lookahead.lookahead_policies import lookahead_policy
from hindsched.online.coupled.simulate import simulate
from hindsched.online.coupled.visible import Decision, Policy, Visible

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BESIDE", "CRITERIA", "VARIANTS", "WithStandBy", "points", "run_variants", "with_published"]

_HEURISTICS, _LOOKAHEAD = ("E-IE",), ("rr", "sb")
#: Proactive heuristics that switch by AY and by Y.
CRITERIA = tuple(f"{criterion}-{builder}" for criterion in ("AY", "Y") for builder in ("IE", "IAY"))
#: Slots of a run in which changes are counted.
COUNTED = 2_000
#: A run of a variant ends after this many times the optimum; it has then not finished.
LONGEST = 100


class WithStandBy:
    """A heuristic of the paper that keeps every UP worker on stand-by and sends programs over spare channels.

    Parameters
    ----------
    heuristic
        It chooses the tasks, and does not see the workers on stand-by as enrolled.
    """

    def __init__(self, heuristic: Policy) -> None:
        self.name = f"{heuristic.name}+sb"
        self._heuristic = heuristic

    def choose(self, visible: Visible) -> Decision:
        """Return the tasks that the heuristic chooses, all other workers without tasks, and members served first."""
        held = {q: x for q, x in visible.tasks.items() if x}
        chosen = self._heuristic.choose(replace(visible, tasks=held))
        tasks: Mapping[int, int] = held if chosen is None else chosen  # type: ignore[assignment]
        others = [q for q, state in enumerate(visible.now) if q not in tasks and (state == UP or q in visible.tasks)]
        serve = sorted(tasks) + sorted(others, key=lambda q: (visible.problem.w[q], q))
        return Decision({**tasks, **dict.fromkeys(others, 0)}, serve)


class _PartOfStandBy:
    """The policy ``sb`` with some workers on stand-by left out.

    Parameters
    ----------
    name
        Its name.
    leaves
        Whether a worker without tasks is left out, by what it sees and the worker.
    """

    def __init__(self, name: str, leaves: Callable[[Visible, int], bool]) -> None:
        self.name = name
        self._leaves = leaves
        self._planner = lookahead_policy("sb")

    def choose(self, visible: Visible) -> Decision:
        """Return the decision of ``sb`` without the workers that are left out."""
        found = self._planner.choose(visible)
        tasks = {q: x for q, x in (found.tasks or {}).items() if x or not self._leaves(visible, q)}
        return Decision(tasks, found.serve)


def _has_nothing(visible: Visible, q: int) -> bool:
    return visible.program[q] == 0 and visible.data[q] == 0


def _has_program(visible: Visible, q: int) -> bool:
    return visible.program[q] == visible.problem.t_prog


#: The variants by name.
VARIANTS: Mapping[str, Callable[[], Policy]] = {
    "E-IE+sb": lambda: WithStandBy(make_policy("E-IE")),
    "keep": lambda: _PartOfStandBy("keep", _has_nothing),
    "send": lambda: _PartOfStandBy("send", _has_program),
}
#: Policies with published runs on the same instances: of the paper, and look-ahead policies.
BESIDE = (*_HEURISTICS, *_LOOKAHEAD)


def points(
    wmins: Sequence[int] = (1,), scenarios: Sequence[int] = range(10), ms: Sequence[int] = (5, 10)
) -> list[Paper]:
    """Return the first trial of scenarios of the experiment."""
    return experiment(ms=ms, wmins=wmins, scenarios=scenarios, trials=[0])


def run_variants(
    sources: Sequence[Paper], folder: Path, *, policies: Sequence[str] = tuple(VARIANTS), num_processes: int = 1
) -> pd.DataFrame:
    """Run variants or heuristics on instances with a published optimum; resume what ``folder`` holds.

    Returns
    -------
    pandas.DataFrame
        One row per instance and policy: its parameters, ``policy``, ``makespan`` (missing: unfinished), ``changes`` of
        the tasks in the first slots, the number of these slots, ``counted``, and the ``optimum``.
    """
    import pandas as pd

    known = known_optima().set_index([*POINT, "seed"])["makespan"].dropna().to_dict()
    jobs = []
    for source in sources:
        point = tuple(getattr(source, name) for name in (*POINT, "seed"))
        for policy in policies if point in known else ():
            key = job_key("coupled", "online", "variants", source.identity, policy)
            jobs.append(Job(key, f"{policy} on {source.name}", _run, (source, policy, int(known[point]))))
    with Journal(folder) as journal:
        run_jobs("variants", jobs, journal, num_processes=num_processes)
        found = [journal[job.key] for job in jobs]
    names = ("policy", "makespan", "changes", "counted", "optimum")
    rows = [{**{name: row["point"][name] for name in POINT}, **{name: row[name] for name in names}} for row in found]
    return pd.DataFrame(rows).convert_dtypes()


def _run(source: Paper, policy: str, optimum: int) -> dict[str, Any]:
    instance = load_shared(source)
    if policy in VARIANTS:
        run = simulate(instance, VARIANTS[policy](), slots=min(instance.slots, LONGEST * optimum))
    else:
        run = run_policy(instance, policy, schedule_slots=COUNTED)
    verdict = instances.check(instance, run.schedule)
    if not verdict.is_valid or (run.makespan is not None and run.makespan < optimum):
        raise SelfCheckError(f"{policy} on {source.name}: {run.makespan}, optimum {optimum}; the checker: {verdict}")
    entries = [entry for entry in run.schedule.configurations if entry.slot < COUNTED]
    held = [{q: x for q, x in entry.tasks.items() if x} for entry in entries]
    return {
        "kind": "variant",
        **names_of(source, instance),
        "policy": policy,
        "makespan": run.makespan,
        "changes": sum(one != other for one, other in pairwise(held)),
        "counted": min(run.schedule.slots, COUNTED),
        "optimum": optimum,
    }


def with_published(frame: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of `VARIANTS` and those of `BESIDE` on the same instances, with the column ``ratio``.

    Parameters
    ----------
    frame
        As `run_variants` returns it.
    printed
        Runs of the paper's heuristics, with ``makespan``.
    """
    import pandas as pd

    frame = frame[frame["policy"].isin(VARIANTS)]
    where = frame[[*POINT, "optimum"]].drop_duplicates().astype(dict.fromkeys(POINT, "Int64"))
    mine = read_rows_with_gaps("lookahead_runs").melt(POINT, _LOOKAHEAD, "policy", "makespan")
    theirs = printed.loc[printed["policy"].isin(_HEURISTICS), [*POINT, "policy", "makespan"]]
    parts = [part.astype(dict.fromkeys(POINT, "Int64")).merge(where, on=POINT) for part in (mine, theirs)]
    both = pd.concat([frame, *parts], ignore_index=True)
    makespans = both["makespan"].astype(float).fillna(float("inf"))
    return both.assign(ratio=makespans / both["optimum"].astype(float))
