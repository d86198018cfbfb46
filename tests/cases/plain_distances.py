"""Distances of the slot graph by their definition, arc by arc (docs/bounds.md), to compare with kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import NamedTuple

from hindsched.instances.coupled.model import Instance
from hindsched.instances.frozen_dict import FrozenDict
from hindsched.instances.states import DOWN, UP

__all__ = ["PlainDistances"]


class _Candidate(NamedTuple):
    """A worker that can compute: its largest number of tasks, its multiplier, and whether its program may be old."""

    tasks: int
    multiplier: int
    is_old: bool


class PlainDistances:
    """The slot graph of a branch node within a horizon.

    Parameters
    ----------
    instance
        With T_prog >= 1.
    horizon
        Largest number of slots of a schedule.
    soonest, latest
        Iterations 1..k are complete after at least ``soonest[k]`` and at most ``latest[k]`` slots. Iterations without a
        limit may end at any time.
    """

    def __init__(
        self,
        instance: Instance,
        horizon: int,
        soonest: Mapping[int, int] = FrozenDict(),
        latest: Mapping[int, int] = FrozenDict(),
    ) -> None:
        self.instance, self.horizon = instance, horizon
        self.soonest, self.latest = soonest, latest
        self.letters = instance.prefix(horizon).tolist()
        self.shortest = {e + 1: self._shortest(e) for e in range(horizon)}
        self.early, self.late = self._windows()

    def up(self, q: int, low: int, high: int) -> int:
        """Return the UP slots of worker q in slots low..high-1."""
        return sum(state == UP for state in self.letters[q][max(0, low) : max(0, high)])

    def period_start(self, q: int, t: int) -> int:
        """Return the first slot of the availability period of worker q that contains slot t."""
        while t > 0 and self.letters[q][t - 1] != DOWN:
            t -= 1
        return t

    def can_compute(self, c: int, e: int) -> list[int]:
        """Return the workers that are UP in c and in e and not DOWN between."""
        return [
            q
            for q, row in enumerate(self.letters)
            if row[c] == UP and row[e] == UP and all(state != DOWN for state in row[c : e + 1])
        ]

    def _shortest(self, e: int) -> int | None:
        """Return the fewest slots up to e in which m tasks can be computed if each worker may have another W."""
        for c in range(e, -1, -1):
            tasks = (
                min(self.instance.capacities[q], self.up(q, c, e + 1) // self.instance.w[q])
                for q in self.can_compute(c, e)
            )
            if sum(tasks) >= self.instance.tasks:
                return e - c + 1
        return None

    def _received(self, slots: int) -> int:
        """Return the number of tasks whose data take this many slots, at most m."""
        if slots < 0:
            return 0
        m, t_data = self.instance.tasks, self.instance.t_data
        return min(m, slots // t_data) if t_data else m

    def may_end(self, s: int, e: int, k: int) -> bool:
        """Return whether iteration k may start in slot s and end in slot e if each worker may have another W."""
        if k > 1 and self.shortest.get(s) is None:
            return False
        for c in range(s, e + 1):
            room = self.instance.channels * (c - s) - self.instance.tasks * self.instance.t_data
            if room < 0:
                continue
            able = [self._candidate(q, k, s, c, e, self.up(q, c, e + 1), {}) for q in self.can_compute(c, e)]
            if self._cost([one for one in able if one.tasks > 0], room // self.instance.t_prog) is not None:
                return True
        return False

    def _windows(self) -> tuple[list[int | None], list[int | None]]:
        """Return the first and the last t of the nodes (k, t); None where no schedule is within the horizon."""
        slots, iterations = range(self.horizon), self.instance.iterations
        first_ends = [e + 1 for e in slots if self.may_end(0, e, 1)]
        later = [(s, e + 1) for s in slots for e in slots if s <= e and self.may_end(s, e, 2)]
        early: list[int | None] = [0]
        late: list[int | None] = [self.horizon]
        for k in range(1, iterations + 1):
            first, last = early[-1], late[-1]
            ends = first_ends if k == 1 else [t for s, t in later if first is not None and s >= first]
            early.append(max(min(ends), self.soonest.get(k, 0)) if ends else None)
            starts = [s for s, t in later if last is not None and t <= last]
            late.append(min(max(starts), self.latest.get(iterations - k, self.horizon)) if starts else None)
        late.reverse()
        late[0] = 0
        return early, late

    def distances(
        self, program_values: Sequence[int], multipliers: Mapping[tuple[int, int], Sequence[int]]
    ) -> list[dict[int, int]]:
        """Return for each k the distance of every node (k, t) that can be reached, by t.

        Parameters
        ----------
        program_values
            Value of a program, by iteration.
        multipliers
            Multiplier for each iteration of a period, given by worker and first slot; 0 for other periods.
        """
        nodes: list[dict[int, int]] = [{0: 0}]
        for k in range(1, self.instance.iterations + 1):
            first, last = self.early[k], self.late[k]
            level: dict[int, int] = {}
            if first is not None and last is not None:
                for t in range(first, last + 1):
                    found = [
                        far + least
                        for s, far in nodes[-1].items()
                        for c in range(s, t)
                        if (least := self._arc(k, s, c, t - 1, program_values[k - 1], multipliers)) is not None
                    ]
                    if found:
                        level[t] = min(found)
            nodes.append(level)
        return nodes

    def _arc(
        self, k: int, s: int, c: int, e: int, program_value: int, multipliers: Mapping[tuple[int, int], Sequence[int]]
    ) -> int | None:
        """Return the cost of an arc with the best W; None if there is no arc."""
        instance = self.instance
        room = instance.channels * (c - s) - instance.tasks * instance.t_data
        if room < 0:
            return None
        programs = room // instance.t_prog if c - s >= instance.t_prog else 0
        costs = []
        for work in range(1, e - c + 2):
            candidates = [self._candidate(q, k, s, c, e, work, multipliers) for q in self.can_compute(c, e)]
            least = self._cost([one for one in candidates if one.tasks > 0], programs)
            if least is not None:
                costs.append(least)
        return min(costs) - program_value * min(instance.num_workers, programs) if costs else None

    def _candidate(
        self, q: int, k: int, s: int, c: int, e: int, work: int, multipliers: Mapping[tuple[int, int], Sequence[int]]
    ) -> _Candidate:
        instance = self.instance
        a = self.period_start(q, c)
        before = s - (self.shortest[s] or 0) if k > 1 else -1
        is_old = self.up(q, a, before) >= instance.t_prog if before > a else False
        room = self.up(q, max(s, a), c) - (0 if is_old else instance.t_prog)
        own = min(instance.capacities[q], work // instance.w[q]) if self.up(q, c, e + 1) >= work else 0
        multiplier = multipliers[q, a][k - 1] if (q, a) in multipliers else 0
        return _Candidate(min(own, self._received(room)), multiplier, is_old)

    def _cost(self, candidates: Sequence[_Candidate], programs: int) -> int | None:
        """Return the least cost of m fractional tasks, rounded down; None if the candidates cannot hold m tasks."""
        m = self.instance.tasks
        new = sorted((one.tasks for one in candidates if not one.is_old), reverse=True)
        if sum(one.tasks for one in candidates if one.is_old) + sum(new[:programs]) < m:
            return None
        total, left = Fraction(0), m
        for one in sorted(candidates, key=lambda one: Fraction(one.multiplier, one.tasks)):
            some = min(left, one.tasks)
            total += Fraction(one.multiplier * some, one.tasks)
            left -= some
        return floor(total)
