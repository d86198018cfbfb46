"""The maximal holder sets that an iteration can end with.

`expand` turns teams (module `teams`) into the maximal holder sets. One flow (`task_counts.find_task_counts`) suffices
if the channel can serve all stand-by workers; otherwise a branching enumerates the maximal subsets. A team with slot c
has no more holders than U(c), the workers that have the program by c if they are served alone, and U grows with c. So
once a set that contains U(c') is found, only c > c' matter: c' is the threshold of `teams.next_team`.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.search.bitsets import add, assign, has, within
from hindsched.offline.coupled.search.channel_flow import NO, UNDECIDED, YES
from hindsched.offline.coupled.search.effort import LIMIT, SPENT, STOP
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.modes import NO_STAND_BY, STAND_BY
from hindsched.offline.coupled.search.normal_form import most_tasks
from hindsched.offline.coupled.search.scratch_memory import (
    EFFORT_LIMIT,
    FOUND_LIMIT,
    NUM_FOUND,
    NUM_MEMBERS,
    WORK_INDEX,
    Needs,
    Scratch,
)
from hindsched.offline.coupled.search.search_arrays import SearchArrays
from hindsched.offline.coupled.search.slot_codes import NEVER
from hindsched.offline.coupled.search.state_tables import Table
from hindsched.offline.coupled.search.task_counts import find_task_counts
from hindsched.offline.coupled.search.teams import begin_teams, is_known, next_team
from hindsched.offline.coupled.search.worker_order import are_symmetric, order_workers


@kernel
def record_holder_set(scratch: Scratch, held: Words, size: int, c: int, iw: int) -> bool:
    """Record a holder set with its first `size` members and drop its subsets; return False if the limit is met."""
    found, counters = scratch.found, scratch.counters
    n = 0
    for r in range(counters[NUM_FOUND]):
        if not within(found.held[r], held):
            if n < r:
                assign(found.held[n], found.held[r])
                assign(found.members[n], found.members[r])
                found.c[n] = found.c[r]
                found.iw[n] = found.iw[r]
            n += 1
    counters[NUM_FOUND] = n
    if n >= counters[FOUND_LIMIT]:
        return False
    for k in range(held.size):
        found.held[n, k] = held[k]
        found.members[n, k] = np.uint64(0)
    for j in range(size):
        add(found.members[n], scratch.tree.members[j])
    found.c[n] = c
    found.iw[n] = iw
    counters[NUM_FOUND] = n + 1
    return True


@kernel
def add_participant(arrays: SearchArrays, j: int, q: int, c: int, iw: int, computes: bool) -> None:
    """Make worker q participant j of the next flow."""
    table, problem, scratch = arrays
    parts, needs = scratch.participants, scratch.needs
    parts.worker[j] = q
    parts.receive_from[j] = needs.receive_from[q]
    parts.program[j] = needs.data_base[q] - table.cnt[needs.receive_from[q], q]
    parts.most[j] = most_tasks(table, needs, q, c, problem.caps[iw, q], problem.t_data) if computes else 0


@kernel
def can_serve(arrays: SearchArrays, s: int, c: int, size: int, n: int) -> int:
    """Return whether all n participants can have the program by slot c, and the first `size` their data too.

    YES, NO, or UNDECIDED if the effort limit is met.
    """
    problem, scratch = arrays.problem, arrays.scratch
    parts = scratch.participants
    total = problem.m * problem.t_data
    for j in range(n):
        total += parts.program[j]
    scratch.effort[SPENT] += 1
    if total > problem.n_com * (c - s):
        return NO
    return find_task_counts(arrays.table, problem, scratch.flow, parts, s, c, size, n)


@kernel
def can_serve_all(arrays: SearchArrays, workers: Ints, s: int, c: int, iw: int, size: int) -> int:
    """Make these workers the participants, and return `can_serve` for them."""
    for j in range(workers.size):
        add_participant(arrays, j, workers[j], c, iw, j < size)
    return can_serve(arrays, s, c, size, workers.size)


@kernel
def _has_too_few_up_slots(table: Table, problem: Problem, needs: Needs, e: int) -> bool:
    """Return whether the workers have too few UP slots by e: every task costs its worker T_data + w_q UP slots."""
    total = 0
    for q in range(problem.p):
        have = table.cnt[e + 1, q] - needs.data_base[q]
        if have > 0:
            total += min(problem.max_tasks[q], have // problem.slots_per_task[q])
    return total < problem.m


@kernel
def expand(arrays: SearchArrays, mode: int, s: int, e: int, horizon: int, last: bool) -> bool:
    """Find the maximal holder sets after an iteration in slots s..e; `prepare` has to be called before.

    If `last`, one set suffices. Returns False if sets may be missing, because the limit of effort or of holder sets is
    met.
    """
    problem, scratch = arrays.problem, arrays.scratch
    counters, effort = scratch.counters, scratch.effort
    counters[NUM_FOUND] = 0
    effort[SPENT] += 1 + problem.p // 4
    effort[LIMIT] = min(effort[SPENT] + counters[EFFORT_LIMIT], effort[STOP])
    if _has_too_few_up_slots(arrays.table, problem, scratch.needs, e):
        return True
    order_workers(arrays, s, e, horizon)
    threshold = begin_teams(arrays, s, e)
    while True:
        c = next_team(arrays, mode, e, threshold)
        if c < 0:
            return bool(c == -1)
        # The largest holder set that this team can end with, and its participants.
        size = counters[NUM_MEMBERS]
        n = _add_participants(arrays, mode, c, last)
        if is_known(scratch, scratch.wanted):
            continue
        if not _serve(arrays, s, c, size, n):
            return False
        if last and counters[NUM_FOUND] > 0:
            return True
        if mode != NO_STAND_BY:
            threshold = max(threshold, min(e, _threshold(problem, scratch)))


@inlined
def _add_participants(arrays: SearchArrays, mode: int, c: int, last: bool) -> int:
    """Make the members, and all workers that can be on stand-by, participants; return their number.

    Writes to ``wanted`` the holders after the iteration if the channel serves all participants.
    """
    scratch = arrays.scratch
    needs, wanted, members = scratch.needs, scratch.wanted, scratch.tree.members
    size, iw = scratch.counters[NUM_MEMBERS], scratch.counters[WORK_INDEX]
    for j in range(size):
        add_participant(arrays, j, members[j], c, iw, True)
    assign(wanted, needs.survivors)
    n = size
    if mode == NO_STAND_BY:
        for j in range(size):
            if has(needs.obtainable, members[j]):
                add(wanted, members[j])
        return int(n)
    scratch.effort[SPENT] += arrays.problem.p // 16
    for k in range(arrays.problem.p):
        q = scratch.order.workers[k]
        if has(needs.obtainable, q) and needs.program_by[q] <= c:
            add(wanted, q)
            computes = False
            for j in range(size):
                computes = computes or members[j] == q
            if not computes and mode == STAND_BY and not last:
                add_participant(arrays, n, q, c, iw, False)
                n += 1
    return int(n)


@inlined
def _serve(arrays: SearchArrays, s: int, c: int, size: int, n: int) -> bool:
    """Record the holder sets of one team: ``wanted`` if the channel can serve all participants, else smaller sets.

    Returns False if sets may be missing.
    """
    scratch = arrays.scratch
    iw = scratch.counters[WORK_INDEX]
    possible = can_serve(arrays, s, c, size, n)
    if possible == YES:
        return record_holder_set(scratch, scratch.wanted, size, c, iw)
    if possible == NO and n > size:  # fewer stand-by workers are possible if the members alone are
        possible = can_serve(arrays, s, c, size, size)
        if possible == YES:
            return _branch_on_stand_by(arrays, s, c, iw, size, n)
    return bool(possible == NO)


@inlined
def _threshold(problem: Problem, scratch: Scratch) -> int:
    """Return the last slot c' such that a set found contains U(c'); NEVER - 1 if it contains all obtainable workers."""
    best = -1
    for r in range(scratch.counters[NUM_FOUND]):
        first = NEVER
        for q in range(problem.p):
            if has(scratch.needs.obtainable, q) and not has(scratch.found.held[r], q):
                first = min(first, scratch.needs.program_by[q])
        best = max(best, first - 1)
    return best


@kernel
def _branch_on_stand_by(arrays: SearchArrays, s: int, c: int, iw: int, size: int, n: int) -> bool:
    """Record the maximal sets of stand-by workers, participants size..n-1, that the channel can serve.

    Depth first over the stand-by workers, first with and then without each. A branch whose optimistic set is contained
    in a recorded set is cut, so only maximal sets are recorded. Returns False if sets may be missing.
    """
    scratch = arrays.scratch
    subsets, parts = scratch.subsets, scratch.participants
    optional, step, is_taken = subsets.optional, subsets.step, subsets.is_taken
    total = n - size
    for d in range(total + 1):
        step[d] = is_taken[d] = 0
    for d in range(total):
        optional[d] = parts.worker[size + d]
    assign(subsets.required, scratch.needs.survivors)
    for j in range(size):
        if has(scratch.needs.obtainable, scratch.tree.members[j]):
            add(subsets.required, scratch.tree.members[j])
    d = 0
    num = size  # participants that the channel can serve: the members and the stand-by workers taken
    while d >= 0:
        # At depth d step 0 takes optional[d], step 1 leaves it out, step 2 returns.
        if step[d] == 1:
            num -= is_taken[d]
            is_taken[d] = 0
        scratch.effort[SPENT] += 1 + n // 16
        _compute_optimistic(scratch, size, num, total, d)
        if step[d] == 2 or is_known(scratch, subsets.optimistic):
            num -= is_taken[d]
            is_taken[d] = 0
            step[d] = 0
            d -= 1
        elif d == total:
            if not record_holder_set(scratch, subsets.optimistic, size, c, iw):
                return False
            d -= 1
        elif step[d] == 1:
            step[d] = 2
            d += 1
        else:
            step[d] = 1
            if d > 0 and is_taken[d - 1] == 0 and are_symmetric(scratch.order, optional[d - 1], optional[d]):
                continue
            add_participant(arrays, num, optional[d], c, iw, False)
            possible = can_serve(arrays, s, c, size, num + 1)
            if possible == UNDECIDED or scratch.effort[SPENT] > scratch.effort[LIMIT]:
                _record_taken(scratch, size, num, c, iw)
                return False
            if possible == YES:
                is_taken[d] = 1
                num += 1
                d += 1
    return True


@inlined
def _compute_optimistic(scratch: Scratch, size: int, num: int, total: int, d: int) -> None:
    """Write to ``optimistic`` the holders if the channel can serve all workers that depth d leaves undecided."""
    subsets = scratch.subsets
    optional, step = subsets.optional, subsets.step
    assign(subsets.optimistic, subsets.required)
    for j in range(size, num):
        add(subsets.optimistic, scratch.participants.worker[j])
    j = d if step[d] == 0 else d + 1  # the first undecided worker
    if j > 0 and subsets.is_taken[j - 1] == 0:  # workers symmetric to one that is left out are left out too
        out = optional[j - 1]
        while j < total and are_symmetric(scratch.order, out, optional[j]):
            j += 1
    while j < total:
        add(subsets.optimistic, optional[j])
        j += 1


@inlined
def _record_taken(scratch: Scratch, size: int, num: int, c: int, iw: int) -> None:
    """Record the holder set of the first `num` participants, which need not be maximal."""
    optimistic = scratch.subsets.optimistic
    assign(optimistic, scratch.subsets.required)
    for j in range(size, num):
        add(optimistic, scratch.participants.worker[j])
    if not is_known(scratch, optimistic):
        record_holder_set(scratch, optimistic, size, c, iw)
