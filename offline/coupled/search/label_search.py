"""Searches with labels of their own, and the best schedule that any of them has found."""

from __future__ import annotations

from hindsched.offline.coupled.plans import IterationPlan
from hindsched.offline.coupled.search.best_first import Question, run
from hindsched.offline.coupled.search.constants import (
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
from hindsched.offline.coupled.search.labels import make_labels, more_labels
from hindsched.offline.coupled.search.reconstruction import make_plan
from hindsched.offline.coupled.search.workspace import Workspace

__all__ = ["Incumbent", "LabelSearch"]


class Incumbent:
    """The best schedule known, and its cost, which is minimised: makespan, or -iterations."""

    def __init__(self, workspace: Workspace, iterations: int) -> None:
        # No iteration at all is always possible; K iterations may not be.
        self.is_found = iterations == 0
        self.cost = workspace.slots + 1 if iterations else 0
        self.plan: tuple[IterationPlan, ...] | None = None if iterations else ()

    def offer(self, found: LabelSearch) -> None:
        """Take over the best label of a search if it is a schedule of the instance, and better."""
        if found.is_real and found.labels.tally[BEST] > 0 and found.cost < self.cost:
            self.take(found.cost, found.plan())

    def take(self, cost: int, plan: tuple[IterationPlan, ...]) -> None:
        """Take over a schedule that is better."""
        self.cost, self.is_found, self.plan = cost, True, plan


class LabelSearch:
    """One search with its labels, best first (module `best_first`) or as a dive.

    A search is *real* if its labels are schedules of the instance: the relaxed one is not.
    """

    def __init__(self, workspace: Workspace, mode: int, iterations: int, *, real: bool, dive: bool = False) -> None:
        self.workspace, self.mode, self.iterations = workspace, mode, iterations
        self.is_real, self.is_dive = real, dive
        self.is_finished = False
        self.bound = 0 if iterations else -NEVER
        self.labels = make_labels(iterations or workspace.slots, workspace.problem.num_words, FIRST_LABELS)
        self.labels.heap_key[0] = DIVE_ROOT if dive else self.bound
        self._effort = DIVE_EFFORT if dive else FIRST_EFFORT
        self._found = DIVE_FOUND if dive else FIRST_FOUND

    def work(self, incumbent: Incumbent, steps: int) -> bool:
        """Spend about `steps` units of work; True if `incumbent` is now proven optimal."""
        workspace = self.workspace
        while steps > 0 and not self.is_finished:
            workspace.check()
            workspace.limit_expansion(self._effort, self._found)
            share = min(steps, SLICE_STEPS)
            why = self._run(incumbent.cost - 1, share)
            if not self.is_dive:
                self.bound = max(self.bound, self._least(incumbent.cost))
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
            elif why == SLICE or (self.is_dive and why == SOLVED):
                steps -= share
                incumbent.offer(self)
            else:
                self.is_finished = True
                if why == SOLVED:
                    self.bound = max(self.bound, self.cost)
                incumbent.offer(self)
        if not self.is_finished or self.is_dive:
            return False
        # Nothing better than the incumbent is left, or what was left has been found.
        return self.is_real or self.bound >= incumbent.cost

    def question(self, limit: int) -> Question:
        """Return what is asked of this search, for schedules of cost at most `limit`."""
        bonus = DIVE_BONUS if self.is_dive else 0
        return Question(self.mode, self.iterations, self.workspace.slots, limit, bonus, self.is_dive)

    def _run(self, limit: int, steps: int) -> int:
        """Work once on the queue, for schedules of cost at most `limit`."""
        workspace = self.workspace
        workspace.stop_after(NEVER)
        return int(
            run(
                workspace.table,
                workspace.problem,
                workspace.scratch,
                workspace.prefetch,
                self.labels,
                self.question(limit),
                steps,
            )
        )

    def plan(self) -> tuple[IterationPlan, ...]:
        """Return the schedule of the best label."""
        workspace = self.workspace
        best = int(self.labels.tally[BEST])
        return make_plan(
            workspace.table, workspace.problem, workspace.scratch, self.labels, best, self.mode, workspace.slots
        )

    def _least(self, limit: int) -> int:
        """Return the least cost below `limit` that schedules found, or still to be found, can have; or `limit`."""
        least = limit
        if self.labels.tally[HEAP] > 0:
            least = min(least, int(self.labels.heap_key[0]))
        if self.labels.tally[BEST] > 0:
            least = min(least, self.cost)
        return least

    @property
    def cost(self) -> int:
        """The cost of the best label."""
        label = int(self.labels.tally[BEST])
        return int(self.labels.start[label] if self.iterations else -self.labels.done[label])
