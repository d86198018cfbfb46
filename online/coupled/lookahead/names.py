"""Our own policies by name."""

from __future__ import annotations

from hindsched.online.coupled.lookahead.parameters import Rules
from hindsched.online.coupled.lookahead.planner import Planner

__all__ = ["OURS", "RULES", "lookahead_policy"]

#: What each of them does.
RULES = {
    "rr": Rules(stands_by=False, prefetches=False),
    "sb": Rules(stands_by=True, prefetches=False),
    "hot": Rules(stands_by=True, prefetches=True),
    "auto": Rules(stands_by=True, prefetches=True, exchanges=True, factors=(0.3, 0.5, 0.8), most_value=700.0),
    "roll": Rules(stands_by=True, prefetches=True, exchanges=True, futures=16, most_value=700.0),
}

#: The policies that are ours (docs/beyond.md), from the plainest on.
OURS = tuple(RULES)


def lookahead_policy(name: str) -> Planner:
    """Return one of `OURS`."""
    return Planner(name, RULES[name])
