"""An integer linear program of the common-slots problem, written with PuLP for CBC and HiGHS.

It differs from the CP-SAT model: binary variables select one of the possible lengths (``level_L``), and constraints tie
rows to slots one by one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from hindsched.offline.backends.model_files import PROGRAM_FORMS, ModelForm, expect_form, write_whole
from hindsched.offline.backends.pulp_runs import MilpSolver, run
from hindsched.offline.coupled.no_communication import team_lengths
from hindsched.offline.coupled.no_communication.common_slots import (
    Aim,
    Booleans,
    CommonSlots,
    Team,
    down_runs,
    value_of,
)
from hindsched.offline.coupled.no_communication.team_greedy import greedy
from hindsched.offline.coupled.no_communication.team_result import ModelOutcome, make_model_result
from hindsched.offline.limits import NO_LIMITS, Limits, Stopwatch
from hindsched.offline.results import Result

if TYPE_CHECKING:
    import pulp

__all__ = ["Formulation", "Model", "build", "linear_bound", "solve", "write_model"]


class Formulation(StrEnum):
    """How rows exclude slots: one constraint per slot, one per pair of row and slot, or both."""

    PER_SLOT = "per_slot"
    PER_PAIR = "per_pair"
    BOTH = "both"


@dataclass(frozen=True)
class Model:
    """The program and its decision variables: x_q by row, z_t by slot."""

    program: pulp.LpProblem
    x: Sequence[Any]
    z: Sequence[Any]


def build(
    problem: CommonSlots,
    incumbent: Team | None = None,
    formulation: Formulation = Formulation.PER_SLOT,
    *,
    is_bounded: bool = True,
) -> Model:
    """Return the program.

    Parameters
    ----------
    problem
        The problem.
    incumbent
        A team whose value the solution has to reach; None without one.
    formulation
        The form of (4).
    is_bounded
        False: F_L is the trivial bound for ``WIDEST``, without (5) and (7), to measure (4) alone.

    Variables
        ``x_q`` integer in 0..most_q, tasks of row q; ``z_t`` binary, slot t is in T.
        ``level_L`` binary, the team has length L; ``f_L`` integer in 0..F_L, the factor if that is the level
        (``WIDEST``). F_L is the bound on the value at that length from single rows.
        ``begun_t``, ``open_t`` binary: some slot of T is <= t, is >= t (``open`` for ``EARLIEST``, both with DOWN).

    Constraints
        (1) sum_q x_q = m; for ``HEAVIEST`` sum_q x_q <= sum_L F_L level_L.
        (2) one level: sum_L level_L = 1; x_q <= sum_L c_q(L) level_L. Capacities are whole numbers, so the linear
        relaxation cannot shorten the team by spreading fractions of a task, as it does under w_q x_q <= L.
        (3) sum_t z_t >= sum_L L level_L; for ``WIDEST`` >= sum_L L f_L, with f_L <= F_L level_L.
        (4) a slot needs every member. ``PER_SLOT``, for every t: sum of x_q over rows not UP at t <= M_t (1 - z_t),
        M_t = min(m, their most), m being the largest F_L for ``HEAVIEST``. ``PER_PAIR``, for every such q and t:
        x_q <= most_q (1 - z_t).
        (5) sum of z_t over the UP slots of q >= g w_q x_q, g the incumbent's factor for ``WIDEST``, else 1.
        (6) z_t <= begun_t, begun_(t-1) <= begun_t; z_t <= open_t, open_(t+1) <= open_t; and for every run [a, b] of
        DOWN slots within row q: x_q <= most_q (2 - begun_a - open_b).
        (7) the incumbent and the bounds F_L limit the objective; levels that cannot reach the incumbent are left out
        (``EARLIEST``: open_t = 1 before the least F_L, slots from the incumbent's finish on are left out).

    Objective
        ``EARLIEST``: min sum_t open_t. ``WIDEST``: max sum_L f_L. ``HEAVIEST``: max sum_q x_q. ``ANY``: none.

    Size
        p + N + levels variables (+ levels for ``WIDEST``, + N for ``EARLIEST``, + 2 N with DOWN); 2 p + N + levels + 3
        constraints ``PER_SLOT``, of which N have up to p + 1 terms; ``PER_PAIR`` has one of two terms for every pair
        that is not UP, p N / 2 of them at density 1/2.

    Notes
    -----
    Neither form of (4) implies the other. The relaxation of ``PER_PAIR`` accepts x_q = m / p and z_t = 1 - m / p, which
    bounds |T| by little less than N. That of ``PER_SLOT`` bounds |T| by the mean number of UP slots of the m best rows,
    with a factor of about p fewer constraints: for random states with N = 100, density 0.3, p = 100 and m = 5 by 39.0
    slots, against 95.0 per pair and 37.5 with both. ``PER_PAIR`` is tighter only if m is about p / 3 or more. F_L and
    (5) make up for most of the difference, and the smallest program is solved fastest, so ``PER_SLOT`` is the default.
    """
    import pulp

    aim, p = problem.aim, problem.num_rows
    reached = None if incumbent is None else value_of(problem, incumbent)
    slots = problem.slots if aim is not Aim.EARLIEST or reached is None else reached
    up, down = problem.up[:, :slots], problem.down[:, :slots]
    level_bounds = _level_bounds(problem, reached, is_bounded)
    tasks = max(level_bounds.values(), default=0) if aim is Aim.HEAVIEST else problem.tasks
    most = np.minimum(problem.most, tasks).tolist()
    w = problem.w.tolist()
    program = pulp.LpProblem(f"common_slots_{aim}", pulp.LpMaximize if aim.is_maximal else pulp.LpMinimize)

    x = [program.add_variable(f"x_{q}", 0, most[q], pulp.LpInteger) for q in range(p)]
    z = [program.add_variable(f"z_{t}", cat=pulp.LpBinary) for t in range(slots)]
    level = {length: program.add_variable(f"level_{length}", cat=pulp.LpBinary) for length in level_bounds}
    if aim is Aim.WIDEST:
        factor = {
            length: program.add_variable(f"f_{length}", 0, top, pulp.LpInteger) for length, top in level_bounds.items()
        }
        program += pulp.lpSum(factor.values()), "factor"
    elif aim is Aim.HEAVIEST:
        program += pulp.lpSum(x), "tasks"

    if aim is not Aim.HEAVIEST:
        program += pulp.lpSum(x) == tasks, "all_tasks"  # (1)
    elif level:
        program += (
            pulp.lpSum(x) <= pulp.lpSum(top * level[length] for length, top in level_bounds.items()),
            "most_tasks",
        )
    if level:
        program += pulp.lpSum(level.values()) == 1, "one_level"  # (2)
    for q in range(p):
        held = pulp.lpSum(min(most[q], length // w[q]) * level[length] for length in level)
        program += x[q] <= held, f"capacity_{q}"
    needed = level
    if aim is Aim.WIDEST:  # (3)
        needed = factor
        for length, top in level_bounds.items():
            program += factor[length] <= top * level[length], f"factor_{length}"
    program += pulp.lpSum(z) >= pulp.lpSum(length * needed[length] for length in level), "length"
    model = Model(program, x, z)
    _forbid_slots(pulp, model, up, most, tasks, formulation)  # (4)
    known = 1 if aim is not Aim.WIDEST else (reached or 0)
    for q in range(p if known and is_bounded else 0):
        own = pulp.lpSum(z[t] for t in np.flatnonzero(up[q]).tolist())
        program += own >= known * w[q] * x[q], f"own_slots_{q}"  # (5)
    if aim is Aim.EARLIEST or down.any():
        is_open = _add_segment(pulp, model, down, most)  # (6)
        if aim is Aim.EARLIEST:
            program.setObjective(pulp.lpSum(is_open))
            for t in range(min(level_bounds.values(), default=0) if is_bounded else 0):
                is_open[t].lowBound = 1  # (7)
    if aim.is_maximal and reached:
        program += pulp.lpSum(x if aim is Aim.HEAVIEST else factor.values()) >= reached, "incumbent"
    return model


def _level_bounds(problem: CommonSlots, reached: int | None, is_bounded: bool) -> dict[int, int]:
    """Return F_L of every length that has one and can reach the incumbent's value."""
    if not is_bounded and problem.aim is Aim.WIDEST:
        return {length: problem.slots // length for length in team_lengths.possible_lengths(problem)}
    known = {length: top for length, top in team_lengths.bounds_by_length(problem).items() if top is not None}
    if reached is None:
        return known
    if problem.aim.is_maximal:
        return {length: top for length, top in known.items() if top >= reached}
    return {length: top for length, top in known.items() if top <= reached}


def _forbid_slots(
    pulp: Any, model: Model, up: Booleans, most: Sequence[int], tasks: int, formulation: Formulation
) -> None:
    """Add (4)."""
    program = model.program
    for t in range(up.shape[1]):
        absent = [q for q in np.flatnonzero(~up[:, t]).tolist() if most[q]]
        if absent and formulation is not Formulation.PER_PAIR:
            room = min(tasks, sum(most[q] for q in absent))
            program += pulp.lpSum(model.x[q] for q in absent) <= room * (1 - model.z[t]), f"slot_{t}"
        if formulation is not Formulation.PER_SLOT:
            for q in absent:
                program += model.x[q] <= most[q] * (1 - model.z[t]), f"pair_{q}_{t}"


def _add_segment(pulp: Any, model: Model, down: Booleans, most: Sequence[int]) -> list[Any]:
    """Add (6); return open_t."""
    program, slots = model.program, down.shape[1]
    is_open = [program.add_variable(f"open_{t}", cat=pulp.LpBinary) for t in range(slots)]
    for t in range(slots):
        program += model.z[t] <= is_open[t], f"closes_{t}"
        if t + 1 < slots:
            program += is_open[t + 1] <= is_open[t], f"open_until_{t}"
    if down.any():
        begun = [program.add_variable(f"begun_{t}", cat=pulp.LpBinary) for t in range(slots)]
        for t in range(slots):
            program += model.z[t] <= begun[t], f"begins_{t}"
            if t:
                program += begun[t - 1] <= begun[t], f"begun_since_{t}"
        for q, row in enumerate(down):
            for a, b in down_runs(row):
                if most[q] and a > 0 and b + 1 < slots:
                    program += model.x[q] <= most[q] * (2 - begun[a] - is_open[b]), f"down_{q}_{a}"
    return is_open


def solve(problem: CommonSlots, limits: Limits = NO_LIMITS, *, solver: MilpSolver = MilpSolver.HIGHS) -> Result:
    """Solve by ``cbc`` or ``highs``, with the threads, the seed and the time of the limits."""
    watch = Stopwatch(limits)
    incumbent = greedy(problem)
    model = build(problem, incumbent)
    claim = run(model.program, solver, limits, watch.left_s())
    tasks, slots = None, []
    if claim.has_solution:
        tasks = [round(x.value()) for x in model.x]
        slots = [t for t, z in enumerate(model.z) if z.value() is not None and round(z.value())]
    outcome = ModelOutcome(tasks, slots, claim.bound, claim.is_proven, {}, claim.limit)
    return make_model_result(problem, str(solver), watch, outcome, incumbent)


def write_model(
    problem: CommonSlots, path: str | os.PathLike[str], formulation: Formulation = Formulation.PER_SLOT
) -> None:
    """Write the program to a ``.lp`` or ``.mps`` file."""
    form = expect_form(path, PROGRAM_FORMS)
    program = build(problem, greedy(problem), formulation).program
    write_whole(path, PROGRAM_FORMS, program.writeLP if form is ModelForm.LP else program.writeMPS)


def linear_bound(
    problem: CommonSlots, formulation: Formulation = Formulation.PER_SLOT, *, is_bounded: bool = True
) -> float | None:
    """Return the optimum of the linear relaxation, by HiGHS and without an incumbent.

    None if it has no solution, and for ``ANY``, which has no objective.
    """
    program = build(problem, None, formulation, is_bounded=is_bounded).program
    for variable in program.variables():
        variable.cat = "Continuous"
    claim = run(program, "highs", Limits(), None)
    return float(program.objective.value()) if claim.has_solution and program.objective is not None else None
