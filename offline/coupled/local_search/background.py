"""Walks beside the other searches, on a processor of their own: one thread, whose kernels hold no lock.

The thread sees tables of states that are known already, and numbers of its own; schedules go to and fro at calls of
`Beside.exchange`. So whatever the thread does, what the other searches prove does not depend on it.
"""

from __future__ import annotations

import threading

import numpy as np

from hindsched.offline.coupled.local_search.local_search import Improver
from hindsched.offline.coupled.search.constants import NEVER, SPENT, STOP
from hindsched.offline.coupled.search.label_search import Incumbent
from hindsched.offline.coupled.search.state_tables import Table

__all__ = ["Beside"]


class Beside:
    """An `Improver` that walks in a thread, from the first schedule it is handed to `end`."""

    def __init__(self, improver: Improver) -> None:
        self._improver = improver
        self._effort = np.array([0, NEVER, NEVER])
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._failure: Exception | None = None
        self._is_over = False
        self._table: Table | None = None  # one that has been handed over with a better schedule
        self._cost, self._plan = improver.cost, improver.plan

    def exchange(self, table: Table, incumbent: Incumbent) -> None:
        """Take over what the thread has found, or hand it the incumbent to walk from if that is better."""
        with self._lock:
            if self._failure is not None:
                raise self._failure
            if self._cost < incumbent.cost:
                incumbent.take(self._cost, self._plan)
            elif incumbent.plan and incumbent.cost < self._cost:
                self._cost, self._plan, self._table = incumbent.cost, incumbent.plan, table
                self._effort[STOP] = 0  # the walk looks up
        if self._thread is None and self._table is not None and not self._is_over:
            self._thread = threading.Thread(target=self._run, name="improve", daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Stop the walk, at once."""
        with self._lock:
            self._is_over = True
            self._effort[STOP] = 0
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        table: Table | None = None
        try:
            while True:
                with self._lock:
                    if self._is_over:
                        return
                    self._effort[SPENT], self._effort[STOP] = 0, NEVER
                    if self._table is not None:
                        table, self._table = self._table, None
                        self._improver.enter(table, self._cost, self._plan)
                assert table is not None
                if self._improver.go_on(table, self._effort):
                    with self._lock:
                        if self._improver.cost < self._cost:
                            self._cost, self._plan = self._improver.cost, self._improver.plan
        except Exception as failure:  # told by the next `exchange`
            self._failure = failure
