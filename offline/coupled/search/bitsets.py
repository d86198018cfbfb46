"""Sets of workers as bits: worker q is bit ``q % 64`` of word ``q // 64`` of an array of 64-bit words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import types
from numba.extending import intrinsic

from hindsched.instances.array_types import Words
from hindsched.instances.compiling import kernel


@intrinsic  # type: ignore[misc, untyped-decorator, unused-ignore]
def _popcount(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


popcount = cast("Callable[[Any], int]", _popcount)
"""Number of one bits of a 64-bit word (a single machine instruction)."""


@kernel
def assign(a: Words, b: Words) -> None:
    """Make set `a` equal to set `b`."""
    for k in range(a.size):
        a[k] = b[k]


@kernel
def has(words: Words, q: int) -> bool:
    """Return whether `q` is in the set."""
    return bool((words[q >> 6] >> np.uint64(q & 63)) & np.uint64(1))


@kernel
def add(words: Words, q: int) -> None:
    """Put `q` into the set."""
    words[q >> 6] |= np.uint64(1) << np.uint64(q & 63)


@kernel
def within(a: Words, b: Words) -> bool:
    """Return whether set `a` is contained in set `b`."""
    for k in range(a.size):
        if a[k] & ~b[k]:
            return False
    return True


@kernel
def last_common_bit(mask: Words, row: Words, top: int, low: int, count: int) -> int:
    """Return the position of the `count`-th highest bit that `mask` and `row` share, -1 if it is below `low`.

    Words above `top` are not read, so the caller clears the bits of ``mask[top]`` after the last slot.
    """
    left = count
    for k in range(top, (low >> 6) - 1, -1):
        both = mask[k] & row[k]
        n = popcount(both)
        if n >= left:
            for _ in range(n - left):
                both &= both - np.uint64(1)
            lowest = both & (~both + np.uint64(1))
            t = (k << 6) + popcount(lowest - np.uint64(1))
            return t if t >= low else -1
        left -= n
    return -1
