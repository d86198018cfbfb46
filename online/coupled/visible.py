"""What an on-line scheduler sees: the problem, the past and the present, and nothing else.

A policy is handed objects that do not hold the future: `Problem` is built from the instance without its states, and
the states seen so far lie in an array of their own into which a slot is copied when its time has come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from hindsched.instances.chains import Chain
from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import UP, States

__all__ = ["Decision", "History", "Policy", "Problem", "Visible"]


@dataclass(frozen=True, slots=True)
class Problem:
    """The instance without its states (docs/model.md section 1).

    Parameters
    ----------
    tasks
        m, tasks per iteration.
    iterations
        K, iterations to complete.
    n_com
        Most workers the master can send to in one slot; None: unbounded.
    t_prog, t_data
        Slots to receive the program, and the data of one task.
    w
        Slots each worker needs to compute one task while UP.
    capacities
        Most tasks each worker can hold: mu, and m where mu is unbounded or larger.
    chains
        Each worker's Markov chain, or None.
    """

    tasks: int
    iterations: int
    n_com: int | None
    t_prog: int
    t_data: int
    w: tuple[int, ...]
    capacities: tuple[int, ...]
    chains: tuple[Chain | None, ...] = field(repr=False)

    @classmethod
    def of(cls, instance: Instance) -> Problem:
        """Return what a scheduler may know of an instance before it starts."""
        return cls(
            tasks=instance.tasks,
            iterations=instance.iterations,
            n_com=instance.n_com,
            t_prog=instance.t_prog,
            t_data=instance.t_data,
            w=instance.w,
            capacities=instance.capacities,
            chains=instance.chains,
        )

    @property
    def num_workers(self) -> int:
        """How many workers, p."""
        return len(self.w)


class History:
    """The states seen so far, in an array that grows; slots yet to come hold no state in it."""

    _UNSEEN = 255

    def __init__(self, num_workers: int) -> None:
        self._seen = np.full((64, num_workers), self._UNSEEN, dtype=np.uint8)
        self._slots = 0

    def append(self, now: States) -> None:
        """Copy the states of the next slot, shape (p,)."""
        if self._slots == len(self._seen):
            self._seen = np.concatenate((self._seen, np.full_like(self._seen, self._UNSEEN)))
        self._seen[self._slots] = now
        self._slots += 1

    def view(self, slots: int) -> States:
        """Return the first ``slots`` states seen, shape (p, slots), read-only."""
        seen = self._seen[: min(slots, self._slots)].T
        seen.setflags(write=False)
        return seen


@dataclass(frozen=True, slots=True)
class Visible:
    """What a policy sees in one slot, after the failures of that slot (R1) and before its own choice (R2).

    Parameters
    ----------
    problem
        What is to be scheduled.
    slot
        This slot, from 0.
    iteration
        Iterations completed so far, which is the number of the present one.
    iteration_start
        The first slot of the present iteration: the one after the last iteration's end.
    now
        p states of this slot (see `hindsched.instances.states`: `UP`, `RECLAIMED`, `DOWN`).
    tasks
        The configuration as it stands: tasks x_q of each enrolled worker, 0 on stand-by. A worker that
        is DOWN in this slot is no longer in it.
    program
        p counts of slots of the program received; ``problem.t_prog`` means complete.
    data
        p counts of slots of task data received in this iteration.
    computed
        Slots of computation done in this iteration, out of max x_q w_q.
    history
        The states so far; use `states`.
    """

    problem: Problem
    slot: int
    iteration: int
    iteration_start: int
    now: tuple[int, ...]
    tasks: Mapping[int, int]
    program: tuple[int, ...]
    data: tuple[int, ...]
    computed: int
    history: History = field(repr=False)

    @property
    def states(self) -> States:
        """The states of slots 0 to ``slot``, shape (p, slot + 1), read-only."""
        return self.history.view(self.slot + 1)

    @property
    def up(self) -> list[int]:
        """The workers that are UP in this slot, in increasing order."""
        return [q for q, state in enumerate(self.now) if state == UP]

    @property
    def is_complete(self) -> bool:
        """Whether the configuration holds all m tasks."""
        return sum(self.tasks.values()) == self.problem.tasks

    def needs(self, worker: int, tasks: int) -> int:
        """Return n_q: the slots a worker has still to receive if it held this many tasks from now on.

        What it has counts. (A worker that is not enrolled has no data, and the whole program or nothing of it.)
        """
        data = max(0, tasks * self.problem.t_data - self.data[worker])
        return self.problem.t_prog - self.program[worker] + data


@dataclass(frozen=True, slots=True)
class Decision:
    """A choice that also says whom the master serves first (R3 leaves it free where channels are short).

    Parameters
    ----------
    tasks
        The configuration to hold from this slot on, or None to keep the present one, as `Policy.choose` returns it.
    serve
        Workers in the order in which the master is to serve them in this slot. Those that are not enrolled, not UP or
        lack nothing are passed over; whoever is not named comes after all that are, in the order of the run's service.
    """

    tasks: Mapping[int, int] | None
    serve: Sequence[int] = ()


@runtime_checkable
class Policy(Protocol):
    """An on-line scheduler: a name, and a choice in every slot (docs/model.md section 6).

    Examples
    --------
    The simplest that works wherever one worker can hold all tasks: stay with the first worker that is UP.

    >>> class First:
    ...     name = "first"
    ...
    ...     def choose(self, visible):
    ...         if visible.is_complete:
    ...             return None
    ...         return {visible.up[0]: visible.problem.tasks} if visible.up else {}
    >>> from hindsched.instances.coupled import Instance
    >>> from hindsched.online.coupled.simulate import simulate
    >>> simulate(Instance.from_letters(["dru", "ruu"], w=[1, 1], tasks=1), First()).makespan
    2
    """

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def choose(self, visible: Visible) -> Mapping[int, int] | Decision | None:
        """Return the configuration to hold from this slot on, or None to keep the present one.

        Called once in every slot, from slot 0 on. A policy with a memory starts afresh in slot 0, so that it may be
        used for several runs; it draws random numbers from a generator seeded by its constructor.

        Parameters
        ----------
        visible
            What is known in this slot; a new object each time.

        Returns
        -------
        Tasks of each worker to be enrolled, 0 for stand-by; ``{}`` for nobody. A worker that was not enrolled must
        be UP. Changing any number of tasks loses the computation of the iteration; a worker that is left out loses
        its data and any part of a program (R2). A `Decision` says the same, and whom the master serves first.
        """
        ...
