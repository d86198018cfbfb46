"""Growing horizons: an exact model, solved within horizons that are as short as possible.

A *round* repeats in a schedule and begins after the previous round has ended, such as an iteration. A family provides
the earliest and latest ends of rounds, a heuristic first plan, and a model that finds the best plan within given
windows (`Rounds`). `HorizonSearch` chooses the windows and draws the conclusions:

- **Least end of K rounds.** The incumbent ends in slot v, and a bound proves that no plan ends before slot b. While
  b < v the model is solved within horizons of growing length, at most v. In a short horizon every window is narrow, so
  the model is small and quickly proven infeasible; then no plan ends within the horizon, which raises b. The best plan
  of the first feasible horizon is optimal.
- **Stepwise**, the same is done for 1, 2, ..., K rounds, since each answer narrows the next windows: bounds continue
  from proven ends, and the heuristic from the plan found. If the time runs out, proven ends of fewer rounds bound the
  ends of more. Each step gets a share of the time left, the last step all of it.
- **Most rounds.** Stepwise, until a number of rounds is proven infeasible. Otherwise the model looks for any plan with
  one round more than the incumbent until that is infeasible.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from hindsched.offline.limits import Limit, OutOfTimeError, Stopwatch

__all__ = ["Growth", "HorizonSearch", "Rounds", "WindowAnswer", "WindowProblem", "doubling", "short_steps"]

#: The next horizon, given a slot before which no plan ends, the number of horizons tried, and whether a plan is known.
Growth = Callable[[int, int, bool], float]

_FIRST_STEP = 4  # slots of the first horizon beyond the bound, with short steps
_GROWTH = 1.25  # factor of the next steps; one model with wide windows costs more than several with narrow ones

Round = TypeVar("Round")  # one round of a plan
Window = TypeVar("Window")  # where a round may end, in the form that the model takes


def doubling(least: int, tries: int, is_known: bool) -> float:
    """Return twice the bound; without limit where a plan is known."""
    return math.inf if is_known else 2 * least + 2


def short_steps(least: int, tries: int, is_known: bool) -> float:
    """Return a horizon that grows slowly, even where a plan is known."""
    step = _FIRST_STEP
    for _ in range(tries):
        step = math.ceil(step * _GROWTH)
    return least + step


@dataclass(frozen=True, slots=True)
class WindowProblem(Generic[Window]):
    """The problem of a model: find rounds that end within these windows, the last one as early as possible.

    Parameters
    ----------
    windows
        One per round.
    is_any_sufficient
        Whether any feasible plan suffices; otherwise the last round has to end as early as possible.
    share_s
        Seconds for this problem; None: no limit.
    """

    windows: Sequence[Window]
    is_any_sufficient: bool
    share_s: float | None

    def left_s(self, watch: Stopwatch) -> float | None:
        """Return the seconds that are left for the solver after the model was built."""
        return None if self.share_s is None else min(self.share_s, watch.left_s() or 0.0)


@dataclass(frozen=True, slots=True)
class WindowAnswer(Generic[Round]):
    """The answer of a model.

    Parameters
    ----------
    plan
        The best plan found, or None.
    is_final
        Whether the answer is proven: a best plan, or that there is none.
    least_end
        Without a proof: within the windows no plan ends before this slot; None: nothing is known.
    limit
        Without a proof: the limit that stopped the solver; None where it is not known.
    """

    plan: list[Round] | None
    is_final: bool
    least_end: int | None = None
    limit: Limit | None = None


class Rounds(Protocol[Round, Window]):
    """What a family provides to `HorizonSearch`; slots count from 0."""

    @property
    def slots(self) -> int:
        """The number of known slots."""

    def earliest_ends(self, count: int | None, proven: Sequence[int]) -> list[int]:
        """Return lower bounds on the ends of rounds 1, 2, ..., at most ``count``; fewer where no more rounds fit.

        ``proven`` holds such bounds for the first rounds that are better than what is computed here.
        """

    def windows(self, earliest: Sequence[int], horizon: int) -> list[Window] | None:
        """Return the windows of rounds that all end before slot ``horizon``; None: proven infeasible."""

    def first_plan(self, count: int | None, watch: Stopwatch, begun: Sequence[Round] = ()) -> list[Round]:
        """Return a plan that begins with ``begun`` and has at most ``count`` rounds; None: as many as possible."""

    def end_of(self, plan: Sequence[Round]) -> int:
        """Return the slot in which the last round of a plan ends."""

    def solve_windows(self, problem: WindowProblem[Window], watch: Stopwatch) -> WindowAnswer[Round]:
        """Build and solve the model; `OutOfTimeError` if the time is over before it is built."""


class HorizonSearch(Generic[Round, Window]):
    """The search of this module.

    Parameters
    ----------
    rounds
        The problem and its model.
    watch
        When to stop.
    growth
        How the horizons grow.
    is_stepwise
        Whether the ends of fewer rounds are settled before those of more.
    """

    def __init__(self, rounds: Rounds[Round, Window], watch: Stopwatch, growth: Growth, *, is_stepwise: bool) -> None:
        self._rounds = rounds
        self._watch = watch
        self._growth = growth
        self._is_stepwise = is_stepwise
        self._proven: list[int] = []  # lower bounds on the ends of rounds 1, 2, ...
        self._plans: list[list[Round]] = []
        self._limit: Limit | None = None

    @property
    def limit(self) -> Limit | None:
        """The limit that stopped the search, where it ended without a proof."""
        return Limit.TIME if self._watch.is_over() else self._limit

    def least_end(self, target: int) -> tuple[list[Round] | None, int | None]:
        """Return the best plan of ``target`` rounds, and a slot before which no plan ends.

        The plan is None if none was found; the slot is None if it is proven that there is none.
        """
        rounds = self._rounds
        earliest = rounds.earliest_ends(target, ())
        if len(earliest) < target:
            return None, None
        self._plans.append(rounds.first_plan(target, self._watch))
        for count in range(1 if self._is_stepwise else target, target + 1):
            best = self._best(target)
            if self._watch.is_over() or (best is not None and rounds.end_of(best) == earliest[-1]):
                break
            if not self._settle(count, target):
                return None, None
            earliest = rounds.earliest_ends(target, self._proven)
            if len(earliest) < target:
                return None, None
        return self._best(target), earliest[-1]

    def most_rounds(self) -> tuple[list[Round], int]:
        """Return the best plan, and an upper bound on the number of rounds."""
        rounds = self._rounds
        self._plans.append(rounds.first_plan(None, self._watch))
        most = len(rounds.earliest_ends(None, ()))
        while most > len(self._longest()) and not self._watch.is_over():
            if self._is_stepwise:
                if len(self._proven) == most:
                    break
                is_possible = self._settle(len(self._proven) + 1, most)
                most = len(rounds.earliest_ends(None, self._proven)) if is_possible else len(self._proven)
                continue
            wanted = len(self._longest()) + 1
            answer = self._solve(
                rounds.earliest_ends(wanted, ()), rounds.slots, self._watch.left_s(), is_any_sufficient=True
            )
            if answer.plan is not None:
                self._plans.append(answer.plan)
            elif answer.is_final:
                most = wanted - 1
            else:
                break
        return self._longest(), most

    def _settle(self, count: int, target: int) -> bool:
        """Find the least end of ``count`` rounds, or a bound if the time runs out; False if they are infeasible."""
        rounds = self._rounds
        left_s = self._watch.left_s()
        share_s = None if left_s is None else left_s * 2 / (target - count + 2)
        earliest = rounds.earliest_ends(count, self._proven)
        if len(earliest) < count:
            return False
        least, tries, best = earliest[-1], 0, self._best(count)
        while best is None or rounds.end_of(best) > least:
            longest = rounds.slots if best is None else rounds.end_of(best)
            horizon = int(min(longest, self._growth(least, tries, best is not None)))
            tries += 1
            answer = self._solve(earliest, horizon, share_s, is_any_sufficient=False)
            if answer.plan is not None:
                best = answer.plan
                self._plans.append(best if count == target else rounds.first_plan(target, self._watch, best))
            if not answer.is_final:
                least = max(least, min(horizon, answer.least_end or 0))
                break
            least = horizon if answer.plan is None else rounds.end_of(answer.plan)
            if best is None and horizon == rounds.slots:
                return False
        self._proven = [*earliest[:-1], least]
        return True

    def _solve(
        self, earliest: Sequence[int], horizon: int, share_s: float | None, *, is_any_sufficient: bool
    ) -> WindowAnswer[Round]:
        """Solve the model for rounds that end before slot ``horizon``."""
        if self._watch.is_over():
            return WindowAnswer(None, is_final=False)
        windows = self._rounds.windows(earliest, horizon)
        if windows is None:
            return WindowAnswer(None, is_final=True)
        try:
            answer = self._rounds.solve_windows(WindowProblem(windows, is_any_sufficient, share_s), self._watch)
        except OutOfTimeError:
            return WindowAnswer(None, is_final=False)
        if not answer.is_final:
            self._limit = answer.limit
        return answer

    def _best(self, count: int) -> list[Round] | None:
        """Return the first ``count`` rounds of the plan that completes them earliest."""
        plans = (plan[:count] for plan in self._plans if len(plan) >= count)
        return min(plans, key=self._rounds.end_of, default=None)

    def _longest(self) -> list[Round]:
        return max(self._plans, key=len)
