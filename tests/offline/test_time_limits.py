"""No step between two looks at the clock is longer than a fixed amount of work; the tests count, they do not time."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pulp
import pytest
from ortools.sat.python import cp_model

import hindsched as hs
from hindsched import offline
from hindsched.instances.coupled import Instance
from hindsched.instances.coupled.generate import paper
from hindsched.offline import Status
from hindsched.offline.backends import cpsat_runs, pulp_runs
from hindsched.offline.backends.timed_runs import run_stoppably
from hindsched.offline.bags import chains_cpsat, ticks_ilp
from hindsched.offline.coupled import Objective
from hindsched.offline.coupled.bounds.free_prefetch import FreePrefetch
from hindsched.offline.coupled.bounds.node_cpsat import NodeProblem, solve_node
from hindsched.offline.coupled.bounds.prefetch_relaxation import Budget, PrefetchRelaxation
from hindsched.offline.coupled.bounds.prefetch_table import SCANNED, SCANNED_TO, free_finish
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import SlotTables
from hindsched.offline.coupled.models import cpsat_model, round_windows
from hindsched.offline.coupled.models.cpsat_model import SlotModel
from hindsched.offline.coupled.models.ilp_model import SlotProgram
from hindsched.offline.coupled.models.round_windows import windows_with_pairs
from hindsched.offline.coupled.search.slot_codes import EFFORT_LIMIT_MET
from hindsched.offline.coupled.search.workspace import Workspace
from hindsched.offline.limits import Limit, Limits, OutOfTimeError, Stopwatch, by_processor_time

#: The paper's size.
PAPER = paper(m=10, n_com=5, wmin=1, scenario=0, trial=0, slots=400, iterations=4)


class Script(Stopwatch):
    """A watch whose time is over after some looks; it calls a function at each look."""

    def __init__(self, looks: float = np.inf, at_look: Callable[[], object] = lambda: None) -> None:
        super().__init__(Limits(time_limit_s=1e6))
        self.looks, self.at_look = looks, at_look

    def left_s(self) -> float | None:
        """Return 0 if the time is over."""
        self.at_look()
        self.looks -= 1
        return 1e6 if self.looks >= 0 else 0.0


def test_a_run_is_stopped_when_its_time_is_over() -> None:
    is_stopped = threading.Event()
    assert run_stoppably(is_stopped.wait, is_stopped.set, Script(looks=3))
    assert run_stoppably(lambda: 7, pytest.fail, Stopwatch(Limits())) == 7  # without a limit nothing stops it


@pytest.mark.parametrize("is_processor", [False, True])
def test_cpsat_has_no_wall_clock_limit_by_processor_time(is_processor: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    model, solver, given = cp_model.CpModel(), cp_model.CpSolver(), []

    def note(run: Any, stop: Any, watch: Stopwatch) -> Any:
        given.append((solver.parameters.max_time_in_seconds, watch.is_of_processor, watch.left_s() is None))
        return run()

    monkeypatch.setattr(cpsat_runs, "run_stoppably", note)
    solver.parameters.max_time_in_seconds = 50.0
    if is_processor:
        with by_processor_time():
            cpsat_runs.solve_interruptibly(solver, model)
    else:
        cpsat_runs.solve_interruptibly(solver, model)
    assert given == [(np.inf if is_processor else 50.0, is_processor, False)]
    assert solver.parameters.max_time_in_seconds == 50.0


def test_cbc_has_the_time_that_writing_the_model_left(monkeypatch: pytest.MonkeyPatch) -> None:
    program = pulp.LpProblem("one", pulp.LpMinimize)
    program += program.add_variable("x", 1, 2)
    called: list[Any] = []
    monkeypatch.setattr(pulp_runs, "_call", lambda command, folder, limit_s: called.append((command, limit_s)))
    monkeypatch.setattr(Stopwatch, "left_s", lambda self: 3.25)
    claim = pulp_runs.run(program, "cbc", Limits(), 10.0)
    ((command, limit_s),) = called
    assert (command[command.index("-sec") + 1], limit_s) == ("3.25", 3.25)
    assert (claim.has_solution, claim.is_proven, claim.limit) == (False, False, Limit.TIME)  # CBC did not end in time


def test_a_program_that_ignores_its_limit_is_killed(tmp_path: Path) -> None:
    sleeper = [sys.executable, "-c", "import time; time.sleep(3600)"]
    assert pulp_runs._call(sleeper, str(tmp_path), 0.01) is None
    assert pulp_runs._call([sys.executable, "-c", ""], str(tmp_path), 600.0) == 0


def test_models_look_at_the_clock_after_a_bounded_number_of_constraints(monkeypatch: pytest.MonkeyPatch) -> None:
    bound = FreePrefetch(PrefetchRelaxation(PAPER))
    windows = windows_with_pairs(bound, bound.earliest_ends(4), 100)
    assert windows is not None
    model, sizes = cp_model.CpModel(), list[int]()
    monkeypatch.setattr(cpsat_model.cp_model, "CpModel", lambda: model)
    watch = Script(at_look=lambda: sizes.append(len(model.proto.constraints)))
    SlotModel(PAPER, windows, watch, stand_by=True)
    largest = int(np.diff([0, *sizes, len(model.proto.constraints)]).max())
    assert largest <= 3 * 100  # a few constraints for each slot
    assert len(model.proto.constraints) > 15 * largest
    monkeypatch.undo()
    looks: list[int] = []
    SlotProgram(PAPER, windows, Script(at_look=lambda: looks.append(1)), stand_by=True, is_any_sufficient=False)
    program = SlotProgram(PAPER, windows, Script(), stand_by=True, is_any_sufficient=False).program
    assert len(looks) == program.numConstraints()
    for few in (0, 1, 20):
        with pytest.raises(OutOfTimeError):
            SlotModel(PAPER, windows, Script(few), stand_by=True)
        with pytest.raises(OutOfTimeError):
            SlotProgram(PAPER, windows, Script(few), stand_by=True, is_any_sufficient=False)


def test_a_branch_node_without_time_for_its_model_stays_open() -> None:
    instance = Instance.from_letters(["uuuuuuu", "uuuruuu"], w=[1, 1], tasks=2, iterations=2, n_com=1, t_prog=1)
    tables = SlotTables(instance, instance.slots)
    table = Workspace(instance, Limits(), first_block=instance.slots).table
    node = NodeProblem(np.array([0, 2, 4]), np.array([0, 7, 7]))
    answers = {looks: solve_node(tables, table, node, watch=Script(looks)).is_possible for looks in (0, 1, 5, np.inf)}
    assert answers == {0: None, 1: None, 5: None, np.inf: True}


def test_the_prefetch_relaxation_looks_at_the_clock_in_each_node(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes, sizes = [0], list[int]()
    take = Budget.take

    def count(budget: Budget) -> bool:
        nodes[0] += 1
        return take(budget)

    monkeypatch.setattr(Budget, "take", count)
    relaxation = PrefetchRelaxation(PAPER, Script(at_look=lambda: sizes.append(nodes[0])))
    assert FreePrefetch(relaxation).earliest_ends(4) == FreePrefetch(PrefetchRelaxation(PAPER)).earliest_ends(4)
    assert np.diff(sizes).max() == 1
    with pytest.raises(OutOfTimeError):
        PrefetchRelaxation(PAPER, Script(0))
    assert FreePrefetch(PrefetchRelaxation(PAPER, Script(3))).earliest_ends(4) == [0, 1, 2, 3]  # each takes a slot


@pytest.mark.parametrize("objective", Objective)
@pytest.mark.parametrize("solver", ["cpsat", "cpsat-whole", "ilp-highs", "ilp-cbc"])
def test_without_time_for_tables_only_the_trivial_bound_is_claimed(
    objective: Objective, solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(round_windows, "Stopwatch", lambda limits: Script(0))
    result = offline.solve(PAPER, objective, solver=solver, time_limit_s=1.0)
    is_makespan = objective is Objective.MAKESPAN
    assert result.status is (Status.UNKNOWN if is_makespan else Status.FEASIBLE)
    assert (result.value, result.limit) == (None if is_makespan else 0, Limit.TIME)
    assert result.bound == (4 if is_makespan else 400)


def test_a_scan_for_a_free_end_returns_after_a_bounded_number_of_ends() -> None:
    """No iteration can ever end: no two workers are UP together long enough, though each alone has the slots."""
    p, slots = 200, 3_000
    rows = np.tile(np.array([0, 1], np.uint8), (p, slots // 2))
    rows[1::2] = 1 - rows[1::2]
    instance = Instance.from_letters(["u" * slots] * p, w=[2] * p, mu=[1] * p, tasks=150, t_data=0).replace(states=rows)
    workspace = Workspace(instance, Limits(), first_block=slots)
    workspace.stop_after(1 << 60)
    begun, returned = 0, 0
    while True:
        found = free_finish(workspace.arrays, workspace.prefetch, 0, slots)
        if found != EFFORT_LIMIT_MET:
            break
        scan = workspace.prefetch.scan
        assert scan[SCANNED] == 0
        assert 0 < scan[SCANNED_TO] - begun <= 2 * 20_000 * 1_000 // (p * 150)
        begun, returned = int(scan[SCANNED_TO]), returned + 1
    assert returned >= 2


@pytest.mark.parametrize(("solver", "module"), [("chains", chains_cpsat), ("ticks", ticks_ilp)])
def test_models_of_bags_stop_at_the_time_limit(solver: str, module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bag = hs.generate("bags", small=True, seed=3, tasks=2, checkpoints=1, store="shared", on_demand=False, slots=20)
    for looks in (0, 1, 9):
        monkeypatch.setattr(module, "Stopwatch", lambda limits, looks=looks: Script(looks))
        found = hs.solve(bag, solver=solver, time_limit_s=1.0)
        assert (found.status, found.value, found.lower, found.limit) == (Status.BOUNDS, None, 0, Limit.TIME)
