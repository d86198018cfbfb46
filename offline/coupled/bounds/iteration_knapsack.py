"""What the workers of one iteration pay at least: a fractional knapsack of tasks, for bounds that charge programs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.bounds.fractional_knapsack import pay
from hindsched.offline.coupled.bounds.slot_lagrangian.slot_multipliers import Prices
from hindsched.offline.coupled.search.constants import SPENT
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.normal_form import most_tasks, prepare
from hindsched.offline.coupled.search.scratch_memory import Scratch
from hindsched.offline.coupled.search.state_tables import Table


class Knapsack(NamedTuple):
    """Who could compute in slots c..e, and who of them do.

    ``able`` are the workers that are UP in e and could have received what they need; ``fit`` those of them that can
    compute from c on, with their UP slots in c..e, the tasks they can hold by c, and what they pay. ``item`` are those
    who have W slots, the cheapest first; those not taken have no ``item_tasks``.
    """

    able: Ints
    fit: Ints
    fit_up: Ints
    fit_tasks: Ints
    fit_price: Ints
    item: Ints
    item_tasks: Ints
    item_price: Ints


def make_knapsack(workers: int) -> Knapsack:
    """Room for so many workers."""
    return Knapsack(*(np.zeros(workers, np.int64) for _ in Knapsack._fields))


@kernel
def list_able(
    table: Table, problem: Problem, scratch: Scratch, knapsack: Knapsack, s: int, e: int, held: Words, end: int
) -> int:
    """Prepare for iterations in slots s..e; list the workers that can compute in one, and return their number."""
    cnt, needs = table.cnt, scratch.needs
    scratch.effort[SPENT] += 1 + problem.p // 8
    prepare(table, problem, needs, s, e, held, end)
    n = 0
    for q in range(problem.p):
        if cnt[e + 1, q] > cnt[e, q] and cnt[e, q] >= needs.data_base[q] + problem.t_data:
            knapsack.able[n] = q
            n += 1
    return n


@kernel
def list_fit(
    table: Table, problem: Problem, scratch: Scratch, knapsack: Knapsack, num_able: int, c: int, e: int
) -> int:
    """List who can compute in slots c..e, and return their number; what they pay is still to be entered."""
    scratch.effort[SPENT] += 1 + num_able // 16
    cnt = table.cnt
    n = 0
    for j in range(num_able):
        q = knapsack.able[j]
        if cnt[c + 1, q] == cnt[c, q]:
            continue
        x = most_tasks(table, scratch.needs, q, c, problem.max_tasks[q], problem.t_data)
        if x > 0:
            knapsack.fit[n] = q
            knapsack.fit_up[n] = cnt[e + 1, q] - cnt[c, q]
            knapsack.fit_tasks[n] = x
            n += 1
    return n


@kernel
def price_slots(prices: Prices, knapsack: Knapsack, num_fit: int, c: int, e: int) -> None:
    """Enter that those listed pay for slots c..e."""
    before = prices.before
    for j in range(num_fit):
        q = knapsack.fit[j]
        knapsack.fit_price[j] = before[e + 1, q] - before[c, q]


@kernel
def cheapest(problem: Problem, scratch: Scratch, knapsack: Knapsack, n: int, iw: int) -> int:
    """Return what workers of ``fit[:n]`` pay at least, fractional, that hold m tasks and compute in W slots; or -1.

    W is ``problem.work[iw]``; for iw < 0 everyone has a W of their own, and they pay no more than for any W.
    """
    scratch.effort[SPENT] += 1 + n // 32
    k = 0
    total = 0
    w = problem.work[iw] if iw >= 0 else 0
    for j in range(n):
        q = knapsack.fit[j]
        cap = problem.caps[iw, q] if iw >= 0 else knapsack.fit_up[j] // problem.w[q]
        x = min(knapsack.fit_tasks[j], cap)
        if x > 0 and knapsack.fit_up[j] >= w:
            knapsack.item[k], knapsack.item_tasks[k], knapsack.item_price[k] = q, x, knapsack.fit_price[j]
            total += x
            k += 1
    if total < problem.m:
        return -1
    scratch.effort[SPENT] += n // 8
    return pay(knapsack.item, knapsack.item_tasks, knapsack.item_price, k, problem.m)


@kernel
def cheapest_below(
    problem: Problem, scratch: Scratch, knapsack: Knapsack, num_fit: int, slots: int, most: int
) -> tuple[int, int]:
    """Return what an iteration that computes within so many slots pays at least, and the index of its W.

    -1 if that is not below `most`, which often shows with a W for each.
    """
    least = cheapest(problem, scratch, knapsack, num_fit, -1)
    if least < 0 or least >= most:
        return -1, -1
    price, best_iw = -1, -1
    for iw in range(problem.work.size):
        if problem.work[iw] > slots:
            break
        v = cheapest(problem, scratch, knapsack, num_fit, iw)
        if v >= 0 and (price < 0 or v < price):
            price, best_iw = v, iw
    return (price, best_iw) if price < most else (-1, -1)
