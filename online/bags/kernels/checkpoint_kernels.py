"""Progress of copies: the compiled twin of `hindsched.online.bags.checkpoints`."""

from __future__ import annotations

from hindsched.instances.compiling import kernel
from hindsched.online.bags.checkpoints import PARTS

__all__ = ["first_ticks", "reached"]


@kernel
def first_ticks(origin: int, ticks: int) -> int:
    """Return the UP ticks for the rest of the first segment."""
    return ((PARTS - origin % PARTS) * ticks + PARTS - 1) // PARTS


@kernel
def reached(origin: int, ticks: int, done: int) -> int:
    """Return the state of a copy, rounded down to parts."""
    first = first_ticks(origin, ticks)
    if done < first:
        return origin + PARTS * done // ticks
    past = done - first
    return (origin // PARTS + 1 + past // ticks) * PARTS + PARTS * (past % ticks) // ticks
