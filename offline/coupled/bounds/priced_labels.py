"""Priced labels: the relaxed search, with multipliers as prices of members and programs (docs/bounds.md).

A label costs what its members cost minus the value of the programs sent. The state-space relaxation gives completion
bounds, by which most labels are not made. If no label of K iterations costs 0 or less, no schedule of the branch node
exists within the horizon; a node (k, t) where no label was made is in no such schedule.

Workers are not exchanged for symmetric ones here, since each availability period has multipliers of its own.
`_extend` takes ten arguments: the structures of the search, and a label with the end to which it is extended.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Flags, Ints, Reals
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.bounds.feasible_team_cache import recall
from hindsched.offline.coupled.bounds.iteration_knapsack import list_candidates
from hindsched.offline.coupled.bounds.label_store import (
    LabelStore,
    append_label,
    cheapest_label,
    drop_dominated,
    reset_labels,
)
from hindsched.offline.coupled.bounds.prefetch_table import Prefetch, free_finish
from hindsched.offline.coupled.bounds.sentinels import DROPPED, REFUTED, STOPPED, UNREACHABLE
from hindsched.offline.coupled.bounds.state_space_relaxation import (
    NodeMultipliers,
    RelaxedGraph,
    iteration_cost_below,
    latest_compute_start,
    record_use,
)
from hindsched.offline.coupled.search.dominance import DOMINANCE_EFFORT, covers
from hindsched.offline.coupled.search.effort import LIMIT, SPENT, STOP
from hindsched.offline.coupled.search.modes import RELAXED
from hindsched.offline.coupled.search.normal_form import hold, programs_sent
from hindsched.offline.coupled.search.search_arrays import SearchArrays
from hindsched.offline.coupled.search.slot_codes import NEVER
from hindsched.offline.coupled.search.worker_order import order_workers

__all__ = ["CompletionBounds", "find_path", "make_completion_bounds", "trace_label"]


class CompletionBounds(NamedTuple):
    """Completion bounds of labels, by the state-space relaxation; arrays begin as those of `RelaxedGraph`.

    An iteration from slot s or later to (k, t) computes from slot ``latest_start[k, s, t]`` at the latest and costs at
    least ``arc[k, s, t]``. ``rest[k, t]`` is the least cost of the iterations after k that start in slot t or later.
    ``reached[k, t]`` is set where a label of k iterations with slot t is made, dominated or not.
    """

    latest_start: Ints
    arc: Ints
    rest: Ints
    reached: Flags


def make_completion_bounds(graph: RelaxedGraph, distances_to_end: Ints) -> CompletionBounds:
    """Return the completion bounds for the arc costs of a graph and the distances from its nodes to the end."""
    latest_start = np.where(graph.cost < UNREACHABLE, graph.latest_start, -1).astype(np.int64)
    return CompletionBounds(
        np.maximum.accumulate(latest_start[:, ::-1], axis=1)[:, ::-1].copy(),
        np.minimum.accumulate(graph.cost[:, ::-1], axis=1)[:, ::-1].copy(),
        np.minimum.accumulate(distances_to_end[:, ::-1], axis=1)[:, ::-1].copy(),
        np.zeros(graph.has_new_holders.shape, np.bool_),
    )


@kernel
def find_path(
    arrays: SearchArrays,
    prefetch: Prefetch,
    multipliers: NodeMultipliers,
    graph: RelaxedGraph,
    bounds: CompletionBounds,
    labels: LabelStore,
    iterations: int,
    horizon: int,
) -> int:
    """Return the cheapest label of all iterations that costs 0 or less.

    Returns `REFUTED` if there is none, `STOPPED` if the effort or the room for labels is used up. ``horizon`` is the
    number of slots of the instance.
    """
    scratch = arrays.scratch
    first, early, late = labels.first, graph.early, graph.late
    reset_labels(labels, multipliers.constant)
    n = 1
    for k in range(1, iterations + 1):
        low = n
        for t in range(early[k], late[k] + 1):
            for i in range(first[k - 1], low):
                if labels.parent[i] == DROPPED:
                    continue
                s = labels.start[i]
                if scratch.effort[SPENT] > scratch.effort[STOP]:
                    return STOPPED
                finish = free_finish(arrays, prefetch, s, horizon)
                if finish < 0:
                    return STOPPED
                if finish > t:
                    break
                scratch.effort[SPENT] += 1
                row, column = s - early[k - 1], t - early[k]
                arc, rest = bounds.arc[k, row, column], bounds.rest[k, column]
                if arc >= UNREACHABLE or rest >= UNREACHABLE or labels.cost[i] + arc + rest > 0:
                    continue
                n = _extend(arrays, multipliers, graph, bounds, labels, k, i, t, low, n)
                if n < 0:
                    return STOPPED
        first[k + 1] = n
        if n == low:
            return REFUTED
    return cheapest_label(labels, first[iterations], n)


@kernel
def _extend(
    arrays: SearchArrays,
    multipliers: NodeMultipliers,
    graph: RelaxedGraph,
    bounds: CompletionBounds,
    labels: LabelStore,
    k: int,
    i: int,
    t: int,
    low: int,
    n: int,
) -> int:
    """Extend label i by the k-th iteration with slot t after it; labels low..n-1 have as many iterations.

    Returns the number of labels, -1 if there is no room. A later compute start leads to more programs and holders, so
    only starts that cost less than all later ones count.
    """
    problem, scratch = arrays.problem, arrays.scratch
    effort, knapsack, team_cache = scratch.effort, graph.knapsack, graph.team_cache
    s, e, end = labels.start[i], t - 1, graph.late[graph.late.size - 1]
    row, column = s - graph.early[k - 1], t - graph.early[k]
    num_candidates = list_candidates(arrays, knapsack, s, e, labels.held[i], end)
    limit = 1 - bounds.rest[k, column]
    is_verified = False
    c = bounds.latest_start[k, row, column] + 1
    while c > s:
        c -= 1
        if problem.n_com * (c - s) < problem.m * problem.t_data:
            break
        base = labels.cost[i] - multipliers.program_values[k] * programs_sent(problem, s, c)
        if base >= limit:
            break
        members, iw = iteration_cost_below(arrays, multipliers, knapsack, num_candidates, k, c, t, limit - base)
        if members < 0:
            continue
        if not is_verified:
            is_verified = True
            if recall(arrays.table, scratch.needs, team_cache, s, e) < c:
                order_workers(arrays, s, e, end)
                last = latest_compute_start(arrays, team_cache, s, e)
                if last < c:
                    c = last + 1
                    continue
        cost = limit = base + members
        bounds.reached[k, column] = True
        # All workers that can hold the program afterwards do.
        labels.new_held[:] = np.uint64(0)
        hold(problem, scratch.needs, labels.new_held, c)
        effort[SPENT] += 1 + problem.p // 16
        if _is_dominated(arrays, labels, low, n, t, cost):
            continue
        drop_dominated(labels, low, n, t, cost)
        n = append_label(labels, n, t, cost, i, c, iw)
        if n < 0:
            return -1
    return n


@kernel
def _is_dominated(arrays: SearchArrays, labels: LabelStore, low: int, n: int, t: int, cost: int) -> bool:
    """Return whether one of labels low..n-1, which start no later, dominates the label (t, ``new_held``, cost).

    Unlike in the chain search, programs sent between the two starts are charged to the channel.
    """
    effort = arrays.scratch.effort
    effort[SPENT] += 1 + (n - low) // 8
    effort[LIMIT] = min(effort[SPENT] + DOMINANCE_EFFORT, effort[STOP])
    for i in range(n - 1, low - 1, -1):
        if labels.parent[i] == DROPPED or labels.cost[i] > cost:
            continue
        if covers(arrays, RELAXED, labels.start[i], labels.held[i], t, labels.new_held, NEVER):
            return True
    return False


@kernel
def trace_label(
    arrays: SearchArrays,
    multipliers: NodeMultipliers,
    graph: RelaxedGraph,
    labels: LabelStore,
    label: int,
    used: Reals,
    sent: Ints,
    ends: Ints,
) -> None:
    """Write the use of periods, the programs sent and the ends of the iterations that lead to a label."""
    for k in range(ends.size - 1, 0, -1):
        i = labels.parent[label]
        s, c, t = labels.start[i], labels.c[label], labels.start[label]
        ends[k] = t
        sent[k] = programs_sent(arrays.problem, s, c)
        record_use(arrays, multipliers, graph, labels.held[i], k, s, c, t, labels.iw[label], used)
        label = i
