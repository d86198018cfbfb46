"""The integer linear program against the other exact solvers, and its bounds when it is stopped."""

from pathlib import Path

import pulp
import pytest

from hindsched import offline
from hindsched.instances import InputError
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper
from hindsched.offline import Status
from hindsched.offline import coupled as offline_coupled
from hindsched.offline.backends import horizons
from hindsched.offline.backends.pulp_runs import Claim
from hindsched.offline.coupled import Objective
from hindsched.offline.coupled.bounds.free_prefetch import FreePrefetch
from hindsched.offline.coupled.bounds.prefetch_relaxation import PrefetchRelaxation
from hindsched.offline.coupled.models import ilp_solver, round_windows
from hindsched.offline.coupled.models.ilp_model import SlotProgram
from hindsched.offline.coupled.models.round_windows import Window, windows_with_pairs
from hindsched.offline.limits import Limits, OutOfTimeError, Stopwatch
from tests.cases.coupled import assert_honest, proven_value, tiny

RUNS = {"ilp-highs": ilp_solver.solve_by_highs, "ilp-cbc": ilp_solver.solve_by_cbc}
#: The paper's size; neither the bound nor the greedy schedule is the optimum.
PAPER = paper(m=5, n_com=5, wmin=1, scenario=1, trial=0, slots=60, iterations=4)
BEST = {Objective.MAKESPAN: 32, Objective.ITERATIONS: 6}


def value(run: str, instance: Instance, objective: Objective, *, stand_by: bool = True) -> int | None:
    """Return a proven optimum whose schedule the checker accepts, None without one."""
    return proven_value(instance, RUNS[run](instance, objective, stand_by, Limits()), run)


def without_help(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the first schedule and the short first horizons, so that the program decides."""
    monkeypatch.setattr(round_windows, "greedy_plan", lambda *_: [])
    monkeypatch.setattr(horizons, "_FIRST_STEP", 100)


# ------------------------------------------------------------------------------------------------- the solvers agree


@pytest.mark.parametrize("objective", Objective)
@pytest.mark.parametrize("stand_by", [True, False])
def test_it_agrees_with_the_other_solvers(
    objective: Objective, stand_by: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    instances = [tiny(seed) for seed in range(60)]
    others = [
        {offline.solve(it, objective, solver=solver, stand_by=stand_by).value for solver in ("brute", "cpsat")}
        for it in instances
    ]
    for seed, instance in enumerate(instances):
        assert {value("ilp-highs", instance, objective, stand_by=stand_by)} == others[seed], seed
    without_help(monkeypatch)
    for seed, instance in enumerate(instances):
        run = "ilp-cbc" if seed % 2 else "ilp-highs"
        assert {value(run, instance, objective, stand_by=stand_by)} == others[seed], (seed, run)


def end_by_the_program_alone(instance: Instance, stand_by: bool) -> int | None:
    """Return the last end of the program with windows that do not use the bound."""
    last = instance.slots - instance.iterations
    windows = [
        Window(i, last + i, {e: e - 1 for e in range(i, last + i + 1)} if i else {}) for i in range(instance.iterations)
    ]
    model = SlotProgram(instance, windows, Stopwatch(Limits()), stand_by=stand_by, is_any_sufficient=False)
    claim = ilp_solver.run(model.program, "highs", Limits(), None)
    assert claim.is_proven
    return round(model.program.objective.value()) if claim.has_solution else None


@pytest.mark.parametrize("stand_by", [True, False])
def test_the_program_is_right_without_the_bound(stand_by: bool) -> None:
    for seed in range(60):
        instance = tiny(seed)
        best = offline.solve(instance, solver="brute", stand_by=stand_by).value
        assert end_by_the_program_alone(instance, stand_by) == (None if best is None else best - 1), seed


def test_common_slots_are_common() -> None:
    # three UP slots each and two in common: the third is slot 4
    instance = Instance.from_letters(["uruuu", "uuruu"], w=[1, 3], mu=[1, 1], tasks=2)
    assert end_by_the_program_alone(instance, stand_by=True) == 4
    assert end_by_the_program_alone(instance.replace(states=instance.states[:, :4].copy()), stand_by=True) is None


@pytest.mark.parametrize("run", RUNS)
def test_programs_respect_stand_by(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without_help(monkeypatch)
    # a program in advance is worth a slot
    first = Instance.from_letters(["uuuddd", "uuruuu"], w=[1, 1], tasks=1, iterations=2, t_prog=2)
    # and the computation may have to wait for the program
    second = Instance.from_letters(["uuuuuuddd", "rruurruuu"], w=[2, 1], tasks=1, iterations=3, t_prog=2, n_com=1)
    for instance, with_it, without in ((first, 4, 5), (second, 8, 9)):
        assert value(run, instance, Objective.MAKESPAN) == with_it
        assert value(run, instance, Objective.MAKESPAN, stand_by=False) == without


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("objective", Objective)
def test_an_instance_of_the_size_in_the_paper(run: str, objective: Objective) -> None:
    assert offline.solve(PAPER, objective, solver="cpsat").value == BEST[objective]
    if run == "ilp-highs" or objective is Objective.MAKESPAN:
        assert value(run, PAPER, objective) == BEST[objective]


@pytest.mark.parametrize("run", RUNS)
def test_infeasible_is_proven_by_the_program(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each worker alone has enough time, so the bound is 5. One channel cannot serve both before they leave.
    instance = Instance.from_letters(["uuuud", "uuuud"], w=[1, 1], mu=[1, 1], tasks=2, t_prog=2, n_com=1)
    assert offline_coupled.free_prefetch_bound(instance, "makespan") is not None
    result = RUNS[run](instance, Objective.MAKESPAN, True, Limits())
    assert (result.status, result.value, result.bound, result.schedule) == (Status.INFEASIBLE, None, None, None)
    assert result.counts["programs"] == 1
    most = RUNS[run](instance, Objective.ITERATIONS, True, Limits())
    assert (most.status, most.value, most.bound) == (Status.OPTIMAL, 0, 0)


# ------------------------------------------------------------------------------------------------- stopped, and honest


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("objective", Objective)
@pytest.mark.parametrize("limit_s", [1e-9, 0.05, 0.3])
def test_a_time_limit_leaves_valid_bounds(run: str, objective: Objective, limit_s: float) -> None:
    assert_honest(RUNS[run](PAPER, objective, True, Limits(time_limit_s=limit_s)), BEST[objective], PAPER)


@pytest.mark.parametrize("has_solution", [True, False])
@pytest.mark.parametrize("bound", [None, 30.2, 1e-7])
def test_bounds_of_an_unproven_answer(has_solution: bool, bound: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Solvers that stop at once, with or without a solution, and with or without a bound on the last end."""
    solve = ilp_solver.run

    def stopped(*args: object) -> Claim:
        if has_solution:
            solve(*args)  # type: ignore[arg-type]
        return Claim(has_solution, is_proven=False, bound=bound, limit=None)

    cheap = offline_coupled.free_prefetch_bound(PAPER, "makespan")
    best = BEST[Objective.MAKESPAN]
    assert cheap is not None
    monkeypatch.setattr(round_windows, "greedy_plan", lambda *_: [])
    monkeypatch.setattr(horizons, "_FIRST_STEP", best + 2 - cheap)  # the first horizon has the optimum
    monkeypatch.setattr(ilp_solver, "run", stopped)
    result = ilp_solver.solve_by_highs(PAPER, Objective.MAKESPAN, True, Limits())
    assert result.bound == (best if bound == 30.2 else cheap)  # no end before slot 31: at least 32 slots
    assert result.value == (best if has_solution else None)
    proven = Status.OPTIMAL if bound == 30.2 else Status.FEASIBLE
    assert result.status is (proven if has_solution else Status.UNKNOWN)


def test_a_program_that_exceeds_its_time_raises() -> None:
    watch = Stopwatch(Limits(time_limit_s=1e-9))
    while not watch.is_over():
        pass
    bound = FreePrefetch(PrefetchRelaxation(PAPER))
    windows = windows_with_pairs(bound, bound.earliest_ends(4), 40)
    assert windows is not None
    with pytest.raises(OutOfTimeError):
        SlotProgram(PAPER, windows, watch, stand_by=True, is_any_sufficient=False)


# ------------------------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize("suffix", [".lp", ".mps"])
def test_the_written_program_has_the_same_optimum(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"program{suffix}"
    ilp_solver.write_program(PAPER, path, horizon=33)
    assert path.stat().st_size > 1000
    if suffix == ".mps":
        _, program = pulp.LpProblem.fromMPS(str(path))
        assert ilp_solver.run(program, "highs", Limits(), None).is_proven
        assert round(program.objective.value()) + 1 == BEST[Objective.MAKESPAN]


@pytest.mark.parametrize(
    ("name", "horizon", "complaint"),
    [
        ("program.txt", None, "ends in .lp or .mps"),
        ("program.lp", 0, "expected 1 to 60"),
        ("program.lp", 61, "expected 1 to 60"),
        ("program.lp", 10, "provably take longer"),
        ("missing/program.lp", 33, "cannot be written"),
    ],
)
def test_unwritable_programs_are_refused(name: str, horizon: int | None, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=complaint):
        ilp_solver.write_program(PAPER, tmp_path / name, horizon=horizon)
