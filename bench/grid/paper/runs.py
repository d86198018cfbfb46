"""Runs of the paper's experiment: which workloads, which schedulers, and what each run is reduced to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import instances
from bench.campaign.engine import Job, run_jobs
from bench.campaign.jobs import job_key
from bench.campaign.journal import Journal
from bench.grid.paper.fluid import fluid_bound
from instances.errors import SelfCheckError
from instances.grid import Instance
from instances.grid.generate import NARROW, WIDE, generate
from instances.grid.kth_sp2 import NODES, kth_sp2
from instances.grid.model import Ints
from instances.grid.workloads import import_log
from online.grid import Run, make_policy, run_policy

__all__ = ["DEGREES", "LOADS", "MIXES", "Setup", "Workload", "experiment", "run_experiment"]

DEGREES = (10, 20, 30, 40)
LOADS = (0.28, 0.95)
#: Jobs of 2.7 months at 28 % of 5,000 nodes, by mix.
MIXES = {"wide": (WIDE, 71_000), "narrow": (NARROW, 271_000)}
#: Gaps of the real log are multiplied by these.
_COMPRESS = ("1", "4/5", "3/5")
_NODES, _SLOT_S = 5_000, 60
#: Numbers of nodes at the same load a node.
_SIZES = (1_250, 2_500, 5_000, 10_000)
_WIDTHS = {"1": (1, 1), "2-8": (2, 8), "9-64": (9, 64), "65-": (65, 2**31)}
#: In seconds.
_LENGTHS = {"-15 min": (0, 900), "15 min-1 h": (900, 3600), "1-4 h": (3600, 14_400), "4 h-": (14_400, 2**31)}


@dataclass(frozen=True, slots=True)
class Setup:
    """What is run.

    Parameters
    ----------
    seeds
        Of workloads and schedulers.
    scale
        Share of the full length of 2.7 months.
    log
        A whole log of KTH-SP2; None: the 1,500 jobs that come with the toolkit.
    """

    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    scale: float = 1.0
    log: str | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """Jobs for a grid: generated (mix, load, seed), or a log with its gaps compressed."""

    mix: str
    nodes: int = _NODES
    jobs: int = 0
    load: float = 0.0
    seed: int = 0
    compress: str = "1"
    log: str | None = None

    def instance(self) -> Instance:
        """Return it."""
        if self.mix in MIXES:
            mix = MIXES[self.mix][0]
            return generate(nodes=self.nodes, slot_s=_SLOT_S, jobs=self.jobs, load=self.load, seed=self.seed, mix=mix)
        if self.log is not None:
            return import_log(self.log, nodes=NODES, slot_s=_SLOT_S, compress=self.compress).instance
        jobs = kth_sp2(slot_s=_SLOT_S)
        factor = Fraction(self.compress)
        submit = [-int(-r * factor // 1) for r in jobs.submit.tolist()]
        return Instance(jobs.nodes, jobs.slot_s, submit, jobs.width, jobs.length)


def experiment(setup: Setup) -> list[tuple[str, Workload, str, dict[str, Any]]]:
    """Return the runs: which part they belong to, the workload, the scheduler and its options."""
    found: list[tuple[str, Workload, str, dict[str, Any]]] = []
    for seed, mix, load in product(setup.seeds, MIXES, LOADS):
        jobs = max(1, round(MIXES[mix][1] * setup.scale))
        workload = Workload(mix, _NODES, jobs, load, seed)
        found += [("paper", workload, "dgs", {"degree": degree, "seed": seed}) for degree in DEGREES]
        found.append(("paper", workload, "dgs", {"messaging": "poll", "seed": seed}))
        found.append(("paper", workload, "dgs", {"overlay": "cyclon", "seed": seed}))
        found += [("paper", workload, policy, {}) for policy in ("asap_counted", "queue", "easy")]
    for seed, nodes in product(setup.seeds, _SIZES):
        workload = Workload("narrow", nodes, max(1, round(4 * nodes * setup.scale)), LOADS[0], seed)
        found.append(("size", workload, "dgs", {"seed": seed}))
    for compress in _COMPRESS:
        workload = Workload("KTH-SP2", NODES, compress=compress, log=setup.log)
        for seed in setup.seeds:
            for more in ({}, {"messaging": "poll"}, {"overlay": "cyclon"}):
                found.append(("log", workload, "dgs", {**more, "seed": seed}))
        found += [("log", workload, policy, {}) for policy in ("asap_pinned", "asap_counted", "queue", "fcfs", "easy")]
    return found


def run_experiment(setup: Setup, folder: Path, *, num_processes: int, dask: str | None) -> list[dict[str, Any]]:
    """Make every row that the folder does not hold yet, and return all of this setup.

    Raises
    ------
    SelfCheckError
        When the checker refuses a schedule.
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


def _row(part: str, workload: Workload, policy: str, options: dict[str, Any]) -> dict[str, Any]:
    instance = _loaded(workload)
    run = run_policy(instance, make_policy(policy, **options))
    metrics = run.metrics()
    verdict = instances.check(instance, run.schedule())
    if not verdict.is_valid or verdict.outcome.total_wait != metrics.total_wait:
        raise SelfCheckError(f"{policy} on {workload}: the checker says {verdict}")
    counters = {} if run.counters is None else asdict(run.counters)
    defaults = {"degree": 20, "overlay": "static", "messaging": "push"} if policy == "dgs" else {}
    return {
        "kind": "paper",
        "part": part,
        **{name: value for name, value in asdict(workload).items() if name != "log"},
        "slot_s": instance.slot_s,
        "policy": policy,
        **defaults,
        **{name: value for name, value in options.items() if name != "seed"},
        **asdict(metrics),
        **counters,
        "submitted_slots": int(instance.submit[-1]) + 1,
        "mean_width": float(instance.width.mean()),
        "area": instance.area,
        "waits": _waits(run),
        "days": _days(run),
    }


def _waits(run: Run) -> dict[str, dict[str, list[float]]]:
    """Return mean, median and ninth decile of the waits, in seconds, by class of width, length and area."""
    jobs = run.accepted
    instance = run.instance
    wait = (run.starts[jobs] - instance.submit[jobs]) * instance.slot_s
    width, length = instance.width[jobs], instance.length[jobs] * instance.slot_s
    area = width * length
    quarters = np.quantile(area, [0, 0.25, 0.5, 0.75, 1.0]) if len(jobs) else np.zeros(5)
    areas = {f"quarter {i + 1}": (quarters[i], quarters[i + 1]) for i in range(4)}
    return {
        "width": {name: _summary(wait[(width >= a) & (width <= b)]) for name, (a, b) in _WIDTHS.items()},
        "length": {name: _summary(wait[(length > a) & (length <= b)]) for name, (a, b) in _LENGTHS.items()},
        "area": {name: _summary(wait[(area >= a) & (area <= b)]) for name, (a, b) in areas.items()},
    }


def _summary(wait: Ints) -> list[float]:
    if not len(wait):
        return []
    return [float(wait.mean()), float(np.median(wait)), float(np.quantile(wait, 0.9)), len(wait)]


def _days(run: Run) -> dict[str, Sequence[float]]:
    """Return utilisation day by day while jobs are submitted: requested, executed, and what is possible at most."""
    found = run.utilisation()
    whole = (int(run.instance.submit[-1]) + 1) // (found.capacity // run.instance.nodes)
    period = found.capacity // run.instance.nodes
    bound = fluid_bound(run.instance, whole * period)[::period]
    shares = {
        "requested": found.requested[:whole],
        "executed": found.executed[:whole],
        "possible": np.diff(bound),  # in the fluid schedule that is never behind any other
    }
    return {name: [round(float(x), 6) for x in values / found.capacity] for name, values in shares.items()}
