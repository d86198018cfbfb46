"""The passive heuristics IP, IE, IY, IAY: build a configuration task by task, keep it until it fails.

Written to be read; `hindsched.online.coupled.kernels.builder_kernels` is the compiled twin.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hindsched.online.coupled.criteria import Criterion, is_better, score
from hindsched.online.coupled.estimates import Estimate, Estimates, whole_slots
from hindsched.online.coupled.options import Estimator, Ties
from hindsched.online.coupled.visible import Problem, Visible

__all__ = ["Builder", "Candidate", "Passive", "elapsed", "estimates_for"]


class Candidate(NamedTuple):
    """A configuration and its estimate."""

    tasks: dict[int, int]
    estimate: Estimate


class Builder:
    """Assign m tasks one by one, each to the UP worker that is best by a criterion (docs/model.md section 6).

    Parameters
    ----------
    criterion
        Criterion of the partial configuration with the new task.
    estimates
        Estimates for the workers of the problem.
    problem
        The problem to schedule.
    ties
        The worker that gets a task if several are equally good.

    Notes
    -----
    A task costs one estimate per UP worker. The configuration depends on the UP workers, on what they have received
    and (for Y) on the time; these are the keys of a cache.
    """

    _MOST_REMEMBERED = 20_000

    def __init__(self, criterion: Criterion, estimates: Estimates, problem: Problem, ties: Ties = Ties.LOWEST) -> None:
        self._criterion = criterion
        self._estimates = estimates
        self._problem = problem
        self._highest = ties is Ties.HIGHEST
        self._built: dict[object, Candidate] = {}

    def build(self, visible: Visible) -> Candidate | None:
        """Return the configuration built in this slot, ignoring the one held; None if UP workers cannot hold m."""
        up = visible.up
        if sum(self._problem.capacities[q] for q in up) < self._problem.tasks:
            return None
        received = tuple((visible.program[q], visible.data[q]) for q in up)
        key = (tuple(up), received, elapsed(visible) if self._criterion is Criterion.Y else 0)
        found = self._built.get(key)
        if found is None:
            if len(self._built) >= self._MOST_REMEMBERED:
                self._built.clear()
            found = self._built[key] = self._build(visible, up)
        return found

    def _build(self, visible: Visible, up: list[int]) -> Candidate:
        partial = _Partial(self._estimates, visible)
        for _ in range(self._problem.tasks):
            q, estimate = self._best(partial, up, elapsed(visible))
            partial.add(q)
        return Candidate({q: x for q, x in enumerate(partial.tasks) if x}, estimate)

    def _best(self, partial: _Partial, up: list[int], since: int) -> tuple[int, Estimate]:
        """Return the worker that gets the next task, with the resulting estimate."""
        free = [q for q in up if partial.tasks[q] < self._problem.capacities[q]]
        if self._highest:
            free.reverse()  # the first of equals wins
        best = free[0], partial.with_one_more(free[0])
        best_score = score(self._criterion, best[1], since)
        for q in free[1:]:
            estimate = partial.with_one_more(q)
            value = score(self._criterion, estimate, since)
            if is_better(value, best_score):
                best, best_score = (q, estimate), value
        return best


class _Partial:
    """A configuration under construction, with the parts of its estimate that a further task updates."""

    def __init__(self, estimates: Estimates, visible: Visible) -> None:
        p = visible.problem.num_workers
        self.tasks = [0] * p
        self._estimates = estimates
        self._visible = visible
        self._w = visible.problem.w
        self._holders: list[int] = []
        self._members = 0  # the holders as a bit mask
        self._work = 0
        self._longest = 0.0
        self._needed = 0

    def with_one_more(self, q: int) -> Estimate:
        """Return the estimate of this configuration with one more task on worker q."""
        estimates = self._estimates
        x = self.tasks[q] + 1
        work, longest, needed = self._totals_with(q, x)
        members = self._members | 1 << q
        num_holders = len(self._holders) + (x == 1)
        e_comm = estimates.communication(longest, needed, num_holders)
        not_down = estimates.log_not_down_row(whole_slots(e_comm))
        log_p_comm = not_down[q] if x == 1 else 0.0
        for holder in self._holders:
            log_p_comm += not_down[holder]
        return estimates.iteration(members, work, e_comm, log_p_comm)

    def add(self, q: int) -> None:
        """Give worker q one more task."""
        x = self.tasks[q] + 1
        self._work, self._longest, self._needed = self._totals_with(q, x)
        if x == 1:
            self._holders.append(q)
            self._members |= 1 << q
        self.tasks[q] = x

    def _totals_with(self, q: int, x: int) -> tuple[int, float, int]:
        """Return W, the longest transfer and all slots to receive if worker q held x tasks, one more than now."""
        need = self._visible.needs(q, x)
        before = self._visible.needs(q, x - 1) if x > 1 else 0
        return (
            max(self._work, x * self._w[q]),
            max(self._longest, self._estimates.duration_alone(q, need)),
            self._needed + need - before,
        )


class Passive:
    """Choose only if no complete configuration is held: when an iteration starts, and after a member was DOWN.

    Parameters
    ----------
    criterion
        Criterion by which a configuration is built; it gives the name IP, IE, IY or IAY.
    estimator
        Estimate of durations.
    ties
        The worker that gets a task if several are equally good.
    """

    def __init__(self, criterion: Criterion, estimator: Estimator, ties: Ties) -> None:
        self.name = f"I{criterion}"
        self._criterion = criterion
        self._estimator = estimator
        self._ties = ties
        self._builder: Builder | None = None

    def choose(self, visible: Visible) -> Mapping[int, int] | None:
        """Keep a complete configuration; otherwise build one among the UP workers, or hold none."""
        if visible.slot == 0 or self._builder is None:
            estimates = estimates_for(visible.problem, self._estimator)
            self._builder = Builder(self._criterion, estimates, visible.problem, self._ties)
        if visible.is_complete:
            return None
        candidate = self._builder.build(visible)
        return {} if candidate is None else candidate.tasks


def estimates_for(problem: Problem, estimator: Estimator) -> Estimates:
    """Return the estimates for the workers of a problem."""
    return Estimates(problem.chains, n_com=problem.n_com, estimator=estimator)


def elapsed(visible: Visible) -> int:
    """Return t, the slots since the present iteration began: 0 in its first slot."""
    return visible.slot - visible.iteration_start
