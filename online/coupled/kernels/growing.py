"""The table of sets, moved to a larger one."""

from __future__ import annotations

from hindsched.instances.array_types import Words
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.bit_sets import NONE
from hindsched.online.coupled.kernels.estimate_kernels import place_of

__all__ = ["grow_sets"]


@kernel
def grow_sets(old: Words, new: Words) -> None:
    """Copy every set into an empty, larger table (see `row_of_set`)."""
    mask = new.shape[0] - 1
    for i in range(old.shape[0]):
        if old[i, 0] != NONE:
            row = place_of(old[i, 0], mask)
            while new[row, 0] != NONE:
                row = (row + 1) & mask
            for column in range(4):
                new[row, column] = old[i, column]
