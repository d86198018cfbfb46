"""Predictors of failures: whether a machine will be DOWN in the next slot (docs/bags/model.md section 3).

A predictor sees the states of all machines so far. `Oracle` and `Noisy` know the true states and are marked
``is_clairvoyant``: they measure the possible value of prediction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from math import gcd
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from hindsched.instances.bags.clock import HOUR_MS, HOURS_PER_WEEK, WEEK_MS, hour_of_week
from hindsched.instances.bags.model import Instance
from hindsched.instances.errors import InputError
from hindsched.instances.states import DOWN, UP, States
from hindsched.online.bags.visible import Problem
from hindsched.online.loading import load_entry_point, load_file

__all__ = [
    "PREDICTORS",
    "Clairvoyant",
    "Hour",
    "Never",
    "Noisy",
    "Oracle",
    "Past",
    "Predictor",
    "Seen",
    "make_predictor",
]

Bits: TypeAlias = npt.NDArray[np.bool_]

#: The built-in predictors; the first is the default.
PREDICTORS = ("hour", "hour:FILE", "past", "past:FILE", "never", "always", "oracle", "noisy:H,F,S")

_MASK = 2**64 - 1
#: The packaged trace of nine spot zones, and the seconds between its samples.
SPOT, SPOT_SLOT_S = "spot_aws_v100", 195

#: `Past` warns at more than this many times the overall hazard, as `Hour` does.
_WARNING_RATIO = 2
_DAY_HOURS = 24
#: Seed of the default training states.
_TRAINING_SEED = 2**31 - 1
_NOISY = re.compile(r"noisy:([0-9]{1,4}),([0-9]{1,4}),([0-9]{1,20})")


@dataclass(frozen=True, slots=True)
class Seen:
    """What a predictor sees in a slot.

    Parameters
    ----------
    problem
        The instance without its states.
    states
        The states of slots 0 to the present one; shape (p, slot + 1), read-only.
    """

    problem: Problem
    states: States


@runtime_checkable
class Predictor(Protocol):
    """A predictor of failures."""

    @property
    def name(self) -> str:
        """Its name in reports."""
        ...

    def predict(self, machine: int, slot: int, seen: Seen) -> bool:
        """Return whether the machine, UP in this slot, will be DOWN in the next one."""
        ...


@runtime_checkable
class Clairvoyant(Protocol):
    """A predictor that knows the true states."""

    def knowing(self, states: States) -> Predictor:
        """Return the predictor that knows these states."""
        ...


@dataclass(frozen=True, slots=True)
class Never:
    """A predictor with a constant answer."""

    name: str = "never"
    answer: bool = False

    def predict(self, machine: int, slot: int, seen: Seen) -> bool:
        """Return the answer."""
        return self.answer

    def answers(self, problem: Problem, states: States) -> Bits:
        """Return the answers for all machines and slots at once."""
        return np.full(states.shape, self.answer)


@dataclass(frozen=True, slots=True)
class Oracle:
    """The true answer; False in the last slot."""

    name: str = "oracle"
    states: States | None = field(default=None, repr=False)
    is_clairvoyant: bool = True

    def knowing(self, states: States) -> Oracle:
        """Return the oracle that knows these states."""
        return replace(self, states=states)

    def predict(self, machine: int, slot: int, seen: Seen) -> bool:
        """Return whether it is DOWN in the next slot."""
        return _is_down_next(self.states, machine, slot)

    def answers(self, problem: Problem, states: States) -> Bits:
        """Return the answers for all machines and slots at once."""
        next_down = np.zeros(states.shape, dtype=np.bool_)
        next_down[:, :-1] = states[:, 1:] == DOWN
        return next_down


@dataclass(frozen=True, slots=True)
class Noisy:
    """The true answer with random errors: it warns of ``hits`` of 1000 failures, and in ``false`` of 1000 other slots.

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> states = from_letters(["uu", "ud"])
    >>> from hindsched.instances.bags import Instance
    >>> problem = Problem.of(Instance(tasks=1, segments=1, slot=1, ticks=[1, 1], states=states))
    >>> Noisy(1000, 0, seed=7).answers(problem, states).tolist()
    [[False, False], [True, False]]
    """

    hits: int
    false: int
    seed: int
    states: States | None = field(default=None, repr=False)
    is_clairvoyant: bool = True

    @property
    def name(self) -> str:
        """Its text form."""
        return f"noisy:{self.hits},{self.false},{self.seed}"

    def knowing(self, states: States) -> Noisy:
        """Return the predictor that knows these states."""
        return replace(self, states=states)

    def predict(self, machine: int, slot: int, seen: Seen) -> bool:
        """Return the answer with errors."""
        draw = _mix(_mix(_mix(self.seed) ^ machine) ^ slot) >> 11
        share = self.hits if _is_down_next(self.states, machine, slot) else self.false
        return 1000 * draw < share * 2**53

    def answers(self, problem: Problem, states: States) -> Bits:
        """Return the answers for all machines and slots at once."""
        p, slots = states.shape
        machines = np.array([_mix(_mix(self.seed) ^ q) for q in range(p)], dtype=np.uint64)
        draws = _mixed(machines[:, None] ^ np.arange(slots, dtype=np.uint64)[None, :]) >> np.uint64(11)
        # for integers u, 1000 u < share 2^53 is u < ceil(share 2^53 / 1000)
        below = [np.uint64(-(-share * 2**53 // 1000)) for share in (self.hits, self.false)]
        found: Bits = draws < np.where(Oracle().answers(problem, states), *below)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Hour:
    """A predictor that warns in hours of the week with more than twice the overall hazard of other states.

    Parameters
    ----------
    name
        Its text form.
    hours
        168 answers: whether the hazard of the hour is more than twice the overall hazard.
    training
        The instance that it was trained on, if known.
    """

    name: str
    hours: tuple[bool, ...]
    training: Instance | None = field(default=None, repr=False)

    @classmethod
    def trained(cls, trace: Instance, name: str = "hour") -> Hour:
        """Return a predictor trained on the states of another instance, which must have a clock.

        Consider the slots in which a machine is UP and whose next slot begins in an hour: the hazard of the hour is the
        share of them whose next slot is DOWN; 0 if there are none.

        Raises
        ------
        InputError
            For an instance without clock.
        """
        problem = Problem.of(trace)
        if problem.clock_s is None:
            raise InputError("null, expected a clock in the training instance", place="clock_s")
        hours = _hours(problem, trace.slots)[1:]
        was_up = trace.states[:, :-1] == UP
        ups = np.bincount(hours, was_up.sum(axis=0), HOURS_PER_WEEK)
        failures = np.bincount(hours, (was_up & (trace.states[:, 1:] == DOWN)).sum(axis=0), HOURS_PER_WEEK)
        # f / u > 2 F / U, in integers
        warns = [int(f) * int(ups.sum()) > 2 * int(failures.sum()) * int(u) for f, u in zip(failures, ups, strict=True)]
        return cls(name, tuple(warns), trace)

    def expect_fit(self, instance: Instance) -> None:
        """Raise an `InputError` if it was trained on the states of the instance, at the same clock."""
        if self.training is not None:
            _expect_others(self.name, self.training, instance)

    def predict(self, machine: int, slot: int, seen: Seen) -> bool:
        """Return the answer for the hour in which the next slot begins."""
        clock = _clock(seen.problem, slot + 1)
        return self.hours[hour_of_week(clock)]

    def answers(self, problem: Problem, states: States) -> Bits:
        """Return the answers for all machines and slots at once."""
        p, slots = states.shape
        row = np.array(self.hours)[_hours(problem, slots + 1)[1:]]
        return np.repeat(row[None, :], p, axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """A predictor trained on the past of the machines alone, strictly on-line.

    In slot t it has counted the transitions from an UP slot into a slot up to t: in ``history``, the states before the
    run, and in the run itself. It compares failures with those expected at the overall hazard: of the machine, of all
    machines whose availability period has this age, and of all machines in this hour of the day. It warns if the
    product of the three ratios (failures + 1) / (expected failures + 1) is greater than two.

    Parameters
    ----------
    name
        Its text form.
    history
        The same machines up to the beginning of the run; None: it learns from the run alone.

    Notes
    -----
    Ages are classed by powers of two of slots. Without a clock all slots are in one hour. All answers take
    O(p (H + N)) for H slots of history.

    Examples
    --------
    A machine fails after every fourth slot. From the third period on, slots of age 4 are known to be risky:

    >>> from hindsched.instances.bags import Instance
    >>> trace = Instance.from_letters(["uuuud" * 5], ticks=[1], slot=1, tasks=1, segments=1)
    >>> np.flatnonzero(Past().answers(Problem.of(trace), trace.states)[0]).tolist()
    [13, 18, 23]
    """

    name: str = "past"
    history: Instance | None = field(default=None, repr=False)

    def expect_fit(self, instance: Instance) -> None:
        """Raise an `InputError` unless the history is of the same machines and slots, and ends where the run begins."""
        history, place = self.history, f"predictor {self.name}"
        if history is None:
            return
        if history.num_machines != instance.num_machines:
            raise InputError(f"{history.num_machines} machines, expected {instance.num_machines}", place=place)
        length = history.slot * history.tick_ms
        if length != instance.slot * instance.tick_ms:
            raise InputError(f"slots of {length} ms, expected those of the instance", place=place)
        end = None if history.clock_s is None else (history.clock_s * 1000 + history.slots * length) % WEEK_MS
        if end != (None if instance.clock_s is None else instance.clock_s * 1000):
            raise InputError("a history that does not end where the run begins", place=place)
        _expect_others(self.name, history, instance)

    def predict(self, machine: int, slot: int, seen: Seen) -> bool:
        """Return the answer from the history and the states seen."""
        return bool(self.answers(seen.problem, seen.states)[machine, slot])

    def answers(self, problem: Problem, states: States) -> Bits:
        """Return the answers for all machines and slots at once; each uses the states up to its slot only."""
        before = 0
        if self.history is not None:
            before, states = self.history.slots, np.hstack([self.history.states, states])
        p, length = states.shape
        slots, machines = np.arange(length), np.arange(p)[:, None]
        was_up = np.zeros(states.shape)
        was_up[:, 1:] = states[:, :-1] == UP  # the transition into a slot is known in that slot
        failed = was_up * (states == DOWN)
        every, failures = was_up.sum(axis=0).cumsum(), failed.sum(axis=0).cumsum()

        def ratio(groups: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
            """Return (failures + 1) / (expected failures + 1) of the group of each machine and slot."""
            groups = np.broadcast_to(groups, states.shape)
            number = int(groups.max()) + 1
            places = (np.roll(groups, 1, axis=1) * length + slots).ravel()  # a transition is of the group before it
            counted, lost = (
                np.bincount(places, each.ravel(), minlength=number * length).reshape(number, length).cumsum(axis=1)
                for each in (was_up, failed)
            )
            ratios: npt.NDArray[np.float64] = (lost + 1) * every / np.maximum(counted * failures + every, 1)
            return ratios[groups[:, before:], slots[before:]]

        hours = _hours_of_day(problem, before, length)  # of the slot after each slot
        warns: Bits = ratio(machines) * ratio(_age_classes(states)) * ratio(hours[None, :]) > _WARNING_RATIO
        return warns


#: Classes with a method ``answers`` for all slots at once; the method receives later states too.
BUILT_IN = (Never, Oracle, Noisy, Hour, Past)


def make_predictor(text: str, *, training: Instance | None = None) -> Predictor:
    """Return a predictor by name.

    Parameters
    ----------
    text
        ``never``, ``always``, ``oracle``; ``noisy:H,F,S`` with H and F of 1000 and a seed; ``hour``, trained on
        ``training`` or, without it, on a generated class-room trace; ``hour:FILE``, trained on an instance file, or
        ``hour:spot_aws_v100``, on the first half of the packaged zones; ``past``, with ``training`` or nothing as the
        states before the run; ``past:FILE``, with those of an instance file; or ``path/to/file.py:ClassName``, or an
        entry point of the group ``hindsched.predictors``.
    training
        Other states to train on; a user's class receives it if its constructor names ``training``.

    Raises
    ------
    InputError
        For an unknown name or invalid argument, and for an unusable file or class.

    Examples
    --------
    >>> make_predictor("noisy:900,10,7").name
    'noisy:900,10,7'
    """
    if text in {"never", "always"}:
        return Never(text, text == "always")
    if text == "oracle":
        return Oracle()
    if text.startswith("noisy"):
        return _noisy(text)
    if text == "past" or (text.startswith("past:") and not text.endswith(".py")):
        return Past(text, training if text == "past" else _training(text, None))
    if text == "hour" or (text.startswith("hour:") and not text.endswith(".py")):
        if text == f"hour:{SPOT}" or (text == "hour" and training is None):
            return _usual_hour(text)
        return Hour.trained(_training(text, training), text)
    options = {"training": training}
    path, colon, class_name = text.rpartition(":")
    if colon and path.endswith(".py"):
        made = load_file(path, class_name, options)
    else:
        made = load_entry_point("hindsched.predictors", text, options)
    if made is None:
        known = ", ".join(PREDICTORS)
        raise InputError(f"{text!r}, expected one of {known}, or path/to/file.py:ClassName", place="predictor")
    if not isinstance(made, Predictor) or not isinstance(made.name, str):
        raise InputError("expected a text attribute name and a method predict", place=f"predictor {text}")
    return made


def _noisy(text: str) -> Noisy:
    match = _NOISY.fullmatch(text)
    if match is None or max(int(match[1]), int(match[2])) > 1000 or int(match[3]) > _MASK:
        raise InputError(f"{text!r}, expected noisy:H,F,S, with H and F from 0 to 1000 and a seed S", place="predictor")
    return Noisy(int(match[1]), int(match[2]), int(match[3]))


def _training(text: str, training: Instance | None) -> Instance:
    from hindsched.instances.bags.files import read_instance  # noqa: PLC0415  # only if a file is named
    from hindsched.instances.text_files import read_json  # noqa: PLC0415

    _, colon, path = text.partition(":")
    if path == SPOT:
        return _first_half_of_the_zones()
    if colon:
        try:
            return read_instance(read_json(path))
        except InputError as error:
            raise error.in_file(path) from None
    return _usual_training() if training is None else training


@cache
def _usual_hour(text: str) -> Hour:
    """Return ``hour`` trained on states that come with the package."""
    return Hour.trained(_training(text, None), text)


@cache
def _first_half_of_the_zones() -> Instance:
    """Return the first half of the packaged spot zones; instances are cut from the second half."""
    from hindsched.instances.bags.from_trace import from_trace  # noqa: PLC0415
    from hindsched.instances.traces import read_packaged  # noqa: PLC0415

    whole = from_trace(read_packaged(SPOT), tasks=1, slot_s=SPOT_SLOT_S)
    return whole.replace(states=whole.states[:, : whole.slots // 2])


@cache
def _usual_training() -> Instance:
    """Return the default training states of ``hour``: a generated class-room trace."""
    from hindsched.instances.bags.generate import paper  # noqa: PLC0415

    return paper("M01", seed=_TRAINING_SEED)


def _expect_others(name: str, training: Instance, instance: Instance) -> None:
    """Raise an `InputError` if the training states of a predictor hold those of the instance."""
    if _holds(training, instance):
        raise InputError("trained on the instance's own states, expected others", place=f"predictor {name}")


def _holds(trace: Instance, instance: Instance) -> bool:
    """Return whether the states of an instance are part of another's, from a slot on that begins at the same clock."""
    length = instance.slot * instance.tick_ms
    if instance.clock_s is None or trace.clock_s is None or trace.slot * trace.tick_ms != length:
        return False
    if instance.num_machines != trace.num_machines:
        return False
    # slots t of the trace with t length = later, modulo a week
    later, common = (instance.clock_s - trace.clock_s) * 1000, gcd(length, WEEK_MS)
    if later % common:
        return False
    step = WEEK_MS // common
    first = later // common * pow(length // common, -1, step) % step
    starts = range(first, trace.slots - instance.slots + 1, step)
    return any(
        np.array_equal(trace.states[:, t], instance.states[:, 0])  # usually decides
        and np.array_equal(trace.states[:, t : t + instance.slots], instance.states)
        for t in starts
    )


def _is_down_next(states: States | None, machine: int, slot: int) -> bool:
    if states is None:
        raise InputError("predicts before it knows the states, expected a call of knowing first", place="predictor")
    return slot + 1 < states.shape[1] and bool(states[machine, slot + 1] == DOWN)


def _clock(problem: Problem, slot: int) -> int:
    clock = problem.clock_ms(slot * problem.slot)
    if clock is None:
        raise InputError("null, expected a clock for the predictor hour", place="clock_s")
    return clock


def _hours(problem: Problem, slots: int) -> npt.NDArray[np.int64]:
    """Return the hour of the week in which each of the first ``slots`` slots begins."""
    first, length = _clock(problem, 0) % WEEK_MS, problem.slot * problem.tick_ms % WEEK_MS
    return (first + length * np.arange(slots, dtype=np.int64)) % WEEK_MS // HOUR_MS


def _hours_of_day(problem: Problem, before: int, slots: int) -> npt.NDArray[np.int64]:
    """Return the hour of the day in which the slot after each slot begins, from ``before`` slots before the run on."""
    if problem.clock_s is None:
        return np.zeros(slots, dtype=np.int64)
    first, length = _clock(problem, 0) % WEEK_MS, problem.slot * problem.tick_ms % WEEK_MS
    return (first + length * np.arange(1 - before, slots + 1 - before)) % WEEK_MS // HOUR_MS % _DAY_HOURS


def _age_classes(states: States) -> npt.NDArray[np.int64]:
    """Return the class of the age of each machine's availability period: [log2(slots since it began, with this one)].

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> _age_classes(from_letters(["duuuuru", "uuduuuu"])).tolist()
    [[0, 0, 1, 1, 2, 2, 2], [0, 1, 0, 0, 1, 1, 2]]
    """
    slots = np.arange(states.shape[1])
    last_down = np.maximum.accumulate(np.where(states == DOWN, slots, -1), axis=1)
    ages = np.maximum(slots - last_down, 1)
    return np.frexp(ages.astype(np.float64))[1].astype(np.int64) - 1


def _mix(number: int) -> int:
    """Return splitmix64 of a 64-bit number."""
    number = (number + 0x9E3779B97F4A7C15) & _MASK
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & _MASK
    return number ^ (number >> 31)


def _mixed(numbers: Any) -> npt.NDArray[np.uint64]:
    """Return splitmix64 of each number of an array, the same as `_mix`."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: npt.NDArray[np.uint64] = numbers ^ (numbers >> np.uint64(31))
    return mixed
