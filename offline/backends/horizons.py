"""Which horizons an exact model is asked about, and what its answers mean.

**Makespan.** The free-prefetch bound says when each iteration can end at the earliest. A greedy schedule of makespan v
is the first one known. Then the model is asked for the best schedule within ever longer horizons, all shorter than v:
the first is a little longer than the bound, and the steps grow slowly. In a short horizon every iteration has a narrow
window, so the model is small and says quickly that there is nothing; that is a proven bound. The best schedule of the
first horizon that has one is optimal. If there is nothing in v - 1 slots, v is optimal.

**Iterations.** The greedy schedule completes k iterations in the known slots. As long as the bound allows for more, ask
whether k + 1 can be completed, until the answer is no.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil

from instances.coupled.model import Instance
from instances.errors import SelfCheckError
from offline.coupled.emit import IterationPlan, emit, end_of
from offline.coupled.free_prefetch import FreePrefetch
from offline.coupled.greedy_plan import greedy_plan
from offline.coupled.objectives import CoupledResult, Objective
from offline.coupled.prefetch_relaxation import Teams
from offline.limits import Limits, OutOfTimeError, Stopwatch
from offline.results import Result, Status

__all__ = ["Answer", "HorizonSearch", "Question", "Window", "windows_within"]

_Plan = list[IterationPlan]
_FIRST_STEP = 4  # slots beyond the bound in the first horizon
_GROWTH = 1.25  # of the next steps; a model whose windows are much too wide costs more than several narrow ones


@dataclass(frozen=True, slots=True)
class Window:
    """Where an iteration may end: proven to cut off no schedule of interest.

    Parameters
    ----------
    earliest, latest
        First and last slot in which it may end.
    latest_before
        For each of these slots e the last slot in which the iteration before may end if this one ends in e or
        before; empty for the first.
    """

    earliest: int
    latest: int
    latest_before: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked: whether there are iterations that end within these windows, and when the last one does.

    Parameters
    ----------
    windows
        One per iteration.
    is_any_good
        Whether any such schedule will do; otherwise one is wanted whose last iteration ends first.
    """

    windows: list[Window]
    is_any_good: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said.

    Parameters
    ----------
    plan
        The best plan found, or None.
    is_final
        Whether that is the answer: a best plan, or the proof that there is none.
    least_end
        If the answer is not final: within the windows no schedule ends its last iteration before this slot.
    """

    plan: _Plan | None
    is_final: bool
    least_end: int | None = None


def windows_within(bound: FreePrefetch, earliest: list[int], horizon: int) -> list[Window] | None:
    """Return the windows of iterations that all end in ``horizon`` slots; None: proven impossible.

    With f <= F, F monotone (see `bounds`), iteration i can end in e only if the one before ended in a slot s with
    F(s + 1) <= e, so with f(s' + 1) <= e for every s' <= s.
    """
    latest = bound.latest_ends(horizon - 1, len(earliest))
    if any(first > last for first, last in zip(earliest, latest, strict=True)):
        return None
    windows = [Window(earliest[0], latest[0])]
    for i in range(1, len(earliest)):
        latest_before: dict[int, int] = {}
        slot = earliest[i - 1]
        for e in range(earliest[i], latest[i] + 1):
            while slot < latest[i - 1]:
                following = bound.earliest_end(slot + 2)
                if following is None or following > e:
                    break
                slot += 1
            latest_before[e] = slot
        windows.append(Window(earliest[i], latest[i], latest_before))
    return windows


class HorizonSearch:
    """The search described above, with a model that answers its questions.

    Parameters
    ----------
    instance
        The instance.
    limits
        What may be spent, the model's time included.
    solver
        The name in the result.
    ask
        The model: it is given a question and the stopwatch, and may raise `OutOfTimeError`.
    """

    def __init__(
        self, instance: Instance, limits: Limits, solver: str, ask: Callable[[Question, Stopwatch], Answer]
    ) -> None:
        self._instance = instance
        self._solver = solver
        self._model = ask
        self._watch = Stopwatch(limits)
        self._teams = Teams(instance)
        self._bound = FreePrefetch(self._teams)
        self.counts: dict[str, int] = {}

    def solve(self, objective: Objective) -> Result:
        """Return the optimum, or what is proven of it when the time is over."""
        return self._makespan() if objective is Objective.MAKESPAN else self._iterations()

    def _makespan(self) -> Result:
        instance = self._instance
        iterations = instance.iterations
        earliest = self._bound.earliest_ends(iterations)
        if len(earliest) < iterations:
            return self._result(Objective.MAKESPAN, Status.INFEASIBLE, None, None, None)
        plan: _Plan | None = greedy_plan(self._teams, iterations, self._watch)
        if plan is not None and len(plan) < iterations:
            plan = None
        least, step = earliest[-1] + 1, _FIRST_STEP  # in slots
        while plan is None or slots_of(instance, plan) > least:
            longest = instance.slots if plan is None else slots_of(instance, plan) - 1
            horizon = min(longest, least - 1 + step)
            step = ceil(step * _GROWTH)
            answer = self._ask(earliest, horizon, is_any_good=False)
            plan = answer.plan or plan
            if not answer.is_final:
                least = max(least, min(horizon, answer.least_end or 0) + 1)
                break
            if answer.plan is not None:
                least = slots_of(instance, answer.plan)
            elif horizon == instance.slots:
                return self._result(Objective.MAKESPAN, Status.INFEASIBLE, None, None, None)
            else:
                least = horizon + 1
        if plan is None:
            return self._result(Objective.MAKESPAN, Status.UNKNOWN, None, least, None)
        value = slots_of(instance, plan)
        status = Status.OPTIMAL if value == least else Status.FEASIBLE
        return self._result(Objective.MAKESPAN, status, value, least, plan)

    def _iterations(self) -> Result:
        earliest = self._bound.earliest_ends()
        most = len(earliest)
        plan = greedy_plan(self._teams, most, self._watch)
        while len(plan) < most:
            answer = self._ask(earliest[: len(plan) + 1], self._instance.slots, is_any_good=True)
            if answer.plan is not None:
                plan = answer.plan
            elif answer.is_final:
                most = len(plan)
            else:
                break
        status = Status.OPTIMAL if len(plan) == most else Status.FEASIBLE
        return self._result(Objective.ITERATIONS, status, len(plan), most, plan)

    def _ask(self, earliest: list[int], horizon: int, *, is_any_good: bool) -> Answer:
        if self._watch.is_over():
            return Answer(None, is_final=False)
        windows = windows_within(self._bound, earliest, horizon)
        if windows is None:
            return Answer(None, is_final=True)
        try:
            return self._model(Question(windows, is_any_good), self._watch)
        except OutOfTimeError:
            return Answer(None, is_final=False)

    def _result(
        self, objective: Objective, status: Status, value: int | None, bound: int | None, plan: _Plan | None
    ) -> Result:
        slots = value if objective is Objective.MAKESPAN else self._instance.slots
        schedule = None if plan is None else emit(self._instance, plan, slots=slots)
        return CoupledResult.of(
            status, objective, value, bound, schedule, self._solver, self._watch.elapsed_s(), self.counts
        )


def slots_of(instance: Instance, plan: _Plan) -> int:
    """Return how many slots a plan takes."""
    end = end_of(instance, plan[-1])
    if end is None:
        raise SelfCheckError("the last iteration of a plan does not end in the known slots")
    return end + 1
