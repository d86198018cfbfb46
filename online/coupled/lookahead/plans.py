"""Build plans task by task, and improve them by exchanges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hindsched.instances.states import DOWN, UP
from hindsched.online.coupled.lookahead.attempts import AttemptModel
from hindsched.online.coupled.visible import Visible

__all__ = ["CLEAR", "MOST_MOVES", "PlanBuilder", "eligible_workers", "is_less"]

#: Relative difference above which two costs differ: more than rounding errors.
CLEAR = 1e-9
#: Largest number of moves that improve a plan.
MOST_MOVES = 20


def is_less(value: float, than: float) -> bool:
    """Return whether a number is less than another by more than rounding errors."""
    return value < than - CLEAR * abs(than)


class PlanBuilder:
    """Build plans of small cost J.

    Parameters
    ----------
    model
        The model that gives the cost of a plan.
    value
        V, the cost of a failed plan in slots.
    """

    def __init__(self, model: AttemptModel, value: float) -> None:
        self._model = model
        self._value = value

    def cost(self, visible: Visible, plan: Mapping[int, int], done: int = 0) -> float:
        """Return J of a plan with ``done`` slots of computation done."""
        needs = [visible.needs(q, y) for q, y in plan.items()]
        return self._model.attempt_with(plan, visible.now, needs, done).cost(self._value)

    def build(self, visible: Visible) -> dict[int, int] | None:
        """Return the plan built in this slot, tasks by worker; None if the workers cannot hold m tasks."""
        problem = visible.problem
        able: Sequence[int] = eligible_workers(visible)
        if sum(problem.capacities[q] for q in able) < problem.tasks:
            return None
        plan: dict[int, int] = {}
        for _ in range(problem.tasks):
            best, least = -1, 0.0
            for q in able:
                if plan.get(q, 0) < problem.capacities[q]:
                    cost = self.cost(visible, _with_one_more(plan, q))
                    if best < 0 or is_less(cost, least):
                        best, least = q, cost
            plan = _with_one_more(plan, best)
        return plan

    def improve(self, visible: Visible, plan: Mapping[int, int]) -> dict[int, int]:
        """Return a plan improved by moves of one task, or all tasks, of a member to another worker.

        Each of at most `MOST_MOVES` steps makes the move that decreases J most; ties go to the lower indices.
        """
        better = dict(plan)
        least = self.cost(visible, better)
        for _ in range(MOST_MOVES):
            best = None
            for moved in self._moves(visible, better):
                cost = self.cost(visible, moved)
                if is_less(cost, least):
                    least, best = cost, moved
            if best is None:
                break
            better = best
        return better

    @staticmethod
    def _moves(visible: Visible, plan: Mapping[int, int]) -> Iterator[dict[int, int]]:
        """Yield the plans that differ by one move."""
        for a, held in plan.items():
            for count in sorted({1, held}):
                for b in eligible_workers(visible):
                    x = plan.get(b, 0) + count
                    if b != a and x <= visible.problem.capacities[b]:
                        moved = {**plan, a: held - count, b: x}
                        yield {q: y for q, y in sorted(moved.items()) if y}


def eligible_workers(visible: Visible) -> list[int]:
    """Return the workers that a plan may use: UP, or enrolled and RECLAIMED."""
    return [q for q, state in enumerate(visible.now) if state == UP or (state != DOWN and q in visible.tasks)]


def _with_one_more(plan: Mapping[int, int], q: int) -> dict[int, int]:
    return dict(sorted({**plan, q: plan.get(q, 0) + 1}.items()))
