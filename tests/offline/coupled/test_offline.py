"""The exact solvers against each other, and on instances small enough to solve by hand."""

import random
from collections.abc import Sequence

import pytest

from hindsched import offline
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper
from hindsched.offline import Status
from hindsched.offline import coupled as offline_coupled
from hindsched.offline.coupled import Objective
from hindsched.offline.coupled.models import round_windows
from hindsched.offline.coupled.plans import IterationPlan
from tests.cases.coupled import proven_value, tiny

SEEDS = range(120)
SOLVERS = ("cpsat", "brute")


def value(
    instance: Instance, objective: str = "makespan", *, solver: str = "cpsat", stand_by: bool = True
) -> int | None:
    """Return a proven optimum whose schedule the checker accepts, None without one."""
    return proven_value(instance, offline.solve(instance, objective, solver=solver, stand_by=stand_by), solver)


def add_nothing(
    _teams: object, _count: object, _watch: object, begun: Sequence[IterationPlan] = ()
) -> list[IterationPlan]:
    """Replace the greedy schedule by the iterations that are given."""
    return list(begun)


# ------------------------------------------------------------------------------------------- the solvers agree


@pytest.mark.parametrize("objective", Objective)
def test_all_solvers_agree(objective: Objective) -> None:
    gains = 0
    for seed in SEEDS:
        instance = tiny(seed)
        found = {
            (solver, stand_by): value(instance, objective, solver=solver, stand_by=stand_by)
            for solver in SOLVERS
            for stand_by in (True, False)
        }
        for stand_by in (True, False):
            assert found["cpsat", stand_by] == found["brute", stand_by], (seed, stand_by)
        gains += found["brute", True] != found["brute", False]
        bound = offline_coupled.free_prefetch_bound(instance, objective)
        best = found["brute", True]
        if objective is Objective.ITERATIONS:
            assert bound is not None
            assert best is not None
            assert bound >= best
        else:
            assert best is None or (bound is not None and bound <= best)
    assert gains  # the instances tell the two settings apart


@pytest.mark.parametrize("stand_by", [True, False])
def test_the_model_is_right_without_a_first_schedule(stand_by: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {seed: value(tiny(seed), solver="brute", stand_by=stand_by) for seed in range(40)}
    monkeypatch.setattr(round_windows, "greedy_plan", add_nothing)
    for seed, best in wanted.items():
        assert value(tiny(seed), stand_by=stand_by) == best, seed


def test_the_makespan_and_the_iterations_fit_together() -> None:
    for seed in range(40):
        instance = tiny(seed)
        most = value(instance, "iterations")
        assert most is not None
        assert value(instance.replace(iterations=most + 1)) is None
        if most:
            makespan = value(instance.replace(iterations=most))
            assert makespan is not None
            assert makespan <= instance.slots


# ----------------------------------------------------------------------------------------------- solved by hand


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("makespan", "instance"),
    [
        # one worker: program, data, data, two tasks
        (5, Instance.from_letters(["uuuuuu"], w=[1], tasks=2, t_prog=1, t_data=1)),
        # the program stays, the data do not: P D C, D C
        (5, Instance.from_letters(["uuuuuu"], w=[1], tasks=1, iterations=2, t_prog=1, t_data=1)),
        # DOWN loses the program between iterations: P C, P C
        (5, Instance.from_letters(["uuduu"], w=[1], tasks=1, iterations=2, t_prog=1)),
        # RECLAIMED does not: P C . C
        (4, Instance.from_letters(["uuruu"], w=[1], tasks=1, iterations=2, t_prog=1)),
        # RECLAIMED suspends the computation, DOWN starts it again
        (4, Instance.from_letters(["uruu"], w=[3], tasks=1)),
        (5, Instance.from_letters(["uduuu"], w=[3], tasks=1)),
        # both are needed; one channel serves them one after the other
        (2, Instance.from_letters(["uuu", "uuu"], w=[1, 1], mu=[1, 1], tasks=2, t_prog=1)),
        (3, Instance.from_letters(["uuu", "uuu"], w=[1, 1], mu=[1, 1], tasks=2, t_prog=1, n_com=1)),
        # the quick worker takes both tasks, unless it may hold only one
        (2, Instance.from_letters(["uuuu", "uuuu"], w=[1, 3], tasks=2)),
        (3, Instance.from_letters(["uuuu", "uuuu"], w=[1, 3], mu=[1, None], tasks=2)),
        # no program: data at once
        (2, Instance.from_letters(["uu", "uu"], w=[1, 1], tasks=2, t_data=1)),
        # never two workers UP in the same slot
        (None, Instance.from_letters(["ururur", "rururu"], w=[1, 1], mu=[1, 1], tasks=2)),
        # four slots are one too few
        (None, Instance.from_letters(["uuuu"], w=[1], tasks=2, t_prog=1, t_data=1)),
        # a worker that is DOWN at first joins late
        (4, Instance.from_letters(["uuuu", "dduu"], w=[1, 1], mu=[1, 1], tasks=2, t_prog=1)),
        # numbers larger than any slot
        (None, Instance.from_letters(["uuuu"], w=[2**31 - 1], tasks=1)),
    ],
)
def test_small_cases(solver: str, makespan: int | None, instance: Instance) -> None:
    for stand_by in (True, False):
        assert value(instance, solver=solver, stand_by=stand_by) == makespan


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_program_in_advance_is_worth_a_slot(solver: str) -> None:
    # Worker 1 receives the program while worker 0 computes in slot 2; in slot 3 worker 1 computes at once.
    instance = Instance.from_letters(["uuuddd", "uuruuu"], w=[1, 1], tasks=1, iterations=2, t_prog=2)
    assert value(instance, solver=solver) == 4
    assert value(instance, solver=solver, stand_by=False) == 5


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_computation_may_have_to_wait_for_a_program_in_advance(solver: str) -> None:
    # One channel. Before worker 0 goes DOWN, worker 1 can be sent the program in slots 2 and 3 only. Worker 0 is ready
    # by then, but waits for two slots and computes in slots 4 and 5; worker 1 computes after it.
    instance = Instance.from_letters(["uuuuuuddd", "rruurruuu"], w=[2, 1], tasks=1, iterations=3, t_prog=2, n_com=1)
    assert value(instance, solver=solver) == 8
    assert value(instance, solver=solver, stand_by=False) == 9
    letters = offline.solve(instance, solver=solver).schedule.letters
    assert letters[0][4:6] == "CC"
    assert letters[1] == "..PP..CC"


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_iteration_at_all_is_an_optimum_too(solver: str) -> None:
    instance = Instance.from_letters(["ddd", "rrr"], w=[1, 1], tasks=1)
    result = offline.solve(instance, "iterations", solver=solver)
    assert (result.status, result.value, result.bound) == (Status.OPTIMAL, 0, 0)
    assert result.schedule.letters == ("...", "...")


def test_iterations_may_exceed_those_of_the_instance() -> None:
    instance = Instance.from_letters(["uuuuu"], w=[1], tasks=1, iterations=2)
    assert value(instance, "iterations") == value(instance, "iterations", solver="brute") == 5


# --------------------------------------------------------------------------------------------------- properties


def test_the_order_of_the_workers_does_not_matter() -> None:
    for seed in range(30):
        instance = tiny(seed)
        order = random.Random(seed).sample(range(instance.num_workers), instance.num_workers)
        shuffled = instance.replace(
            w=tuple(instance.w[q] for q in order),
            mu=tuple(instance.mu[q] for q in order),
            states=instance.states[order],
            chains=(),
        )
        for objective in Objective:
            assert value(shuffled, objective) == value(instance, objective)


@pytest.mark.parametrize("stand_by", [True, False])
def test_more_never_hurts(stand_by: bool) -> None:
    for seed in range(30):
        instance = tiny(seed)
        draw = random.Random(seed)
        fewer_slots = instance.replace(states=instance.states[:, :-1].copy())
        fewer_channels = instance.replace(n_com=1)
        states = instance.states.copy()
        q, slot = draw.randrange(instance.num_workers), draw.randrange(instance.slots)
        states[q, slot] = min(states[q, slot] + draw.randint(1, 2), 2)  # towards DOWN
        for less in (fewer_slots, fewer_channels, instance.replace(states=states)):
            before, after = (value(it, "iterations", stand_by=stand_by) for it in (less, instance))
            assert before is not None
            assert after is not None
            assert before <= after
            late, soon = (value(it, stand_by=stand_by) for it in (less, instance))
            assert late is None or (soon is not None and soon <= late)


def test_programs_in_advance_never_hurt() -> None:
    for seed in range(60):
        instance = tiny(seed)
        without = value(instance, stand_by=False)
        if without is not None:
            best = value(instance)
            assert best is not None
            assert best <= without


# -------------------------------------------------------------------------------------------- the paper's size


@pytest.mark.parametrize(("m", "n_com"), [(5, 5), (5, 10), (10, 5)])
def test_twenty_workers_are_proven(m: int, n_com: int, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = paper(m=m, n_com=n_com, wmin=1, scenario=0, trial=0, slots=1000, iterations=3)
    best = value(instance)
    bound = offline_coupled.free_prefetch_bound(instance, "makespan")
    assert best is not None
    assert bound is not None
    assert bound <= best
    pair = instance.replace(iterations=2)
    with_schedule = value(pair)
    monkeypatch.setattr(round_windows, "greedy_plan", add_nothing)
    assert value(pair) == with_schedule


def test_the_answer_is_the_same_every_time() -> None:
    instance = paper(m=5, n_com=5, wmin=1, scenario=0, trial=0, slots=200, iterations=4)
    first, second = (offline.solve(instance, solver="cpsat") for _ in range(2))
    assert first.schedule == second.schedule
    assert first.counts == second.counts
    assert first.counts["models"] > 0
