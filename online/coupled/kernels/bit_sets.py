"""What every kernel of the simulator is compiled with."""

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
    """Return the place of the lowest bit of a word that has one."""
    return int(np.int64(trailing_zeros(word)))
