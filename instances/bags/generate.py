"""Instances of the paper's experiment, and small random ones (docs/bags/model.md section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import floor

import numpy as np

from hindsched.instances import states as st
from hindsched.instances.bags.clock import TimeOfWeek, time_of_week
from hindsched.instances.bags.model import MOST, WEEK_S, Instance, Store
from hindsched.instances.errors import InputError
from hindsched.instances.random_streams import stream

__all__ = ["MIXES", "SETS", "TRACES", "TRACE_SLOTS", "classroom", "paper", "segment_ticks", "small", "timetabled"]

#: Speed index of each type of machine, and that of the reference machine.
SPEEDS = {"A": 12952, "B": 21533, "C": 37791, "D": 42320}
REFERENCE_SPEED = 25008
#: The paper's sets of machines: the number of each type.
SETS = {"M01": {"D": 32}, "M04": {"A": 8, "B": 8, "C": 8, "D": 8}}
#: Orders of the machines of a set with several types; the first is the default.
MIXES = ("blocks", "interleaved")

#: The substitute trace: slots of 120 s, 39 days from a Monday on; hourly rates by day, and their divisor otherwise.
SLOT_S, TRACE_SLOTS = 120, 28_080
ON_RATE, OFF_RATE, DIVISOR = 0.2, 0.1644, 50.0
_WEEK_SLOTS = WEEK_S // SLOT_S
#: Traces: machines that are independent of one another, or rooms with a timetable; the first is the default.
TRACES = ("independent", "rooms")

#: The trace `rooms`: machines of a room, hours at which classes begin, slots of a class, share of the classes held.
ROOM, CLASS_HOURS, CLASS_SLOTS, CLASS_SHARE = 16, (8, 10, 14, 16, 18), 60, 0.6
#: Probabilities that a machine is switched on at the beginning of a class, and off at its end, within ten minutes.
CLASS_ON, CLASS_OFF, CLASS_SPREAD = 0.6, 0.5, 5
#: Other hourly rates from 8:00 to 20:00, and their factors by hour of the day and on Saturdays.
ROOM_ON_RATE, ROOM_OFF_RATE, SATURDAY = 0.172, 0.114, 0.25
HOUR_FACTORS = (0.1,) * 4 + (0.0,) * 4 + (1.0,) * 12 + (0.5,) * 4
_DAYS = 5


def segment_ticks(kind: str, *, reference_s: int, segments: int) -> int:
    """Return the milliseconds that a machine of a type needs for one segment.

    Parameters
    ----------
    kind
        One of the types A, B, C, D.
    reference_s
        R, CPU seconds of a whole task on the reference machine.
    segments
        k, segments of a task.

    Raises
    ------
    InputError
        If the type is unknown.

    Examples
    --------
    >>> segment_ticks("D", reference_s=1800, segments=10), segment_ticks("A", reference_s=3600, segments=1)
    (106367, 6950957)
    """
    if kind not in SPEEDS:
        raise InputError(f"type {kind!r}, expected one of {', '.join(SPEEDS)}", place="kinds")
    return floor(Fraction(1000 * reference_s * REFERENCE_SPEED, SPEEDS[kind] * segments) + Fraction(1, 2))


def classroom(
    seed: int,
    *,
    machines: int = 32,
    slots: int = TRACE_SLOTS,
    on_rate: float = ON_RATE,
    off_rate: float = OFF_RATE,
    divisor: float = DIVISOR,
) -> st.States:
    """Return the states of class-room machines from Monday 00:00 on, in slots of 120 s; shape (machines, slots).

    A machine is on (UP) or off (DOWN). By day a machine that is off is switched on at ``on_rate`` per hour, and one
    that is on is switched off at ``off_rate`` per hour. At night and on weekends both rates are divided. The trace
    replaces a lost one (docs/bags/model.md section 6). The states of a machine in its first slots do not depend on the
    number of slots or on other machines.

    Parameters
    ----------
    seed
        Seed of the trace.
    machines, slots
        Size of the trace.
    on_rate, off_rate
        Rates by day, per hour.
    divisor
        Divisor of both rates at night and on weekends.

    Raises
    ------
    InputError
        If a size, a rate or the divisor is out of range.

    Examples
    --------
    >>> round(float((classroom(0, slots=2000) == st.UP).mean()), 2)
    0.52
    """
    _expect_size(machines, slots)
    for name, rate in (("on_rate", on_rate), ("off_rate", off_rate), ("divisor", divisor)):
        if not 0 < rate < float("inf"):
            raise InputError(f"{rate}, expected a number above 0", place=name)
    quiet = np.array([time_of_week(t * SLOT_S * 1000) is not TimeOfWeek.DAY for t in range(slots)])
    factor = np.where(quiet, 1 / divisor, 1.0)
    states = np.empty((machines, slots), dtype=np.uint8)
    for q in range(machines):
        draws = stream("bags", seed, q).random(slots + 1)
        comes, goes = (draws[1:] < rate * SLOT_S / 3600 * factor for rate in (on_rate, off_rate))
        states[q] = _flipped(bool(draws[0] < on_rate / (on_rate + off_rate)), comes, goes)
    states.setflags(write=False)
    return states


def timetabled(seed: int, *, machines: int = 32, slots: int = TRACE_SLOTS) -> st.States:
    """Return the states of machines in class rooms with a timetable, from Monday 00:00 on; shape (machines, slots).

    Every 16 machines share a room, and every room has a weekly timetable of classes of two hours. The machines of a
    room are switched on at the beginning of a class and off at its end, so they fail together. In addition each machine
    is switched on and off at rates that follow the hour of the day. Nothing changes at night and on weekends. Sources
    and assumptions of all numbers are in docs/bags/model.md section 6. The states of a machine in its first slots do
    not depend on the number of slots or of machines.

    Parameters
    ----------
    seed
        Seed of the trace.
    machines, slots
        Size of the trace.

    Raises
    ------
    InputError
        If a size is out of range.

    Examples
    --------
    >>> round(float((timetabled(0) == st.UP).mean()), 2)
    0.54
    """
    _expect_size(machines, slots)
    hours = np.arange(slots) * SLOT_S // 3600
    is_open = np.array([time_of_week(t * SLOT_S * 1000) is TimeOfWeek.DAY for t in range(slots)])
    factor = np.where(is_open, np.array(HOUR_FACTORS)[hours % 24], 0.0)
    factor[hours % (7 * 24) >= _DAYS * 24 + 4] *= SATURDAY
    weeks = -(-slots // _WEEK_SLOTS)
    states = np.empty((machines, slots), dtype=np.uint8)
    for q in range(machines):
        is_held = stream("bags", "timetable", seed, q // ROOM).random((_DAYS, len(CLASS_HOURS))) < CLASS_SHARE
        begins = [
            week * _WEEK_SLOTS + (24 * day + CLASS_HOURS[i]) * 3600 // SLOT_S
            for week in range(weeks)
            for day, i in np.argwhere(is_held).tolist()
        ]
        draws = stream("bags", "room", seed, q).random(slots + 1)
        comes, goes = (draws[1:] < rate * SLOT_S / 3600 * factor for rate in (ROOM_ON_RATE, ROOM_OFF_RATE))
        for begin, (late, on, early, off) in zip(
            begins, stream("bags", "classes", seed, q).random((len(begins), 4)).tolist(), strict=True
        ):
            first, last = begin + int(CLASS_SPREAD * late), begin + CLASS_SLOTS - 1 - int(CLASS_SPREAD * early)
            if first < slots:
                comes[first] |= on < CLASS_ON
            if last < slots:
                goes[last] |= off < CLASS_OFF
        states[q] = _flipped(bool(draws[0] < ON_RATE / (ON_RATE + OFF_RATE)), comes, goes)
    states.setflags(write=False)
    return states


def _expect_size(machines: int, slots: int) -> None:
    for name, value in (("machines", machines), ("slots", slots)):
        if not 1 <= value <= st.MOST_SLOTS:
            raise InputError(f"{value}, expected an integer from 1 to {st.MOST_SLOTS}", place=name)


def _flipped(is_up: bool, comes: np.ndarray, goes: np.ndarray) -> st.States:
    """Return a machine's states: it is switched on where ``comes`` if it is off, and off where ``goes`` if it is on."""
    states = np.empty(len(comes), dtype=np.uint8)
    states[0] = st.UP if is_up else st.DOWN
    events = np.flatnonzero(comes | goes)
    last = 0
    for t in events.tolist():
        if t and (goes[t] if is_up else comes[t]):
            states[last:t] = st.UP if is_up else st.DOWN
            is_up, last = not is_up, t
    states[last:] = st.UP if is_up else st.DOWN
    return states


def paper(
    machines: str = "M01",
    *,
    tasks: int = 25,
    reference_s: int = 1800,
    checkpoints: int = 0,
    store: Store | str = Store.SHARED,
    on_demand: bool = False,
    slots: int | None = None,
    start: int = 0,
    seed: int = 0,
    mix: str = MIXES[0],
    trace: str = TRACES[0],
) -> Instance:
    """Return one instance of the paper's experiment on a substitute trace.

    Parameters
    ----------
    machines
        One of `SETS`.
    tasks, reference_s, checkpoints
        n, R, and k - 1. The paper has 25 and 75, 1800 and 7200, and 0, 1 and 9.
    store, on_demand
        See `Instance`.
    slots
        N. None: all slots up to the end of the trace of 28,080 slots.
    start
        The slot of the trace that is slot 0 of the instance.
    seed
        Seed of the trace.
    mix
        One of `MIXES`: machines sorted by type, slowest first, or types in alternation.
    trace
        One of `TRACES`: that of `classroom`, or that of `timetabled`.

    Raises
    ------
    InputError
        If a name is unknown, a number is out of range, or the slots are not within the trace.

    Examples
    --------
    >>> monday = paper("M04", checkpoints=9, start=240, slots=100, seed=7)
    >>> monday.ticks[::8], monday.clock_s, monday.slot
    ((347548, 209048, 119114, 106367), 28800, 120000)
    """
    for name, text, known in (("set", machines, SETS), ("mix", mix, MIXES), ("trace", trace, TRACES)):
        if text not in known:
            raise InputError(f"{text!r}, expected one of {', '.join(known)}", place=name)
    for name, number, least in (("checkpoints", checkpoints, 0), ("start", start, 0), ("reference_s", reference_s, 1)):
        if not least <= number <= MOST:
            raise InputError(f"{number}, expected an integer from {least} to {MOST}", place=name)
    if start >= TRACE_SLOTS:
        raise InputError(f"{start}, expected a slot of the trace, 0 to {TRACE_SLOTS - 1}", place="start")
    if slots is None:
        slots = TRACE_SLOTS - start
    if not 1 <= slots <= TRACE_SLOTS - start:
        raise InputError(
            f"{slots}, expected 1 to {TRACE_SLOTS - start}: the trace has {TRACE_SLOTS}, start is {start}",
            place="slots",
        )
    kinds = [kind for kind, number in SETS[machines].items() for _ in range(number)]
    if mix == "interleaved":
        number = len(SETS[machines])
        kinds = [kinds[i * (len(kinds) // number) + j] for j in range(len(kinds) // number) for i in range(number)]
    states = _drawn(trace, seed, len(kinds), -(-(start + slots) // _WEEK_SLOTS) * _WEEK_SLOTS)
    return Instance(
        tasks=tasks,
        segments=checkpoints + 1,
        slot=SLOT_S * 1000,
        ticks=[segment_ticks(kind, reference_s=reference_s, segments=checkpoints + 1) for kind in kinds],
        states=states[:, start : start + slots],
        store=store,
        on_demand=on_demand,
        reference_s=reference_s,
        clock_s=start * SLOT_S % WEEK_S,
    )


@lru_cache(maxsize=4)
def _drawn(trace: str, seed: int, machines: int, slots: int) -> st.States:
    """Return a trace of which instances are parts. It is cached, because many instances are parts of the same one."""
    return (classroom if trace == TRACES[0] else timetabled)(seed, machines=machines, slots=slots)


def small(
    seed: int,
    *,
    machines: int = 3,
    slots: int = 8,
    tasks: int = 2,
    segments: int = 2,
    slot: int = 4,
    ticks: Sequence[int] = (1, 6),
    store: Store | str = Store.SHARED,
    on_demand: bool = False,
    up: float = 0.7,
    down: float = 0.2,
    stay: float = 0.5,
    clock_s: int | None = None,
) -> Instance:
    """Return a small random instance, for tests and first steps.

    Parameters
    ----------
    seed
        Seed of the instance; every machine has a separate random stream.
    machines, slots, tasks, segments, slot, store, on_demand, clock_s
        See `Instance`.
    ticks
        Least and largest number of UP ticks of a segment.
    up, down
        Probabilities of UP and DOWN for a drawn state; it is RECLAIMED otherwise.
    stay
        Probability that a machine keeps its state in the next slot; otherwise a state is drawn.

    Raises
    ------
    InputError
        If ``up``, ``down`` or ``stay`` is not a probability, or as in `Instance`.
    """
    if not (up >= 0 and down >= 0 and up + down <= 1 and 0 <= stay <= 1):
        raise InputError(f"up {up}, down {down} and stay {stay}, expected probabilities, up + down at most 1")
    states = np.empty((machines, slots), dtype=np.uint8)
    lengths = []
    for q in range(machines):
        draw = stream("bags", "small", seed, q)
        lengths.append(int(draw.integers(ticks[0], ticks[1], endpoint=True)))
        numbers = draw.random((2, slots))
        for t in range(slots):
            if t and numbers[0, t] < stay:
                states[q, t] = states[q, t - 1]
            else:
                x = numbers[1, t]
                states[q, t] = st.UP if x < up else st.DOWN if x < up + down else st.RECLAIMED
    return Instance(
        tasks=tasks,
        segments=segments,
        slot=slot,
        ticks=lengths,
        states=states,
        store=store,
        on_demand=on_demand,
        clock_s=clock_s,
    )
