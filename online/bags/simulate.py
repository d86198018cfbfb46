"""The plain simulator: rules B1 to B6 of docs/bags/model.md section 2, with a policy that answers who asks.

It is written to be read; `hindsched.online.bags.kernels` has the fast one.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from operator import index
from typing import TypeVar

import numpy as np

from hindsched.instances.bags.model import Instance
from hindsched.instances.bags.schedule import Run, Save, Schedule
from hindsched.instances.errors import HindschedError, InputError
from hindsched.instances.notebook import NotebookTable
from hindsched.instances.states import DOWN, UP
from hindsched.online.bags.checkpoints import advanced, in_segments, segments_saved, ticks_left, ticks_of_first
from hindsched.online.bags.options import Handover
from hindsched.online.bags.predictors import Clairvoyant, Hour, Predictor, Seen
from hindsched.online.bags.visible import Copy, Ledger, Migrating, Policy, Problem, Timed, Visible
from hindsched.online.options import member

__all__ = ["PolicyRun", "expect_shared", "predictor_of", "simulate"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PolicyRun(NotebookTable):
    """What a policy made of an instance.

    Parameters
    ----------
    policy
        The policy's name.
    turnaround
        The instant of the last completion, in ticks; None if the slots ran out.
    completed
        How many tasks were completed.
    schedule
        What was done, for `hindsched.instances.bags.check` to replay; None where it was not asked for.
    """

    policy: str
    turnaround: int | None
    completed: int
    schedule: Schedule | None


def simulate(instance: Instance, policy: Policy, *, handover: str = Handover.IMMEDIATE) -> PolicyRun:
    """Run a policy on an instance, showing it only the past.

    Parameters
    ----------
    instance
        Its states are revealed slot by slot.
    policy
        Who chooses (see `Policy`).
    handover
        One of `Handover`, or its name.

    Raises
    ------
    InputError
        For an unknown option, a policy that predicts where nothing is saved on demand or moves copies where stores are
        private, and a choice that is none or raises, naming the policy and the instant.

    Notes
    -----
    O(p) for each slot and each completion, and what the policy takes.

    Examples
    --------
    >>> from hindsched.online.bags.policies import make_policy
    >>> pair = Instance.from_letters(["uuud", "uduu"], ticks=[3, 2], slot=4, tasks=2, segments=2)
    >>> run = simulate(pair, make_policy("FCFS"))
    >>> run.turnaround, [(r.machine, r.task, r.start, r.end) for r in run.schedule.runs]
    (6, [(0, 0, 0, 6), (1, 1, 0, 4)])
    """
    when = member(Handover, handover, place="handover")
    if not isinstance(policy, Policy):
        raise InputError(
            f"{policy!r}, expected an object with a name and a method choose(machine, instant, visible)", place="policy"
        )
    expect_shared(instance, policy)
    execution = _Execution(instance, policy, when)
    for slot in range(instance.slots):
        execution.begin(slot)
        execution.fail()
        execution.time_out()
        execution.predict(slot)
        execution.ask()
        execution.work()
        if not execution.ledger.unfinished:
            break
    return execution.result()


def expect_shared(instance: Instance, policy: Policy) -> None:
    """Raise an `InputError` where a policy that moves copies has private stores."""
    if isinstance(policy, Migrating) and policy.is_migrating and not instance.is_shared:
        raise InputError(f"private, expected shared for {policy.name}: it moves copies", place="store")


def predictor_of(instance: Instance, policy: Policy) -> Predictor | None:
    """Return the policy's predictor, told what it may know; None if the policy has none.

    Raises
    ------
    InputError
        For a policy that predicts where nothing can be saved on demand, and a predictor trained on the very states.
    """
    predictor = getattr(policy, "predictor", None)
    if predictor is None:
        return None
    if not instance.on_demand:
        raise InputError(f"false, expected true for {policy.name}: it saves on demand", place="on_demand")
    if not isinstance(predictor, Predictor):
        raise InputError(f"{predictor!r}, expected an object with a name and a method predict", place="predictor")
    if isinstance(predictor, Hour):
        predictor.expect_others(instance)
    return predictor.knowing(instance.states) if isinstance(predictor, Clairvoyant) else predictor


class _Work:
    """A copy at work: how far it is, and since when the run lasts of which the schedule will tell.

    ``done`` counts UP ticks since it last started from a saved state, which is ``origin``; ``run_start`` is None
    while a failure has interrupted it.
    """

    def __init__(self, copy: Copy, deadline: float, instant: int) -> None:
        self.copy = copy
        self.deadline = deadline
        self.origin = copy.origin
        self.done = 0
        self.left = copy.base
        self.run_start: int | None = instant


class _Execution:
    """Machines, copies and stores as they stand at an instant."""

    def __init__(self, instance: Instance, policy: Policy, handover: Handover) -> None:
        self.instance = instance
        self.policy = policy
        self.is_immediate = handover is Handover.IMMEDIATE
        self.is_migrating = isinstance(policy, Migrating) and policy.is_migrating
        self.predictor = predictor_of(instance, policy)
        self.ledger = Ledger(Problem.of(instance))
        self.is_up = [False] * instance.num_machines
        self.up_since = [0] * instance.num_machines
        self.freed_at = [0] * instance.num_machines
        self.works: dict[int, _Work] = {}  # by machine
        self.instant = 0
        self.runs: list[Run] = []
        self.saves: list[Save] = []

    def begin(self, slot: int) -> None:
        """Enter a slot: see its states."""
        self.instant = slot * self.instance.slot
        self.now = self.instance.states[:, slot].tolist()
        self.ledger.history.append(self.instance.states[:, slot])
        self.ledger.endangered.clear()
        for q, state in enumerate(self.now):
            if state == UP and not self.is_up[q]:
                self.up_since[q] = self.instant
            self.is_up[q] = state == UP

    def fail(self) -> None:
        """B1: copies on machines that are DOWN are removed, or fall back to the disk's state."""
        for q in sorted(self.works):
            if self.now[q] != DOWN:
                continue
            if self.instance.is_shared:
                self.remove(q)
                continue
            work = self.works[q]
            self.close_run(work)
            work.origin = self.ledger.saved(work.copy.task, q)
            work.done = 0
            work.left = ticks_left(work.origin, self.instance.ticks[q], self.instance.segments)

    def time_out(self) -> None:
        """B2: copies that are late are removed, whatever their machine's state."""
        for q in sorted(self.works):
            if self.works[q].deadline <= self.instant:
                self.remove(q)

    def predict(self, slot: int) -> None:
        """B3: where a failure is predicted the copy's state is saved, and its task is endangered."""
        if self.predictor is None:
            return
        seen = Seen(self.ledger.problem, self.ledger.history.states)
        for q in sorted(self.works):
            if self.is_up[q] and self._warned(self.predictor, q, slot, seen):
                work = self.works[q]
                state = advanced(work.origin, self.instance.ticks[q], work.done)
                if self.ledger.save(work.copy.task, q, state):
                    self.saves.append(Save(q, self.instant))
                self.ledger.endangered.add(work.copy.task)

    def ask(self) -> None:
        """B4: machines that are UP without a copy ask, those that have been idle longest first."""
        idle = [q for q in range(len(self.now)) if self.is_up[q] and q not in self.works]
        for q in sorted(idle, key=lambda q: (max(self.up_since[q], self.freed_at[q]), q)):
            self.serve(q)

    def work(self) -> None:
        """B5 and B6: copies advance to the end of the slot, from one completion to the next."""
        for q, work in self.works.items():
            if self.is_up[q] and work.run_start is None:
                work.run_start = self.instant
        end = self.instant + self.instance.slot
        while True:
            self.advance(min(end, self.next_completion()))
            freed = self.complete()
            if not self.ledger.unfinished or self.instant == end:
                return
            if self.is_immediate:
                for q in freed:
                    if self.is_up[q]:
                        self.serve(q)

    def serve(self, q: int) -> None:
        """Ask the policy what a machine shall do, and assign it."""
        task = self._asked(self.policy.choose, q, self.instant, Visible(self.ledger, q, self.instant))
        if task is not None:
            self.assign(q, self._legal(task))

    def assign(self, q: int, task: int) -> None:
        origin = self.ledger.saved(task, q)
        base = ticks_left(origin, self.instance.ticks[q], self.instance.segments)
        copy = Copy(q, task, self.instant, origin, base)
        self.ledger.assign(copy)
        deadline: float | None = None
        if isinstance(self.policy, Timed):
            deadline = self._asked(self.policy.deadline, copy, self.ledger.problem)
        self.works[q] = _Work(copy, inf if deadline is None else deadline, self.instant)

    def remove(self, q: int) -> None:
        """Take a machine's copy away; what it has not saved is lost."""
        work = self.works.pop(q)
        self.close_run(work)
        self.ledger.remove(work.copy)
        self.freed_at[q] = self.instant

    def close_run(self, work: _Work) -> None:
        if work.run_start is not None:
            origin = in_segments(work.origin)
            self.runs.append(Run(work.copy.machine, work.copy.task, work.run_start, self.instant, origin))
            work.run_start = None

    def next_completion(self) -> float:
        """Return the next instant at which a copy may be taken off: it has reached k (or migrates)."""
        return min((self.instant + self.ticks_to_go(q) for q in self.works if self.is_up[q]), default=inf)

    def ticks_to_go(self, q: int) -> int:
        work, ticks = self.works[q], self.instance.ticks[q]
        if not self.is_migrating:
            return work.left
        first = ticks_of_first(work.origin, ticks)
        return first - work.done if work.done < first else ticks - (work.done - first) % ticks

    def advance(self, instant: float) -> None:
        """B5: every copy on an UP machine advances; ends of segments are saved."""
        ticks = int(instant) - self.instant
        self.instant += ticks
        for q, work in self.works.items():
            if self.is_up[q]:
                work.done += ticks
                work.left -= ticks
                state = segments_saved(work.origin, self.instance.ticks[q], work.done)
                self.ledger.save(work.copy.task, q, state)

    def complete(self) -> list[int]:
        """B6: copies that have reached k complete their tasks, and free all machines that hold a copy of them."""
        freed: list[int] = []
        for q in sorted(self.works):
            if q not in self.works:  # freed by a twin just now
                continue
            work = self.works[q]
            if work.left == 0:
                task = work.copy.task
                self.ledger.finish(task)
                for copy in tuple(self.ledger.copies[task]):
                    self.remove(copy.machine)
                    freed.append(copy.machine)
            elif self.is_migrating and self.is_up[q] and work.done and self._ends_segment(q):
                self.remove(q)
                freed.append(q)
        return sorted(freed)

    def _ends_segment(self, q: int) -> bool:
        work, ticks = self.works[q], self.instance.ticks[q]
        return advanced(work.origin, ticks, work.done) == segments_saved(work.origin, ticks, work.done)

    def result(self) -> PolicyRun:
        """Return what has been done."""
        for work in self.works.values():
            self.close_run(work)
        finished = not self.ledger.unfinished
        runs = sorted(self.runs, key=lambda run: (run.start, run.machine))
        saves = sorted(self.saves, key=lambda save: (save.instant, save.machine))
        turnaround = self.instant if finished else None
        schedule = Schedule(self.instance.fingerprint, tuple(runs), tuple(saves), turnaround)
        return PolicyRun(self.policy.name, turnaround, sum(self.ledger.is_done), schedule)

    def _legal(self, choice: object) -> int:
        try:
            task = index(choice)  # type: ignore[arg-type]
        except TypeError:
            raise self._bad(f"{choice!r}, expected a task or None") from None
        if not 0 <= task < self.instance.tasks:
            raise self._bad(f"task {task}, expected 0 to {self.instance.tasks - 1}")
        if self.ledger.is_done[task]:
            raise self._bad(f"task {task} is done, expected one that is not")
        return task

    def _warned(self, predictor: Predictor, q: int, slot: int, seen: Seen) -> bool:
        answer = self._asked(predictor.predict, q, slot, seen)
        if not isinstance(answer, bool | np.bool_):
            raise InputError(f"{answer!r}, expected True or False", place=f"predictor {predictor.name}, slot {slot}")
        return bool(answer)

    def _asked(self, question: Callable[..., T], *arguments: object) -> T:
        """Return the answer of somebody's code, or say where it raised."""
        try:
            return question(*arguments)
        except HindschedError:
            raise
        except (Exception, SystemExit) as error:  # whatever it raises
            at = traceback.extract_tb(error.__traceback__)[-1]
            what = f"{question.__name__} raised {type(error).__name__}: {error} ({at.filename}, line {at.lineno})"
            raise self._bad(" ".join(what.split())) from error

    def _bad(self, problem: str) -> InputError:
        return InputError(problem, place=f"policy {self.policy.name}, instant {self.instant}")
