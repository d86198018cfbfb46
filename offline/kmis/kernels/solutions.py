"""The bits of a solution, and the items that hold them."""

from __future__ import annotations

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.kmis.kernels.vectors import lowest, popcount
from hindsched.offline.kmis.kernels.word_constants import ALL, NONE, WORD

__all__ = ["count_holders", "write_bits"]


@kernel("int64(uint64[:,::1], int64[::1], int64)", allocates=True)
def count_holders(bits: Words, solution: Ints, size: int) -> int:
    """Return the number of items that hold all the bits ``solution[:size]``."""
    number = 0
    for k in range(bits.shape[0]):
        word = ALL
        for j in range(size):
            word &= bits[k, solution[j]]
        number += popcount(word)
    return number


@kernel("int64(uint64[::1], int64, int64, int64, uint64[::1], int64[::1], int64, int64[::1])", allocates=True)
def write_bits(
    words: Words,
    at: int,
    stride: int,
    depth: int,
    common: Words,
    names: Ints,
    names_at: int,
    solution: Ints,
) -> int:
    """Write the names of the bits that a candidate shares with ``common``; return their number."""
    size = 0
    for w in range(depth):
        word = common[w] & words[at + w * stride]
        while word != NONE:
            solution[size] = names[names_at + 64 * w + lowest(word)]
            word &= word - WORD(1)
            size += 1
    return size
