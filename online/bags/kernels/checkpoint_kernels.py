"""Progress of copies: the compiled twin of `hindsched.online.bags.checkpoints`."""

from __future__ import annotations

from hindsched.instances.compiling import kernel
from hindsched.online.bags.checkpoints import PARTS
from hindsched.online.bags.kernels.arguments import RunSettings, RunState

__all__ = ["fetch_ticks", "first_ticks", "reached"]


@kernel
def first_ticks(origin: int, ticks: int) -> int:
    """Return the UP ticks for the rest of the first segment."""
    return ((PARTS - origin % PARTS) * ticks + PARTS - 1) // PARTS


@kernel
def fetch_ticks(settings: RunSettings, run_state: RunState, q: int, task: int, state: int) -> int:
    """Return the UP ticks that machine q spends to fetch a state of a task from another machine."""
    if settings.move == 0 or run_state.own[task * len(settings.ticks) + q] >= state:
        return 0
    return settings.move


@kernel
def reached(origin: int, ticks: int, done: int) -> int:
    """Return the state of a copy, rounded down to parts."""
    first = first_ticks(origin, ticks)
    if done < first:
        return origin + PARTS * done // ticks
    past = done - first
    return (origin // PARTS + 1 + past // ticks) * PARTS + PARTS * (past % ticks) // ticks
