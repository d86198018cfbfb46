"""V, the slots that an iteration takes a policy, and what else pilot runs on random numbers of its own find.

Nothing of the instance is used but what the policy may know before it starts: the chains and the application.
"""

from __future__ import annotations

from functools import lru_cache

from hindsched.instances.state_sources import DrawnStates
from hindsched.online.coupled.estimates import complete
from hindsched.online.coupled.lookahead.parameters import Rules, Settings
from hindsched.online.coupled.visible import Problem

__all__ = ["pilot_states", "settings_of", "value_of"]

#: V is taken from runs with the V before until it changes by less than a part, or so often.
CLOSE, MOST_ROUNDS = 0.05, 4
#: Iterations of a run, and slots at the most.
ITERATIONS, MOST_SLOTS = 20, 8_000


@lru_cache(maxsize=1024)
def settings_of(problem: Problem, rules: Rules) -> Settings:
    """Return V for a policy on a problem, and whether it exchanges.

    V is that of `value_of`. Where the rules have more than one factor of V, or exchanges, each factor is tried in a run
    of its own, with and without exchanges, and what makes iterations shortest is taken; for a V above
    ``rules.most_value`` V is taken as it is, without exchanges. All runs meet the same states, drawn from the problem's
    chains under a key of their own, so that the settings are a function of the problem.
    """
    value = value_of(problem, rules.stands_by, rules.prefetches)
    if value > rules.most_value or rules == Rules(rules.stands_by, rules.prefetches):
        return Settings(value)
    if rules.futures:
        return Settings(value, rules.exchanges, rules.futures)
    ways = (False, True) if rules.exchanges else (False,)
    tried = [Settings(factor * value, exchanges) for exchanges in ways for factor in rules.factors]
    return min(tried, key=lambda settings: _length(problem, rules, settings))


@lru_cache(maxsize=1024)
def value_of(problem: Problem, stands_by: bool, prefetches: bool) -> float:
    """Return V: the fixed point of pilot runs without exchanges.

    The first guess is ten times what one worker with one task takes; then V is the mean length of the first
    `ITERATIONS` iterations of a run with the V before. Where `MOST_SLOTS` are too few for them it is those slots over
    the iterations to be expected of the computations begun in them. Where V does not come to rest in `MOST_ROUNDS`, it
    is the one that made iterations shortest: a V that is too small makes a plan that fails at once look best, so that
    the next one is far too large.

    Notes
    -----
    Let a computation begin with chance P to succeed, and be given up, if it is, when its chance is P'. The sum of all P
    less that of all P' has the mean of the iterations completed, since the chance of a computation is a martingale
    until it ends; and its spread is far less where successes are rare. Counting them instead gave a V that was ten
    times too small where two of 8,000 slots' computations happened to succeed, and with it plans that fail fast.
    """
    rules = Rules(stands_by, prefetches)
    value = 10.0 * (problem.t_prog + problem.t_data + min(problem.w))
    tried = []
    for _ in range(MOST_ROUNDS):
        before, value = value, _length(problem, rules, Settings(value))
        if abs(value - before) < CLOSE * before:
            return value
        tried.append((value, before))
    return min(tried)[1]


def _length(problem: Problem, rules: Rules, settings: Settings) -> float:
    """Return the mean length of the iterations of a pilot run."""
    from hindsched.online.coupled.lookahead.kernels.compiled_planner import slots_per_iteration  # noqa: PLC0415  # numba

    return slots_per_iteration(problem, rules, settings, pilot_states(problem), ITERATIONS)


@lru_cache(maxsize=4)
def pilot_states(problem: Problem) -> DrawnStates:
    """Return the states that pilot runs meet."""
    return DrawnStates(complete(problem.chains), ("coupled", "pilot"), MOST_SLOTS)
