"""The order in which workers are tried for an iteration, and which of them are symmetric (module `normal_form`)."""

from __future__ import annotations

from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.search.normal_form import is_up_throughout, needs_program
from hindsched.offline.coupled.search.scratch_memory import WorkerOrder
from hindsched.offline.coupled.search.search_arrays import SearchArrays
from hindsched.offline.coupled.search.state_tables import Table


@kernel
def order_workers(arrays: SearchArrays, s: int, e: int, horizon: int) -> None:
    """Sort the workers into the order in which they are tried, and mark symmetric ones.

    `prepare` has to be called before. Holders come first, then workers of large ``merit`` after e if it is known, then
    workers that can do many tasks before their next DOWN slot. The order decides which solution is found first, and no
    more. Symmetric workers of equal merit are neighbours; those of unequal merit are both tried.
    """
    table, problem = arrays.table, arrays.problem
    order = arrays.scratch.order
    for q in range(problem.p):
        holds = not needs_program(table, arrays.scratch.needs, q)
        order.symmetry[q] = -1
        if is_up_throughout(table, q, s, horizon):
            order.symmetry[q] = 2 * problem.kind[q] + (1 if holds else 0)
        slots = max(0, _next_down(table, q, e, horizon) - e)
        tasks = min(1 << 20, 64 * slots // problem.slots_per_task[q]) if problem.slots_per_task[q] > 0 else 1 << 20
        if e + 1 < order.merit.shape[0]:
            tasks += int(min(order.merit[e + 1, q], 1000.0) * 1024.0) << 20
        order.key[q] = ((0 if holds else 1) << 62) - (tasks << 20) + problem.kind[q]
    _sort(order)


@inlined
def _next_down(table: Table, q: int, e: int, horizon: int) -> int:
    """Return the first slot after e in which worker q is DOWN; without one, the lesser of table length and horizon."""
    top = min(table.length, horizon) - 1
    low, high = e, top + 1  # not DOWN from e to `low`; the slot sought is at most `high`
    if top > e and table.down[top, q] > e:
        while high - low > 1:
            middle = (low + high) // 2
            if table.down[middle, q] > e:
                high = middle
            else:
                low = middle
    return high


@inlined
def _sort(order: WorkerOrder) -> None:
    """Sort the workers by key, symmetric ones side by side; insertion sort, as the last order is nearly right."""
    workers, key, symmetry = order.workers, order.key, order.symmetry
    for i in range(1, workers.size):
        q = workers[i]
        k = i
        while k > 0:
            r = workers[k - 1]
            if key[r] < key[q] or (
                key[r] == key[q] and (symmetry[r] < symmetry[q] or (symmetry[r] == symmetry[q] and r < q))
            ):
                break
            workers[k] = r
            k -= 1
        workers[k] = q


@kernel
def are_symmetric(order: WorkerOrder, q: int, r: int) -> bool:
    """Return whether `order_workers` marked q and r as symmetric."""
    return bool(order.symmetry[q] >= 0 and order.symmetry[q] == order.symmetry[r])
