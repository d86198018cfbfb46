"""Solvers at their limits: bounds and schedules are valid, and nothing else is claimed."""

import pytest

from hindsched import offline
from hindsched.instances import InputError
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper
from hindsched.offline import Status
from hindsched.offline.coupled import Objective, brute
from hindsched.offline.coupled.models import round_windows
from hindsched.offline.coupled.models.cpsat_model import SlotModel
from hindsched.offline.coupled.models.round_windows import Window
from hindsched.offline.limits import Limits, OutOfTimeError, Stopwatch
from tests.cases.coupled import assert_honest

#: Two workers that are both needed, and eleven slots for two iterations.
INSTANCE = Instance.from_letters(
    ["uuruuuruuuuu", "uuuruuuuuruu"], w=[1, 2], mu=[1, 1], tasks=2, iterations=2, t_prog=1, t_data=1, n_com=1
)
#: The paper's size; the bound does not meet the greedy schedule.
PAPER = paper(m=10, n_com=5, wmin=1, scenario=0, trial=0, slots=400, iterations=4)


class Countdown(Stopwatch):
    """A stopwatch whose time is over after a number of checks."""

    looks = 0
    left: float | None = None

    def is_over(self) -> bool:
        """Count a check."""
        type(self).looks -= 1
        return type(self).looks < 0

    def left_s(self) -> float | None:
        """Return the time that the test sets."""
        return type(self).left


def stop_after(monkeypatch: pytest.MonkeyPatch, module: object, looks: int, left_s: float | None = None) -> None:
    monkeypatch.setattr(Countdown, "looks", looks)
    monkeypatch.setattr(Countdown, "left", left_s)
    monkeypatch.setattr(module, "Stopwatch", Countdown)


@pytest.mark.parametrize("objective", Objective)
def test_brute_stopped_anywhere(objective: Objective, monkeypatch: pytest.MonkeyPatch) -> None:
    best = offline.solve(INSTANCE, objective, solver="brute").value
    assert best is not None
    statuses = set()
    for looks in (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000):
        stop_after(monkeypatch, brute, looks)
        result = offline.solve(INSTANCE, objective, solver="brute")
        assert_honest(result, best, INSTANCE)
        statuses.add(result.status)
    stopped = Status.UNKNOWN if objective is Objective.MAKESPAN else Status.FEASIBLE
    assert statuses == {stopped, Status.OPTIMAL}


def test_a_stopped_brute_force_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_after(monkeypatch, brute, 1)  # slot 0 has one state, so the search stops in slot 1
    result = offline.solve(INSTANCE, solver="brute")
    assert (result.status, result.bound, result.counts["slots"]) == (Status.UNKNOWN, 2, 1)


@pytest.mark.parametrize("objective", Objective)
@pytest.mark.parametrize("looks", [0, 3, 5, 6, 7, 8, 10, 100])
def test_cpsat_stopped_before_it_solves(objective: Objective, looks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = PAPER.replace(states=PAPER.states[:, :70].copy())
    best = offline.solve(instance, objective, solver="cpsat").value
    assert best is not None
    stop_after(monkeypatch, round_windows, looks)
    result = offline.solve(instance, objective, solver="cpsat")
    assert_honest(result, best, instance)


@pytest.mark.parametrize("objective", Objective)
def test_cpsat_stopped_at_once_keeps_the_first_schedule(objective: Objective, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = PAPER.replace(states=PAPER.states[:, :70].copy())
    best = offline.solve(instance, objective, solver="cpsat").value
    assert best is not None
    stop_after(monkeypatch, round_windows, 10**9, left_s=1e-9)  # the model is built, and the solver gets no time
    result = offline.solve(instance, objective, solver="cpsat")
    assert result.status is Status.FEASIBLE
    assert result.counts["models"] > 0
    assert result.counts["branches"] == 0
    assert_honest(result, best, instance)


@pytest.mark.parametrize("solver", ["cpsat", "brute"])
@pytest.mark.parametrize("objective", Objective)
def test_a_tiny_time_limit_claims_nothing(solver: str, objective: Objective) -> None:
    best = offline.solve(INSTANCE, objective, solver="cpsat").value
    assert best is not None
    result = offline.solve(INSTANCE, objective, solver=solver, time_limit_s=1e-9)
    assert result.bound is not None
    assert_honest(result, best, INSTANCE)
    assert result.runtime_s >= 0


def test_a_model_that_exceeds_its_time_raises() -> None:
    watch = Stopwatch(Limits(time_limit_s=1e-9))
    while not watch.is_over():
        pass
    with pytest.raises(OutOfTimeError):
        SlotModel(INSTANCE, [Window(5, 9), Window(7, 11)], watch, stand_by=True)


def test_without_any_schedule_the_horizon_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    # nothing for a long time, then two slots: every shorter horizon is proven empty
    instance = Instance.from_letters(["u" + "r" * 39 + "uu", "u" + "r" * 39 + "uu"], w=[1, 1], mu=[1, 1], tasks=2)
    instance = instance.replace(iterations=2, t_prog=1, n_com=1)
    monkeypatch.setattr(round_windows, "greedy_plan", lambda *_: [])
    result = offline.solve(instance, solver="cpsat")
    assert result.status is Status.INFEASIBLE
    assert (result.value, result.bound, result.schedule) == (None, None, None)


@pytest.mark.parametrize("solver", ["native", "cpsat", "brute", "ilp-highs"])
@pytest.mark.parametrize("tasks", [10**6, 2**31 - 1])
def test_more_tasks_than_workers_can_hold_are_infeasible_immediately(solver: str, tasks: int) -> None:
    many = INSTANCE.replace(tasks=tasks, mu=(None, None))
    assert offline.solve(many, solver=solver).status is Status.INFEASIBLE
    none = offline.solve(many, Objective.ITERATIONS, solver=solver)
    assert (none.status, none.value) == (Status.OPTIMAL, 0)


def test_tasks_that_workers_can_hold_reach_the_solvers() -> None:
    """A worker that is UP in N slots may hold N tasks of one slot; a larger m needs a second worker."""
    pair = Instance.from_letters(["uuu", "uur"], w=[1, 1], tasks=4)
    best = offline.solve(pair)
    assert (best.status, best.value) == (Status.OPTIMAL, offline.solve(pair, solver="brute").value)
    assert offline.solve(pair.replace(tasks=6)).status is Status.INFEASIBLE


@pytest.mark.parametrize(
    "changes",
    [
        {"t_prog": 10**6},
        {"t_data": 10**6},
        {"w": (1,) * 12, "mu": (None,) * 12, "states": INSTANCE.states[[0] * 12], "chains": ()},
    ],
)
def test_brute_rejects_large_instances(changes: dict[str, object]) -> None:
    instance = INSTANCE.replace(**changes)
    with pytest.raises(InputError) as caught:
        offline.solve(instance, solver="brute")
    message = str(caught.value)
    assert "\n" not in message
    assert f"expected at most {brute.MAX_STATES}" in message
    assert offline.solve(instance, solver="cpsat", time_limit_s=20).status in (Status.INFEASIBLE, Status.OPTIMAL)


def test_threads_and_seed_change_the_search_but_not_the_optimum() -> None:
    best = offline.solve(PAPER, solver="cpsat")
    assert best.status is Status.OPTIMAL
    other = offline.solve(PAPER, solver="cpsat", threads=2, seed=7)
    assert (other.status, other.value, other.bound) == (best.status, best.value, best.bound)
