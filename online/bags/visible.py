"""What an on-line scheduler of ``bags`` sees: the problem, the past, its copies and its checkpoints.

A policy receives a view on the master's `Ledger`, which does not hold the future. `Problem` is the instance without its
states, and `hindsched.online.history.History` holds copies of the states seen so far.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Protocol, runtime_checkable

import numpy as np

from hindsched.instances.bags.model import Instance, Store
from hindsched.instances.errors import InputError
from hindsched.instances.states import UP, States
from hindsched.online.bags.checkpoints import Checkpoints, ticks_left
from hindsched.online.history import History

__all__ = ["Copy", "Ledger", "Migrating", "Policy", "Problem", "Timed", "Visible"]


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
    move: int

    @classmethod
    def of(cls, instance: Instance) -> Problem:
        """Return what a scheduler may know of an instance before it starts."""
        return cls(**{each.name: getattr(instance, each.name) for each in fields(cls)})

    @property
    def num_machines(self) -> int:
        """The number of machines, p."""
        return len(self.ticks)

    def clock_ms(self, instant: int) -> int | None:
        """Return the milliseconds from Monday 00:00 to an instant; None without a clock."""
        return None if self.clock_s is None else self.clock_s * 1000 + instant * self.tick_ms


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a task on a machine, as the master assigned it.

    Parameters
    ----------
    machine, task
        The machine and the task.
    since
        The instant of its assignment.
    origin
        The state from which it started then, in parts (see `hindsched.online.bags.checkpoints`).
    base
        UP ticks to the end of the task, at the assignment.
    fetch
        UP ticks of them before it works, to fetch the state.
    """

    machine: int
    task: int
    since: int
    origin: int
    base: int
    fetch: int = 0

    @property
    def expected_end(self) -> int:
        """The instant at which the task is done if the machine stays UP; never updated."""
        return self.since + self.base


class Ledger:
    """The master's knowledge: completed tasks, copies, checkpoints, endangered tasks."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.history = History(problem.num_machines)
        self.is_done = [False] * problem.tasks
        self.unfinished = list(range(problem.tasks))  # both lists are sorted
        self.waiting = list(range(problem.tasks))
        self.is_started = [False] * problem.tasks
        self.copies: list[list[Copy]] = [[] for _ in range(problem.tasks)]
        self.endangered: set[int] = set()
        self.checkpoints = Checkpoints(problem.store)

    def assign(self, copy: Copy) -> None:
        """Add a new copy."""
        if not self.copies[copy.task]:
            del self.waiting[bisect_left(self.waiting, copy.task)]
        self.copies[copy.task].append(copy)
        self.is_started[copy.task] = True
        self.endangered.discard(copy.task)

    def remove(self, copy: Copy) -> None:
        """Remove a copy."""
        self.copies[copy.task].remove(copy)
        if not self.copies[copy.task] and not self.is_done[copy.task]:
            insort(self.waiting, copy.task)

    def fetch(self, task: int, machine: int, origin: int) -> int:
        """Return the UP ticks that a machine spends to fetch a state of a task from another machine."""
        is_free = self.problem.store is Store.PRIVATE or self.checkpoints.own(task, machine) >= origin
        return 0 if is_free else self.problem.move

    def finish(self, task: int) -> None:
        """Mark a task as done; its copies remain."""
        self.is_done[task] = True
        del self.unfinished[bisect_left(self.unfinished, task)]


class Visible:
    """What a policy sees when it chooses a task for a machine; valid at that instant only.

    Attributes
    ----------
    problem
        The problem to schedule.
    machine
        The machine; it is UP and has no copy.
    instant
        The instant, in ticks.
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
            With private stores: the master then knows only that the present machine is UP.
        """
        if self.problem.store is Store.PRIVATE:
            raise InputError("states are not known with private stores", place="visible")
        return self._ledger.history.states

    @property
    def up(self) -> Sequence[int]:
        """The machines that are UP now, increasing; like `states` with shared stores only."""
        return tuple(np.flatnonzero(self.states[:, -1] == UP).tolist())

    @property
    def unfinished(self) -> Sequence[int]:
        """The tasks not done, increasing."""
        return tuple(self._ledger.unfinished)

    @property
    def waiting(self) -> Sequence[int]:
        """The unfinished tasks without a copy, increasing."""
        return tuple(self._ledger.waiting)

    @property
    def first_waiting(self) -> int | None:
        """The first of `waiting`, None if there is none."""
        return self._ledger.waiting[0] if self._ledger.waiting else None

    @property
    def first_unstarted(self) -> int | None:
        """The first task that has never had a copy, None if there is none."""
        return next((task for task in self._ledger.waiting if not self._ledger.is_started[task]), None)

    def is_done(self, task: int) -> bool:
        """Return whether a task is completed."""
        return self._ledger.is_done[task]

    def copies(self, task: int) -> Sequence[Copy]:
        """Return the copies of a task, oldest first, including those on DOWN machines whose absence is unnoticed."""
        return tuple(self._ledger.copies[task])

    def is_endangered(self, task: int) -> bool:
        """Return whether a failure of a machine with a copy is predicted (docs/bags/model.md section 2, B3)."""
        return task in self._ledger.endangered

    def saved(self, task: int, machine: int | None = None) -> int:
        """Return the state (in parts) from which a machine would start a task; None: the present machine."""
        return self._ledger.checkpoints.saved(task, self.machine if machine is None else machine)

    def fetch(self, task: int, machine: int | None = None) -> int:
        """Return the UP ticks that a machine would need to fetch its first state; None: the present machine."""
        q = self.machine if machine is None else machine
        return self._ledger.fetch(task, q, self.saved(task, q))

    def ticks_left(self, task: int, machine: int | None = None) -> int:
        """Return the UP ticks that a machine would need for the rest of a task; None: the present machine."""
        q = self.machine if machine is None else machine
        return self.fetch(task, q) + ticks_left(self.saved(task, q), self.problem.ticks[q], self.problem.segments)


@runtime_checkable
class Policy(Protocol):
    """An on-line scheduler: a name, and a choice for each idle machine.

    A policy with memory resets it at instant 0. It may also satisfy `Timed` and `Migrating`, and have an attribute
    ``predictor`` (see `hindsched.online.bags.predictors`), whose predictions trigger checkpoints. With a true attribute
    ``ignores_checkpoints`` all its copies start from nothing.

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
        """Its name in reports."""
        ...

    def choose(self, machine: int, instant: int, visible: Visible) -> int | None:
        """Return the unfinished task of which the machine gets a copy; None: no task."""
        ...


@runtime_checkable
class Timed(Protocol):
    """A policy whose copies have deadlines."""

    def deadline(self, copy: Copy, problem: Problem) -> int | None:
        """Return the instant from which on the new copy is removed when a slot begins; None: never."""
        ...


@runtime_checkable
class Migrating(Protocol):
    """A policy that withdraws a copy at every end of a segment and chooses again; only with shared stores."""

    @property
    def is_migrating(self) -> bool:
        """Whether it migrates copies."""
        ...
