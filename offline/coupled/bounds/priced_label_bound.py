"""The priced-label bound: branch and bound with priced labels and CP-SAT (docs/bounds.md).

For each node and horizon, multipliers move along the paths of labels that they do not exclude; first the state-space
relaxation, then the labels. Where they do not refute the horizon, CP-SAT decides small nodes, and others are branched
by the end of an iteration, or by whether an availability period computes in any. The step of a node doubles after a
refuted horizon and halves after a failure.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

import numpy as np

from hindsched.offline.coupled.bounds.branch_node import BranchNode, NodePool
from hindsched.offline.coupled.bounds.cpsat_budget import CpsatBudget
from hindsched.offline.coupled.bounds.priced_label_search import LabelMemory, PricedLabelSearch
from hindsched.offline.coupled.bounds.priced_node import (
    DEFAULT_PARAMETERS,
    PricedLabelParameters,
    PricedNode,
    PricedState,
    lengthen_stride,
    move_multipliers,
    node_multipliers,
    period_in_doubt,
    shorten_stride,
)
from hindsched.offline.coupled.bounds.program_lagrangian.program_bound import ProgramLagrangianBound
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import SlotGraph, SlotTables
from hindsched.offline.coupled.bounds.program_lagrangian.subgradient_method import SCALE
from hindsched.offline.coupled.bounds.sentinels import REFUTED, STOPPED, UNREACHABLE
from hindsched.offline.coupled.plans import IterationPlan, end_of
from hindsched.offline.coupled.search.label_search import Incumbent
from hindsched.offline.coupled.search.modes import NO_STAND_BY
from hindsched.offline.coupled.search.workspace import Workspace

__all__ = ["PricedLabelBound"]


class PricedLabelBound:
    """A lower bound on the makespan, raised step by step, and the best schedule that CP-SAT finds meanwhile.

    Parameters
    ----------
    workspace
        With T_prog >= 1 and a channel that binds.
    program_bound
        Its tables, multipliers and statistics of paths are used.
    mode
        `STAND_BY` or `NO_STAND_BY`; only schedules depend on it.
    parameters
        Step lengths and limits.

    Attributes
    ----------
    bound, cost
        The bound, and the makespan of the best schedule found, in slots.
    budget
        Decides which nodes CP-SAT solves.
    max_arcs
        Largest number of arcs of a node.
    """

    def __init__(
        self,
        workspace: Workspace,
        program_bound: ProgramLagrangianBound,
        mode: int,
        parameters: PricedLabelParameters = DEFAULT_PARAMETERS,
    ) -> None:
        self._workspace, self._program_bound = workspace, program_bound
        self._is_own = mode == NO_STAND_BY
        self._parameters = parameters
        self.iterations = program_bound.iterations
        self.bound = 0
        self.cost = UNREACHABLE
        self.budget = CpsatBudget(self.iterations)
        self.max_arcs = parameters.max_arcs
        self._plan: tuple[IterationPlan, ...] = ()
        self._limit = 0  # makespans of interest are smaller
        self._pool: NodePool[PricedState] | None = None
        self._memory: LabelMemory | None = None
        self._is_finished = False
        self._steps = self._raise()

    def work(self, known: int, limit: int) -> int:
        """Work a little; return the effort, 0 if there is nothing to do for now.

        Parameters
        ----------
        known
            A proven bound, wherever it comes from.
        limit
            Only makespans below it are of interest.
        """
        self.bound, self._limit = max(self.bound, known), min(limit, self.cost, self._workspace.slots + 1)
        if self._is_finished or self.bound >= self._limit or self._program_bound.tables is None:
            return 0
        spent = next(self._steps, None)
        self._is_finished = spent is None
        self.budget.add_effort(spent or 0)
        return spent or 0

    def offer(self, incumbent: Incumbent) -> None:
        """Offer the best schedule found."""
        if self.cost < incumbent.cost:
            incumbent.take(self.cost, self._plan)

    def _raise(self) -> Iterator[int]:
        """Refute larger and larger horizons of the node with the least bound; yield the effort, 0 to wait."""
        given = self._parameters
        self._memory = LabelMemory(self._workspace.problem.p, self.iterations)
        state = PricedState(given, self._program_bound.method(), given.value_step)
        self._pool = NodePool(BranchNode(0, -1, state), newest_first=True)
        while True:
            node = self._pool.least()
            self.bound = node.bound = max(node.bound, self.bound)
            tables = self._program_bound.tables
            assert tables is not None
            if node.bound >= self._limit or node.bound > tables.slots:
                yield 0
                continue
            if node.stride < 0:
                gap = self._limit - 1 - node.bound
                node.stride = min(gap // 4, 1 + node.bound // given.first_stride_divisor)
            horizon = min(self._limit - 1, tables.slots)
            is_last = horizon - self.bound <= horizon // given.last_gap_divisor
            if not is_last:
                horizon = min(horizon, node.bound + node.stride)
            is_refuted = yield from self._refute(node, tables, horizon)
            if is_refuted is None:
                if horizon == node.bound or is_last:
                    yield 0
                    self.max_arcs += self.max_arcs // given.arcs_divisor
                node.stride = (horizon - node.bound) // 2
            elif is_refuted:
                self._note_refuted(node, horizon)
            elif horizon > node.bound and not is_last:
                if (yield from self._decide(node, tables)) is False:
                    self._note_refuted(node, horizon)
                else:
                    shorten_stride(node, horizon)
            elif not (yield from self._finish(node, tables, horizon)):
                return

    def _note_refuted(self, node: PricedNode, horizon: int) -> None:
        """Note that a node has no schedule within the horizon; discard it if all its schedules are too long."""
        lengthen_stride(node, horizon)
        assert self._pool is not None
        if node.bound >= self._limit and len(self._pool) > 1:
            self._pool.discard(node)

    def _refute(self, node: PricedNode, tables: SlotTables, horizon: int) -> Generator[int, None, bool | None]:
        """Try to refute a horizon of a node; yield the effort, return None if the node has too many arcs."""
        state, given = node.state, self._parameters
        state.set_tables(tables)
        earliest, latest = node.windows(self.iterations)
        earliest[-1] = node.bound
        graph = SlotGraph(tables, self.iterations, horizon, earliest, latest)
        if graph.is_empty:
            return True
        early, late = np.array(graph.early), np.array(graph.late)
        search = state.search
        if search is not None and search.horizon < horizon:
            search = None
        if search is None and state.widest is not None and state.widest.horizon >= horizon:
            search = state.widest.copy()
        if search is None:
            assert self._memory is not None
            search = PricedLabelSearch(self._workspace, early, late, self._memory)
            if search.max_arcs() > given.tightening_factor * self.max_arcs:
                return None
            if not (yield from search.tighten_windows()):
                return True
            if search.max_arcs() > self.max_arcs:
                return None
            state.widest = search
        search.restrict(early, late)
        state.search = search
        return (yield from self._move_multipliers(node, search, graph))

    def _move_multipliers(
        self, node: PricedNode, search: PricedLabelSearch, graph: SlotGraph
    ) -> Generator[int, None, bool]:
        """Move multipliers until they refute the horizon or stop improving; return whether it is refuted."""
        state, given = node.state, self._parameters
        momentum = state.method.begin(graph)
        best, since, num_arcs, num_stopped = -np.inf, 0, 0, 0
        state.nearest = None
        if not (yield from search.build_graph()):
            return True
        for turn in range(given.max_evaluations):
            multipliers = node_multipliers(node, graph)
            if (yield from search.compute_arc_costs(multipliers)) > 0:
                return True
            if turn % 2 == 0:
                left = yield from search.fix_arcs(multipliers)
                if left < given.rebuild_share * num_arcs or turn == 0:
                    num_arcs = left
                    if not (yield from search.build_graph()):
                        return True
                    if (yield from search.compute_arc_costs(multipliers)) > 0:
                        return True
            label = -1
            if num_stopped < 3 or turn % 4 == 0:
                label = yield from search.find_path(multipliers)
                if label == REFUTED:
                    return True
                num_stopped = num_stopped + 1 if label == STOPPED else 0
            cost, path = search.path(multipliers, label)
            length = cost / SCALE
            if label >= 0 or num_stopped:
                since += 1
            if label >= 0 and (state.nearest is None or length > best + given.progress * abs(best)):
                best, since = length, 0
                state.nearest = multipliers
            if since >= given.patience:
                return False
            if graph.tables is self._program_bound.tables:  # else the periods have other numbers by now
                self._program_bound.statistics.add(path)
            yield given.evaluation_effort + path.used.size
            gap = max(-length, 0.01 * graph.horizon)
            move_multipliers(node, graph, multipliers, path, momentum, gap)
        return False

    def _decide(self, node: PricedNode, tables: SlotTables, max_time: float = 0.0) -> Generator[int, None, bool | None]:
        """Return whether a node that multipliers do not refute has a schedule; None if that stays open.

        CP-SAT solves small nodes, and any node if times up to ``max_time`` are to be tried.
        """
        search = node.state.search
        assert search is not None
        if node.state.nearest is not None and not (yield from search.fix_members(node.state.nearest)):
            return False
        if not max_time and not self.budget.admits(search.max_arcs()):
            return None
        time = self.budget.time_for(search.max_arcs())
        is_possible = yield from self._solve_node(node, tables, time)
        while is_possible is None and 2 * time <= max_time:
            time *= 2
            is_possible = yield from self._solve_node(node, tables, time)
        return is_possible

    def _solve_node(self, node: PricedNode, tables: SlotTables, time: float) -> Generator[int, None, bool | None]:
        """Return whether a node has a schedule, by CP-SAT; None if it cannot tell within the deterministic time."""
        search, workspace = node.state.search, self._workspace
        assert search is not None
        num_arcs = search.max_arcs()
        with workspace.watch.stopped():
            from hindsched.offline.coupled.bounds import node_cpsat
        period = tables.facts.period
        used, unused = ([int(period[t, q]) for q, t in periods] for periods in (node.used, node.unused))
        problem = node_cpsat.NodeProblem(search.early, search.late, used, unused, search.domains(period), self._is_own)
        answer = node_cpsat.solve_node(tables, workspace.table, problem, watch=workspace.watch, time=time)
        if answer.plan is not None:
            last = end_of(workspace.instance, answer.plan[-1])
            assert last is not None
            self.cost, self._plan = last + 1, answer.plan
        is_decided = answer.is_possible is not None
        yield self.budget.record(is_decided, num_arcs, answer.time, answer.num_variables)
        return answer.is_possible

    def _finish(self, node: PricedNode, tables: SlotTables, horizon: int) -> Generator[int, None, bool]:
        """Decide the last horizon of a node, or branch the node; return False if neither can be done."""
        search = node.state.search
        assert search is not None
        # Branching by periods is worse than a long run of CP-SAT.
        has_fixed_ends = bool((search.early == search.late)[:-1].all())
        max_budget = self.budget.parameters.max_budget
        max_time = max_budget if has_fixed_ends and not node.used and not node.unused else 0.0
        is_possible = yield from self._decide(node, tables, max_time)
        time = max(max_time, self.budget.time_for(search.max_arcs()))
        while is_possible is None and not self._branch(node):
            if search.max_arcs() > max(self.budget.small_arcs, self.budget.parameters.small_arcs):
                return False
            time *= 2  # nothing else is left to try
            is_possible = yield from self._solve_node(node, tables, time)
        if is_possible is False:
            self._note_refuted(node, horizon)
        return True

    def _branch(self, node: PricedNode) -> bool:
        """Branch a node by the end of an iteration, or by the use of a period; return False if neither is possible."""
        search = node.state.search
        assert search is not None
        assert self._pool is not None
        if self.nbytes() > self._parameters.max_bytes:
            return False
        end = node.state.method.branching_end(search.early, search.late)
        if end is not None:
            node.branch_by_end(*end, stride=node.stride)
        else:
            period = period_in_doubt(node)
            if period is None:
                return False
            node.branch_by_period(period, stride=node.stride)
        self._pool.replace(node)
        return True

    def nbytes(self) -> int:
        """Return the memory taken, in bytes."""
        nodes = 0 if self._pool is None else sum(node.state.nbytes() for node in self._pool)
        return nodes + (0 if self._memory is None else self._memory.nbytes())
