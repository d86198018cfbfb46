"""What the searches of one instance share: the states known so far, working memory, and how much may still be spent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hindsched.instances.array_types import Ints, Reals
from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import States
from hindsched.offline.coupled.bounds.prefetch_table import Prefetch, make_prefetch, more_prefetch, raise_floor
from hindsched.offline.coupled.search.constants import (
    EFFORT_LIMIT,
    EFFORT_PER_SECOND,
    FIRST_BLOCK,
    FIRST_FOUND,
    FOUND_LIMIT,
    MEASURABLE,
    NEVER,
    PAUSE_EFFORT,
    SPENT,
    STOP,
)
from hindsched.offline.coupled.search.instance_arrays import Problem, make_problem
from hindsched.offline.coupled.search.scratch_memory import Scratch, make_scratch
from hindsched.offline.coupled.search.state_tables import StateTables, Table
from hindsched.offline.limits import Limit, Limits, Stopwatch

__all__ = ["LimitError", "Workspace"]


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
    """One instance, ready to be searched; its states are looked at block by block, as far as the searches go.

    Parameters
    ----------
    instance
        The instance.
    limits
        When to stop; the clock starts here. Memory counts the tables of states and labels.
    first_block
        Slots to begin with.
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
        #: Tells how many bytes the labels and the like of all searches take; who starts searches sets it.
        self.bytes_beside: Callable[[], int] = lambda: 0
        self._memory_limit_mb = limits.memory_limit_mb
        self._states = StateTables(provide, instance.num_workers, self.slots, first_block)
        #: When iterations can end.
        self.prefetch: Prefetch = make_prefetch(self._states.capacity)
        self._smooth: Prefetch | None = None
        self.scratch: Scratch = make_scratch(self.problem, max(1, self._states.capacity), FIRST_FOUND)
        self._merit = self.scratch.order.merit

    # The states.

    @property
    def table(self) -> Table:
        """The states known."""
        return self._states.table

    def slots_known(self) -> int:
        """Return how many slots have been looked at."""
        return self._states.length

    def grow(self) -> None:
        """Look at twice as many slots."""
        length = min(self.slots, 2 * max(1, self._states.length))
        self.claim(length)
        self._states.grow(length)
        self.prefetch = more_prefetch(self.prefetch, self._states.capacity)
        if self._smooth is not None:
            self._smooth = more_prefetch(self._smooth, self._states.capacity)
        self._renew(self.scratch.found.c.size)

    @property
    def smooth(self) -> Prefetch:
        """An estimate of when iterations can end that does not jump: without what `raise_floor` told."""
        if self._smooth is None:
            self._smooth = make_prefetch(self._states.capacity)
        return self._smooth

    def raise_floor(self, floor: Ints) -> None:
        """Tell that no iteration which starts in slot t ends before slot ``floor[t]``, see `prefetch.Prefetch`."""
        raise_floor(self.prefetch, floor)

    def _renew(self, found: int) -> None:
        """Make working memory for all slots there is room for, and so many holder sets."""
        old = self.scratch
        self.scratch = make_scratch(self.problem, self._states.capacity, found)
        self.scratch.counters[:] = old.counters
        self.scratch.effort[:] = old.effort
        self.set_merit(self._merit)

    def set_merit(self, merit: Reals) -> None:
        """Tell whom to try first, see `worker_order.order_workers`."""
        self._merit = merit
        self.scratch = self.scratch._replace(order=self.scratch.order._replace(merit=merit))

    # What may be spent.

    def check(self) -> None:
        """Raise if the time limit is met."""
        if self.watch.is_over():
            raise LimitError(Limit.TIME)

    def claim(self, slots: int = 0) -> None:
        """Raise if tables for `slots` slots, and twice the labels, exceed the memory limit."""
        if self._memory_limit_mb is not None:
            tables = self._states.bytes_for(max(slots, self._states.length))
            if tables + 2 * self.bytes_beside() > self._memory_limit_mb * 1e6:
                raise LimitError(Limit.MEMORY)

    def effort_spent(self) -> int:
        """Effort since the beginning."""
        return int(self.scratch.effort[SPENT])

    def effort_left(self) -> int:
        """About how much effort fits into the time left."""
        left_s = self.watch.left_s()
        if left_s is None:
            return NEVER
        spent = self.effort_spent()
        rate = spent / self.watch.elapsed_s() if spent > MEASURABLE else EFFORT_PER_SECOND
        return max(1, int(left_s * rate))

    def stop_after(self, effort: int = PAUSE_EFFORT) -> None:
        """Limit all work to so much effort, and to the time left."""
        spent = self.scratch.effort
        spent[STOP] = min(NEVER, int(spent[SPENT]) + min(effort, self.effort_left()))

    def limit_expansion(self, effort: int, found: int) -> None:
        """Limit effort and number of holder sets of a single expansion."""
        if found > self.scratch.found.c.size:
            self._renew(found)
        self.scratch.counters[EFFORT_LIMIT] = effort
        self.scratch.counters[FOUND_LIMIT] = found
