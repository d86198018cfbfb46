"""Branch and bound over the schedules of an instance: the nodes, and the pool of open nodes.

A node is a set of schedules, given by windows for the ends of iterations and by availability periods that compute or do
not. Three classes raise the bounds of nodes, each in a pool of its own:

- `SlotLagrangianBound` (`slot_lagrangian.slot_bound`): multipliers by slot, refuted by chains of labels;
- `ProgramLagrangianBound` (`program_lagrangian.program_bound`): multipliers by iteration, refuted by shortest paths;
- `PricedLabelBound` (`priced_label_bound`): the same multipliers as prices of labels, with reduced-cost fixing, and
  CP-SAT for nodes that are small (`node_cpsat`).

Each works on the open node with the least bound and branches where that bound no longer rises. Every schedule belongs
to an open node, so the least bound holds for all schedules.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, Protocol, Self, TypeAlias, TypeVar

import numpy as np

from hindsched.instances.array_types import Ints
from hindsched.offline.coupled.bounds.sentinels import UNREACHABLE

__all__ = ["BranchNode", "NodePool", "Period"]

Period: TypeAlias = tuple[int, int]
"""An availability period: its worker and its first slot."""


class _NodeState(Protocol):
    def for_child(self) -> Self:
        """Return the state with which a child begins."""


State = TypeVar("State", bound=_NodeState)


@dataclass(slots=True, eq=False)
class BranchNode(Generic[State]):
    """A set of schedules, with a lower bound on their cost.

    Parameters
    ----------
    bound
        No schedule of the node costs less.
    stride
        The next step is to refute costs up to ``bound + stride``, or as the bound defines it.
    state
        What the class that raises the bound keeps between its steps, such as multipliers.
    earliest, latest
        For some iterations k the least and the largest number of slots within which iterations 1..k are complete.
    used, unused
        Periods that compute in some iteration, and periods that compute in none.
    depth
        Number of ancestors.
    is_open
        Whether the node is neither branched nor discarded.
    branching
        Iteration k and slot t of a branching by an end.
    children
        The two nodes that share the schedules.
    """

    bound: int
    stride: int
    state: State
    earliest: dict[int, int] = field(default_factory=dict)
    latest: dict[int, int] = field(default_factory=dict)
    used: tuple[Period, ...] = ()
    unused: tuple[Period, ...] = ()
    depth: int = 0
    is_open: bool = True
    branching: tuple[int, int] | None = None
    children: tuple[BranchNode[State], BranchNode[State]] | None = None

    def windows(self, iterations: int) -> tuple[Ints, Ints]:
        """Return the least and the largest number of slots for k = 0..iterations; (iterations + 1,) arrays."""
        earliest, latest = np.zeros(iterations + 1, np.int64), np.full(iterations + 1, UNREACHABLE)
        for window, limits in ((earliest, self.earliest), (latest, self.latest)):
            for k, slot in limits.items():
                if k <= iterations:
                    window[k] = slot
        return earliest, latest

    def branch_by_end(self, k: int, t: int, stride: int) -> None:
        """Divide the schedules: iterations 1..k are complete within t slots, or they are not."""
        sooner, later = self._child(stride), self._child(stride)
        sooner.latest[k] = min(t, sooner.latest.get(k, t))
        later.earliest[k] = max(t + 1, later.earliest.get(k, t + 1))
        self.branching, self.children = (k, t), (sooner, later)

    def branch_by_period(self, period: Period, stride: int) -> None:
        """Divide the schedules: the period computes in some iteration, or in none."""
        used, unused = self._child(stride), self._child(stride)
        used.used += (period,)
        unused.unused += (period,)
        self.children = used, unused

    def _child(self, stride: int) -> BranchNode[State]:
        """Return a node with the same schedules, which its branching will restrict."""
        limits = dict(self.earliest), dict(self.latest)
        return BranchNode(self.bound, stride, self.state.for_child(), *limits, self.used, self.unused, self.depth + 1)


class NodePool(Generic[State]):
    """The open nodes, by bound; of equal bounds the oldest comes first, or the newest.

    Bounds only rise, so the heap holds a lower bound for each node and is corrected where a node comes first.
    """

    def __init__(self, root: BranchNode[State], *, newest_first: bool = False) -> None:
        self._sign = -1 if newest_first else 1
        self._num_nodes = self._num_open = 0
        self._heap: list[tuple[int, int, BranchNode[State]]] = []
        self._push(root)

    def _push(self, node: BranchNode[State]) -> None:
        heapq.heappush(self._heap, (node.bound, self._sign * self._num_nodes, node))
        self._num_nodes += 1
        self._num_open += 1

    def least(self) -> BranchNode[State]:
        """Return the open node with the least bound."""
        while True:
            bound, number, node = self._heap[0]
            if not node.is_open:
                heapq.heappop(self._heap)
            elif node.bound > bound:
                heapq.heapreplace(self._heap, (node.bound, number, node))
            else:
                return node

    def replace(self, node: BranchNode[State]) -> None:
        """Replace a node by its children; the first one comes before the second."""
        assert node.children is not None
        self.discard(node)
        for child in node.children[:: self._sign]:
            self._push(child)

    def discard(self, node: BranchNode[State]) -> None:
        """Remove a node."""
        node.is_open = False
        self._num_open -= 1

    def __iter__(self) -> Iterator[BranchNode[State]]:
        """Iterate over the open nodes, in no order."""
        return (node for _, _, node in self._heap if node.is_open)

    def __len__(self) -> int:
        return self._num_open
