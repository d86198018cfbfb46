"""What an on-line scheduler sees: the problem, the past and the present.

The objects that a policy receives do not hold the future. `Problem` is the instance without its states, and
`hindsched.online.history.History` holds copies of the states seen so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Protocol, runtime_checkable

from hindsched.instances.chains import Chain
from hindsched.instances.coupled.model import Instance
from hindsched.instances.state_sources import KnownStates
from hindsched.instances.states import UP, States
from hindsched.online.history import History

__all__ = ["Decision", "Policy", "Problem", "Visible"]


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
        Number of workers to which the master can send in one slot; None: unbounded.
    t_prog, t_data
        Slots to receive the program, and the data of one task.
    w
        UP slots that each worker needs to compute one task.
    capacities
        Number of tasks that each worker can hold: mu, or m where mu is unbounded or larger.
    chains
        Each worker's Markov chain, or None.
    past
        States before slot 0 (`hindsched.instances.coupled.Instance`), or None.
    """

    tasks: int
    iterations: int
    n_com: int | None
    t_prog: int
    t_data: int
    w: tuple[int, ...]
    capacities: tuple[int, ...]
    chains: tuple[Chain | None, ...] = field(repr=False)
    past: KnownStates | None = field(default=None, repr=False)

    @classmethod
    def of(cls, instance: Instance) -> Problem:
        """Return what a scheduler may know of an instance before it starts."""
        return cls(**{each.name: getattr(instance, each.name) for each in fields(cls)})

    @property
    def num_workers(self) -> int:
        """The number of workers, p."""
        return len(self.w)


@dataclass(frozen=True, slots=True)
class Visible:
    """What a policy sees in one slot, after the failures of that slot (R1) and before its own choice (R2).

    Parameters
    ----------
    problem
        The problem to schedule.
    slot
        This slot, from 0.
    iteration
        Number of completed iterations, which is the index of the present one.
    iteration_start
        The first slot of the present iteration.
    now
        p states of this slot (see `hindsched.instances.states`: `UP`, `RECLAIMED`, `DOWN`).
    tasks
        The present configuration: tasks x_q of each enrolled worker, 0 on stand-by. It does not contain workers that
        are DOWN in this slot.
    program
        p numbers of slots of the program received; ``problem.t_prog`` means complete.
    data
        p numbers of slots of task data received in this iteration.
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
        """Return n_q, the slots that a worker still has to receive if it holds this many tasks from now on.

        Program and data that it has received count. A worker that is not enrolled has no data, and the complete
        program or no part of it.
        """
        data = max(0, tasks * self.problem.t_data - self.data[worker])
        return self.problem.t_prog - self.program[worker] + data


@dataclass(frozen=True, slots=True)
class Decision:
    """A choice that also names the workers to serve first (R3 leaves this open if there are too few channels).

    Parameters
    ----------
    tasks
        The configuration to hold from this slot on, or None to keep the present one, as `Policy.choose` returns it.
    serve
        Workers in the order in which the master serves them in this slot. Workers that are not enrolled, not UP or
        need nothing are skipped. Workers that are not named come last, in the order of the run's service.
    """

    tasks: Mapping[int, int] | None
    serve: Sequence[int] = ()


@runtime_checkable
class Policy(Protocol):
    """An on-line scheduler: a name, and a choice in every slot (docs/model.md section 6).

    Examples
    --------
    Where one worker can hold all tasks, this policy works: stay with the first worker that is UP.

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
        """Its name in reports."""
        ...

    def choose(self, visible: Visible) -> Mapping[int, int] | Decision | None:
        """Return the configuration to hold from this slot on, or None to keep the present one.

        The simulator calls it once in every slot, from slot 0 on. A policy with memory resets it in slot 0, so that it
        can be used for several runs. It draws random numbers from a generator that its constructor seeds.

        Parameters
        ----------
        visible
            What is known in this slot; a new object each time.

        Returns
        -------
        Tasks of each enrolled worker, 0 for stand-by; ``{}`` enrols no worker. A worker that was not enrolled must be
        UP. Changing any number of tasks loses the computation of the iteration; a worker that is left out loses its
        data and an incomplete program (R2). A `Decision` adds the workers to serve first.
        """
        ...
