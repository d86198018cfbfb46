"""Good sets for one iteration, without a search: who computes and who is sent the program, by what it is worth later.

For given first and last slots s, e of an iteration and slots c..e to compute in, the channel can send
(n_com (c - s) - m T_data) // T_prog programs. Holders of the program compute if they can; what tasks they leave is held
by others, and as many workers as the channel can serve are sent the program: those for whom it is worth most
afterwards (``merit``, see `rent`), if they hold enough tasks, and otherwise with ever more weight on the tasks. The
transfers are then checked as those of the exact search are (`holders.fits`), so what is recorded can be done.
"""

from __future__ import annotations

import numpy as np

from offline.coupled.native.holders import enlist, fits, record
from offline.coupled.native.iteration import OWN, Space, known, most_tasks
from offline.coupled.native.kernels import SPENT, Ints, Words, add, assign, has, kernel, last_common_bit
from offline.coupled.native.problem import Problem
from offline.coupled.native.transfer import YES
from offline.coupled.native.windows import Table

_SLACK = 6  # slots of RECLAIMED members between c and e
_PER_WORK = 2  # sets for each W
_TASTES = 4  # sets for each slot to compute from: by worth, and by worth times a random number
_TRIES = 3  # transfers checked for a set, with ever fewer on stand-by

# What becomes of a worker without the program: left out; chosen; chosen, but not to compute; entered into the list.
_LEFT, _TAKEN, _STAND_BY, _DONE = range(4)


@kernel
def _worth(spc: Space, q: int, t: int, taste: int) -> float:
    """Return what the program is worth to worker q from slot t on, in programs, to a taste; 0 is plain."""
    use = spc.merit[t, q] if t < spc.merit.shape[0] else 0.5
    worth = min(1.0, use) + 0.01 * use
    if taste > 0:
        mix = (q * 7919 + taste * 104729) * 2654435761 % 4294967296
        worth = (worth + 0.02) * (mix >> 16) / 65536.0
    return worth


@kernel
def _pick(spc: Space, tasks: Ints, n: int, count: int, weight: float, chosen: Ints) -> int:
    """Choose `count` of the first n workers, of most ``worth`` and `weight` times tasks; return the tasks of these."""
    score, top = spc.score, spc.top
    spc.effort[SPENT] += 1 + n // 16
    size = 0
    for j in range(n):
        chosen[j] = _LEFT
        v = weight * tasks[j] + spc.worth[j]
        if v <= 0.0 or (size == count and (count == 0 or v <= score[size - 1])):
            continue
        size = min(size + 1, count)
        k = size - 1
        while k > 0 and score[k - 1] < v:
            score[k] = score[k - 1]
            top[k] = top[k - 1]
            k -= 1
        score[k] = v
        top[k] = j
    total = 0
    for k in range(size):
        chosen[top[k]] = _TAKEN
        total += tasks[top[k]]
    return total


@kernel
def _join(tab: Table, common: Words, q: int, c: int, e: int, w: int) -> int:
    """Let worker q join those UP in the slots ``common``, if w slots from c on are left; return the first, or -1."""
    t = last_common_bit(common, tab.up[q], e >> 6, c, w)
    if t >= 0:
        for k in range(c >> 6, (e >> 6) + 1):
            common[k] &= tab.up[q, k]
    return int(t)


@kernel
def propose(tab: Table, prob: Problem, spc: Space, mode: int, s: int, e: int, seed: int) -> None:
    """Record good sets for an iteration in slots s..e, beside those that `expand` found; other ones for another `seed`.

    For every W, all from the last c on with which there is one. O(p F) for each, F being the programs that can be sent.
    """
    thr = s - 1 + (prob.m * prob.t_data + prob.n_com - 1) // prob.n_com
    for iw in range(prob.work.size):
        top = e - prob.work[iw] + 1
        if top <= thr:
            break
        found = 0
        for c in range(top, max(thr, top - _SLACK - 1), -1):
            if _propose(tab, prob, spc, mode, s, c, e, iw, 0):
                for taste in range(1, _TASTES):
                    _propose(tab, prob, spc, mode, s, c, e, iw, taste + _TASTES * seed)
                found += 1
                if found == _PER_WORK:
                    break


@kernel
def _propose(tab: Table, prob: Problem, spc: Space, mode: int, s: int, c: int, e: int, iw: int, taste: int) -> bool:
    """Record one good set that computes from slot c on; False if there is none."""
    cnt, m = tab.cnt, prob.m
    w = prob.work[iw]
    fresh, tasks, chosen = spc.cand[0], spc.cand_x[0], spc.cand_c[0]
    old, old_x = spc.cand[1], spc.cand_x[1]
    spc.effort[SPENT] += 1 + prob.p // 32
    n = num_old = sum_old = 0
    for q in range(prob.p):
        if spc.lo[q] > c:
            continue
        x = 0
        if cnt[e + 1, q] - cnt[c, q] >= w and cnt[e + 1, q] > cnt[e, q]:
            x = most_tasks(cnt, spc.base, spc.lo, q, c, prob.caps[iw, q], prob.t_data)
        if spc.base[q] == cnt[spc.lo[q], q]:
            if x > 0:
                k = num_old
                while k > 0 and old_x[k - 1] < x:
                    old[k] = old[k - 1]
                    old_x[k] = old_x[k - 1]
                    k -= 1
                old[k] = q
                old_x[k] = x
                num_old += 1
                sum_old += x
        elif x > 0 or (mode != OWN and spc.ready[q] <= c and has(spc.mine, q)):
            fresh[n] = q
            tasks[n] = x
            n += 1
    programs = n
    if prob.t_prog > 0:
        programs = min(n, (prob.n_com * (c - s) - m * prob.t_data) // prob.t_prog)
    programs = max(0, programs)
    if taste == 0:  # the most tasks that all together can hold
        spc.worth[:n] = 0.0
        if _pick(spc, tasks, n, programs, 1.0, chosen) < m - sum_old:
            return False
    for j in range(n):
        spc.worth[j] = _worth(spc, fresh[j], e + 1, taste) if has(spc.mine, fresh[j]) else 0.0
    weight = 0.0
    while True:
        total = _pick(spc, tasks, n, programs, weight, chosen)
        if total + sum_old >= m:
            break
        if weight > 20.0:
            return False
        weight = 0.02 if weight == 0.0 else 2.0 * weight
    # Who computes: holders first, those who can do most first.
    common = spc.common[0]
    last = e >> 6
    for k in range(c >> 6, last):
        common[k] = ~np.uint64(0)
    common[last] = ~np.uint64(0) >> np.uint64(63 - (e & 63))
    start = c
    size = 0
    left = m
    deep = spc.chosen.size
    for j in range(num_old):
        if left <= 0 or size >= m or size + 1 >= deep:
            break
        t = _join(tab, common, old[j], c, e, w)
        if t >= 0:
            spc.chosen[size] = old[j]
            size += 1
            left -= old_x[j]
            start = t
    while left > 0 and size < m and size + 1 < deep:
        best = -1
        for j in range(n):
            if chosen[j] == _TAKEN and tasks[j] > 0 and (best < 0 or tasks[j] > tasks[best]):
                best = j
        if best < 0:
            break
        chosen[best] = _STAND_BY
        t = _join(tab, common, fresh[best], c, e, w)
        if t >= 0:
            spc.chosen[size] = fresh[best]
            size += 1
            left -= tasks[best]
            start = t
            chosen[best] = _DONE
    if left > 0:
        return False
    c = start
    for j in range(size):
        enlist(tab, prob, spc, j, spc.chosen[j], c, iw, True)
    num = size
    if mode != OWN:
        while True:  # in order of worth, so that the least is dropped first
            best = -1
            most = 0.0
            for j in range(n):
                if (
                    (chosen[j] == _TAKEN or chosen[j] == _STAND_BY)
                    and has(spc.mine, fresh[j])
                    and spc.ready[fresh[j]] <= c
                ):
                    v = _worth(spc, fresh[j], e + 1, taste)
                    if v > most:
                        best, most = j, v
            if best < 0:
                break
            chosen[best] = _DONE
            enlist(tab, prob, spc, num, fresh[best], c, iw, False)
            num += 1
    for _ in range(_TRIES):
        assign(spc.wish, spc.sure)
        for j in range(size):
            if has(spc.mine, spc.chosen[j]):
                add(spc.wish, spc.chosen[j])
        for j in range(size, num):
            add(spc.wish, spc.part[j])
        if known(spc, spc.wish):
            return True
        if fits(tab, prob, spc, s, c, size, num) == YES:
            record(spc, spc.wish, size, c, iw)
            return True
        if num == size:
            return False
        num -= 1
    return False
