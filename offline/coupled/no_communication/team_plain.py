"""A plain branch and bound over rows, with sets of slots as the bits of an integer.

It is short, needs no library, and is the reference for faster searches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hindsched.offline.coupled.no_communication.common_slots import Aim, Booleans, CommonSlots, Team, value_of
from hindsched.offline.coupled.no_communication.team_lengths import (
    bound,
    capacities,
    distribute_tasks,
    possible_lengths,
    trivial_team,
)
from hindsched.offline.coupled.no_communication.team_result import SearchOutcome, make_result
from hindsched.offline.limits import NO_LIMITS, Limits, Stopwatch
from hindsched.offline.results import Result

__all__ = ["solve"]

_NODES_PER_CLOCK_CHECK = 256


@dataclass(frozen=True, slots=True)
class _Row:
    """A row at a length: its index, the tasks that it can hold, its UP and DOWN slots as bits."""

    q: int
    tasks: int
    up: int
    down: int


@dataclass(frozen=True, slots=True)
class _Node:
    """The members, their common UP slots, the slots in which one of them is DOWN, and the remaining candidates."""

    members: tuple[_Row, ...]
    common: int
    cuts: int
    tasks: int
    rest: tuple[_Row, ...]


def solve(problem: CommonSlots, limits: Limits = NO_LIMITS) -> Result:
    """Search length by length, depth first; exact and deterministic.

    A node is cut if its slots cannot give a better value, or if its candidates cannot hold the missing tasks. The
    search keeps its own stack, so its depth has no limit.

    Examples
    --------
    >>> solve(CommonSlots.of_rows(["1101", "1011", "0111"], tasks=2, aim=Aim.EARLIEST)).value
    1
    """
    search = _Search(problem, Stopwatch(limits))
    for length in possible_lengths(problem):
        if not search.run(length):
            break
    return search.result()


class _Search:
    def __init__(self, problem: CommonSlots, watch: Stopwatch) -> None:
        self.problem = problem
        self.watch = watch
        self.bound = bound(problem)
        self.nodes = 0
        self.is_stopped = False
        self.value = 0 if problem.aim.is_maximal else problem.slots + 1
        self.team = trivial_team(problem)
        self.up = [_bits(row) for row in problem.up]
        self.down = [_bits(row) for row in problem.down]

    def run(self, length: int) -> bool:
        """Search one length; return False if no better team can follow, or the time is over."""
        aim = self.problem.aim
        rows = [
            _Row(q, tasks, self.up[q], self.down[q])
            for q, tasks in enumerate(capacities(self.problem, length).tolist())
            if tasks and self.is_promising(self.up[q], self.down[q], length)
        ]
        rows.sort(key=lambda row: (-row.tasks, -row.up.bit_count(), row.q))
        root = _Node((), (1 << self.problem.slots) - 1, 0, 0, tuple(rows))
        stack = [root]
        while stack:
            self.nodes += 1
            if self.nodes % _NODES_PER_CLOCK_CHECK == 0 and self.watch.is_over():
                self.is_stopped = True
                return False
            node = stack.pop()
            if not self.is_promising(node.common, node.cuts, length):
                continue
            needed = self.value + 1 if aim is Aim.HEAVIEST else self.problem.tasks
            if node.tasks >= needed:
                self.take(node, length)
                if self.value == self.bound:
                    return False
                needed = self.value + 1
                if aim is not Aim.HEAVIEST:
                    continue
            stack.extend(reversed(list(self.children(node, length, needed))))
        return True

    def children(self, node: _Node, length: int, needed: int) -> Iterator[_Node]:
        left = sum(row.tasks for row in node.rest)
        for i, row in enumerate(node.rest):
            if node.tasks + left < needed:
                return
            left -= row.tasks
            common, cuts = node.common & row.up, node.cuts | row.down
            if self.is_promising(common, cuts, length):
                rest = tuple(
                    other
                    for other in node.rest[i + 1 :]
                    if self.is_promising(common & other.up, cuts | other.down, length)
                )
                yield _Node((*node.members, row), common, cuts, node.tasks + row.tasks, rest)

    def is_promising(self, common: int, cuts: int, length: int) -> bool:
        """Return whether these slots suffice for a team that is better than the best."""
        aim = self.problem.aim
        if aim is Aim.WIDEST:
            needed = length * (self.value + 1)
            return common.bit_count() >= needed and any(s.bit_count() >= needed for s in _segments(common, cuts))
        if aim is Aim.EARLIEST:
            common &= (1 << (self.value - 1)) - 1
        return common.bit_count() >= length and any(s.bit_count() >= length for s in _segments(common, cuts))

    def take(self, node: _Node, length: int) -> None:
        """Record a better team."""
        aim = self.problem.aim
        segments = [_slots(segment) for segment in _segments(node.common, node.cuts)]
        if aim is Aim.WIDEST:
            slots = max(segments, key=len)
        else:
            slots = next(segment for segment in segments if len(segment) >= length)[:length]
        tasks = {row.q: row.tasks for row in node.members}
        self.team = Team(
            tasks if aim is Aim.HEAVIEST else distribute_tasks(tasks, tasks, self.problem.tasks), tuple(slots)
        )
        self.value = value_of(self.problem, self.team)

    def result(self) -> Result:
        """Return the best team and whether it is proven optimal."""
        value = None if self.team is None else self.value
        outcome = SearchOutcome(self.team, value, self.bound, not self.is_stopped, {"nodes": self.nodes})
        return make_result(self.problem, "plain", self.watch, outcome)


def _segments(common: int, cuts: int) -> Iterator[int]:
    """Yield the parts of a set of slots between two cuts."""
    while cuts and common:
        first = cuts & -cuts
        yield common & (first - 1)
        common &= ~(first | (first - 1))
        cuts &= cuts - 1
    yield common


def _bits(row: Booleans) -> int:
    return int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little")


def _slots(bits: int) -> list[int]:
    return [t for t in range(bits.bit_length()) if bits >> t & 1]
