"""States as bit sets, compiled: for every slot one word of UP workers and one of DOWN workers."""

from __future__ import annotations

from hindsched.instances.array_types import Bytes, Words
from hindsched.instances.compiling import kernel
from hindsched.instances.states import DOWN, UP
from hindsched.online.coupled.kernels.bit_sets import WORD

__all__ = ["fill_masks"]

_TILE = 1024


@kernel
def fill_masks(states: Bytes, first: int, up: Words, down: Words) -> None:
    """Fill the bit sets of slots from ``first`` on from states of shape (p, N); ``up`` and ``down`` have N slots."""
    p, slots = states.shape
    for start in range(first, slots, _TILE):
        stop = min(slots, start + _TILE)
        up_now, down_now = up[start:stop], down[start:stop]
        for t in range(up_now.size):
            up_now[t] = down_now[t] = WORD(0)
        for q in range(p):
            row = states[q, start:stop]
            for t in range(up_now.size):  # from 0 on, and so in vectors
                up_now[t] |= WORD(row[t] == UP) << WORD(q)
                down_now[t] |= WORD(row[t] == DOWN) << WORD(q)
