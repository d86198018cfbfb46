"""Greedy expansion: good holder sets after one iteration, without enumeration.

For an iteration in slots s..e that computes from slot c on, the channel can send (n_com (c - s) - m T_data) // T_prog
programs. Holders compute if they can, and workers that receive the program hold the other tasks. The program goes to
the workers with the largest merit after e; if they hold too few tasks, the weight of the tasks rises. The transfers
are checked by the same flow as those of the exact search (`holders.can_serve`), so every recorded set is feasible.
"""

from __future__ import annotations

from typing import NamedTuple

from hindsched.instances.array_types import Words
from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.search.bitsets import add, assign, has, last_common_bit
from hindsched.offline.coupled.search.channel_flow import YES
from hindsched.offline.coupled.search.effort import SPENT
from hindsched.offline.coupled.search.holders import add_participant, can_serve, record_holder_set
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.modes import NO_STAND_BY
from hindsched.offline.coupled.search.normal_form import last_before_data, most_tasks, needs_program, programs_sent
from hindsched.offline.coupled.search.parameters import GreedyParameters
from hindsched.offline.coupled.search.scratch_memory import GreedyArrays, Scratch
from hindsched.offline.coupled.search.search_arrays import SearchArrays
from hindsched.offline.coupled.search.state_tables import Table
from hindsched.offline.coupled.search.teams import all_up, insert, is_known

# Roles of a worker without the program, in ``GreedyArrays.role``: it is left out; it receives the program; it receives
# the program and does not compute; it is a participant.
_LEFT_OUT, _SENT, _IDLE, _ENTERED = range(4)


class Computation(NamedTuple):
    """An iteration in slots s..e that computes from slot c on, with the W of index iw."""

    s: int
    c: int
    e: int
    iw: int


@kernel
def expand_greedily(arrays: SearchArrays, mode: int, s: int, e: int, seed: int, parameters: GreedyParameters) -> None:
    """Record good holder sets for an iteration in slots s..e, in addition to those that `expand` found.

    Tries every W, or an even sample of many, and from the last slot c back. O(p F) for each set with F programs.
    Another `seed` gives other sets.
    """
    problem = arrays.problem
    threshold = last_before_data(problem, s)
    possible = 0
    while possible < len(problem.work) and problem.work[possible] <= e - threshold:
        possible += 1
    stride = max(1, -(-possible // parameters.max_works))
    variants = parameters.variants
    for iw in range((e + seed) % stride, possible, stride):
        top = e - problem.work[iw] + 1
        found = 0
        for c in range(top, max(threshold, top - parameters.max_reclaimed - 1), -1):
            computation = Computation(s, c, e, iw)
            if _build_one(arrays, mode, computation, 0, parameters.flow_trials):
                for variant in range(1, variants):
                    mixed = variant + variants * seed
                    _build_one(arrays, mode, computation, mixed, parameters.flow_trials)
                found += 1
                if found == parameters.sets_per_work:
                    break


@kernel
def _build_one(arrays: SearchArrays, mode: int, computation: Computation, variant: int, flow_trials: int) -> bool:
    """Record one good holder set of a computation; return False if none is found."""
    problem, scratch = arrays.problem, arrays.scratch
    s, c, e, iw = computation
    n, num_holders = _list_workers(arrays, mode, c, e, iw)
    missing = problem.m
    for j in range(num_holders):
        missing -= scratch.greedy.holder_tasks[j]
    num_sent = _choose(problem, scratch, s, c, e, n, missing, variant)
    if num_sent < 0:
        return False
    size, c = _compute(arrays, c, e, problem.work[iw], num_sent, num_holders)
    if size == 0:
        return False
    for j in range(size):
        add_participant(arrays, j, scratch.tree.members[j], c, iw, True)
    num = size if mode == NO_STAND_BY else _stand_by(arrays, c, iw, num_sent, size)
    return _record_served(arrays, Computation(s, c, e, iw), size, num, flow_trials)


@kernel
def _list_workers(arrays: SearchArrays, mode: int, c: int, e: int, iw: int) -> tuple[int, int]:
    """List the workers that can receive the program, and the holders, most tasks first; return both numbers."""
    table, problem, scratch = arrays
    cnt, needs, greedy = table.cnt, scratch.needs, scratch.greedy
    scratch.effort[SPENT] += 1 + problem.p // 32
    n = num_holders = 0
    for q in range(problem.p):
        if needs.receive_from[q] > c:
            continue
        x = 0
        if cnt[e + 1, q] - cnt[c, q] >= problem.work[iw] and cnt[e + 1, q] > cnt[e, q]:
            x = most_tasks(table, needs, q, c, problem.caps[iw, q], problem.t_data)
        if not needs_program(table, needs, q):
            if x > 0:
                insert(greedy.holders, greedy.holder_c, greedy.holder_tasks, num_holders, q, c, x)
                num_holders += 1
        elif x > 0 or (mode != NO_STAND_BY and needs.program_by[q] <= c and has(needs.obtainable, q)):
            greedy.receivers[n] = q
            greedy.receiver_tasks[n] = x
            n += 1
    return n, num_holders


@kernel
def _choose(problem: Problem, scratch: Scratch, s: int, c: int, e: int, n: int, missing: int, variant: int) -> int:
    """Select receivers of the program that can hold `missing` tasks; return their number, -1 if there are none."""
    greedy = scratch.greedy
    programs = n
    if problem.t_prog > 0:
        programs = max(0, min(n, programs_sent(problem, s, c)))
    if variant == 0:  # by tasks alone: the most tasks that the receivers can hold
        greedy.value[:n] = 0.0
        if _pick(scratch, n, programs, 1.0)[0] < missing:
            return -1
    for j in range(n):
        q = greedy.receivers[j]
        greedy.value[j] = _value(scratch, q, e + 1, variant) if has(scratch.needs.obtainable, q) else 0.0
    weight = 0.0
    while True:
        held, num_sent = _pick(scratch, n, programs, weight)
        if held >= missing:
            return num_sent
        if weight > 20.0:
            return -1
        weight = 0.02 if weight == 0.0 else 2.0 * weight


@kernel
def _value(scratch: Scratch, q: int, t: int, variant: int) -> float:
    """Return the value of the program to worker q from slot t on, times a random number unless the variant is 0."""
    merit = scratch.order.merit
    use = merit[t, q] if t < merit.shape[0] else 0.5
    value = min(1.0, use) + 0.01 * use
    if variant > 0:
        mix = (q * 7919 + variant * 104729) * 2654435761 % 4294967296
        value = (value + 0.02) * (mix >> 16) / 65536.0
    return value


@kernel
def _pick(scratch: Scratch, n: int, count: int, weight: float) -> tuple[int, int]:
    """Select at most `count` of n receivers by value plus `weight` times tasks.

    Returns the tasks that they can hold and their number; ``selected`` lists them.
    """
    greedy = scratch.greedy
    score, top, tasks = greedy.score, greedy.selected, greedy.receiver_tasks
    scratch.effort[SPENT] += 1 + n // 16
    size = 0
    for j in range(n):
        greedy.role[j] = _LEFT_OUT
        v = weight * tasks[j] + greedy.value[j]
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
        greedy.role[top[k]] = _SENT
        total += tasks[top[k]]
    return total, size


@kernel
def _compute(arrays: SearchArrays, c: int, e: int, w: int, num_sent: int, num_holders: int) -> tuple[int, int]:
    """Write the team to ``tree.members``: first holders, then receivers, both with most tasks first.

    Returns its size, 0 if it does not hold m tasks, and the first of its last w common UP slots.
    """
    problem, scratch = arrays.problem, arrays.scratch
    greedy, members, common = scratch.greedy, scratch.tree.members, scratch.tree.common_up[0]
    all_up(common, c, e)
    size = 0
    start = c
    left = problem.m
    for j in range(num_holders):
        if left <= 0 or size >= problem.m:
            break
        t = _join(arrays.table, common, greedy.holders[j], c, e, w)
        if t >= 0:
            members[size] = greedy.holders[j]
            size += 1
            left -= greedy.holder_tasks[j]
            start = t
    while left > 0 and size < problem.m:
        j = _most_able(greedy, num_sent)
        if j < 0:
            break
        greedy.role[j] = _IDLE
        t = _join(arrays.table, common, greedy.receivers[j], c, e, w)
        if t >= 0:
            members[size] = greedy.receivers[j]
            size += 1
            left -= greedy.receiver_tasks[j]
            start = t
            greedy.role[j] = _ENTERED
    return (0, c) if left > 0 else (size, start)


@inlined
def _most_able(greedy: GreedyArrays, num_sent: int) -> int:
    """Return the index of the selected receiver that can hold most tasks, the first of equals; -1 if none can."""
    fate, tasks = greedy.role, greedy.receiver_tasks
    best = -1
    for k in range(num_sent):
        j = greedy.selected[k]
        if fate[j] != _SENT or tasks[j] == 0:
            continue
        if best < 0 or tasks[j] > tasks[best] or (tasks[j] == tasks[best] and j < best):
            best = j
    return best


@kernel
def _join(table: Table, common: Words, q: int, c: int, e: int, w: int) -> int:
    """Add worker q to a team with UP slots ``common`` if w of them from c on remain; return the first, or -1."""
    t = last_common_bit(common, table.up[q], e >> 6, c, w)
    if t >= 0:
        for k in range(c >> 6, (e >> 6) + 1):
            common[k] &= table.up[q, k]
    return int(t)


@kernel
def _stand_by(arrays: SearchArrays, c: int, iw: int, num_sent: int, size: int) -> int:
    """Make the other receivers participants on stand-by, by falling value; return the number of participants."""
    greedy, needs = arrays.scratch.greedy, arrays.scratch.needs
    fresh, fate, value = greedy.receivers, greedy.role, greedy.value
    num = size
    while True:
        best = -1
        most = 0.0
        for k in range(num_sent):
            j = greedy.selected[k]
            if fate[j] == _ENTERED or value[j] <= 0.0 or needs.program_by[fresh[j]] > c:
                continue
            if best < 0 or value[j] > most or (value[j] == most and j < best):
                best, most = j, value[j]
        if best < 0:
            return num
        fate[best] = _ENTERED
        add_participant(arrays, num, fresh[best], c, iw, False)
        num += 1


@kernel
def _record_served(arrays: SearchArrays, computation: Computation, size: int, num: int, flow_trials: int) -> bool:
    """Record the set if the channel can serve it, if necessary without the stand-by workers of least value."""
    scratch = arrays.scratch
    s, c, _, iw = computation
    wanted, obtainable, worker = scratch.wanted, scratch.needs.obtainable, scratch.participants.worker
    for _ in range(flow_trials):
        assign(wanted, scratch.needs.survivors)
        for j in range(size):
            if has(obtainable, worker[j]):
                add(wanted, worker[j])
        for j in range(size, num):
            add(wanted, worker[j])
        if is_known(scratch, wanted):
            return True
        if can_serve(arrays, s, c, size, num) == YES:
            record_holder_set(scratch, wanted, size, c, iw)
            return True
        if num == size:
            return False
        num -= 1
    return False
