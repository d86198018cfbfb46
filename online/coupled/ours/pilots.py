"""V, the slots that an iteration takes a policy, and what else pilot runs on random numbers of its own find.

Nothing of the instance is used but what the policy may know before it starts: the chains and the application.
"""

from __future__ import annotations

from functools import lru_cache

from instances.sources import Drawn
from online.coupled.estimates import complete
from online.coupled.ours.planner import Rules, Settings
from online.coupled.visible import Problem

__all__ = ["pilot_states", "settings_of"]

#: How often V is taken from a run with the V before; iterations, and slots at the most, of such a run.
ROUNDS, ITERATIONS, MOST_SLOTS = 4, 20, 20_000


@lru_cache(maxsize=64)
def settings_of(problem: Problem, rules: Rules) -> Settings:
    """Return V for a policy on a problem, and whether it exchanges.

    The first guess is ten times what one worker with one task takes; then V is the mean length of the first
    `ITERATIONS` iterations, or of those that end within `MOST_SLOTS`, of a run with the V before, `ROUNDS` times,
    without exchanges. Where the rules have more factors than one, or exchanges, each factor of V is then tried in a run
    of its own, with and without exchanges, and what makes iterations shortest is taken. All runs meet the same states,
    drawn from the problem's chains under a key of their own, so that the settings are a function of the problem.
    """
    from online.coupled.ours.kernels.driver import kernel_rules, slots_per_iteration  # noqa: PLC0415  # numba

    def length(settings: Settings) -> float:
        return slots_per_iteration(problem, kernel_rules(rules, settings), states, ITERATIONS)

    states = pilot_states(problem)
    value = first_guess(problem)
    for _ in range(ROUNDS):
        value = length(Settings(value))
    ways = (False, True) if rules.exchanges and value <= rules.most_exchanges else (False,)
    tried = [Settings(factor * value, exchanges) for exchanges in ways for factor in rules.factors]
    return min(tried, key=length) if len(tried) > 1 else tried[0]


def first_guess(problem: Problem) -> float:
    """Return the V that pilots begin with."""
    return 10.0 * (problem.t_prog + problem.t_data + min(problem.w))


def pilot_states(problem: Problem) -> Drawn:
    """Return the states that pilot runs meet."""
    return Drawn(complete(problem.chains), ("coupled", "pilot"), MOST_SLOTS)
