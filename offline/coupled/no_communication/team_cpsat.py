"""A CP-SAT model of the common-slots problem: tasks are integers, and the length of the team is implicit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hindsched.offline.backends.model_files import PROTO_FORMS, expect_form, write_whole
from hindsched.offline.coupled.no_communication import team_lengths
from hindsched.offline.coupled.no_communication.common_slots import Aim, CommonSlots, Team, down_runs, value_of
from hindsched.offline.coupled.no_communication.team_greedy import greedy
from hindsched.offline.coupled.no_communication.team_result import ModelOutcome, make_model_result
from hindsched.offline.limits import NO_LIMITS, Limits, Stopwatch
from hindsched.offline.results import Result

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

__all__ = ["Model", "build", "solve", "write_model"]


@dataclass(frozen=True)
class Model:
    """The model and its decision variables: x_q by row, z_t by slot."""

    model: cp_model.CpModel
    x: Sequence[cp_model.IntVar]
    z: Sequence[cp_model.IntVar]


def build(problem: CommonSlots, incumbent: Team | None = None) -> Model:
    """Return the model.

    Variables
        ``x[q]`` in 0..most_q, tasks of row q; ``member[q]`` = 1 iff x_q >= 1; ``z[t]`` = 1 iff slot t is in T;
        ``first <= last``, first and last slot of a range that contains T (only if it is needed);
        ``f``, the factor (``WIDEST``), with ``holds[q][k]`` = 1 iff x_q >= k.

    Constraints
        (1) sum_q x_q = m (not for ``HEAVIEST``).
        (2) z_t = 1 implies member_q = 0 for every row q that is not UP in slot t.
        (3) sum of z_t over the UP slots of q >= w_q x_q. By (2) the UP slots of a member are all slots of T; the sum
        over them propagates better. ``WIDEST``: the sum is >= k w_q f for every k with holds[q][k], which keeps the
        product of f and x_q linear.
        (4) z_t = 1 implies first <= t <= last; for every run [a, b] of DOWN slots within row q, a member has
        last < a or first > b.
        (5) f >= the incumbent's value, or last < it.

    Objective
        ``EARLIEST``: min last + 1. ``WIDEST``: max f. ``HEAVIEST``: max sum_q x_q. ``ANY``: none.

    Size
        2 p + N + 2 variables, sum of most_q more for ``WIDEST``, two for every DOWN run; p + N + DOWN runs constraints
        (N clauses of length up to p in (2)).
    """
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    p, slots, aim = problem.num_rows, problem.slots, problem.aim
    most = problem.most.tolist() if aim is Aim.HEAVIEST else np.minimum(problem.most, problem.tasks).tolist()
    x = [model.new_int_var(0, most[q], f"x[{q}]") for q in range(p)]
    member = [model.new_bool_var(f"member[{q}]") for q in range(p)]
    z = [model.new_bool_var(f"z[{t}]") for t in range(slots)]
    for q in range(p):
        model.add(x[q] >= 1).only_enforce_if(member[q])
        model.add(x[q] == 0).only_enforce_if(~member[q])
    if aim is not Aim.HEAVIEST:
        model.add(sum(x) == problem.tasks)  # (1)
    for t in range(slots):
        model.add_bool_and(~member[q] for q in range(p) if not problem.up[q, t]).only_enforce_if(z[t])  # (2)
    own = [sum(z[t] for t in np.flatnonzero(problem.up[q])) for q in range(p)]
    reached = None if incumbent is None else value_of(problem, incumbent)
    if aim is Aim.WIDEST:
        f = model.new_int_var(0 if reached is None else reached, team_lengths.bound(problem) or 0, "f")
        for q in range(p):
            for k in range(1, most[q] + 1):
                holds = model.new_bool_var(f"holds[{q}][{k}]")
                model.add(x[q] >= k).only_enforce_if(holds)
                model.add(x[q] < k).only_enforce_if(~holds)
                model.add(own[q] >= k * int(problem.w[q]) * f).only_enforce_if(holds)  # (3)
        model.maximize(f)
    else:
        for q in range(p):
            model.add(own[q] >= int(problem.w[q]) * x[q])  # (3)
    if aim is Aim.HEAVIEST:
        model.add(sum(x) >= (reached or 0))
        model.maximize(sum(x))
    if aim is Aim.EARLIEST or problem.down.any():
        first = model.new_int_var(0, slots, "first")
        last = model.new_int_var(-1, slots - 1, "last")
        for t in range(slots):
            model.add(first <= t).only_enforce_if(z[t])  # (4)
            model.add(last >= t).only_enforce_if(z[t])
        for q in range(p):
            for a, b in down_runs(problem.down[q]):
                before, after = model.new_bool_var(f"before[{q}][{a}]"), model.new_bool_var(f"after[{q}][{b}]")
                model.add(last < a).only_enforce_if(before)
                model.add(first > b).only_enforce_if(after)
                model.add_bool_or(before, after, ~member[q])
        if aim is Aim.EARLIEST:
            if reached is not None:
                model.add(last < reached)  # (5)
            model.minimize(last + 1)
    return Model(model, x, z)


def solve(problem: CommonSlots, limits: Limits = NO_LIMITS) -> Result:
    """Solve by CP-SAT, with the threads, the seed and the time of the limits.

    With status ``UNKNOWN`` CP-SAT reports 0.0 as objective and bound; both are ignored.
    """
    from ortools.sat.python import cp_model

    from hindsched.offline.backends.cpsat_runs import limit_met, make_solver, solve_interruptibly

    watch = Stopwatch(limits)
    incumbent = greedy(problem)
    built = build(problem, incumbent)
    solver = make_solver(limits, watch.left_s())
    solver.parameters.linearization_level = 0  # the LP of the model is weak here; clauses do the work
    status = solve_interruptibly(solver, built.model)
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"CP-SAT finds the model invalid: {built.model.validate()}")
    is_proven = status in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
    tasks, slots, bound = None, [], None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        tasks = [solver.value(x) for x in built.x]
        slots = [t for t, z in enumerate(built.z) if solver.boolean_value(z)]
        if problem.aim is not Aim.ANY:
            bound = solver.best_objective_bound
    counts = {"branches": int(solver.num_branches), "conflicts": int(solver.num_conflicts)}
    outcome = ModelOutcome(tasks, slots, bound, is_proven, counts, None if is_proven else limit_met(solver))
    return make_model_result(problem, "cpsat", watch, outcome, incumbent)


def write_model(problem: CommonSlots, path: str | os.PathLike[str]) -> None:
    """Write the model as CP-SAT's proto: text to a ``.pbtxt`` file, binary to a ``.pb`` file."""
    expect_form(path, PROTO_FORMS)
    write_whole(path, PROTO_FORMS, build(problem, greedy(problem)).model.export_to_file)
