"""Best-first search over labels.

The queue holds labels, each with the next last slot e to try. Its key is what the best schedule
through an end in e or later can be worth at least, by the free-prefetch bound composed (module
`prefetch`):

makespan
    F^(K-k-1)(e + 1), to be minimised;
iterations
    -(k + 1 + max {j : F^j(e + 1) <= N}), that is, minus the most iterations.

The head of the queue is taken, its iteration to e expanded into maximal holder sets (module
`iteration`), and every set that no label dominates (module `labels`) becomes a new label; then the
old label goes back with e + 1. So ends are tried one by one, and only while they can be part of an
optimal schedule.

**Correctness.** At all times every completed schedule is matched, as dominance matches it, by one
that passes through a living label and an end not yet tried from it; this holds at the start (root
label) and each step preserves it: an end e is left behind only after all its maximal holder
sets have become labels or are dominated, and a non-maximal set by a maximal one. So the key at
the head bounds all schedules from below at any time; when the head yields a schedule worth its
key, that schedule is optimal. Every step raises some label's e, so the search ends. Keys never
fall along a path, since F is non-decreasing and no iteration that starts in t ends before F(t).

Only schedules worth at most ``limit`` are of interest, and all of the above is said of those; for the makespan
they end before slot ``end``. The limit only falls, so what was dropped before is not missed later.

Diving. With a large `bonus` per completed iteration in the key the same search goes depth first,
and `limit` cuts what cannot beat the best schedule known. This is used to obtain good schedules of
instances too large to be solved, then also with `cut_ok`: incomplete expansions are accepted.
"""

from __future__ import annotations

from offline.coupled.native.constants import (
    BEST,
    BEYOND,
    COUNT,
    CUT,
    DOMINATED,
    EXHAUSTED,
    EXPANDED,
    FOUND,
    HEAP,
    NEED_LABELS,
    NEED_SLOTS,
    NEVER,
    PAUSE,
    PER_STEP,
    POPPED,
    SLICE,
    SOLVED,
    SPENT,
)
from offline.coupled.native.holders import expand
from offline.coupled.native.iteration import Space, prepare
from offline.coupled.native.kernels import Ints, Words, assign, kernel
from offline.coupled.native.labels import Labels, covered, pop, push
from offline.coupled.native.parameters import Problem
from offline.coupled.native.prefetch import compose, free_finish, most_from
from offline.coupled.native.state_tables import Table


@kernel
def run(
    tab: Table,
    prob: Problem,
    spc: Space,
    memo: Ints,
    gain: Ints,
    lab: Labels,
    mode: int,
    iterations: int,
    horizon: int,
    limit: int,
    bonus: int,
    steps: int,
    cut_ok: bool,
    wish: Words,
) -> int:
    """Work on the queue for about `steps` units of work; may be called again at any time.

    Parameters
    ----------
    iterations : int
        K for the objective makespan, 0 for the objective iterations.
    limit : int
        Largest key worth pursuing.
    bonus : int
        What a completed iteration lowers the key by.
    cut_ok : bool
        Accept incomplete expansions.
    """
    tally = lab.tally
    effort = spc.effort
    since = effort[SPENT]
    spare = spc.found_c.size
    end = min(horizon, limit) if iterations > 0 else horizon  # no slot from here on is of interest
    while tally[HEAP] > 0:
        if steps * PER_STEP <= effort[SPENT] - since:
            return SLICE
        if tally[COUNT] + spare >= lab.start.size:
            return NEED_LABELS
        i = lab.heap_label[0]
        done, s, e = lab.done[i], lab.start[i], lab.nxt[i]
        effort[SPENT] += 1
        if iterations == 0 and bonus == 0 and -lab.heap_key[0] <= lab.done[tally[BEST]]:
            return SOLVED
        if e == s:  # not looked at yet
            first = free_finish(tab, prob, spc, memo, s, horizon)
            if first < 0 and tally[HEAP] == 1 and iterations > 0 and bonus == 0:
                lab.heap_key[0] = max(lab.heap_key[0], memo[memo.size - 1] + 1)  # as far as seen
            if first == BEYOND:
                return NEED_SLOTS
            if first == PAUSE:
                return SLICE
            if first >= NEVER or covered(tab, prob, spc, lab, mode, done, s, lab.held[i], end, i):
                if first < NEVER:
                    lab.dead[i] = True
                    tally[DOMINATED] += 1
                pop(lab)
                continue
            e = first - 1
        if e >= horizon:
            pop(lab)
            continue
        if e >= tab.length:
            return NEED_SLOTS
        if iterations > 0:
            ahead = compose(tab, prob, spc, memo, e + 1, iterations - done - 1, horizon)
            last = done + 1 == iterations
            worth = ahead
        else:
            ahead = most_from(tab, prob, spc, memo, gain, e + 1, horizon)
            last = ahead == 0
            worth = -(done + 1 + ahead)
        if ahead == BEYOND:
            return NEED_SLOTS
        if ahead == PAUSE:
            return SLICE
        if worth > limit:
            lab.nxt[i] = e
            pop(lab)
            continue
        tally[POPPED] += 1
        key = worth - bonus * done
        if key > lab.heap_key[0]:
            lab.nxt[i] = e
            pop(lab)
            push(lab, key, i)
            continue
        prepare(tab, prob, spc, s, e, lab.held[i], end)
        effort[SPENT] += 1 + prob.p // 16
        assign(wish, spc.sure)
        for k in range(prob.words):
            wish[k] |= spc.mine[k]
        if not last and covered(tab, prob, spc, lab, mode, done + 1, e + 1, wish, end, -1):
            lab.nxt[i] = e + 1
            tally[DOMINATED] += 1
            continue
        complete = expand(tab, prob, spc, mode, s, e, end, last)
        tally[EXPANDED] += 1
        if not complete and not cut_ok:
            return CUT
        lab.nxt[i] = e + 1
        for r in range(spc.state[FOUND]):
            if not last and covered(tab, prob, spc, lab, mode, done + 1, e + 1, spc.found_held[r], end, -1):
                tally[DOMINATED] += 1
                continue
            n = tally[COUNT]
            tally[COUNT] = n + 1
            lab.done[n] = done + 1
            lab.start[n] = lab.nxt[n] = e + 1
            lab.parent[n] = i
            assign(lab.held[n], spc.found_held[r])
            assign(lab.members[n], spc.found_set[r])
            lab.c[n] = spc.found_c[r]
            lab.iw[n] = spc.found_iw[r]
            lab.dead[n] = False
            lab.older[n] = lab.newest[done + 1]
            lab.newest[done + 1] = n
            if last or (iterations == 0 and done + 1 > lab.done[tally[BEST]]):
                tally[BEST] = n
            if last:
                return SOLVED
            push(lab, worth - bonus * (done + 1), n)
    return EXHAUSTED
