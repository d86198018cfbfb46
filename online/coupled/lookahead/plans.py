"""Plans built task by task, and made better by exchanges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hindsched.instances.states import DOWN, UP
from hindsched.online.coupled.lookahead.attempts import Chances
from hindsched.online.coupled.visible import Visible

__all__ = ["CLEAR", "MOST_MOVES", "Builder", "is_less", "may_hold"]

#: A number is less than another where it is by this part of it: more than rounding errors.
CLEAR = 1e-9
#: Moves by which a plan is made better, at the most.
MOST_MOVES = 20


def is_less(value: float, than: float) -> bool:
    """Whether a number is less than another by more than rounding errors."""
    return value < than - CLEAR * abs(than)


class Builder:
    """Build plans by J, and say what a plan is worth.

    Parameters
    ----------
    chances
        The criterion.
    value
        V.
    """

    def __init__(self, chances: Chances, value: float) -> None:
        self._chances = chances
        self._value = value

    def worth(self, visible: Visible, plan: Mapping[int, int], done: int = 0) -> float:
        """Return J of a plan with ``done`` slots of computation done."""
        needs = [visible.needs(q, y) for q, y in plan.items()]
        return self._chances.attempt_with(plan, visible.now, needs, done).worth(self._value)

    def build(self, visible: Visible) -> dict[int, int] | None:
        """Return the plan built in this slot, by worker; None if the workers cannot hold m tasks."""
        problem = visible.problem
        able: Sequence[int] = may_hold(visible)
        if sum(problem.capacities[q] for q in able) < problem.tasks:
            return None
        plan: dict[int, int] = {}
        for _ in range(problem.tasks):
            best, least = -1, 0.0
            for q in able:
                if plan.get(q, 0) < problem.capacities[q]:
                    worth = self.worth(visible, _with_one_more(plan, q))
                    if best < 0 or is_less(worth, least):
                        best, least = q, worth
            plan = _with_one_more(plan, best)
        return plan

    def improve(self, visible: Visible, plan: Mapping[int, int]) -> dict[int, int]:
        """Return a plan made better: one task, or all, of a member move to another worker while J falls by it.

        The best of all such moves is made first; ties go to the lower indices. At most `MOST_MOVES` moves are made.
        """
        better = dict(plan)
        least = self.worth(visible, better)
        for _ in range(MOST_MOVES):
            best = None
            for moved in self._moves(visible, better):
                worth = self.worth(visible, moved)
                if is_less(worth, least):
                    least, best = worth, moved
            if best is None:
                break
            better = best
        return better

    @staticmethod
    def _moves(visible: Visible, plan: Mapping[int, int]) -> Iterator[dict[int, int]]:
        """Yield the plans that differ by one move."""
        for a, held in plan.items():
            for count in sorted({1, held}):
                for b in may_hold(visible):
                    x = plan.get(b, 0) + count
                    if b != a and x <= visible.problem.capacities[b]:
                        moved = {**plan, a: held - count, b: x}
                        yield {q: y for q, y in sorted(moved.items()) if y}


def may_hold(visible: Visible) -> list[int]:
    """Return the workers that a plan may count on: UP, or enrolled and RECLAIMED."""
    return [q for q, state in enumerate(visible.now) if state == UP or (state != DOWN and q in visible.tasks)]


def _with_one_more(plan: Mapping[int, int], q: int) -> dict[int, int]:
    return dict(sorted({**plan, q: plan.get(q, 0) + 1}.items()))
