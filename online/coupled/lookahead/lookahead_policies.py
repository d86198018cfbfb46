"""The look-ahead policies by name."""

from __future__ import annotations

from hindsched.online.coupled.lookahead.parameters import PlannerOptions
from hindsched.online.coupled.lookahead.planner import Planner

__all__ = ["OURS", "PLANNERS", "lookahead_policy"]

#: The options of each policy.
PLANNERS = {
    "rr": PlannerOptions(stands_by=False, prefetches=False),
    "sb": PlannerOptions(stands_by=True, prefetches=False),
    "hot": PlannerOptions(stands_by=True, prefetches=True),
    "auto": PlannerOptions(stands_by=True, prefetches=True, exchanges=True, factors=(0.3, 0.5, 0.8), most_value=700.0),
    "roll": PlannerOptions(stands_by=True, prefetches=True, exchanges=True, futures=16, most_value=700.0),
}

#: The names of the look-ahead policies (docs/lookahead.md), simplest first.
OURS = tuple(PLANNERS)


def lookahead_policy(name: str) -> Planner:
    """Return one of `OURS`."""
    return Planner(name, PLANNERS[name])
