"""Good sets for one iteration, without a search: who computes and who is sent the program, by what it is worth later.

For given first and last slots s, e of an iteration and slots c..e to compute in, the channel can send (n_com (c - s) -
m T_data) // T_prog programs. Holders of the program compute if they can; what tasks they leave is held by others, and
as many workers as the channel can serve are sent the program: those for whom it is worth most afterwards (``merit``,
see `channel_bound`), if they hold enough tasks, and otherwise with ever more weight on the tasks. The transfers are
then checked as those of the exact search are (`holders.can_serve`), so what is recorded can be done.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Words
from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.search.bitsets import add, assign, has, last_common_bit
from hindsched.offline.coupled.search.constants import MOST_WORKS, OWN, PER_WORK, SLACK, SPENT, TASTES, TRIES, YES
from hindsched.offline.coupled.search.holders import can_serve, enlist, record
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.normal_form import last_before_data, most_tasks, needs_program, programs_sent
from hindsched.offline.coupled.search.scratch_memory import Proposal, Scratch
from hindsched.offline.coupled.search.state_tables import Table
from hindsched.offline.coupled.search.teams import all_up, insert, is_known

# What becomes of a worker without the program (``Proposal.fate``): it is left out; sent the program; sent it, but does
# not compute; has been entered among the participants.
_LEFT_OUT, _SENT, _IDLE, _ENTERED = range(4)


@kernel
def propose(table: Table, problem: Problem, scratch: Scratch, mode: int, s: int, e: int, seed: int) -> None:
    """Record good sets for an iteration in slots s..e, beside those that `expand` found; other ones for another `seed`.

    For every W, or where many are possible for some that are spread evenly, all from the last c on with which there is
    one. O(p F) for each, F being the programs that can be sent.
    """
    thr = last_before_data(problem, s)
    possible = int(np.searchsorted(problem.work, e + 1 - thr))
    stride = max(1, -(-possible // MOST_WORKS))
    for iw in range((e + seed) % stride, possible, stride):
        top = e - problem.work[iw] + 1
        found = 0
        for c in range(top, max(thr, top - SLACK - 1), -1):
            if _propose(table, problem, scratch, mode, s, c, e, iw, 0):
                for taste in range(1, TASTES):
                    _propose(table, problem, scratch, mode, s, c, e, iw, taste + TASTES * seed)
                found += 1
                if found == PER_WORK:
                    break


@kernel
def _propose(
    table: Table, problem: Problem, scratch: Scratch, mode: int, s: int, c: int, e: int, iw: int, taste: int
) -> bool:
    """Record one good set that computes from slot c on; False if there is none."""
    n, num_old = _list_workers(table, problem, scratch, mode, c, e, iw)
    missing = problem.m - scratch.proposal.old_tasks[:num_old].sum()
    num_sent = _choose(problem, scratch, s, c, e, n, missing, taste)
    if num_sent < 0:
        return False
    size, c = _compute(table, problem, scratch, c, e, problem.work[iw], num_sent, num_old)
    if size == 0:
        return False
    for j in range(size):
        enlist(table, problem, scratch, j, scratch.tree.members[j], c, iw, True)
    num = size if mode == OWN else _stand_by(table, problem, scratch, c, iw, num_sent, size)
    return _settle(table, problem, scratch, s, c, iw, size, num)


@kernel
def _list_workers(
    table: Table, problem: Problem, scratch: Scratch, mode: int, c: int, e: int, iw: int
) -> tuple[int, int]:
    """List the workers that could be sent the program, and the holders, most tasks first; return how many they are."""
    cnt, needs, proposal = table.cnt, scratch.needs, scratch.proposal
    scratch.effort[SPENT] += 1 + problem.p // 32
    n = num_old = 0
    for q in range(problem.p):
        if needs.receive_from[q] > c:
            continue
        x = 0
        if cnt[e + 1, q] - cnt[c, q] >= problem.work[iw] and cnt[e + 1, q] > cnt[e, q]:
            x = most_tasks(table, needs, q, c, problem.caps[iw, q], problem.t_data)
        if not needs_program(table, needs, q):
            if x > 0:
                insert(proposal.old, proposal.old_c, proposal.old_tasks, num_old, q, c, x)
                num_old += 1
        elif x > 0 or (mode != OWN and needs.program_by[q] <= c and has(needs.obtainable, q)):
            proposal.fresh[n] = q
            proposal.fresh_tasks[n] = x
            n += 1
    return n, num_old


@kernel
def _choose(problem: Problem, scratch: Scratch, s: int, c: int, e: int, n: int, missing: int, taste: int) -> int:
    """Choose who is sent the program, so that `missing` tasks can be held; return how many are, -1 if too few can."""
    proposal = scratch.proposal
    programs = n
    if problem.t_prog > 0:
        programs = max(0, min(n, programs_sent(problem, s, c)))
    if taste == 0:  # the most tasks that all together can hold
        proposal.value[:n] = 0.0
        if _pick(scratch, n, programs, 1.0)[0] < missing:
            return -1
    for j in range(n):
        q = proposal.fresh[j]
        proposal.value[j] = _value(scratch, q, e + 1, taste) if has(scratch.needs.obtainable, q) else 0.0
    weight = 0.0
    while True:
        held, num_sent = _pick(scratch, n, programs, weight)
        if held >= missing:
            return num_sent
        if weight > 20.0:
            return -1
        weight = 0.02 if weight == 0.0 else 2.0 * weight


@kernel
def _value(scratch: Scratch, q: int, t: int, taste: int) -> float:
    """Return what the program is worth to worker q from slot t on, in programs, to a taste; 0 is plain."""
    merit = scratch.order.merit
    use = merit[t, q] if t < merit.shape[0] else 0.5
    value = min(1.0, use) + 0.01 * use
    if taste > 0:
        mix = (q * 7919 + taste * 104729) * 2654435761 % 4294967296
        value = (value + 0.02) * (mix >> 16) / 65536.0
    return value


@kernel
def _pick(scratch: Scratch, n: int, count: int, weight: float) -> tuple[int, int]:
    """Send the program to `count` of n fresh workers, of most value and `weight` times tasks, or to fewer.

    Returns the tasks that they can hold and how many they are; ``top`` lists them.
    """
    proposal = scratch.proposal
    score, top, tasks = proposal.score, proposal.top, proposal.fresh_tasks
    scratch.effort[SPENT] += 1 + n // 16
    size = 0
    for j in range(n):
        proposal.fate[j] = _LEFT_OUT
        v = weight * tasks[j] + proposal.value[j]
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
        proposal.fate[top[k]] = _SENT
        total += tasks[top[k]]
    return total, size


@kernel
def _compute(
    table: Table, problem: Problem, scratch: Scratch, c: int, e: int, w: int, num_sent: int, num_old: int
) -> tuple[int, int]:
    """Write to ``tree.members`` who computes: holders first, those who can do most first.

    Returns how many, 0 if they do not hold m tasks, and the first slot of the last w that they have in common.
    """
    proposal, members, common = scratch.proposal, scratch.tree.members, scratch.tree.common_up[0]
    all_up(common, c, e)
    size = 0
    start = c
    left = problem.m
    for j in range(num_old):
        if left <= 0 or size >= problem.m:
            break
        t = _join(table, common, proposal.old[j], c, e, w)
        if t >= 0:
            members[size] = proposal.old[j]
            size += 1
            left -= proposal.old_tasks[j]
            start = t
    while left > 0 and size < problem.m:
        j = _most_able(proposal, num_sent)
        if j < 0:
            break
        proposal.fate[j] = _IDLE
        t = _join(table, common, proposal.fresh[j], c, e, w)
        if t >= 0:
            members[size] = proposal.fresh[j]
            size += 1
            left -= proposal.fresh_tasks[j]
            start = t
            proposal.fate[j] = _ENTERED
    return (0, c) if left > 0 else (size, start)


@inlined
def _most_able(proposal: Proposal, num_sent: int) -> int:
    """Return which of those sent the program, by index, can hold most tasks, the first of equals; -1 if none can."""
    fate, tasks = proposal.fate, proposal.fresh_tasks
    best = -1
    for k in range(num_sent):
        j = proposal.top[k]
        if fate[j] != _SENT or tasks[j] == 0:
            continue
        if best < 0 or tasks[j] > tasks[best] or (tasks[j] == tasks[best] and j < best):
            best = j
    return best


@kernel
def _join(table: Table, common: Words, q: int, c: int, e: int, w: int) -> int:
    """Let worker q join those UP in the slots ``common``, if w slots from c on are left; return the first, or -1."""
    t = last_common_bit(common, table.up[q], e >> 6, c, w)
    if t >= 0:
        for k in range(c >> 6, (e >> 6) + 1):
            common[k] &= table.up[q, k]
    return int(t)


@kernel
def _stand_by(table: Table, problem: Problem, scratch: Scratch, c: int, iw: int, num_sent: int, size: int) -> int:
    """List the others that are sent the program, in order of value; return how many are listed by now."""
    proposal, needs = scratch.proposal, scratch.needs
    fresh, fate, value = proposal.fresh, proposal.fate, proposal.value
    num = size
    while True:
        best = -1
        most = 0.0
        for k in range(num_sent):
            j = proposal.top[k]
            if fate[j] == _ENTERED or value[j] <= 0.0 or needs.program_by[fresh[j]] > c:
                continue
            if best < 0 or value[j] > most or (value[j] == most and j < best):
                best, most = j, value[j]
        if best < 0:
            return num
        fate[best] = _ENTERED
        enlist(table, problem, scratch, num, fresh[best], c, iw, False)
        num += 1


@kernel
def _settle(table: Table, problem: Problem, scratch: Scratch, s: int, c: int, iw: int, size: int, num: int) -> bool:
    """Record the set if the channel can serve it, without some of those of least value if it cannot serve all."""
    wanted, obtainable, worker = scratch.wanted, scratch.needs.obtainable, scratch.participants.worker
    for _ in range(TRIES):
        assign(wanted, scratch.needs.survivors)
        for j in range(size):
            if has(obtainable, worker[j]):
                add(wanted, worker[j])
        for j in range(size, num):
            add(wanted, worker[j])
        if is_known(scratch, wanted):
            return True
        if can_serve(table, problem, scratch, s, c, size, num) == YES:
            record(scratch, wanted, size, c, iw)
            return True
        if num == size:
            return False
        num -= 1
    return False
