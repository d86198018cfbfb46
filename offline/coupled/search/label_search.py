"""Searches with labels of their own, and the best schedule that any search has found."""

from __future__ import annotations

from hindsched.offline.coupled.plans import IterationPlan
from hindsched.offline.coupled.search.best_first import (
    EXPANSION_INCOMPLETE,
    NEED_LABELS,
    NEED_SLOTS,
    SLICE_DONE,
    SOLVED,
    SearchSettings,
    run,
)
from hindsched.offline.coupled.search.effort import EFFORT_PER_STEP
from hindsched.offline.coupled.search.labels import BEST_LABEL, HEAP_SIZE, make_labels, more_labels
from hindsched.offline.coupled.search.parameters import LabelSearchParameters
from hindsched.offline.coupled.search.reconstruction import make_plan
from hindsched.offline.coupled.search.slot_codes import NEVER
from hindsched.offline.coupled.search.workspace import Workspace

__all__ = ["Incumbent", "LabelSearch"]

_DIVE_BONUS = 1 << 32  # more than any cost, so that a dive runs depth first
_DIVE_ROOT_KEY = -(1 << 62)  # less than any key


class Incumbent:
    """The best schedule known, and its cost to be minimised: makespan, or minus iterations."""

    def __init__(self, workspace: Workspace, iterations: int) -> None:
        # A schedule of no iteration always exists; one of K iterations may not.
        self.is_found = iterations == 0
        self.cost = workspace.slots + 1 if iterations else 0
        self.plan: tuple[IterationPlan, ...] | None = None if iterations else ()

    def offer(self, found: LabelSearch) -> None:
        """Take the best label of a search if it is a schedule of the instance and better."""
        if found.is_real and found.labels.tally[BEST_LABEL] > 0 and found.cost < self.cost:
            self.take(found.cost, found.plan())

    def take(self, cost: int, plan: tuple[IterationPlan, ...]) -> None:
        """Take a better schedule."""
        self.cost, self.is_found, self.plan = cost, True, plan


class LabelSearch:
    """A best-first search (module `best_first`) or dive with labels of its own.

    A search is *real* if its labels are schedules of the instance; the relaxed search is not.
    """

    def __init__(
        self,
        workspace: Workspace,
        mode: int,
        iterations: int,
        *,
        real: bool,
        dive: bool = False,
        parameters: LabelSearchParameters = LabelSearchParameters(),  # noqa: B008 - immutable
    ) -> None:
        self.workspace, self.mode, self.iterations = workspace, mode, iterations
        self.is_real, self.is_dive = real, dive
        self.is_finished = False
        self.bound = 0 if iterations else -NEVER
        self.labels = make_labels(iterations or workspace.slots, workspace.problem.num_words, parameters.first_labels)
        self.labels.heap_key[0] = _DIVE_ROOT_KEY if dive else self.bound
        places = max(parameters.slice_places, workspace.problem.p * workspace.problem.m)
        self._slice_steps = max(1, parameters.slice_steps * parameters.slice_places // places)
        self._effort = parameters.dive_effort if dive else parameters.best_first_effort
        self._found = parameters.dive_sets if dive else parameters.best_first_sets

    def work(self, incumbent: Incumbent, steps: int) -> bool:
        """Search for about `steps` steps; return whether `incumbent` is proven optimal now."""
        workspace = self.workspace
        while steps > 0 and not self.is_finished:
            workspace.check()
            workspace.limit_expansion(self._effort, self._found)
            share = min(steps, self._slice_steps)
            before = workspace.effort_spent()
            reason = self._run(incumbent.cost - 1, share)
            if not self.is_dive:
                self.bound = max(self.bound, self._least(incumbent.cost))
            if reason == NEED_SLOTS:
                workspace.grow()
            elif reason == NEED_LABELS:
                workspace.claim()
                self.labels = more_labels(self.labels)
            elif reason == EXPANSION_INCOMPLETE:
                steps -= self._effort // EFFORT_PER_STEP
                if self._effort > EFFORT_PER_STEP * steps:
                    break
                self._effort *= 4
                self._found *= 2
            elif reason == SLICE_DONE or (self.is_dive and reason == SOLVED):
                spent = (workspace.effort_spent() - before) // EFFORT_PER_STEP  # less where a scan of ends stops early
                steps -= share if reason == SOLVED else min(share, max(1, spent))
                incumbent.offer(self)
            else:
                self.is_finished = True
                if reason == SOLVED:
                    self.bound = max(self.bound, self.cost)
                incumbent.offer(self)
        if not self.is_finished or self.is_dive:
            return False
        # A real search has found an optimum or has excluded a better schedule; a relaxed search has only a bound.
        return self.is_real or self.bound >= incumbent.cost

    def settings(self, cost_limit: int) -> SearchSettings:
        """Return the settings of this search for schedules of cost at most `cost_limit`."""
        bonus = _DIVE_BONUS if self.is_dive else 0
        return SearchSettings(self.mode, self.iterations, self.workspace.slots, cost_limit, bonus, self.is_dive)

    def _run(self, cost_limit: int, steps: int) -> int:
        """Process the queue once, for schedules of cost at most `cost_limit`."""
        workspace = self.workspace
        workspace.stop_after(NEVER)
        return int(
            run(
                workspace.arrays,
                workspace.prefetch,
                self.labels,
                self.settings(cost_limit),
                steps,
            )
        )

    def plan(self) -> tuple[IterationPlan, ...]:
        """Return the plan of the best label."""
        workspace = self.workspace
        best = int(self.labels.tally[BEST_LABEL])
        return make_plan(workspace.arrays, self.labels, best, self.mode, workspace.slots)

    def _least(self, cost_limit: int) -> int:
        """Return a lower bound on the cost of all schedules found or still to be found, at most `cost_limit`."""
        least = cost_limit
        if self.labels.tally[HEAP_SIZE] > 0:
            least = min(least, int(self.labels.heap_key[0]))
        if self.labels.tally[BEST_LABEL] > 0:
            least = min(least, self.cost)
        return least

    @property
    def cost(self) -> int:
        """The cost of the best label."""
        label = int(self.labels.tally[BEST_LABEL])
        return int(self.labels.start[label] if self.iterations else -self.labels.done[label])
