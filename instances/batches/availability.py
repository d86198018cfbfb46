"""When workers are available: flat integer arrays of half-open intervals, or what they are drawn from."""

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

#: 64-bit integers; availability uses 32 bits where they hold it.
Ints = npt.NDArray[np.int64]

#: The largest number an instance may hold: every JSON reader keeps it exactly.
MOST = 2**53 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Availability:
    """The intervals of W workers, one after the other.

    Parameters
    ----------
    ups
        Shape (n, 2): intervals [a, b) in seconds, increasing within each worker; 32 bits where they hold them.
    offsets
        Shape (W + 1,): worker j has the rows offsets[j] to offsets[j + 1] - 1.

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
        """Return the availability of lists of intervals, one list per worker, unchecked."""
        offsets = np.cumsum([0, *map(len, workers)], dtype=np.int64)
        flat = np.array([pair for intervals in workers for pair in intervals], dtype=np.int64).reshape(-1, 2)
        return cls(with_least_dtype(flat), offsets)

    @property
    def num_workers(self) -> int:
        """How many workers, W."""
        return len(self.offsets) - 1

    def of_worker(self, worker: int) -> npt.NDArray[Any]:
        """Return the intervals of one worker; shape (n_j, 2), read-only."""
        return self.ups[self.offsets[worker] : self.offsets[worker + 1]]

    def places(self, since: int, until: int) -> tuple[Ints, Ints]:
        """Return for each worker the rows [low, high) of the intervals that have a second in [since, until).

        Notes
        -----
        O(W log n): all workers are searched together.
        """
        low = self._first(1, since, after=True)
        return low, np.maximum(low, self._first(0, until, after=False))

    def window(self, since: int, until: int) -> Availability:
        """Return the intervals that have a second in [since, until), whole."""
        low, high = self.places(since, until)
        sizes = high - low
        if int(sizes.sum()) == len(self.ups):
            return self
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        rows = np.repeat(low - offsets[:-1], sizes) + np.arange(int(offsets[-1]))
        return Availability(self.ups[rows], offsets)

    def _first(self, column: int, time: int, *, after: bool) -> Ints:
        """Return each worker's first row whose begin (column 0) or end (1) is not before, or after, a time."""
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
    """Return the numbers in 32 bits if they all fit, else in 64."""
    fits = array.size == 0 or int(array.max()) <= np.iinfo(np.int32).max
    return array.astype(np.int32 if fits else np.int64, copy=False)


class AvailabilitySource(ABC):
    """Where the availability of an instance comes from."""

    @property
    @abstractmethod
    def num_workers(self) -> int:
        """How many workers, W."""

    @property
    @abstractmethod
    def firsts(self) -> Ints:
        """W first available seconds, read-only; -1 for a worker that never is."""

    @property
    @abstractmethod
    def identity(self) -> bytes:
        """What equality and fingerprints go by."""

    @abstractmethod
    def window(self, since: int, until: int) -> Availability:
        """Return the intervals that have a second in [since, until), whole."""

    @abstractmethod
    def covering(self, since: int, until: int) -> Availability:
        """Return the intervals that have a second in [since, until), and perhaps others: what costs least."""

    @abstractmethod
    def whole(self) -> Availability:
        """Return all intervals."""


@dataclass(frozen=True, eq=False)
class KnownAvailability(AvailabilitySource):
    """Availability that is written down.

    Parameters
    ----------
    availability
        The intervals.

    Raises
    ------
    InputError
        Naming worker and interval (``workers[3].up[7]``): one that is empty, begins before second 0, or does not
        begin after the end of the one before.
    """

    availability: Availability = field(repr=False)

    def __post_init__(self) -> None:
        ups, offsets = self.availability.ups, self.availability.offsets
        if len(ups) == 0:
            return
        wrong = (ups[:, 0] < 0) | (ups[:, 1] <= ups[:, 0]) | (ups[:, 1] > MOST)
        after = np.concatenate(([False], ups[1:, 0] <= ups[:-1, 1]))
        after[offsets[:-1][offsets[:-1] < len(ups)]] = False  # the first of a worker has none before it
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
            expected = f"a begin after {int(ups[row - 1, 1])}, where the one before ends"
        place = f"workers[{worker}].up[{row - int(offsets[worker])}]"
        raise InputError(f"[{a}, {b}], expected {expected}", place=place)

    @property
    def num_workers(self) -> int:
        """How many workers, W."""
        return self.availability.num_workers

    @cached_property
    def firsts(self) -> Ints:
        """W first available seconds; -1 for a worker that never is."""
        ups, offsets = self.availability.ups, self.availability.offsets
        firsts = np.full(self.num_workers, -1, dtype=np.int64)
        some = offsets[1:] > offsets[:-1]
        firsts[some] = ups[offsets[:-1][some], 0]
        firsts.setflags(write=False)
        return firsts

    @cached_property
    def identity(self) -> bytes:
        """What equality and fingerprints go by: the intervals, however they are stored."""
        ups = np.ascontiguousarray(self.availability.ups, dtype="<i8")
        return b"known\0" + self.availability.offsets.astype("<i8").tobytes() + ups.tobytes()

    def window(self, since: int, until: int) -> Availability:
        """Return the intervals that have a second in [since, until), whole."""
        return self.availability.window(since, until)

    def covering(self, since: int, until: int) -> Availability:
        """Return all intervals: they are there."""
        return self.availability

    def whole(self) -> Availability:
        """Return all intervals."""
        return self.availability
