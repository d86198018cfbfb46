"""What works on the answer between two looks at the clock: searches with labels of their own, and the rent bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from offline.coupled.emit import IterationPlan
from offline.coupled.native.iteration import NEVER
from offline.coupled.native.labels import BEST, HEAP, make_labels, more_labels
from offline.coupled.native.rent import REFUTED, STOPPED, Rents, begin_rents, make_rents, merits
from offline.coupled.native.search import CUT, NEED_LABELS, NEED_SLOTS, SLICE, SOLVED

if TYPE_CHECKING:
    from offline.coupled.native.rounds import Search

__all__ = ["Best", "RentBound", "Store"]

_SLICE = 4_000  # units of work between two looks at the clock
_FIRST_LABELS = 1 << 10
_FIRST_EFFORT = 1 << 14
_FIRST_FOUND = 64
_DIVE_EFFORT = 1 << 11
_DIVE_FOUND = 8
_DIVE_BONUS = 1 << 32  # more than any worth
_DIVE_ROOT = -(1 << 62)  # less than any key
_PER_STEP = 64  # units of effort in a step of work
_RENT_CELLS = 1 << 20  # slots times workers that are few enough for rents
_RENT_ROUNDS = 20  # searches for one question between two looks at the clock
_RENT_PATIENCE = 80  # the same, before the question is left for later


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
                steps -= self._effort // 64
                if self._effort > 64 * steps:
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


class RentBound:
    """The rent bound (module `rent`), raised step by step.

    ``bound`` is in units of worth, as that of a `Store`.
    """

    def __init__(self, search: Search, mode: int, iterations: int) -> None:
        self.search, self.mode, self.iterations = search, mode, iterations
        self.bound = 0 if iterations else -NEVER
        self.rents: Rents | None = None
        self._stride = 1
        self._patience = 0

    def work(self, best: Best, steps: int) -> None:
        """Spend about `steps` units of work on refuting ever more."""
        search = self.search
        self._patience = _RENT_PATIENCE
        while steps > 0 and self._patience > 0:
            search.check()
            self.bound = max(self.bound, search.bound())
            if self.bound >= best.worth:
                return
            target = min(self.bound + self._stride - 1, best.worth - 1)  # the worth to be refuted
            iterations, end = (self.iterations, target) if self.iterations else (-target, search.slots)
            if end * search.problem.p > _RENT_CELLS or iterations > end:
                if self._stride == 1:
                    return
                self._stride = 1
                continue
            before = search.effort_spent()
            answer = search.refute(self._reserve(iterations, end), self.mode, iterations, end, _RENT_ROUNDS, steps)
            steps -= 1 + (search.effort_spent() - before) // _PER_STEP
            if answer == REFUTED:
                self.bound = target + 1
                self._stride *= 2
                self._patience = _RENT_PATIENCE
            elif answer == STOPPED:
                return
            elif self._stride > 1:
                self._stride = 1
            else:
                self._patience -= _RENT_ROUNDS

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
