"""The optimum with shared disks on demand (H3): its value, and a schedule that reaches it.

**Theorem.** The optimum is the least tau at which the min(n, UP) fastest UP machines have together done n k segments.

*No play ends earlier*: at an instant at most n tasks are served, each by one machine that counts (of two copies of a
task only one advances what is not yet saved), so the play does no more than the fastest min(n, UP).

*A play that ends by tau.* Share those machines at every instant among n *lanes*, at most one machine in a lane; a
lane's *capacity* is what it does by tau, in segments. The capacities add up to n k. As long as lanes are left, one has
capacity C_a >= k and one C_b <= k, for k is their mean. Let a task run in lane b until t and in lane a from then on:
for t = 0 it gets C_a, for t = tau it gets C_b, and what it gets is continuous in t, so that for some t it gets k
exactly. What the two lanes have left, a until t and b from then on, is a lane again, and the remaining lanes have mean
k. After n steps every task is done, with at most n - 1 such instants t beyond the ones at which machines come and go.
QED.

The value is tau rounded up, and the schedule only has to be done by then. Whenever tau is not an integer, the time
that is left pays for short numbers: instants are multiples of a binary fraction of a tick, and speeds 1/g are rounded
down, so that the saved states that runs start from are binary fractions that never exceed the real ones. Everything is
then reckoned in integers. Where tau is an integer nothing may be lost, and all numbers are exact fractions.
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

#: An integer number of small units, or an exact fraction: the same arithmetic for both.
_Number: TypeAlias = int | Fraction


@dataclass(frozen=True, slots=True)
class _Piece:
    """A machine in a lane, in [start, end)."""

    start: _Number
    end: _Number
    machine: int


@dataclass(frozen=True, slots=True)
class _Units:
    """What the schedule reckons in.

    Parameters
    ----------
    tick
        Units of time in a tick.
    segment
        Units of work in a segment.
    speeds
        Of each machine, units of work in a unit of time: at most what it really does.
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
        """Return the time that this much work takes, rounded up to a unit."""
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
    About as many runs as machines come and go among the fastest, and 2 n more.
    """
    turnaround = ceil(tau)
    stays = _lanes(instance, turnaround)
    units = _units(instance, stays, tau)
    lanes = [[_Piece(start * units.tick, end * units.tick, q) for start, end, q in lane] for lane in stays]
    runs: list[Run] = []
    saves: list[Save] = []
    for task, lane in enumerate(_cut(lanes, instance, units)):
        _run(instance, units, task, lane, runs, saves)
    runs.sort(key=lambda run: (run.start, run.machine))
    return Schedule(instance.fingerprint, tuple(runs), tuple(saves), turnaround)


def _lanes(instance: Instance, turnaround: int) -> list[list[tuple[int, int, int]]]:
    """Share the fastest UP machines among n lanes; who stays among them stays in its lane, from start to end."""
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
    """Return exact units, or small ones that lose less than what is done between tau and the next integer."""
    turnaround = ceil(tau)
    if turnaround == tau:
        return _Units(1, 1, tuple(Fraction(1, ticks) for ticks in instance.ticks), True)
    pieces = [piece for lane in lanes for piece in lane]
    spare = (turnaround - tau) * sum(Fraction(1, instance.ticks[q]) for _, end, q in pieces if end == turnaround)
    # speeds rounded to 1/fine lose a quarter of it at most: the time of all machines, times 1/fine
    fine = 1 << ceil(4 * sum(end - start for start, end, _ in pieces) / spare).bit_length()
    # and n instants rounded to 1/tick as much: each gives its task a bit more, at the highest speed
    tick = 1 << ceil(4 * instance.tasks / (min(instance.ticks) * spare)).bit_length()
    return _Units(tick, fine * tick, tuple(fine // ticks for ticks in instance.ticks), False)


def _cut(lanes: list[list[_Piece]], instance: Instance, units: _Units) -> list[list[_Piece]]:
    """Cut lanes of mean capacity k or more into n lanes of capacity k or more, one a task."""
    goal = instance.segments * units.segment
    capacity: list[_Number] = [sum(map(units.done, lane), 0) for lane in lanes]
    best = [(-c, i) for i, c in enumerate(capacity)]
    least = [(c, i) for i, c in enumerate(capacity)]
    heapq.heapify(best)
    heapq.heapify(least)
    tasks: list[list[_Piece]] = []
    while len(tasks) < instance.tasks:
        c, b = heapq.heappop(least)
        if c != capacity[b]:  # no longer true
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
    """Return the pieces of b until some t and of a from then on, worth the goal, and the others; and the worth.

    t is the last such instant, found from the right: ``got`` is what a task gets that moves to lane a at ``now``.
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
    """Return what lies before an instant, which is in piece i - 1 of the lane or between it and piece i."""
    if i == 0 or lane[i - 1].end <= at:
        return lane[:i]
    last = lane[i - 1]
    return lane[: i - 1] + ([_Piece(last.start, at, last.machine)] if last.start < at else [])


def _after(lane: list[_Piece], i: int, at: _Number) -> list[_Piece]:
    """Return what lies after that instant."""
    if i == 0 or lane[i - 1].end <= at:
        return lane[i:]
    first = lane[i - 1]
    return [_Piece(max(first.start, at), first.end, first.machine), *lane[i:]]


def _run(instance: Instance, units: _Units, task: int, lane: list[_Piece], runs: list[Run], saves: list[Save]) -> None:
    """Let a task run through a lane until it is completed, saving at the end of every piece."""
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
