"""What works on the answer between two looks at the clock: searches with labels of their own, and the rent bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from offline.coupled.emit import IterationPlan
from offline.coupled.native.best_first import CUT, NEED_LABELS, NEED_SLOTS, SLICE, SOLVED
from offline.coupled.native.channel_bound import REFUTED, STOPPED, Rents, begin_rents, make_rents, merits, split
from offline.coupled.native.iteration import NEVER
from offline.coupled.native.kernels import Reals
from offline.coupled.native.labels import BEST, HEAP, make_labels, more_labels

if TYPE_CHECKING:
    from offline.coupled.native.portfolio import Search

__all__ = ["PER_STEP", "Best", "Cell", "RentBound", "Store"]

_SLICE = 4_000  # units of work between two looks at the clock
_FIRST_LABELS = 1 << 10
_FIRST_EFFORT = 1 << 14
_FIRST_FOUND = 64
_DIVE_EFFORT = 1 << 11
_DIVE_FOUND = 8
_DIVE_BONUS = 1 << 32  # more than any worth
_DIVE_ROOT = -(1 << 62)  # less than any key
PER_STEP = 64  # units of effort in a step of work
_RENT_CELLS = 1 << 20  # slots times workers that are few enough for rents
_RENT_PATIENCE = 40  # searches for one question, before the schedules are divided
_RENT_SLICE = 4  # searches between two looks at the clock
_RENT_ROUNDS = 12  # the same, of one cell
_KEPT = 1 << 26  # cells times slots times workers for which usage is kept


class Best:
    """The best schedule known, and its worth, which is minimised: makespan, or -iterations."""

    def __init__(self, search: Search, iterations: int) -> None:
        self.search = search
        # No iteration at all is always possible; K iterations may not be.
        self.found = iterations == 0
        self.worth = search.slots + 1 if iterations else 0
        self.plan: tuple[IterationPlan, ...] | None = None if iterations else ()

    def offer(self, store: Store) -> None:
        """Take over the best label of a real store if it is better."""
        if store.real and store.labels.tally[BEST] > 0 and store.worth < self.worth:
            self.worth, self.found, self.plan = store.worth, True, self.search.plan_of(store)


class Store:
    """One search with its labels.

    A store is *real* if its labels are schedules of the instance: the relaxed one is not.
    """

    def __init__(
        self, search: Search, mode: int, iterations: int, *, real: bool, dive: bool = False, bonus: int = _DIVE_BONUS
    ) -> None:
        self.search, self.mode, self.iterations = search, mode, iterations
        self.real, self.dive = real, dive
        self.bonus = bonus if dive else 0
        self.finished = False
        self.bound = 0 if iterations else -NEVER
        self.labels = make_labels(iterations if iterations else search.slots, search.problem.words, _FIRST_LABELS)
        self.labels.heap_key[0] = _DIVE_ROOT if dive else self.bound
        self._effort = _DIVE_EFFORT if dive else _FIRST_EFFORT
        self._found = _DIVE_FOUND if dive else _FIRST_FOUND

    def work(self, best: Best, steps: int) -> bool:
        """Spend about `steps` units of work; True if `best` is now proven optimal."""
        search = self.search
        while steps > 0 and not self.finished:
            search.check()
            search.set_limits(self._effort, self._found)
            share = min(steps, _SLICE)
            why = search.call(self, best.worth - 1, share)
            if not self.dive:
                self.bound = max(self.bound, self._least(best.worth))
            if why == NEED_SLOTS:
                search.grow()
            elif why == NEED_LABELS:
                search.claim()
                self.labels = more_labels(self.labels)
            elif why == CUT:
                steps -= self._effort // PER_STEP
                if self._effort > PER_STEP * steps:
                    break
                self._effort *= 4
                self._found *= 2
            elif why == SLICE or (self.dive and why == SOLVED):
                steps -= share
                best.offer(self)
            else:
                self.finished = True
                if why == SOLVED:
                    self.bound = max(self.bound, self.worth)
                best.offer(self)
        if not self.finished or self.dive:
            return False
        # Nothing better than `best` is left, or what was left has been found.
        return self.real or self.bound >= best.worth

    def _least(self, limit: int) -> int:
        """Return the least worth below `limit` that schedules found, or still to be found, can have; or `limit`."""
        least = limit
        if self.labels.tally[HEAP] > 0:
            least = min(least, int(self.labels.heap_key[0]))
        if self.labels.tally[BEST] > 0:
            least = min(least, self.worth)
        return least

    @property
    def worth(self) -> int:
        """Return the worth of the best label."""
        label = int(self.labels.tally[BEST])
        return int(self.labels.start[label] if self.iterations else -self.labels.done[label])


class Cell:
    """Schedules some of whose iterations end within given slots (module `channel_bound`), and what is known of them.

    ``soonest`` and ``latest`` hold pairs (k, t): iteration k + 1 starts in t at the soonest, or at the latest.
    """

    def __init__(self, bound: int, soonest: tuple[tuple[int, int], ...], latest: tuple[tuple[int, int], ...]) -> None:
        self.bound = bound
        self.soonest, self.latest = soonest, latest
        self.usage: Reals | None = None
        self.loss: Reals | None = None
        self.chains = 0
        self.stride = 1
        self.rounds = 0
        self.is_final = False


class RentBound:
    """The rent bound (module `channel_bound`), raised step by step.

    The bound is the least bound of a cell. That cell is worked on; if its bound is not raised soon, it is divided.

    ``bound`` is in units of worth, as that of a `Store`.
    """

    def __init__(self, search: Search, mode: int, iterations: int) -> None:
        self.search, self.mode, self.iterations = search, mode, iterations
        self.bound = 0 if iterations else -NEVER
        self.rents: Rents | None = None
        self.cells: list[Cell] = [Cell(self.bound, (), ())]

    def work(self, best: Best, steps: int) -> None:
        """Spend about `steps` units of work on refuting ever more."""
        search = self.search
        while steps > 0:
            search.check()
            cell = min(self.cells, key=lambda cell: cell.bound)
            cell.bound = max(cell.bound, search.bound())
            self.bound = max(self.bound, min(cell.bound for cell in self.cells))
            if self.bound >= best.worth or cell.is_final:
                return
            target = min(cell.bound + cell.stride - 1, best.worth - 1)  # the worth to be refuted
            iterations, end = (self.iterations, target) if self.iterations else (-target, search.slots)
            if end * search.problem.p > _RENT_CELLS or iterations > end:
                if cell.stride == 1:
                    return
                cell.stride = 1
                continue
            before = search.effort_spent()
            rents = self._reserve(iterations, end)
            self._enter(cell, rents)
            patience = _RENT_ROUNDS if len(self.cells) > 1 else _RENT_PATIENCE
            rounds = 1 if cell.stride > 1 else max(1, min(_RENT_SLICE, patience - cell.rounds))
            answer = search.refute(rents, self.mode, iterations, end, rounds, steps)
            steps -= 1 + (search.effort_spent() - before) // PER_STEP
            self._leave(cell, rents, end)
            cell.rounds += rounds
            if answer == REFUTED:
                cell.bound = target + 1
                cell.stride *= 2
                cell.rounds = 0
            elif answer == STOPPED and steps <= 0:
                return
            elif cell.stride > 1:
                cell.stride = 1
                cell.rounds = 0
            elif answer == STOPPED or cell.rounds >= patience:
                self._divide(cell, rents, iterations)

    def _enter(self, cell: Cell, rents: Rents) -> None:
        """Go on with a cell where it was left."""
        rents.soonest[:] = 0
        rents.latest[:] = NEVER
        for k, t in cell.soonest:
            if k < len(rents.soonest):
                rents.soonest[k] = max(rents.soonest[k], t)
        for k, t in cell.latest:
            if k < len(rents.latest):
                rents.latest[k] = min(rents.latest[k], t)
        if cell.usage is not None and cell.loss is not None:
            rents.usage[: len(cell.usage)] = cell.usage
            rents.loss[:] = cell.loss
            rents.chains[0] = cell.chains

    def _leave(self, cell: Cell, rents: Rents, end: int) -> None:
        """Keep what has been learnt of a cell."""
        if len(self.cells) * end * self.search.problem.p <= _KEPT:
            cell.usage = rents.usage[:end].astype(np.float32)
            cell.loss = rents.loss.copy()
            cell.chains = int(rents.chains[0])

    def _divide(self, cell: Cell, rents: Rents, iterations: int) -> None:
        """Divide a cell by the slot in which an iteration ends, one in which its chains differ most."""
        where = split(rents, iterations)
        if where is None:
            cell.is_final = True
            return
        k, t = where
        self.cells.remove(cell)
        for part in (
            Cell(cell.bound, cell.soonest, (*cell.latest, (k, t - 1))),
            Cell(cell.bound, (*cell.soonest, (k, t)), cell.latest),
        ):
            part.usage, part.loss, part.chains = cell.usage, cell.loss, cell.chains
            self.cells.append(part)

    def bytes_kept(self) -> int:
        """Memory for what has been learnt of cells."""
        return sum(cell.usage.nbytes for cell in self.cells if cell.usage is not None)

    def advise(self) -> None:
        """Let later searches try those workers first that the chains have used most."""
        if self.rents is not None:
            end = len(self.rents.usage)
            merit = np.zeros((end, self.search.problem.p))
            merits(self.search.table, self.search.problem, self.rents, end, merit)
            self.search.set_merit(merit)

    def _reserve(self, iterations: int, end: int) -> Rents:
        """Return room for rents; what has been learnt stays."""
        old = self.rents
        search = self.search
        while search.slots_known() < end:
            search.grow()
        if old is None or len(old.phi) <= end or len(old.first) < iterations + 2:
            slots = end if old is None else max(2 * end, len(old.usage))
            new = make_rents(search.problem.p, min(slots, search.slots_known()), iterations)
            begin_rents(search.table, search.problem, new)
            if old is not None:
                new.usage[: len(old.usage)] = old.usage
                new.loss[:] = old.loss
                new.chains[:] = old.chains
            self.rents = new
            return new
        return old
