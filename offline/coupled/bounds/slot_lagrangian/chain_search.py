"""Chains of iterations that can pay their prices, for the bound of `channel_bound`: how one is found, and learnt from.

A label (t, H, left) stands for iterations after which slot t comes, H are all workers that could hold the program, and
``left`` is what the programs sent so far are worth, less what has been paid.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.bounds.iteration_knapsack import (
    Knapsack,
    cheapest,
    cheapest_below,
    list_able,
    list_fit,
    price_slots,
)
from hindsched.offline.coupled.bounds.prefetch_table import Prefetch, compose
from hindsched.offline.coupled.bounds.slot_lagrangian.slot_multipliers import Prices, charge
from hindsched.offline.coupled.search.bitsets import assign, has, within
from hindsched.offline.coupled.search.constants import (
    BEYOND,
    CHAIN_LABELS,
    CHAINS,
    LEAST,
    MOST,
    NEVER,
    OWN,
    PAUSE,
    REFUTED,
    SPENT,
    STEPS,
    STOP,
    STOPPED,
    SUM,
)
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.normal_form import hold, programs_sent
from hindsched.offline.coupled.search.scratch_memory import Scratch
from hindsched.offline.coupled.search.state_tables import Table


class Chains(NamedTuple):
    """The labels of one search, and what its question says of the slots in which iterations end.

    Labels of k iterations are ``first[k]..first[k + 1] - 1``; a label that was dropped has ``start`` -1. Iteration
    k + 1 starts in ``soonest[k]..latest[k]``. ``ends`` counts the chains of a question, and has sum, least and greatest
    of the slots after their k-th iteration. ``hoped`` is the H of the label that is being made.
    """

    first: Ints
    start: Ints
    left: Ints
    parent: Ints
    c: Ints
    iw: Ints
    held: Words
    hoped: Words
    soonest: Ints
    latest: Ints
    ends: Ints


def make_chains(workers: int, iterations: int) -> Chains:
    """Room for chains of so many iterations."""

    def ints(n: int) -> Ints:
        return np.zeros(n, np.int64)

    words = (workers + 63) // 64
    return Chains(
        first=ints(iterations + 2),
        start=ints(CHAIN_LABELS),
        left=ints(CHAIN_LABELS),
        parent=ints(CHAIN_LABELS),
        c=ints(CHAIN_LABELS),
        iw=ints(CHAIN_LABELS),
        held=np.zeros((CHAIN_LABELS, words), np.uint64),
        hoped=np.zeros(words, np.uint64),
        soonest=ints(iterations + 1),
        latest=ints(iterations + 1) + NEVER,
        ends=np.zeros((4, iterations + 1), np.int64),
    )


@kernel
def find_chain(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    prefetch: Prefetch,
    prices: Prices,
    chains: Chains,
    knapsack: Knapsack,
    mode: int,
    iterations: int,
    end: int,
    horizon: int,
) -> int:
    """Look for a chain within `end` slots, all of them known; return the label of the best one.

    Or `constants.REFUTED` if there is none, STOPPED if the effort or the room for labels did not suffice.
    """
    effort, first = scratch.effort, chains.first
    first[0], first[1] = 0, 1
    chains.start[0], chains.left[0], chains.parent[0] = 0, 0, -1
    for k in range(problem.num_words):
        chains.held[0, k] = np.uint64(0)
    n = 1
    for done in range(iterations):
        low = n
        for i in range(first[done], low):
            s = chains.start[i]
            if s < 0:
                continue
            free = compose(table, problem, scratch, prefetch, s, 1, horizon)
            if free == BEYOND:
                continue
            if free == PAUSE:
                return STOPPED
            # All ends from the first that is possible on, while the rest can still end in time.
            for e in range(max(free, chains.soonest[done + 1]) - 1, min(end, chains.latest[done + 1])):
                ahead = compose(table, problem, scratch, prefetch, e + 1, iterations - done - 1, horizon)
                if ahead == PAUSE or effort[SPENT] > effort[STOP]:
                    return STOPPED
                if ahead == BEYOND or ahead > end:
                    break
                n = _extend(table, problem, scratch, prices, chains, knapsack, mode, i, e, low, n, end)
                if n < 0:
                    return STOPPED
        first[done + 2] = n
        if n == low:
            return REFUTED
    best = -1
    for i in range(first[iterations], n):
        if chains.start[i] >= 0 and (best < 0 or chains.left[i] > chains.left[best]):
            best = i
    return best


@kernel
def _extend(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    prices: Prices,
    chains: Chains,
    knapsack: Knapsack,
    mode: int,
    i: int,
    e: int,
    low: int,
    n: int,
    end: int,
) -> int:
    """Make labels low..n-1 more by those that follow label i with an iteration that ends in slot e.

    Returns how many labels there are now; -1 if there is no room. For each slot c to begin to compute in, a later c
    having more programs sent before but leaving fewer workers: only those that leave more than every later c count.
    """
    s = chains.start[i]
    num_able = list_able(table, problem, scratch, knapsack, s, e, chains.held[i], end)
    most_left = -1
    for c in range(e, s - 1, -1):
        if problem.n_com * (c - s) < problem.m * problem.t_data:
            break
        scratch.effort[SPENT] += 1 + problem.p // 16
        # What is left if nobody is paid, then if the cheapest are whatever W is, and then for the best W.
        most = chains.left[i] + most_programs(table, problem, scratch, mode, s, c) * prices.program_value[c]
        if most <= most_left:
            continue
        num_fit = list_fit(table, problem, scratch, knapsack, num_able, c, e)
        price_slots(prices, knapsack, num_fit, c, e)
        price, iw = cheapest_below(problem, scratch, knapsack, num_fit, e - c + 1, most - most_left)
        if price < 0:
            continue
        left = most_left = most - price
        # All that could hold the program afterwards do.
        chains.hoped[:] = np.uint64(0)
        hold(problem, scratch.needs, chains.hoped, c)
        if _is_dominated(table, problem, scratch, chains, low, n, e + 1, left):
            continue
        _drop_dominated(chains, low, n, e + 1, left)
        if n == chains.start.size:
            return -1
        chains.start[n] = e + 1
        chains.left[n] = left
        chains.parent[n] = i
        chains.c[n] = c
        chains.iw[n] = iw
        assign(chains.held[n], chains.hoped)
        n += 1
    return n


@kernel
def most_programs(table: Table, problem: Problem, scratch: Scratch, mode: int, s: int, c: int) -> int:
    """Most programs that can be delivered in slots s..c-1 together with the data; `prepare` was called."""
    cnt, first = table.cnt, scratch.needs.receive_from
    n = 0
    for q in range(problem.p):
        if first[q] < c and cnt[c, q] - cnt[first[q], q] >= problem.t_prog:
            n += 1
    if mode == OWN:
        n = min(n, problem.m)
    return min(n, programs_sent(problem, s, c))


@kernel
def _is_dominated(
    table: Table, problem: Problem, scratch: Scratch, chains: Chains, low: int, n: int, t: int, left: int
) -> bool:
    """Return whether the label (t, ``hoped``, left) is dominated by one of the labels low..n-1."""
    scratch.effort[SPENT] += 1 + (n - low) // 8
    for i in range(low, n):
        start = chains.start[i]
        if start >= 0 and start <= t and chains.left[i] >= left and _covers(table, problem, chains, i, t):
            return True
    return False


@inlined
def _covers(table: Table, problem: Problem, chains: Chains, i: int, t: int) -> bool:
    """Return whether everybody in ``hoped`` holds the program by slot t, or could, if label i was reached before."""
    start, held = chains.start[i], chains.held[i]
    for k in range(problem.num_words):
        rest = chains.hoped[k]
        if start == t:
            if rest & ~held[k]:
                return False
            continue
        q = 64 * k
        while rest:
            if rest & np.uint64(1):
                born = table.down[t - 1, q] + 1  # the first slot of q's availability period
                if (born > start or not has(held, q)) and (
                    table.cnt[t, q] - table.cnt[max(born, start), q] < problem.t_prog
                ):
                    return False
            rest >>= np.uint64(1)
            q += 1
    return True


@kernel
def _drop_dominated(chains: Chains, low: int, n: int, t: int, left: int) -> None:
    """Drop those of the labels low..n-1 with the same slot that (t, ``hoped``, left) dominates."""
    for i in range(low, n):
        if chains.start[i] == t and chains.left[i] <= left and within(chains.held[i], chains.hoped):
            chains.start[i] = -1


@kernel
def learn(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    prices: Prices,
    chains: Chains,
    knapsack: Knapsack,
    mode: int,
    label: int,
    iterations: int,
    end: int,
) -> None:
    """Enter the chain that leads to a label into what the prices are learnt from, last iteration first."""
    usage = prices.usage
    prices.num_chains[0] += 1
    k = iterations
    while label > 0:
        i = chains.parent[label]
        s, c, e = chains.start[i], chains.c[label], chains.start[label] - 1
        _count_end(chains, k, e + 1)
        k -= 1
        # Who computes is found once more, as when the label was made.
        num_able = list_able(table, problem, scratch, knapsack, s, e, chains.held[i], end)
        num_fit = list_fit(table, problem, scratch, knapsack, num_able, c, e)
        price_slots(prices, knapsack, num_fit, c, e)
        cheapest(problem, scratch, knapsack, num_fit, chains.iw[label])
        delivered = most_programs(table, problem, scratch, mode, s, c) * problem.t_prog
        for h in range(STEPS):
            if prices.steps[h] > c:
                prices.left_over[h] += delivered
        size = 0
        while size < num_fit and knapsack.item_tasks[size] > 0:
            charge(table, problem, prices, knapsack.item[size], c, e, end)
            size += 1
        # Only now, since what they are charged depends on the usage before.
        for j in range(size):
            for t in range(c, e + 1):
                usage[t, knapsack.item[j]] += 1.0 / (e - c + 1)
        label = i


@inlined
def _count_end(chains: Chains, k: int, t: int) -> None:
    """Enter that a chain has slot t after its k-th iteration."""
    ends = chains.ends
    ends[CHAINS, k] += 1
    ends[SUM, k] += t
    ends[LEAST, k] = min(ends[LEAST, k], t)
    ends[MOST, k] = max(ends[MOST, k], t)
