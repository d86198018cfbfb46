"""How long a search will take: random dives estimate the tree, for either side and every split."""

from __future__ import annotations

import numpy as np

from offline.coupled.common_slots.core.kernels.blocks import count8
from offline.coupled.common_slots.core.kernels.compiling import ALL, WORD, Reals, Table, Words, kernel
from offline.coupled.common_slots.core.kernels.layout import (
    LEVELS,
    MOST_STEPS,
)

__all__ = ["cost_of", "dive", "visited"]


@kernel("void(uint64[::1], int64, int64, int64, int64, int64, int64, float64[::1], float64[::1])")
def dive(
    words: Words,
    stride: int,
    depth: int,
    n: int,
    kx: int,
    ky: int,
    dives: int,
    sets: Reals,
    sizes: Reals,
) -> None:
    """Estimate how many j-subsets of the items share at least ky bits (Knuth 1975).

    ``sets[j]`` becomes the estimate for j, ``sizes[j]`` the mean number of bits on a dive.
    """
    common = np.empty(depth, np.uint64)
    counts = np.empty(n + 16, np.int64)
    visits = np.zeros(LEVELS)
    sets[:] = 0.0
    sizes[:] = 0.0
    state = WORD(0x9E3779B97F4A7C15)
    levels = min(kx, LEVELS - 1)
    for _ in range(dives):
        common[:] = ALL
        weight = 1.0
        size = 1 << 60
        for level in range(levels):
            i = 0
            fit = 0
            while i < n:
                count8(words, i, stride, depth, common, n - i, counts, i)
                i += 8
            for i in range(n):
                fit += 1 if ky <= counts[i] < size else 0
            weight *= fit / (level + 1)
            sets[level + 1] += weight
            if fit == 0:
                break
            state ^= state << WORD(13)
            state ^= state >> WORD(7)
            state ^= state << WORD(17)
            target = np.int64((state >> WORD(33)) % WORD(fit))
            for i in range(n):
                if ky <= counts[i] < size:
                    if target == 0:
                        size = counts[i]
                        for w in range(depth):
                            common[w] &= words[i + w * stride]
                        break
                    target -= 1
            sizes[level + 1] += size
            visits[level + 1] += 1.0
    for level in range(1, levels + 1):
        sets[level] /= dives
        sizes[level] /= max(1.0, visits[level])


@kernel("void(int64, float64[:,::1])")
def visited(kx: int, shares: Table) -> None:
    """Fill ``shares[s, j]``: the part of all j-sets that a search split at level s visits.

    A j-set drawn at random has o items in group i, e in the early groups and the rest in later
    ones, multinomially.  It is visited for group i if o >= s (o = j, as long as j < s) and, by the
    rule (cap), e <= max(0, i * (s - 1) - (kx - j)): the e early items come last, and branching on
    the first of them needs at most ``cap`` items to be missing.
    """
    shares[:] = 1.0
    for s in range(2, MOST_STEPS + 1):
        groups = (kx - 1) // (s - 1)
        sample = max(1, groups // 16)  # groups looked at: about 16, if there are many
        for j in range(1, min(kx + 1, LEVELS + 1)):
            total = 0.0
            seen = 0
            for i in range(sample // 2, groups, sample):
                seen += 1
                most = max(0, i * (s - 1) - (kx - j))
                own, before = 1.0 / groups, i / groups
                after = max(0.0, 1.0 - own - before)
                choose_own = 1.0  # C(j, o) * own^o
                for o in range(j + 1):
                    if o > 0:
                        choose_own *= own * (j - o + 1) / o
                    if o < min(s, j):
                        continue
                    term = 1.0  # C(j - o, e) * before^e
                    part = 0.0
                    for e in range(min(most, j - o) + 1):
                        if e > 0:
                            term *= before * (j - o - e + 1) / e
                        part += term * after ** (j - o - e)
                    total += choose_own * part
            shares[s, j] = total * groups / max(1, seen)


@kernel("float64(float64[::1], float64[::1], float64[:,::1], int64, int64, int64, int64, int64)")
def cost_of(
    sets: Reals,
    sizes: Reals,
    shares: Table,
    n: int,
    kx: int,
    depth: int,
    item_words: int,
    s: int,
) -> float:
    """Nanoseconds that a search split at level s is expected to take."""
    groups = (kx - 1) // (s - 1) if s > 1 else 1
    if s > 1 and (groups < 2 or n < groups * s):
        return np.inf
    total = 0.0
    words_before = float(depth)
    fit_before = float(n)
    for j in range(1, min(kx, LEVELS)):
        nodes = sets[j] * shares[s, j]
        later = 0.5 if s == 1 else 0.7  # part of the fitting candidates after the one branched on
        blocks = 1.0 + later * fit_before / 8.0
        words_now = max(1.0, np.ceil(sizes[j] / 64.0))
        time_here = 14.0 + 0.9 * blocks * words_before
        if words_before > 1.0 and j < kx - 2:
            time_here += 60.0 + 1.5 * blocks * words_before
            if 2.0 * words_now <= words_before:
                time_here += 100.0 + words_now * item_words * 75.0
        total += nodes * time_here
        if sets[j] <= 0.0:
            break
        fit_before = sets[j + 1] * (j + 1) / sets[j]
        words_before = words_now if 2.0 * words_now <= words_before else words_before
    return total * (1.0 + (kx / 12.0) ** 2)  # the more there is to choose, the longer the tail
