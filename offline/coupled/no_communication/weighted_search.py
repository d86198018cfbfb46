"""One search over teams of all lengths of a subproblem, with tasks as weights: slices of its kernel."""

from __future__ import annotations

import numpy as np

from hindsched.offline.coupled.no_communication.common_slots import Aim, CommonSlots
from hindsched.offline.coupled.no_communication.kernels import weighted_search_kernel as kernel
from hindsched.offline.coupled.no_communication.subproblems import Subproblem
from hindsched.offline.kmis.kernels.search_state import PAUSED
from hindsched.offline.kmis.matrix import octets_of
from hindsched.offline.limits import Stopwatch

__all__ = ["search_weighted_teams"]

_SLICE = 20_000_000  # words of work between two checks of the clock
_PURPOSES = {
    Aim.EARLIEST: kernel.FINISH,
    Aim.WIDEST: kernel.WIDTH,
    Aim.HEAVIEST: kernel.TASKS,
    Aim.ANY: kernel.ANY,
}


def search_weighted_teams(
    problem: CommonSlots, subproblem: Subproblem, value: int | None, watch: Stopwatch
) -> tuple[tuple[Subproblem, list[int]] | None, bool]:
    """Search the best team of a subproblem.

    Parameters
    ----------
    problem, subproblem
        The problem and one of its subproblems.
    value
        The value that a team has to beat; None: any team counts.
    watch
        Stops the search.

    Returns
    -------
    tuple
        The subproblem with its leader as a row and the members of the best team, None without a better one; and whether
        the search is complete.
    """
    up, workers = subproblem.up, subproblem.workers
    if subproblem.leader is not None:
        up = np.vstack((np.ones((1, up.shape[1]), dtype=bool), up))
        workers = np.concatenate(([subproblem.leader], workers))
    order = np.lexsort((-np.count_nonzero(up, axis=1), problem.w[workers]))
    up, workers = up[order], workers[order]
    p, n = up.shape
    limit = n
    if problem.aim is Aim.EARLIEST and value is not None:
        limit = int(np.searchsorted(subproblem.slots, value - 1))
    state = np.zeros(6, np.int64)
    state[kernel.LIMIT] = limit
    state[kernel.FACTOR] = (value or 0) + 1 if problem.aim is Aim.WIDEST else 1
    state[kernel.GOAL] = (value or 0) + 1 if problem.aim is Aim.HEAVIEST else problem.tasks
    packed = octets_of(up).view(np.uint64)
    common = np.full((p + 1, packed.shape[1]), ~np.uint64(0))
    candidates = np.empty((p + 1, p), np.int64)
    candidates[0] = np.arange(p)
    numbers, places = np.full(p + 1, p), np.full(p + 1, -1)
    chosen, best = np.zeros(p + 1, np.int64), np.zeros(p + 1, np.int64)
    is_done = False
    while not is_done:
        kernel.search_weighted(
            packed, problem.w[workers], problem.most[workers], _PURPOSES[problem.aim], state, common, candidates,
            numbers, places, chosen, best, _SLICE,
        )  # fmt: skip
        is_done = state[kernel.STATUS] != PAUSED
        if not is_done and watch.is_over():
            break
    size = int(state[kernel.SIZE])
    if not size:
        return None, is_done
    return (Subproblem(up, workers, subproblem.slots, None), workers[best[:size]].tolist()), is_done
