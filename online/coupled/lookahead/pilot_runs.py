"""Pilot runs: simulations before a run that find V, the mean slots of an iteration, and other settings.

They use only what the policy may know before it starts, the chains and the application, and random numbers of their
own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from hindsched.instances.state_sources import DrawnStates
from hindsched.online.coupled.estimates import complete
from hindsched.online.coupled.lookahead.parameters import PlannerOptions, Settings
from hindsched.online.coupled.visible import Problem

__all__ = ["PILOTS", "PilotParameters", "pilot_states", "settings_of", "value_of"]


@dataclass(frozen=True, slots=True)
class PilotParameters:
    """Parameters of pilot runs.

    Parameters
    ----------
    closeness
        Relative change of V at which the fixed-point iteration stops.
    most_rounds
        Largest number of its rounds.
    iterations
        Number of iterations of a pilot run; more give a more exact V and cost more time.
    most_slots
        Largest number of slots of a pilot run.
    """

    closeness: float = 0.05
    most_rounds: int = 4
    iterations: int = 20
    most_slots: int = 8_000


PILOTS = PilotParameters()


@lru_cache(maxsize=1024)
def settings_of(problem: Problem, options: PlannerOptions) -> Settings:
    """Return V for a policy on a problem, and whether it exchanges.

    V comes from `value_of`. If the options have more than one factor of V, or exchanges, a pilot run tries each factor,
    with and without exchanges, and the settings with the shortest iterations win. For V above ``options.most_value``, V
    is not changed and there are no exchanges. All runs use the same states, drawn from the problem's chains under their
    own key, so the settings are a function of the problem.
    """
    value = value_of(problem, options.stands_by, options.prefetches)
    if value > options.most_value or options == PlannerOptions(options.stands_by, options.prefetches):
        return Settings(value)
    if options.futures:
        return Settings(value, options.exchanges, options.futures)
    ways = (False, True) if options.exchanges else (False,)
    tried = [Settings(factor * value, exchanges) for exchanges in ways for factor in options.factors]
    return min(tried, key=lambda settings: _length(problem, options, settings))


@lru_cache(maxsize=1024)
def value_of(problem: Problem, stands_by: bool, prefetches: bool) -> float:
    """Return V: the fixed point of pilot runs without exchanges.

    The first guess is ten times the slots that one worker needs for one task. Each round sets V to the mean length of
    the first iterations of a run with the previous V. If the slots of a run are too few for these iterations, V is the
    number of slots divided by the expected number of iterations completed in them. If V does not converge, the V with
    the shortest iterations is used: a V that is too small prefers plans that fail at once, which makes the next V far
    too large. `PilotParameters` has the numbers of iterations, slots and rounds.

    Notes
    -----
    Let a computation begin with success probability P and, if it is abandoned, end with probability P'. The success
    probability of a computation is a martingale until it ends. So the sum of all P minus the sum of all P' has the mean
    of the number of completed iterations, with a far smaller variance if successes are rare.
    """
    options = PlannerOptions(stands_by, prefetches)
    value = 10.0 * (problem.t_prog + problem.t_data + min(problem.w))
    tried = []
    for _ in range(PILOTS.most_rounds):
        before, value = value, _length(problem, options, Settings(value))
        if abs(value - before) < PILOTS.closeness * before:
            return value
        tried.append((value, before))
    return min(tried)[1]


def _length(problem: Problem, options: PlannerOptions, settings: Settings) -> float:
    """Return the mean length of the iterations of a pilot run."""
    from hindsched.online.coupled.lookahead.kernels.compiled_planner import slots_per_iteration  # noqa: PLC0415  # numba

    return slots_per_iteration(problem, options, settings, pilot_states(problem), PILOTS.iterations)


@lru_cache(maxsize=4)
def pilot_states(problem: Problem) -> DrawnStates:
    """Return the states of the pilot runs."""
    return DrawnStates(complete(problem.chains), ("coupled", "pilot"), PILOTS.most_slots)
