"""Look-ahead policies on the paper's whole experiment."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs.studies.coupled.optima import known_optima
from hindsched import instances
from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.jobs import job_key, load_shared, names_of
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.coupled.paper import Paper
from hindsched.instances.errors import SelfCheckError
from hindsched.instances.text_files import write_text
from hindsched.online.coupled import OURS, run_policy

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["POINT", "run_lookahead", "write_tables"]

#: Columns that identify an instance of the experiment.
POINT = ["m", "n_com", "wmin", "scenario", "trial"]
#: Number of first slots of each run that the checker replays.
CHECKED_SLOTS = 300


def run_lookahead(
    sources: Sequence[Paper],
    folder: Path,
    *,
    policies: Sequence[str] = OURS,
    num_processes: int = 1,
    only_made: bool = False,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Run policies on instances of the experiment; resume what ``folder`` holds.

    Instances of seed 0 that are proven infeasible are left out. The others run trial by trial, and scenario by scenario
    within a trial, so an interrupted study has a sample of all points. Policies that pilot runs make equal on an
    instance run once.

    Parameters
    ----------
    sources
        See `hindsched.bench.coupled.paper.experiment`.
    folder
        Receives ``runs.jsonl``, ``lookahead_runs.csv`` and ``lookahead_speed.csv``.
    policies
        Some of `hindsched.online.coupled.OURS`.
    num_processes
        As for `hindsched.bench.campaign.engine.run_jobs`.
    only_made
        Run nothing; write the tables of the runs in the folder, up to the first missing one. This choice depends on no
        result, not even on the time of a run.

    Returns
    -------
    pandas.DataFrame
        One row per instance: its parameters, and the makespan of each policy (missing: unfinished).
    pandas.DataFrame
        One row per policy: ``runs``, simulated ``slots``, and seconds of processor time of the runs (``run_s``) and of
        the pilot runs before them (``pilot_s``), which trials of one scenario share.

    Raises
    ------
    SelfCheckError
        When the checker refuses the beginning of a run, or a run is shorter than the proven optimum.
    """
    published = known_optima()[[*POINT, "seed", "status", "makespan"]].to_numpy().tolist()
    known = {tuple(row[:6]): row[6:] for row in published}
    jobs = []
    for source in sorted(sources, key=lambda source: (source.trial, source.scenario)):
        status, optimum = known.get(tuple(getattr(source, name) for name in (*POINT, "seed")), (None, None))
        if status != "infeasible":
            key = job_key("coupled", "online", "beyond", source.identity, tuple(policies))
            least = int(optimum) if status == "optimal" and optimum is not None else None
            jobs.append(Job(key, source.name, _run, (source, tuple(policies), least)))
    with Journal(folder) as journal:
        if only_made:
            jobs = list(takewhile(lambda job: job.key in journal, jobs))
        run_jobs("beyond", jobs, journal, num_processes=num_processes)
        found = [journal[job.key] for job in jobs]
    return write_tables(found, policies, folder)


def write_tables(found: Sequence[Mapping[str, Any]], policies: Sequence[str], folder: Path) -> tuple[Any, Any]:
    """Write the tables of rows of `run_lookahead` into a folder, and return them."""
    import pandas as pd

    rows = [{**{name: row["point"][name] for name in POINT}, **row["makespans"]} for row in found]
    frame = pd.DataFrame(rows, columns=[*POINT, *policies]).convert_dtypes()
    frame = frame.sort_values(POINT, ignore_index=True)
    costs = pd.DataFrame([cost for row in found for cost in row["costs"]])
    costs = costs.groupby("policy", sort=False).agg(
        runs=("slots", "size"), slots=("slots", "sum"), run_s=("run_s", "sum"), pilot_s=("pilot_s", "sum")
    )
    costs = costs.reset_index().round(3)
    write_text(folder / "lookahead_runs.csv", frame.to_csv(index=False))
    write_text(folder / "lookahead_speed.csv", costs.to_csv(index=False))
    return frame, costs


def _run(source: Paper, policies: Sequence[str], least: int | None) -> dict[str, Any]:
    from hindsched.online.coupled.lookahead.lookahead_policies import lookahead_policy
    from hindsched.online.coupled.visible import Problem

    instance = load_shared(source)
    problem = Problem.of(instance)
    makespans: dict[str, int | None] = {}
    costs = []
    known: dict[Any, str] = {}
    for policy in policies:
        planner = lookahead_policy(policy)
        begun = time.process_time()
        settings = planner.settings_for(problem)
        pilot_s = time.process_time() - begun
        same = known.setdefault((planner.options.stands_by, planner.options.prefetches, settings), policy)
        if same != policy:
            makespans[policy] = makespans[same]
            continue
        begun = time.process_time()
        run = run_policy(instance, policy, schedule_slots=CHECKED_SLOTS, engine="kernel")
        run_s = time.process_time() - begun
        verdict = instances.check(instance, run.schedule)
        if not verdict.is_valid or (run.makespan is not None and least is not None and run.makespan < least):
            raise SelfCheckError(f"{policy} on {source.name}: {run.makespan}, optimum {least}; the checker: {verdict}")
        makespans[policy] = run.makespan
        costs.append({"policy": policy, "slots": run.slots, "run_s": run_s, "pilot_s": pilot_s})
    return {"kind": "beyond", **names_of(source, instance), "makespans": makespans, "costs": costs}
