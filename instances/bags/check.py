"""The independent checker of ``bags``: every rule replayed in exact rationals (docs/bags/model.md section 5).

It shares no code with any solver or simulator, so that a mistake of theirs cannot hide here.
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

__all__ = ["RULES", "Outcome", "check", "is_made_for"]

#: The rules by name, in the order in which they are looked at.
RULES = ("form", "presence", "one", "on_demand", "origin", "complete", "turnaround")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a replayed schedule achieves.

    Parameters
    ----------
    turnaround
        The last completion rounded up to a tick; None where a task was not completed.
    completed
        How many tasks were.
    """

    turnaround: int | None
    completed: int

    def __str__(self) -> str:
        if self.turnaround is not None:
            return f"turnaround {self.turnaround}"
        return f"{self.completed} task{'' if self.completed == 1 else 's'} completed, the slots ran out"


def check(instance: Instance, schedule: Schedule) -> Verdict:
    """Replay a schedule and name the first rule that is broken, and the instant.

    The rules, in this order; where several runs or saves break one, the earliest of them counts.

    - ``form``: the text has its form; machines and tasks exist; 0 <= start < end <= N L and 0 <= from < k.
    - ``presence`` and ``one``, run by run: the machine is UP at the start and not DOWN before the end; the runs of a
      machine do not overlap.
    - ``on_demand``: a save needs an instance that allows it and a run of that machine with start < instant <= end.
    - ``origin``: a run starts from nothing, or from a state that some run of its task (with private stores: on its
      machine) has saved by then, or from a smaller one.
    - ``complete``: unless T is null, every task is completed.
    - ``turnaround``: T is the last completion rounded up, and null only if some task is not completed.

    The verdict does not depend on the fingerprint in the schedule (see `is_made_for`).

    Notes
    -----
    O(p N + r log r + r p) for r runs: a run asks at most one run of each other machine what it has saved so far.

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


def is_made_for(instance: Instance, schedule: Schedule) -> bool:
    """Whether the schedule bears this instance's fingerprint; if not, a valid replay may be chance."""
    return schedule.instance == instance.fingerprint


class _BrokenRule(Exception):  # noqa: N818 - a finding that ends the replay, not an error
    def __init__(self, time: Instant | None, rule: str, reason: str) -> None:
        super().__init__(time, rule, reason)
        self.time = time
        self.rule = rule
        self.reason = reason


class _Machine:
    """How many UP ticks a machine has had by an instant, and when it has had a number of them."""

    def __init__(self, row: np.ndarray[tuple[int], np.dtype[np.uint8]], slot: int) -> None:
        self._slot = slot
        self._is_up = row == UP
        self._before = np.concatenate(([0], np.cumsum(self._is_up, dtype=np.int64)))  # UP slots before each
        self._downs = np.flatnonzero(row == DOWN)

    def is_up(self, instant: Instant) -> bool:
        return bool(self._is_up[instant // self._slot])

    def first_down(self, start: Instant, end: Instant) -> int | None:
        """Return when it goes DOWN before the end, if it is not DOWN at the start."""
        slot = start // self._slot
        i = int(np.searchsorted(self._downs, slot))
        if i == len(self._downs):
            return None
        begin = int(self._downs[i]) * self._slot
        return begin if begin < end else None

    def up_ticks(self, instant: Instant) -> Instant:
        """Return its UP ticks in [0, instant)."""
        slot, rest = divmod(instant, self._slot)
        slots = int(self._before[slot])
        return slots * self._slot + (rest if rest and self._is_up[slot] else 0)

    def reaches(self, ticks: Instant) -> Instant | None:
        """Return the first instant by which it has had so many UP ticks, > 0; None if never."""
        whole = ceil(ticks / Fraction(self._slot))  # the UP slot, counted from 1, in which it has them
        slot = int(np.searchsorted(self._before, whole)) - 1
        if slot == len(self._is_up):
            return None
        return slot * self._slot + (ticks - (whole - 1) * self._slot)


class _Replay:
    """The runs in order of their starts, and what each has saved."""

    def __init__(self, instance: Instance, schedule: Schedule) -> None:
        self.runs = sorted(schedule.runs, key=lambda run: (run.start, run.machine, run.task, run.end, run.origin))
        self.saves: dict[Run, list[Instant]] = defaultdict(list)
        self.machines = [_Machine(row, instance.slot) for row in instance.states]
        self._instance = instance

    def state(self, run: Run, instant: Instant) -> Fraction:
        """Return the state that the copy has reached by an instant of its run."""
        machine = self.machines[run.machine]
        done = Fraction(machine.up_ticks(instant) - machine.up_ticks(run.start), self._instance.ticks[run.machine])
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
        instant = machine.reaches(machine.up_ticks(run.start) + ticks)
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
    last: dict[int, Run] = {}  # of each machine the run that ends last so far
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
            reason = f"machine {save.machine} saves, but has no run that starts before and has not ended"
            raise _BrokenRule(save.instant, "on_demand", reason)
        replay.saves[row[i]].append(save.instant)


def _check_origins(instance: Instance, replay: _Replay) -> None:
    last: dict[tuple[int, int], Run] = {}  # of each task and machine the run that started last so far
    best: dict[tuple[int, int], Fraction] = defaultdict(Fraction)  # what ended runs of each have saved
    on: dict[int, dict[int, None]] = defaultdict(dict)  # where each task has run
    for run in replay.runs:
        if run.origin > 0 and not any(
            saved >= run.origin for saved in _stored(instance, replay, run, last, best, on[run.task])
        ):
            where = "" if instance.is_shared else f" on machine {run.machine}"
            reason = f"task {run.task} starts from {run.origin} on machine {run.machine}"
            raise _BrokenRule(run.start, "origin", f"{reason}, but nothing as great was saved{where} by then")
        key = (run.task, run.machine)
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
    """Yield what each machine that serves this run has saved of its task by its start."""
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
