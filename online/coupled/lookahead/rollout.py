"""Rollout: compare plans on sampled futures, drawn from the chains with the policy's own random numbers.

J charges V for every failure. A failure that leaves other workers with programs and data costs less than one that
leaves nothing. So each candidate plan is held in sampled futures until it succeeds or a member is DOWN. At a failure,
the J of a plan built there replaces V. J itself is exact without contention, so only the difference is sampled::

    value(plan) = J(plan) + mean over futures of [it fails] (J of the plan built at the failure - V)

All candidates use the same futures.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import DOWN, RECLAIMED, UP, States
from hindsched.online.coupled.estimates import complete
from hindsched.online.coupled.lookahead.attempts import attempt_model
from hindsched.online.coupled.lookahead.parameters import PlannerOptions, Settings
from hindsched.online.coupled.lookahead.plans import PlanBuilder, is_less
from hindsched.online.coupled.lookahead.serving import arrange
from hindsched.online.coupled.options import Service
from hindsched.online.coupled.simulate import Execution
from hindsched.online.coupled.visible import Problem, Visible

__all__ = ["FACTORS", "HORIZON", "best_plan", "sample_states"]

#: Factors of V for which candidates are built.
FACTORS = (1.0, 0.45, 2.0)
#: Number of slots of a future; a plan that neither succeeds nor fails within them keeps its J.
HORIZON = 200
_WORD = (1 << 64) - 1


def best_plan(
    visible: Visible, held: Mapping[int, int], builder: PlanBuilder, settings: Settings, options: PlannerOptions
) -> dict[int, int] | None:
    """Return the candidate of least value: the plan held, or one built for a multiple of V; None without candidates.

    Ties go to the plan held, then to the order of `FACTORS`.
    """
    candidates = [dict(held)] if held else []
    for factor in FACTORS:
        other = PlanBuilder(attempt_model(visible.problem), settings.value * factor)
        built = other.build(visible)
        if built is None:
            break
        if settings.exchanges:
            built = other.improve(visible, built)
        if built not in candidates:
            candidates.append(built)
    if len(candidates) < 2:
        return candidates[0] if candidates else None
    values = [builder.cost(visible, plan, visible.computed if plan == held else 0) for plan in candidates]
    for number in range(settings.futures):
        states = sample_states(visible.problem, visible.now, visible.slot, number)
        for place, plan in enumerate(candidates):
            values[place] += _excess_cost(visible, plan, states, builder, settings.value, options) / settings.futures
    best = 0
    for place, value in enumerate(values):
        if is_less(value, values[best]):
            best = place
    return candidates[best]


def _excess_cost(
    visible: Visible,
    plan: Mapping[int, int],
    states: States,
    builder: PlanBuilder,
    value: float,
    options: PlannerOptions,
) -> float:
    """Hold a plan to its end in a future; return the cost of a failure there minus V, 0 without failure."""
    simulated = Execution(_as_instance(visible.problem, states), Service.INDEX)
    simulated.tasks, simulated.computed = dict(visible.tasks), visible.computed
    simulated.program, simulated.data = list(visible.program), list(visible.data)
    for slot in range(states.shape[1]):
        seen = simulated.fail(slot)
        if any(seen.now[q] == DOWN for q in plan):
            built = builder.build(seen)
            return 0.0 if built is None else builder.cost(seen, built) - value
        decision = arrange(seen, plan, options)
        assert decision.tasks is not None
        simulated.enrol(decision.tasks)
        simulated.work(decision.serve)
        if simulated.iteration:
            return 0.0
    return 0.0


def _as_instance(problem: Problem, states: States) -> Instance:
    return Instance(
        problem.tasks,
        1,
        problem.n_com,
        problem.t_prog,
        problem.t_data,
        problem.w,
        problem.capacities,
        states,
        problem.chains,
    )


def sample_states(problem: Problem, now: tuple[int, ...], slot: int, number: int) -> States:
    """Return a future, shape (p, `HORIZON`); its first slot is now, slot and number seed its random numbers.

    A xorshift generator gives a number for each later slot and worker, slot by slot. A number below P_xu leads from x
    to UP, a number below P_xu + P_xr to RECLAIMED, any other to DOWN.
    """
    rows = [chain.rows for chain in complete(problem.chains)]
    states = np.empty((problem.num_workers, HORIZON), dtype=np.uint8)
    states[:, 0] = now
    x = (slot * 0x10001 + number + 1) * 0x9E3779B97F4A7C15 & _WORD
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _WORD
    x = (x ^ x >> 31) | 1
    for t in range(1, HORIZON):
        for q, row in enumerate(rows):
            x ^= x << 13 & _WORD
            x ^= x >> 7
            x ^= x << 17 & _WORD
            to_up, to_reclaimed, _ = row[states[q, t - 1]]
            chance = (x >> 11) * 2.0**-53
            states[q, t] = UP if chance < to_up else RECLAIMED if chance < to_up + to_reclaimed else DOWN
    return states
