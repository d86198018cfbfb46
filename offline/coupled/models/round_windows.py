"""Iterations as rounds of a growing horizon (`offline.backends.horizons`), and the windows in which they may end.

The free-prefetch bound gives the earliest end of each iteration, from the last proven end on, and the latest end such
that later iterations end within the horizon. The first plan is the greedy one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from hindsched.instances.coupled.model import Instance
from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.offline.backends.horizons import Growth, HorizonSearch, WindowAnswer, WindowProblem
from hindsched.offline.coupled.bounds.free_prefetch import FreePrefetch
from hindsched.offline.coupled.bounds.prefetch_relaxation import PrefetchRelaxation
from hindsched.offline.coupled.models.greedy_plan import greedy_plan
from hindsched.offline.coupled.objectives import CoupledResult, Objective
from hindsched.offline.coupled.plans import IterationPlan, emit, end_of
from hindsched.offline.limits import Limits, OutOfTimeError, Stopwatch
from hindsched.offline.results import Status

__all__ = ["OneSlotWindows", "SlotRounds", "Window", "windows_to_write", "windows_with_pairs", "windows_within"]


@dataclass(frozen=True, slots=True)
class Window:
    """The slots in which an iteration may end; every schedule within the horizon ends it there.

    Parameters
    ----------
    earliest, latest
        First and last slot in which it may end.
    latest_before
        For each of these slots e the last slot in which the iteration before may end if this one ends in e or before;
        empty for the first iteration, and if the model does not use it.
    """

    earliest: int
    latest: int
    latest_before: dict[int, int] = field(default_factory=dict)


def windows_within(bound: FreePrefetch, earliest: Sequence[int], horizon: int) -> list[Window] | None:
    """Return the windows of iterations that all end within ``horizon`` slots; None if that is proven impossible."""
    latest = bound.latest_ends(horizon - 1, len(earliest))
    if any(first > last for first, last in zip(earliest, latest, strict=True)):
        return None
    return [Window(first, last) for first, last in zip(earliest, latest, strict=True)]


def windows_with_pairs(bound: FreePrefetch, earliest: Sequence[int], horizon: int) -> list[Window] | None:
    """Return the same windows with ``latest_before``.

    With f <= F, F monotone (see `free_prefetch`), iteration i can end in e only if the one before ended in a slot s
    with F(s + 1) <= e, so with f(s' + 1) <= e for every s' <= s.
    """
    windows = windows_within(bound, earliest, horizon)
    if windows is None:
        return None
    paired = windows[:1]
    for before, window in pairwise(windows):
        latest_before: dict[int, int] = {}
        slot = before.earliest
        for e in range(window.earliest, window.latest + 1):
            while slot < before.latest:
                following = bound.earliest_end(slot + 2)
                if following is None or following > e:
                    break
                slot += 1
            latest_before[e] = slot
        paired.append(Window(window.earliest, window.latest, latest_before))
    return paired


def windows_to_write(instance: Instance, horizon: int | None, *, with_pairs: bool) -> list[Window]:
    """Return the windows of all iterations of a model that goes to a file.

    Parameters
    ----------
    instance
        The instance.
    horizon
        Slots that the schedule may use; None: all.
    with_pairs
        Whether the model uses ``latest_before``.

    Raises
    ------
    InputError
        For a horizon outside the slots of the instance, or one in which the iterations cannot end.
    """
    horizon = instance.slots if horizon is None else horizon
    if not 1 <= horizon <= instance.slots:
        raise InputError(f"{horizon}, expected 1 to {instance.slots}, the number of slots", place="horizon")
    bound = FreePrefetch(PrefetchRelaxation(instance))
    earliest = bound.earliest_ends(instance.iterations)
    windows = None
    if len(earliest) == instance.iterations:
        windows = (windows_with_pairs if with_pairs else windows_within)(bound, earliest, horizon)
    if windows is None:
        raise InputError(f"{horizon}, expected more slots: the iterations provably take longer", place="horizon")
    return windows


class SlotRounds(ABC):
    """An instance of the general problem, with a model of its iterations between windows.

    Parameters
    ----------
    instance
        The instance.
    stand_by
        Whether a program may be sent for a later iteration.
    limits
        Limits of the solver, construction of the models included.
    by
        The name in the result.
    """

    def __init__(self, instance: Instance, stand_by: bool, limits: Limits, by: str) -> None:
        self.instance = instance
        self.slots = instance.slots
        self.stand_by = stand_by
        self.limits = limits
        self.by = by
        self.counts: dict[str, int] = {}
        self._watch = Stopwatch(limits)
        self._bound: FreePrefetch | None = None

    @property
    def bound(self) -> FreePrefetch:
        """The free-prefetch bound; `OutOfTimeError` if the time is over before its tables are made."""
        if self._bound is None:
            self._bound = FreePrefetch(PrefetchRelaxation(self.instance, self._watch))
        return self._bound

    def solve(self, objective: Objective, growth: Growth, *, is_stepwise: bool) -> CoupledResult:
        """Return the optimum, or the best schedule and bound when the time is over."""
        search = HorizonSearch(self, self._watch, growth, is_stepwise=is_stepwise)
        plan: list[IterationPlan] | None
        value: int | None
        bound: int | None
        if objective is Objective.MAKESPAN:
            plan, least = self._least_end(search)
            value = None if plan is None else self.end_of(plan) + 1
            bound = None if least is None else least + 1
            slots = value
        else:
            plan, bound = self._most_rounds(search)
            value, slots = len(plan), self.slots
        if value is None:
            status = Status.INFEASIBLE if bound is None else Status.UNKNOWN
        else:
            status = Status.OPTIMAL if value == bound else Status.FEASIBLE
        schedule = None if plan is None else emit(self.instance, plan, slots=slots)
        return CoupledResult.of(
            status,
            objective,
            value,
            bound,
            schedule,
            self.by,
            self._watch.elapsed_s(),
            self.counts,
            limit=search.limit,
        )

    def _least_end(self, search: HorizonSearch[IterationPlan, Window]) -> tuple[list[IterationPlan] | None, int | None]:
        """Return what `HorizonSearch.least_end` returns; without time for any table, that an iteration takes a slot."""
        try:
            return search.least_end(self.instance.iterations)
        except OutOfTimeError:
            return None, self.instance.iterations - 1

    def _most_rounds(self, search: HorizonSearch[IterationPlan, Window]) -> tuple[list[IterationPlan], int]:
        """Return what `HorizonSearch.most_rounds` returns, or the same as `_least_end` does."""
        try:
            return search.most_rounds()
        except OutOfTimeError:
            return [], self.slots

    def count(self, **numbers: int) -> None:
        """Add to the counts."""
        for name, number in numbers.items():
            self.counts[name] = self.counts.get(name, 0) + number

    def earliest_ends(self, count: int | None, proven: Sequence[int]) -> list[int]:
        """Return earliest ends by the free-prefetch bound."""
        return self.bound.earliest_ends(count, proven)

    def windows(self, earliest: Sequence[int], horizon: int) -> list[Window] | None:
        """Return windows by the free-prefetch bound."""
        return windows_within(self.bound, earliest, horizon)

    def first_plan(
        self, count: int | None, watch: Stopwatch, begun: Sequence[IterationPlan] = ()
    ) -> list[IterationPlan]:
        """Return a greedy plan."""
        return greedy_plan(self.bound.relaxation, count, watch, begun)

    def end_of(self, plan: Sequence[IterationPlan]) -> int:
        """Return the slot in which the last iteration of a plan ends by R4."""
        end = end_of(self.instance, plan[-1])
        if end is None:
            raise SelfCheckError("the last iteration of a plan does not end within the known slots")
        return end

    @abstractmethod
    def solve_windows(self, problem: WindowProblem[Window], watch: Stopwatch) -> WindowAnswer[IterationPlan]:
        """Solve the model within the windows."""


class OneSlotWindows:
    """Windows that assume only that each iteration takes a slot; a base class to name before `SlotRounds`."""

    slots: int

    def earliest_ends(self, count: int | None, proven: Sequence[int]) -> list[int]:
        """Return consecutive slots."""
        first = proven[-1] + 1 if proven else 0
        last = self.slots if count is None else min(self.slots, first + count - len(proven))
        return [*proven, *range(first, last)]

    def windows(self, earliest: Sequence[int], horizon: int) -> list[Window] | None:
        """Return windows that leave one slot to each iteration."""
        count = len(earliest)
        windows = [Window(i, horizon - count + i) for i in range(count)]
        return windows if horizon >= count else None
