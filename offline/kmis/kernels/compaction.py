"""Compaction: candidates are rewritten over the few bits that remain, in fewer words.

The words come from the other side's matrix, by transpositions of 64 x 64 bits. At the same time (degree) drops bits and
the candidates are sorted by rising size, which cost as much as reading every bit.
"""

from __future__ import annotations

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.kmis.kernels.transpose import transpose64
from hindsched.offline.kmis.kernels.word_constants import NONE

__all__ = ["compact", "sort"]


@kernel(
    "void(uint64[:,::1], uint64[::1], int64[::1], int64, int64, int64, uint64[::1], int64,"
    " int64, uint64[::1], uint64[::1])",
    allocates=True,
)
def compact(
    bits: Words,
    alive: Words,
    names: Ints,
    names_at: int,
    size: int,
    ids_at: int,
    words: Words,
    count: int,
    to: int,
    scratch: Words,
    block: Words,
) -> None:
    """Write the candidates' words over the ``size`` bits named from ``names_at`` on.

    ``bits[k, b]`` is word k of the set of items that hold bit b; ``alive`` marks the candidates
    among the items; their ids are in ``words[ids_at:]``.  The words are written to
    ``words[to:]`` with stride ``(count + 23) & ~7``, and the ids after the last of them.
    """
    stride = (count + 23) & ~7
    done = 0
    while done < size:
        high = min(64, size - done)
        for i in range(high, 64):
            block[i] = NONE
        for k in range(alive.size):
            if alive[k] != NONE:
                row = bits[k]
                for i in range(high):
                    block[i] = row[names[names_at + done + i]]
                transpose64(block, scratch, 64 * k)
        for q in range(count):
            words[to + q] = scratch[words[ids_at + q]]
        to += stride
        done += 64
    for q in range(count):
        words[to + q] = words[ids_at + q]


@kernel("void(uint64[::1], int64, int64, int64, int64, int64[::1], int64[::1], uint64[::1])", allocates=True)
def sort(
    words: Words,
    at: int,
    count: int,
    low: int,
    high: int,
    weight: Ints,
    histogram: Ints,
    scratch: Words,
) -> None:
    """Sort ids by rising weight (low <= weight < high), stably and to 1/64 of the range."""
    shift = 0
    while (high - low) >> shift >= 64:
        shift += 1
    histogram[:] = 0
    for i in range(count):
        histogram[(weight[words[at + i]] - low) >> shift] += 1
    before = 0
    for x in range(64):
        here = histogram[x]
        histogram[x] = before
        before += here
    for i in range(count):
        x = (weight[words[at + i]] - low) >> shift
        scratch[histogram[x]] = words[at + i]
        histogram[x] += 1
    for i in range(count):
        words[at + i] = scratch[i]
