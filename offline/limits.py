"""Limits of solvers, and the clock that all of them share."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from numbers import Integral, Real

from hindsched.instances.errors import InputError

__all__ = ["NO_LIMITS", "Limit", "Limits", "OutOfTimeError", "Stopwatch", "by_processor_time"]


class Limit(StrEnum):
    """The limit that stopped a solver before it had a proof.

    ``TIME``: the time limit. ``MEMORY``: the memory limit. ``EFFORT``: a fixed amount of work that the solver allows
    itself, such as nodes or moves. ``INTERRUPTED``: a request from outside. ``OTHER``: a reason that the solver does
    not report.
    """

    TIME = "time"
    MEMORY = "memory"
    EFFORT = "effort"
    INTERRUPTED = "interrupted"
    OTHER = "other"


class OutOfTimeError(Exception):
    """The time limit passed while a model was built. Solvers catch it and report `Limit.TIME`."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a solver may use.

    Parameters
    ----------
    time_limit_s
        Wall-clock seconds; None: no limit.
    memory_limit_mb
        Megabytes for a solver's own tables, for the solvers that count them (``native``); None: no limit.
    threads
        Threads a solver may use.
    seed
        Seed of a solver that draws random numbers, below 2^31.

    Raises
    ------
    InputError
        For a limit that is not a finite number > 0, fewer threads than 1, or a seed out of range.
    """

    time_limit_s: float | None = None
    memory_limit_mb: float | None = None
    threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if not _is_amount(self.time_limit_s):
            raise InputError(f"{self.time_limit_s!r}, expected seconds > 0", place="time limit")
        if not _is_amount(self.memory_limit_mb):
            raise InputError(f"{self.memory_limit_mb!r}, expected megabytes > 0", place="memory limit")
        if not (_is_integer(self.threads) and self.threads >= 1):
            raise InputError(f"{self.threads!r}, expected at least 1", place="threads")
        if not (_is_integer(self.seed) and 0 <= self.seed < 2**31):
            raise InputError(f"{self.seed!r}, expected an integer from 0 to 2147483647", place="seed")


def _is_amount(value: object) -> bool:
    """Return whether the value is None, for no limit, or a finite number > 0."""
    if value is None:
        return True
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return 0 < float(value) < math.inf
    except OverflowError:
        return False


def _is_integer(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


#: No limit, one thread, seed 0.
NO_LIMITS = Limits()


def _processor_s() -> float:
    """Return the processor seconds of this process, and of the child processes that have ended."""
    used = os.times()
    return time.process_time() + used.children_user + used.children_system


_clock: Callable[[], float] = time.monotonic


@contextmanager
def by_processor_time() -> Iterator[None]:
    """Let stopwatches that are made in this context count processor time instead of wall-clock time.

    For measurements on a shared machine. A library in this process is stopped by this clock too.

    Examples
    --------
    >>> with by_processor_time():
    ...     watch = Stopwatch(Limits(time_limit_s=0.5))
    >>> time.sleep(0.1)
    >>> watch.elapsed_s() < 0.1
    True
    """
    global _clock  # noqa: PLW0603 - one clock for all stopwatches
    before, _clock = _clock, _processor_s
    try:
        yield
    finally:
        _clock = before


class Stopwatch:
    """Counts the seconds since it was made, and the seconds left of a time limit.

    Examples
    --------
    >>> Stopwatch(Limits()).left_s() is None
    True
    """

    def __init__(self, limits: Limits) -> None:
        self._clock = _clock
        self._begun = self._clock()
        self._limit_s = limits.time_limit_s

    @property
    def is_of_processor(self) -> bool:
        """Whether the seconds are those of the processor."""
        return self._clock is _processor_s

    def elapsed_s(self) -> float:
        """Return the seconds since the stopwatch was made."""
        return self._clock() - self._begun

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Do not count the time in this context, in which machine code is loaded or compiled."""
        begun = self._clock()
        yield
        self._begun += self._clock() - begun

    def left_s(self) -> float | None:
        """Return the seconds left, at least 0; None without a limit."""
        return None if self._limit_s is None else max(0.0, self._limit_s - self.elapsed_s())

    def is_over(self) -> bool:
        """Return whether the time limit has passed."""
        return self.left_s() == 0.0

    def check(self) -> None:
        """Raise `OutOfTimeError` if the time limit has passed."""
        if self.is_over():
            raise OutOfTimeError
