"""What an on-line scheduler of ``bags`` sees: the problem, the past, its own copies and stores, and nothing else.

A policy is handed a view on the master's `Ledger`, which does not hold the future: `Problem` is built from the instance
without its states, and the states seen so far are copied in slot by slot when their time has come.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from hindsched.instances.bags.model import Instance, Store
from hindsched.instances.errors import InputError
from hindsched.instances.states import UP, States
from hindsched.online.bags.checkpoints import ticks_left

__all__ = ["Copy", "History", "Ledger", "Migrating", "Policy", "Problem", "Timed", "Visible"]


@dataclass(frozen=True, slots=True)
class Problem:
    """The instance without its states; the fields are those of `hindsched.instances.bags.Instance`."""

    tasks: int
    segments: int
    slot: int
    ticks: tuple[int, ...]
    store: Store
    on_demand: bool
    tick_ms: int
    reference_s: int
    clock_s: int | None

    @classmethod
    def of(cls, instance: Instance) -> Problem:
        """Return what a scheduler may know of an instance before it starts."""
        return cls(
            tasks=instance.tasks,
            segments=instance.segments,
            slot=instance.slot,
            ticks=instance.ticks,
            store=instance.store,
            on_demand=instance.on_demand,
            tick_ms=instance.tick_ms,
            reference_s=instance.reference_s,
            clock_s=instance.clock_s,
        )

    @property
    def num_machines(self) -> int:
        """How many machines, p."""
        return len(self.ticks)

    def clock_ms(self, instant: int) -> int | None:
        """Return the milliseconds from Monday 00:00 to an instant; None without a clock."""
        return None if self.clock_s is None else self.clock_s * 1000 + instant * self.tick_ms


class History:
    """The states seen so far, in an array that grows; slots yet to come hold no state in it."""

    _UNSEEN = 255

    def __init__(self, num_machines: int) -> None:
        self._seen = np.full((64, num_machines), self._UNSEEN, dtype=np.uint8)
        self.slots = 0

    def append(self, now: States) -> None:
        """Copy the states of the next slot, shape (p,)."""
        if self.slots == len(self._seen):
            self._seen = np.concatenate((self._seen, np.full_like(self._seen, self._UNSEEN)))
        self._seen[self.slots] = now
        self.slots += 1

    @property
    def states(self) -> States:
        """The states seen, shape (p, slots), read-only."""
        seen = self._seen[: self.slots].T
        seen.setflags(write=False)
        return seen


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a task on a machine, as the master assigned it.

    Parameters
    ----------
    machine, task
        Where, and of which task.
    since
        The instant of its assignment.
    origin
        The state it started from then, in parts (see `hindsched.online.bags.checkpoints`).
    base
        UP ticks to the end of the task, as of the assignment.
    """

    machine: int
    task: int
    since: int
    origin: int
    base: int

    @property
    def expected_end(self) -> int:
        """When the task is done if the machine stays UP; never updated."""
        return self.since + self.base


class Ledger:
    """What the master knows: which tasks are done, its copies, what is saved, who is endangered."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.history = History(problem.num_machines)
        self.is_done = [False] * problem.tasks
        self.unfinished = list(range(problem.tasks))  # both lists are sorted
        self.waiting = list(range(problem.tasks))
        self.copies: list[list[Copy]] = [[] for _ in range(problem.tasks)]
        self.endangered: set[int] = set()
        self._saved: dict[tuple[int, int], int] = {}

    def saved(self, task: int, machine: int) -> int:
        """Return the greatest state that the machine can start the task from, in parts."""
        return self._saved.get(self._place(task, machine), 0)

    def save(self, task: int, machine: int, state: int) -> bool:
        """Save a state where it is greater than what is there, and say whether it was."""
        if state <= self.saved(task, machine):
            return False
        self._saved[self._place(task, machine)] = state
        return True

    def assign(self, copy: Copy) -> None:
        """Enter a new copy."""
        if not self.copies[copy.task]:
            del self.waiting[bisect_left(self.waiting, copy.task)]
        self.copies[copy.task].append(copy)
        self.endangered.discard(copy.task)

    def remove(self, copy: Copy) -> None:
        """Strike a copy out."""
        self.copies[copy.task].remove(copy)
        if not self.copies[copy.task] and not self.is_done[copy.task]:
            insort(self.waiting, copy.task)

    def finish(self, task: int) -> None:
        """Note that a task is done; its copies are still there."""
        self.is_done[task] = True
        del self.unfinished[bisect_left(self.unfinished, task)]

    def _place(self, task: int, machine: int) -> tuple[int, int]:
        return (task, machine if self.problem.store is Store.PRIVATE else -1)


class Visible:
    """What a policy sees when a machine asks it, at one instant; of no use later.

    Attributes
    ----------
    problem
        What is to be scheduled.
    machine
        Who asks. It is UP and has no copy.
    instant
        When, in ticks.
    """

    __slots__ = ("_ledger", "instant", "machine", "problem")

    def __init__(self, ledger: Ledger, machine: int, instant: int) -> None:
        self._ledger = ledger
        self.problem = ledger.problem
        self.machine = machine
        self.instant = instant

    @property
    def slot(self) -> int:
        """The present slot."""
        return self._ledger.history.slots - 1

    @property
    def states(self) -> States:
        """The states of slots 0 to ``slot``, shape (p, slot + 1), read-only.

        Raises
        ------
        InputError
            With private stores, where the master does not know who is UP except who asks.
        """
        if self.problem.store is Store.PRIVATE:
            raise InputError("states are not known with private stores", place="visible")
        return self._ledger.history.states

    @property
    def up(self) -> Sequence[int]:
        """The machines that are UP now, increasing; as `states` only with shared stores."""
        return tuple(np.flatnonzero(self.states[:, -1] == UP).tolist())

    @property
    def unfinished(self) -> Sequence[int]:
        """The tasks not done, increasing."""
        return tuple(self._ledger.unfinished)

    @property
    def waiting(self) -> Sequence[int]:
        """The tasks not done that no machine has a copy of, increasing."""
        return tuple(self._ledger.waiting)

    @property
    def first_waiting(self) -> int | None:
        """The first of `waiting`, None if there is none."""
        return self._ledger.waiting[0] if self._ledger.waiting else None

    def is_done(self, task: int) -> bool:
        """Whether a task is completed."""
        return self._ledger.is_done[task]

    def copies(self, task: int) -> Sequence[Copy]:
        """Return the copies of a task, oldest first; with private stores also those on machines that are DOWN."""
        return tuple(self._ledger.copies[task])

    def is_endangered(self, task: int) -> bool:
        """Whether a machine that holds a copy of it is predicted to go DOWN (docs/bags/model.md section 2, B3)."""
        return task in self._ledger.endangered

    def saved(self, task: int, machine: int | None = None) -> int:
        """Return from which state (in parts) a machine would start a task; the asking one if none is named."""
        return self._ledger.saved(task, self.machine if machine is None else machine)

    def ticks_left(self, task: int, machine: int | None = None) -> int:
        """Return the UP ticks that a machine would need for the rest of a task; the asking one if none is named."""
        q = self.machine if machine is None else machine
        return ticks_left(self._ledger.saved(task, q), self.problem.ticks[q], self.problem.segments)


@runtime_checkable
class Policy(Protocol):
    """An on-line scheduler: a name, and an answer to each machine that asks.

    A policy with a memory starts afresh at instant 0. What else it may have: `Timed`, `Migrating`, and an attribute
    ``predictor`` (see `hindsched.online.bags.predictors`), whose predictions save and endanger.

    Examples
    --------
    The last task first:

    >>> class Last:
    ...     name = "last"
    ...
    ...     def choose(self, machine, instant, visible):
    ...         return max(visible.waiting, default=None)
    >>> from hindsched.instances.bags import Instance
    >>> from hindsched.online.bags.simulate import simulate
    >>> pair = Instance.from_letters(["uuu", "uru"], ticks=[2, 1], slot=1, tasks=2, segments=1)
    >>> run = simulate(pair, Last())
    >>> run.turnaround, run.schedule.runs[0].task
    (2, 1)
    """

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def choose(self, machine: int, instant: int, visible: Visible) -> int | None:
        """Return the task of which the machine that asks gets a copy, one that is not done; None: nothing."""
        ...


@runtime_checkable
class Timed(Protocol):
    """A policy whose copies have deadlines."""

    def deadline(self, copy: Copy, problem: Problem) -> int | None:
        """Return the instant from which on the copy, just assigned, is removed at a slot's beginning; None: never."""
        ...


@runtime_checkable
class Migrating(Protocol):
    """A policy that takes a copy back at every end of a segment, where nothing is lost; its machine asks again.

    Only with shared stores.
    """

    @property
    def is_migrating(self) -> bool:
        """Whether it does."""
        ...
