"""States as bit masks: one word per slot says who is UP, another who is DOWN."""

from __future__ import annotations

import numpy as np

from instances.states import DOWN, UP
from online.coupled.kernels.compiling import WORD, Bytes, Words, kernel

__all__ = ["fill_masks"]

_TILE = 1024


@kernel()
def fill_masks(states: Bytes, first: int, up: Words, down: Words) -> None:
    """Fill the masks of slots ``first`` and on from the states, shape (p, N); ``up`` and ``down`` have N slots."""
    p, slots = states.shape
    for start in range(first, slots, _TILE):
        stop = min(slots, start + _TILE)
        for t in range(start, stop):
            up[t] = down[t] = WORD(0)
        for q in range(p):
            row = states[q]
            for t in range(start, stop):
                up[t] |= WORD(row[t] == UP) << WORD(q)
                down[t] |= WORD(row[t] == DOWN) << WORD(q)
