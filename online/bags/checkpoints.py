"""Progress of copies and saved checkpoints, in exact integers (docs/bags/model.md section 2).

A *state* is the progress of a task as one integer: the number of parts done, P = 10^9 parts per segment. So s segments
and g parts of the next are s P + g, states compare as integers, and k P means done. A checkpoint saves a state.
"""

from __future__ import annotations

from fractions import Fraction

from hindsched.instances.bags.model import Store
from hindsched.instances.bags.schedule import Instant

__all__ = ["PARTS", "Checkpoints", "advanced", "in_segments", "segments_saved", "ticks_left", "ticks_of_first"]

#: P, the number of parts of a segment.
PARTS = 10**9


class Checkpoints:
    """The saved states: one for each task in a shared store, one for each task and machine in private stores."""

    def __init__(self, store: Store) -> None:
        self._is_private = store is Store.PRIVATE
        self._states: dict[tuple[int, int], int] = {}
        self._own: dict[tuple[int, int], int] = {}  # by task and machine

    def saved(self, task: int, machine: int) -> int:
        """Return the greatest state from which the machine can start the task, in parts."""
        return self._states.get(self._key(task, machine), 0)

    def save(self, task: int, machine: int, state: int) -> bool:
        """Save a state if it is greater than the saved one; return whether it is."""
        if state <= self.saved(task, machine):
            return False
        self.keep(task, machine, state)
        self._states[self._key(task, machine)] = state
        return True

    def keep(self, task: int, machine: int, state: int) -> None:
        """Note that the machine has saved a state itself, whether or not the store already holds as much."""
        self._own[task, machine] = max(state, self.own(task, machine))

    def own(self, task: int, machine: int) -> int:
        """Return the greatest state of the task that the machine has saved itself, in parts."""
        return self._own.get((task, machine), 0)

    def _key(self, task: int, machine: int) -> tuple[int, int]:
        return (task, machine if self._is_private else -1)


def ticks_of_first(state: int, ticks: int) -> int:
    """Return the UP ticks a copy needs for the rest of its first segment, on a machine with g_q = ``ticks``.

    Examples
    --------
    >>> ticks_of_first(0, 7), ticks_of_first(3 * PARTS + PARTS // 2, 7)
    (7, 4)
    """
    return -((state % PARTS - PARTS) * ticks // PARTS)


def ticks_left(state: int, ticks: int, segments: int) -> int:
    """Return the UP ticks a copy that starts from a state needs for the rest of its task.

    Examples
    --------
    >>> ticks_left(PARTS + PARTS // 2, 7, segments=3)
    11
    """
    return ticks_of_first(state, ticks) + (segments - state // PARTS - 1) * ticks


def advanced(state: int, ticks: int, done: int) -> int:
    """Return the state that a copy has reached ``done`` UP ticks after it started from ``state``.

    Examples
    --------
    >>> advanced(PARTS // 2, 7, 3) - PARTS // 2, advanced(PARTS // 2, 7, 4), advanced(PARTS // 2, 7, 5)
    (428571428, 1000000000, 1142857142)
    """
    first = ticks_of_first(state, ticks)
    if done < first:
        return state + PARTS * done // ticks
    segments, rest = divmod(done - first, ticks)
    return (state // PARTS + 1 + segments) * PARTS + PARTS * rest // ticks


def segments_saved(state: int, ticks: int, done: int) -> int:
    """Return the state at the last end of a segment, ``done`` UP ticks after a start from ``state``; 0 if none.

    Examples
    --------
    >>> segments_saved(PARTS, 7, 6), segments_saved(PARTS, 7, 15) // PARTS
    (0, 3)
    """
    first = ticks_of_first(state, ticks)
    return 0 if done < first else (state // PARTS + 1 + (done - first) // ticks) * PARTS


def in_segments(state: int) -> Instant:
    """Return a state as schedules store it: segments, with a fraction of the next.

    Examples
    --------
    >>> in_segments(2 * PARTS), in_segments(2 * PARTS + PARTS // 4)
    (2, Fraction(9, 4))
    """
    segments, parts = divmod(state, PARTS)
    return segments + Fraction(parts, PARTS) if parts else segments
