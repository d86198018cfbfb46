"""The optimum with a shared store on demand (H3): a schedule that reaches the fluid bound.

The fastest UP machines are distributed over n *lanes*, at most one machine in a lane at an instant; the *capacity* of a
lane is its work by tau, in segments. Pairs of lanes are then exchanged at an instant such that one of them has exactly
the work of a task. docs/bags/theory.md has the proof.

The turnaround is tau rounded up, and the schedule only has to end by then. If tau is not an integer, the time that is
left allows short numbers: instants are multiples of a binary fraction of a tick, and speeds 1/g are rounded down, so
that saved states are binary fractions that never exceed the true ones, and all arithmetic is on integers. If tau is an
integer nothing may be lost, and all numbers are exact fractions.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TypeAlias

import numpy as np

from hindsched.instances.bags import Instance, Run, Save, Schedule
from hindsched.instances.states import UP

__all__ = ["schedule_by"]

#: An integer number of small units, or an exact fraction; the arithmetic is the same.
_Number: TypeAlias = int | Fraction


@dataclass(frozen=True, slots=True)
class _Piece:
    """A machine in a lane, in [start, end)."""

    start: _Number
    end: _Number
    machine: int


@dataclass(frozen=True, slots=True)
class _Units:
    """Units of time and work.

    Parameters
    ----------
    tick
        Units of time in a tick.
    segment
        Units of work in a segment.
    speeds
        Units of work in a unit of time of each machine, rounded down.
    is_exact
        Whether numbers are fractions, with units of one tick and one segment.
    """

    tick: int
    segment: int
    speeds: tuple[_Number, ...]
    is_exact: bool

    def done(self, piece: _Piece) -> _Number:
        return (piece.end - piece.start) * self.speeds[piece.machine]

    def back(self, work: _Number, speed: _Number) -> _Number:
        """Return the time that work takes, rounded up to a unit."""
        return Fraction(work, speed) if self.is_exact else -(-work // speed)


def schedule_by(instance: Instance, tau: Fraction) -> Schedule:
    """Return a schedule that completes all tasks by the fluid optimum tau rounded up.

    Parameters
    ----------
    instance
        Shared, on demand.
    tau
        Its `hindsched.offline.bags.lower_bounds.fluid_ticks`.

    Notes
    -----
    The number of runs is about 2 n plus the changes in the set of the fastest machines.
    """
    turnaround = ceil(tau)
    stays = _lanes(instance, turnaround)
    units = _units(instance, stays, tau)
    lanes = [[_Piece(start * units.tick, end * units.tick, q) for start, end, q in lane] for lane in stays]
    runs: list[Run] = []
    saves: list[Save] = []
    for task, lane in enumerate(_lanes_of_tasks(lanes, instance, units)):
        _run(instance, units, task, lane, runs, saves)
    runs.sort(key=lambda run: (run.start, run.machine))
    return Schedule(instance.fingerprint, tuple(runs), tuple(saves), turnaround)


def _lanes(instance: Instance, turnaround: int) -> list[list[tuple[int, int, int]]]:
    """Distribute the fastest UP machines over n lanes; a machine keeps its lane while it is among them."""
    n, length = instance.tasks, instance.slot
    order = np.argsort(instance.ticks, kind="stable")
    slots = -(-turnaround // length)
    up = instance.states[order, :slots] == UP
    used = up & (np.cumsum(up, axis=0) <= n)
    steps = np.diff(used.astype(np.int8), axis=1, prepend=0)
    lanes: list[list[tuple[int, int, int]]] = [[] for _ in range(n)]
    free = list(range(n))
    lane_of: dict[int, int] = {}
    since: dict[int, int] = {}
    for t in [*np.flatnonzero(steps.any(axis=0)).tolist(), slots]:
        leaving = list(lane_of) if t == slots else order[np.flatnonzero(steps[:, t] < 0)].tolist()
        for q in leaving:
            lane = lane_of.pop(q)
            lanes[lane].append((since[q], min(t * length, turnaround), q))
            heapq.heappush(free, lane)
        for q in [] if t == slots else order[np.flatnonzero(steps[:, t] > 0)].tolist():
            lane_of[q], since[q] = heapq.heappop(free), t * length
    return lanes


def _units(instance: Instance, lanes: list[list[tuple[int, int, int]]], tau: Fraction) -> _Units:
    """Return exact units, or small units that lose less than the work done between tau and the next integer."""
    turnaround = ceil(tau)
    if turnaround == tau:
        return _Units(1, 1, tuple(Fraction(1, ticks) for ticks in instance.ticks), True)
    pieces = [piece for lane in lanes for piece in lane]
    spare = (turnaround - tau) * sum(Fraction(1, instance.ticks[q]) for _, end, q in pieces if end == turnaround)
    # speeds rounded to 1/fine lose at most a quarter of it: the time of all machines, times 1/fine
    fine = 1 << ceil(4 * sum(end - start for start, end, _ in pieces) / spare).bit_length()
    # n instants rounded to 1/tick lose at most another quarter
    tick = 1 << ceil(4 * instance.tasks / (min(instance.ticks) * spare)).bit_length()
    return _Units(tick, fine * tick, tuple(fine // ticks for ticks in instance.ticks), False)


def _lanes_of_tasks(lanes: list[list[_Piece]], instance: Instance, units: _Units) -> list[list[_Piece]]:
    """Divide lanes of mean capacity >= k into n lanes of capacity >= k, one for each task."""
    goal = instance.segments * units.segment
    capacity: list[_Number] = [sum(map(units.done, lane), 0) for lane in lanes]
    best = [(-c, i) for i, c in enumerate(capacity)]
    least = [(c, i) for i, c in enumerate(capacity)]
    heapq.heapify(best)
    heapq.heapify(least)
    tasks: list[list[_Piece]] = []
    while len(tasks) < instance.tasks:
        c, b = heapq.heappop(least)
        if c != capacity[b]:  # outdated
            continue
        if c >= goal:
            tasks.append(lanes[b])
            capacity[b] = -1
            continue
        while -best[0][0] != capacity[best[0][1]]:
            heapq.heappop(best)
        a = heapq.heappop(best)[1]
        task, left, got = _pair(lanes[a], lanes[b], c, goal, units)
        tasks.append(task)
        lanes[a], capacity[a] = left, capacity[a] + c - got
        lanes[b], capacity[b] = [], -1
        heapq.heappush(best, (-capacity[a], a))
        heapq.heappush(least, (capacity[a], a))
    return tasks


def _pair(
    a: list[_Piece], b: list[_Piece], capacity: _Number, goal: int, units: _Units
) -> tuple[list[_Piece], list[_Piece], _Number]:
    """Return the pieces of b until an instant t and of a from t on, worth the goal, the other pieces, and the capacity.

    The search for the last such t begins at the end: ``got`` is the work of a task that moves to lane a at ``now``.
    """
    i, j = len(a), len(b)
    got = capacity
    now = max(lane[-1].end for lane in (a, b) if lane)
    while True:
        on_a = i > 0 and a[i - 1].end >= now > a[i - 1].start
        on_b = j > 0 and b[j - 1].end >= now > b[j - 1].start
        back = max(lane[x - 1].start if on else lane[x - 1].end for lane, x, on in ((a, i, on_a), (b, j, on_b)) if x)
        rise = (units.speeds[a[i - 1].machine] if on_a else 0) - (units.speeds[b[j - 1].machine] if on_b else 0)
        if got + rise * (now - back) >= goal:
            break
        got += rise * (now - back)
        now = back
        i -= int(i > 0 and a[i - 1].start >= now)
        j -= int(j > 0 and b[j - 1].start >= now)
    at = max(back, now - units.back(goal - got, rise))
    got += rise * (now - at)
    return [*_before(b, j, at), *_after(a, i, at)], [*_before(a, i, at), *_after(b, j, at)], got


def _before(lane: list[_Piece], i: int, at: _Number) -> list[_Piece]:
    """Return the pieces before an instant that lies in piece i - 1 of the lane or between it and piece i."""
    if i == 0 or lane[i - 1].end <= at:
        return lane[:i]
    last = lane[i - 1]
    return lane[: i - 1] + ([_Piece(last.start, at, last.machine)] if last.start < at else [])


def _after(lane: list[_Piece], i: int, at: _Number) -> list[_Piece]:
    """Return the pieces after that instant."""
    if i == 0 or lane[i - 1].end <= at:
        return lane[i:]
    first = lane[i - 1]
    return [_Piece(max(first.start, at), first.end, first.machine), *lane[i:]]


def _run(instance: Instance, units: _Units, task: int, lane: list[_Piece], runs: list[Run], saves: list[Save]) -> None:
    """Run a task through a lane until it is completed, with a save at the end of every piece."""
    done: _Number = 0
    for piece in lane:
        state = Fraction(done, units.segment)
        start = Fraction(piece.start, units.tick)
        needed = (instance.segments - state) * instance.ticks[piece.machine]
        end = min(Fraction(piece.end, units.tick), start + needed)
        runs.append(Run(piece.machine, task, _plain(start), _plain(end), _plain(state)))
        if end == start + needed:
            return
        done += units.done(piece)
        saves.append(Save(piece.machine, _plain(end)))


def _plain(number: Fraction) -> int | Fraction:
    return number.numerator if number.denominator == 1 else number
