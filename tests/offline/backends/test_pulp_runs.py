"""Traps of solvers behind PuLP: statuses, bounds and limits are true, not what PuLP reports."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import highspy
import numpy as np
import pulp
import pytest

from hindsched.instances import InputError
from hindsched.offline.backends.pulp_runs import limit_of, run
from hindsched.offline.coupled.no_communication import team_ilp
from hindsched.offline.coupled.no_communication.common_slots import Aim, CommonSlots
from hindsched.offline.limits import Limit, Limits

SOLVERS = ["cbc", "highs"]


def hard(sense: int) -> pulp.LpProblem:
    """Most common slots of 5 of 40 rows, at most 30; written as a maximum or as a minimum of the negative."""
    up = np.random.default_rng(0).random((40, 400)) < 0.5
    ones = np.ones(40, dtype=np.int64)
    program = team_ilp.build(CommonSlots(up, np.zeros_like(up), ones, ones, 5, Aim.WIDEST)).program
    if sense == pulp.LpMinimize:
        objective = program.objective
        program.sense = sense
        program.setObjective(-1 * objective)
    return program


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("sense", [pulp.LpMaximize, pulp.LpMinimize])
def test_a_solution_at_the_time_limit_is_not_optimal_and_its_bound_has_the_right_sign(solver: str, sense: int) -> None:
    program = hard(sense)
    claim = run(program, solver, Limits(), 2.0)
    assert not claim.is_proven
    assert claim.limit is Limit.TIME
    if solver == "cbc":
        assert claim.bound is None
        return
    assert claim.bound is not None
    best = 30 if sense == pulp.LpMaximize else -30
    assert (claim.bound >= best) if sense == pulp.LpMaximize else (claim.bound <= best)
    assert abs(claim.bound) <= 400


def test_pulp_itself_calls_that_solution_optimal() -> None:
    """The trap still exists; if this fails, PuLP has been corrected."""
    program = hard(pulp.LpMaximize)
    claim = run(program, "highs", Limits(), 2.0)
    assert not claim.is_proven
    assert program.status == pulp.LpStatusOptimal
    assert program.solverModel.getInfo().mip_dual_bound < 0  # the negative of the bound


@pytest.mark.parametrize("solver", SOLVERS)
def test_optimal_and_infeasible_are_proven(solver: str) -> None:
    program = pulp.LpProblem("small", pulp.LpMaximize)
    x = program.add_variable("x", 0, 9, pulp.LpInteger)
    y = program.add_variable("y", 0, 9, pulp.LpInteger)
    program += 3 * x + 2 * y
    program += 2 * x + 2 * y <= 7, "room"
    claim = run(program, solver, Limits(), None)
    assert (claim.has_solution, claim.is_proven, program.objective.value()) == (True, True, 9)
    program += 2 * x + 2 * y == 5, "odd"  # has fractional solutions only
    claim = run(program, solver, Limits(), None)
    assert (claim.has_solution, claim.is_proven) == (False, True)


def test_an_infeasibility_that_cbc_finds_by_branching_is_proven() -> None:
    """CBC then reports "Integer infeasible", which PuLP's sol_status turns into no solution found."""
    rows = np.array(
        [
            [1, 1, 1, 0, 1, 1, 1],
            [1, 1, 1, 0, 1, 1, 1],
            [1, 1, 0, 1, 1, 0, 1],
            [1, 0, 0, 0, 0, 0, 1],
            [0, 1, 1, 1, 0, 0, 1],
        ]
    )
    up = rows.astype(bool)
    problem = CommonSlots(up, np.zeros_like(up), np.array([1, 3, 1, 3, 3]), np.array([0, 2, 1, 2, 3]), 3, Aim.EARLIEST)
    claim = run(team_ilp.build(problem).program, "cbc", Limits(), None)
    assert (claim.has_solution, claim.is_proven) == (False, True)


@pytest.mark.parametrize(
    ("status", "limit"),
    [
        ("kTimeLimit", Limit.TIME),
        ("kMemoryLimit", Limit.MEMORY),
        ("kSolutionLimit", Limit.EFFORT),
        ("kInterrupt", Limit.INTERRUPTED),
        ("kSolveError", Limit.OTHER),
    ],
)
def test_limits_that_highs_reports(status: str, limit: Limit) -> None:
    assert limit_of(getattr(highspy.HighsModelStatus, status)) is limit


def test_another_solver_is_refused() -> None:
    with pytest.raises(InputError, match="expected cbc or highs"):
        run(pulp.LpProblem(), "glpk", Limits(), None)


# ------------------------------------------------------------------------------------------- what solvers leave behind


def small_program() -> pulp.LpProblem:
    program = pulp.LpProblem("small", pulp.LpMaximize)
    program += 3 * program.add_variable("x", 0, 9, pulp.LpInteger)
    return program


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", ["sp ace", "-dash", "quo'te\"$x", "é\u7bc0"])
def test_any_name_of_the_temporary_folder_will_do(
    solver: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / name))
    program = small_program()
    assert run(program, solver, Limits(), None).is_proven
    assert program.objective.value() == 27
    assert list((tmp_path / name).iterdir()) == []


def test_a_solver_that_fails_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for code in (0, 7):
        fake = tmp_path / "cbc"
        fake.write_text(f"#!/bin/sh\nexit {code}\n")
        fake.chmod(0o700)
        monkeypatch.setattr(pulp.PULP_CBC_CMD, "pulp_cbc_path", str(fake))
        with pytest.raises(InputError, match=f"^solver cbc: ended with exit code {code} and no result"):
            run(small_program(), "cbc", Limits(), None)
    assert list(tmp_path.iterdir()) == [fake]


INTERRUPTED = """
import os, signal, sys
import pulp
from hindsched.offline.backends.pulp_runs import run
from hindsched.offline.limits import Limits

solver, fake, folder = sys.argv[1:]
sys.path.insert(0, folder)
from test_pulp_runs import hard


def interrupt(number, frame):
    raise KeyboardInterrupt


signal.signal(signal.SIGTERM, interrupt)
pulp.PULP_CBC_CMD.pulp_cbc_path = fake
print("begins", flush=True)
run(hard(pulp.LpMaximize), solver, Limits(), 300.0)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("to_group", [False, True])
def test_nothing_is_left_after_an_interruption(solver: str, number: int, to_group: bool, tmp_path: Path) -> None:
    scratch, fake, begun = tmp_path / "scratch folder", tmp_path / "cbc", tmp_path / "begun"
    scratch.mkdir()
    fake.write_text(
        f"#!/bin/sh\ntrap '' INT TERM\necho $$ > '{begun}.new'; mv '{begun}.new' '{begun}'\nexec sleep 300\n"
    )
    fake.chmod(0o700)
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, solver, str(fake), str(Path(__file__).parent)],
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"begins\n"
    if solver == "cbc":
        while not begun.exists():
            time.sleep(0.05)
        assert len(list(scratch.iterdir())) == 1
    else:
        time.sleep(4.0)  # HiGHS runs, or its model is built
    assert process.poll() is None
    (os.killpg if to_group else os.kill)(process.pid, number)
    assert process.wait(60.0) != 0
    process.stdout.close()
    assert list(scratch.iterdir()) == []
    if solver == "cbc":
        with pytest.raises(ProcessLookupError):
            os.kill(int(begun.read_text()), 0)
