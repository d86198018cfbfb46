"""Run the paper's experiment: its workloads and schedulers, and the row of each run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import TypeAlias

import numpy as np

from hindsched import instances
from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.jobs import job_key
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.grid.fluid_bound import fluid_bound
from hindsched.bench.shared_types import Row
from hindsched.instances.errors import SelfCheckError
from hindsched.instances.grid import Instance
from hindsched.instances.grid.generate import NARROW_MIX, WIDE_MIX, generate
from hindsched.instances.grid.model import Ints
from hindsched.instances.grid.packaged_log import NODES, kth_sp2
from hindsched.instances.grid.workloads import import_log, instance_from_jobs, read_log
from hindsched.online.grid import Run, make_policy, run_policy

__all__ = ["CLASSES", "DEGREES", "LOADS", "MIXES", "PARTS", "Setup", "Workload", "experiment", "run_experiment"]

#: Parts that can run alone: the paper's tables and figures; both overlays with more seeds; several numbers of nodes;
#: reach of a search; the real log with compressed gaps; the whole log in slots of a second.
PARTS = ("paper", "overlay", "size", "reach", "log", "whole")

DEGREES = (10, 20, 30, 40)
LOADS = (0.28, 0.95)
#: Distribution and number of jobs by mix; at 28 % of 5,000 nodes they fill three months (2.7 in the paper).
MIXES = {"wide": (WIDE_MIX, 71_000), "narrow": (NARROW_MIX, 271_000)}
#: Factors of the gaps between submissions of the real log.
_COMPRESS = ("1", "4/5", "3/5")
_NODES, _SLOT_S = 5_000, 60
#: Numbers of nodes at the same load per node.
_SIZES = (1_250, 2_500, 5_000, 10_000)
_WIDTHS = {"1": (1, 1), "2-8": (2, 8), "9-64": (9, 64), "65-": (65, 2**31)}
_QUARTERS = tuple(f"quarter {i + 1}" for i in range(4))
_FIRST = Instance(nodes=2, slot_s=60, submit=[0, 0], width=[2, 1], length=[2, 1])
#: In seconds.
_LENGTHS = {"-15 min": (0, 900), "15 min-1 h": (900, 3600), "1-4 h": (3600, 14_400), "4 h-": (14_400, 2**31)}
#: Classes of jobs by width, length and area, for which waits are reported.
CLASSES = {"width": tuple(_WIDTHS), "length": tuple(_LENGTHS), "area": _QUARTERS}


_Run: TypeAlias = "tuple[Workload, str, Row]"


@dataclass(frozen=True, slots=True)
class Setup:
    """Parameters of the experiment.

    Parameters
    ----------
    seeds
        Seeds of workloads and schedulers.
    scale
        Fraction of the full length, which is three months at 28 % of load.
    log
        File with the whole log KTH-SP2. None: the 1,500 packaged jobs, and the part ``whole`` is empty.
    narrow_seeds
        Seeds of the workloads with narrow jobs, which take the longest. None: ``seeds``.
    overlay_seeds
        Further seeds with which only the static and the dynamic overlay run.
    parts
        Some of `PARTS`.
    """

    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    scale: float = 1.0
    log: str | None = None
    narrow_seeds: tuple[int, ...] | None = None
    overlay_seeds: tuple[int, ...] = ()
    parts: tuple[str, ...] = PARTS

    def seeds_of(self, mix: str) -> tuple[int, ...]:
        """Return the seeds of a mix."""
        return self.seeds if mix != "narrow" or self.narrow_seeds is None else self.narrow_seeds


@dataclass(frozen=True, slots=True)
class Workload:
    """Jobs for a grid: generated, or read from a log whose gaps are compressed.

    Parameters
    ----------
    mix
        One of `MIXES`, or a log. ``KTH-SP2`` takes the processors that jobs used. ``KTH-SP2 as requested`` takes those
        that they requested, and keeps jobs that did not run for a slot.
    nodes, jobs, load, seed
        See `hindsched.instances.grid.generate`.
    compress
        Factor of the gaps between submissions.
    log
        File of the log. None: the packaged jobs.
    slot_s
        Seconds of a slot.
    """

    mix: str
    nodes: int = _NODES
    jobs: int = 0
    load: float = 0.0
    seed: int = 0
    compress: str = "1"
    log: str | None = None
    slot_s: int = _SLOT_S

    def instance(self) -> Instance:
        """Return the instance."""
        if self.mix in MIXES:
            mix = MIXES[self.mix][0]
            return generate(nodes=self.nodes, slot_s=_SLOT_S, jobs=self.jobs, load=self.load, seed=self.seed, mix=mix)
        if self.log is not None and self.mix == "KTH-SP2":
            return import_log(self.log, nodes=NODES, slot_s=self.slot_s, compress=self.compress).instance
        if self.log is not None:
            return _as_requested(self.log, self.slot_s)
        jobs = kth_sp2(slot_s=_SLOT_S)
        factor = Fraction(self.compress)
        submit = [-int(-r * factor // 1) for r in jobs.submit.tolist()]
        return Instance(jobs.nodes, jobs.slot_s, submit, jobs.width, jobs.length)


def _as_requested(log: str, slot_s: int) -> Instance:
    """Return all jobs of a log in the Standard Workload Format with their requested widths, each at least a slot long.

    Partial executions, and lines without a submission or a run time, are left out.
    """
    records, _ = read_log(log)
    jobs = [record for record in records if record.unusable != "partial" and record.submit >= 0 and record.run >= 0]
    rows = [(job.submit, job.run, int(job.requested)) for job in jobs if 1 <= job.requested <= NODES]
    first = min((row[0] for row in rows), default=0)
    return instance_from_jobs([(submit - first, run, width) for submit, run, width in rows], NODES, slot_s)


def experiment(setup: Setup) -> list[tuple[str, Workload, str, Row]]:
    """Return the runs: part of the experiment, workload, scheduler and its options."""
    parts: dict[str, Callable[[Setup], Iterable[_Run]]] = {
        "paper": _paper,
        "overlay": _overlay,
        "size": _size,
        "reach": _reach,
        "log": _log,
        "whole": _whole,
    }
    return [(part, *run) for part in PARTS if part in setup.parts for run in parts[part](setup)]


def _paper(setup: Setup) -> Iterator[_Run]:
    for mix in MIXES:
        for seed, load in product(setup.seeds_of(mix), LOADS):
            workload = _generated(setup, mix, load, seed)
            for degree in DEGREES:
                yield workload, "dgs", {"degree": degree, "seed": seed}
            yield workload, "dgs", {"messaging": "poll", "seed": seed}
            yield workload, "dgs", {"overlay": "cyclon", "seed": seed}
            for policy in ("asap_pinned", "asap_counted", "easy", "fcfs"):
                yield workload, policy, {}
            yield workload, "queue", {"rule": "length"}


def _overlay(setup: Setup) -> Iterator[_Run]:
    for seed in (seed for seed in setup.overlay_seeds if seed not in setup.seeds):
        workload = _generated(setup, "wide", LOADS[-1], seed)
        yield workload, "dgs", {"degree": 20, "seed": seed}
        yield workload, "dgs", {"overlay": "cyclon", "seed": seed}


def _generated(setup: Setup, mix: str, load: float, seed: int) -> Workload:
    return Workload(mix, _NODES, max(1, round(MIXES[mix][1] * setup.scale)), load, seed)


def _size(setup: Setup) -> Iterator[_Run]:
    for seed, nodes in product(setup.seeds, _SIZES):
        yield Workload("narrow", nodes, max(1, round(4 * nodes * setup.scale)), LOADS[0], seed), "dgs", {"seed": seed}


def _reach(setup: Setup) -> Iterator[_Run]:
    for degree, seed in product(DEGREES, setup.seeds):
        yield Workload("narrow", _NODES, 0, LOADS[0], seed), "reach", {"degree": degree, "seed": seed}


def _log(setup: Setup) -> Iterator[_Run]:
    for compress in _COMPRESS:
        workload = Workload("KTH-SP2", NODES, compress=compress, log=setup.log)
        for seed in setup.seeds:
            for more in ({}, {"messaging": "poll"}, {"overlay": "cyclon"}):
                yield workload, "dgs", {**more, "seed": seed}
        for policy in ("asap_pinned", "asap_counted", "easy", "fcfs"):
            yield workload, policy, {}
        yield workload, "queue", {"rule": "length"}


def _whole(setup: Setup) -> Iterator[_Run]:
    if setup.log is None:
        return
    for mix in ("KTH-SP2", "KTH-SP2 as requested"):
        workload = Workload(mix, NODES, log=setup.log, slot_s=1)
        for policy in ("fcfs", "easy", "asap_counted"):
            yield workload, policy, {}
        for rule in ("length", "file"):
            yield workload, "queue", {"rule": rule}


def run_experiment(setup: Setup, folder: Path, *, num_processes: int, dask: str | None) -> list[Row]:
    """Make the rows that the folder lacks, and return all rows of this setup.

    Raises
    ------
    SelfCheckError
        When the checker rejects a schedule.
    """
    jobs = [
        Job(
            job_key("grid", "online", "paper", repr(workload), policy, sorted(options.items())),
            f"{policy} {options} on {workload.mix} {workload.load}",
            _row,
            (part, workload, policy, options),
            group=repr(workload),
        )
        for part, workload, policy, options in experiment(setup)
    ]
    with Journal(folder) as journal:
        run_jobs("reproduce", jobs, journal, num_processes=num_processes, dask=dask)
        return [dict(journal[job.key]) for job in jobs]


@lru_cache(maxsize=1)  # runs on a workload are neighbours
def _loaded(workload: Workload) -> Instance:
    return workload.instance()


def _row(part: str, workload: Workload, policy: str, options: Row) -> Row:
    if part == "reach":
        found = _distinct(workload.nodes, **options)
        return {"kind": "paper", "part": part, "policy": policy, "nodes": workload.nodes, **options, **found}
    instance = _loaded(workload)
    made = make_policy(policy, **options)
    if part == "whole":
        run_policy(_FIRST, made, engine="kernel")  # excludes compilation and loading from the time
    started = time.perf_counter()
    run = run_policy(instance, made)
    seconds = time.perf_counter() - started
    metrics = run.metrics()
    verdict = instances.check(instance, run.schedule())
    if not verdict.is_valid or verdict.outcome.total_wait != metrics.total_wait:
        raise SelfCheckError(f"{policy} on {workload}: the checker finds {verdict}")
    counters = {} if run.counters is None else asdict(run.counters)
    defaults = {"degree": 20, "overlay": "static", "messaging": "push"} if policy == "dgs" else {}
    return {
        "kind": "paper",
        "part": part,
        **{name: value for name, value in asdict(workload).items() if name != "log"},
        "policy": policy,
        **defaults,
        **options,
        **asdict(metrics),
        **counters,
        "seconds": round(seconds, 3),
        "submitted_slots": int(instance.submit[-1]) + 1,
        "mean_width": float(instance.width.mean()),
        "area": instance.area,
        "waits": _waits(run),
        "days": _days(run),
    }


def _distinct(nodes: int, degree: int, seed: int) -> dict[str, int]:
    """Return the minimum, rounded mean and maximum number of nodes that a searcher reaches in a static overlay."""
    from hindsched.online.grid.kernels.overlay_kernels import static_overlay

    lists = static_overlay(nodes, degree, seed).lists
    reach = [np.unique(np.concatenate((own, lists[own].ravel()))).size for own in lists]
    return {"least": min(reach), "mean": round(sum(reach) / nodes), "most": max(reach)}


def _waits(run: Run) -> dict[str, dict[str, list[float]]]:
    """Return mean, median and ninth decile of the waits in seconds, and their number, by class."""
    jobs = run.accepted
    instance = run.instance
    wait = (run.starts[jobs] - instance.submit[jobs]) * instance.slot_s
    width, length = instance.width[jobs], instance.length[jobs] * instance.slot_s
    area = width * length
    quarter = np.searchsorted(np.quantile(area, [0.25, 0.5, 0.75]), area) if len(jobs) else area  # one class per area
    return {
        "width": {name: _summary(wait[(width >= a) & (width <= b)]) for name, (a, b) in _WIDTHS.items()},
        "length": {name: _summary(wait[(length > a) & (length <= b)]) for name, (a, b) in _LENGTHS.items()},
        "area": {name: _summary(wait[quarter == i]) for i, name in enumerate(_QUARTERS)},
    }


def _summary(wait: Ints) -> list[float]:
    if not len(wait):
        return []
    return [float(wait.mean()), float(np.median(wait)), float(np.quantile(wait, 0.9)), len(wait)]


def _days(run: Run) -> dict[str, Sequence[float]]:
    """Return requested, executed and possible utilisation per day while jobs are submitted."""
    found = run.utilisation()
    whole = (int(run.instance.submit[-1]) + 1) // (found.capacity // run.instance.nodes)
    period = found.capacity // run.instance.nodes
    bound = fluid_bound(run.instance, whole * period)[::period]
    shares = {
        "requested": found.requested[:whole],
        "executed": found.executed[:whole],
        "possible": np.diff(bound),
    }
    return {name: [round(float(x), 6) for x in values / found.capacity] for name, values in shares.items()}
