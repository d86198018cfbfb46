"""The relaxation of the slot Lagrangian: a chain of K iterations whose cost is at most 0, found by labels.

From a label, every end e and every compute start c is tried; the members are bounded by the fractional knapsack. A
label dominates another if it starts no later, costs no more, and its holders can hold all programs of the other by
then. docs/bounds.md proves that no schedule exists within a horizon if no chain does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.bounds.iteration_knapsack import (
    Knapsack,
    least_cost,
    least_cost_below,
    list_candidates,
    list_workers,
    make_knapsack,
)
from hindsched.offline.coupled.bounds.label_store import (
    LabelStore,
    append_label,
    cheapest_label,
    drop_dominated,
    make_label_store,
    reset_labels,
)
from hindsched.offline.coupled.bounds.prefetch_table import Prefetch, compose
from hindsched.offline.coupled.bounds.sentinels import DROPPED, REFUTED, STOPPED
from hindsched.offline.coupled.bounds.slot_lagrangian.slot_multipliers import (
    DEFAULT_PARAMETERS,
    NUM_STEPS,
    SlotLagrangianParameters,
    SlotMultipliers,
    make_slot_multipliers,
    subtract_use,
)
from hindsched.offline.coupled.search.bitsets import has
from hindsched.offline.coupled.search.effort import SPENT, STOP
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.modes import NO_STAND_BY
from hindsched.offline.coupled.search.normal_form import hold, programs_sent
from hindsched.offline.coupled.search.search_arrays import SearchArrays
from hindsched.offline.coupled.search.slot_codes import EFFORT_LIMIT_MET, NEVER, SLOTS_UNKNOWN
from hindsched.offline.coupled.search.state_tables import Table

NUM_CHAINS, END_SUM, END_MIN, END_MAX = range(4)
"""Rows of ``Chains.ends``."""


class Chains(NamedTuple):
    """The labels of one search, the windows of its branch node, and statistics of the chains found.

    Iteration k + 1 starts in ``earliest[k]..latest[k]``. ``ends[:, k]`` are number of chains, and sum, minimum and
    maximum of the slots after their k-th iteration.
    """

    labels: LabelStore
    earliest: Ints
    latest: Ints
    ends: Ints


def make_chains(max_labels: int, workers: int, iterations: int) -> Chains:
    """Return room for chains of up to this many iterations."""
    return Chains(
        make_label_store(max_labels, workers, iterations),
        earliest=np.zeros(iterations + 1, np.int64),
        latest=np.full(iterations + 1, NEVER),
        ends=np.zeros((4, iterations + 1), np.int64),
    )


class SlotRelaxation(NamedTuple):
    """All arrays of the relaxation: multipliers, the chains of one search, and the knapsack of one iteration."""

    multipliers: SlotMultipliers
    chains: Chains
    knapsack: Knapsack

    def nbytes(self) -> int:
        """Return the memory taken, in bytes."""
        groups = (self.multipliers, self.chains.labels, self.chains[1:], self.knapsack)
        return sum(array.nbytes for group in groups for array in group)


def make_slot_relaxation(
    workers: int, slots: int, iterations: int, parameters: SlotLagrangianParameters = DEFAULT_PARAMETERS
) -> SlotRelaxation:
    """Return room for schedules of this many iterations within this many slots."""
    chains = make_chains(parameters.max_labels, workers, iterations)
    return SlotRelaxation(make_slot_multipliers(workers, slots), chains, make_knapsack(workers))


@kernel
def find_chain(
    arrays: SearchArrays,
    prefetch: Prefetch,
    relaxation: SlotRelaxation,
    mode: int,
    iterations: int,
    end: int,
    horizon: int,
) -> int:
    """Return the last label of the cheapest chain within `end` slots, all of which are known.

    Returns `REFUTED` if there is no chain, `STOPPED` if the effort or the room for labels is used up.
    """
    effort, chains, labels = arrays.scratch.effort, relaxation.chains, relaxation.chains.labels
    first = labels.first
    reset_labels(labels, 0)
    n = 1
    for done in range(iterations):
        low = n
        for i in range(first[done], low):
            if labels.parent[i] == DROPPED:
                continue
            free = compose(arrays, prefetch, labels.start[i], 1, horizon)
            if free == SLOTS_UNKNOWN:
                continue
            if free == EFFORT_LIMIT_MET:
                return STOPPED
            # Try all ends from the first possible one on, while the other iterations can still end in time.
            for e in range(max(free, chains.earliest[done + 1]) - 1, min(end, chains.latest[done + 1])):
                ahead = compose(arrays, prefetch, e + 1, iterations - done - 1, horizon)
                if ahead == EFFORT_LIMIT_MET or effort[SPENT] > effort[STOP]:
                    return STOPPED
                if ahead == SLOTS_UNKNOWN or ahead > end:
                    break
                n = _extend(arrays, relaxation, mode, i, e, low, n, end)
                if n < 0:
                    return STOPPED
        first[done + 2] = n
        if n == low:
            return REFUTED
    return cheapest_label(labels, first[iterations], n)


@kernel
def _extend(
    arrays: SearchArrays, relaxation: SlotRelaxation, mode: int, i: int, e: int, low: int, n: int, end: int
) -> int:
    """Extend label i by iterations that end in slot e; labels low..n-1 have as many iterations.

    Returns the number of labels, -1 if there is no room. A later compute start has more programs sent before it but
    leaves fewer workers, so only starts that cost less than all later ones count.
    """
    problem, scratch = arrays.problem, arrays.scratch
    multipliers, labels, knapsack = relaxation.multipliers, relaxation.chains.labels, relaxation.knapsack
    s = labels.start[i]
    num_candidates = list_candidates(arrays, knapsack, s, e, labels.held[i], end)
    limit = 1
    for c in range(e, s - 1, -1):
        if problem.n_com * (c - s) < problem.m * problem.t_data:
            break
        scratch.effort[SPENT] += 1 + problem.p // 16
        # The cost without members, then with the cheapest ones of any W, and then with those of the best W.
        base = labels.cost[i] - max_programs(arrays, mode, s, c) * multipliers.program_value[c]
        if base >= limit:
            continue
        num_workers = list_workers(arrays, knapsack, num_candidates, c, e)
        set_slot_costs(multipliers, knapsack, num_workers, c, e)
        members, iw = least_cost_below(problem, scratch, knapsack, num_workers, e - c + 1, limit - base)
        if members < 0:
            continue
        cost = limit = base + members
        # All workers that can hold the program afterwards do.
        labels.new_held[:] = np.uint64(0)
        hold(problem, scratch.needs, labels.new_held, c)
        if _is_dominated(arrays, labels, low, n, e + 1, cost):
            continue
        drop_dominated(labels, low, n, e + 1, cost)
        n = append_label(labels, n, e + 1, cost, i, c, iw)
        if n < 0:
            return -1
    return n


@kernel
def set_slot_costs(multipliers: SlotMultipliers, knapsack: Knapsack, num_workers: int, c: int, e: int) -> None:
    """Set the cost of each worker listed: the sum of its multipliers in slots c..e."""
    before = multipliers.before
    for j in range(num_workers):
        q = knapsack.worker[j]
        knapsack.cost[j] = before[e + 1, q] - before[c, q]


@kernel
def max_programs(arrays: SearchArrays, mode: int, s: int, c: int) -> int:
    """Return the most programs that can be delivered in slots s..c-1 with the data; `prepare` was called."""
    problem = arrays.problem
    cnt, first = arrays.table.cnt, arrays.scratch.needs.receive_from
    n = 0
    for q in range(problem.p):
        if first[q] < c and cnt[c, q] - cnt[first[q], q] >= problem.t_prog:
            n += 1
    if mode == NO_STAND_BY:
        n = min(n, problem.m)
    return min(n, programs_sent(problem, s, c))


@kernel
def _is_dominated(arrays: SearchArrays, labels: LabelStore, low: int, n: int, t: int, cost: int) -> bool:
    """Return whether one of labels low..n-1 dominates the label (t, ``new_held``, cost)."""
    arrays.scratch.effort[SPENT] += 1 + (n - low) // 8
    for i in range(low, n):
        is_cheap = labels.parent[i] != DROPPED and labels.start[i] <= t and labels.cost[i] <= cost
        if is_cheap and _covers(arrays.table, arrays.problem, labels, i, t):
            return True
    return False


@inlined
def _covers(table: Table, problem: Problem, labels: LabelStore, i: int, t: int) -> bool:
    """Return whether all of ``new_held`` can hold the program by slot t after label i; the channel is not charged."""
    start, held = labels.start[i], labels.held[i]
    for k in range(problem.num_words):
        rest = labels.new_held[k]
        if start == t:
            if rest & ~held[k]:
                return False
            continue
        q = 64 * k
        while rest:
            if rest & np.uint64(1):
                first = table.down[t - 1, q] + 1  # of q's availability period
                if (first > start or not has(held, q)) and (
                    table.cnt[t, q] - table.cnt[max(first, start), q] < problem.t_prog
                ):
                    return False
            rest >>= np.uint64(1)
            q += 1
    return True


@kernel
def count_chain(
    arrays: SearchArrays, relaxation: SlotRelaxation, mode: int, label: int, iterations: int, end: int
) -> None:
    """Add the chain that leads to a label to the statistics of multipliers and ends, last iteration first."""
    problem = arrays.problem
    multipliers, chains, knapsack = relaxation.multipliers, relaxation.chains, relaxation.knapsack
    usage, labels = multipliers.usage, chains.labels
    multipliers.num_chains[0] += 1
    k = iterations
    while label > 0:
        i = labels.parent[label]
        s, c, e = labels.start[i], labels.c[label], labels.start[label] - 1
        _count_end(chains, k, e + 1)
        k -= 1
        # Find the members again, as when the label was made.
        num_candidates = list_candidates(arrays, knapsack, s, e, labels.held[i], end)
        num_workers = list_workers(arrays, knapsack, num_candidates, c, e)
        set_slot_costs(multipliers, knapsack, num_workers, c, e)
        least_cost(problem, arrays.scratch, knapsack, num_workers, labels.iw[label])
        delivered = max_programs(arrays, mode, s, c) * problem.t_prog
        for h in range(NUM_STEPS):
            if multipliers.thresholds[h] > c:
                multipliers.slack[h] += delivered
        size = 0
        while size < num_workers and knapsack.item_tasks[size] > 0:
            subtract_use(arrays.table, problem, multipliers, knapsack.item[size], c, e, end)
            size += 1
        # Usage changes last, since the slack depends on the usage before.
        for j in range(size):
            for t in range(c, e + 1):
                usage[t, knapsack.item[j]] += 1.0 / (e - c + 1)
        label = i


@inlined
def _count_end(chains: Chains, k: int, t: int) -> None:
    """Count a chain with slot t after its k-th iteration."""
    ends = chains.ends
    ends[NUM_CHAINS, k] += 1
    ends[END_SUM, k] += t
    ends[END_MIN, k] = min(ends[END_MIN, k], t)
    ends[END_MAX, k] = max(ends[END_MAX, k], t)
