"""Measure baselines of the related work, predictors, visits of owners, and paid moves, on many drawn traces.

Every trace has a seed of its own and one weekday start in its third or fourth week, so that traces are independent and
a predictor has at least two weeks of past. All turnarounds are in seconds, with a shared store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from hindsched.bench.bags.paper import USUAL_SLOTS, WEEK_SLOTS
from hindsched.bench.bags.spot_zones import PREDICTOR, SpotZones, start_slots
from hindsched.instances.bags import Instance, check, ideal_time
from hindsched.instances.bags.clock import TimeOfWeek, time_of_week
from hindsched.instances.bags.from_trace import from_trace
from hindsched.instances.bags.generate import SLOT_S, TRACES, paper
from hindsched.instances.errors import SelfCheckError
from hindsched.instances.random_streams import stream
from hindsched.instances.states import DOWN, RECLAIMED, UP
from hindsched.instances.traces import read_packaged
from hindsched.offline.bags import solve
from hindsched.online.bags import BASELINES, PolicyRun, make_predictor, run_policy
from hindsched.online.bags.predictors import SPOT, SPOT_SLOT_S

__all__ = ["LOSSES", "MOVES", "PARTS", "POLICIES", "VISITS", "Size", "how_many", "measure", "visits"]

#: The policies that are compared, in the order of tables.
POLICIES = ("FCFS", "FCFS-TR", *BASELINES, "LEVEL", "PACE")
_MOVING_POLICIES = ("FCFS", "FCFS-TR", "WQR-FT", "LEVEL", "PACE")
_OWNED_POLICIES = ("FCFS", "FCFS-AT", "FCFS-TR", "WQR-FT", "LEVEL", "PACE")
_PREDICTORS = ("never", "always", "hour", "past", "oracle")
#: What a visit of an owner does to a copy: end it, suspend it, or nothing.
LOSSES: Mapping[str, int] = {"lost": DOWN, "suspended": RECLAIMED, "ignored": UP}
#: Mean minutes of a visit.
VISITS = (10, 60)
#: Seconds that a machine spends to fetch a checkpoint.
MOVES = (0, 10, 60, 300)
#: Share of the time of UP machines by day in which the owner is there.
_SHARE = 0.25
_MACHINES, _TASKS, _REFERENCES, _CHECKPOINTS = ("M01", "M04"), (25, 75), (1800, 7200), (0, 1, 9)
_OWNED_BAGS = ((25, 1800), (75, 7200))
_ZONE_TASKS = 9
#: Seed of the first trace; smaller ones serve other studies.
_FIRST_SEED = 5000
_DAY_SLOTS, _HOUR_SLOTS = WEEK_SLOTS // 7, 3600 // SLOT_S
_TIME_LIMIT_S = 20.0

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Size:
    """Numbers of traces of a kind for the comparison of policies, predictors, what visits do, and prices of moves."""

    policies: int
    predictors: int
    owners: int
    moves: int


def how_many(size: Size) -> int:
    """Return the number of rows that `measure` makes."""
    bags = len(_MACHINES) * len(_TASKS) * len(_REFERENCES) * len(_CHECKPOINTS)
    owned = len(_MACHINES) * len(_OWNED_BAGS) * len(_CHECKPOINTS) * len(VISITS) * len(LOSSES)
    zones = len(start_slots()) * len(_REFERENCES) * len(_CHECKPOINTS)
    moving = len(_MACHINES) * len(_TASKS) * len(_REFERENCES) * len(MOVES)
    drawn = len(TRACES) * bags * (size.policies + size.predictors)
    return drawn + zones + size.owners * owned + size.moves * moving


def measure(size: Size, *, step: Callable[[str], object] = lambda note: None) -> Iterator[tuple[str, list[Row]]]:
    """Yield the name and the rows of each of `PARTS`.

    Raises
    ------
    SelfCheckError
        When the checker rejects a run, or a run beats its optimum.
    """
    for name, part in PARTS.items():
        rows = []
        for row in part(getattr(size, name)):
            rows.append(row)
            step(f"{name}: {row['kind']}, {row['machines']}, trace {row['trace']}")
        yield name, rows


def start_of(trace: int) -> int:
    """Return the slot in which the run on a trace starts: weekdays of the third and fourth week, 8:00 to 20:00.

    Examples
    --------
    >>> [(start_of(trace) // 5040, start_of(trace) % 5040 // 720, start_of(trace) % 720 // 30) for trace in (0, 1, 11)]
    [(2, 0, 8), (3, 1, 13), (3, 1, 11)]
    """
    return (2 + trace % 2) * WEEK_SLOTS + trace % 5 * _DAY_SLOTS + (8 + 5 * trace % 13) * _HOUR_SLOTS


def _bags(kind: str, trace: int) -> Iterator[tuple[Row, Instance]]:
    """Yield the paper's bags on a trace."""
    for machines, tasks, reference_s, checkpoints in product(_MACHINES, _TASKS, _REFERENCES, _CHECKPOINTS):
        yield _bag(kind, trace, machines, tasks, reference_s, checkpoints)


def _bag(kind: str, trace: int, machines: str, tasks: int, reference_s: int, checkpoints: int) -> tuple[Row, Instance]:
    point: Row = {"machines": machines, "tasks": tasks, "reference_s": reference_s, "checkpoints": checkpoints}
    window: Row = {"slots": USUAL_SLOTS, "start": start_of(trace), "seed": _FIRST_SEED + trace, "trace": kind}
    return {"kind": kind, "trace": trace, **point}, paper(**point, on_demand=True, **window)


def _policies(traces: int) -> Iterator[Row]:
    for kind, trace in product(TRACES, range(traces)):
        for point, instance in _bags(kind, trace):
            row = {**point, **_bounds(instance, on_demand=False)}
            yield row | {policy: _seconds(instance, _run(instance, policy, row)) for policy in POLICIES}


def _predictors(traces: int) -> Iterator[Row]:
    for kind, trace in product(TRACES, range(traces)):
        window: Row = {"slots": start_of(trace), "seed": _FIRST_SEED + trace, "trace": kind}
        pasts = {machines: paper(machines, **window) for machines in _MACHINES}
        for point, instance in _bags(kind, trace):
            yield {**point, **_predicted(instance, pasts[point["machines"]], "hour")}
    for number, start in enumerate(start_slots()):
        for reference_s, checkpoints in product(_REFERENCES, _CHECKPOINTS):
            zone = SpotZones(_ZONE_TASKS, reference_s, checkpoints, "shared", start)
            point = {"kind": "zones", "trace": number, "machines": "zones", "tasks": zone.tasks}
            point |= {"reference_s": reference_s, "checkpoints": checkpoints}
            yield {**point, **_predicted(zone.load(), _past_of_zones(start), PREDICTOR)}


@cache
def _past_of_zones(slots: int) -> Instance:
    return from_trace(read_packaged(SPOT), tasks=1, slot_s=SPOT_SLOT_S, slots=slots)


def _predicted(instance: Instance, past: Instance, hour: str) -> Row:
    row = _bounds(instance, on_demand=True)
    row["FCFS-TR"] = _seconds(instance, _run(instance, "FCFS-TR", row))
    for name in _PREDICTORS:
        predictor = make_predictor(hour if name == "hour" else name, training=past if name == "past" else None)
        run = _run(instance, "FCFS-PRDCT-DMD", row, predictor=predictor)
        assert run.schedule is not None
        row |= {name: _seconds(instance, run), f"{name}_saves": len(run.schedule.saves)}
    return row


def _owners(traces: int) -> Iterator[Row]:
    for trace, minutes in product(range(traces), VISITS):
        _, any_bag = _bag(TRACES[0], trace, _MACHINES[0], *_OWNED_BAGS[0], 0)  # the states are those of all bags
        visited = visits(any_bag, trace, minutes)
        for machines, bag, checkpoints in product(_MACHINES, _OWNED_BAGS, _CHECKPOINTS):
            point, instance = _bag(TRACES[0], trace, machines, *bag, checkpoints)
            for loss, state in LOSSES.items():
                owned = instance.replace(states=np.where(visited, state, instance.states).astype(np.uint8))
                row = {**point, "visit_min": minutes, "visit": loss, **_bounds(owned, on_demand=False)}
                yield row | {policy: _seconds(owned, _run(owned, policy, row)) for policy in _OWNED_POLICIES}


def _moves(traces: int) -> Iterator[Row]:
    for trace, machines, tasks, reference_s in product(range(traces), _MACHINES, _TASKS, _REFERENCES):
        point, instance = _bag(TRACES[0], trace, machines, tasks, reference_s, _CHECKPOINTS[-1])
        for move_s in MOVES:
            paid = instance.replace(move=move_s * 1000 // instance.tick_ms)
            row = {**point, "move_s": move_s, **_bounds(paid, on_demand=False)}
            yield row | {policy: _seconds(paid, _run(paid, policy, row)) for policy in _MOVING_POLICIES}


#: The parts of the study, each with its rows by the number of traces.
PARTS: Mapping[str, Callable[[int], Iterator[Row]]] = {
    "policies": _policies,
    "predictors": _predictors,
    "owners": _owners,
    "moves": _moves,
}


def visits(instance: Instance, trace: int, minutes: int) -> npt.NDArray[np.bool_]:
    """Return in which slots the owner is at a machine that is UP, of the shape of the states.

    Parameters
    ----------
    instance
        Its UP slots are those in which an owner can be there.
    trace
        Number of the trace, for the draws.
    minutes
        Mean length of a visit, which is geometric. Owners arrive by day, such that they are there for a quarter of the
        time of a machine that stays UP.

    Examples
    --------
    >>> from hindsched.instances.bags.generate import paper
    >>> monday = paper(start=240, slots=360)
    >>> round(float(visits(monday, 0, 10).sum() / (monday.states == UP).sum()), 2)
    0.26
    """
    leaves = SLOT_S / (60 * minutes)
    comes = leaves * _SHARE / (1 - _SHARE)
    first_ms, slot_ms = (instance.clock_s or 0) * 1000, instance.slot * instance.tick_ms
    by_day = [time_of_week(first_ms + t * slot_ms) is TimeOfWeek.DAY for t in range(instance.slots)]
    found = np.zeros(instance.states.shape, dtype=np.bool_)
    for q, row in enumerate((instance.states == UP).tolist()):
        draws = stream("bags", "visits", trace, minutes, q).random(instance.slots + 1).tolist()
        is_there = by_day[0] and draws[-1] < _SHARE
        for t, is_up in enumerate(row):
            if t:
                is_there = draws[t] >= leaves if is_there else by_day[t] and draws[t] < comes
            is_there = is_there and is_up
            found[q, t] = is_there
    return found


def _bounds(instance: Instance, *, on_demand: bool) -> Row:
    """Return IET and the bounds of the optimum in seconds."""
    result = solve(instance, on_demand=on_demand, time_limit_s=_TIME_LIMIT_S)
    if result.lower is None or result.upper is None:
        raise SelfCheckError(f"{instance.fingerprint}: {result.status}, expected an optimum or bounds")
    return {"iet": ideal_time(instance) / 1000, "low": result.lower / 1000, "high": result.upper / 1000}


def _run(instance: Instance, policy: str, bounds: Row, **options: Any) -> PolicyRun:
    """Return a run that the checker has accepted and that does not beat the optimum."""
    run = run_policy(instance, policy, **options)
    assert run.schedule is not None
    verdict = check(instance, run.schedule)
    if not verdict.is_valid:
        raise SelfCheckError(f"{policy} on {instance.fingerprint}: {verdict.rule}, {verdict.reason}")
    if run.turnaround is not None and run.turnaround / 1000 < bounds["low"]:
        raise SelfCheckError(f"{policy} on {instance.fingerprint}: {run.turnaround}, below the optimum")
    return run


def _seconds(instance: Instance, run: PolicyRun) -> float | None:
    return None if run.turnaround is None else run.turnaround * instance.tick_ms / 1000
