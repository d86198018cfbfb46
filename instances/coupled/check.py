"""The independent checker: R1-R5 replayed from instance and schedule text (docs/model.md sections 2 and 4).

The checker shares no code with solvers or simulators, so it does not share their mistakes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.schedule import COMPUTE, DATA, ENROLLED_IDLE, NOT_ENROLLED, PROGRAM, Schedule
from hindsched.instances.errors import InputError
from hindsched.instances.states import DOWN, UP
from hindsched.instances.verdict import Verdict

__all__ = ["Outcome", "check"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a replay.

    Parameters
    ----------
    ends
        The slot after each completed iteration, increasing, up to the first violation.
    wanted
        K, the number of iterations that the makespan refers to.
    """

    ends: tuple[int, ...]
    wanted: int

    @property
    def iterations(self) -> int:
        """Number of completed iterations."""
        return len(self.ends)

    @property
    def makespan(self) -> int | None:
        """Number of slots until iteration K is complete; None if it is not completed."""
        return self.ends[self.wanted - 1] if len(self.ends) >= self.wanted else None

    def __str__(self) -> str:
        done = f"{self.iterations} iteration{'' if self.iterations == 1 else 's'}"
        if self.makespan is None:
            return f"{done} of {self.wanted}, unfinished"
        return f"{done}, makespan {self.makespan}"


def check(instance: Instance, schedule: Schedule) -> Verdict:
    """Replay a schedule and report the first slot, and in it the first of R1-R5, that is broken.

    The verdict does not depend on the fingerprint in the schedule (see `instances.is_made_for`). The checker settles
    what the rules leave open:

    - A schedule may end before iteration K is complete. It is valid, and its makespan is None.
    - A schedule may continue after iteration K. The rules apply there, further iterations count, and the makespan is
      that of iteration K. Slots without an enrolled worker break no rule.
    - A slot that the instance does not know (from N on) breaks R1, the first rule that needs a state.
    - An entry after the last letter may only be empty; another one breaks R2 in its slot.
    - An entry that repeats the present configuration changes nothing and is allowed.
    - After R5 a letter without a new entry breaks R5. After R1 it breaks R2: the worker is no longer enrolled.

    Parameters
    ----------
    instance
        With p workers and N known slots.
    schedule
        With p rows of letters.

    Returns
    -------
    Verdict
        Its outcome is an `Outcome`. If a rule is broken, the ends are those before the violation.

    Raises
    ------
    InputError
        If the schedule does not have one row per worker.

    Notes
    -----
    O(p) per slot; runs of slots without a letter or an entry take almost no time.

    Examples
    --------
    >>> from hindsched.instances.coupled import Configuration
    >>> pair = Instance.from_letters(["uuuu", "uruu"], w=[1, 1], tasks=2, t_prog=1)
    >>> enrol = Configuration(0, {0: 1, 1: 1})
    >>> print(check(pair, Schedule(pair.fingerprint, ("PIIC", "PIIC"), (enrol,))))
    slot 2: R4 broken: worker 0 idles, but all workers with tasks are UP and have program and data
    >>> print(check(pair, Schedule(pair.fingerprint, ("PIC", "PIC"), (enrol,))))
    valid, 1 iteration, makespan 3
    """
    if len(schedule.letters) != instance.num_workers:
        raise InputError(
            f"{len(schedule.letters)} rows, expected one per worker, {instance.num_workers}", place="letters"
        )
    replay = _Replay(instance)
    text = _Text(instance, schedule)
    number = 0
    while number < text.known:
        if not replay.tasks and text.next_event[number] > number:
            _failures_alone(replay, text, number, text.next_event[number])
            number = text.next_event[number]
            continue
        slot = text.slot(number)
        number += 1
        try:
            _failure(replay, slot)
            _choice(replay, slot)
            if replay.is_communicating():
                _communication(replay, slot)
            else:
                _computation(replay, slot)
                _end_of_iteration(replay, slot)
        except _BrokenRule as broken:
            return replay.verdict(slot.number, broken.rule, broken.reason)
    return replay.verdict(*_beyond_the_text(instance, schedule))


class _BrokenRule(Exception):  # noqa: N818 - a finding that ends the replay, not an error
    def __init__(self, rule: str, reason: str) -> None:
        super().__init__(rule, reason)
        self.rule = rule
        self.reason = reason


@dataclass(frozen=True, slots=True)
class _Slot:
    """States, letters and configuration of one slot; ``entry`` is None if there is no configuration in the slot."""

    number: int
    states: bytes
    letters: tuple[str, ...]
    entry: Mapping[int, int] | None


class _Replay:
    """State of the replay.

    ``tasks`` has the enrolled workers, ``program`` and ``data`` the slots that each worker has received,
    ``program_lost`` the slot and rule by which a worker lost its program, ``ended_in`` the slot of the last R5 if no
    entry followed.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.tasks: dict[int, int] = {}
        self.program = [0] * instance.num_workers
        self.data = [0] * instance.num_workers
        self.computed = 0
        self.ends: list[int] = []
        self.program_lost: dict[int, str] = {}
        self.ended_in: int | None = None

    def verdict(self, slot: int | None, rule: str | None, reason: str | None) -> Verdict:
        return Verdict(slot, rule, reason, Outcome(tuple(self.ends), self.instance.iterations))

    def has_program(self, q: int) -> bool:
        return self.program[q] >= self.instance.t_prog

    def has_data(self, q: int) -> bool:
        return self.data[q] >= self.tasks[q] * self.instance.t_data

    def is_complete(self) -> bool:
        return sum(self.tasks.values()) == self.instance.tasks

    def is_communicating(self) -> bool:
        """Return whether this is a communication slot (R3); otherwise it is a computation slot (R4)."""
        return not self.is_complete() or any(
            x > 0 and not (self.has_program(q) and self.has_data(q)) for q, x in self.tasks.items()
        )

    def lose_program(self, q: int, where: str) -> None:
        if self.program[q]:
            self.program[q] = 0
            self.program_lost[q] = where

    def leave(self, q: int, where: str) -> None:
        """Lose the data and a partial program; a complete program stays."""
        self.data[q] = 0
        if not self.has_program(q):
            self.lose_program(q, where)

    def lacking(self, q: int) -> str:
        """Describe what a worker lacks; empty if it lacks nothing."""
        if not self.has_program(q):
            lost = self.program_lost.get(q)
            return "the program" if lost is None else f"the program, which it lost in {lost}"
        if not self.has_data(q):
            return f"{_count(self.tasks[q] * self.instance.t_data - self.data[q], 'slot')} of data"
        return ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


class _Text:
    """The instance's states and the schedule's text, slot by slot.

    ``known`` counts the slots that both have. ``next_event[t]`` is the first slot from t on with a letter other than
    ``.`` or with an entry; ``known`` if there is none.
    """

    def __init__(self, instance: Instance, schedule: Schedule) -> None:
        self._p = instance.num_workers
        self.known = min(schedule.slots, instance.slots)
        self.states = instance.prefix(self.known)
        self._columns = self.states.T.tobytes()  # slot by slot, p states each
        self._letters = schedule.letters
        self._entries = {entry.slot: entry.tasks for entry in schedule.configurations}
        is_event = np.zeros(self.known, dtype=bool)
        for row in schedule.letters:
            is_event |= np.frombuffer(row[: self.known].encode(), dtype=np.uint8) != ord(NOT_ENROLLED)
        is_event[[slot for slot in self._entries if slot < self.known]] = True
        events = np.where(is_event, np.arange(self.known), self.known)
        self.next_event: list[int] = np.minimum.accumulate(events[::-1])[::-1].tolist()

    def slot(self, number: int) -> _Slot:
        states = self._columns[number * self._p : (number + 1) * self._p]
        return _Slot(number, states, tuple(row[number] for row in self._letters), self._entries.get(number))


def _failures_alone(replay: _Replay, text: _Text, start: int, stop: int) -> None:
    """R1 in slots without an enrolled worker, letter or entry: a worker that is DOWN loses its program."""
    for q, units in enumerate(replay.program):
        if units:
            downs = np.flatnonzero(text.states[q, start:stop] == DOWN)
            if downs.size:
                replay.lose_program(q, f"slot {start + int(downs[0])} (R1)")


def _failure(replay: _Replay, slot: _Slot) -> None:
    """R1: a DOWN worker loses program, data and enrolment; if it held tasks, the computation is lost."""
    for q, state in enumerate(slot.states):
        if state != DOWN:
            continue
        if slot.letters[q] != NOT_ENROLLED:
            raise _BrokenRule("R1", f"worker {q} is DOWN, but has letter {slot.letters[q]}")
        if q in replay.tasks and slot.entry is not None and q in slot.entry:
            raise _BrokenRule("R1", f"worker {q} is DOWN, but the entry keeps it enrolled")
        replay.data[q] = 0
        replay.lose_program(q, f"slot {slot.number} (R1)")
        if replay.tasks.pop(q, 0) > 0:
            replay.computed = 0


def _choice(replay: _Replay, slot: _Slot) -> None:
    """R2: the entry of this slot, if any, replaces the configuration, and the letters agree with it."""
    if slot.entry is not None:
        _check_entry(replay, slot, slot.entry)
        for q in replay.tasks.keys() - slot.entry.keys():
            replay.leave(q, f"slot {slot.number} (R2)")
        if _held(replay.tasks) != _held(slot.entry):
            replay.computed = 0
        replay.tasks = dict(slot.entry)
        replay.ended_in = None
    for q, letter in enumerate(slot.letters):
        if (letter == NOT_ENROLLED) != (q in replay.tasks):
            continue
        if letter == NOT_ENROLLED:
            raise _BrokenRule("R2", f"worker {q} is enrolled, but has letter {letter}")
        if replay.ended_in is not None:
            since = f"since the iteration ended in slot {replay.ended_in}, without a new entry"
            raise _BrokenRule("R5", f"worker {q} is not enrolled {since}, but has letter {letter}")
        raise _BrokenRule("R2", f"worker {q} is not enrolled, but has letter {letter}")


def _check_entry(replay: _Replay, slot: _Slot, entry: Mapping[int, int]) -> None:
    for q, x in entry.items():
        if q not in replay.tasks and slot.states[q] != UP:
            name = "DOWN" if slot.states[q] == DOWN else "RECLAIMED"
            raise _BrokenRule("R2", f"worker {q} is newly enrolled, but {name}")
        mu = replay.instance.mu[q]
        if mu is not None and x > mu:
            raise _BrokenRule("R2", f"worker {q} has {x} tasks, but may hold at most {mu}")
    if sum(entry.values()) > replay.instance.tasks:
        raise _BrokenRule(
            "R2", f"{sum(entry.values())} tasks are assigned, but an iteration has {replay.instance.tasks}"
        )


def _held(tasks: Mapping[int, int]) -> dict[int, int]:
    """Return the workers with tasks: in R2 a worker on stand-by counts as not enrolled, because both have 0 tasks."""
    return {q: x for q, x in tasks.items() if x > 0}


def _communication(replay: _Replay, slot: _Slot) -> None:
    """R3: at most n_com enrolled UP workers are served, first the program, then data; no worker computes."""
    _check_no_computation(replay, slot)
    served = [q for q in replay.tasks if slot.letters[q] in (PROGRAM, DATA)]
    if len(served) > replay.instance.channels:
        raise _BrokenRule("R3", f"{len(served)} workers are served, but n_com is {replay.instance.n_com}")
    for q in served:
        what = "the program" if slot.letters[q] == PROGRAM else "data"
        if slot.states[q] != UP:
            raise _BrokenRule("R3", f"worker {q} receives {what}, but is RECLAIMED")
        if slot.letters[q] == PROGRAM:
            if replay.has_program(q):
                raise _BrokenRule("R3", f"worker {q} receives the program, but has it already")
            replay.program[q] += 1
        else:
            if not replay.has_program(q):
                raise _BrokenRule("R3", f"worker {q} receives data without {replay.lacking(q)}")
            if replay.has_data(q):
                raise _BrokenRule(
                    "R3", f"worker {q} receives data, but lacks none for its {_count(replay.tasks[q], 'task')}"
                )
            replay.data[q] += 1


def _check_no_computation(replay: _Replay, slot: _Slot) -> None:
    computing = [q for q in replay.tasks if slot.letters[q] == COMPUTE]
    if not computing:
        return
    if not replay.is_complete():
        assigned = f"{sum(replay.tasks.values())} of {replay.instance.tasks} tasks are assigned"
        raise _BrokenRule("R3", f"worker {computing[0]} computes, but only {assigned}")
    for q in computing:
        if replay.lacking(q):
            raise _BrokenRule("R3", f"worker {q} computes without {replay.lacking(q)}")
    other = next(q for q, x in replay.tasks.items() if x > 0 and replay.lacking(q))
    raise _BrokenRule("R3", f"worker {computing[0]} computes, but worker {other} lacks {replay.lacking(other)}")


def _computation(replay: _Replay, slot: _Slot) -> None:
    """R4: all workers with tasks compute if all of them are UP, otherwise none does; nothing is sent."""
    absent = next((q for q, x in replay.tasks.items() if x > 0 and slot.states[q] != UP), None)
    for q, x in replay.tasks.items():
        letter = slot.letters[q]
        if letter == (COMPUTE if x > 0 and absent is None else ENROLLED_IDLE):
            continue
        if letter in (PROGRAM, DATA):
            reason = f"worker {q} has letter {letter}, but nothing is sent in a computation slot"
        elif letter == ENROLLED_IDLE:
            reason = f"worker {q} idles, but all workers with tasks are UP and have program and data"
        elif x == 0:
            reason = f"worker {q} computes, but is on stand-by"
        else:
            reason = f"worker {q} computes, but worker {absent} is RECLAIMED"
        raise _BrokenRule("R4", reason)
    if absent is None:
        replay.computed += 1


def _end_of_iteration(replay: _Replay, slot: _Slot) -> None:
    """R5: after W computed slots the iteration is complete and no worker is enrolled."""
    if replay.computed < max(x * replay.instance.w[q] for q, x in replay.tasks.items()):
        return
    for q in replay.tasks:
        replay.leave(q, f"slot {slot.number} (R5)")
    replay.tasks = {}
    replay.computed = 0
    replay.ended_in = slot.number
    replay.ends.append(slot.number + 1)


def _beyond_the_text(instance: Instance, schedule: Schedule) -> tuple[int, str, str] | tuple[None, None, None]:
    """Report letters after the last known state, or an entry after the last letter that enrols a worker."""
    if schedule.slots > instance.slots:
        return instance.slots, "R1", f"no state is known from slot {instance.slots} on"
    for entry in schedule.configurations:
        if entry.slot >= schedule.slots and entry.tasks:
            return entry.slot, "R2", f"worker {min(entry.tasks)} is enrolled after the last letter"
    return None, None, None
