"""The search of all lengths of a board together, with tasks as weights: slices of `kernels.joint`."""

from __future__ import annotations

import numpy as np

from hindsched.offline.coupled.no_communication.boards import Board
from hindsched.offline.coupled.no_communication.common_slots import Aim, CommonSlots
from hindsched.offline.coupled.no_communication.kernels import joint
from hindsched.offline.kmis.kernels.search_layout import PAUSED
from hindsched.offline.kmis.matrix import octets_of
from hindsched.offline.limits import Stopwatch

__all__ = ["search_jointly"]

_SLICE = 20_000_000  # words between two looks at the clock
_PURPOSES = {
    Aim.EARLIEST: joint.JOINT_FINISH,
    Aim.WIDEST: joint.JOINT_WIDTH,
    Aim.HEAVIEST: joint.JOINT_TASKS,
    Aim.ANY: joint.JOINT_ANY,
}


def search_jointly(
    problem: CommonSlots, board: Board, value: int | None, watch: Stopwatch
) -> tuple[tuple[Board, list[int]] | None, bool]:
    """Return the members of the best team of a board, on the board with its leader a row, and whether it is proven.

    Parameters
    ----------
    problem, board
        The problem and one of its boards.
    value
        What is known already; only better teams are looked for. None: nothing is.
    watch
        When to stop.
    """
    up, workers = board.up, board.workers
    if board.leader is not None:
        up = np.vstack((np.ones((1, up.shape[1]), dtype=bool), up))
        workers = np.concatenate(([board.leader], workers))
    order = np.lexsort((-np.count_nonzero(up, axis=1), problem.w[workers]))
    up, workers = up[order], workers[order]
    p, n = up.shape
    limit = n
    if problem.aim is Aim.EARLIEST and value is not None:
        limit = int(np.searchsorted(board.slots, value - 1))
    state = np.zeros(6, np.int64)
    state[joint.JOINT_LIMIT] = limit
    state[joint.JOINT_FACTOR] = (value or 0) + 1 if problem.aim is Aim.WIDEST else 1
    state[joint.JOINT_GOAL] = (value or 0) + 1 if problem.aim is Aim.HEAVIEST else problem.tasks
    packed = octets_of(up).view(np.uint64)
    common = np.full((p + 1, packed.shape[1]), ~np.uint64(0))
    candidates = np.empty((p + 1, p), np.int64)
    candidates[0] = np.arange(p)
    numbers, places = np.full(p + 1, p), np.full(p + 1, -1)
    chosen, best = np.zeros(p + 1, np.int64), np.zeros(p + 1, np.int64)
    is_done = False
    while not is_done:
        joint.search_joint(
            packed, problem.w[workers], problem.most[workers], _PURPOSES[problem.aim], state, common, candidates,
            numbers, places, chosen, best, _SLICE,
        )  # fmt: skip
        is_done = state[joint.JOINT_STATUS] != PAUSED
        if not is_done and watch.is_over():
            break
    size = int(state[joint.JOINT_SIZE])
    if not size:
        return None, is_done
    return (Board(up, workers, board.slots, None), workers[best[:size]].tolist()), is_done
