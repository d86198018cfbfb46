"""The fractional knapsack (Dantzig 1957): the least cost of m tasks. All Lagrangian bounds use it."""

from __future__ import annotations

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel

__all__ = ["solve_fractional"]


@kernel
def _swap(worker: Ints, tasks: Ints, cost: Ints, i: int, j: int) -> None:
    worker[i], worker[j] = worker[j], worker[i]
    tasks[i], tasks[j] = tasks[j], tasks[i]
    cost[i], cost[j] = cost[j], cost[i]


@kernel
def solve_fractional(worker: Ints, tasks: Ints, cost: Ints, n: int, demand: int) -> int:
    """Return the least cost of ``demand`` tasks, rounded down, where workers may be taken in part.

    Item i < n is ``worker[i]``, with ``tasks[i]`` tasks for ``cost[i]``. All items together have enough tasks. The
    items taken move to the front and the others get 0 tasks, by quickselect: O(n) on average.
    """
    low, high = 0, n
    left = demand
    total = 0
    while left > 0:
        pivot_tasks, pivot_cost = tasks[(low + high) // 2], cost[(low + high) // 2]
        # A task costs less in low..i-1 than in the pivot, as much in i..k-1 and more in j..high-1.
        i, k, j = low, low, high
        cheaper_tasks = 0
        cheaper_cost = 0
        while k < j:
            difference = cost[k] * pivot_tasks - pivot_cost * tasks[k]
            if difference < 0:
                cheaper_tasks += tasks[k]
                cheaper_cost += cost[k]
                _swap(worker, tasks, cost, i, k)
                i += 1
                k += 1
            elif difference == 0:
                k += 1
            else:
                j -= 1
                _swap(worker, tasks, cost, k, j)
        if cheaper_tasks >= left:
            high = i
            continue
        left -= cheaper_tasks
        total += cheaper_cost
        while i < k and left > 0:
            if tasks[i] <= left:
                total += cost[i]
                left -= tasks[i]
            else:
                total += cost[i] * left // tasks[i]
                left = 0
            i += 1
        low = i
    for k in range(low, n):
        tasks[k] = 0
    return total
