"""Sets of workers as bits, compiled: worker q is bit ``q % 64`` of word ``q // 64`` of an array."""

from __future__ import annotations

import numpy as np
from numba.cpython.unsafe.numbers import trailing_zeros

from hindsched.instances.array_types import Words
from hindsched.instances.compiling import kernel

__all__ = ["NONE", "ONE", "WORD", "add", "clear", "contains", "lowest", "num_words", "remove"]


WORD = np.uint64
NONE = WORD(0)
ONE = WORD(1)


def num_words(num_workers: int) -> int:
    """Return the number of words in a set of workers."""
    return (num_workers + 63) // 64


@kernel
def lowest(word: WORD) -> int:
    """Return the index of the lowest bit of a word that is not 0."""
    return int(np.int64(trailing_zeros(word)))


@kernel(forceinline=True)
def contains(members: Words, q: int) -> bool:
    """Return whether worker q is in a set."""
    return bool(members[q >> 6] >> WORD(q & 63) & ONE)


@kernel(forceinline=True)
def add(members: Words, q: int) -> None:
    """Put worker q into a set."""
    members[q >> 6] |= ONE << WORD(q & 63)


@kernel(forceinline=True)
def remove(members: Words, q: int) -> None:
    """Take worker q out of a set."""
    members[q >> 6] &= ~(ONE << WORD(q & 63))


@kernel(forceinline=True)
def clear(members: Words) -> None:
    """Empty a set."""
    for j in range(members.size):
        members[j] = NONE
