"""Availability periods: how much work each holds by an instant, and when a segment can start and end in it.

An *availability period* is the time of a machine between two DOWN slots (docs/bags/model.md section 4): a segment lies
in one period, or is lost. Only UP ticks advance work. So the instants of a period and its *work*, the UP ticks done by
an instant, are two coordinates. While the machine is RECLAIMED many instants have the same work: a segment ends at the
earliest of them and starts at the latest.

Let cap be the UP ticks of the period before an instant tau, and g the ticks of a segment on the machine. The period has
m = floor(cap / g) *positions*. Position j (from 0) starts at work j g at the earliest and at work cap - (m - j) g at
the latest; the two are less than g apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from hindsched.instances.states import DOWN, RECLAIMED, UP, States

__all__ = ["AvailabilityPeriods", "Ints", "Positions"]

Ints: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """All positions by an instant tau, in order of machine, period and number.

    Parameters
    ----------
    period, machine
        The period, and the machine.
    number
        The number within the period, from 0.
    ticks
        UP ticks of a segment on its machine.
    first_start, first_end
        Earliest (leftmost) start and end, in ticks.
    last_start, last_end
        Latest (rightmost) start and end that leave room for all later positions of the period before tau.
    """

    period: Ints
    machine: Ints
    number: Ints
    ticks: Ints
    first_start: Ints
    first_end: Ints
    last_start: Ints
    last_end: Ints

    def __len__(self) -> int:
        return self.period.size


@dataclass(frozen=True, slots=True, eq=False)
class AvailabilityPeriods:
    """All availability periods with an UP tick, as flat arrays: p machines, S periods, R runs of UP slots.

    Parameters
    ----------
    ticks
        Shape (p,): UP ticks of a segment on each machine.
    horizon
        Number of known ticks.
    machine
        Shape (S,), ascending: the machine of each period.
    first_run
        Shape (S + 1,): period s has the runs ``first_run[s]`` to ``first_run[s + 1] - 1``.
    start, end
        Shape (R,): the run is the ticks [start, end), ascending within a machine.
    before
        Shape (R + 1,): UP ticks of all runs before this one, of all machines.
    """

    ticks: Ints
    horizon: int
    machine: Ints
    first_run: Ints
    start: Ints
    end: Ints
    before: Ints

    @classmethod
    def of_states(cls, states: States, ticks: npt.ArrayLike, slot: int) -> AvailabilityPeriods:
        """Return the availability periods of p machines; O(p N) array steps.

        Parameters
        ----------
        states
            Shape (p, N).
        ticks
            p integers >= 1, UP ticks of a segment.
        slot
            Ticks of a slot.

        Examples
        --------
        >>> from hindsched.instances.states import from_letters
        >>> found = AvailabilityPeriods.of_states(from_letters(["uruduu", "rdddud"]), [3, 2], slot=10)
        >>> found.machine.tolist(), found.first_run.tolist(), found.start.tolist(), found.end.tolist()
        ([0, 0, 1], [0, 2, 3, 4], [0, 20, 40, 40], [10, 30, 60, 50])
        """
        p, slots = states.shape
        width = slots + 1  # with a column that is not UP, which separates the rows
        starts, ends = _runs(states == UP)
        row = starts // width
        new = np.ones(starts.size, dtype=np.bool_)
        if np.any(states == RECLAIMED):
            falls, _ = _runs(states == DOWN)
            next_fall = np.append(falls, p * width)[np.searchsorted(falls, ends[:-1])]
            new[1:] = (row[1:] != row[:-1]) | (next_fall < starts[1:])
        first_run = np.flatnonzero(new)
        start, end = (starts - row * width) * slot, (ends - row * width) * slot
        arrays = {
            "ticks": np.asarray(ticks, dtype=np.int64),
            "machine": row[first_run],
            "first_run": np.append(first_run, starts.size),
            "start": start,
            "end": end,
            "before": np.concatenate([[0], np.cumsum(end - start)]),
        }
        for array in arrays.values():
            array.setflags(write=False)
        return cls(horizon=slots * slot, **arrays)

    def caps(self, tau: int) -> Ints:
        """Return the UP ticks of each period before ``tau``; shape (S,)."""
        if not self.machine.size:
            return self.machine
        done = np.maximum(np.minimum(self.end, tau) - self.start, 0)
        return np.add.reduceat(done, self.first_run[:-1])

    def counts(self, tau: int) -> Ints:
        """Return the number of positions of each period by ``tau``; shape (S,)."""
        return self.caps(tau) // self.ticks[self.machine]

    def start_at(self, period: Ints, work: Ints) -> Ints:
        """Return the latest instants at which these periods have done this work, less than all of theirs."""
        total = self.before[self.first_run[period]] + work
        run = np.searchsorted(self.before, total, side="right") - 1
        return self.start[run] + total - self.before[run]

    def end_at(self, period: Ints, work: Ints) -> Ints:
        """Return the earliest instants at which these periods have done this work, at least 1."""
        total = self.before[self.first_run[period]] + work
        run = np.searchsorted(self.before, total, side="left") - 1
        return self.start[run] + total - self.before[run]

    def positions(self, tau: int) -> Positions:
        """Return all positions by ``tau``."""
        caps = self.caps(tau)
        counts = caps // self.ticks[self.machine]
        period = np.repeat(np.arange(counts.size), counts)
        number = np.arange(period.size) - np.repeat(np.cumsum(counts) - counts, counts)
        machine = self.machine[period]
        ticks = self.ticks[machine]
        early = number * ticks
        late = early + (caps - counts * self.ticks[self.machine])[period]
        return Positions(
            period=period,
            machine=machine,
            number=number,
            ticks=ticks,
            first_start=self.start_at(period, early),
            first_end=self.end_at(period, early + ticks),
            last_start=self.start_at(period, late),
            last_end=self.end_at(period, late + ticks),
        )


def _runs(flags: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Return first and past-the-last index of each run of true flags, in rows that are padded by one false flag."""
    p, slots = flags.shape
    padded = np.zeros((p, slots + 1), dtype=np.int8)
    padded[:, :slots] = flags
    flat = padded.ravel()
    steps = np.diff(flat, prepend=np.int8(0), append=np.int8(0))
    return np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
