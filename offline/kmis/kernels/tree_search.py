"""The search over one side: group by group, depth first, with an explicit stack of nodes.

It is one long kernel with many arguments, because numba counts references at every call with arrays, which costs as
much as a small node.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.kmis.kernels.candidate_vectors import count8, pack8, pick8
from hindsched.offline.kmis.kernels.compaction import compact, sort
from hindsched.offline.kmis.kernels.search_state import (
    ANY,
    AT,
    BITS_AT,
    CAP,
    CHOSEN,
    COUNT,
    DEPTH,
    DONE,
    EARLY,
    FOUND,
    FULL,
    GROUP,
    HIT,
    KX,
    KY,
    MORE_BITS,
    MORE_ITEMS,
    NEED,
    NEXT,
    OWN,
    PAUSED,
    SIZE,
    STATUS,
    STEPS,
    STRIDE,
    TOP,
)
from hindsched.offline.kmis.kernels.solutions import count_holders, write_bits
from hindsched.offline.kmis.kernels.vectors import peak, popcount, sieve8, tally, zero8
from hindsched.offline.kmis.kernels.word_constants import ALL, NONE, WORD

__all__ = ["search"]


@kernel(
    "void(uint64[::1], int64, int64, int64, uint64[:,::1], int64, int64, int64, int64,"
    " int64[::1], int64[:,::1], uint64[::1], int64[::1], int64[::1], int64)",
    allocates=True,
)
def search(
    root: Words,
    root_stride: int,
    root_depth: int,
    root_size: int,
    bits: Words,
    n: int,
    s: int,
    groups: int,
    purpose: int,
    state: Ints,
    frames: Ints,
    words: Words,
    names: Ints,
    solution: Ints,
    budget: int,
) -> None:
    """Run the search for about ``budget`` steps (a step handles eight words), or to its end.

    Parameters
    ----------
    root, root_stride, root_depth, root_size
        Words of the n items in branching order, ids after the last word; ``root_size`` names
        of bits stand at the start of ``names``.  Group g is root[n * g // groups:][:...].
    bits
        The whole matrix from the other side, as for `squeeze`.
    s, groups
        The split: each solution has s items in one group.
    purpose
        ``MORE_BITS``: raise ky at each solution; ``MORE_ITEMS``: raise kx; ``ANY``: stop.
    state, frames, words, names
        All that must survive between two slices.
    solution
        The bits of the latest solution, ``state[FOUND]`` of them.
    """
    top, kx, ky = state[TOP], state[KX], state[KY]
    group, cap, found = state[GROUP], state[CAP], state[FOUND]
    item_words = bits.shape[0]
    counts = np.empty(n + 32, np.int64)
    pair_counts = np.empty(8, np.int64)
    common = np.empty(root_depth + 1, np.uint64)
    pair_common = np.empty(root_depth + 1, np.uint64)
    ones = np.full(1, ALL, np.uint64)
    alive = np.empty(item_words, np.uint64)
    scratch = np.empty(64 * item_words + n, np.uint64)
    block = np.empty(64, np.uint64)
    histogram = np.empty(64, np.int64)
    weight = np.empty(64 * item_words, np.int64)
    steps = 0
    status = DONE
    hit = False
    while True:
        if hit:
            # A solution with `found` bits has just been written.
            hit = False
            if purpose == MORE_BITS:
                ky = found + 1
            elif purpose == MORE_ITEMS:
                kx = count_holders(bits, solution, found) + 1
            else:
                status = HIT
                break
        if steps > budget:
            status = PAUSED
            break
        if top < 0:
            # The next group: its items, later groups, early groups.
            if group >= groups:
                status = DONE
                break
            begin, end = n * group // groups, n * (group + 1) // groups
            for w in range(root_depth + 1):
                source, target = w * root_stride, w * root_stride
                for i in range(begin, n):
                    words[target + i - begin] = root[source + i]
                for i in range(begin):
                    words[target + n - begin + i] = root[source + i]
            if root_depth == 1:
                zero8(words, n)
            frame = frames[0]
            frame[AT] = 0
            frame[COUNT] = n
            frame[DEPTH] = root_depth
            frame[STRIDE] = root_stride
            frame[BITS_AT] = 0
            frame[SIZE] = root_size
            frame[CHOSEN] = 0
            frame[NEXT] = 0
            frame[OWN] = end - begin
            frame[EARLY] = n - begin
            frame[NEED] = s
            cap = group * (s - 1)
            group += 1
            top = 0
            continue

        frame = frames[top]
        count, a = frame[COUNT], frame[NEXT]
        own, early, need = frame[OWN], frame[EARLY], frame[NEED]
        r = kx - frame[CHOSEN]
        last = count - r + 1  # branch on candidates before this one
        if need > 0:
            last = min(last, own - need + 1)
        elif r > cap:
            last = min(last, early)
        if a >= last or (a < early and early - a + min(cap, count - early) < r):
            top -= 1
            continue
        at, depth, names_at = frame[AT], frame[DEPTH], frame[BITS_AT]
        if top + 1 >= frames.shape[0] or at + (2 * depth + 4) * (count + 48) > words.size:
            status = FULL
            break

        # ---- candidates of one word ----
        if depth == 1:
            to = at + count + 8
            first = a
            promising = False
            size = 0
            mask = NONE
            if r == 2:
                while a < last:
                    mask = words[at + a]
                    a += 1
                    if a > 1 and words[at + a - 2] == mask and a - 1 != early:  # (twin)
                        continue
                    size = peak(words, at + a, (count - a + 7) >> 3, mask)
                    if size >= ky:
                        promising = True
                        break
                steps += (a - first) * (1 + ((count - a) >> 3))
                # If more items are wanted, the branch is entered again, for larger sets.
                frame[NEXT] = a - 1 if promising and purpose == MORE_ITEMS else a
                if promising:
                    for i in range(a, count):
                        if popcount(words[at + i] & mask) == size:
                            common[0] = mask
                            found = write_bits(words, at + i, 1, 1, common, names, names_at, solution)
                            break
                    hit = True
                continue
            while a < last:
                mask = words[at + a]
                a += 1
                if a > 1 and words[at + a - 2] == mask and a - 1 != early:  # (twin)
                    continue
                size = popcount(mask)
                if size >= ky:
                    fit = tally(words, at + a, (count - a + 7) >> 3, mask, ky)
                    if fit >= r - 1:
                        promising = True
                        break
            steps += (a - first) * (1 + ((count - a) >> 3))
            frame[NEXT] = a
            if not promising:
                continue
            i = a
            kept = 0
            full = 0
            kept_own = 0
            if need > 1:
                while i < own:
                    both = sieve8(words, at + i, to + kept, mask, ky, size, own - i)
                    kept += both & 255
                    full += both >> 8
                    i += 8
                kept_own = kept
                i = max(own, a)
            need -= 1 + full
            while i < early:
                both = sieve8(words, at + i, to + kept, mask, ky, size, early - i)
                kept += both & 255
                full += both >> 8
                i += 8
            kept_open = kept
            i = max(early, a)
            while i < count:
                both = sieve8(words, at + i, to + kept, mask, ky, size, count - i)
                kept += both & 255
                full += both >> 8
                i += 8
            chosen = frame[CHOSEN] + 1 + full
            if chosen >= kx:
                common[0] = mask
                found = write_bits(words, at + a - 1, 1, 1, common, names, names_at, solution)
                hit = True
                if purpose != MORE_ITEMS:
                    continue
                kx = max(kx, chosen + 1)
            r = kx - chosen
            need = min(max(need, 0), r)
            if kept < r or kept_own < need or kept_open + min(cap, kept - kept_open) < r:
                continue
            if r == 1:
                # Any candidate kept completes a solution: take one with the most bits.
                size = 0
                for i in range(kept):
                    size = max(size, popcount(words[to + i]))
                for i in range(kept):
                    if popcount(words[to + i]) == size:
                        common[0] = mask
                        found = write_bits(words, to + i, 1, 1, common, names, names_at, solution)
                        break
                hit = True
                if purpose != MORE_ITEMS:
                    continue
                if kept < 2:
                    continue
            zero8(words, to + kept)
            top += 1
            child = frames[top]
            child[AT] = to
            child[COUNT] = kept
            child[DEPTH] = 1
            child[STRIDE] = 0
            child[BITS_AT] = names_at
            child[SIZE] = frame[SIZE]
            child[CHOSEN] = chosen
            child[NEXT] = 0
            child[OWN] = kept_own
            child[EARLY] = kept_open
            child[NEED] = need
            continue

        # ---- candidates of several words ----
        stride = frame[STRIDE]
        names_to = names_at + frame[SIZE] + 8
        if names_to + frame[SIZE] + 72 > names.size:
            status = FULL
            break
        frame[NEXT] = a + 1
        size = 0
        for w in range(depth):
            common[w] = words[at + w * stride + a]
            size += popcount(common[w])
        if size < ky:
            continue
        if 0 < a != early and words[at + a - 1] == common[0]:  # (twin)
            w = 1
            while w < depth and words[at + w * stride + a - 1] == common[w]:
                w += 1
            if w == depth:
                continue
        common[depth] = ALL
        a += 1
        if r == 1:
            found = write_bits(words, at + a - 1, stride, depth, common, names, names_at, solution)
            hit = True
            if purpose == MORE_ITEMS:
                frame[NEXT] = a - 1
            continue
        steps += 4 + depth * ((count - a) >> 3)
        most = 0
        i = a
        while i < count:
            most = max(most, count8(words, at + i, stride, depth, common, count - i, counts, i))
            i += 8
        if most < ky:
            continue
        if r == 2:
            for i in range(a, count):
                if counts[i] == most:
                    found = write_bits(words, at + i, stride, depth, common, names, names_at, solution)
                    break
            hit = True
            if purpose == MORE_ITEMS:
                frame[NEXT] = a - 1
            continue
        if r == 3 and purpose != MORE_ITEMS and count - a <= 256:
            # Compare the pairs directly: cheaper than to build the node.
            steps += depth * (((count - a) * (count - a)) >> 4)
            for x in range(a, count - 1):
                if counts[x] >= ky and not hit:
                    for w in range(depth):
                        pair_common[w] = common[w] & words[at + w * stride + x]
                    i = x + 1
                    while i < count:
                        most = count8(words, at + i, stride, depth, pair_common, count - i, pair_counts, 0)
                        if most >= ky:
                            j = 0
                            while pair_counts[j] != most:
                                j += 1
                            found = write_bits(words, at + i + j, stride, depth, pair_common, names, names_at, solution)
                            if purpose == ANY:
                                hit = True
                                break
                            ky = most + 1
                        i += 8
            continue
        depth_now = (size + 63) >> 6
        is_compacted = 2 * depth_now <= depth
        if is_compacted and depth <= 16:  # worth its price?
            left = count - a
            saved = (depth - depth_now) * left * (2 + left // 16)
            if r > 4:
                saved *= 1 + left // 4
            is_compacted = saved > 90 + 60 * depth_now * item_words
        to = at + (depth + 1) * stride
        to_stride = (count - a + 23) & ~7
        source, source_depth, source_common = at, depth + 1, common
        if is_compacted:  # only the ids are needed
            source, source_depth, source_common = at + depth * stride, 1, ones
        kept = 0
        full = 0
        kept_own = 0
        i = a
        if need > 1:
            while i < own:
                both = pack8(
                    words, source + i, stride, source_depth, source_common, own - i,
                    counts, i, ky, size, to + kept, to_stride,
                )  # fmt: skip
                kept += both & 255
                full += both >> 8
                i += 8
            kept_own = kept
            i = max(own, a)
        need -= 1 + full
        while i < early:
            both = pack8(
                words, source + i, stride, source_depth, source_common, early - i,
                counts, i, ky, size, to + kept, to_stride,
            )  # fmt: skip
            kept += both & 255
            full += both >> 8
            i += 8
        kept_open = kept
        i = max(early, a)
        while i < count:
            both = pack8(
                words, source + i, stride, source_depth, source_common, count - i,
                counts, i, ky, size, to + kept, to_stride,
            )  # fmt: skip
            kept += both & 255
            full += both >> 8
            i += 8
        chosen = frame[CHOSEN] + 1 + full
        if chosen >= kx:
            found = write_bits(words, at + a - 1, stride, depth, common, names, names_at, solution)
            hit = True
            if purpose != MORE_ITEMS:
                continue
            kx = max(kx, chosen + 1)
        r = kx - chosen
        need = min(max(need, 0), r)
        if kept < r or kept_own < need or kept_open + min(cap, kept - kept_open) < r:
            continue
        child_names, child_size = names_at, frame[SIZE]
        child_at, child_depth, child_stride = to, depth, to_stride
        if is_compacted:
            child_names = names_to
            child_size = 0
            for w in range(depth):
                word = common[w]
                i = names_at + 64 * w
                while word != NONE:
                    child_size += pick8(names, i, word, names_to + child_size)
                    word >>= WORD(8)
                    i += 8
            alive[:] = NONE
            for i in range(kept):
                x = words[to + i]
                alive[x >> WORD(6)] |= WORD(1) << (x & WORD(63))
            total = 0
            for i in range(a, count):
                weight[words[at + depth * stride + i]] = counts[i]
                total += counts[i] if counts[i] >= ky else 0
            if total < 3 * r * child_size:
                # Few candidates per bit: drop bits held by fewer than r candidates.
                steps += (child_size * item_words) >> 2
                enough = 0
                for i in range(child_size):
                    x = names[names_to + i]
                    degree = 0
                    for k in range(item_words):
                        degree += popcount(bits[k, x] & alive[k])
                    names[names_to + enough] = x
                    enough += 1 if degree >= r else 0
                child_size = enough
                if child_size < ky:
                    continue
            if need > 0:
                sort(words, to, kept_own, ky, size, weight, histogram, scratch)
            x = kept_own if need > 0 else 0
            sort(words, to + x, kept_open - x, ky, size, weight, histogram, scratch)
            sort(words, to + kept_open, kept - kept_open, ky, size, weight, histogram, scratch)
            child_at = to + to_stride
            child_depth = (child_size + 63) >> 6
            child_stride = (kept + 23) & ~7
            steps += child_depth * item_words * 20
            compact(bits, alive, names, names_to, child_size, to, words, kept, child_at, scratch, block)
            if child_depth == 1:
                zero8(words, child_at + kept)
        top += 1
        child = frames[top]
        child[AT] = child_at
        child[COUNT] = kept
        child[DEPTH] = child_depth
        child[STRIDE] = child_stride
        child[BITS_AT] = child_names
        child[SIZE] = child_size
        child[CHOSEN] = chosen
        child[NEXT] = 0
        child[OWN] = kept_own
        child[EARLY] = kept_open
        child[NEED] = need

    state[TOP], state[KX], state[KY] = top, kx, ky
    state[GROUP], state[CAP], state[FOUND] = group, cap, found
    state[STATUS] = status
    state[STEPS] += steps
