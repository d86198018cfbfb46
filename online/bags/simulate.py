"""The plain simulator: rules B1 to B6 of docs/bags/model.md section 2, with a policy that assigns tasks to machines.

It is written to be read; `hindsched.online.bags.kernels` has its compiled twin.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from operator import index

import numpy as np

from hindsched.instances.bags.model import Instance
from hindsched.instances.bags.schedule import Run, Save, Schedule
from hindsched.instances.errors import InputError
from hindsched.instances.notebook import NotebookTable
from hindsched.instances.states import DOWN, UP
from hindsched.online.bags.checkpoints import advanced, in_segments, segments_saved, ticks_left, ticks_of_first
from hindsched.online.bags.options import Absence, Handover
from hindsched.online.bags.predictors import Clairvoyant, Hour, Past, Predictor, Seen
from hindsched.online.bags.visible import Copy, Ledger, Migrating, Policy, Problem, Timed, Visible
from hindsched.online.options import member
from hindsched.online.user_code import call_user_code

__all__ = ["PolicyRun", "expect_shared", "is_noticed", "predictor_of", "simulate"]


@dataclass(frozen=True, slots=True)
class PolicyRun(NotebookTable):
    """The result of a run.

    Parameters
    ----------
    policy
        The policy's name.
    turnaround
        The instant of the last completion, in ticks; None if tasks remain after the last slot.
    completed
        Number of completed tasks.
    schedule
        Runs and saves, which `hindsched.instances.bags.check` can replay; None if it was not recorded.
    """

    policy: str
    turnaround: int | None
    completed: int
    schedule: Schedule | None


def simulate(
    instance: Instance, policy: Policy, *, handover: str = Handover.IMMEDIATE, absence: str = Absence.BY_STORE
) -> PolicyRun:
    """Run a policy on an instance; the policy sees the past only.

    Parameters
    ----------
    instance
        Its states are revealed slot by slot.
    policy
        The policy that chooses (see `Policy`).
    handover, absence
        One of `Handover` and one of `Absence`, or their names.

    Raises
    ------
    InputError
        For an unknown option, a policy that predicts although nothing is saved on demand, a policy that moves copies
        although stores are private, and, naming policy and instant, an illegal choice or an error in the policy.

    Notes
    -----
    Each slot and each completion cost O(p) and the policy's own time.

    Examples
    --------
    >>> from hindsched.online.bags.policies import make_policy
    >>> pair = Instance.from_letters(["uuud", "uduu"], ticks=[3, 2], slot=4, tasks=2, segments=2)
    >>> run = simulate(pair, make_policy("FCFS"))
    >>> run.turnaround, [(r.machine, r.task, r.start, r.end) for r in run.schedule.runs]
    (6, [(0, 0, 0, 6), (1, 1, 0, 4)])
    """
    when = member(Handover, handover, place="handover")
    noticed = is_noticed(instance, member(Absence, absence, place="absence"))
    if not isinstance(policy, Policy):
        raise InputError(
            f"{policy!r}, expected an object with a name and a method choose(machine, instant, visible)", place="policy"
        )
    expect_shared(instance, policy)
    execution = _Execution(instance, policy, when, noticed)
    for slot in range(instance.slots):
        execution.begin(slot)
        execution.fail()
        execution.time_out()
        execution.predict(slot)
        execution.serve_idle()
        execution.work()
        if not execution.ledger.unfinished:
            break
    return execution.result()


def expect_shared(instance: Instance, policy: Policy) -> None:
    """Raise an `InputError` for a policy that moves copies on an instance with private stores."""
    if isinstance(policy, Migrating) and policy.is_migrating and not instance.is_shared:
        raise InputError(f"private, expected shared for {policy.name}: it moves copies", place="store")


def is_noticed(instance: Instance, absence: Absence) -> bool:
    """Return whether the master removes the copy of a machine that is DOWN (rule B1)."""
    return instance.is_shared if absence is Absence.BY_STORE else absence is Absence.NOTICED


def predictor_of(instance: Instance, policy: Policy) -> Predictor | None:
    """Return the policy's predictor, a clairvoyant one with the states of the instance; None if the policy has none.

    Raises
    ------
    InputError
        For a policy that predicts although nothing can be saved on demand, and a predictor trained on the same states
        or on the past of other machines.
    """
    predictor = getattr(policy, "predictor", None)
    if predictor is None:
        return None
    if not instance.on_demand:
        raise InputError(f"false, expected true for {policy.name}: it saves on demand", place="on_demand")
    if not isinstance(predictor, Predictor):
        raise InputError(f"{predictor!r}, expected an object with a name and a method predict", place="predictor")
    if isinstance(predictor, Hour | Past):
        predictor.expect_fit(instance)
    return predictor.knowing(instance.states) if isinstance(predictor, Clairvoyant) else predictor


class _Work:
    """A copy with its progress.

    ``done`` counts UP ticks since its last start from the saved state ``origin``; it is negative while the machine
    fetches this state. ``run_start`` is the start of the present run in the schedule, None while a failure interrupts
    the copy.
    """

    def __init__(self, copy: Copy, deadline: float, instant: int) -> None:
        self.copy = copy
        self.deadline = deadline
        self.origin = copy.origin
        self.done = -copy.fetch
        self.left = copy.base
        self.run_start: int | None = instant


class _Execution:
    """The state of machines, copies and checkpoints at an instant."""

    def __init__(self, instance: Instance, policy: Policy, handover: Handover, is_noticed: bool) -> None:
        self.instance = instance
        self.policy = policy
        self.is_immediate = handover is Handover.IMMEDIATE
        self.is_noticed = is_noticed
        self.is_migrating = isinstance(policy, Migrating) and policy.is_migrating
        self.is_from_nothing = bool(getattr(policy, "ignores_checkpoints", False))
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
        """Enter a slot and read its states."""
        self.instant = slot * self.instance.slot
        self.now = self.instance.states[:, slot].tolist()
        self.ledger.history.append(self.instance.states[:, slot])
        self.ledger.endangered.clear()
        for q, state in enumerate(self.now):
            if state == UP and not self.is_up[q]:
                self.up_since[q] = self.instant
            self.is_up[q] = state == UP

    def fail(self) -> None:
        """B1: remove copies on machines that are DOWN, or reset them to the state in their machine's store."""
        for q in sorted(self.works):
            if self.now[q] != DOWN:
                continue
            if self.is_noticed:
                self.remove(q)
                continue
            work = self.works[q]
            self.close_run(work)
            work.origin = self.origin(work.copy.task, q)
            fetch = self.ledger.fetch(work.copy.task, q, work.origin)
            work.done = -fetch
            work.left = fetch + ticks_left(work.origin, self.instance.ticks[q], self.instance.segments)

    def time_out(self) -> None:
        """B2: remove late copies on machines in any state."""
        for q in sorted(self.works):
            if self.works[q].deadline <= self.instant:
                self.remove(q)

    def predict(self, slot: int) -> None:
        """B3: save the states of copies with a predicted failure, and mark their tasks as endangered."""
        if self.predictor is None:
            return
        seen = Seen(self.ledger.problem, self.ledger.history.states)
        for q in sorted(self.works):
            if self.is_up[q] and self._warned(self.predictor, q, slot, seen):
                work = self.works[q]
                state = advanced(work.origin, self.instance.ticks[q], max(0, work.done))
                if self.ledger.checkpoints.save(work.copy.task, q, state):
                    self.saves.append(Save(q, self.instant))
                self.ledger.endangered.add(work.copy.task)

    def serve_idle(self) -> None:
        """B4: serve the machines that are UP without a copy, longest idle first."""
        idle = [q for q in range(len(self.now)) if self.is_up[q] and q not in self.works]
        for q in sorted(idle, key=lambda q: (max(self.up_since[q], self.freed_at[q]), q)):
            self.serve(q)

    def work(self) -> None:
        """B5 and B6: advance copies to the end of the slot, from one completion to the next."""
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
        """Assign a machine the task that the policy chooses for it."""
        visible = Visible(self.ledger, q, self.instant)
        task = call_user_code(self.policy.choose, q, self.instant, visible, place=self._place())
        if task is not None:
            self.assign(q, self._legal(task))

    def assign(self, q: int, task: int) -> None:
        """Start a copy of a task on a machine."""
        origin = self.origin(task, q)
        fetch = self.ledger.fetch(task, q, origin)
        base = fetch + ticks_left(origin, self.instance.ticks[q], self.instance.segments)
        copy = Copy(q, task, self.instant, origin, base, fetch)
        self.ledger.assign(copy)
        deadline: float | None = None
        if isinstance(self.policy, Timed):
            deadline = call_user_code(self.policy.deadline, copy, self.ledger.problem, place=self._place())
        self.works[q] = _Work(copy, inf if deadline is None else deadline, self.instant)

    def origin(self, task: int, q: int) -> int:
        """Return the state from which a copy starts on a machine."""
        return 0 if self.is_from_nothing else self.ledger.checkpoints.saved(task, q)

    def remove(self, q: int) -> None:
        """Remove a machine's copy; progress that is not saved is lost."""
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
        """Return the next instant at which a copy reaches k (or, if the policy migrates, ends a segment)."""
        return min((self.instant + self.ticks_to_go(q) for q in self.works if self.is_up[q]), default=inf)

    def ticks_to_go(self, q: int) -> int:
        work, ticks = self.works[q], self.instance.ticks[q]
        if not self.is_migrating:
            return work.left
        first = ticks_of_first(work.origin, ticks)
        return first - work.done if work.done < first else ticks - (work.done - first) % ticks

    def advance(self, instant: float) -> None:
        """B5: advance every copy on an UP machine, and save ends of segments."""
        ticks = int(instant) - self.instant
        self.instant += ticks
        for q, work in self.works.items():
            if self.is_up[q]:
                work.done += ticks
                work.left -= ticks
                state = segments_saved(work.origin, self.instance.ticks[q], work.done)
                self.ledger.checkpoints.keep(work.copy.task, q, state)
                self.ledger.checkpoints.save(work.copy.task, q, state)

    def complete(self) -> list[int]:
        """B6: complete the tasks of copies that have reached k; return the machines that their removal frees."""
        freed: list[int] = []
        for q in sorted(self.works):
            if q not in self.works:  # its copy was removed with another copy of the task
                continue
            work = self.works[q]
            if work.left == 0:
                task = work.copy.task
                self.ledger.finish(task)
                for copy in tuple(self.ledger.copies[task]):
                    self.remove(copy.machine)
                    freed.append(copy.machine)
            elif self.is_migrating and self.is_up[q] and work.done > 0 and self._ends_segment(q):
                self.remove(q)
                freed.append(q)
        return sorted(freed)

    def _ends_segment(self, q: int) -> bool:
        work, ticks = self.works[q], self.instance.ticks[q]
        return advanced(work.origin, ticks, work.done) == segments_saved(work.origin, ticks, work.done)

    def result(self) -> PolicyRun:
        """Return the result of the run."""
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
        answer = call_user_code(predictor.predict, q, slot, seen, place=self._place())
        if not isinstance(answer, bool | np.bool_):
            raise InputError(f"{answer!r}, expected True or False", place=f"predictor {predictor.name}, slot {slot}")
        return bool(answer)

    def _place(self) -> str:
        return f"policy {self.policy.name}, instant {self.instant}"

    def _bad(self, problem: str) -> InputError:
        return InputError(problem, place=self._place())
