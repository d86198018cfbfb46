"""Run the paper's experiment: its workloads and schedulers, and the row of each run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
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
from hindsched.bench.grid.overlay_measures import measure_overlay
from hindsched.bench.shared_types import Row
from hindsched.instances.errors import SelfCheckError
from hindsched.instances.grid import Instance
from hindsched.instances.grid.generate import NARROW_MIX, WIDE_MIX, generate
from hindsched.instances.grid.model import Ints
from hindsched.instances.grid.packaged_log import NODES, kth_sp2
from hindsched.instances.grid.workloads import KINDS, import_log, instance_from_jobs, read_log
from hindsched.instances.traces.parsing import read_lines
from hindsched.online.grid import Run, make_policy, run_policy
from hindsched.online.grid.options import CHOICES

__all__ = ["CLASSES", "DEGREES", "LOADS", "MIXES", "PARTS", "Setup", "Workload", "experiment", "run_experiment"]

#: Parts that can run alone: the paper's tables and figures; both overlays with more seeds; several numbers of nodes;
#: numbers of searchers and periods of polls; both overlays without jobs; the real log with compressed gaps; the whole
#: log in slots of a second.
PARTS = ("paper", "overlay", "size", "sweep", "reach", "log", "whole")

DEGREES = (10, 20, 30, 40)
LOADS = (0.28, 0.95)
#: Distribution and number of jobs by mix; at 28 % of 5,000 nodes they fill three months (2.7 in the paper).
MIXES = {"wide": (WIDE_MIX, 71_000), "narrow": (NARROW_MIX, 271_000)}
#: Factors of the gaps between submissions of the real log.
_COMPRESS = ("1", "4/5", "3/5")
_NODES, _SLOT_S = 5_000, 60
#: Numbers of nodes at the same load per node, besides `_NODES`.
_SIZES = (1_250, 2_500)
#: Orders of a queue: the shortest first, and the order of submission.
_RULES = ("length", "file")
#: Values of options that vary one at a time, and the share of the full length of these runs.
_SWEEPS = {"fwd": (1, 2, 3, 5, 10, 20), "poll_slots": (1, 2, 5, 15, 60)}
_SWEEP_SCALE = 0.2
#: Slots between rounds of Cyclon in further runs of full length with wide jobs at 95 % of load: some 40 rounds.
_RARE = 1_000
#: Name of the workload that a trace in the Grid Workload Format gives.
_TRACE = "trace"
_WIDTHS = {"1": (1, 1), "2-8": (2, 8), "9-64": (9, 64), "65-": (65, 2**31)}
_QUARTERS = tuple(f"quarter {i + 1}" for i in range(4))
_FIRST = Instance(nodes=2, slot_s=60, submit=[0, 0], width=[2, 1], length=[2, 1])
#: In seconds.
_LENGTHS = {"-15 min": (0, 900), "15 min-1 h": (900, 3600), "1-4 h": (3600, 14_400), "4 h-": (14_400, 2**31)}
#: Classes of jobs by width, length and area, for which waits are reported.
CLASSES = {"width": tuple(_WIDTHS), "length": tuple(_LENGTHS), "area": _QUARTERS}


#: Options of dgs that every row has.
_SHOWN = ("fwd", "degree", "overlay", "messaging", "poll_slots", "every")

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
        File with the whole log KTH-SP2. None: the 1,500 packaged jobs, and the part ``whole`` is empty. Or a trace in
        the Grid Workload Format, which becomes a further workload of the part ``paper``.
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

    @property
    def trace(self) -> str | None:
        """The log if it is a trace in the Grid Workload Format, by its first line."""
        if self.log is None:
            return None
        first = next((line.lstrip() for line in read_lines(self.log, is_lenient=True) if line.strip()), "")
        return self.log if first.startswith(KINDS["gwf"]) else None

    @property
    def kth(self) -> str | None:
        """The log if it is the whole log KTH-SP2."""
        return None if self.trace else self.log


@dataclass(frozen=True, slots=True)
class Workload:
    """Jobs for a grid: generated, or read from a log whose gaps are compressed.

    Parameters
    ----------
    mix
        One of `MIXES`, or a log. ``KTH-SP2`` takes the processors that jobs used. ``KTH-SP2 as requested`` takes those
        that they requested, and keeps jobs that did not run for a slot. ``trace`` is a trace in the Grid Workload
        Format, without jobs wider than the grid; its gaps are compressed or stretched to ``load``.
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
        if self.log is not None and self.mix == _TRACE:
            return _at_load(self.log, self.nodes, self.slot_s, self.load)
        if self.log is not None and self.mix == "KTH-SP2":
            return import_log(self.log, nodes=NODES, slot_s=self.slot_s, compress=self.compress).instance
        if self.log is not None:
            return _as_requested(self.log, self.slot_s)
        jobs = kth_sp2(slot_s=_SLOT_S)
        factor = Fraction(self.compress)
        submit = [-int(-r * factor // 1) for r in jobs.submit.tolist()]
        return Instance(jobs.nodes, jobs.slot_s, submit, jobs.width, jobs.length)


def _at_load(log: str, nodes: int, slot_s: int, load: float) -> Instance:
    """Return the jobs of a trace that fit the grid, with one factor of all gaps that gives this utilisation."""
    found = import_log(log, nodes=nodes, slot_s=slot_s, kind="gwf", wide="drop").instance
    own = found.area / (nodes * (int(found.submit[-1]) + 1))
    factor = Fraction(own / load).limit_denominator(10_000)
    return import_log(log, nodes=nodes, slot_s=slot_s, kind="gwf", wide="drop", compress=factor).instance


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
        "sweep": _sweep,
        "reach": _reach,
        "log": _log,
        "whole": _whole,
    }
    return [(part, *run) for part in PARTS if part in setup.parts for run in parts[part](setup)]


def _paper(setup: Setup) -> Iterator[_Run]:
    for mix in MIXES:
        for seed, load in product(setup.seeds_of(mix), LOADS):
            workload = _generated(setup, mix, load, seed)
            yield from _settings_of_dgs(workload, seed)
            yield from _centralised(workload)
    if setup.trace:
        for load in LOADS:
            workload = Workload(_TRACE, _NODES, load=load, log=setup.trace)
            for seed in setup.seeds:
                yield from _settings_of_dgs(workload, seed)
            yield from _centralised(workload)


def _settings_of_dgs(workload: Workload, seed: int) -> Iterator[_Run]:
    for degree in DEGREES:
        yield workload, "dgs", {"degree": degree, "seed": seed}
    yield workload, "dgs", {"messaging": "poll", "seed": seed}
    yield workload, "dgs", {"overlay": "cyclon", "seed": seed}


def _centralised(workload: Workload) -> Iterator[_Run]:
    for policy in ("asap_pinned", "asap_counted", "easy", "fcfs"):
        yield workload, policy, {}
    for rule in _RULES:
        yield workload, "queue", {"rule": rule}


def _overlay(setup: Setup) -> Iterator[_Run]:
    for seed in (seed for seed in setup.overlay_seeds if seed not in setup.seeds):
        workload = _generated(setup, "wide", LOADS[-1], seed)
        yield workload, "dgs", {"degree": 20, "seed": seed}
        yield workload, "dgs", {"overlay": "cyclon", "seed": seed}


def _generated(setup: Setup, mix: str, load: float, seed: int, *, nodes: int | None = None) -> Workload:
    """Return a workload of the same duration and load for any number of nodes."""
    nodes = nodes or _NODES
    return Workload(mix, nodes, max(1, round(MIXES[mix][1] * setup.scale * nodes / _NODES)), load, seed)


def _size(setup: Setup) -> Iterator[_Run]:
    for mix, load, nodes in product(MIXES, LOADS, _SIZES):
        for seed in setup.seeds_of(mix):
            yield _generated(setup, mix, load, seed, nodes=nodes), "dgs", {"seed": seed}


def _sweep(setup: Setup) -> Iterator[_Run]:
    shorter = replace(setup, scale=setup.scale * _SWEEP_SCALE)
    for seed in setup.seeds:
        yield _generated(setup, "wide", LOADS[-1], seed), "dgs", {"overlay": "cyclon", "every": _RARE, "seed": seed}
    for mix in MIXES:
        for seed in setup.seeds_of(mix):
            workload = _generated(shorter, mix, LOADS[-1], seed)
            for fwd in _SWEEPS["fwd"]:
                yield workload, "dgs", {"fwd": fwd, "seed": seed}
            for poll_slots in _SWEEPS["poll_slots"]:
                yield workload, "dgs", {"messaging": "poll", "poll_slots": poll_slots, "seed": seed}


def _reach(setup: Setup) -> Iterator[_Run]:
    for overlay, degree, seed in product(CHOICES["overlay"], DEGREES, setup.seeds):
        options = {"overlay": overlay, "degree": degree, "seed": seed}
        yield Workload("narrow", _NODES, 0, LOADS[0], seed), "reach", options


def _log(setup: Setup) -> Iterator[_Run]:
    for compress in _COMPRESS:
        workload = Workload("KTH-SP2", NODES, compress=compress, log=setup.kth)
        for seed in setup.seeds:
            for more in ({}, {"messaging": "poll"}, {"overlay": "cyclon"}):
                yield workload, "dgs", {**more, "seed": seed}
        yield from _centralised(workload)


def _whole(setup: Setup) -> Iterator[_Run]:
    if setup.kth is None:
        return
    for mix in ("KTH-SP2", "KTH-SP2 as requested"):
        workload = Workload(mix, NODES, log=setup.kth, slot_s=1)
        for policy in ("fcfs", "easy", "asap_counted"):
            yield workload, policy, {}
        for rule in _RULES:
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
        found = measure_overlay(workload.nodes, **options)
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
    defaults = {name: getattr(made, name) for name in _SHOWN} if policy == "dgs" else {}
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
    """Return requested, executed and possible utilisation per day, up to the last submission or busy slot."""
    found = run.utilisation()
    period = found.capacity // run.instance.nodes
    bound = fluid_bound(run.instance, len(found.executed) * period)[::period]
    shares = {"requested": found.requested, "executed": found.executed, "possible": np.diff(bound)}
    return {name: [round(float(x), 6) for x in values / found.capacity] for name, values in shares.items()}
