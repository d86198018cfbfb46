"""In which order workers are tried for an iteration, and which of them are symmetric (module `iteration`)."""

from __future__ import annotations

from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.normal_form import is_up_throughout, needs_program
from hindsched.offline.coupled.search.scratch_memory import Scratch, WorkerOrder
from hindsched.offline.coupled.search.state_tables import Table


@kernel
def order_workers(table: Table, problem: Problem, scratch: Scratch, s: int, e: int, horizon: int) -> None:
    """Put the workers in the order in which they are tried, and find the symmetric ones; `prepare` was called.

    The order matters for what is found first only: holders first, then those of most ``merit`` after e, if that is
    known, then those that can do most tasks before they are next DOWN. Symmetric workers are neighbours in it if their
    merit is equal; where they are not, both are tried.
    """
    order = scratch.order
    for q in range(problem.p):
        holds = not needs_program(table, scratch.needs, q)
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
    """Return the first slot after e in which worker q is DOWN, or the end of what is known or of interest."""
    top = min(table.length, horizon) - 1
    low, high = e, top + 1  # not DOWN from e to `low`; `high` is the slot sought or comes after it
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
    """Sort the workers by key, symmetric ones beside each other; they are nearly in order from the last time."""
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
    """Return whether q and r are symmetric, as `arrange` found them."""
    return bool(order.symmetry[q] >= 0 and order.symmetry[q] == order.symmetry[r])
