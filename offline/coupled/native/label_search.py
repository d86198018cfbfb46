"""Searches with labels of their own, and the best schedule that any of them has found."""

from __future__ import annotations

from offline.coupled.emit import IterationPlan
from offline.coupled.native.best_first import run
from offline.coupled.native.constants import (
    BEST,
    CUT,
    DIVE_BONUS,
    DIVE_EFFORT,
    DIVE_FOUND,
    DIVE_ROOT,
    FIRST_EFFORT,
    FIRST_FOUND,
    FIRST_LABELS,
    HEAP,
    NEED_LABELS,
    NEED_SLOTS,
    NEVER,
    PER_STEP,
    SLICE,
    SLICE_STEPS,
    SOLVED,
)
from offline.coupled.native.labels import make_labels, more_labels
from offline.coupled.native.plan import make_plan
from offline.coupled.native.workspace import Workspace

__all__ = ["Best", "Store"]


class Best:
    """The best schedule known, and its worth, which is minimised: makespan, or -iterations."""

    def __init__(self, workspace: Workspace, iterations: int) -> None:
        # No iteration at all is always possible; K iterations may not be.
        self.found = iterations == 0
        self.worth = workspace.slots + 1 if iterations else 0
        self.plan: tuple[IterationPlan, ...] | None = None if iterations else ()

    def offer(self, store: Store) -> None:
        """Take over the best label of a real store if it is better."""
        if store.real and store.labels.tally[BEST] > 0 and store.worth < self.worth:
            self.worth, self.found, self.plan = store.worth, True, store.plan()


class Store:
    """One search with its labels.

    A store is *real* if its labels are schedules of the instance: the relaxed one is not.
    """

    def __init__(self, workspace: Workspace, mode: int, iterations: int, *, real: bool, dive: bool = False) -> None:
        self.workspace, self.mode, self.iterations = workspace, mode, iterations
        self.real, self.dive = real, dive
        self.bonus = DIVE_BONUS if dive else 0
        self.finished = False
        self.bound = 0 if iterations else -NEVER
        self.labels = make_labels(iterations or workspace.slots, workspace.problem.words, FIRST_LABELS)
        self.labels.heap_key[0] = DIVE_ROOT if dive else self.bound
        self._effort = DIVE_EFFORT if dive else FIRST_EFFORT
        self._found = DIVE_FOUND if dive else FIRST_FOUND

    def work(self, best: Best, steps: int) -> bool:
        """Spend about `steps` units of work; True if `best` is now proven optimal."""
        workspace = self.workspace
        while steps > 0 and not self.finished:
            workspace.check()
            workspace.limit_expansion(self._effort, self._found)
            share = min(steps, SLICE_STEPS)
            why = self._run(best.worth - 1, share)
            if not self.dive:
                self.bound = max(self.bound, self._least(best.worth))
            if why == NEED_SLOTS:
                workspace.grow()
            elif why == NEED_LABELS:
                workspace.claim()
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

    def _run(self, limit: int, steps: int) -> int:
        """One slice of the search, for schedules worth at most `limit`."""
        workspace = self.workspace
        workspace.stop_after(NEVER)
        return int(
            run(
                workspace.table,
                workspace.problem,
                workspace.space,
                workspace.memo,
                workspace.gain,
                self.labels,
                self.mode,
                self.iterations,
                workspace.slots,
                limit,
                self.bonus,
                steps,
                self.dive,
                workspace.wish,
            )
        )

    def plan(self) -> tuple[IterationPlan, ...]:
        """Return the schedule of the best label."""
        workspace = self.workspace
        best = int(self.labels.tally[BEST])
        return make_plan(
            workspace.table, workspace.problem, workspace.space, self.labels, best, self.mode, workspace.slots
        )

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
