"""What all searches of one instance share: known states, scratch memory, and limits of time, memory and effort."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hindsched.instances.array_types import Ints, Reals
from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import States
from hindsched.offline.coupled.bounds.prefetch_table import Prefetch, grow_prefetch, make_prefetch, raise_floor
from hindsched.offline.coupled.search.effort import (
    EFFORT_PER_CLOCK_CHECK,
    EFFORT_PER_SECOND,
    MEASURED_FROM,
    SPENT,
    STOP,
)
from hindsched.offline.coupled.search.instance_arrays import Problem, make_problem
from hindsched.offline.coupled.search.scratch_memory import EFFORT_LIMIT, FOUND_LIMIT, Scratch, make_scratch
from hindsched.offline.coupled.search.search_arrays import SearchArrays
from hindsched.offline.coupled.search.slot_codes import NEVER
from hindsched.offline.coupled.search.state_tables import FIRST_BLOCK, StateTables, Table
from hindsched.offline.limits import Limit, Limits, Stopwatch

__all__ = ["LimitError", "Workspace"]

_FIRST_HOLDER_SETS = 64  # that fit into the scratch memory at first


class LimitError(Exception):
    """A limit stops the searches.

    Parameters
    ----------
    limit
        Time or memory.
    """

    def __init__(self, limit: Limit) -> None:
        super().__init__(limit)
        self.limit = limit


class Workspace:
    """One instance whose states are read block by block, as far as the searches need them.

    Parameters
    ----------
    instance
        The instance.
    limits
        Limits of time and memory; the clock starts here. Memory counts the tables of states and labels.
    first_block
        Slots that are read first.
    """

    def __init__(self, instance: Instance, limits: Limits, first_block: int = FIRST_BLOCK) -> None:
        def provide(start: int, stop: int) -> States:
            return instance.prefix(stop)[:, start:]

        self.watch = Stopwatch(limits)
        self.instance = instance
        self.slots = instance.slots
        self.problem: Problem = make_problem(
            np.array(instance.w, np.int64),
            np.array(instance.capacities, np.int64),
            instance.tasks,
            instance.channels,
            instance.t_prog,
            instance.t_data,
        )
        #: Returns the bytes that all searches hold; the portfolio sets it.
        self.bytes_of_searches: Callable[[], int] = lambda: 0
        self._memory_limit_mb = limits.memory_limit_mb
        self._states = StateTables(provide, instance.num_workers, self.slots, first_block)
        #: The free-prefetch bound, with raised floors.
        self.prefetch: Prefetch = make_prefetch(self._states.capacity)
        self._unraised_prefetch: Prefetch | None = None
        self.scratch: Scratch = make_scratch(self.problem, max(1, self._states.capacity), _FIRST_HOLDER_SETS)
        self._merit = self.scratch.order.merit

    @property
    def table(self) -> Table:
        """The known states."""
        return self._states.table

    @property
    def arrays(self) -> SearchArrays:
        """States, constants and scratch memory for kernels; valid until the next `grow` or `limit_expansion`."""
        return SearchArrays(self.table, self.problem, self.scratch)

    def slots_known(self) -> int:
        """Return the number of slots whose states are known."""
        return self._states.length

    def grow(self) -> None:
        """Read the states of twice as many slots."""
        length = min(self.slots, 2 * max(1, self._states.length))
        self.claim(length)
        self._states.grow(length)
        self.prefetch = grow_prefetch(self.prefetch, self._states.capacity)
        if self._unraised_prefetch is not None:
            self._unraised_prefetch = grow_prefetch(self._unraised_prefetch, self._states.capacity)
        self._resize_scratch(self.scratch.found.c.size)

    @property
    def unraised_prefetch(self) -> Prefetch:
        """The free-prefetch bound without raised floors: a smoother estimate of when iterations end."""
        if self._unraised_prefetch is None:
            self._unraised_prefetch = make_prefetch(self._states.capacity)
        return self._unraised_prefetch

    def raise_floor(self, floor: Ints) -> None:
        """Take a proof that no iteration that starts in slot t ends before slot ``floor[t]``."""
        raise_floor(self.prefetch, floor)

    def _resize_scratch(self, found: int) -> None:
        """Make scratch memory for all slots of the tables and `found` holder sets."""
        old = self.scratch
        self.scratch = make_scratch(self.problem, self._states.capacity, found)
        self.scratch.counters[:] = old.counters
        self.scratch.effort[:] = old.effort
        self.set_merit(self._merit)

    def set_merit(self, merit: Reals) -> None:
        """Set the merit by which `worker_order.order_workers` sorts workers."""
        self._merit = merit
        self.scratch = self.scratch._replace(order=self.scratch.order._replace(merit=merit))

    def check(self) -> None:
        """Raise `LimitError` if the time limit is met."""
        if self.watch.is_over():
            raise LimitError(Limit.TIME)

    def claim(self, slots: int = 0) -> None:
        """Raise `LimitError` if tables for `slots` slots, and twice the labels, exceed the memory limit."""
        if self._memory_limit_mb is not None:
            tables = self._states.bytes_for(max(slots, self._states.length))
            if tables + 2 * self.bytes_of_searches() > self._memory_limit_mb * 1e6:
                raise LimitError(Limit.MEMORY)

    def effort_spent(self) -> int:
        """Return the effort spent since the start."""
        return int(self.scratch.effort[SPENT])

    def effort_left(self) -> int:
        """Return about how much effort fits into the remaining time."""
        left_s = self.watch.left_s()
        if left_s is None:
            return NEVER
        spent = self.effort_spent()
        rate = spent / self.watch.elapsed_s() if spent > MEASURED_FROM else EFFORT_PER_SECOND
        return max(1, int(left_s * rate))

    def stop_after(self, effort: int = EFFORT_PER_CLOCK_CHECK) -> None:
        """Limit all further work to this effort and to the remaining time."""
        spent = self.scratch.effort
        spent[STOP] = min(NEVER, int(spent[SPENT]) + min(effort, self.effort_left()))

    def limit_expansion(self, effort: int, found: int) -> None:
        """Limit the effort and the number of holder sets of one expansion."""
        if found > self.scratch.found.c.size:
            self._resize_scratch(found)
        self.scratch.counters[EFFORT_LIMIT] = effort
        self.scratch.counters[FOUND_LIMIT] = found
