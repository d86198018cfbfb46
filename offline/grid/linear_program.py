"""The time-indexed linear program by column and row generation, with cuts by job: the stronger lower bounds.

A column is a start of a job, a row says that a resource is not used beyond its limit in one slot. The resources are
the nodes and *cuts*: loads by job and a limit that no jobs which fit together exceed. The multipliers of the rows are
prices, so whatever the program has found so far, its bound is that of a certificate (docs/grid/model.md section 6).

Two things keep it small. With prices on single slots the cheapest start of a job is its submission or the slot after a
priced one, so only these become columns. And where the use of nodes is constant from slot a to b, a row in slot b is
enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np

from hindsched.instances.grid import Instance, Resource
from hindsched.instances.grid.model import Ints
from hindsched.offline.grid.kernels.pricing import cheapest
from hindsched.offline.grid.kernels.subgradient_ascent import Floats
from hindsched.offline.grid.knapsack_cuts import Cuts
from hindsched.offline.grid.subgradient import SCALE, windows_of
from hindsched.offline.limits import Stopwatch

__all__ = ["SlotMultipliers", "linear_program_multipliers"]

#: Starts of a job that may become columns in one round.
_COLUMNS = 3
#: A round of columns ends where the bound is this close to the value of the program, absolutely or as a share of it.
_CLOSE, _CLOSE_SHARE = 0.02, 1e-4
#: Rows added at once, rounds of rows where no time limit is set.
_ROWS, _ROUNDS = 600, 60
#: Rows with so much to spare, as a share of the limit, are dropped; shares by which rows must be exceeded, in turn.
_SPARE = 0.02
_EXCEEDED = (0.05, 0.02, 0.008, 0.003)
_ALMOST = 1e-6


@dataclass(frozen=True, slots=True)
class SlotMultipliers:
    """Prices on single slots for some jobs.

    Parameters
    ----------
    instance
        The jobs.
    loads, limits
        (resources, jobs) and (resources,); the first are the nodes.
    of, slot, price
        Of each row: its resource, its slot and its price over `SCALE`.
    rounds
        How many programs were solved on the way.
    """

    instance: Instance
    loads: Ints
    limits: Ints
    of: Ints
    slot: Ints
    price: Ints
    rounds: int

    def scaled_value(self) -> int:
        """Return `SCALE` x the bound, not rounded."""
        spent = int((self.limits[self.of] * self.price).sum())
        return sum(self._least(j)[0] for j in range(len(self.instance))) - spent

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
        for j in range(len(self.instance)):
            least, slots, paid = self._least(j)
            submit, length = int(self.instance.submit[j]), int(self.instance.length[j])
            last = submit + (least + slack) // SCALE
            if last - submit >= most_slots:
                windows.append([(submit, last)])
                continue
            starts = np.arange(submit, last + 1)
            windows.append(windows_of(starts[_terms(slots, paid, starts, submit, length) <= least + slack]))
        return windows

    def resources(self, jobs: Ints, everybody: bool) -> list[Resource]:
        """Return them as a certificate says it; ``jobs`` are the numbers of these jobs among all."""
        found = []
        for k in np.unique(self.of).tolist():
            mine = np.flatnonzero(self.of == k)
            mine = mine[np.argsort(self.slot[mine])]
            intervals = [
                (t, t + 1, p) for t, p in zip(self.slot[mine].tolist(), self.price[mine].tolist(), strict=True)
            ]
            limit = int(self.limits[k])
            if k == 0 and everybody:
                found.append(Resource(limit, intervals))
                continue
            by_job = zip(jobs.tolist(), self.loads[k].tolist(), strict=True)
            found.append(Resource(limit, intervals, jobs={j: load for j, load in by_job if load}))
        return found

    def _least(self, j: int) -> tuple[int, Ints, Ints]:
        """Return the least term of a job, the slots that cost it something, and what is paid before each of them."""
        rate = self.loads[self.of, j] * self.price
        mine = np.flatnonzero(rate)
        slots, place = np.unique(self.slot[mine], return_inverse=True)
        paid = np.zeros(len(slots) + 1, dtype=np.int64)
        np.add.at(paid, place + 1, rate[mine])
        paid = np.cumsum(paid)
        submit, length = int(self.instance.submit[j]), int(self.instance.length[j])
        starts = np.concatenate(([submit], slots[slots >= submit] + 1))
        return int(_terms(slots, paid, starts, submit, length).min()), slots, paid


def _terms(slots: Ints, paid: Ints, starts: Ints, submit: int, length: int) -> Ints:
    run = paid[np.searchsorted(slots, starts + length)] - paid[np.searchsorted(slots, starts)]
    terms: Ints = SCALE * (starts - submit) + run
    return terms


def linear_program_multipliers(
    instance: Instance, starts: Ints, watch: Stopwatch, until_s: float | None, seed: int
) -> SlotMultipliers:
    """Return good prices for an instance.

    Parameters
    ----------
    instance
        At least one job.
    starts
        Of a schedule; its total wait ends the search where it is reached.
    watch, until_s
        When to stop; None: after a fixed number of rounds.
    seed
        Of the order in which slots are looked at for cuts.

    Notes
    -----
    Each round solves the program to its end, then adds rows: the nodes where they are overbooked, else known cuts that
    are exceeded, else new ones (module `knapsack_cuts`). Bounds never fall, and the best multipliers are kept.

    References
    ----------
    M. van den Akker, C. Hurkens, M. Savelsbergh, "Time-indexed formulations for machine scheduling problems: column
    generation", INFORMS Journal on Computing 12 (2000).
    L. A. Wolsey, "Facets and strong valid inequalities for integer programs", Operations Research 24 (1976).
    """
    return _Program(instance, starts, watch, until_s, seed).run()


class _Program:
    """The program as it stands: columns (job, start), rows (resource, slot)."""

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

    def run(self) -> SlotMultipliers:
        """Go on until nothing is exceeded or the time is over, and return the best prices."""
        exceeded = 0
        while not self._is_over() and self.rounds < (_ROUNDS if self.until_s is None else 10**6):
            self._columns()
            rows = self._overbooked()
            if not rows and not self._is_over():
                self._drop()
                rows = self._cut(_EXCEEDED[exceeded])
            if rows:
                self._add_rows(rows)
            elif exceeded + 1 < len(_EXCEEDED):
                exceeded += 1
            else:
                break
        of, slot, price = self.best_rows
        whole = np.rint(price * SCALE).astype(np.int64)
        paid = np.flatnonzero(whole)
        return SlotMultipliers(
            self.instance,
            np.rint(self.loads).astype(np.int64),
            np.rint(self.limits).astype(np.int64),
            of[paid],
            slot[paid],
            whole[paid],
            self.rounds,
        )

    def _is_over(self) -> bool:
        is_late = self.until_s is not None and self.watch.elapsed_s() >= self.until_s
        return is_late or self.watch.is_over() or self.best > self.upper - 1 + _ALMOST

    def _columns(self) -> None:
        """Add columns until the bound is close to the program's value."""
        while True:
            value = self._solve(is_primal=True)
            bound, job, start = self._price()
            self.rounds += 1
            if not self._add_columns(job, start) or value - bound <= max(_CLOSE, _CLOSE_SHARE * value):
                break
            if self._is_over():
                break
        self._solve(is_primal=True)

    def _solve(self, *, is_primal: bool) -> float:
        """Solve it from where it stands: after new columns by the primal simplex method, after new rows by the dual."""
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
        """Return the bound of the present prices, and the starts that would make the program's value fall."""
        instance = self.instance
        paid = np.flatnonzero(self.prices > 1e-9)
        slots, place = np.unique(self.slot[paid], return_inverse=True)
        starts = np.empty((len(instance), _COLUMNS), dtype=np.int64)
        costs = np.empty((len(instance), _COLUMNS))
        scratch = np.empty((len(instance), len(slots) + 1))
        price = self.prices[paid]
        cheapest(
            instance.submit, instance.length, slots, self.loads, self.of[paid], place, price, scratch, starts, costs
        )
        bound = float(costs[:, 0].sum() - (self.limits[self.of[paid]] * price).sum())
        if bound > self.best:
            self.best, self.best_rows = bound, (self.of[paid], self.slot[paid], price)
        job, column = np.nonzero(costs < self.dual[:, None] - _ALMOST)
        return bound, job, starts[job, column]

    def _add_columns(self, job: Ints, start: Ints) -> bool:
        """Add those that are not there yet; return whether there were any."""
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
        """Return what columns use of rows, (rows, columns)."""
        runs = (start <= slot[:, None]) & (slot[:, None] < start + self.instance.length[job])
        uses: Floats = np.where(runs, self.loads[of][:, job], 0.0)
        return uses

    def _drop(self) -> None:
        """Drop rows that are far from their limits, if they are many."""
        status = np.array([int(each) for each in self.highs.getBasis().row_status])[len(self.instance) :]
        used = np.array(self.highs.getSolution().row_value)[len(self.instance) :]
        basic = int(highspy.HighsBasisStatus.kBasic)
        spare = (status == basic) & (used < (1 - _SPARE) * self.limits[self.of])
        if 5 * spare.sum() > len(spare):
            rows = np.flatnonzero(spare) + len(self.instance)
            self.highs.deleteRows(len(rows), rows.astype(np.int32))
            self.of, self.slot = self.of[~spare], self.slot[~spare]

    def _last_slots(self) -> Ints:
        """Return the last slot of each stretch in which the same columns run."""
        used = self.share > _ALMOST
        start = self.start[used]
        edges = np.unique(np.concatenate((start, start + self.instance.length[self.job[used]])))
        return edges[1:] - 1

    def _running(self, slots: Ints) -> Floats:
        """Return what share of each job runs in these slots, (jobs, slots)."""
        used = np.flatnonzero(self.share > _ALMOST)
        change = np.zeros((len(self.instance), len(slots) + 1))
        begin = np.searchsorted(slots, self.start[used])
        end = np.searchsorted(slots, self.start[used] + self.instance.length[self.job[used]])
        np.add.at(change, (self.job[used], begin), self.share[used])
        np.add.at(change, (self.job[used], end), -self.share[used])
        running: Floats = np.cumsum(change, axis=1)[:, :-1]
        return running

    def _overbooked(self) -> list[tuple[int, int]]:
        """Return the slots in which the nodes are not enough."""
        slots = self._last_slots()
        over = slots[self.loads[0] @ self._running(slots) > self.limits[0] + 1e-5]
        there = set(self.slot[self.of == 0].tolist())
        return [(0, slot) for slot in over.tolist() if slot not in there]

    def _cut(self, exceeded: float) -> list[tuple[int, int]]:
        """Return rows of cuts, known ones and new ones, that are exceeded by more than a share of their limits."""
        slots = self._last_slots()
        running = self._running(slots)
        found = self.cuts.exceeded(running, exceeded, self._is_over)
        self.loads = np.concatenate((self.instance.width[None, :], self.cuts.loads)).astype(float)
        self.limits = np.concatenate(([self.instance.nodes], self.cuts.limits)).astype(float)
        there = set(zip(self.of.tolist(), self.slot.tolist(), strict=True))
        rows = [(1 + cut, int(slots[i])) for cut, i in found]
        return [row for row in rows if row not in there][:_ROWS]
