"""What the searches of one instance share: the states known so far, working memory, and how much may still be spent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from instances.coupled.model import Instance
from instances.states import States
from offline.coupled.native.constants import (
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
from offline.coupled.native.iteration import Space, make_space
from offline.coupled.native.kernels import Reals
from offline.coupled.native.parameters import Problem, make_problem
from offline.coupled.native.state_tables import Table, Windows
from offline.limits import Limits, Stopwatch

__all__ = ["LimitError", "Workspace"]


class LimitError(Exception):
    """The time or the memory is used up."""


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
        self._windows = Windows(provide, instance.num_workers, self.slots, first_block)
        self.space: Space = make_space(self.problem, max(1, self._windows.capacity), FIRST_FOUND)
        self._merit = self.space.merit
        self.memo = np.zeros(self._windows.capacity + 3, np.int64)
        self.memo[-2] = -1
        self.gain = np.zeros(self._windows.capacity + 3, np.int64)
        self.wish = np.zeros(self.problem.words, np.uint64)

    # The states.

    @property
    def table(self) -> Table:
        """The states known."""
        return self._windows.table

    def slots_known(self) -> int:
        """Return how many slots have been looked at."""
        return self._windows.length

    def grow(self) -> None:
        """Look at twice as many slots."""
        length = min(self.slots, 2 * max(1, self._windows.length))
        self.claim(length)
        self._windows.grow(length)
        room = self._windows.capacity + 3
        memo = np.zeros(room, np.int64)
        memo[: self.memo.size - 2] = self.memo[:-2]
        memo[-2:] = self.memo[-2:]
        gain = np.zeros(room, np.int64)
        gain[: self.gain.size] = self.gain
        self.memo, self.gain = memo, gain
        self._renew(self.space.found_c.size)

    def _renew(self, found: int) -> None:
        """Make working memory for all slots there is room for, and so many holder sets."""
        state, effort = self.space.state, self.space.effort
        self.space = make_space(self.problem, self._windows.capacity, found)
        self.space.state[:] = state
        self.space.effort[:] = effort
        self.set_merit(self._merit)

    def set_merit(self, merit: Reals) -> None:
        """Tell whom to try first, see `iteration.arrange`."""
        self._merit = merit
        self.space = self.space._replace(merit=merit)

    # What may be spent.

    def check(self) -> None:
        """Raise if the time limit is met."""
        if self.watch.is_over():
            raise LimitError

    def claim(self, slots: int = 0) -> None:
        """Raise if tables for `slots` slots, and twice the labels, exceed the memory limit."""
        if self._memory_limit_mb is not None:
            tables = self._windows.bytes_for(max(slots, self._windows.length))
            if tables + 2 * self.bytes_beside() > self._memory_limit_mb * 1e6:
                raise LimitError

    def effort_spent(self) -> int:
        """Effort since the beginning."""
        return int(self.space.effort[SPENT])

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
        spent = self.space.effort
        spent[STOP] = min(NEVER, int(spent[SPENT]) + min(effort, self.effort_left()))

    def limit_expansion(self, effort: int, found: int) -> None:
        """Limit effort and number of holder sets of a single expansion."""
        if found > self.space.found_c.size:
            self._renew(found)
        self.space.state[EFFORT_LIMIT] = effort
        self.space.state[FOUND_LIMIT] = found
