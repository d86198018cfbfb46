"""Availability of workers: flat integer arrays of half-open intervals, and the sources that give them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hindsched.instances.errors import InputError

__all__ = ["MOST", "Availability", "AvailabilitySource", "Ints", "KnownAvailability"]

#: Arrays of 64-bit integers.
Ints = npt.NDArray[np.int64]

#: The largest number in an instance: every JSON reader represents it exactly.
MOST = 2**53 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Availability:
    """The intervals of W workers, worker by worker.

    Parameters
    ----------
    ups
        Intervals [a, b) in seconds, shape (n, 2), in increasing order for each worker; integers of 32 bits if possible.
    offsets
        Shape (W + 1,). Worker j has the rows offsets[j] to offsets[j + 1] - 1.

    Examples
    --------
    >>> two = Availability.of([[(0, 5), (7, 9)], []])
    >>> two.of_worker(0).tolist(), two.of_worker(1).tolist()
    ([[0, 5], [7, 9]], [])
    """

    ups: npt.NDArray[Any]
    offsets: Ints

    def __post_init__(self) -> None:
        for name in ("ups", "offsets"):
            array = getattr(self, name).view()
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def of(cls, workers: Sequence[Sequence[Sequence[int]]]) -> Availability:
        """Return the availability of lists of intervals, one list per worker, without checks."""
        offsets = np.cumsum([0, *map(len, workers)], dtype=np.int64)
        flat = np.array([pair for intervals in workers for pair in intervals], dtype=np.int64).reshape(-1, 2)
        return cls(with_least_dtype(flat), offsets)

    @property
    def num_workers(self) -> int:
        """Number of workers, W."""
        return len(self.offsets) - 1

    def of_worker(self, worker: int) -> npt.NDArray[Any]:
        """Return the intervals of one worker; shape (n_j, 2), read-only."""
        return self.ups[self.offsets[worker] : self.offsets[worker + 1]]

    def row_ranges(self, since: int, until: int) -> tuple[Ints, Ints]:
        """Return for each worker the rows [low, high) of the intervals with a second in [since, until).

        Notes
        -----
        O(W log n), in one vectorised bisection.
        """
        low = self._first(1, since, after=True)
        return low, np.maximum(low, self._first(0, until, after=False))

    def window(self, since: int, until: int) -> Availability:
        """Return the intervals with a second in [since, until); they are not clipped to this window."""
        low, high = self.row_ranges(since, until)
        sizes = high - low
        if int(sizes.sum()) == len(self.ups):
            return self
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        rows = np.repeat(low - offsets[:-1], sizes) + np.arange(int(offsets[-1]))
        return Availability(self.ups[rows], offsets)

    def _first(self, column: int, time: int, *, after: bool) -> Ints:
        """Return each worker's first row whose begin (column 0) or end (column 1) is >= ``time``; > if ``after``."""
        low, high = self.offsets[:-1].copy(), self.offsets[1:].copy()
        ends = self.ups[:, column]
        while (open_ := low < high).any():
            middle = (low + high) // 2
            found = ends[middle[open_]]
            below = np.zeros_like(open_)
            below[open_] = found <= time if after else found < time
            low = np.where(below, middle + 1, low)
            high = np.where(open_ & ~below, middle, high)
        return low


def with_least_dtype(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the numbers as 32-bit integers if all of them fit, otherwise as 64-bit integers."""
    fits = array.size == 0 or int(array.max()) <= np.iinfo(np.int32).max
    return array.astype(np.int32 if fits else np.int64, copy=False)


class AvailabilitySource(ABC):
    """A source of the availability of W workers: known intervals, or random ones that are drawn when they are read."""

    @property
    @abstractmethod
    def num_workers(self) -> int:
        """Number of workers, W."""

    @property
    @abstractmethod
    def firsts(self) -> Ints:
        """First available second of each worker, read-only; -1 for a worker that is never available."""

    @property
    @abstractmethod
    def identity(self) -> bytes:
        """The content of the source, for fingerprints: sources with the same identity have the same intervals."""

    @abstractmethod
    def window(self, since: int, until: int) -> Availability:
        """Return the intervals with a second in [since, until); they are not clipped to this window."""

    @abstractmethod
    def covering(self, since: int, until: int) -> Availability:
        """Return at least the intervals with a second in [since, until); further ones where this is faster."""

    @abstractmethod
    def whole(self) -> Availability:
        """Return all intervals."""


@dataclass(frozen=True, eq=False)
class KnownAvailability(AvailabilitySource):
    """Availability that is given as intervals.

    Parameters
    ----------
    availability
        The intervals.

    Raises
    ------
    InputError
        If an interval is empty, begins before second 0, ends after `MOST`, or does not begin after the end of the
        previous one. The message names worker and interval (``workers[3].up[7]``).
    """

    availability: Availability = field(repr=False)

    def __post_init__(self) -> None:
        ups, offsets = self.availability.ups, self.availability.offsets
        if len(ups) == 0:
            return
        wrong = (ups[:, 0] < 0) | (ups[:, 1] <= ups[:, 0]) | (ups[:, 1] > MOST)
        after = np.concatenate(([False], ups[1:, 0] <= ups[:-1, 1]))
        after[offsets[:-1][offsets[:-1] < len(ups)]] = False  # first intervals of workers
        found = np.flatnonzero(wrong | after)
        if found.size == 0:
            return
        row = int(found[0])
        worker = int(np.searchsorted(offsets, row, side="right")) - 1
        a, b = (int(number) for number in ups[row])
        expected = "integers 0 <= a < b"
        if b > MOST:
            expected = f"integers <= {MOST}"
        elif not wrong[row]:
            expected = f"a begin after {int(ups[row - 1, 1])}, the end of the previous interval"
        place = f"workers[{worker}].up[{row - int(offsets[worker])}]"
        raise InputError(f"[{a}, {b}], expected {expected}", place=place)

    @property
    def num_workers(self) -> int:
        """Number of workers, W."""
        return self.availability.num_workers

    @cached_property
    def firsts(self) -> Ints:
        """First available second of each worker; -1 for a worker that is never available."""
        ups, offsets = self.availability.ups, self.availability.offsets
        firsts = np.full(self.num_workers, -1, dtype=np.int64)
        some = offsets[1:] > offsets[:-1]
        firsts[some] = ups[offsets[:-1][some], 0]
        firsts.setflags(write=False)
        return firsts

    @cached_property
    def identity(self) -> bytes:
        """The intervals as 64-bit integers."""
        ups = np.ascontiguousarray(self.availability.ups, dtype="<i8")
        return b"known\0" + self.availability.offsets.astype("<i8").tobytes() + ups.tobytes()

    def window(self, since: int, until: int) -> Availability:
        """Return the intervals with a second in [since, until); they are not clipped to this window."""
        return self.availability.window(since, until)

    def covering(self, since: int, until: int) -> Availability:
        """Return all intervals."""
        return self.availability

    def whole(self) -> Availability:
        """Return all intervals."""
        return self.availability
