"""Common behaviour of all solvers: tables, limits, results, terminations, and checked schedules."""

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hindsched import offline
from hindsched.instances import InputError, SelfCheckError
from hindsched.instances.coupled import Instance, Schedule
from hindsched.instances.coupled.generate import paper
from hindsched.offline import Limit, Result, Solver, Status, Termination, TerminationReason
from hindsched.offline import coupled as offline_coupled
from hindsched.offline.coupled import CoupledResult, Objective
from hindsched.offline.limits import Limits, Stopwatch

PAIR = Instance.from_letters(["uuruu", "uruuu"], w=[1, 2], tasks=2, t_prog=1, n_com=1)


def test_importing_the_package_loads_no_solver() -> None:
    code = (
        "import sys, hindsched.offline.coupled; hindsched.offline.coupled.available_solvers();"
        "print([m for m in sys.modules if 'ortools' in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_table_of_solvers() -> None:
    assert set(offline_coupled.available_solvers()) <= set(offline_coupled.SOLVERS)
    assert {"cpsat", "brute"} <= set(offline_coupled.SOLVERS)
    for name, solver in offline_coupled.SOLVERS.items():
        assert solver.name == name
        assert solver.description
    assert offline.solve(PAIR).solver == offline_coupled.available_solvers()[0]


def test_a_solver_without_its_packages_is_refused() -> None:
    absent = Solver("absent", "needs an unknown package", "hindsched.offline.absent", requires=("no_such_package",))
    assert not absent.is_available()
    with pytest.raises(InputError, match=r"^solver: absent needs no_such_package to be installed$"):
        absent.load()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"solver": "magic"},
            f"solver: 'magic', expected auto or one of {', '.join(offline_coupled.SOLVERS)}",
        ),
        ({"objective": "speed"}, "objective: 'speed', expected makespan or iterations"),
        ({"time_limit_s": 0}, "time limit: 0, expected seconds > 0"),
        ({"time_limit_s": float("nan")}, "time limit: nan, expected seconds > 0"),
        ({"time_limit_s": float("inf")}, "time limit: inf, expected seconds > 0"),
        ({"time_limit_s": 10**400}, f"time limit: {10**400}, expected seconds > 0"),
        ({"time_limit_s": "60"}, "time limit: '60', expected seconds > 0"),
        ({"time_limit_s": True}, "time limit: True, expected seconds > 0"),
        ({"memory_limit_mb": float("inf")}, "memory limit: inf, expected megabytes > 0"),
        ({"memory_limit_mb": [1]}, "memory limit: [1], expected megabytes > 0"),
        ({"threads": 0}, "threads: 0, expected at least 1"),
        ({"threads": 1.0}, "threads: 1.0, expected at least 1"),
        ({"threads": None}, "threads: None, expected at least 1"),
        ({"seed": "0"}, "seed: '0', expected an integer from 0 to 2147483647"),
        ({"seed": 0.5}, "seed: 0.5, expected an integer from 0 to 2147483647"),
        ({"seed": -1}, "seed: -1, expected an integer from 0 to 2147483647"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        offline.solve(PAIR, **options)  # type: ignore[arg-type]
    assert str(caught.value) == message


def lie(result: Result) -> Solver:
    class Liar(Solver):
        def load(self) -> object:  # type: ignore[override]
            return lambda *_, **__: result

    return Liar("liar", "makes false claims", "nowhere")


@pytest.mark.parametrize("claim", ["a refused schedule", "a better value"])
def test_every_schedule_is_checked(claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = offline.solve(PAIR)
    schedule = honest.schedule
    if claim == "a refused schedule":
        rows = (schedule.letters[0].replace("C", "I"), *schedule.letters[1:])
        result = replace(honest, schedule=Schedule(schedule.instance, rows, schedule.configurations))
    else:
        assert honest.value is not None
        result = replace(honest, value=honest.value - 1, lower=honest.value - 1, upper=honest.value - 1)
    monkeypatch.setattr("hindsched.offline.coupled.api.SOLVERS", {"liar": lie(result)})
    with pytest.raises(SelfCheckError):
        offline.solve(PAIR, solver="liar")


def make(status: Status, value: int | None, bound: int | None, objective: Objective = Objective.MAKESPAN) -> Result:
    schedule = None if value is None else Schedule("", (), ())
    return CoupledResult.of(status, objective, value, bound, schedule, "test", 0.0)


def test_contradictory_results_are_refused() -> None:
    make(Status.FEASIBLE, 5, 4)
    make(Status.FEASIBLE, 5, 6, Objective.ITERATIONS)
    make(Status.UNKNOWN, None, 4)
    for status, value, bound, objective in (
        (Status.OPTIMAL, 5, 4, Objective.MAKESPAN),
        (Status.OPTIMAL, 5, None, Objective.MAKESPAN),
        (Status.FEASIBLE, 5, 5, Objective.MAKESPAN),
        (Status.FEASIBLE, 5, 6, Objective.MAKESPAN),
        (Status.FEASIBLE, 5, 4, Objective.ITERATIONS),
        (Status.FEASIBLE, None, 4, Objective.MAKESPAN),
        (Status.INFEASIBLE, 5, None, Objective.MAKESPAN),
        (Status.UNKNOWN, 5, None, Objective.MAKESPAN),
    ):
        with pytest.raises(ValueError, match=r"bound|value|status"):
            make(status, value, bound, objective)
    with pytest.raises(ValueError, match="come together"):
        CoupledResult.of(Status.UNKNOWN, Objective.MAKESPAN, None, None, Schedule("", (), ()), "test", 0.0)


@pytest.mark.parametrize(
    ("status", "value", "bound", "reason"),
    [
        (Status.OPTIMAL, 5, 5, TerminationReason.OPTIMAL),
        (Status.INFEASIBLE, None, None, TerminationReason.INFEASIBLE),
        (Status.FEASIBLE, 5, 4, TerminationReason.FEASIBLE),
        (Status.UNKNOWN, None, 4, TerminationReason.NO_SOLUTION_FOUND),
    ],
)
def test_a_termination_has_a_limit_only_without_a_proof(
    status: Status, value: int | None, bound: int | None, reason: TerminationReason
) -> None:
    result = make(status, value, bound)
    assert result.termination == Termination(reason, None)
    if status.is_proven:
        with pytest.raises(ValueError, match="though stopped by limit memory"):
            replace(result, limit=Limit.MEMORY)
    else:
        assert replace(result, limit=Limit.MEMORY).termination == Termination(reason, Limit.MEMORY)


@pytest.mark.parametrize("solver", ["cpsat", "cpsat-whole", "ilp-highs", "ilp-cbc", "brute", "native"])
def test_a_time_limit_is_reported(solver: str) -> None:
    instance = paper(m=5, n_com=5, wmin=1, scenario=0, trial=0, slots=2000, p=8, iterations=2)
    if solver == "brute":
        instance = PAIR
    result = offline.solve(instance, solver=solver, time_limit_s=1e-9)
    assert not result.status.is_proven
    assert result.limit is Limit.TIME


def test_a_stopwatch_runs_forwards() -> None:
    free, tight = Stopwatch(Limits()), Stopwatch(Limits(time_limit_s=1e-9))
    first = free.elapsed_s()
    assert 0 <= first <= free.elapsed_s()
    assert free.left_s() is None
    assert not free.is_over()
    while not tight.is_over():
        pass
    assert tight.left_s() == 0.0


def test_more_iterations_than_slots_are_infeasible_at_once() -> None:
    instance = Instance.from_letters(["uuu"], w=[1], tasks=1, iterations=2**31 - 1)
    for solver in offline_coupled.available_solvers():
        result = offline.solve(instance, solver=solver)
        assert (result.status, result.value, result.bound) == (offline.Status.INFEASIBLE, None, None)


def test_limits_take_any_kind_of_number() -> None:
    assert Limits(np.float64(1.5), np.int64(3), np.int32(2), np.int64(7)) == Limits(1.5, 3, 2, 7)
    assert Limits(Fraction(1, 2)).time_limit_s == 0.5
