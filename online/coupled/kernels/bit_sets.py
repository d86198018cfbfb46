"""Sets of workers as bits of a 64-bit word, compiled."""

from __future__ import annotations

import numpy as np
from numba.cpython.unsafe.numbers import trailing_zeros

from hindsched.instances.compiling import kernel

__all__ = ["NONE", "ONE", "WORD", "lowest"]


WORD = np.uint64
NONE = WORD(0)
ONE = WORD(1)


@kernel
def lowest(word: WORD) -> int:
    """Return the index of the lowest bit of a word that is not 0."""
    return int(np.int64(trailing_zeros(word)))
