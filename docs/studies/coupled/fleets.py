"""Runs of policies on fleets of up to 10,000 workers, and the hindsight optima or their bounds."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from docs.studies.coupled.lanl import LANL_SLOT_S, LANL_TRAIN, WHOLE_START
from hindsched import offline
from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.jobs import job_key, names_of
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.campaign.sources import Source
from hindsched.bench.coupled.paper import Paper
from hindsched.instances.coupled.from_trace import from_trace
from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.replay import replay
from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.instances.text_files import read_bytes
from hindsched.instances.traces import Trace, read
from hindsched.offline.limits import by_processor_time
from hindsched.online.coupled import POLICIES, run_policy

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLUMNS", "FLEETS", "LANL_FLEETS", "Fleet", "drawn_fleets", "lanl_fleets", "run_fleets"]

COLUMNS = (
    *("setting", "instance", "policy", "makespan", "limit", "optimum", "optimum_bound", "optimum_status"),
    *("slots", "run_s"),
)

#: Points m, n_com, wmin of the paper's generator.
POINTS = ((10, 5, 1), (10, 5, 3), (20, 10, 2))
#: Tasks and slots of a task on LANL's machines, in turn from window to window.
_LANL_POINTS = ((20, 100), (50, 10))
#: Slots of a window of the trace, and from one window to the next.
_LANL_SLOTS, _LANL_STEP = 4_000, 4_500
#: Largest number of windows after the training slots.
LANL_WINDOWS = 10
#: Number of first slots of each run that are replayed.
_CHECKED_SLOTS = 200


@dataclass(frozen=True, slots=True)
class Fleet:
    """Runs on one number of workers.

    Parameters
    ----------
    workers
        p.
    slots
        N of drawn instances.
    ours
        Look-ahead policies beside the 17 heuristics.
    """

    workers: int
    slots: int = _LANL_SLOTS
    ours: tuple[str, ...] = ()


#: Fleets of drawn chains. Look-ahead policies take about 30 ms a slot on 10,000 workers and are left out there.
FLEETS = (
    Fleet(20, 100_000, ("rr", "sb", "hot")),
    Fleet(100, 20_000, ("rr", "sb", "hot")),
    Fleet(1_000, 20_000, ("rr", "sb", "hot")),
    Fleet(10_000, 3_000),
)
#: Fleets of LANL's machines; the last one has all of them, those that are not observed as DOWN.
LANL_FLEETS = (Fleet(100, ours=("rr", "sb", "hot")), Fleet(1_000), Fleet(3_577))


@dataclass(frozen=True, slots=True)
class _LanlWindow:
    """A window of LANL's trace as the source of an instance; a digest of the file identifies it."""

    family: ClassVar[str] = "coupled"
    point: ClassVar[None] = None

    file: Path
    workers: int
    window: int

    @property
    def name(self) -> str:
        """The number of workers, the tasks and the window."""
        m, w = self._tasks
        return f"{self.setting} m={m} w={w} window={self.window}"

    @property
    def setting(self) -> str:
        """The number of workers."""
        return f"LANL p={self.workers}"

    @property
    def identity(self) -> str:
        """A text of all parameters and of the content of the file."""
        return f"{self.name} {_digest(self.file)}"

    @property
    def _tasks(self) -> tuple[int, int]:
        return _LANL_POINTS[self.window % len(_LANL_POINTS)]

    def load(self) -> Instance:
        """Return the instance; K = 10, n_com = 20, T_prog = w / 2, T_data = w / 10."""
        trace = _trace(self.file)
        m, w = self._tasks
        nodes: dict[str, Any] = {"nodes": self.workers}
        if self.workers == len(trace.nodes):
            nodes = {"unobserved": "down"}
        return from_trace(
            trace, tasks=m, slot_s=LANL_SLOT_S, iterations=10, n_com=20, t_prog=w // 2, t_data=w // 10, w=w,
            start=WHOLE_START + (LANL_TRAIN + self.window * _LANL_STEP) * LANL_SLOT_S, slots=_LANL_SLOTS,
            train_slots=LANL_TRAIN, **nodes,
        )  # fmt: skip


@cache
def _trace(file: Path) -> Trace:
    return read(file)


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(read_bytes(file)).hexdigest()[:16]


def drawn_fleets(fleets: Sequence[Fleet], scenarios: int, seed: int) -> list[tuple[Source, Fleet]]:
    """Return instances of the paper's generator at `POINTS`, K = 10, scenario by scenario."""
    return [
        (Paper(m, n_com, wmin, scenario, 0, fleet.slots, seed, fleet.workers, 10), fleet)
        for fleet in fleets
        for scenario, (m, n_com, wmin) in product(range(scenarios), POINTS)
    ]


def lanl_fleets(file: Path, fleets: Sequence[Fleet], windows: int) -> list[tuple[Source, Fleet]]:
    """Return instances on disjoint windows of LANL's trace; every fleet has the same windows.

    Parameters
    ----------
    file
        The table ``event_trace`` of LANL's machines in the Failure Trace Archive.
    fleets
        Numbers of workers.
    windows
        Number of windows, at most `LANL_WINDOWS`.

    Raises
    ------
    InputError
        For more windows.
    """
    if windows > LANL_WINDOWS:
        raise InputError(f"{windows}, expected at most {LANL_WINDOWS}", place="windows")
    return [(_LanlWindow(file, fleet.workers, window), fleet) for fleet in fleets for window in range(windows)]


def run_fleets(
    sources: Sequence[tuple[Source, Fleet]], folder: Path, *, time_limit_s: float, only_made: bool = False
) -> pd.DataFrame:
    """Run the heuristics and the look-ahead policies of each fleet, and solve each instance; resume what is there.

    Parameters
    ----------
    sources
        Instances with their fleets.
    folder
        Receives ``runs.jsonl``.
    time_limit_s
        Seconds of processor time of a solve. If it stops the solver, the row has bounds of the optimum.
    only_made
        Run nothing; return the rows of the instances that the folder holds.

    Returns
    -------
    pandas.DataFrame
        One row per run, with `COLUMNS`: ``makespan`` is missing for an unfinished run, ``limit`` is the number of slots
        of the instance, ``slots`` that of the run, ``run_s`` its processor time.

    Raises
    ------
    SelfCheckError
        When the checker refuses the beginning of a run, or a run is better than a proven bound.
    """
    import pandas as pd

    jobs = []
    for source, fleet in sources:
        policies = (*POLICIES, *fleet.ours)
        solve = job_key("coupled", "offline", "fleets", source.identity, time_limit_s)
        key = job_key("coupled", "online", solve, policies)
        jobs.append(Job(key, source.name, _run, (source, policies, time_limit_s)))
    with Journal(folder) as journal:
        if only_made:
            jobs = [job for job in jobs if job.key in journal]
        run_jobs("fleets", jobs, journal, num_processes=1)
        found = [journal[job.key] for job in jobs]
    rows = [{**row["optimum"], **run, **_names(row)} for row in found for run in row["runs"]]
    return pd.DataFrame(rows, columns=list(COLUMNS)).convert_dtypes()


def _names(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("setting", "instance")}


def _run(source: Source, policies: Sequence[str], time_limit_s: float) -> dict[str, Any]:
    instance = source.load()
    runs = [_run_policy(instance, source.name, policy) for policy in policies]
    offline.solve(_tiny(), solver="native")  # loads the machine code
    with by_processor_time():
        result = offline.solve(instance, solver="native", time_limit_s=time_limit_s)
    best = min((run["makespan"] for run in runs if run["makespan"] is not None), default=None)
    if best is not None and result.bound is not None and best < result.bound:
        raise SelfCheckError(f"{source.name}: a run takes {best} slots, the proven bound is {result.bound}")
    optimum = {
        "optimum": result.value,
        "optimum_bound": result.bound,
        "optimum_status": str(result.status),
        "limit": instance.slots,
    }
    return {"kind": "fleets", **names_of(source, instance), "optimum": optimum, "runs": runs}


def _run_policy(instance: Instance, name: str, policy: str) -> dict[str, Any]:
    begun = time.process_time()
    run = run_policy(instance, policy, schedule_slots=_CHECKED_SLOTS, engine="kernel")
    run_s = round(time.process_time() - begun, 3)
    verdict = replay(instance, run.schedule)
    if not verdict.is_valid:
        raise SelfCheckError(f"{policy} on {name}: the checker: {verdict}")
    return {"policy": policy, "makespan": run.makespan, "slots": run.slots, "run_s": run_s}


def _tiny() -> Instance:
    return Instance.from_letters(["uuuu", "uruu"], w=[1, 1], tasks=2, t_prog=1)
