"""Growing horizons with a simple model: one worker, rounds of w UP slots each."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from hindsched.offline.backends.horizons import (
    Growth,
    HorizonSearch,
    WindowAnswer,
    WindowProblem,
    doubling,
    short_steps,
)
from hindsched.offline.limits import Limits, OutOfTimeError, Stopwatch

#: All combinations of growing and solving, including those that no solver uses.
WAYS = [(growth, is_stepwise) for growth in (doubling, short_steps) for is_stepwise in (True, False)]


@dataclass
class OneWorker:
    """A round takes ``w`` UP slots after the previous round; a plan is the list of the last slots of its rounds.

    The bound uses ``w`` only. The first plan wastes some slots, or is empty. The model stops at the given calls, with
    or without its solution.
    """

    ups: list[int]
    slots: int
    w: int
    waste: int | None = 0
    stops: dict[int, str] = field(default_factory=dict)
    solved: list[WindowProblem[tuple[int, int]]] = field(default_factory=list)

    def earliest_ends(self, count: int | None, proven: Sequence[int]) -> list[int]:
        ends = list(proven)
        while count is None or len(ends) < count:
            end = (ends[-1] if ends else -1) + self.w
            if end >= self.slots:
                break
            ends.append(end)
        return ends

    def windows(self, earliest: Sequence[int], horizon: int) -> list[tuple[int, int]] | None:
        found = [(first, horizon - 1 - self.w * (len(earliest) - 1 - i)) for i, first in enumerate(earliest)]
        return None if any(first > last for first, last in found) else found

    def first_plan(self, count: int | None, watch: Stopwatch, begun: Sequence[int] = ()) -> list[int]:
        plan = list(begun)
        while self.waste is not None and (count is None or len(plan) < count):
            left = [t for t in self.ups if not plan or t > plan[-1]]
            if len(left) < self.w + self.waste:
                break
            plan.append(left[self.w + self.waste - 1])
        return plan

    def end_of(self, plan: Sequence[int]) -> int:
        return plan[-1]

    def best(self, windows: Sequence[tuple[int, int]]) -> list[int] | None:
        plan: list[int] = []
        for first, last in windows:
            left = [t for t in self.ups if not plan or t > plan[-1]]
            ends = [t for t in left[self.w - 1 :] if first <= t <= last]
            if not ends:
                return None
            plan.append(ends[0])
        return plan

    def solve_windows(self, problem: WindowProblem[tuple[int, int]], watch: Stopwatch) -> WindowAnswer[int]:
        self.solved.append(problem)
        found, stop = self.best(problem.windows), self.stops.get(len(self.solved))
        if stop is None:
            return WindowAnswer(found, is_final=True)
        if stop == "while it is written":
            raise OutOfTimeError
        if stop == "with nothing":
            return WindowAnswer(None, is_final=False)
        return WindowAnswer(found, is_final=False, least_end=None if found is None else found[-1])


def random_worker(seed: int) -> tuple[OneWorker, int]:
    draw = random.Random(seed)
    slots = draw.randint(1, 60)
    ups = [t for t in range(slots) if draw.random() < draw.choice((0.3, 0.9))]
    worker = OneWorker(ups, slots, draw.randint(1, 4), draw.choice((None, 0, 0, 1, 2)))
    return worker, draw.randint(1, 6)


def search(worker: OneWorker, growth: Growth, is_stepwise: bool) -> HorizonSearch[int, tuple[int, int]]:
    return HorizonSearch(worker, Stopwatch(Limits()), growth, is_stepwise=is_stepwise)


@pytest.mark.parametrize(("growth", "is_stepwise"), WAYS)
def test_the_least_end_is_found_and_proven(growth: Growth, is_stepwise: bool) -> None:
    possible = 0
    for seed in range(300):
        worker, count = random_worker(seed)
        plan, least = search(worker, growth, is_stepwise).least_end(count)
        needed = count * worker.w
        if len(worker.ups) < needed:
            assert (plan, least) == (None, None), seed
        else:
            possible += 1
            assert plan is not None
            assert len(plan) == count
            assert plan[-1] == least == worker.ups[needed - 1], seed
    assert 50 < possible < 250


@pytest.mark.parametrize(("growth", "is_stepwise"), WAYS)
def test_the_most_rounds_are_found_and_proven(growth: Growth, is_stepwise: bool) -> None:
    for seed in range(300):
        worker, _ = random_worker(seed)
        plan, most = search(worker, growth, is_stepwise).most_rounds()
        assert len(plan) == most == len(worker.ups) // worker.w, seed


@pytest.mark.parametrize("stop", ["while it is written", "with nothing", "with a plan"])
@pytest.mark.parametrize(("growth", "is_stepwise"), WAYS)
def test_a_model_that_stops_leaves_bounds_that_hold(growth: Growth, is_stepwise: bool, stop: str) -> None:
    for seed in range(300):
        worker, count = random_worker(seed)
        worker.stops = {1 + seed % 4: stop, 3 + seed % 5: stop}
        plan, least = search(worker, growth, is_stepwise).least_end(count)
        needed = count * worker.w
        if len(worker.ups) < needed:
            assert plan is None
        else:
            best = worker.ups[needed - 1]
            assert least is not None
            assert least <= best
            assert plan is None or (len(plan) == count and plan[-1] >= best)
        worker.solved.clear()
        longest, most = search(worker, growth, is_stepwise).most_rounds()
        assert len(longest) <= len(worker.ups) // worker.w <= most


def test_no_model_is_solved_if_the_first_plan_meets_the_bound() -> None:
    worker = OneWorker(list(range(40)), 40, w=3)
    for growth, is_stepwise in WAYS:
        assert search(worker, growth, is_stepwise).least_end(5) == ([2, 5, 8, 11, 14], 14)
    assert worker.solved == []


def test_horizons_grow_by_short_steps_even_with_a_known_plan() -> None:
    worker = OneWorker([0, *range(30, 60)], 60, w=2)
    assert search(worker, short_steps, False).least_end(2) == ([30, 32], 32)
    horizons = [problem.windows[-1][1] + 1 for problem in worker.solved]
    assert horizons[:4] == [7, 12, 19, 28]  # 3 + 4, then steps of 5, 7 and 9
    assert max(horizons) <= 32
    worker.solved.clear()
    assert search(worker, doubling, False).least_end(2) == ([30, 32], 32)
    assert [problem.windows[-1][1] + 1 for problem in worker.solved] == [32]  # everything better than the first plan


def test_stepwise_windows_begin_at_the_previous_answer() -> None:
    worker = OneWorker([5, 9, 20, 21, 22, 40], 41, w=2, waste=None)
    assert search(worker, doubling, True).least_end(3) == ([9, 21, 40], 40)
    earliest = [[first for first, _ in problem.windows] for problem in worker.solved]
    assert earliest[0] == [1]
    assert earliest[-1] == [9, 21, 23]


def test_time_is_divided_among_the_remaining_steps() -> None:
    worker = OneWorker([5, 9, 20, 21, 22, 40], 41, w=2, waste=None)
    HorizonSearch(worker, Stopwatch(Limits(1000)), doubling, is_stepwise=True).least_end(3)
    shares = {len(problem.windows): problem.share_s for problem in worker.solved}
    assert [round((share or 0) / 1000, 2) for share in shares.values()] == [0.5, 0.67, 1.0]
