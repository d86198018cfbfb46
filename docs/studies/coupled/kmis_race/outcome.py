"""What a side of the core benchmark answers."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Outcome"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a side answers.

    Parameters
    ----------
    is_proven
        False: it was stopped by its limit.
    value
        The answer if proven; None for a task B that nobody can do.
    seconds
        Processor time; a side in a process of its own says it itself, else None.
    """

    is_proven: bool
    value: int | None
    seconds: float | None = None
