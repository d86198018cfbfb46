"""The searches for one branch node and horizon: state-space relaxation, reduced-cost fixing and priced labels."""

from __future__ import annotations

from collections.abc import Callable, Generator
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from hindsched.instances.array_types import Flags, Int32s, Ints
from hindsched.instances.coupled.model import Instance
from hindsched.offline.coupled.bounds.feasible_team_cache import make_feasible_team_cache
from hindsched.offline.coupled.bounds.label_store import LabelStore, make_label_store
from hindsched.offline.coupled.bounds.priced_labels import find_path, make_completion_bounds, trace_label
from hindsched.offline.coupled.bounds.program_lagrangian.shortest_paths import Path
from hindsched.offline.coupled.bounds.sentinels import UNREACHABLE
from hindsched.offline.coupled.bounds.state_space_relaxation import (
    ArcArrays,
    NodeMultipliers,
    RelaxedGraph,
    compute_arc_costs,
    compute_member_reduced_costs,
    expand_node,
    fix_arcs,
    make_arc_arrays,
    make_relaxed_graph,
    tighten_windows,
    trace_path,
)
from hindsched.offline.coupled.search.effort import EFFORT_PER_CLOCK_CHECK, SPENT
from hindsched.offline.coupled.search.slot_codes import SLOTS_UNKNOWN
from hindsched.offline.coupled.search.workspace import Workspace
from hindsched.offline.limits import Limits

__all__ = ["Domains", "LabelMemory", "PricedLabelSearch", "warm_up"]

#: Labels of one search, and the effort for it.
_MAX_LABELS, _SEARCH_EFFORT = 1 << 15, 1 << 23


class LabelMemory:
    """Working memory that all searches of an instance share; only one of them works at a time."""

    def __init__(self, workers: int, iterations: int) -> None:
        self._workers, self._iterations = workers, iterations
        self.labels: LabelStore = make_label_store(_MAX_LABELS, workers, iterations)
        self._team_cache = make_feasible_team_cache(workers)
        self._arcs: dict[int, ArcArrays] = {}

    def arcs(self, width: int) -> ArcArrays:
        """Return arrays for arcs between ``width`` nodes of each number of iterations."""
        if width not in self._arcs:
            self._arcs[width] = make_arc_arrays(self._iterations, width, self._workers, self._team_cache)
        return self._arcs[width]

    def nbytes(self) -> int:
        """Return the memory taken, in bytes."""
        labels = sum(array.nbytes for array in self.labels)
        return labels + sum(arcs.cost.nbytes + arcs.c.nbytes + arcs.iw.nbytes for arcs in self._arcs.values())


class Domains(NamedTuple):
    """Decisions that reduced-cost fixing leaves open.

    ``member[k, period]`` is whether a period can compute in iteration k, ``compute_start[k, c]`` whether iteration k
    can compute from slot c on. Periods are numbered by ``period``. ``early`` and ``latest_start`` are those of a
    `RelaxedGraph`.
    """

    period: Int32s
    member: Flags
    compute_start: Flags
    early: Ints
    latest_start: Int32s

    def latest_compute_start(self, k: int, s: int, t: int) -> int:
        """Return the latest compute start of iteration k between slots s and t; -1 if there is none."""
        return int(self.latest_start[k, s - self.early[k - 1], t - self.early[k]])


class PricedLabelSearch:
    """Bounds on the schedules of one branch node within a horizon.

    Parameters
    ----------
    workspace
        With T_prog >= 1 and a channel that binds.
    early, late
        (K + 1,), windows for the slots after iterations 1..k; that of K ends with the horizon.
    memory
        Shared by all searches.

    Notes
    -----
    Arcs removed for a horizon are removed for every smaller one. Methods yield their effort and do not change the
    effort counted by the workspace.
    """

    def __init__(self, workspace: Workspace, early: Ints, late: Ints, memory: LabelMemory) -> None:
        self._workspace, self._memory = workspace, memory
        self.early, self.late = early.copy(), late.copy()
        self.iterations, self.horizon = len(early) - 1, int(late[-1])
        self._known_graph: RelaxedGraph | None = None
        self._from_root = self._to_end = np.zeros((0, 0), np.int64)
        self._domains: Domains | None = None

    @property
    def _graph(self) -> RelaxedGraph:
        assert self._known_graph is not None
        return self._known_graph

    def tighten_windows(self) -> Generator[int, None, bool]:
        """Tighten the windows by the free-prefetch bound; yield the effort, return whether all are nonempty."""
        workspace = self._workspace
        while workspace.slots_known() < self.late[-1]:
            workspace.grow()
        while True:
            windows = self.iterations, workspace.slots, self.early, self.late
            outcome, spent = self._run(tighten_windows, workspace.prefetch, *windows)
            yield spent
            if outcome >= 0:
                return bool(outcome)
            if outcome == SLOTS_UNKNOWN:
                workspace.grow()

    def max_arcs(self) -> int:
        """Return the number of arcs between all nodes of the windows."""
        width = self.late - self.early + 1
        return int((width[1:] * width[:-1]).sum())

    def restrict(self, early: Ints, late: Ints) -> None:
        """Remove what is outside these windows; the horizon is the end of the last one."""
        self.early, self.late = np.maximum(self.early, early), np.minimum(self.late, late)
        self.horizon = min(self.horizon, int(late[-1]))
        if self._known_graph is not None:
            for k in range(1, self.iterations + 1):
                latest_start, first = self._graph.latest_start[k], self._graph.early[k]
                latest_start[:, : max(0, self.early[k] - first)] = -1
                latest_start[:, max(0, self.late[k] + 1 - first) :] = -1

    def build_graph(self) -> Generator[int, None, bool]:
        """Find nodes and arcs, again where others were removed; yield the effort, return whether a path is left."""
        workspace = self._workspace
        if self._known_graph is None:
            arcs = self._memory.arcs(int((self.late - self.early).max()) + 1)
            windows = self.early.copy(), self.late.copy()
            self._known_graph = make_relaxed_graph(*windows, workspace.problem.p, arcs)
        graph = self._graph
        is_node = np.zeros(graph.has_new_holders.shape[1], np.bool_)
        is_node[0] = True
        for k in range(1, self.iterations + 1):
            held_before = graph.held[k].copy()
            graph.held[k] = 0
            graph.latest_start[k, ~is_node] = -1
            for row in np.flatnonzero((graph.latest_start[k] >= 0).any(axis=1)).tolist():
                s = int(graph.early[k - 1]) + row
                yield self._run(expand_node, workspace.prefetch, graph, k, s, workspace.slots)[1]
            graph.has_new_holders[k - 1] = False
            graph.has_new_holders[k] |= (graph.held[k] != held_before).any(axis=1)
            is_node = (graph.latest_start[k] >= 0).any(axis=0)
            if not is_node.any():
                return False
        return True

    def compute_arc_costs(self, multipliers: NodeMultipliers) -> Generator[int, None, int]:
        """Compute the costs of all arcs; yield the effort, return the cost of the shortest path."""
        graph, last = self._graph, self.iterations
        graph.cost.fill(UNREACHABLE)  # another search may have used the array
        for k in range(1, last + 1):
            yield self._run(compute_arc_costs, multipliers, graph, k)[1]
        self._from_root = np.full(graph.has_new_holders.shape, UNREACHABLE, np.int64)
        self._to_end = self._from_root.copy()
        self._from_root[0, 0] = multipliers.constant
        self._to_end[-1, : graph.late[-1] - graph.early[-1] + 1] = 0
        for k in range(1, last + 1):
            lengths = self._from_root[k - 1][:, None] + graph.cost[k]
            self._from_root[k] = np.minimum(UNREACHABLE, lengths.min(axis=0))
        for k in range(last, 0, -1):
            lengths = graph.cost[k] + self._to_end[k]
            self._to_end[k - 1] = np.minimum(UNREACHABLE, lengths.min(axis=1))
        return int(self._to_end[0, 0]) + multipliers.constant

    def fix_arcs(self, multipliers: NodeMultipliers) -> Generator[int, None, int]:
        """Remove arcs with a positive reduced cost; yield the effort, return how many arcs are left."""
        graph = self._graph
        num_arcs = 0
        for k in range(1, self.iterations + 1):
            left, spent = self._run(fix_arcs, multipliers, graph, k, self._from_root[k - 1], self._to_end[k])
            num_arcs += left
            yield spent
        self._keep_nodes(np.any(graph.latest_start >= 0, axis=1))
        return num_arcs

    def fix_members(self, multipliers: NodeMultipliers) -> Generator[int, None, bool]:
        """Remove members and compute starts with a positive reduced cost.

        Yields the effort, returns whether there is a path of cost 0 or less.
        """
        if (yield from self.compute_arc_costs(multipliers)) > 0:
            return False
        graph = self._graph
        least = np.full(multipliers.members.shape, UNREACHABLE, np.int64)
        is_start = np.zeros((self.iterations + 1, self.horizon + 1), np.bool_)
        for k in range(1, self.iterations + 1):
            distances = self._from_root[k - 1], self._to_end[k]
            arrays = least[k], is_start[k]
            yield self._run(compute_member_reduced_costs, multipliers, graph, k, *distances, *arrays)[1]
        known = self.domains(multipliers.period)
        if known is not None:
            least[~known.member] = UNREACHABLE
            is_start &= known.compute_start[:, : is_start.shape[1]]
        self._domains = Domains(multipliers.period, least <= 0, is_start, graph.early, graph.latest_start)
        return True

    def domains(self, period: Int32s) -> Domains | None:
        """Return what `fix_members` left open, if periods are numbered as they were then."""
        return self._domains if self._domains is not None and self._domains.period is period else None

    def _keep_nodes(self, is_node: Flags) -> None:
        """Remove all other nodes."""
        graph = self._graph
        for k in range(1, self.iterations + 1):
            graph.latest_start[k][:, ~is_node[k]] = -1
            nodes = np.flatnonzero(is_node[k])
            if nodes.size:
                self.early[k] = max(self.early[k], graph.early[k] + nodes[0])
                self.late[k] = min(self.late[k], graph.early[k] + nodes[-1])

    def find_path(self, multipliers: NodeMultipliers) -> Generator[int, None, int]:
        """Search for labels of cost 0 or less; yield the effort, return a label, `REFUTED` or `STOPPED`."""
        workspace = self._workspace
        bounds = make_completion_bounds(self._graph, self._to_end)
        arrays = multipliers, self._graph, bounds, self._memory.labels
        search = workspace.prefetch, *arrays, self.iterations, workspace.slots
        label, spent = self._run(find_path, *search, stop_after=_SEARCH_EFFORT)
        yield spent
        if label >= 0:
            self._keep_nodes(bounds.reached)
        return label

    def path(self, multipliers: NodeMultipliers, label: int) -> tuple[int, Path]:
        """Return the cost and the path of a label; those of the shortest path of the graph if ``label`` is negative."""
        graph, workspace = self._graph, self._workspace
        used = np.zeros(multipliers.members.shape)
        sent, ends = np.zeros((2, self.iterations + 1), np.int64)
        common = workspace.arrays, multipliers
        if label >= 0:
            labels = self._memory.labels
            trace_label(*common, graph, labels, label, used, sent, ends)
            return int(labels.cost[label]), Path(used, sent, ends)
        row = 0
        for k in range(1, self.iterations + 1):
            row = int(np.argmin(graph.cost[k, row] + self._to_end[k]))
            ends[k] = graph.early[k] + row
        trace_path(*common, graph, used, sent, ends)
        return int(self._to_end[0, 0]) + multipliers.constant, Path(used, sent, ends)

    def copy(self) -> PricedLabelSearch:
        """Return a search with the same arcs, to be restricted; the arrays of arc costs are shared."""
        other = copy(self)
        if self._known_graph is not None:
            graph = self._known_graph
            other._known_graph = graph._replace(
                held=graph.held.copy(),
                has_new_holders=graph.has_new_holders.copy(),
                latest_start=graph.latest_start.copy(),
            )
        return other

    def _run(
        self, kernel: Callable[..., int | None], *rest: Any, stop_after: int = EFFORT_PER_CLOCK_CHECK
    ) -> tuple[int, int]:
        """Call a kernel; return its result and the effort, which the workspace does not count."""
        workspace = self._workspace
        before = workspace.effort_spent()
        workspace.stop_after(stop_after)
        result = kernel(workspace.arrays, *rest)
        spent = workspace.effort_spent() - before
        workspace.scratch.effort[SPENT] = before
        return int(result or 0), max(1, spent)

    def nbytes(self) -> int:
        """Return the memory that no copy shares, in bytes."""
        graph = self._known_graph
        return 0 if graph is None else graph.latest_start.nbytes + graph.held.nbytes


def warm_up() -> None:
    """Call every kernel once, so that each is compiled or loaded."""
    tiny = Instance.from_letters(["uuuuuu", "uuuuuu"], w=[1, 1], tasks=2, iterations=1, n_com=1, t_prog=1)
    search = PricedLabelSearch(Workspace(tiny, Limits()), np.array([0, 1]), np.array([0, 6]), LabelMemory(2, 1))
    period = np.tile(np.arange(2, dtype=np.int32), (6, 1))
    multipliers = NodeMultipliers(period, np.zeros((2, 2), np.int64), np.ones(2, np.int64), 0)
    for steps in (
        search.tighten_windows(),
        search.build_graph(),
        search.compute_arc_costs(multipliers),
        search.fix_arcs(multipliers),
        search.fix_members(multipliers),
        search.find_path(multipliers),
    ):
        for _ in steps:
            pass
    search.path(multipliers, 1)  # the first label after the root
    search.path(multipliers, -1)
