"""The compiled twin of the checker: the same verdicts within microseconds, for schedules that hindsched itself makes.

`replay` decides by a kernel. Only if a rule is broken does it ask `check`, which names the reason. The kernel follows
docs/model.md section 2 rule by rule and shares no code with the checker, the solvers or the simulators.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Bytes, Ints
from hindsched.instances.compiling import kernel
from hindsched.instances.coupled.check import Outcome, check
from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.schedule import Schedule
from hindsched.instances.states import DOWN, UP
from hindsched.instances.verdict import Verdict

__all__ = ["first_broken_rule", "replay"]

_PROGRAM, _DATA, _COMPUTE, _IDLE, _NOT_ENROLLED = (ord(letter) for letter in "PDCI.")
_VALID, _R1, _R2, _R3, _R4, _R5 = range(6)


def replay(instance: Instance, schedule: Schedule) -> Verdict:
    """Return the verdict of `hindsched.instances.coupled.check.check`, faster if the schedule is valid.

    Parameters
    ----------
    instance
        With p workers and N known slots.
    schedule
        With p rows of letters.

    Raises
    ------
    InputError
        If the schedule does not have one row per worker.

    Notes
    -----
    O(p) per slot.

    Examples
    --------
    >>> from hindsched.instances.coupled import Configuration
    >>> pair = Instance.from_letters(["uuuu", "uruu"], w=[1, 1], tasks=2, t_prog=1)
    >>> enrol = Configuration(0, {0: 1, 1: 1})
    >>> print(replay(pair, Schedule(pair.fingerprint, ("PIC", "PIC"), (enrol,))))
    valid, 1 iteration, makespan 3
    """
    if len(schedule.letters) != instance.num_workers or _exceeds_letters(instance, schedule):
        return check(instance, schedule)
    slot, _, ends = first_broken_rule(instance, schedule)
    if slot is not None:
        return check(instance, schedule)
    return Verdict(None, None, None, Outcome(ends, instance.iterations))


def _exceeds_letters(instance: Instance, schedule: Schedule) -> bool:
    """Return whether letters stand after the last known state, or a configuration after the last letter."""
    entries = schedule.configurations
    return schedule.slots > instance.slots or bool(entries and entries[-1].slot >= schedule.slots)


def first_broken_rule(instance: Instance, schedule: Schedule) -> tuple[int | None, str | None, tuple[int, ...]]:
    """Replay the letters that have a known state; return slot and rule of the first violation, and the ends before it.

    Slot and rule are None if no rule is broken. The schedule has one row per worker.
    """
    p, slots = instance.num_workers, min(schedule.slots, instance.slots)
    states = np.ascontiguousarray(instance.prefix(slots).T)
    rows = np.frombuffer("".join(schedule.letters).encode(), dtype=np.uint8).reshape(p, schedule.slots)
    letters = np.ascontiguousarray(rows[:, :slots].T)
    entries = [entry for entry in schedule.configurations if entry.slot < slots]
    first = np.cumsum([0, *(len(entry.tasks) for entry in entries)])
    workers = np.array([q for entry in entries for q in entry.tasks], dtype=np.int64)
    most = instance.tasks + 1  # more tasks than m break R2, however many they are
    tasks = np.array([min(x, most) for entry in entries for x in entry.tasks.values()], dtype=np.int64)
    entry_slots = np.array([entry.slot for entry in entries], dtype=np.int64)
    text = _Text(states, letters, entry_slots, first, workers, tasks)
    application = _Application(
        np.array(instance.w, dtype=np.int64),
        np.array(instance.capacities, dtype=np.int64),
        instance.tasks,
        instance.channels,
        instance.t_prog,
        instance.t_data,
    )
    ends = np.empty(slots, dtype=np.int64)
    rule, slot, number = _replay(text, application, _Workers(*np.zeros((4, p), dtype=np.int64)), ends)
    done = tuple(ends[:number].tolist())
    return (int(slot), f"R{rule}", done) if rule else (None, None, done)


class _Text(NamedTuple):
    """States and letters, slot by worker, and the configurations.

    Configuration i begins in slot ``entry_slots[i]``. Its workers and their numbers of tasks are the items from
    ``first[i]`` to ``first[i + 1] - 1`` of ``workers`` and ``tasks``.
    """

    states: Bytes
    letters: Bytes
    entry_slots: Ints
    first: Ints
    workers: Ints
    tasks: Ints


class _Application(NamedTuple):
    """Speed and capacity of each worker, and the numbers of the application."""

    w: Ints
    capacities: Ints
    tasks: int
    channels: int
    t_prog: int
    t_data: int


class _Workers(NamedTuple):
    """What each worker has: its tasks plus 1 (0: not enrolled), slots of program and of data, next tasks plus 1."""

    held: Ints
    program: Ints
    data: Ints
    next: Ints


@kernel
def _replay(text: _Text, application: _Application, workers: _Workers, ends: Ints) -> tuple[int, int, int]:
    """Return the first broken rule (0: none), its slot, and the number of ends stored."""
    computed, num_ends, has_ended, entry = 0, 0, False, 0
    for slot in range(len(ends)):
        states, letters = text.states[slot], text.letters[slot]
        has_entry = entry < len(text.entry_slots) and text.entry_slots[entry] == slot
        if has_entry:
            workers.next[:] = 0
            for i in range(text.first[entry], text.first[entry + 1]):
                workers.next[text.workers[i]] = text.tasks[i] + 1
            entry += 1
        fails, loses = _failure(states, letters, workers, has_entry)
        if fails:
            return _R1, slot, num_ends
        if loses:
            computed = 0
        if has_entry:
            agrees, changes = _configure(states, application, workers)
            if not agrees:
                return _R2, slot, num_ends
            if changes:
                computed = 0
            has_ended = False
        for q in range(len(letters)):
            if (letters[q] == _NOT_ENROLLED) == (workers.held[q] > 0):
                return _R5 if has_ended and letters[q] != _NOT_ENROLLED else _R2, slot, num_ends
        if _is_communicating(application, workers):
            if not _communicate(states, letters, application, workers):
                return _R3, slot, num_ends
            continue
        work = 0
        is_up = True
        for q in range(len(letters)):
            if workers.held[q] > 1:
                is_up = is_up and states[q] == UP
                work = max(work, (workers.held[q] - 1) * application.w[q])
        for q in range(len(letters)):
            if workers.held[q] > 0 and letters[q] != (_COMPUTE if is_up and workers.held[q] > 1 else _IDLE):
                return _R4, slot, num_ends
        computed += is_up
        if computed >= work:
            for q in range(len(letters)):
                if workers.held[q] > 0:
                    _leave(q, application, workers)
            computed, has_ended = 0, True
            ends[num_ends] = slot + 1
            num_ends += 1
    return _VALID, len(ends), num_ends


@kernel
def _failure(states: Bytes, letters: Bytes, workers: _Workers, has_entry: bool) -> tuple[bool, bool]:
    """R1: DOWN workers lose all. Return whether the text contradicts that, and whether a worker with tasks failed."""
    loses = False
    for q in range(len(states)):
        if states[q] != DOWN:
            continue
        if letters[q] != _NOT_ENROLLED or (has_entry and workers.held[q] > 0 and workers.next[q] > 0):
            return True, loses
        loses = loses or workers.held[q] > 1
        workers.held[q] = workers.program[q] = workers.data[q] = 0
    return False, loses


@kernel
def _configure(states: Bytes, application: _Application, workers: _Workers) -> tuple[bool, bool]:
    """R2: the next configuration replaces the present one. Return whether it may, and whether tasks change."""
    total, changes = 0, False
    for q in range(len(states)):
        tasks = max(0, workers.next[q] - 1)
        if workers.next[q] > 0 and workers.held[q] == 0 and states[q] != UP:
            return False, changes
        if tasks > application.capacities[q]:
            return False, changes
        total += tasks
        changes = changes or tasks != max(0, workers.held[q] - 1)
    if total > application.tasks:
        return False, changes
    for q in range(len(states)):
        if workers.held[q] > 0 and workers.next[q] == 0:
            _leave(q, application, workers)
        workers.held[q] = workers.next[q]
    return True, changes


@kernel
def _leave(q: int, application: _Application, workers: _Workers) -> None:
    """R2 and R5: a worker that leaves loses its data, and its program unless that is complete."""
    workers.held[q] = workers.data[q] = 0
    if workers.program[q] < application.t_prog:
        workers.program[q] = 0


@kernel
def _is_communicating(application: _Application, workers: _Workers) -> bool:
    """Return whether tasks are unassigned, or a worker with tasks lacks program or data."""
    total = 0
    for q in range(len(workers.held)):
        tasks = workers.held[q] - 1
        if tasks > 0:
            total += tasks
            if workers.program[q] < application.t_prog or workers.data[q] < tasks * application.t_data:
                return True
    return total != application.tasks


@kernel
def _communicate(states: Bytes, letters: Bytes, application: _Application, workers: _Workers) -> bool:
    """R3: serve the workers with letters P and D. Return whether the rule allows it."""
    served = 0
    for q in range(len(letters)):
        if letters[q] == _COMPUTE:
            return False
        if letters[q] == _PROGRAM:
            workers.program[q] += 1
            if workers.program[q] > application.t_prog:
                return False
        elif letters[q] == _DATA:
            workers.data[q] += 1
            if workers.program[q] < application.t_prog:
                return False
            if workers.data[q] > (workers.held[q] - 1) * application.t_data:
                return False
        else:
            continue
        served += 1
        if states[q] != UP:
            return False
    return served <= application.channels
