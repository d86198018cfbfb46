"""Times of optima, bounds and runs of jobs with a deadline, and a race of their solvers, in processor time."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from docs.studies.machine import machine
from hindsched.bench.campaign.plan import Campaign, run_campaign
from hindsched.bench.deadline.reproduction import WORK_S, Setup, experiment
from hindsched.bench.deadline.sources import Generated, Window
from hindsched.bench.run_records import Options
from hindsched.instances.deadline import HOUR_S, Instance, Zone, spot_zones
from hindsched.instances.errors import SelfCheckError
from hindsched.offline.deadline import solve
from hindsched.offline.deadline.lagrangian import lagrangian_bound
from hindsched.offline.results import Number, Result, Status
from hindsched.online.deadline import OURS, POLICIES, run_policy
from hindsched.online.deadline.policies import is_for_one_zone

__all__ = ["AIMS", "COLUMNS", "RACE_COLUMNS", "SOLVERS", "how_many", "measure", "race", "racers"]

COLUMNS = ("key", "what", "times", "median", "worst", "aim", "machine")
RACE_COLUMNS = ("group", "instance", "solver", "status", "value", "lower", "seconds", "limit_s", "machine")
#: Milliseconds that are aimed at.
AIMS = {"free": 50.0, "guarded": 100.0, "bound": 20.0, "zones": 2000.0, "run": 2.0, "campaign": 180_000.0}
#: The solvers of the race; times are compared with the first.
SOLVERS = ("native", "fronts", "ilp-highs", "ilp-cbc", "cpsat")
#: The setting of the aims: N = 1,698 slots.
_DEADLINE_S, _OVERHEAD_S = 92 * HOUR_S, 720
_THREE = "us-east-1c+us-east-2b+us-west-2a"
#: The campaign of the aim, and the starts of the sample that it is extrapolated from.
_INSTANCES, _POLICIES, _CORES, _STARTS = 2160, ("greedy", "uniform", "uniform_plain", "fallback"), 2, 1


def _processor_s() -> float:
    """Return the processor time of this process and of its children that have ended."""
    return sum(os.times()[:4])


def _timed(job: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of a job, without garbage collection, and its result."""
    gc.disable()
    try:
        begun = _processor_s()
        result = job()
        return _processor_s() - begun, result
    finally:
        gc.enable()


def _windows(zones: Sequence[str], number: int) -> list[Instance]:
    made = [
        Window(zone, start, WORK_S, _DEADLINE_S, _OVERHEAD_S).load()
        for zone in zones
        for start in spot_zones.starts(zone.split("+"), _DEADLINE_S, number, 0)
    ]
    for one in made:
        assert one.fingerprint  # computed once here, not in the timed calls
    return made


def _policies() -> list[str]:
    return [policy for policy in (*POLICIES, *OURS) if is_for_one_zone(policy) or policy == "up_s"]


def how_many(number: int) -> int:
    """Return the number of steps of `measure`."""
    return len(spot_zones.spot_zone_names()) * number * (3 + len(_policies())) + number + 1


def measure(number: int, step: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Yield rows with the names of `COLUMNS`: medians and maxima in milliseconds of processor time.

    Parameters
    ----------
    number
        Windows of each packaged zone.
    step
        Called after each timed call.

    Notes
    -----
    Every call is made twice, and the second one is timed: machine code and tables are in memory. An optimum includes
    its schedule, its certificate and the checker's replay of both.
    """
    jobs = _windows(spot_zones.spot_zone_names(), number)
    yield _row("free", "optimum, free", jobs, solve, step)
    yield _row("guarded", "optimum, guarded by step", jobs, partial(solve, rung="guarded"), step)
    yield _row("bound", "bound B2", jobs, lagrangian_bound, step)
    yield _row("zones", "optimum of three zones, free", _windows([_THREE], number), solve, step)
    for policy in _policies():
        call = partial(run_policy, policy=policy, guard="step")
        yield _row(f"run-{policy}", f"run of {policy}", jobs, call, step)
    yield _campaign(step)


def _row(
    key: str, what: str, jobs: Sequence[Instance], call: Callable[[Instance], Any], step: Callable[[str], None]
) -> dict[str, Any]:
    times = []
    for job in jobs:
        call(job)
        rounds = 1
        took, _ = _timed(partial(call, job))
        while took < 0.2:  # the clock ticks every 10 ms
            rounds *= 4
            took, _ = _timed(lambda job=job, rounds=rounds: [call(job) for _ in range(rounds)])  # type: ignore[misc]
        times.append(1000 * took / rounds)
        step(what)
    aim = AIMS.get(key, AIMS["run"] if key.startswith("run-") else None)
    return _made(key, what, times, aim)


def _made(key: str, what: str, times: Sequence[float], aim: float | None) -> dict[str, Any]:
    middle, most = round(median(times), 3), round(max(times), 3)
    return dict(zip(COLUMNS, (key, what, len(times), middle, most, aim, machine()), strict=True))


def _campaign(step: Callable[[str], None]) -> dict[str, Any]:
    """Return the time of the campaign of the aim on two cores, extrapolated from a sample that one process ran."""
    windows = experiment(Setup(starts=_STARTS))
    campaign = Campaign(windows, _POLICIES, [Options(run=(("guard", "step"),))])
    with TemporaryDirectory() as folder:
        took, _ = _timed(partial(run_campaign, campaign, Path(folder), num_processes=1, dask=None))
    step("campaign")
    what = f"{_INSTANCES:,} instances and {len(_POLICIES)} policies on {_CORES} cores, from {len(windows)} instances"
    return _made("campaign", what, [1000 * took * _INSTANCES / len(windows) / _CORES], AIMS["campaign"])


def racers(number: int) -> dict[str, list[tuple[str, Instance]]]:
    """Return the instances of the race by group: drawn ones, and windows of real zones in slots of 585 s."""
    found: dict[str, list[tuple[str, Instance]]] = {}
    for zones, slots in ((1, 48), (1, 96), (1, 192), (2, 24), (2, 48)):
        sources = [Generated(zones, slots, 0.6, 0.9, 400, seed) for seed in range(number)]
        group = f"{zones} zone{'' if zones == 1 else 's'}, N = {slots}"
        found[group] = [(source.name, source.load()) for source in sources]
    real = [
        Window(zone, 5000, WORK_S, 52 * HOUR_S, _OVERHEAD_S)
        for zone in ("us-east-1d", "us-east-2a", "us-west-2c")[:number]
    ]
    found["1 real zone, N = 320"] = [(source.name, _coarse(source.load(), 3)) for source in real]
    return found


def _coarse(job: Instance, times: int) -> Instance:
    """Return a job with longer slots, in which spot can be had if it can in all of the slots that they join."""
    slots = job.slots // times
    zones = [
        Zone(np.all(zone.spot[: slots * times].reshape(slots, times), axis=1), zone.spot_price, zone.on_demand_price)
        for zone in job.zones
    ]
    return job.replace(slot_s=job.slot_s * times, deadline_s=slots * times * job.slot_s, zones=zones)


def race(number: int, limit_s: float, step: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Yield a row for each instance and solver, with the names of `RACE_COLUMNS`: its answer and its processor time.

    Parameters
    ----------
    number
        Instances of each group.
    limit_s
        Time limit of a solve, in seconds by the clock.
    step
        Called after each solve.

    Raises
    ------
    SelfCheckError
        If two solvers prove different optima, or a bound is above an optimum.
    """
    for group, jobs in racers(number).items():
        for name, job in jobs:
            proven: Number | None = None
            for solver in SOLVERS:
                took, result = _solved(job, solver, limit_s)
                if result.status is Status.OPTIMAL:
                    proven = result.value if proven is None else proven
                    if result.value != proven:
                        raise SelfCheckError(f"{name}: {solver} proves {result.value}, {SOLVERS[0]} {proven}")
                if proven is not None and result.lower is not None and result.lower > proven:
                    raise SelfCheckError(f"{name}: {solver} bounds {result.lower}, {SOLVERS[0]} proves {proven}")
                values = (group, name, solver, str(result.status), result.value, result.lower, round(took, 5), limit_s)
                yield dict(zip(RACE_COLUMNS, (*values, machine()), strict=True))
                step(f"{solver} on {name}")


def _solved(job: Instance, solver: str, limit_s: float) -> tuple[float, Result]:
    """Return time and result of a solve; of a short one the mean time of several."""
    call = partial(solve, job, solver=solver, time_limit_s=limit_s)
    solve(job.replace(work_s=1), solver=solver)  # imports and compilation
    took, result = _timed(call)
    rounds = 1
    while took < 0.2:
        rounds *= 4
        took, _ = _timed(lambda rounds=rounds: [call() for _ in range(rounds)])  # type: ignore[misc]
    found: Result = result
    return took / rounds, found
