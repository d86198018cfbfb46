"""The program Lagrangian bound: branch and bound over the ends of iterations (docs/bounds.md).

Multipliers move along the paths that they do not exclude. One set of multipliers must refute all schedules of a node;
where none does, the node is branched by whether an iteration ends before a slot, and each child has its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hindsched.instances.array_types import Reals
from hindsched.instances.coupled.lagrangian_certificate import LagrangianCertificate
from hindsched.instances.coupled.model import Instance
from hindsched.offline.coupled.bounds.branch_node import BranchNode, NodePool
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.channel_feasibility import can_carry_iteration
from hindsched.offline.coupled.bounds.program_lagrangian.program_node import (
    DEFAULT_PARAMETERS,
    PathStatistics,
    ProgramLagrangianParameters,
    ProgramNode,
    ProgramState,
    claim,
    nbytes,
    proven_bound,
    raise_bound,
)
from hindsched.offline.coupled.bounds.program_lagrangian.shortest_paths import ShortestPaths
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import SlotGraph, SlotTables
from hindsched.offline.coupled.bounds.program_lagrangian.subgradient_method import SCALE, SubgradientMethod

__all__ = ["ProgramLagrangianBound", "warm_up"]


class ProgramLagrangianBound:
    """A lower bound on the makespan, raised step by step.

    Parameters
    ----------
    instance
        With T_prog >= 1.
    iterations
        K.
    parameters
        Step lengths and limits.

    Attributes
    ----------
    bound
        The bound, in slots.
    statistics
        Use of periods in the paths found.
    """

    def __init__(
        self,
        instance: Instance,
        iterations: int,
        parameters: ProgramLagrangianParameters = DEFAULT_PARAMETERS,
    ) -> None:
        self.instance, self.iterations = instance, iterations
        self.bound = 0
        self.statistics = PathStatistics(iterations, parameters)
        self._parameters = parameters
        self._is_finished = False
        self._limit = 0  # makespans of interest are smaller
        self._paths: ShortestPaths | None = None
        method = SubgradientMethod(instance, iterations)
        self._root: ProgramNode = BranchNode(0, 1, ProgramState(parameters, method, parameters.first_halvings))
        self._pool = NodePool(self._root)
        self._steps = self._raise()

    @property
    def tables(self) -> SlotTables | None:
        """The tables of the slots read so far; None before the first step."""
        return None if self._paths is None else self._paths.tables

    def method(self) -> SubgradientMethod:
        """Return a copy of the multipliers of the node with the least bound."""
        return self._pool.least().state.method.copy()

    def work(self, known: int, limit: int) -> int:
        """Work a little; return the effort, 0 if there is nothing left to do.

        Parameters
        ----------
        known
            A proven bound, wherever it comes from.
        limit
            Only makespans below it are of interest.
        """
        self.bound, self._limit = max(self.bound, known), min(limit, self.instance.slots + 1)
        if self._is_finished or self.bound >= self._limit:
            return 0
        spent = next(self._steps, None)
        self.bound = max(self.bound, self._pool.least().bound)
        if spent is None:
            self._is_finished = True
            return 0
        return max(1, spent)

    def _raise(self) -> Iterator[int]:
        """Refute larger and larger horizons of the node with the least bound; yield the effort of each step."""
        given = self._parameters
        while (node := self._pool.least()).bound < self._limit:
            # The root's multipliers move from its own bound until it is stuck; bounds of others do not count.
            if node is not self._root or node.state.is_stuck:
                node.bound = max(node.bound, self.bound)
            horizon = max(node.bound, min(node.bound + node.stride, self._limit - 1))
            if self._paths is None or self._paths.tables.slots < horizon:
                slots = self._slots_for(horizon)
                if slots == 0:
                    return
                paths = ShortestPaths(self.instance, self.iterations, slots, given.max_halvings)
                yield from paths.fill()
                self._paths = paths
            tables = self._paths.tables
            self.statistics.set_tables(tables)
            node.state.method.set_tables(tables)
            graph = SlotGraph(tables, self.iterations, horizon, *node.windows(self.iterations))
            if graph.is_empty:  # the windows alone prove a bound
                node.bound = node.state.window_bound = graph.excluded
                node.stride = max(1, node.bound // given.horizon_divisor)
            elif graph.can_receive.size > given.max_multipliers:
                return
            else:
                yield from raise_bound(node, graph, self._paths, self.statistics, lambda: self._limit)
                if not node.state.is_stuck or node.bound < self.bound:
                    continue
                if not self._branch(node, graph):
                    node.state.max_halvings *= 2
                    if node.state.max_halvings > given.max_halvings:
                        return

    def _slots_for(self, horizon: int) -> int:
        """Return how many slots to tabulate for a horizon, some more than it needs; 0 if they are too many."""
        likely = max(horizon, self.bound)
        slots = min(self.instance.slots, max(likely, min(self._limit - 1, likely + likely // 4)))
        has_memory = slots * self.instance.num_workers <= self._parameters.max_cells
        return slots if has_memory and slots * self.instance.tasks <= self._parameters.max_product // SCALE else 0

    def _branch(self, node: ProgramNode, graph: SlotGraph) -> bool:
        """Branch a node by the end that varies most in its paths; False if it cannot be branched."""
        given = self._parameters
        if len(self._pool) * graph.can_receive.size > given.max_stored or node.depth == given.max_depth:
            return False
        end = node.state.method.branching_end(np.array(graph.early), np.array(graph.late))
        if end is None:
            return False
        node.branch_by_end(*end, stride=1 + node.bound // given.horizon_divisor)
        node.state.method.release()
        self._pool.replace(node)
        return True

    def certificate(self) -> LagrangianCertificate | None:
        """Return the proof of the best bound found here; None if there is none."""
        bound = proven_bound(self._root)
        if not bound:
            return None
        return LagrangianCertificate(bound, SCALE, claim(self._root, bound), self.instance.fingerprint)

    def merits(self, end: int) -> Reals | None:
        """Return the later use of each worker's period in paths; see `PathStatistics.merits`."""
        return self.statistics.merits(end)

    def nbytes(self) -> int:
        """Return the memory taken, in bytes."""
        return 0 if self._paths is None else self._paths.tables.nbytes() + nbytes(self._root)


def warm_up() -> None:
    """Call every kernel once, so that each is compiled or loaded."""
    tiny = Instance.from_letters(["uuuuuu", "uuuuuu"], w=[1, 1], tasks=2, iterations=2, n_com=1, t_prog=1)
    bound = ProgramLagrangianBound(tiny, tiny.iterations)
    while bound.work(4, 7):
        pass
    can_carry_iteration(tiny)
