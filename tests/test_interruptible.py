"""Ctrl-C while CP-SAT searches is heard, and is no result."""

import os
import signal
import threading

import pytest
from ortools.sat.python import cp_model

from offline.interruptible import solve_interruptibly


def pigeons(count: int) -> cp_model.CpModel:
    """Return a model of ``count`` pigeons in one hole less, which takes very long to refute."""
    model = cp_model.CpModel()
    sits = [[model.new_bool_var("") for _ in range(count - 1)] for _ in range(count)]
    for pigeon in sits:
        model.add_bool_or(pigeon)
    for hole in zip(*sits, strict=True):
        for i, one in enumerate(hole):
            for other in hole[:i]:
                model.add_bool_or(one.negated(), other.negated())
    return model


def solver() -> cp_model.CpSolver:
    made = cp_model.CpSolver()
    made.parameters.num_workers = 1
    made.parameters.cp_model_presolve = False
    made.parameters.symmetry_level = 0
    made.parameters.max_time_in_seconds = 60  # a search that hears nothing ends the test all the same
    return made


def test_an_interrupt_ends_the_search_and_is_raised():
    handler = signal.getsignal(signal.SIGINT)
    ctrl_c = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    ctrl_c.start()
    with pytest.raises(KeyboardInterrupt):
        solve_interruptibly(solver(), pigeons(14))
    assert signal.getsignal(signal.SIGINT) is handler


def test_the_handler_of_interrupts_stays_after_a_search():
    handler = signal.getsignal(signal.SIGINT)
    assert solve_interruptibly(solver(), pigeons(3)) == cp_model.INFEASIBLE
    assert signal.getsignal(signal.SIGINT) is handler
