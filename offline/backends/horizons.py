"""The growing horizon: rounds one after another, put to an exact model in spans of slots that are as short as can be.

A *round* is what repeats in a schedule, each one beginning after the one before has ended: an iteration, a batch. A
family says when rounds can end at the earliest and at the latest, has a quick first plan, and a model that is asked for
the best plan within given windows (`Rounds`). The driver chooses the questions, and knows what the replies mean:

- **Least end of K rounds.** A plan known ends in slot v, a bound says that none ends before slot b. While b < v the
  model is asked within ever longer horizons, none beyond v. In a short horizon every round has a narrow window, so the
  model is small and says quickly that there is nothing: then no plan ends before that horizon does, which is the new b.
  The best plan of the first horizon that has one is optimal.
- **Stepwise** the same is done for 1, 2, ..., K rounds in this order, since each reply narrows the next question: the
  bound goes on from what is proven, and the plan greedily from what was found. What was proven for fewer rounds bounds
  more of them, if the time runs out. Of the time left each of the steps gets a share, the last one all there is.
- **Most rounds.** Stepwise, until a number of rounds is proven to be too large; otherwise the model is asked for one
  round more than the best plan has, any such plan being good, until the answer is no.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from hindsched.offline.limits import Limit, OutOfTimeError, Stopwatch

__all__ = ["Growth", "HorizonSearch", "Question", "Reply", "Rounds", "doubling", "short_steps"]

#: How far to look: from a slot before which no plan ends, the number of horizons tried, and whether a plan is known.
Growth = Callable[[int, int, bool], float]

_FIRST_STEP = 4  # slots beyond the bound in the first horizon of short steps
_GROWTH = 1.25  # of the next steps; a model whose windows are much too wide costs more than several narrow ones

Round = TypeVar("Round")  # one round of a plan
Window = TypeVar("Window")  # where a round may end, as the model wants it


def doubling(least: int, tries: int, is_known: bool) -> float:
    """Look twice as far each time; where a plan is known, as far as that at once."""
    return math.inf if is_known else 2 * least + 2


def short_steps(least: int, tries: int, is_known: bool) -> float:
    """Look a little further each time, though a plan be known."""
    step = _FIRST_STEP
    for _ in range(tries):
        step = math.ceil(step * _GROWTH)
    return least + step


@dataclass(frozen=True, slots=True)
class Question(Generic[Window]):
    """What a model is asked: whether there are rounds that end within these windows, and when the last one does.

    Parameters
    ----------
    windows
        One per round.
    is_any_good
        Whether any such plan will do; otherwise one is wanted whose last round ends first.
    share_s
        Seconds of the time left that this question may take; None: no limit.
    """

    windows: Sequence[Window]
    is_any_good: bool
    share_s: float | None

    def left_s(self, watch: Stopwatch) -> float | None:
        """Return the seconds a solver may take now, after the model was written down."""
        return None if self.share_s is None else min(self.share_s, watch.left_s() or 0.0)


@dataclass(frozen=True, slots=True)
class Reply(Generic[Round]):
    """What a model said.

    Parameters
    ----------
    plan
        The best plan found, or None.
    is_final
        Whether that is the answer: a best plan, or the proof that there is none.
    least_end
        If it is not final: within the windows no plan ends its last round before this slot; None: nothing is known.
    limit
        If it is not final: the limit that stopped the solver; None where it is not known.
    """

    plan: list[Round] | None
    is_final: bool
    least_end: int | None = None
    limit: Limit | None = None


class Rounds(Protocol[Round, Window]):
    """What the driver asks of a family's problem; slots count from 0."""

    @property
    def slots(self) -> int:
        """How many slots are known."""

    def earliest_ends(self, count: int | None, proven: Sequence[int]) -> list[int]:
        """Return slots before which rounds 1, 2, ... of no plan end, at most ``count``; fewer where no more fit.

        ``proven`` are such slots of the first rounds, known to be later than what is computed here.
        """

    def windows(self, earliest: Sequence[int], horizon: int) -> list[Window] | None:
        """Return the windows of rounds that all end before slot ``horizon``; None: proven impossible."""

    def first_plan(self, count: int | None, watch: Stopwatch, begun: Sequence[Round] = ()) -> list[Round]:
        """Return a plan that begins as told and goes on to ``count`` rounds or fewer; None: as many as it can."""

    def end_of(self, plan: Sequence[Round]) -> int:
        """Return the slot in which the last round of a plan ends."""

    def ask(self, question: Question[Window], watch: Stopwatch) -> Reply[Round]:
        """Put a question to the model, which may raise `OutOfTimeError` while it is written down."""


class HorizonSearch(Generic[Round, Window]):
    """The search described above.

    Parameters
    ----------
    rounds
        The problem and its model.
    watch
        When to stop.
    growth
        How the horizons grow.
    is_stepwise
        Whether fewer rounds are settled before more of them.
    """

    def __init__(self, rounds: Rounds[Round, Window], watch: Stopwatch, growth: Growth, *, is_stepwise: bool) -> None:
        self._rounds = rounds
        self._watch = watch
        self._growth = growth
        self._is_stepwise = is_stepwise
        self._proven: list[int] = []  # no plan ends its round 1, 2, ... before these slots
        self._plans: list[list[Round]] = []
        self._limit: Limit | None = None

    @property
    def limit(self) -> Limit | None:
        """The limit that stopped the search, where it ended without a proof."""
        return Limit.TIME if self._watch.is_over() else self._limit

    def least_end(self, target: int) -> tuple[list[Round] | None, int | None]:
        """Return the best plan of ``target`` rounds, and a slot before which none ends.

        The plan is None where none was found, the slot where it is proven that there is none.
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
        """Return the plan with most rounds, and a number of rounds that no plan exceeds."""
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
            reply = self._ask(rounds.earliest_ends(wanted, ()), rounds.slots, self._watch.left_s(), is_any_good=True)
            if reply.plan is not None:
                self._plans.append(reply.plan)
            elif reply.is_final:
                most = wanted - 1
            else:
                break
        return self._longest(), most

    def _settle(self, count: int, target: int) -> bool:
        """Settle the least end of ``count`` rounds; False if it is proven that they cannot be completed.

        If time runs out, a bound is recorded instead.
        """
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
            reply = self._ask(earliest, horizon, share_s, is_any_good=False)
            if reply.plan is not None:
                best = reply.plan
                self._plans.append(best if count == target else rounds.first_plan(target, self._watch, best))
            if not reply.is_final:
                least = max(least, min(horizon, reply.least_end or 0))
                break
            least = horizon if reply.plan is None else rounds.end_of(reply.plan)
            if best is None and horizon == rounds.slots:
                return False
        self._proven = [*earliest[:-1], least]
        return True

    def _ask(self, earliest: Sequence[int], horizon: int, share_s: float | None, *, is_any_good: bool) -> Reply[Round]:
        """Look for rounds that end before slot ``horizon``."""
        if self._watch.is_over():
            return Reply(None, is_final=False)
        windows = self._rounds.windows(earliest, horizon)
        if windows is None:
            return Reply(None, is_final=True)
        try:
            reply = self._rounds.ask(Question(windows, is_any_good, share_s), self._watch)
        except OutOfTimeError:
            return Reply(None, is_final=False)
        if not reply.is_final:
            self._limit = reply.limit
        return reply

    def _best(self, count: int) -> list[Round] | None:
        """Return the first ``count`` rounds of the plan in which they end first."""
        plans = (plan[:count] for plan in self._plans if len(plan) >= count)
        return min(plans, key=self._rounds.end_of, default=None)

    def _longest(self) -> list[Round]:
        return max(self._plans, key=len)
