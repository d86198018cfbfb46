"""The independent checker of ``bags``: every rule replayed in exact rationals (docs/bags/model.md section 5).

The checker shares no code with solvers or simulators, so it does not share their mistakes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np

from hindsched.instances.bags.model import Instance
from hindsched.instances.bags.schedule import Instant, Run, Save, Schedule
from hindsched.instances.states import DOWN, UP
from hindsched.instances.verdict import Verdict

__all__ = ["RULES", "Outcome", "check"]

#: Names of the rules, in the order in which they are checked.
RULES = ("form", "presence", "one", "on_demand", "origin", "complete", "turnaround")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a replay.

    Parameters
    ----------
    turnaround
        The last completion rounded up to a tick; None if a task is not completed.
    completed
        Number of completed tasks.
    """

    turnaround: int | None
    completed: int

    def __str__(self) -> str:
        if self.turnaround is not None:
            return f"turnaround {self.turnaround}"
        return f"{self.completed} task{'' if self.completed == 1 else 's'} completed, the slots ran out"


def check(instance: Instance, schedule: Schedule) -> Verdict:
    """Replay a schedule and report the first rule that is broken, and the instant.

    The rules are checked in this order. If several runs or saves break a rule, the earliest is reported.

    - ``form``: the file has the right form; machines and tasks exist; 0 <= start < end <= N L and 0 <= from < k.
    - ``presence`` and ``one``, run by run: the machine is UP at the start and not DOWN before the end; the runs of a
      machine do not overlap.
    - ``on_demand``: a save needs an instance that allows it and a run of that machine with start < instant <= end.
    - ``origin``: a run starts from 0, or from at most a state that a run of its task has saved by then. With private
      stores only runs on the same machine count. If no run on the same machine has saved as much, the run spends
      ``move`` UP ticks before it works.
    - ``complete``: unless T is null, every task is completed.
    - ``turnaround``: T is the last completion rounded up, and null only if some task is not completed.

    The verdict does not depend on the fingerprint in the schedule (see `hindsched.instances.is_made_for`).

    Notes
    -----
    O(p N + r log r + r p) for r runs: for each run, at most one run of every other machine is examined.

    Examples
    --------
    >>> lone = Instance.from_letters(["uuu"], ticks=[4], slot=3, tasks=1, segments=2)
    >>> print(check(lone, Schedule(None, (Run(0, 0, 0, 4, 0), Run(0, 0, 4, 8, 1)), turnaround=8)).outcome)
    turnaround 8
    >>> broken = check(lone, Schedule(None, (Run(0, 0, 0, 3, 0), Run(0, 0, 4, 8, 1)), turnaround=8))
    >>> broken.rule, broken.time
    ('origin', 4)
    """
    try:
        _check_form(instance, schedule)
        replay = _Replay(instance, schedule)
        _check_runs(instance, replay)
        _check_saves(instance, replay, schedule.saves)
        _check_origins(instance, replay)
        outcome = _check_completions(instance, replay, schedule.turnaround)
    except _BrokenRule as broken:
        return Verdict(broken.time, broken.rule, broken.reason, unit="instant")
    return Verdict(None, None, None, outcome, unit="instant")


class _BrokenRule(Exception):  # noqa: N818 - a finding that ends the replay, not an error
    def __init__(self, time: Instant | None, rule: str, reason: str) -> None:
        super().__init__(time, rule, reason)
        self.time = time
        self.rule = rule
        self.reason = reason


class _Machine:
    """UP ticks of a machine, counted from instant 0."""

    def __init__(self, row: np.ndarray[tuple[int], np.dtype[np.uint8]], slot: int) -> None:
        self._slot = slot
        self._is_up = row == UP
        self._before = np.concatenate(([0], np.cumsum(self._is_up, dtype=np.int64)))  # UP slots before each
        self._downs = np.flatnonzero(row == DOWN)

    def is_up(self, instant: Instant) -> bool:
        return bool(self._is_up[instant // self._slot])

    def first_down(self, start: Instant, end: Instant) -> int | None:
        """Return when the machine goes DOWN in (start, end); None if it does not. It is not DOWN at the start."""
        slot = start // self._slot
        i = int(np.searchsorted(self._downs, slot))
        if i == len(self._downs):
            return None
        begin = int(self._downs[i]) * self._slot
        return begin if begin < end else None

    def up_ticks(self, instant: Instant) -> Instant:
        """Return the number of UP ticks in [0, instant)."""
        slot, rest = divmod(instant, self._slot)
        slots = int(self._before[slot])
        return slots * self._slot + (rest if rest and self._is_up[slot] else 0)

    def reaches(self, ticks: Instant) -> Instant | None:
        """Return the first instant by which the machine has had ``ticks`` > 0 UP ticks; None if it never has."""
        whole = ceil(ticks / Fraction(self._slot))  # number of the UP slot, from 1 on, in which it reaches them
        slot = int(np.searchsorted(self._before, whole)) - 1
        if slot == len(self._is_up):
            return None
        return slot * self._slot + (ticks - (whole - 1) * self._slot)


class _Replay:
    """The runs in order of their starts, and the instants of saves on demand of each run."""

    def __init__(self, instance: Instance, schedule: Schedule) -> None:
        self.runs = sorted(schedule.runs, key=lambda run: (run.start, run.machine, run.task, run.end, run.origin))
        self.saves: dict[Run, list[Instant]] = defaultdict(list)
        self.fetches: dict[Run, int] = {}  # UP ticks before a run works, if any
        self.machines = [_Machine(row, instance.slot) for row in instance.states]
        self._instance = instance

    def state(self, run: Run, instant: Instant) -> Fraction:
        """Return the state that the copy has reached by an instant of its run."""
        machine = self.machines[run.machine]
        ticks = machine.up_ticks(instant) - machine.up_ticks(run.start) - self.fetches.get(run, 0)
        done = Fraction(max(0, ticks), self._instance.ticks[run.machine])
        return min(run.origin + done, Fraction(self._instance.segments))

    def saved(self, run: Run, instant: Instant) -> Fraction:
        """Return the greatest state that the run has saved by an instant; 0 if none."""
        until = min(instant, run.end)
        segments = floor(self.state(run, until))
        best = Fraction(segments if segments > floor(run.origin) else 0)
        instants = self.saves.get(run)
        if instants and (number := bisect_right(instants, until)):
            best = max(best, self.state(run, instants[number - 1]))
        return best

    def completion(self, run: Run) -> Instant | None:
        """Return when the copy completes its task; None if it does not."""
        machine = self.machines[run.machine]
        ticks = (self._instance.segments - Fraction(run.origin)) * self._instance.ticks[run.machine]
        instant = machine.reaches(machine.up_ticks(run.start) + self.fetches.get(run, 0) + ticks)
        return instant if instant is not None and instant <= run.end else None


def _check_form(instance: Instance, schedule: Schedule) -> None:
    if schedule.defect is not None:
        raise _BrokenRule(None, "form", schedule.defect)
    for i, run in enumerate(schedule.runs):
        _expect_index(run.machine, instance.num_machines, f"runs[{i}].machine")
        _expect_index(run.task, instance.tasks, f"runs[{i}].task")
        if not 0 <= run.start < run.end <= instance.horizon:
            span = f"start {run.start} and end {run.end}"
            reason = f"runs[{i}]: {span}, expected 0 <= start < end <= {instance.horizon}"
            raise _BrokenRule(None, "form", reason)
        if not 0 <= run.origin < instance.segments:
            reason = f"runs[{i}].from: {run.origin}, expected at least 0 and below {instance.segments}"
            raise _BrokenRule(None, "form", reason)
    for i, save in enumerate(schedule.saves):
        _expect_index(save.machine, instance.num_machines, f"saves[{i}].machine")


def _expect_index(index: int, count: int, place: str) -> None:
    if not 0 <= index < count:
        raise _BrokenRule(None, "form", f"{place}: {index}, expected 0 to {count - 1}")


def _check_runs(instance: Instance, replay: _Replay) -> None:
    last: dict[int, Run] = {}  # for each machine the run that ends last so far
    for run in replay.runs:
        machine = replay.machines[run.machine]
        if not machine.is_up(run.start):
            reason = f"machine {run.machine} is not UP when its run of task {run.task} starts"
            raise _BrokenRule(run.start, "presence", reason)
        down = machine.first_down(run.start, run.end)
        if down is not None:
            reason = f"machine {run.machine} is DOWN during its run of task {run.task} from {run.start} to {run.end}"
            raise _BrokenRule(down, "presence", reason)
        before = last.get(run.machine)
        if before is not None and run.start < before.end:
            reason = f"machine {run.machine} runs task {run.task} while it runs task {before.task} until {before.end}"
            raise _BrokenRule(run.start, "one", reason)
        last[run.machine] = run


def _check_saves(instance: Instance, replay: _Replay, saves: tuple[Save, ...]) -> None:
    ordered = sorted(saves, key=lambda save: (save.instant, save.machine))
    if ordered and not instance.on_demand:
        reason = f"machine {ordered[0].machine} saves, but only ends of segments are saved in this instance"
        raise _BrokenRule(ordered[0].instant, "on_demand", reason)
    runs: dict[int, list[Run]] = defaultdict(list)
    for run in replay.runs:
        runs[run.machine].append(run)
    ends = {q: [run.end for run in row] for q, row in runs.items()}
    for save in ordered:
        row = runs.get(save.machine, [])
        i = bisect_right(ends.get(save.machine, []), save.instant)
        if i and row[i - 1].end == save.instant:  # the run that ends now, not the one after it
            i -= 1
        if i == len(row) or not row[i].start < save.instant <= row[i].end:
            reason = f"machine {save.machine} saves, but no run of it has started before and not yet ended"
            raise _BrokenRule(save.instant, "on_demand", reason)
        replay.saves[row[i]].append(save.instant)


def _check_origins(instance: Instance, replay: _Replay) -> None:
    last: dict[tuple[int, int], Run] = {}  # for each task and machine the run that started last so far
    best: dict[tuple[int, int], Fraction] = defaultdict(Fraction)  # greatest state that earlier runs of each saved
    on: dict[int, dict[int, None]] = defaultdict(dict)  # machines on which each task has run
    for run in replay.runs:
        if run.origin > 0 and not any(
            saved >= run.origin for saved in _stored(instance, replay, run, last, best, on[run.task])
        ):
            where = "" if instance.is_shared else f" on machine {run.machine}"
            reason = f"task {run.task} starts from {run.origin} on machine {run.machine}"
            raise _BrokenRule(run.start, "origin", f"{reason}, but every state saved{where} by then is smaller")
        key = (run.task, run.machine)
        if instance.is_shared and instance.move and run.origin > 0:
            own = max(best[key], replay.saved(last[key], run.start)) if key in last else 0
            if own < run.origin:
                replay.fetches[run] = instance.move
        if key in last:
            best[key] = max(best[key], replay.saved(last[key], last[key].end))
        last[key] = run
        on[run.task][run.machine] = None


def _stored(
    instance: Instance,
    replay: _Replay,
    run: Run,
    last: dict[tuple[int, int], Run],
    best: dict[tuple[int, int], Fraction],
    machines: dict[int, None],
) -> Iterator[Fraction]:
    """Yield the states of the run's task that each machine has saved by its start, if the run can use them."""
    for q in machines if instance.is_shared else [run.machine]:
        key = (run.task, q)
        if key in last:
            yield max(best[key], replay.saved(last[key], run.start))


def _check_completions(instance: Instance, replay: _Replay, claimed: int | None) -> Outcome:
    first: dict[int, Instant] = {}
    for run in replay.runs:
        instant = replay.completion(run)
        if instant is not None and (run.task not in first or instant < first[run.task]):
            first[run.task] = instant
    if len(first) < instance.tasks:
        if claimed is not None:
            missing = next(task for task in range(instance.tasks) if task not in first)
            raise _BrokenRule(None, "complete", f"turnaround {claimed} is claimed, but task {missing} is not completed")
        return Outcome(None, len(first))
    turnaround = ceil(max(first.values()))
    if claimed != turnaround:
        reason = f"turnaround {'null' if claimed is None else claimed} is claimed, but it is {turnaround}"
        raise _BrokenRule(turnaround, "turnaround", reason)
    return Outcome(turnaround, instance.tasks)
