"""Lower bounds by the time-indexed linear program, with column generation, row generation and cuts.

A column is a start of a job; a row limits the use of a resource in one slot. The resources are the nodes and *cuts*:
loads by job with a limit that no jobs which fit together exceed. The duals of the rows are prices, so at any time the
program has a bound with a certificate (docs/grid/model.md section 6).

Two facts keep the program small. With prices on single slots the cheapest start of a job is its submission or the slot
after a priced one, so only these become columns. And where the use of nodes is constant from slot a to b, a row in slot
b suffices.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np

from hindsched.instances.grid import Instance
from hindsched.instances.grid.model import Ints
from hindsched.offline.grid.job_prices import SCALE, SlotPrices
from hindsched.offline.grid.kernels.pricing import cheapest
from hindsched.offline.grid.kernels.subgradient_ascent import Floats
from hindsched.offline.grid.knapsack_cuts import Cuts
from hindsched.offline.limits import Stopwatch

__all__ = ["SlotPrices", "linear_program_prices"]

_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class ProgramParameters:
    """Parameters of column and row generation.

    Parameters
    ----------
    columns
        Starts of a job that may become columns in one round.
    close, close_share
        Column generation ends when the bound is this close to the value of the program, absolutely or relatively.
    rows
        Largest number of cuts that are added at once.
    rounds
        Programs that are solved without a time limit.
    spare
        Rows with more slack than this fraction of their limit are dropped, if they are many.
    violations
        Least violation of a new row, as a fraction of its limit. A smaller one applies when no row violates it.
    """

    columns: int = 3
    close: float = 0.02
    close_share: float = 1e-4
    rows: int = 600
    rounds: int = 60
    spare: float = 0.02
    violations: tuple[float, ...] = (0.05, 0.02, 0.008, 0.003)


_PARAMETERS = ProgramParameters()


def linear_program_prices(
    instance: Instance, starts: Ints, watch: Stopwatch, until_s: float | None, seed: int
) -> SlotPrices:
    """Return good prices for an instance by linear programming.

    Parameters
    ----------
    instance
        At least one job.
    starts
        Starts of a schedule; the method ends if the bound reaches its total wait.
    watch, until_s
        When to stop; None: after a fixed number of rounds.
    seed
        Seed of the order in which slots are searched for cuts.

    Notes
    -----
    Each round solves the program, then adds rows: the nodes where they are overbooked, else violated known cuts,
    else new cuts (module `knapsack_cuts`). Bounds never decrease, and the best prices are kept.

    References
    ----------
    M. van den Akker, C. Hurkens, M. Savelsbergh, "Time-indexed formulations for machine scheduling problems: column
    generation", INFORMS Journal on Computing 12 (2000).
    L. A. Wolsey, "Facets and strong valid inequalities for integer programs", Operations Research 24 (1976).
    """
    return _Program(instance, starts, watch, until_s, seed).run()


class _Program:
    """The present program: columns (job, start), rows (resource, slot)."""

    def __init__(self, instance: Instance, starts: Ints, watch: Stopwatch, until_s: float | None, seed: int) -> None:
        self.instance = instance
        self.upper = float(starts.sum() - instance.submit.sum())
        self.watch = watch
        self.until_s = until_s
        self.cuts = Cuts(instance, seed)
        self.loads = instance.width.astype(float)[None, :]
        self.limits = np.array([float(instance.nodes)])
        none = np.zeros(0, dtype=np.int64)
        self.of, self.slot, self.job, self.start = none, none, none, none
        self.has: set[tuple[int, int]] = set()
        self.best, self.best_rows = -1.0, (none, none, np.zeros(0))
        self.rounds = 0
        self.highs = highspy.Highs()
        for name, value in (("output_flag", False), ("threads", 1), ("presolve", "off")):
            self.highs.setOptionValue(name, value)
        count = len(instance)
        empty = np.zeros(count, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0)
        self.highs.addRows(count, np.ones(count), np.ones(count), 0, *empty)
        self._add_columns(np.arange(count), starts)

    def run(self) -> SlotPrices:
        """Add columns and rows until no row is violated or the time is over; return the best prices."""
        level = 0
        while not self._is_over() and self.rounds < (_PARAMETERS.rounds if self.until_s is None else 10**6):
            self._columns()
            rows = self._overbooked()
            if not rows and not self._is_over():
                self._drop()
                rows = self._violated_cuts(_PARAMETERS.violations[level])
            if rows:
                self._add_rows(rows)
            elif level + 1 < len(_PARAMETERS.violations):
                level += 1
            else:
                break
        of, slot, price = self.best_rows
        whole = np.rint(price * SCALE).astype(np.int64)
        priced = np.flatnonzero(whole)
        return SlotPrices(
            self.instance,
            np.rint(self.loads).astype(np.int64),
            np.rint(self.limits).astype(np.int64),
            of[priced],
            slot[priced],
            whole[priced],
            self.rounds,
        )

    def _is_over(self) -> bool:
        is_late = self.until_s is not None and self.watch.elapsed_s() >= self.until_s
        return is_late or self.watch.is_over() or self.best > self.upper - 1 + _TOLERANCE

    def _columns(self) -> None:
        """Add columns until the bound is close to the value of the program."""
        while True:
            value = self._solve(is_primal=True)
            bound, job, start = self._price()
            self.rounds += 1
            if not self._add_columns(job, start) or value - bound <= max(
                _PARAMETERS.close, _PARAMETERS.close_share * value
            ):
                break
            if self._is_over():
                break
        self._solve(is_primal=True)

    def _solve(self, *, is_primal: bool) -> float:
        """Solve the program from its basis: primal simplex after new columns, dual simplex after new rows."""
        self.highs.setOptionValue("simplex_strategy", 4 if is_primal else 1)
        if self.until_s is not None:
            left_s = max(0.05, self.until_s - self.watch.elapsed_s())
            self.highs.setOptionValue("time_limit", self.highs.getRunTime() + left_s)
        self.highs.run()
        solution = self.highs.getSolution()
        self.share = np.array(solution.col_value)
        duals = np.array(solution.row_dual)
        self.dual, self.prices = duals[: len(self.instance)], np.maximum(0.0, -duals[len(self.instance) :])
        return float(self.highs.getObjectiveValue())

    def _price(self) -> tuple[float, Ints, Ints]:
        """Return the bound of the present prices, and the starts of negative reduced cost."""
        instance = self.instance
        priced = np.flatnonzero(self.prices > 1e-9)
        slots, place = np.unique(self.slot[priced], return_inverse=True)
        starts = np.empty((len(instance), _PARAMETERS.columns), dtype=np.int64)
        costs = np.empty((len(instance), _PARAMETERS.columns))
        scratch = np.empty((len(instance), len(slots) + 1))
        price = self.prices[priced]
        cheapest(
            instance.submit, instance.length, slots, self.loads, self.of[priced], place, price, scratch, starts, costs
        )
        bound = float(costs[:, 0].sum() - (self.limits[self.of[priced]] * price).sum())
        if bound > self.best:
            self.best, self.best_rows = bound, (self.of[priced], self.slot[priced], price)
        job, column = np.nonzero(costs < self.dual[:, None] - _TOLERANCE)
        return bound, job, starts[job, column]

    def _add_columns(self, job: Ints, start: Ints) -> bool:
        """Add the columns that are new; return whether there are any."""
        pairs = zip(job.tolist(), start.tolist(), strict=True)
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self.has]
        if not new:
            return False
        self.has.update(new)
        job, start = np.array(new, dtype=np.int64).T
        uses = self._uses(job, start, self.of, self.slot)
        which, row = np.nonzero(uses.T)
        counts = np.bincount(which, minlength=len(job))
        offsets = np.concatenate(([0], np.cumsum(counts + 1)))[:-1]
        index = np.insert(row + len(self.instance), np.cumsum(counts) - counts, job)
        values = np.insert(uses[row, which], np.cumsum(counts) - counts, 1.0)
        cost = (start - self.instance.submit[job]).astype(float)
        zero, none = np.zeros(len(job)), np.full(len(job), highspy.kHighsInf)
        whole = offsets.astype(np.int32), index.astype(np.int32), values
        self.highs.addCols(len(job), cost, zero, none, len(index), *whole)
        self.job, self.start = np.concatenate((self.job, job)), np.concatenate((self.start, start))
        return True

    def _add_rows(self, rows: list[tuple[int, int]]) -> None:
        of, slot = np.array(rows, dtype=np.int64).T
        uses = self._uses(self.job, self.start, of, slot)
        row, column = np.nonzero(uses)
        offsets = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(of)))))[:-1]
        least = np.full(len(of), -highspy.kHighsInf)
        whole = offsets.astype(np.int32), column.astype(np.int32), uses[row, column]
        self.highs.addRows(len(of), least, self.limits[of], len(column), *whole)
        self.of, self.slot = np.concatenate((self.of, of)), np.concatenate((self.slot, slot))
        self._solve(is_primal=False)

    def _uses(self, job: Ints, start: Ints, of: Ints, slot: Ints) -> Floats:
        """Return the coefficients of columns in rows, (rows, columns)."""
        runs = (start <= slot[:, None]) & (slot[:, None] < start + self.instance.length[job])
        uses: Floats = np.where(runs, self.loads[of][:, job], 0.0)
        return uses

    def _drop(self) -> None:
        """Drop rows with large slack, if they are many."""
        status = np.array([int(each) for each in self.highs.getBasis().row_status])[len(self.instance) :]
        used = np.array(self.highs.getSolution().row_value)[len(self.instance) :]
        basic = int(highspy.HighsBasisStatus.kBasic)
        spare = (status == basic) & (used < (1 - _PARAMETERS.spare) * self.limits[self.of])
        if 5 * spare.sum() > len(spare):
            rows = np.flatnonzero(spare) + len(self.instance)
            self.highs.deleteRows(len(rows), rows.astype(np.int32))
            self.of, self.slot = self.of[~spare], self.slot[~spare]

    def _last_slots(self) -> Ints:
        """Return the last slot of each interval in which the same columns run."""
        used = self.share > _TOLERANCE
        start = self.start[used]
        edges = np.unique(np.concatenate((start, start + self.instance.length[self.job[used]])))
        return edges[1:] - 1

    def _running(self, slots: Ints) -> Floats:
        """Return the fraction of each job that runs in these slots, (jobs, slots)."""
        used = np.flatnonzero(self.share > _TOLERANCE)
        change = np.zeros((len(self.instance), len(slots) + 1))
        begin = np.searchsorted(slots, self.start[used])
        end = np.searchsorted(slots, self.start[used] + self.instance.length[self.job[used]])
        np.add.at(change, (self.job[used], begin), self.share[used])
        np.add.at(change, (self.job[used], end), -self.share[used])
        running: Floats = np.cumsum(change, axis=1)[:, :-1]
        return running

    def _overbooked(self) -> list[tuple[int, int]]:
        """Return new rows of the nodes, for slots in which they are overbooked."""
        slots = self._last_slots()
        over = slots[self.loads[0] @ self._running(slots) > self.limits[0] + 1e-5]
        there = set(self.slot[self.of == 0].tolist())
        return [(0, slot) for slot in over.tolist() if slot not in there]

    def _violated_cuts(self, violation: float) -> list[tuple[int, int]]:
        """Return new rows of known and new cuts that are violated by more than a fraction of their limits."""
        slots = self._last_slots()
        running = self._running(slots)
        found = self.cuts.violated(running, violation, self._is_over)
        self.loads = np.concatenate((self.instance.width[None, :], self.cuts.loads)).astype(float)
        self.limits = np.concatenate(([self.instance.nodes], self.cuts.limits)).astype(float)
        there = set(zip(self.of.tolist(), self.slot.tolist(), strict=True))
        rows = [(1 + cut, int(slots[i])) for cut, i in found]
        return [row for row in rows if row not in there][: _PARAMETERS.rows]
