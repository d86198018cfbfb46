"""Who holds the program after an iteration: the maximal sets of holders it can leave behind.

`expand` turns sets S (module `member_sets`) into the maximal holder sets: one flow question (`task_counts.share`) if
all stand-by workers can be served, a branching over maximal subsets otherwise. Set S with slot c cannot give more
holders than U(c), those that could be ready by c if alone, and U grows with c: so once a set containing U(c') is found
only c > c' are of interest; c' is the threshold of `member_sets.advance`.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.search.bitsets import add, assign, has, within
from hindsched.offline.coupled.search.constants import (
    EFFORT_LIMIT,
    FOUND_LIMIT,
    LIMIT,
    NEVER,
    NO,
    NUM_FOUND,
    NUM_MEMBERS,
    OWN,
    SPENT,
    STAND_BY,
    STOP,
    UNDECIDED,
    WORK,
    YES,
)
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.normal_form import most_tasks
from hindsched.offline.coupled.search.scratch_memory import Needs, Scratch
from hindsched.offline.coupled.search.state_tables import Table
from hindsched.offline.coupled.search.task_counts import share
from hindsched.offline.coupled.search.teams import begin_teams, is_known, next_team
from hindsched.offline.coupled.search.worker_order import are_symmetric, order_workers


@kernel
def record(scratch: Scratch, held: Words, size: int, c: int, iw: int) -> bool:
    """Add a holder set, with its first `size` members, and drop those it contains; False if there is no room."""
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
def enlist(table: Table, problem: Problem, scratch: Scratch, j: int, q: int, c: int, iw: int, computes: bool) -> None:
    """Make worker q participant j of the next flow question."""
    parts, needs = scratch.participants, scratch.needs
    parts.worker[j] = q
    parts.receive_from[j] = needs.receive_from[q]
    parts.program[j] = needs.data_base[q] - table.cnt[needs.receive_from[q], q]
    parts.most[j] = most_tasks(table, needs, q, c, problem.caps[iw, q], problem.t_data) if computes else 0


@kernel
def can_serve(table: Table, problem: Problem, scratch: Scratch, s: int, c: int, size: int, n: int) -> int:
    """Return whether, of the n participants, the first `size` can compute from slot c on and all have the program."""
    parts = scratch.participants
    total = problem.m * problem.t_data
    for j in range(n):
        total += parts.program[j]
    scratch.effort[SPENT] += 1
    if total > problem.n_com * (c - s):
        return NO
    return share(table, problem, scratch.flow, parts, s, c, size, n)


@kernel
def can_serve_all(
    table: Table, problem: Problem, scratch: Scratch, workers: Ints, s: int, c: int, iw: int, size: int
) -> int:
    """Enlist these workers, and return `can_serve` for them."""
    for j in range(workers.size):
        enlist(table, problem, scratch, j, workers[j], c, iw, j < size)
    return can_serve(table, problem, scratch, s, c, size, workers.size)


@kernel
def _is_hopeless(table: Table, problem: Problem, needs: Needs, e: int) -> bool:
    """Return whether the workers have too few UP slots by e: every task costs its worker T_data + w_q of them."""
    total = 0
    for q in range(problem.p):
        have = table.cnt[e + 1, q] - needs.data_base[q]
        if have > 0:
            total += min(problem.max_tasks[q], have // problem.slots_per_task[q])
    return total < problem.m


@kernel
def expand(
    table: Table, problem: Problem, scratch: Scratch, mode: int, s: int, e: int, horizon: int, last: bool
) -> bool:
    """Find the maximal holder sets after an iteration in slots s..e; `prepare` was called.

    If `last`, any one set will do. Returns False if some may be missing: the effort limit was met, or the room for
    holder sets.
    """
    counters, effort = scratch.counters, scratch.effort
    counters[NUM_FOUND] = 0
    effort[SPENT] += 1 + problem.p // 4
    effort[LIMIT] = min(effort[SPENT] + counters[EFFORT_LIMIT], effort[STOP])
    if _is_hopeless(table, problem, scratch.needs, e):
        return True
    order_workers(table, problem, scratch, s, e, horizon)
    thr = begin_teams(table, problem, scratch, s, e)
    while True:
        c = next_team(table, problem, scratch, mode, e, thr)
        if c < 0:
            return bool(c == -1)
        # The most that this set could leave behind, and who takes part in that.
        size = counters[NUM_MEMBERS]
        n = _enlist_all(table, problem, scratch, mode, c, last)
        if is_known(scratch, scratch.wanted):
            continue
        if not _serve(table, problem, scratch, s, c, size, n):
            return False
        if last and counters[NUM_FOUND] > 0:
            return True
        if mode != OWN:
            thr = max(thr, min(e, _threshold(problem, scratch)))


@inlined
def _enlist_all(table: Table, problem: Problem, scratch: Scratch, mode: int, c: int, last: bool) -> int:
    """Enlist the members found by `advance`, and all that could be on stand-by; return how many they are.

    Writes to ``wanted`` who holds the program afterwards if all of them are served.
    """
    needs, wanted, members = scratch.needs, scratch.wanted, scratch.tree.members
    size, iw = scratch.counters[NUM_MEMBERS], scratch.counters[WORK]
    for j in range(size):
        enlist(table, problem, scratch, j, members[j], c, iw, True)
    assign(wanted, needs.survivors)
    n = size
    if mode == OWN:
        for j in range(size):
            if has(needs.obtainable, members[j]):
                add(wanted, members[j])
        return int(n)
    scratch.effort[SPENT] += problem.p // 16
    for k in range(problem.p):
        q = scratch.order.workers[k]
        if has(needs.obtainable, q) and needs.program_by[q] <= c:
            add(wanted, q)
            computes = False
            for j in range(size):
                computes = computes or members[j] == q
            if not computes and mode == STAND_BY and not last:
                enlist(table, problem, scratch, n, q, c, iw, False)
                n += 1
    return int(n)


@inlined
def _serve(table: Table, problem: Problem, scratch: Scratch, s: int, c: int, size: int, n: int) -> bool:
    """Record the holder sets of one set of members: ``wanted`` if all participants can be served, else smaller ones.

    Returns False if some may be missing.
    """
    iw = scratch.counters[WORK]
    possible = can_serve(table, problem, scratch, s, c, size, n)
    if possible == YES:
        return record(scratch, scratch.wanted, size, c, iw)
    if possible == NO and n > size:  # not with all on stand-by; with some, if it can be done with none
        possible = can_serve(table, problem, scratch, s, c, size, size)
        if possible == YES:
            return _branch(table, problem, scratch, s, c, iw, size, n)
    return bool(possible == NO)


@inlined
def _threshold(problem: Problem, scratch: Scratch) -> int:
    """Return the last slot c' such that a set found has everybody who could have the program by c'; NEVER for all."""
    best = -1
    for r in range(scratch.counters[NUM_FOUND]):
        first = NEVER
        for q in range(problem.p):
            if has(scratch.needs.obtainable, q) and not has(scratch.found.held[r], q):
                first = min(first, scratch.needs.program_by[q])
        best = max(best, first - 1)
    return best


@kernel
def _branch(table: Table, problem: Problem, scratch: Scratch, s: int, c: int, iw: int, size: int, n: int) -> bool:
    """Record the maximal sets of stand-by workers, participants size..n-1, that can be served with the members.

    Depth first over the stand-by workers, taking each before leaving it out; a branch whose
    optimistic set is contained in a known one is cut, so only maximal sets are recorded. False if some may be missing.
    """
    subsets, parts = scratch.subsets, scratch.participants
    optional, step, is_taken = subsets.optional, subsets.step, subsets.is_taken
    total = n - size
    for d in range(total + 1):
        step[d] = is_taken[d] = 0
    for d in range(total):
        optional[d] = parts.worker[size + d]
    assign(subsets.certain, scratch.needs.survivors)
    for j in range(size):
        if has(scratch.needs.obtainable, scratch.tree.members[j]):
            add(subsets.certain, scratch.tree.members[j])
    d = 0
    num = size  # participants that can be served together: the members, and the stand-by workers taken
    while d >= 0:
        # At depth d: step 0 tries to take optional[d], step 1 leaves it out, step 2 goes back.
        if step[d] == 1:
            num -= is_taken[d]
            is_taken[d] = 0
        scratch.effort[SPENT] += 1 + n // 16
        _hope(scratch, size, num, total, d)
        if step[d] == 2 or is_known(scratch, subsets.hoped):
            num -= is_taken[d]
            is_taken[d] = 0
            step[d] = 0
            d -= 1
        elif d == total:
            if not record(scratch, subsets.hoped, size, c, iw):
                return False
            d -= 1
        elif step[d] == 1:
            step[d] = 2
            d += 1
        else:
            step[d] = 1
            if d > 0 and is_taken[d - 1] == 0 and are_symmetric(scratch.order, optional[d - 1], optional[d]):
                continue
            enlist(table, problem, scratch, num, optional[d], c, iw, False)
            possible = can_serve(table, problem, scratch, s, c, size, num + 1)
            if possible == UNDECIDED or scratch.effort[SPENT] > scratch.effort[LIMIT]:
                _record_so_far(scratch, size, num, c, iw)
                return False
            if possible == YES:
                is_taken[d] = 1
                num += 1
                d += 1
    return True


@inlined
def _hope(scratch: Scratch, size: int, num: int, total: int, d: int) -> None:
    """Write to ``hoped`` the holders if all that are still open at depth d could be served, beside those taken."""
    subsets = scratch.subsets
    optional, step = subsets.optional, subsets.step
    assign(subsets.hoped, subsets.certain)
    for j in range(size, num):
        add(subsets.hoped, scratch.participants.worker[j])
    j = d if step[d] == 0 else d + 1  # the first that is still open
    if j > 0 and subsets.is_taken[j - 1] == 0:  # those symmetric to one that is left out are left out too
        out = optional[j - 1]
        while j < total and are_symmetric(scratch.order, out, optional[j]):
            j += 1
    while j < total:
        add(subsets.hoped, optional[j])
        j += 1


@inlined
def _record_so_far(scratch: Scratch, size: int, num: int, c: int, iw: int) -> None:
    """Record what can be done with the first `num` participants: a holder set, if not a maximal one."""
    hoped = scratch.subsets.hoped
    assign(hoped, scratch.subsets.certain)
    for j in range(size, num):
        add(hoped, scratch.participants.worker[j])
    if not is_known(scratch, hoped):
        record(scratch, hoped, size, c, iw)
