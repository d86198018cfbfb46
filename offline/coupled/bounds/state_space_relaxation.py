"""State-space relaxation of the relaxed search (Christofides, Mingozzi and Toth 1981), with priced programs.

All labels of k iterations with slot t are one node (k, t) that has all their holders. An arc from s to t has a latest
compute start: the last slot from which members can compute together if the holders of node (k - 1, s) have the program.
Its cost is the least sum of the members' multipliers minus the value of the programs sent. Distances bound the cost of
labels; arcs, compute starts and members whose reduced cost is positive are removed (reduced-cost fixing), which leaves
fewer holders. docs/bounds.md has the proofs.

`record_use` takes ten arguments: the structures of the search, and an arc with its holders.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Flags, Int32s, Ints, Reals, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.bounds.feasible_team_cache import FeasibleTeamCache, recall, remember
from hindsched.offline.coupled.bounds.iteration_knapsack import (
    Knapsack,
    least_cost,
    least_cost_below,
    list_candidates,
    list_workers,
    make_knapsack,
)
from hindsched.offline.coupled.bounds.prefetch_table import Prefetch, free_finish
from hindsched.offline.coupled.bounds.sentinels import ANY_SLOT, UNREACHABLE
from hindsched.offline.coupled.search.channel_flow import NO
from hindsched.offline.coupled.search.effort import LIMIT, SPENT, STOP
from hindsched.offline.coupled.search.holders import can_serve_all
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.modes import RELAXED
from hindsched.offline.coupled.search.normal_form import hold, prepare, programs_sent
from hindsched.offline.coupled.search.scratch_memory import NUM_MEMBERS, WORK_INDEX
from hindsched.offline.coupled.search.search_arrays import SearchArrays
from hindsched.offline.coupled.search.teams import begin_teams, next_team
from hindsched.offline.coupled.search.worker_order import order_workers

__all__ = [
    "ArcArrays",
    "NodeMultipliers",
    "RelaxedGraph",
    "compute_arc_costs",
    "compute_member_reduced_costs",
    "expand_node",
    "fix_arcs",
    "iteration_cost_below",
    "latest_compute_start",
    "make_arc_arrays",
    "make_relaxed_graph",
    "record_use",
    "tighten_windows",
    "trace_path",
]

#: Effort for one latest compute start.
_MEMBER_EFFORT = 1 << 14


class NodeMultipliers(NamedTuple):
    """Multipliers of a branch node: what members cost, and what programs are worth.

    ``period[t, q]`` is the number of worker q's availability period in slot t, ``members[k, period]`` the multiplier of
    a member in iteration k, ``program_values[k]`` the value of a program sent in it. ``constant`` is the cost of the
    programs that every schedule of the node sends.
    """

    period: Int32s
    members: Ints
    program_values: Ints
    constant: int


class ArcArrays(NamedTuple):
    """Costs of arcs, see `RelaxedGraph`; all graphs of one size share them, since `compute_arc_costs` fills them."""

    cost: Ints
    c: Int32s
    iw: Int32s
    knapsack: Knapsack
    team_cache: FeasibleTeamCache


def make_arc_arrays(iterations: int, width: int, workers: int, team_cache: FeasibleTeamCache) -> ArcArrays:
    """Return arrays for arcs between ``width`` nodes of each number of iterations."""
    shape = (iterations + 1, width, width)
    cost = np.full(shape, UNREACHABLE, np.int64)
    return ArcArrays(cost, np.zeros(shape, np.int32), np.zeros(shape, np.int32), make_knapsack(workers), team_cache)


class RelaxedGraph(NamedTuple):
    """Nodes (k, t) for t from ``early[k]`` to ``late[k]``, and arcs between them; arrays begin at ``early``.

    ``held[k, t]`` are the holders, ``has_new_holders`` where they have changed since ``latest_start`` was found.
    ``latest_start[k, s, t]`` is the last slot from which the k-th iteration can compute, `ANY_SLOT` if it is not known,
    -1 if there is no arc. ``cost[k, s, t]`` is the least cost of the arc, by an iteration that computes from slot ``c``
    on and whose W has the index ``iw``.
    """

    early: Ints
    late: Ints
    held: Words
    has_new_holders: Flags
    latest_start: Int32s
    cost: Ints
    c: Int32s
    iw: Int32s
    knapsack: Knapsack
    team_cache: FeasibleTeamCache


def make_relaxed_graph(early: Ints, late: Ints, workers: int, arcs: ArcArrays) -> RelaxedGraph:
    """Return the nodes of these windows with all arcs between them."""
    shape = (len(early), int((late - early).max()) + 1)
    is_node = np.arange(shape[1]) <= (late - early)[:, None]
    latest_start = np.full((*shape, shape[1]), -1, np.int32)
    latest_start[1:][is_node[:-1, :, None] & is_node[1:, None, :]] = ANY_SLOT
    return RelaxedGraph(
        early,
        late,
        held=np.zeros((*shape, (workers + 63) // 64), np.uint64),
        has_new_holders=np.ones(shape, np.bool_),
        latest_start=latest_start,
        cost=arcs.cost,
        c=arcs.c,
        iw=arcs.iw,
        knapsack=arcs.knapsack,
        team_cache=arcs.team_cache,
    )


@kernel
def tighten_windows(
    arrays: SearchArrays, prefetch: Prefetch, iterations: int, horizon: int, early: Ints, late: Ints
) -> int:
    """Tighten windows by the free-prefetch bound.

    Returns 1, 0 if a window is empty, or a negative code of `free_finish` if the bound is not known yet.
    """
    for k in range(1, iterations + 1):
        finish = free_finish(arrays, prefetch, early[k - 1], horizon)
        if finish < 0:
            return int(finish)
        early[k] = max(early[k], finish)
        if early[k] > late[k]:
            return 0
    for k in range(iterations - 1, 0, -1):
        while late[k] >= early[k]:
            finish = free_finish(arrays, prefetch, late[k], horizon)
            if finish < 0:
                return int(finish)
            if finish <= late[k + 1]:
                break
            late[k] -= 1
        if early[k] > late[k]:
            return 0
    return 1


@kernel
def latest_compute_start(arrays: SearchArrays, team_cache: FeasibleTeamCache, s: int, e: int) -> int:
    """Return the last slot from which an iteration in s..e can compute; -1 if none can; e if the effort is used up.

    `prepare` and `order_workers` were called.
    """
    scratch = arrays.scratch
    effort, counters = scratch.effort, scratch.counters
    effort[LIMIT] = min(effort[SPENT] + _MEMBER_EFFORT, effort[STOP])
    thr = begin_teams(arrays, s, e)
    best = -1
    while True:
        c = next_team(arrays, RELAXED, e, thr)
        if c < 0:
            return best if c == -1 else e
        size = counters[NUM_MEMBERS]
        members = scratch.tree.members[:size]
        if can_serve_all(arrays, members, s, c, counters[WORK_INDEX], size) != NO:
            best = thr = c
            remember(arrays.table, scratch.needs, team_cache, s, e, c, members, size)


@kernel
def expand_node(arrays: SearchArrays, prefetch: Prefetch, graph: RelaxedGraph, k: int, s: int, horizon: int) -> None:
    """Find the arcs from node (k - 1, s), and the holders after them."""
    problem, scratch = arrays.problem, arrays.scratch
    early, late, effort = graph.early, graph.late, scratch.effort
    row = s - early[k - 1]
    end = late[late.size - 1]
    held = graph.held[k - 1, row]
    is_new = graph.has_new_holders[k - 1, row]
    first = free_finish(arrays, prefetch, s, horizon)
    is_arranged = False
    for t in range(early[k], late[k] + 1):
        column = t - early[k]
        top = graph.latest_start[k, row, column]
        if top >= 0 and first >= 0 and t < first:
            top = -1
        if top >= 0:
            effort[SPENT] += 1 + problem.p // 16
            prepare(arrays.table, problem, scratch.needs, s, t - 1, held, end)
            if is_new and recall(arrays.table, scratch.needs, graph.team_cache, s, t - 1) < top:
                if not is_arranged:
                    effort[SPENT] += 1 + problem.p // 4
                    order_workers(arrays, s, t - 1, end)
                    is_arranged = True
                top = min(top, latest_compute_start(arrays, graph.team_cache, s, t - 1))
        graph.latest_start[k, row, column] = top
        if top >= 0:
            hold(problem, scratch.needs, graph.held[k, column], top)


@kernel
def compute_arc_costs(arrays: SearchArrays, multipliers: NodeMultipliers, graph: RelaxedGraph, k: int) -> None:
    """Compute the costs of the arcs to the nodes of k iterations."""
    early, late = graph.early, graph.late
    for s in range(early[k - 1], late[k - 1] + 1):
        row = s - early[k - 1]
        for t in range(early[k], late[k] + 1):
            column = t - early[k]
            if graph.latest_start[k, row, column] >= 0:
                _compute_arc_cost(arrays, multipliers, graph, k, s, t)


@kernel
def _compute_arc_cost(
    arrays: SearchArrays, multipliers: NodeMultipliers, graph: RelaxedGraph, k: int, s: int, t: int
) -> None:
    """Compute the cost of the arc from (k - 1, s) to (k, t): the least over all compute starts and all W."""
    problem = arrays.problem
    knapsack, row, column = graph.knapsack, s - graph.early[k - 1], t - graph.early[k]
    num_candidates = _list_candidates(arrays, graph, k, s, t)
    least = UNREACHABLE
    for c in range(graph.latest_start[k, row, column], s - 1, -1):
        if problem.n_com * (c - s) < problem.m * problem.t_data:
            break
        base = -multipliers.program_values[k] * programs_sent(problem, s, c)
        if base >= least:  # earlier starts have fewer programs sent before them
            break
        cost, iw = iteration_cost_below(arrays, multipliers, knapsack, num_candidates, k, c, t, least - base)
        if cost < 0:
            continue
        least = base + cost
        graph.c[k, row, column], graph.iw[k, row, column] = c, iw
    graph.cost[k, row, column] = least
    if least >= UNREACHABLE:
        graph.latest_start[k, row, column] = -1


@kernel
def _list_candidates(arrays: SearchArrays, graph: RelaxedGraph, k: int, s: int, t: int) -> int:
    """List the workers that can compute in an arc from (k - 1, s) to (k, t); return their number."""
    held, end = graph.held[k - 1, s - graph.early[k - 1]], graph.late[graph.late.size - 1]
    return list_candidates(arrays, graph.knapsack, s, t - 1, held, end)


@kernel
def _list_members(
    arrays: SearchArrays, multipliers: NodeMultipliers, knapsack: Knapsack, num_candidates: int, k: int, c: int, t: int
) -> int:
    """List the workers that can compute iteration k in slots c..t-1, with their multipliers; return their number."""
    num_workers = list_workers(arrays, knapsack, num_candidates, c, t - 1)
    for j in range(num_workers):
        knapsack.cost[j] = multipliers.members[k, multipliers.period[t - 1, knapsack.worker[j]]]
    return num_workers


@kernel
def iteration_cost_below(
    arrays: SearchArrays,
    multipliers: NodeMultipliers,
    knapsack: Knapsack,
    num_candidates: int,
    k: int,
    c: int,
    t: int,
    limit: int,
) -> tuple[int, int]:
    """Return the least cost of the members of iteration k in c..t-1, and the index of its W; -1 if not below `limit`.

    `list_candidates` was called.
    """
    num_workers = _list_members(arrays, multipliers, knapsack, num_candidates, k, c, t)
    return least_cost_below(arrays.problem, arrays.scratch, knapsack, num_workers, t - c, limit)


@kernel
def fix_arcs(
    arrays: SearchArrays, multipliers: NodeMultipliers, graph: RelaxedGraph, k: int, before: Ints, after: Ints
) -> int:
    """Remove arcs to the nodes of k iterations with a positive reduced cost; return how many are left.

    Latest compute starts with a positive reduced cost are lowered. ``before`` are the distances of the nodes that the
    arcs come from, ``after`` the distances from their heads to the end.
    """
    early, late, knapsack = graph.early, graph.late, graph.knapsack
    left = 0
    for s in range(early[k - 1], late[k - 1] + 1):
        row = s - early[k - 1]
        for t in range(early[k], late[k] + 1):
            column = t - early[k]
            c = graph.latest_start[k, row, column]
            if c < 0:
                continue
            room = -before[row] - after[column]
            if graph.cost[k, row, column] > room:
                graph.latest_start[k, row, column] = -1
                continue
            left += 1
            num_candidates = _list_candidates(arrays, graph, k, s, t)
            while c > graph.c[k, row, column]:
                num_workers = _list_members(arrays, multipliers, knapsack, num_candidates, k, c, t)
                cost = least_cost(arrays.problem, arrays.scratch, knapsack, num_workers, -1)
                if cost >= 0 and cost - multipliers.program_values[k] * programs_sent(arrays.problem, s, c) <= room:
                    break
                c -= 1
            graph.latest_start[k, row, column] = c
    return left


@kernel
def compute_member_reduced_costs(
    arrays: SearchArrays,
    multipliers: NodeMultipliers,
    graph: RelaxedGraph,
    k: int,
    before: Ints,
    after: Ints,
    least: Ints,
    is_start: Flags,
) -> None:
    """Lower ``least[period]`` to the reduced cost of the period as a member of iteration k.

    That is the least cost of a path in whose k-th iteration the period computes. ``is_start`` is set for the compute
    starts of that iteration on paths of cost 0 or less. ``before`` and ``after`` are as in `fix_arcs`.
    """
    problem = arrays.problem
    early, late, knapsack = graph.early, graph.late, graph.knapsack
    for s in range(early[k - 1], late[k - 1] + 1):
        row = s - early[k - 1]
        for t in range(early[k], late[k] + 1):
            column = t - early[k]
            rest = before[row] + after[column]
            if graph.latest_start[k, row, column] < 0 or graph.cost[k, row, column] + rest > 0:
                continue
            num_candidates = _list_candidates(arrays, graph, k, s, t)
            for c in range(graph.latest_start[k, row, column], s - 1, -1):
                if problem.n_com * (c - s) < problem.m * problem.t_data:
                    break
                base = rest - multipliers.program_values[k] * programs_sent(problem, s, c)
                if base > 0:
                    break
                num_workers = _list_members(arrays, multipliers, knapsack, num_candidates, k, c, t)
                cost = least_cost(problem, arrays.scratch, knapsack, num_workers, -1)
                if cost < 0 or base + cost > 0:
                    continue
                for iw in range(problem.work.size):
                    if problem.work[iw] > t - c:
                        break
                    cost = least_cost(problem, arrays.scratch, knapsack, num_workers, iw)
                    if cost < 0 or base + cost > 0:
                        continue
                    is_start[c] = True
                    _update_reduced_costs(problem, multipliers, knapsack, num_workers, t, iw, base + cost, least)


@kernel
def _update_reduced_costs(
    problem: Problem,
    multipliers: NodeMultipliers,
    knapsack: Knapsack,
    num_workers: int,
    t: int,
    iw: int,
    total: int,
    least: Ints,
) -> None:
    """Lower ``least[period]`` for the workers of ``worker[:num_workers]`` that have W slots.

    ``total`` is the least cost of a path with this c and W. `least_cost` was called for them: those taken come first,
    and the last of these takes the last tasks.
    """
    j = 0
    left = problem.m - knapsack.item_tasks[0]
    while left > 0:
        j += 1
        left -= knapsack.item_tasks[j]
    last_cost, last_tasks = knapsack.item_cost[j], knapsack.item_tasks[j]
    w = problem.work[iw]
    for i in range(num_workers):
        q = knapsack.worker[i]
        x = min(knapsack.tasks[i], problem.caps[iw, q])
        if x > 0 and knapsack.up_slots[i] >= w:
            more = (knapsack.cost[i] * last_tasks - last_cost * x) // last_tasks
            period = multipliers.period[t - 1, q]
            least[period] = min(least[period], total + max(0, more))


@kernel
def record_use(
    arrays: SearchArrays,
    multipliers: NodeMultipliers,
    graph: RelaxedGraph,
    held: Words,
    k: int,
    s: int,
    c: int,
    t: int,
    iw: int,
    used: Reals,
) -> None:
    """Write the share of each period in an iteration in s..t-1, found again as when its cost was computed."""
    knapsack, end = graph.knapsack, graph.late[graph.late.size - 1]
    num_candidates = list_candidates(arrays, knapsack, s, t - 1, held, end)
    num_workers = _list_members(arrays, multipliers, knapsack, num_candidates, k, c, t)
    least_cost(arrays.problem, arrays.scratch, knapsack, num_workers, iw)
    left = arrays.problem.m
    j = 0
    while left > 0:  # the members taken come first
        tasks = knapsack.item_tasks[j]
        used[k, multipliers.period[t - 1, knapsack.item[j]]] = min(1.0, left / tasks)
        left -= tasks
        j += 1


@kernel
def trace_path(
    arrays: SearchArrays, multipliers: NodeMultipliers, graph: RelaxedGraph, used: Reals, sent: Ints, ends: Ints
) -> None:
    """Write the use of periods, and the programs sent, on the path through nodes (k, ``ends[k]``)."""
    early = graph.early
    for k in range(1, ends.size):
        s, t = ends[k - 1], ends[k]
        row, column = s - early[k - 1], t - early[k]
        c, iw = graph.c[k, row, column], graph.iw[k, row, column]
        sent[k] = programs_sent(arrays.problem, s, c)
        record_use(arrays, multipliers, graph, graph.held[k - 1, row], k, s, c, t, iw, used)
