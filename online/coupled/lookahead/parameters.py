"""What tells our policies from each other, and what pilot runs find for a problem."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Rules", "Settings"]


@dataclass(frozen=True, slots=True)
class Rules:
    """What a planner does beside planning.

    Parameters
    ----------
    stands_by
        Every UP worker is enrolled and stays so until it is DOWN; who has no task in the plan is sent the program when
        channels are left. So programs and data survive a change of plan.
    prefetches
        Channels that are left then send data too, for tasks that a worker may get in a later plan.
    exchanges
        Plans are made better by exchanges (`Builder.improve`), where pilots say that it pays.
    factors
        By which of these V is multiplied is chosen by pilots, too.
    futures
        Plans are compared on so many sampled futures (`hindsched.online.coupled.lookahead.rollout`); 0: by J alone.
    most_value
        For a larger V there are neither exchanges nor futures, and V is taken as it is.
    """

    stands_by: bool = True
    prefetches: bool = True
    exchanges: bool = False
    factors: tuple[float, ...] = (1.0,)
    futures: int = 0
    most_value: float = math.inf


class Settings(NamedTuple):
    """What pilot runs find for a problem.

    Parameters
    ----------
    value
        V, what a failure costs a plan.
    exchanges
        Whether plans are made better by exchanges.
    futures
        On how many sampled futures plans are compared; 0: by J alone.
    """

    value: float
    exchanges: bool = False
    futures: int = 0
