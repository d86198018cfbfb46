"""The states of the slots that a run has reached."""

from __future__ import annotations

import numpy as np

from hindsched.instances.states import States

__all__ = ["History"]


class History:
    """The states seen so far, in an array that grows; the array holds no state of a later slot.

    Parameters
    ----------
    num_workers
        p, the number of workers (or machines).

    Attributes
    ----------
    slots
        The number of slots seen.
    """

    _UNSEEN = 255

    def __init__(self, num_workers: int) -> None:
        self._seen = np.full((64, num_workers), self._UNSEEN, dtype=np.uint8)
        self.slots = 0

    def append(self, now: States) -> None:
        """Copy the states of the next slot, shape (p,)."""
        if self.slots == len(self._seen):
            self._seen = np.concatenate((self._seen, np.full_like(self._seen, self._UNSEEN)))
        self._seen[self.slots] = now
        self.slots += 1

    @property
    def states(self) -> States:
        """The states of all slots seen, shape (p, slots), read-only."""
        return self.view(self.slots)

    def view(self, slots: int) -> States:
        """Return the states of the first ``slots`` slots seen, shape (p, slots), read-only."""
        seen = self._seen[: min(slots, self.slots)].T
        seen.setflags(write=False)
        return seen
