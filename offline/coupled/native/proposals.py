"""Good sets for one iteration, without a search: who computes and who is sent the program, by what it is worth later.

For given first and last slots s, e of an iteration and slots c..e to compute in, the channel can send (n_com (c - s) -
m T_data) // T_prog programs. Holders of the program compute if they can; what tasks they leave is held by others, and
as many workers as the channel can serve are sent the program: those for whom it is worth most afterwards (``merit``,
see `channel_bound`), if they hold enough tasks, and otherwise with ever more weight on the tasks. The transfers are
then checked as those of the exact search are (`holders.fits`), so what is recorded can be done.
"""

from __future__ import annotations

from offline.coupled.native.constants import OWN, PER_WORK, SLACK, SPENT, TASTES, TRIES, YES
from offline.coupled.native.holders import enlist, fits, record
from offline.coupled.native.iteration import Space, all_up, insert, known, last_before_data, most_tasks, programs_sent
from offline.coupled.native.kernels import Ints, Words, add, assign, has, kernel, last_common_bit
from offline.coupled.native.parameters import Problem
from offline.coupled.native.state_tables import Table

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
    thr = last_before_data(prob, s)
    for iw in range(prob.work.size):
        top = e - prob.work[iw] + 1
        if top <= thr:
            break
        found = 0
        for c in range(top, max(thr, top - SLACK - 1), -1):
            if _propose(tab, prob, spc, mode, s, c, e, iw, 0):
                for taste in range(1, TASTES):
                    _propose(tab, prob, spc, mode, s, c, e, iw, taste + TASTES * seed)
                found += 1
                if found == PER_WORK:
                    break


@kernel
def _propose(tab: Table, prob: Problem, spc: Space, mode: int, s: int, c: int, e: int, iw: int, taste: int) -> bool:
    """Record one good set that computes from slot c on; False if there is none.

    Holders are listed in row 1 of ``cand*``, the others in row 0, where ``cand_c`` says what becomes of them.
    """
    n, num_old = _list_workers(tab, prob, spc, mode, c, e, iw)
    if not _choose(prob, spc, s, c, e, n, prob.m - spc.cand_x[1, :num_old].sum(), taste):
        return False
    size, c = _compute(tab, prob, spc, c, e, prob.work[iw], n, num_old)
    if size == 0:
        return False
    for j in range(size):
        enlist(tab, prob, spc, j, spc.chosen[j], c, iw, True)
    num = size if mode == OWN else _stand_by(tab, prob, spc, c, iw, n, size)
    return _settle(tab, prob, spc, s, c, iw, size, num)


@kernel
def _list_workers(tab: Table, prob: Problem, spc: Space, mode: int, c: int, e: int, iw: int) -> tuple[int, int]:
    """List the workers that could be sent the program, and the holders, most tasks first; return how many they are."""
    cnt = tab.cnt
    spc.effort[SPENT] += 1 + prob.p // 32
    n = num_old = 0
    for q in range(prob.p):
        if spc.lo[q] > c:
            continue
        x = 0
        if cnt[e + 1, q] - cnt[c, q] >= prob.work[iw] and cnt[e + 1, q] > cnt[e, q]:
            x = most_tasks(cnt, spc.base, spc.lo, q, c, prob.caps[iw, q], prob.t_data)
        if spc.base[q] == cnt[spc.lo[q], q]:
            if x > 0:
                insert(spc.cand[1], spc.cand_c[1], spc.cand_x[1], num_old, q, c, x)
                num_old += 1
        elif x > 0 or (mode != OWN and spc.ready[q] <= c and has(spc.mine, q)):
            spc.cand[0, n] = q
            spc.cand_x[0, n] = x
            n += 1
    return n, num_old


@kernel
def _choose(prob: Problem, spc: Space, s: int, c: int, e: int, n: int, missing: int, taste: int) -> bool:
    """Choose who is sent the program, so that `missing` tasks can be held; False if too few can."""
    fresh, tasks, chosen = spc.cand[0], spc.cand_x[0], spc.cand_c[0]
    programs = n
    if prob.t_prog > 0:
        programs = max(0, min(n, programs_sent(prob, s, c)))
    if taste == 0:  # the most tasks that all together can hold
        spc.worth[:n] = 0.0
        if _pick(spc, tasks, n, programs, 1.0, chosen) < missing:
            return False
    for j in range(n):
        spc.worth[j] = _worth(spc, fresh[j], e + 1, taste) if has(spc.mine, fresh[j]) else 0.0
    weight = 0.0
    while _pick(spc, tasks, n, programs, weight, chosen) < missing:
        if weight > 20.0:
            return False
        weight = 0.02 if weight == 0.0 else 2.0 * weight
    return True


@kernel
def _compute(tab: Table, prob: Problem, spc: Space, c: int, e: int, w: int, n: int, num_old: int) -> tuple[int, int]:
    """Write to ``chosen`` who computes: holders first, those who can do most first.

    Returns how many, 0 if they do not hold m tasks, and the first slot of the last w that they have in common.
    """
    tasks, chosen = spc.cand_x[0], spc.cand_c[0]
    common = spc.common[0]
    all_up(common, c, e)
    most = min(prob.m, spc.chosen.size - 1)
    size = 0
    start = c
    left = prob.m
    for j in range(num_old):
        if left <= 0 or size >= most:
            break
        t = _join(tab, common, spc.cand[1, j], c, e, w)
        if t >= 0:
            spc.chosen[size] = spc.cand[1, j]
            size += 1
            left -= spc.cand_x[1, j]
            start = t
    while left > 0 and size < most:
        best = -1
        for j in range(n):
            if chosen[j] == _TAKEN and tasks[j] > 0 and (best < 0 or tasks[j] > tasks[best]):
                best = j
        if best < 0:
            break
        chosen[best] = _STAND_BY
        t = _join(tab, common, spc.cand[0, best], c, e, w)
        if t >= 0:
            spc.chosen[size] = spc.cand[0, best]
            size += 1
            left -= tasks[best]
            start = t
            chosen[best] = _DONE
    return (0, c) if left > 0 else (size, start)


@kernel
def _stand_by(tab: Table, prob: Problem, spc: Space, c: int, iw: int, n: int, size: int) -> int:
    """List the others that are sent the program, in order of worth; return how many are listed by now."""
    fresh, chosen = spc.cand[0], spc.cand_c[0]
    num = size
    while True:
        best = -1
        most = 0.0
        for j in range(n):
            if (chosen[j] == _TAKEN or chosen[j] == _STAND_BY) and spc.worth[j] > most and spc.ready[fresh[j]] <= c:
                best, most = j, spc.worth[j]
        if best < 0:
            return num
        chosen[best] = _DONE
        enlist(tab, prob, spc, num, fresh[best], c, iw, False)
        num += 1


@kernel
def _settle(tab: Table, prob: Problem, spc: Space, s: int, c: int, iw: int, size: int, num: int) -> bool:
    """Record the set if the channel can serve it, without some of those of least worth if it cannot serve all."""
    for _ in range(TRIES):
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
