"""V, the slots that an iteration takes a policy: found by pilot runs on random numbers of its own.

Nothing of the instance is used but what the policy may know before it starts: the chains and the application.
"""

from __future__ import annotations

from functools import lru_cache

from instances.sources import Drawn
from online.coupled.estimates import complete
from online.coupled.ours.planner import Rules
from online.coupled.visible import Problem

__all__ = ["pilot_states", "value_of"]

#: How often V is taken from a run with the V before; iterations, and slots at the most, of such a run.
ROUNDS, ITERATIONS, MOST_SLOTS = 4, 20, 20_000


@lru_cache(maxsize=64)
def value_of(problem: Problem, rules: Rules) -> float:
    """Return V for a policy on a problem.

    The first guess is ten times what one worker with one task takes; then V is the mean length of the first `ITERATIONS`
    iterations, or of those that end within `MOST_SLOTS`, of a run with the V before, `ROUNDS` times. All runs meet the
    same states, drawn from the problem's chains under a key of their own, so that V is a function of the problem.
    """
    from online.coupled.ours.kernels.driver import kernel_rules, slots_per_iteration  # noqa: PLC0415  # numba

    value = first_guess(problem)
    states = pilot_states(problem)
    for _ in range(ROUNDS):
        value = slots_per_iteration(problem, kernel_rules(rules, value), states, ITERATIONS)
    return value


def first_guess(problem: Problem) -> float:
    """Return the V that pilots begin with."""
    return 10.0 * (problem.t_prog + problem.t_data + min(problem.w))


def pilot_states(problem: Problem) -> Drawn:
    """Return the states that pilot runs meet."""
    return Drawn(complete(problem.chains), ("coupled", "pilot"), MOST_SLOTS)
