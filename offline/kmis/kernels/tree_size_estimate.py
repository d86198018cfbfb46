"""The expected time of a search: random dives estimate the size of the tree, for either side and every split."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Ints, Reals, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.kmis.kernels.candidate_vectors import fits8
from hindsched.offline.kmis.kernels.search_state import (
    LEVELS,
    MAX_SPLIT,
    ROOT_DEPTH,
    ROOT_ITEMS,
    ROOT_SPLIT,
    ROOT_STRIDE,
)
from hindsched.offline.kmis.kernels.vectors import lowest, popcount
from hindsched.offline.kmis.kernels.word_constants import ALL, WORD

__all__ = ["cost_of", "dive", "split", "visited_shares"]


@kernel("void(uint64[::1], int64, int64, int64, int64, int64, int64, float64[::1], float64[::1])", allocates=True)
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
    fits = np.empty((n + 7) >> 3, np.uint64)
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
            fit = 0
            for k in range(fits.size):
                fits[k] = fits8(words, 8 * k, stride, depth, common, n - 8 * k, ky, size)
                fit += popcount(fits[k])
            weight *= fit / (level + 1)
            sets[level + 1] += weight
            if fit == 0:
                break
            state ^= state << WORD(13)
            state ^= state >> WORD(7)
            state ^= state << WORD(17)
            target = np.int64((state >> WORD(33)) % WORD(fit))
            k = 0
            while target >= popcount(fits[k]):
                target -= popcount(fits[k])
                k += 1
            fit8 = fits[k]
            for _ in range(target):
                fit8 &= fit8 - WORD(1)
            i = 8 * k + lowest(fit8)
            size = 0
            for w in range(depth):
                common[w] &= words[i + w * stride]
                size += popcount(common[w])
            sizes[level + 1] += size
            visits[level + 1] += 1.0
    for level in range(1, levels + 1):
        sets[level] /= dives
        sizes[level] /= max(1.0, visits[level])


@kernel("void(int64, float64[:,::1])", allocates=True)
def visited_shares(kx: int, shares: Reals) -> None:
    """Fill ``shares[s, j]``: the share of all j-sets that a search split at level s visits.

    A random j-set has o items in group i, e in the early groups and the rest in later ones, multinomially. The search
    visits it for group i if o >= s (o = j while j < s) and, by the rule (cap), e <= max(0, i * (s - 1) - (kx - j)): the
    e early items come last, and a branch on the first of them needs at most ``cap`` missing items.
    """
    shares[:] = 1.0
    for s in range(2, MAX_SPLIT + 1):
        groups = (kx - 1) // (s - 1)
        sample = max(1, groups // 16)  # about 16 groups are sampled if there are many
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


@kernel("float64(float64[::1], float64[::1], float64[:,::1], int64, int64, int64, int64, int64)", allocates=True)
def cost_of(
    sets: Reals,
    sizes: Reals,
    shares: Reals,
    n: int,
    kx: int,
    depth: int,
    item_words: int,
    s: int,
) -> float:
    """Return the expected nanoseconds of a search split at level s."""
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


@kernel("float64(uint64[::1], int64[::1], int64, int64, int64, int64, float64[:,::1])", allocates=True)
def split(root: Words, numbers: Ints, kx: int, ky: int, item_words: int, dives: int, shares: Reals) -> float:
    """Choose the level at which a side is split, ``numbers[ROOT_SPLIT]``; return the expected nanoseconds.

    ``numbers`` are those of the root, ``shares`` is the table of `visited_shares` for kx.
    """
    n, depth = numbers[ROOT_ITEMS], numbers[ROOT_DEPTH]
    sets, sizes = np.empty(LEVELS + 1), np.empty(LEVELS + 1)
    dive(root, numbers[ROOT_STRIDE], depth, n, kx, ky, dives, sets, sizes)
    least = np.inf
    for s in range(1, MAX_SPLIT + 1):
        cost = cost_of(sets, sizes, shares, n, kx, depth, item_words, s)
        if cost < least:
            numbers[ROOT_SPLIT], least = s, cost
    return least
