"""The answer of a side of the race."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Outcome"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of a side.

    Parameters
    ----------
    is_proven
        False if the limit stopped the side.
    value
        The proven value; None if task B is infeasible.
    seconds
        Processor time reported by a side in a process of its own, else None.
    """

    is_proven: bool
    value: int | None
    seconds: float | None = None
