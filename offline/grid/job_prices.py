"""Prices of nodes and other resources (Lagrangian multipliers): bounds, reduced-cost windows and certificates.

docs/grid/model.md section 6 has the bound and its proof. The *term* of a start is the wait of the job plus the price of
its run; the bound is the sum of the least terms minus the price of all limits. Modules `subgradient` and
`linear_program` find good prices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hindsched.instances.grid import Instance, PriceCertificate, Resource
from hindsched.instances.grid.model import Ints

__all__ = ["SCALE", "CellPrices", "JobPrices", "SlotPrices", "certificate", "windows_of"]

#: PriceCertificate are integers over this.
SCALE = 10**6


class JobPrices(ABC):
    """Prices for some jobs."""

    instance: Instance

    def scaled_value(self) -> int:
        """Return the bound times `SCALE`, not rounded."""
        return sum(least for least, _ in self._terms()) - self._price_of_limits()

    def windows(self, slack: int, most_slots: int) -> list[list[tuple[int, int]]]:
        """Return for each job the starts whose reduced cost is at most a slack, as intervals (first, last).

        Parameters
        ----------
        slack
            In units of 1/`SCALE`.
        most_slots
            A window of more slots stays one interval.
        """
        windows = []
        for submit, (least, term) in zip(self.instance.submit.tolist(), self._terms(), strict=True):
            last = submit + (least + slack) // SCALE
            if last - submit >= most_slots:
                windows.append([(submit, last)])
                continue
            starts = np.arange(submit, last + 1)
            windows.append(windows_of(starts[term(starts) <= least + slack]))
        return windows

    @abstractmethod
    def resources(self, jobs: Ints, is_all: bool) -> list[Resource]:
        """Return the prices as resources of a certificate; ``jobs`` are the indices of these jobs among all."""

    @abstractmethod
    def _price_of_limits(self) -> int:
        """Return the price of all limits, over `SCALE`."""

    @abstractmethod
    def _terms(self) -> Iterator[tuple[int, Callable[[Ints], Ints]]]:
        """Yield for each job its least term, and the function that returns the terms of starts, over `SCALE`."""


@dataclass(frozen=True, slots=True)
class CellPrices(JobPrices):
    """Prices on cells of ``step`` slots, in integers over `SCALE`.

    Parameters
    ----------
    instance
        The jobs.
    first, step
        First slot of the first cell, slots of a cell.
    kind
        Row of ``loads`` for each job.
    loads
        (kinds, resources).
    limits
        (resources,).
    prices
        (resources, cells).
    rounds
        Number of bounds that were evaluated.
    """

    instance: Instance
    first: int
    step: int
    kind: Ints
    loads: Ints
    limits: Ints
    prices: Ints
    rounds: int

    def resources(self, jobs: Ints, is_all: bool) -> list[Resource]:
        """Return the prices as resources of a certificate; ``jobs`` are the indices of these jobs among all."""
        found = []
        for i, limit in enumerate(self.limits.tolist()):
            intervals = self._intervals(self.prices[i])
            loads = self.loads[self.kind, i]
            if intervals and is_all and i:
                by_width = dict(zip(self.instance.width.tolist(), loads.tolist(), strict=True))
                found.append(Resource(limit, intervals, loads={n: load for n, load in by_width.items() if load}))
            elif intervals:
                found.append(_resource(limit, intervals, None if is_all else jobs, loads))
        return found

    def _intervals(self, row: Ints) -> list[tuple[int, int, int]]:
        """Return (from, to, price) for positive prices, with successive cells of one price merged."""
        cuts = np.concatenate(([0], np.flatnonzero(np.diff(row)) + 1, [len(row)]))
        pairs = zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
        return [(self.first + self.step * a, self.first + self.step * b, int(row[a])) for a, b in pairs if row[a]]

    def _price_of_limits(self) -> int:
        return int((self.limits * self.prices.sum(axis=1)).sum()) * self.step

    def _terms(self) -> Iterator[tuple[int, Callable[[Ints], Ints]]]:
        rates = self.loads @ self.prices
        zeros = np.zeros((len(rates), 1), dtype=np.int64)
        table = np.concatenate((zeros, np.cumsum(rates, axis=1) * self.step), axis=1)  # prices before each cell
        edges = self.first + self.step * np.arange(table.shape[1])
        for kind, (submit, _, length) in zip(self.kind.tolist(), self.instance.rows(), strict=True):

            def term(starts: Ints, sums: Ints = table[kind], submit: int = submit, length: int = length) -> Ints:
                price: Ints = self._price_before(sums, starts + length) - self._price_before(sums, starts)
                return SCALE * (starts - submit) + price

            now = np.array([submit])
            last = submit + int(term(now)[0]) // SCALE  # later starts wait longer than the whole term at once
            starts = np.concatenate((now, edges, edges - length))
            yield int(term(starts[(starts >= submit) & (starts <= last)]).min()), term

    def _price_before(self, sums: Ints, slots: Ints) -> Ints:
        cell, within = np.divmod(np.minimum(slots - self.first, (len(sums) - 1) * self.step), self.step)
        after = sums[np.minimum(cell + 1, len(sums) - 1)]
        price: Ints = sums[cell] + (after - sums[cell]) // self.step * within
        return price


@dataclass(frozen=True, slots=True)
class SlotPrices(JobPrices):
    """Prices on single slots.

    Parameters
    ----------
    instance
        The jobs.
    loads, limits
        (resources, jobs) and (resources,); the first are the nodes.
    of, slot, price
        Of each row: its resource, its slot, and its price over `SCALE`.
    rounds
        Number of programs that were solved.
    """

    instance: Instance
    loads: Ints
    limits: Ints
    of: Ints
    slot: Ints
    price: Ints
    rounds: int

    def resources(self, jobs: Ints, is_all: bool) -> list[Resource]:
        """Return the prices as resources of a certificate; ``jobs`` are the indices of these jobs among all."""
        found = []
        for k in np.unique(self.of).tolist():
            rows = np.flatnonzero(self.of == k)
            rows = rows[np.argsort(self.slot[rows])]
            pairs = zip(self.slot[rows].tolist(), self.price[rows].tolist(), strict=True)
            intervals = [(slot, slot + 1, price) for slot, price in pairs]
            found.append(_resource(int(self.limits[k]), intervals, None if is_all and k == 0 else jobs, self.loads[k]))
        return found

    def _price_of_limits(self) -> int:
        return int((self.limits[self.of] * self.price).sum())

    def _terms(self) -> Iterator[tuple[int, Callable[[Ints], Ints]]]:
        for j, (submit, _, length) in enumerate(self.instance.rows()):
            rate = self.loads[self.of, j] * self.price
            rows = np.flatnonzero(rate)
            slots, place = np.unique(self.slot[rows], return_inverse=True)
            sums = np.zeros(len(slots) + 1, dtype=np.int64)
            np.add.at(sums, place + 1, rate[rows])
            sums = np.cumsum(sums)

            def term(
                starts: Ints, slots: Ints = slots, sums: Ints = sums, submit: int = submit, length: int = length
            ) -> Ints:
                price = sums[np.searchsorted(slots, starts + length)] - sums[np.searchsorted(slots, starts)]
                terms: Ints = SCALE * (starts - submit) + price
                return terms

            yield int(term(np.concatenate(([submit], slots[slots >= submit] + 1))).min()), term


def _resource(limit: int, intervals: list[tuple[int, int, int]], jobs: Ints | None, loads: Ints) -> Resource:
    """Return a resource with loads by job, or the nodes where ``jobs`` is None."""
    if jobs is None:
        return Resource(limit, intervals)
    by_job = zip(jobs.tolist(), loads.tolist(), strict=True)
    return Resource(limit, intervals, jobs={j: load for j, load in by_job if load})


def certificate(instance: Instance, groups: Sequence[tuple[Ints, JobPrices]]) -> PriceCertificate:
    """Return the prices of groups of jobs as one certificate, in which each group has resources of its own.

    Parameters
    ----------
    instance
        All jobs.
    groups
        The indices of the jobs of a group, ascending, and its prices. Groups are disjoint, so their bounds add up.
    """
    resources = [resource for jobs, prices in groups for resource in prices.resources(jobs, len(jobs) == len(instance))]
    return PriceCertificate.of(instance, SCALE, resources)


def windows_of(starts: Ints) -> list[tuple[int, int]]:
    """Return increasing starts as intervals (first, last) without a gap.

    Examples
    --------
    >>> windows_of(np.array([2, 3, 4, 7]))
    [(2, 4), (7, 7)]
    """
    ends = np.flatnonzero(np.diff(starts) != 1)
    firsts, lasts = starts[np.concatenate(([0], ends + 1))], starts[np.concatenate((ends, [len(starts) - 1]))]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))
