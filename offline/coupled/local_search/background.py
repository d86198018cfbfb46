"""A local search in a thread of its own, whose kernels release the interpreter lock.

The thread reads tables of known states and writes only its own arrays. Schedules are exchanged in calls of
`BackgroundSearch.exchange`, so bounds and proofs of the other searches do not depend on the thread.
"""

from __future__ import annotations

import threading

import numpy as np

from hindsched.offline.coupled.local_search.local_search import LocalSearch
from hindsched.offline.coupled.search.effort import SPENT, STOP
from hindsched.offline.coupled.search.label_search import Incumbent
from hindsched.offline.coupled.search.slot_codes import NEVER
from hindsched.offline.coupled.search.state_tables import Table

__all__ = ["BackgroundSearch"]


class BackgroundSearch:
    """A `LocalSearch` that runs in a thread, from the first schedule it receives until `end`."""

    def __init__(self, local_search: LocalSearch) -> None:
        self._local_search = local_search
        self._effort = np.array([0, NEVER, NEVER])
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._failure: Exception | None = None
        self._is_over = False
        self._table: Table | None = None  # the table that came with a better schedule
        self._cost, self._plan = local_search.cost, local_search.plan

    def exchange(self, table: Table, incumbent: Incumbent) -> None:
        """Take the schedule of the thread, or give it the incumbent, whichever is better."""
        with self._lock:
            if self._failure is not None:
                raise self._failure
            if self._cost < incumbent.cost:
                incumbent.take(self._cost, self._plan)
            elif incumbent.plan and incumbent.cost < self._cost:
                self._cost, self._plan, self._table = incumbent.cost, incumbent.plan, table
                self._effort[STOP] = 0  # the kernel returns
        if self._thread is None and self._table is not None and not self._is_over:
            self._thread = threading.Thread(target=self._run, name="improve", daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Stop the thread."""
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
                        self._local_search.set_start(table, self._cost, self._plan)
                assert table is not None
                if self._local_search.run(table, self._effort):
                    with self._lock:
                        if self._local_search.cost < self._cost:
                            self._cost, self._plan = self._local_search.cost, self._local_search.plan
        except Exception as failure:  # the next `exchange` raises it
            self._failure = failure
