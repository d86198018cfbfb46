"""Least cost of the members of one iteration: a fractional knapsack of tasks, for labels and their relaxations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.bounds.fractional_knapsack import solve_fractional
from hindsched.offline.coupled.search.effort import SPENT
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.normal_form import most_tasks, prepare
from hindsched.offline.coupled.search.scratch_memory import Scratch
from hindsched.offline.coupled.search.search_arrays import SearchArrays


class Knapsack(NamedTuple):
    """Working memory: the workers that can compute in slots c..e, and the items of the knapsack.

    ``candidate`` are the workers that are UP in e and can have received their needs. ``worker`` are those of them that
    can compute from c on, with their UP slots in c..e, the most tasks they can hold by c, and their cost. The items are
    the workers with W slots; those taken come first, the others have no ``item_tasks``.
    """

    candidate: Ints
    worker: Ints
    up_slots: Ints
    tasks: Ints
    cost: Ints
    item: Ints
    item_tasks: Ints
    item_cost: Ints


def make_knapsack(workers: int) -> Knapsack:
    """Return working memory for this many workers."""
    return Knapsack(*(np.zeros(workers, np.int64) for _ in Knapsack._fields))


@kernel
def list_candidates(arrays: SearchArrays, knapsack: Knapsack, s: int, e: int, held: Words, end: int) -> int:
    """Prepare for iterations in slots s..e; list the workers that can compute in one and return their number."""
    problem = arrays.problem
    cnt, needs = arrays.table.cnt, arrays.scratch.needs
    arrays.scratch.effort[SPENT] += 1 + problem.p // 8
    prepare(arrays.table, problem, needs, s, e, held, end)
    n = 0
    for q in range(problem.p):
        if cnt[e + 1, q] > cnt[e, q] and cnt[e, q] >= needs.data_base[q] + problem.t_data:
            knapsack.candidate[n] = q
            n += 1
    return n


@kernel
def list_workers(arrays: SearchArrays, knapsack: Knapsack, num_candidates: int, c: int, e: int) -> int:
    """List the candidates that can compute in slots c..e and return their number; the caller sets their costs."""
    arrays.scratch.effort[SPENT] += 1 + num_candidates // 16
    cnt = arrays.table.cnt
    n = 0
    for j in range(num_candidates):
        q = knapsack.candidate[j]
        if cnt[c + 1, q] == cnt[c, q]:
            continue
        x = most_tasks(arrays.table, arrays.scratch.needs, q, c, arrays.problem.max_tasks[q], arrays.problem.t_data)
        if x > 0:
            knapsack.worker[n] = q
            knapsack.up_slots[n] = cnt[e + 1, q] - cnt[c, q]
            knapsack.tasks[n] = x
            n += 1
    return n


@kernel
def least_cost(problem: Problem, scratch: Scratch, knapsack: Knapsack, n: int, iw: int) -> int:
    """Return the least cost, fractional, of workers of ``worker[:n]`` that hold m tasks and compute W slots; else -1.

    W is ``problem.work[iw]``. For ``iw`` < 0 each worker has a W of its own, which bounds the cost for every W.
    """
    scratch.effort[SPENT] += 1 + n // 32
    k = 0
    total = 0
    w = problem.work[iw] if iw >= 0 else 0
    for j in range(n):
        q = knapsack.worker[j]
        cap = problem.caps[iw, q] if iw >= 0 else knapsack.up_slots[j] // problem.w[q]
        x = min(knapsack.tasks[j], cap)
        if x > 0 and knapsack.up_slots[j] >= w:
            knapsack.item[k], knapsack.item_tasks[k], knapsack.item_cost[k] = q, x, knapsack.cost[j]
            total += x
            k += 1
    if total < problem.m:
        return -1
    scratch.effort[SPENT] += n // 8
    return solve_fractional(knapsack.item, knapsack.item_tasks, knapsack.item_cost, k, problem.m)


@kernel
def least_cost_below(
    problem: Problem, scratch: Scratch, knapsack: Knapsack, n: int, slots: int, limit: int
) -> tuple[int, int]:
    """Return the least cost over all W of an iteration that computes within ``slots`` slots, and the index of its W.

    Returns (-1, -1) if the cost is not below ``limit``; the relaxation with a W for each worker often shows that.
    """
    least = least_cost(problem, scratch, knapsack, n, -1)
    if least < 0 or least >= limit:
        return -1, -1
    best, best_iw = -1, -1
    for iw in range(problem.work.size):
        if problem.work[iw] > slots:
            break
        cost = least_cost(problem, scratch, knapsack, n, iw)
        if cost >= 0 and (best < 0 or cost < best):
            best, best_iw = cost, iw
    return (best, best_iw) if best < limit else (-1, -1)
