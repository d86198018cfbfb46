"""Lower bounds by prices: what nodes, and classes of wide jobs, cost in each slot (docs/grid/model.md section 6).

Beside the nodes themselves some *step loads* are priced: with k the load of a job is ⌊(k + 1) n / (M + 1)⌋, and its
limit k. Jobs that fit together have Σ n <= M, so their loads sum to at most ⌊(k + 1) M / (M + 1)⌋ = k. With k = 1 that
says: jobs wider than half of the nodes run one at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from hindsched.instances.grid import Instance, Prices, Resource
from hindsched.instances.grid.model import Ints
from hindsched.offline.grid.kernels.subgradient_ascent import ascend
from hindsched.offline.limits import Stopwatch

__all__ = ["SCALE", "CellMultipliers", "certificate", "subgradient_multipliers", "windows_of"]

#: Prices are integers over this.
SCALE = 10**6
#: Most cells of prices; longer spans have several slots a cell.
_CELLS = 12_000
#: The ascent begins with at most so many cells, several times larger, and ends with the finest.
_COARSE = 256
#: It leaves a size of cells when the factor of its steps falls below.
_LEAST_STEP = 1e-4
#: Step loads are used with k up to here, and for so many widths with the k at which just one more would not fit.
_MOST_STEPS, _MOST_WIDTHS = 3, 5
#: Bounds evaluated where no time limit is set.
_ROUNDS = 1_500
#: Most jobs times cells between two looks at the clock, about.
_CHUNK = 5_000_000


@dataclass(frozen=True, slots=True)
class CellMultipliers:
    """Prices for some jobs: on cells of ``step`` slots from slot ``first`` on, in integers over `SCALE`.

    Parameters
    ----------
    instance
        The jobs.
    first, step
        Where cells begin, slots of a cell.
    kind
        Of each job: its row of ``loads``.
    loads
        (kinds, resources).
    limits
        (resources,).
    prices
        (resources, cells).
    rounds
        How many bounds were evaluated on the way.
    """

    instance: Instance
    first: int
    step: int
    kind: Ints
    loads: Ints
    limits: Ints
    prices: Ints
    rounds: int

    def scaled_value(self) -> int:
        """Return `SCALE` x the bound, not rounded."""
        spent = int((self.limits * self.prices.sum(axis=1)).sum()) * self.step
        sums = self._sums()
        return sum(self._least(j, sums[kind]) for j, kind in enumerate(self.kind.tolist())) - spent

    def windows(self, slack: int, most_slots: int) -> list[list[tuple[int, int]]]:
        """Return for each job the intervals (first, last) of starts with terms at most so far above the least.

        Parameters
        ----------
        slack
            In 1/`SCALE`.
        most_slots
            A window of more slots is not thinned out.
        """
        windows = []
        table = self._sums()
        for j, (submit, _, length) in enumerate(self.instance.rows()):
            sums = table[self.kind[j]]
            least = self._least(j, sums)
            last = submit + (least + slack) // SCALE
            if last - submit >= most_slots:
                windows.append([(submit, last)])
                continue
            starts = np.arange(submit, last + 1)
            windows.append(windows_of(starts[self._terms(sums, starts, submit, length) <= least + slack]))
        return windows

    def resources(self, jobs: Ints, everybody: bool) -> list[Resource]:
        """Return them as a certificate says it; ``jobs`` are the numbers of these jobs among all."""
        found = []
        for i, limit in enumerate(self.limits.tolist()):
            intervals = _intervals(self.prices[i], self.first, self.step)
            if not intervals:
                continue
            loads = self.loads[self.kind, i].tolist()
            if everybody and i == 0:
                found.append(Resource(limit, intervals))
            elif everybody:
                by_width = dict(zip(self.instance.width.tolist(), loads, strict=True))
                found.append(Resource(limit, intervals, loads={n: load for n, load in by_width.items() if load}))
            else:
                by_job = zip(jobs.tolist(), loads, strict=True)
                found.append(Resource(limit, intervals, jobs={j: load for j, load in by_job if load}))
        return found

    def _terms(self, sums: Ints, starts: Ints, submit: int, length: int) -> Ints:
        terms: Ints = SCALE * (starts - submit) + self._paid(sums, starts + length) - self._paid(sums, starts)
        return terms

    def _paid(self, sums: Ints, slots: Ints) -> Ints:
        cell, within = np.divmod(np.minimum(slots - self.first, (len(sums) - 1) * self.step), self.step)
        after = sums[np.minimum(cell + 1, len(sums) - 1)]
        paid: Ints = sums[cell] + (after - sums[cell]) // self.step * within
        return paid

    def _sums(self) -> Ints:
        """Return what a run of each kind pays before each cell, (kinds, cells + 1)."""
        rates = self.loads @ self.prices
        return np.concatenate((np.zeros((len(rates), 1), dtype=np.int64), np.cumsum(rates, axis=1) * self.step), axis=1)

    def _least(self, j: int, sums: Ints) -> int:
        """Return the least term of a job."""
        submit, length = int(self.instance.submit[j]), int(self.instance.length[j])
        now = np.array([submit])
        last = submit + int(self._terms(sums, now, submit, length)[0]) // SCALE
        edges = self.first + self.step * np.arange(len(sums))
        starts = np.concatenate((now, edges, edges - length))
        starts = starts[(starts >= submit) & (starts <= last)]
        return int(self._terms(sums, starts, submit, length).min())


def subgradient_multipliers(
    instance: Instance, starts: Ints, watch: Stopwatch, until_s: float | None
) -> CellMultipliers:
    """Return good prices for an instance, by a projected subgradient method.

    Parameters
    ----------
    instance
        At least one job.
    starts
        Of a schedule: its total wait is what the ascent aims at, its end where prices end.
    watch, until_s
        When to stop; None: after a fixed number of rounds.

    Notes
    -----
    A round costs O(n c) for c cells at worst: the starts tried for a job end where its wait alone costs more than the
    best one found. The value approached is that of the time-indexed linear program with the step loads as further rows.

    References
    ----------
    M. Held, P. Wolfe, H. P. Crowder, "Validation of subgradient optimization", Mathematical Programming 6 (1974).
    P. M. Camerini, L. Fratta, F. Maffioli, "On improving relaxation methods by modified gradient techniques",
    Mathematical Programming Study 3 (1975).
    """
    first = int(instance.submit[0])
    span = int((starts + instance.length).max()) - first
    finest = -(-span // _CELLS)
    widths, kind = np.unique(instance.width, return_inverse=True)
    area = np.bincount(kind, weights=instance.width * instance.length).astype(float)
    loads, limits = _resources(widths, area, instance.nodes)
    jobs = instance.submit - first, kind, instance.length, loads.astype(float), limits.astype(float)
    upper = float(starts.sum() - instance.submit.sum())
    steps = [finest]
    while span // steps[0] > _COARSE:
        steps.insert(0, 4 * steps[0])
    best = np.zeros((len(limits), -(-span // steps[0])))
    reached, done, begun_s = -1.0, 0, watch.elapsed_s()
    for level, step in enumerate(steps, 1):
        cells = -(-span // step)
        if level > 1:
            best = np.repeat(best, 4, axis=1)[:, :cells].copy()
        prices, way, rise = best.copy(), np.zeros_like(best), np.zeros_like(best)
        sums, use = np.zeros((2, len(widths), cells + 1))
        memory = np.array([-1.0, 1.0, 0.0])
        rounds = max(1, min(100, _CHUNK // (cells * (len(widths) + len(instance)))))
        share = level / len(steps)
        end_s = None if until_s is None else begun_s + share * (until_s - begun_s)
        while done < share * _ROUNDS if end_s is None else watch.elapsed_s() < end_s:
            if watch.is_over() or reached > upper - 1 + 1e-6 or memory[1] < _LEAST_STEP:
                break
            ascend(*jobs, step, prices, best, way, memory, upper, rounds, rise, sums, use)
            reached = max(reached, float(memory[0]))
            done += rounds
    whole = np.rint(best * SCALE).astype(np.int64)
    return CellMultipliers(instance, first, finest, kind, loads, limits, whole, done)


def _resources(widths: Ints, area: npt.NDArray[np.float64], nodes: int) -> tuple[Ints, Ints]:
    """Return loads (widths, resources) and limits: the nodes, and step loads that say something else.

    These are those of small k, and for the widths of most area the k of them that fit together.
    """
    common = [nodes // int(widths[i]) for i in np.argsort(-area, kind="stable")[:_MOST_WIDTHS]]
    columns, limits = [widths], [nodes]
    for k in sorted({*range(1, _MOST_STEPS + 1), *common}):
        load = (k + 1) * widths // (nodes + 1)
        is_implied = any((load * limit <= column * k).all() for column, limit in zip(columns, limits, strict=True))
        if k < nodes and not is_implied:
            columns.append(load)
            limits.append(k)
    return np.stack(columns, axis=1), np.array(limits)


class _Found(Protocol):
    """Prices for some jobs, found in whatever way."""

    def resources(self, jobs: Ints, everybody: bool) -> list[Resource]: ...


def certificate(instance: Instance, groups: Sequence[tuple[Ints, _Found]]) -> Prices:
    """Return the prices of groups of jobs as one certificate: each group has resources of its own, so bounds add up.

    Parameters
    ----------
    instance
        All jobs.
    groups
        The indices of the jobs of a group, ascending, and its prices. Groups are disjoint.
    """
    resources = [resource for jobs, found in groups for resource in found.resources(jobs, len(jobs) == len(instance))]
    return Prices.of(instance, SCALE, resources)


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


def _intervals(row: npt.NDArray[np.int64], first: int, step: int) -> list[tuple[int, int, int]]:
    """Return (from, to, price) where it is above 0, cells of one price joined."""
    cuts = np.concatenate(([0], np.flatnonzero(np.diff(row)) + 1, [len(row)]))
    return [
        (first + step * a, first + step * b, int(row[a]))
        for a, b in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
        if row[a]
    ]
