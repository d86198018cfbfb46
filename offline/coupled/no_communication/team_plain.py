"""A plain branch and bound: rows are taken or left one by one, sets of slots are the bits of an integer.

Short and readable, without a library; the twin to compare faster searches with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hindsched.offline.coupled.no_communication.common_slots import Aim, Booleans, CommonSlots, Team, value_of
from hindsched.offline.coupled.no_communication.conclude import conclude
from hindsched.offline.coupled.no_communication.levels import bound, capacities, hand_out, levels
from hindsched.offline.limits import NO_LIMITS, Limits, Stopwatch
from hindsched.offline.results import Result

__all__ = ["solve"]

_NODES_PER_LOOK = 256  # at the clock


@dataclass(frozen=True, slots=True)
class _Row:
    """A row at a level: its index, how many tasks it holds, its UP and DOWN slots as bits."""

    q: int
    tasks: int
    up: int
    down: int


@dataclass(frozen=True, slots=True)
class _Node:
    """Members taken so far, the slots they share, the slots in which one of them is DOWN, and who may still join."""

    members: tuple[_Row, ...]
    common: int
    cuts: int
    tasks: int
    rest: tuple[_Row, ...]


def solve(problem: CommonSlots, limits: Limits = NO_LIMITS) -> Result:
    """Search level by level, depth first; exact and deterministic.

    A node is left when its slots cannot lead to a better value, or when all the rows that could still join would not
    hold the missing tasks. The search keeps its own stack, so its depth has no limit.

    Examples
    --------
    >>> solve(CommonSlots.of_rows(["1101", "1011", "0111"], tasks=2, aim=Aim.EARLIEST)).value
    1
    """
    search = _Search(problem, Stopwatch(limits))
    for level in levels(problem):
        if not search.run(level):
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
        self.team: Team | None = None
        if problem.aim is Aim.HEAVIEST:
            self.team = Team({}, ())
        elif problem.aim is Aim.WIDEST and int(problem.most.sum()) >= problem.tasks:
            self.team = Team(hand_out(problem.most, range(problem.num_rows), problem.tasks), ())
        self.up = [_bits(row) for row in problem.up]
        self.down = [_bits(row) for row in problem.down]

    def run(self, level: int) -> bool:
        """Search one level; False where nothing better can come, or the time is over."""
        aim = self.problem.aim
        rows = [
            _Row(q, tasks, self.up[q], self.down[q])
            for q, tasks in enumerate(capacities(self.problem, level).tolist())
            if tasks and self.is_promising(self.up[q], self.down[q], level)
        ]
        rows.sort(key=lambda row: (-row.tasks, -row.up.bit_count(), row.q))
        root = _Node((), (1 << self.problem.slots) - 1, 0, 0, tuple(rows))
        stack = [root]
        while stack:
            self.nodes += 1
            if self.nodes % _NODES_PER_LOOK == 0 and self.watch.is_over():
                self.is_stopped = True
                return False
            node = stack.pop()
            if not self.is_promising(node.common, node.cuts, level):
                continue
            needed = self.value + 1 if aim is Aim.HEAVIEST else self.problem.tasks
            if node.tasks >= needed:
                self.take(node, level)
                if self.value == self.bound:
                    return False
                needed = self.value + 1
                if aim is not Aim.HEAVIEST:
                    continue
            stack.extend(reversed(list(self.children(node, level, needed))))
        return True

    def children(self, node: _Node, level: int, needed: int) -> Iterator[_Node]:
        left = sum(row.tasks for row in node.rest)
        for i, row in enumerate(node.rest):
            if node.tasks + left < needed:
                return
            left -= row.tasks
            common, cuts = node.common & row.up, node.cuts | row.down
            if self.is_promising(common, cuts, level):
                rest = tuple(
                    other
                    for other in node.rest[i + 1 :]
                    if self.is_promising(common & other.up, cuts | other.down, level)
                )
                yield _Node((*node.members, row), common, cuts, node.tasks + row.tasks, rest)

    def is_promising(self, common: int, cuts: int, level: int) -> bool:
        """Whether these slots, if nobody else joined, would do for a team that beats the best so far."""
        aim = self.problem.aim
        if aim is Aim.WIDEST:
            needed = level * (self.value + 1)
            return common.bit_count() >= needed and any(s.bit_count() >= needed for s in _stretches(common, cuts))
        if aim is Aim.EARLIEST:
            common &= (1 << (self.value - 1)) - 1
        return common.bit_count() >= level and any(s.bit_count() >= level for s in _stretches(common, cuts))

    def take(self, node: _Node, level: int) -> None:
        """Remember a better team."""
        aim = self.problem.aim
        stretches = [_slots(stretch) for stretch in _stretches(node.common, node.cuts)]
        if aim is Aim.WIDEST:
            slots = max(stretches, key=len)
        else:
            slots = next(stretch for stretch in stretches if len(stretch) >= level)[:level]
        tasks = {row.q: row.tasks for row in node.members}
        self.team = Team(tasks if aim is Aim.HEAVIEST else hand_out(tasks, tasks, self.problem.tasks), tuple(slots))
        self.value = value_of(self.problem, self.team)

    def result(self) -> Result:
        """Return what was found, and how much of it is proven."""
        value = None if self.team is None else self.value
        return conclude(
            self.problem,
            "plain",
            self.watch,
            self.team,
            value=value,
            bound=self.bound,
            is_proven=not self.is_stopped,
            counts={"nodes": self.nodes},
        )


def _stretches(common: int, cuts: int) -> Iterator[int]:
    """Yield the parts of a set of slots that lie between two cuts."""
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
