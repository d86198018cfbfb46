"""Ctrl-C during a search of CP-SAT raises KeyboardInterrupt, repeatedly; limits that stop a search."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

from ortools.sat.python import cp_model

from hindsched import offline
from hindsched.offline.backends.cpsat_runs import limit_met, solve_interruptibly
from hindsched.offline.limits import Limit

SCRIPT = """
import os, signal, threading
from ortools.sat.python import cp_model
from hindsched.offline.backends.cpsat_runs import solve_interruptibly

signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent process may ignore SIGINT

def pigeons(count):
    model = cp_model.CpModel()
    sits = [[model.new_bool_var("") for _ in range(count - 1)] for _ in range(count)]
    for pigeon in sits:
        model.add_bool_or(pigeon)
    for hole in zip(*sits):
        for i, one in enumerate(hole):
            for other in hole[:i]:
                model.add_bool_or(one.negated(), other.negated())
    return model

def solver():
    made = cp_model.CpSolver()
    made.parameters.num_workers = 1
    made.parameters.cp_model_presolve = False
    made.parameters.symmetry_level = 0
    made.parameters.max_time_in_seconds = 60  # ends a search that ignores the signal
    return made

print(solve_interruptibly(solver(), pigeons(3)).name)
for _ in range(2):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        print(solve_interruptibly(solver(), pigeons(14)).name)
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_an_interrupt_ends_the_search_and_is_raised():
    # in a separate process, which the interrupt would end if the handler were lost
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)], capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["INFEASIBLE", "interrupted", "interrupted"], "")


def test_the_limit_that_stopped_a_search() -> None:
    model = cp_model.CpModel()
    sits = [[model.new_bool_var("") for _ in range(13)] for _ in range(14)]
    for pigeon in sits:
        model.add_bool_or(pigeon)
    for hole in zip(*sits, strict=True):
        for i, one in enumerate(hole):
            for other in hole[:i]:
                model.add_bool_or(~one, ~other)
    limits = {Limit.TIME: {"max_time_in_seconds": 0.1}, Limit.EFFORT: {"max_deterministic_time": 0.01}}
    limits[Limit.OTHER] = {"max_number_of_conflicts": 5}
    for limit, parameters in limits.items():
        solver = cp_model.CpSolver()
        solver.parameters.cp_model_presolve = False
        solver.parameters.symmetry_level = 0
        solver.parameters.num_workers = 1
        for name, value in parameters.items():
            setattr(solver.parameters, name, value)
        assert solve_interruptibly(solver, model) == cp_model.UNKNOWN
        assert limit_met(solver) is limit


def test_every_solver_searches_interruptibly():
    sources = Path(offline.__file__).parent.rglob("*.py")
    others = [path.name for path in sources if re.search(r"solver\.[sS]olve\(", path.read_text(encoding="utf-8"))]
    assert others == []
