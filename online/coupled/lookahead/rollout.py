"""Plans compared on sampled futures, drawn from the chains with random numbers of the policy's own.

J charges V for every failure. But a failure that leaves other workers with programs and data costs less than one that
leaves nothing. So the plan of each of a few candidates is held in sampled futures until it succeeds or a member is
DOWN, and there the best J of the state that is left takes the place of V. J itself is kept as it is, since it is exact
where there is no contention; only what the places taken by V differ by is a mean over futures::

    value(plan) = J(plan) + mean over futures of [it fails] (J of the plan built at the failure - V)

All candidates meet the same futures.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import DOWN, RECLAIMED, UP, States
from hindsched.online.coupled.estimates import complete
from hindsched.online.coupled.lookahead.attempts import chances_of
from hindsched.online.coupled.lookahead.parameters import Rules, Settings
from hindsched.online.coupled.lookahead.plans import Builder, is_less
from hindsched.online.coupled.lookahead.serving import arranged
from hindsched.online.coupled.options import Service
from hindsched.online.coupled.simulate import Execution
from hindsched.online.coupled.visible import Problem, Visible

__all__ = ["FACTORS", "HORIZON", "best_plan", "drawn"]

#: Candidates are built for V times these.
FACTORS = (1.0, 0.45, 2.0)
#: Slots of a future; a plan that neither succeeds nor fails within them costs what J says.
HORIZON = 200
_WORD = (1 << 64) - 1


def best_plan(
    visible: Visible, held: Mapping[int, int], builder: Builder, settings: Settings, rules: Rules
) -> dict[int, int] | None:
    """Return the candidate of least value: the plan held, or one built for a multiple of V; None if there is none.

    Ties go to the one held, and then to the order of `FACTORS`.
    """
    candidates = [dict(held)] if held else []
    for factor in FACTORS:
        other = Builder(chances_of(visible.problem), settings.value * factor)
        built = other.build(visible)
        if built is None:
            break
        if settings.exchanges:
            built = other.improve(visible, built)
        if built not in candidates:
            candidates.append(built)
    if len(candidates) < 2:
        return candidates[0] if candidates else None
    values = [builder.worth(visible, plan, visible.computed if plan == held else 0) for plan in candidates]
    for number in range(settings.futures):
        states = drawn(visible.problem, visible.now, visible.slot, number)
        for place, plan in enumerate(candidates):
            values[place] += _excess(visible, plan, states, builder, settings.value, rules) / settings.futures
    best = 0
    for place, value in enumerate(values):
        if is_less(value, values[best]):
            best = place
    return candidates[best]


def _excess(
    visible: Visible, plan: Mapping[int, int], states: States, builder: Builder, value: float, rules: Rules
) -> float:
    """Hold a plan to its end in a future; return by how much a failure there costs more than V."""
    imagined = Execution(_as_instance(visible.problem, states), Service.INDEX)
    imagined.tasks, imagined.computed = dict(visible.tasks), visible.computed
    imagined.program, imagined.data = list(visible.program), list(visible.data)
    for slot in range(states.shape[1]):
        seen = imagined.fail(slot)
        if any(seen.now[q] == DOWN for q in plan):
            built = builder.build(seen)
            return 0.0 if built is None else builder.worth(seen, built) - value
        decision = arranged(seen, plan, rules)
        assert decision.tasks is not None
        imagined.enrol(decision.tasks)
        imagined.work(decision.serve)
        if imagined.iteration:
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


def drawn(problem: Problem, now: tuple[int, ...], slot: int, number: int) -> States:
    """Return a future, shape (p, `HORIZON`): its first slot is now, its random numbers are named by slot and number.

    A xorshift generator gives a number for each later slot and worker, slot by slot; a number below P_xu leads from x
    to UP, a number below P_xu + P_xr to RECLAIMED, others to DOWN.
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
