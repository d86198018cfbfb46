"""The slot-by-slot simulator: rules R1 to R5 of docs/model.md section 2, with a policy that makes the choices.

It is written to be read; `hindsched.online.coupled.kernels` has its compiled twin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import index
from types import MappingProxyType

from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.schedule import (
    COMPUTE,
    DATA,
    ENROLLED_IDLE,
    NOT_ENROLLED,
    PROGRAM,
    Configuration,
    Schedule,
)
from hindsched.instances.errors import InputError
from hindsched.instances.notebook import NotebookTable
from hindsched.instances.states import DOWN, LETTERS, UP
from hindsched.online.coupled.options import Service
from hindsched.online.coupled.visible import Decision, Policy, Problem, Visible
from hindsched.online.history import History
from hindsched.online.options import member
from hindsched.online.user_code import call_user_code

__all__ = ["SERVICES", "Execution", "Run", "limit_of", "simulate"]

#: The names of `Service`; the first is the default.
SERVICES = tuple(Service)

#: Number of slots that are drawn at first.
_BLOCK = 512


@dataclass(frozen=True, slots=True)
class Run(NotebookTable):
    """The result of a run.

    Parameters
    ----------
    policy
        The policy's name.
    makespan
        Slots until all iterations were complete; None if they were not, or with the objective ``iterations``.
    iterations
        Number of completed iterations.
    schedule
        Activities slot by slot; `hindsched.instances.check` can replay them.
    slots
        Number of simulated slots: the makespan, or the limit.
    """

    policy: str
    makespan: int | None
    iterations: int
    schedule: Schedule
    slots: int


def simulate(instance: Instance, policy: Policy, *, service: str = SERVICES[0], slots: int | None = None) -> Run:
    """Run a policy on an instance; the policy sees the past only.

    Parameters
    ----------
    instance
        The instance; its states are revealed slot by slot.
    policy
        The policy that chooses (see `Policy`).
    service
        One of `Service`, or its name.
    slots
        Number of slots to simulate, at most the slots of the instance; None: all of them.

    Raises
    ------
    InputError
        For an unknown service, too many slots, or, naming policy and slot, a choice that breaks R2 or raises.

    Notes
    -----
    A slot costs O(p) and the policy's own time.

    Examples
    --------
    >>> from hindsched.online.coupled.policies import make_policy
    >>> pair = Instance.from_letters(["uuuu", "uruu"], w=[1, 1], tasks=2)
    >>> run = simulate(pair, make_policy("RANDOM", seed=1))
    >>> run.makespan, run.schedule.letters
    (3, ('...', 'CIC'))
    """
    order = member(Service, service, place="service")
    limit = limit_of(instance, slots)
    if not isinstance(policy, Policy):
        raise InputError(f"{policy!r}, expected an object with a name and a method choose(visible)", place="policy")
    execution = Execution(instance, order)
    for slot in range(limit):
        choice = call_user_code(policy.choose, execution.fail(slot), place=f"policy {policy.name}, slot {slot}")
        first: Sequence[int] = ()
        if isinstance(choice, Decision):
            first, choice = _legal_order(choice.serve, instance.num_workers, policy, slot), choice.tasks
        if choice is not None:
            try:
                execution.enrol(choice)
            except InputError as error:
                raise InputError(error.expected, place=f"policy {policy.name}, slot {slot}, rule R2") from None
        execution.work(first)
        if execution.iteration == instance.iterations:
            break
    return Run(
        policy=policy.name,
        makespan=execution.slot + 1 if execution.iteration == instance.iterations else None,
        iterations=execution.iteration,
        schedule=execution.schedule(),
        slots=execution.slot + 1,
    )


def limit_of(instance: Instance, slots: int | None) -> int:
    """Return the number of slots to simulate; an `InputError` if the instance has fewer."""
    limit = instance.slots if slots is None else slots
    if not 0 < limit <= instance.slots:
        raise InputError(f"{limit}, expected 1 to {instance.slots}, the slots of the instance", place="slots")
    return limit


class Execution:
    """The state of platform and application in a slot.

    In every slot the caller calls `fail`, then `enrol` if the choice changes, then `work`.
    """

    def __init__(self, instance: Instance, service: Service) -> None:
        p = instance.num_workers
        self.instance = instance
        self.problem = Problem.of(instance)
        self.shown = Problem.of(instance)  # a copy for the policy: writing to it changes no rule
        self.channels = instance.channels
        self.service = service
        self.slot = -1
        self.iteration = 0
        self.iteration_start = 0
        self.now: list[int] = []
        self.tasks: dict[int, int] = {}
        self.program = [0] * p
        self.data = [0] * p
        self.computed = 0
        self.history = History(p)
        self.ahead = instance.prefix(0)
        self.letters = [bytearray() for _ in range(p)]
        self.entries: list[Configuration] = []

    def fail(self, slot: int) -> Visible:
        """Apply R1 and return what the policy sees."""
        self.slot = slot
        if slot >= self.ahead.shape[1]:  # states are drawn during the run, not to the last slot of the instance
            self.ahead = self.instance.prefix(2 * slot + _BLOCK)
        states = self.ahead[:, slot]
        self.history.append(states)
        self.now = states.tolist()
        if DOWN in self.now:
            for q, state in enumerate(self.now):
                if state == DOWN:
                    self.program[q] = self.data[q] = 0
                    if self.tasks.pop(q, 0) > 0:
                        self.computed = 0
        return Visible(
            problem=self.shown,
            slot=slot,
            iteration=self.iteration,
            iteration_start=self.iteration_start,
            now=tuple(self.now),
            tasks=MappingProxyType(self.tasks.copy()),
            program=tuple(self.program),
            data=tuple(self.data),
            computed=self.computed,
            history=self.history,
        )

    def enrol(self, choice: Mapping[int, int]) -> None:
        """Apply R2: hold a new configuration; an `InputError` says how it breaks the rule."""
        tasks = self._legal(choice)
        if tasks == self.tasks:
            return
        if _computing(tasks) != _computing(self.tasks):
            self.computed = 0
        for q in self.tasks.keys() - tasks.keys():
            self._leave(q)
        self.tasks = tasks
        self.entries.append(Configuration(self.slot, tasks))

    def work(self, first: Sequence[int] = ()) -> None:
        """Apply R3 or R4, and R5; the master serves the workers ``first`` before all others."""
        for row in self.letters:
            row.append(ord(NOT_ENROLLED))
        for q in self.tasks:
            self._write(q, ENROLLED_IDLE)
        needs = {q: self._needs(q) for q in self.tasks}
        is_complete = sum(self.tasks.values()) == self.problem.tasks
        if not is_complete or any(needs[q] for q, x in self.tasks.items() if x):
            self._communicate(needs, first)
            return
        computing = _computing(self.tasks)
        if all(self.now[q] == UP for q in computing):
            for q in computing:
                self._write(q, COMPUTE)
            self.computed += 1
        if self.computed == max(x * self.problem.w[q] for q, x in computing.items()):
            self._finish()

    def schedule(self) -> Schedule:
        """Return the schedule of the slots so far."""
        letters = tuple(row.decode() for row in self.letters)
        return Schedule(self.instance.fingerprint, letters, tuple(self.entries))

    def _legal(self, choice: Mapping[int, int]) -> dict[int, int]:
        problem = self.problem
        if not isinstance(choice, Mapping):
            raise InputError(f"{choice!r}, expected a mapping of worker to tasks, or None to keep the present one")
        tasks: dict[int, int] = {}
        for worker, count in choice.items():
            try:
                q, x = index(worker), index(count)
            except TypeError:
                raise InputError(f"{worker!r}: {count!r}, expected integers, worker: tasks") from None
            if not 0 <= q < problem.num_workers:
                raise InputError(f"worker {q}, expected 0 to {problem.num_workers - 1}")
            if not 0 <= x <= problem.capacities[q]:
                raise InputError(f"{x} tasks on worker {q}, expected 0 to {problem.capacities[q]}")
            if q not in self.tasks and self.now[q] != UP:
                raise InputError(f"worker {q} enrols in state {LETTERS[self.now[q]]}, expected u (UP)")
            tasks[q] = x
        if sum(tasks.values()) > problem.tasks:
            raise InputError(f"{sum(tasks.values())} tasks in all, expected at most {problem.tasks}")
        return dict(sorted(tasks.items()))

    def _needs(self, q: int) -> int:
        data = max(0, self.tasks[q] * self.problem.t_data - self.data[q])
        return self.problem.t_prog - self.program[q] + data

    def _communicate(self, needs: dict[int, int], first: Sequence[int]) -> None:
        waiting = [q for q in sorted(needs) if needs[q] and self.now[q] == UP]
        if self.service is Service.LONGEST:
            waiting.sort(key=lambda q: -needs[q])  # stable: ties stay in worker order
        elif self.service is Service.BEGUN:
            waiting.sort(key=lambda q: not self._has_begun(q))
        if first:
            places = {q: place for place, q in enumerate(first)}
            waiting.sort(key=lambda q: places.get(q, len(places)))
        for q in waiting[: self.channels]:
            if self.program[q] < self.problem.t_prog:
                self.program[q] += 1
                self._write(q, PROGRAM)
            else:
                self.data[q] += 1
                self._write(q, DATA)

    def _has_begun(self, q: int) -> bool:
        """Return whether the worker's current transfer, of the program or of data, has begun."""
        return (self.program[q] if self.program[q] < self.problem.t_prog else self.data[q]) > 0

    def _finish(self) -> None:
        for q in self.tasks:
            self._leave(q)
        self.tasks = {}
        self.computed = 0
        self.iteration += 1
        self.iteration_start = self.slot + 1

    def _leave(self, q: int) -> None:
        self.data[q] = 0
        if self.program[q] < self.problem.t_prog:
            self.program[q] = 0

    def _write(self, q: int, letter: str) -> None:
        self.letters[q][-1] = ord(letter)


def _legal_order(serve: Sequence[int], num_workers: int, policy: Policy, slot: int) -> list[int]:
    """Return the workers that a policy wants served first; an `InputError` unless these are distinct workers."""
    place = f"policy {policy.name}, slot {slot}, rule R3"
    try:
        order = [index(worker) for worker in serve]
    except TypeError:
        raise InputError(f"{serve!r}, expected a sequence of workers to be served first", place=place) from None
    for q in order:
        if not 0 <= q < num_workers:
            raise InputError(f"worker {q}, expected 0 to {num_workers - 1}", place=place)
    if len(set(order)) < len(order):
        raise InputError(f"{order}, expected every worker once", place=place)
    return order


def _computing(tasks: Mapping[int, int]) -> dict[int, int]:
    return {q: x for q, x in tasks.items() if x}
