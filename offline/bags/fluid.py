"""The optimum with shared disks on demand (H3): its value, and a schedule that reaches it.

**Theorem.** The optimum is the least tau at which the min(n, UP) fastest UP machines have together done n k segments.

*No play ends earlier*: at an instant at most n tasks are served, each by one machine that counts (of two copies of a
task only one advances what is not yet saved), so the play does no more than the fastest min(n, UP).

*A play that ends by tau.* Share those machines at every instant among n *lanes*, at most one machine in a lane; a
lane's *capacity* is what it does by tau, in segments. The capacities add up to n k. As long as lanes are left, one has
capacity C_a >= k and one C_b <= k, for k is their mean. Let a task run in lane b until t and in lane a from then on: for
t = 0 it gets C_a, for t = tau it gets C_b, and what it gets is continuous in t, so that for some t it gets k exactly.
What the two lanes have left, a until t and b from then on, is a lane again, and the remaining lanes have mean k.
After n steps every task is done, with at most n - 1 such instants t beyond the ones at which machines come and go. QED.

The value is tau rounded up, and the schedule only has to be done by then. Whenever tau is not an integer the time that
is left pays for short numbers: instants t are rounded down to binary fractions, and speeds 1/g too, so that the saved
states that runs start from are binary fractions that never exceed the real ones. Where tau is an integer
nothing may be lost and all numbers are exact.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np

from instances.bags import Instance, Run, Save, Schedule
from instances.states import UP

__all__ = ["schedule_by"]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A machine in a lane, in [start, end)."""

    start: Fraction
    end: Fraction
    machine: int


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The speeds that the schedule reckons with, at most the real ones, and how fine its instants are."""

    speeds: tuple[Fraction, ...]
    grid: int | None  # instants are multiples of 1/grid; None: any

    def done(self, piece: _Piece) -> Fraction:
        return (piece.end - piece.start) * self.speeds[piece.machine]

    def rounded(self, instant: Fraction) -> Fraction:
        return instant if self.grid is None else Fraction(floor(instant * self.grid), self.grid)


def schedule_by(instance: Instance, tau: Fraction) -> Schedule:
    """Return a schedule that completes all tasks by the fluid optimum tau rounded up.

    Parameters
    ----------
    instance
        Shared, on demand.
    tau
        Its `offline.bags.bounds.fluid_ticks`.

    Notes
    -----
    About as many runs as machines come and go among the fastest, and 2 n more.
    """
    turnaround = ceil(tau)
    lanes = _lanes(instance, turnaround)
    numbers = _numbers(instance, lanes, tau)
    runs: list[Run] = []
    saves: list[Save] = []
    for task, lane in enumerate(_cut(lanes, instance, numbers)):
        _run(instance, numbers, task, lane, runs, saves)
    runs.sort(key=lambda run: (run.start, run.machine))
    return Schedule(instance.fingerprint, tuple(runs), tuple(saves), turnaround)


def _lanes(instance: Instance, turnaround: int) -> list[list[_Piece]]:
    """Share the fastest UP machines among n lanes; who stays among them stays in its lane."""
    n, length = instance.tasks, instance.slot
    order = np.argsort(instance.ticks, kind="stable")
    slots = -(-turnaround // length)
    up = instance.states[order, :slots] == UP
    used = up & (np.cumsum(up, axis=0) <= n)
    steps = np.diff(used.astype(np.int8), axis=1, prepend=0)
    lanes: list[list[_Piece]] = [[] for _ in range(n)]
    free = list(range(n))
    lane_of: dict[int, int] = {}
    since: dict[int, int] = {}
    for t in [*np.flatnonzero(steps.any(axis=0)).tolist(), slots]:
        leaving = list(lane_of) if t == slots else order[np.flatnonzero(steps[:, t] < 0)].tolist()
        for q in leaving:
            lane = lane_of.pop(q)
            end = min(t * length, turnaround)
            lanes[lane].append(_Piece(Fraction(since[q]), Fraction(end), q))
            heapq.heappush(free, lane)
        for q in [] if t == slots else order[np.flatnonzero(steps[:, t] > 0)].tolist():
            lane_of[q], since[q] = heapq.heappop(free), t * length
    return lanes


def _numbers(instance: Instance, lanes: list[list[_Piece]], tau: Fraction) -> _Numbers:
    """Return exact numbers, or short ones that lose less than what is done between tau and the next integer."""
    exact = _Numbers(tuple(Fraction(1, ticks) for ticks in instance.ticks), None)
    turnaround = ceil(tau)
    if turnaround == tau:
        return exact
    busy = {piece.machine: 0 for lane in lanes for piece in lane if piece.end == turnaround}
    spare = (turnaround - tau) * sum(exact.speeds[q] for q in busy)
    # a quarter for the speeds: all lanes lose at most their time times 1/fine
    time = sum(piece.end - piece.start for lane in lanes for piece in lane)
    fine = 1 << ceil(4 * time / spare).bit_length()
    # a quarter for the instants: each of n rounds what its task gets up, by 1/grid times a speed at most
    grid = 1 << ceil(4 * instance.tasks * max(exact.speeds) / spare).bit_length()
    return _Numbers(tuple(Fraction(floor(fine * speed), fine) for speed in exact.speeds), grid)


def _cut(lanes: list[list[_Piece]], instance: Instance, numbers: _Numbers) -> list[list[_Piece]]:
    """Cut lanes of mean capacity k or more into n lanes of capacity k or more, one a task."""
    goal = instance.segments
    capacity = [sum((numbers.done(piece) for piece in lane), Fraction(0)) for lane in lanes]
    best = [(-c, i) for i, c in enumerate(capacity)]
    least = [(c, i) for i, c in enumerate(capacity)]
    heapq.heapify(best)
    heapq.heapify(least)
    tasks: list[list[_Piece]] = []
    while len(tasks) < instance.tasks:
        while least and least[0][0] != capacity[least[0][1]]:
            heapq.heappop(least)
        c, b = heapq.heappop(least)
        if c >= goal:
            tasks.append(lanes[b])
            capacity[b] = Fraction(-1)
            continue
        while -best[0][0] != capacity[best[0][1]]:
            heapq.heappop(best)
        a = heapq.heappop(best)[1]
        task, left, got = _pair(lanes[a], lanes[b], c, goal, numbers)
        tasks.append(task)
        lanes[a], capacity[a] = left, capacity[a] + c - got
        lanes[b], capacity[b] = [], Fraction(-1)
        heapq.heappush(best, (-capacity[a], a))
        heapq.heappush(least, (capacity[a], a))
    return tasks


def _pair(
    a: list[_Piece], b: list[_Piece], capacity: Fraction, goal: int, numbers: _Numbers
) -> tuple[list[_Piece], list[_Piece], Fraction]:
    """Return the pieces of b until some t and of a from then on, worth the goal, and the others; and the worth.

    From the right, the last such t: left of it a task that moves to lane a earlier gets more.
    """
    i, j = len(a), len(b)
    got = capacity
    now = max([lane[-1].end for lane in (a, b) if lane])
    while True:
        on_a = i > 0 and a[i - 1].end >= now > a[i - 1].start
        on_b = j > 0 and b[j - 1].end >= now > b[j - 1].start
        marks = [lane[x - 1].start if on else lane[x - 1].end for lane, x, on in ((a, i, on_a), (b, j, on_b)) if x]
        back = max(mark for mark in marks if mark < now)
        rise = Fraction(0)
        if on_a:
            rise += numbers.speeds[a[i - 1].machine]
        if on_b:
            rise -= numbers.speeds[b[j - 1].machine]
        if got + rise * (now - back) >= goal:
            break
        got += rise * (now - back)
        now = back
        i -= int(i > 0 and a[i - 1].start >= now)
        j -= int(j > 0 and b[j - 1].start >= now)
    at = max(back, numbers.rounded(now - (goal - got) / rise))
    got += rise * (now - at)
    return [*_before(b, j, at), *_after(a, i, at)], [*_before(a, i, at), *_after(b, j, at)], got


def _before(lane: list[_Piece], i: int, at: Fraction) -> list[_Piece]:
    """Return what of a lane lies before an instant within piece i - 1, or between it and piece i."""
    if i == 0 or lane[i - 1].end <= at:
        return lane[:i]
    last = lane[i - 1]
    return lane[: i - 1] + ([_Piece(last.start, at, last.machine)] if last.start < at else [])


def _after(lane: list[_Piece], i: int, at: Fraction) -> list[_Piece]:
    if i == 0 or lane[i - 1].end <= at:
        return lane[i:]
    first = lane[i - 1]
    return [_Piece(max(first.start, at), first.end, first.machine), *lane[i:]]


def _run(
    instance: Instance, numbers: _Numbers, task: int, lane: list[_Piece], runs: list[Run], saves: list[Save]
) -> None:
    """Let a task run through a lane until it is completed, saving at the end of every piece."""
    state = Fraction(0)
    for piece in lane:
        ticks = instance.ticks[piece.machine]
        needed = (instance.segments - state) * ticks
        start, end = _plain(piece.start), _plain(min(piece.end, piece.start + needed))
        runs.append(Run(piece.machine, task, start, end, _plain(state)))
        if needed <= piece.end - piece.start:
            return
        state += numbers.done(piece)
        saves.append(Save(piece.machine, end))


def _plain(number: Fraction) -> int | Fraction:
    return number.numerator if number.denominator == 1 else number
