"""States as bit sets, compiled: for every slot the set of UP workers and that of DOWN workers."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Bytes, Words
from hindsched.instances.compiling import kernel
from hindsched.instances.states import DOWN, UP
from hindsched.online.coupled.kernels.bit_sets import NONE, WORD

__all__ = ["fill_masks"]

_TILE = 1024


@kernel(allocates=True)
def fill_masks(states: Bytes, first: int, up: Words, down: Words) -> None:
    """Fill the sets of slots from ``first`` on, shape (N, words), from states of shape (p, N)."""
    p, slots = states.shape
    up_now, down_now = np.empty(_TILE, np.uint64), np.empty(_TILE, np.uint64)
    for start in range(first, slots, _TILE):
        size = min(slots - start, _TILE)
        for j in range(up.shape[1]):
            for t in range(size):
                up_now[t] = down_now[t] = NONE
            for q in range(64 * j, min(p, 64 * j + 64)):
                row = states[q, start : start + size]
                for t in range(size):  # from 0 on, and so in vectors
                    up_now[t] |= WORD(row[t] == UP) << WORD(q & 63)
                    down_now[t] |= WORD(row[t] == DOWN) << WORD(q & 63)
            for t in range(size):
                up[start + t, j] = up_now[t]
                down[start + t, j] = down_now[t]
