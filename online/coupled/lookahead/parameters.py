"""Parameters of the planner: options that define a policy, and settings that pilot runs find for a problem."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["PlannerOptions", "Settings"]


@dataclass(frozen=True, slots=True)
class PlannerOptions:
    """Options that distinguish the look-ahead policies.

    Parameters
    ----------
    stands_by
        Enrol every UP worker until it is DOWN, and send programs to workers without tasks over free channels. Programs
        and data then survive a change of plan.
    prefetches
        Send data too over channels that are still free, for tasks that a worker may get in a later plan.
    exchanges
        Improve plans by exchanges (`PlanBuilder.improve`) if pilot runs show a gain.
    factors
        Factors of V from which pilot runs choose.
    futures
        Number of sampled futures on which plans are compared (`hindsched.online.coupled.lookahead.rollout`); 0: compare
        by J alone.
    most_value
        Largest V for which exchanges, factors and futures are used.
    """

    stands_by: bool = True
    prefetches: bool = True
    exchanges: bool = False
    factors: tuple[float, ...] = (1.0,)
    futures: int = 0
    most_value: float = math.inf


class Settings(NamedTuple):
    """Settings that pilot runs find for a problem.

    Parameters
    ----------
    value
        V, the cost of a failed plan in slots.
    exchanges
        Whether plans are improved by exchanges.
    futures
        Number of sampled futures on which plans are compared; 0: compare by J alone.
    hazard
        Hazard ratio: J is computed for chains whose probabilities of DOWN are multiplied by it.
    """

    value: float
    exchanges: bool = False
    futures: int = 0
    hazard: float = 1.0
