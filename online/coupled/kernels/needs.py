"""Compiled: what a worker still has to receive, and the expected slots until it has."""

from __future__ import annotations

import numpy as np

from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.arguments import Application, BuildTrace, Heuristic, RunState, Tables
from hindsched.online.coupled.kernels.bit_sets import contains
from hindsched.online.coupled.kernels.estimate_kernels import duration_alone

__all__ = ["HORIZON", "cached_duration_alone", "least_alone", "need_for"]

#: Number of slots for which a step of a build is guaranteed; more slots make fewer guarantees hold.
HORIZON = 12


@kernel(forceinline=True)
def need_for(application: Application, run_state: RunState, q: int, x: int) -> int:
    """Return the slots that worker q still has to receive for x >= 1 tasks."""
    need: int = application.t_prog - run_state.program[q] + max(0, x * application.t_data - run_state.data[q])
    return need


@kernel(forceinline=True)
def cached_duration_alone(heuristic: Heuristic, tables: Tables, q: int, need: int) -> float:
    """Return the expected slots until worker q has received ``need`` slots (see `duration_alone`)."""
    alone = tables.alone[q, need] if need < tables.alone.shape[1] else np.nan
    if np.isnan(alone):
        alone = duration_alone(q, need, tables.alone, tables.single, heuristic.estimator)
    return alone


@kernel(forceinline=True)
def least_alone(heuristic: Heuristic, tables: Tables, trace: BuildTrace, q: int, need: int, alone: float) -> float:
    """Return a lower bound on the slots at the horizon until worker q has received ``need`` slots, ``alone`` now."""
    if contains(trace.enrolled, q):
        return cached_duration_alone(heuristic, tables, q, max(0, need - HORIZON))
    return alone
