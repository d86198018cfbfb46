"""In which order workers are tried for an iteration, and which of them are symmetric (module `iteration`)."""

from __future__ import annotations

from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.search.normal_form import is_up_throughout, needs_program
from hindsched.offline.coupled.search.parameters import Problem
from hindsched.offline.coupled.search.scratch import Ranking, Scratch
from hindsched.offline.coupled.search.state_tables import Table


@kernel
def arrange(table: Table, problem: Problem, scratch: Scratch, s: int, e: int, horizon: int) -> None:
    """Put the workers in the order in which they are tried, and find the symmetric ones; `prepare` was called.

    The order matters for what is found first only: holders first, then those of most ``merit`` after e, if that is
    known, then those that can do most tasks before they are next DOWN. Symmetric workers are neighbours in it if their
    merit is equal; where they are not, both are tried.
    """
    ranking = scratch.ranking
    for q in range(problem.p):
        holds = not needs_program(table, scratch.needs, q)
        ranking.symmetry[q] = -1
        if is_up_throughout(table, q, s, horizon):
            ranking.symmetry[q] = 2 * problem.kind[q] + (1 if holds else 0)
        slots = max(0, _next_down(table, q, e, horizon) - e)
        tasks = min(1 << 20, 64 * slots // problem.each[q]) if problem.each[q] > 0 else 1 << 20
        if e + 1 < ranking.merit.shape[0]:
            tasks += int(min(ranking.merit[e + 1, q], 1000.0) * 1024.0) << 20
        ranking.key[q] = ((0 if holds else 1) << 62) - (tasks << 20) + problem.kind[q]
    _sort(ranking)


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
def _sort(ranking: Ranking) -> None:
    """Sort the workers by key, symmetric ones beside each other; they are nearly in order from the last time."""
    workers, key, symmetry = ranking.workers, ranking.key, ranking.symmetry
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
def are_symmetric(ranking: Ranking, q: int, r: int) -> bool:
    """Return whether q and r are symmetric, as `arrange` found them."""
    return bool(ranking.symmetry[q] >= 0 and ranking.symmetry[q] == ranking.symmetry[r])
