"""Borgelt's Eclat as a side of the race, in a process of its own that a limit can stop.

The slots are transactions, the workers UP in them are items. A team of m rows with w common slots is an item set of
size m with support w. One empty transaction is added: pyfim 6.28 loses item sets where an item is in all transactions.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import numpy.typing as npt

from docs.studies.coupled.kmis_race.cells import LENGTH
from docs.studies.coupled.kmis_race.outcome import Outcome

__all__ = ["Eclat", "earliest", "seeded", "widest"]

Booleans = npt.NDArray[np.bool_]
Mine = Callable[..., list[Any]]

#: Rows from which greedy teams start.
_STARTS = 8
_SHORT_S, _REPEATS = 0.1, 5


def seeded(up: Booleans, m: int) -> tuple[int, int]:
    """Return the common slots of a greedy team, and the prefix in which it has w common slots (N + 1: none).

    The team is the greedy team of the general solvers, computed in a few array operations: from each of the eight rows
    with the most UP slots, add the row that keeps the most common slots, until the team is complete.

    Examples
    --------
    >>> seeded(np.array([[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]], dtype=bool), 2)
    (2, 5)
    """
    rows = up.astype(np.float32)
    best, earliest_end = 0, up.shape[1] + 1
    for start in np.argsort(-rows.sum(axis=1), kind="stable")[:_STARTS]:
        free = np.ones(len(rows), dtype=bool)
        free[start] = False
        common = up[start].copy()
        for _ in range(m - 1):
            shared = np.where(free, rows @ common.astype(np.float32), -1.0)
            row = int(shared.argmax())
            free[row] = False
            common &= up[row]
        slots = np.flatnonzero(common)
        best = max(best, len(slots))
        if len(slots) >= LENGTH:
            earliest_end = min(earliest_end, int(slots[LENGTH - 1]) + 1)
    return best, earliest_end


def widest(mine: Mine, transactions: list[list[int]], up: Booleans, m: int) -> int:
    """Return the answer of task A: the largest support of m items, at least the greedy bound."""
    bound, _ = seeded(up, m)
    found = mine([*transactions, []], target="s", supp=-max(bound, 1), zmin=m, zmax=m, algo="b")
    return max((int(support) for _, support in found), default=0)


def earliest(mine: Mine, transactions: list[list[int]], up: Booleans, m: int) -> int | None:
    """Return the answer of task B by binary search over prefixes below the greedy one; None: infeasible."""
    _, high = seeded(up, m)
    low = LENGTH - 1  # too short; `high` is long enough, or N + 1
    while high - low > 1:
        middle = (low + high) // 2
        if mine([*transactions[:middle], []], target="s", supp=-LENGTH, zmin=m, zmax=m, algo="b"):
            high = middle
        else:
            low = middle
    return high if high <= up.shape[1] else None


class Eclat:
    """The process of the miner, which starts when needed and again after a limit ends it."""

    def __init__(self) -> None:
        self._process: multiprocessing.process.BaseProcess | None = None
        self._here: Connection | None = None

    def run(self, up: Booleans, m: int, task: str, limit_s: float) -> Outcome:
        """Return the outcome of a task; the limit is processor time."""
        if self._process is None or not self._process.is_alive():
            self._begin()
        assert self._here is not None
        self._here.send((up, m, task, limit_s))
        try:
            value, seconds = self._here.recv()
        except EOFError:
            return Outcome(False, None, limit_s)
        return Outcome(True, value, seconds)

    def _begin(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._here, there = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(there,), daemon=True)
        self._process.start()
        there.close()


def _serve(pipe: Connection) -> None:
    """Solve tasks until the pipe is closed; a timer of processor time ends this process when the limit is reached.

    While such a timer runs, Linux reads the clock of the process in whole ticks, but the clock of the thread exactly.
    """
    import fim

    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    mine: Mine = fim.eclat
    mine([[0, 1]], target="s", supp=-1, zmin=1, zmax=2, algo="b")
    while True:
        try:
            up, m, task, limit_s = pipe.recv()
        except EOFError:
            return
        transactions = [np.flatnonzero(column).tolist() for column in up.T]
        answer = widest if task == "A" else earliest
        best_s = limit_s
        for _ in range(_REPEATS):
            signal.setitimer(signal.ITIMER_PROF, limit_s)
            begun = time.thread_time()
            value = answer(mine, transactions, up, m)
            seconds = time.thread_time() - begun
            signal.setitimer(signal.ITIMER_PROF, 0)
            best_s = min(best_s, seconds)
            if seconds >= _SHORT_S:
                break
        pipe.send((value, best_s))
