"""Which sets of workers can compute an iteration that ends in a given slot: all sets S of the normal form.

Per last slot e and candidate W, worker q alone would start to compute in its W-th last UP slot c_q
and could take X_q(c_q) tasks. If these sum to less than m there is nothing (most slots end here).
Otherwise sets S are enumerated depth first (`advance`): a node is a set with its common UP slots
as bits, hence its c; adding a worker lowers c, hence every X_q(c), so a node is cut when
the members and all remaining candidates - each with its own c if added now - cannot hold m tasks.
If n_com binds, of candidates without the program only as many count as the channel can serve:
(n_com (c - s) - m T_data) // T_prog of them at most.

The enumeration hands out one set at a time, with its slot c; the caller says from which c on sets are of interest.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.search.bitsets import add, assign, has, last_common_bit, within
from hindsched.offline.coupled.search.constants import (
    DEPTH,
    FIRST_SLOT,
    FREE,
    LIMIT,
    NEVER,
    NODES,
    NUM_ABLE,
    NUM_FOUND,
    NUM_MEMBERS,
    OWN,
    SPENT,
    WORK,
)
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.normal_form import (
    last_before_data,
    most_tasks,
    needs_program,
    programs_sent,
)
from hindsched.offline.coupled.search.scratch_memory import Scratch
from hindsched.offline.coupled.search.state_tables import Table
from hindsched.offline.coupled.search.worker_order import are_symmetric


@kernel
def begin_teams(table: Table, problem: Problem, scratch: Scratch, s: int, e: int) -> int:
    """Start `advance` for an iteration in slots s..e; returns the threshold that the data alone sets for c."""
    counters, needs, able = scratch.counters, scratch.needs, scratch.tree.able
    n = 0
    for k in range(problem.p):
        q = scratch.order.workers[k]
        if table.cnt[e + 1, q] > table.cnt[e, q] and table.cnt[e + 1, q] > needs.data_base[q]:
            able[n] = q
            n += 1
    counters[NUM_ABLE] = n
    counters[WORK] = -1
    counters[DEPTH] = -1
    counters[FIRST_SLOT] = s
    return last_before_data(problem, s)


@kernel
def next_team(table: Table, problem: Problem, scratch: Scratch, mode: int, e: int, thr: int) -> int:
    """Find the next set S with slot c > `thr` whose workers, each alone, could hold m tasks.

    Returns c, with the set in ``tree.members[:counters[NUM_MEMBERS]]`` and the index of W in ``counters[WORK]``; -1
    when there is none left; -2 when the effort limit is met.
    """
    counters, tree = scratch.counters, scratch.tree
    d = counters[DEPTH]
    while True:
        # The tree of this W is done, or none has been begun: go on to the next W.
        if d < 0:
            if not _next_work(table, problem, scratch, e, thr):
                return -1
            d = 0
        # Up again from a node whose members and remaining candidates together cannot hold m tasks.
        i = _next_candidate(table, problem, scratch, mode, d, thr)
        if i < 0:
            d -= 1
            continue
        counters[NODES] += 1
        scratch.effort[SPENT] += 1 + (tree.num_candidates[d] - i) // 16
        if scratch.effort[SPENT] > scratch.effort[LIMIT]:
            return -2
        # The candidate joins the members, unless one of them could not hold a task any more.
        tree.next_candidate[d] = i + 1
        c = tree.candidate_c[d, i]
        tasks = _tasks_with(table, problem, scratch, d, i)
        if tasks < 0:
            continue
        tree.members[d] = tree.candidate[d, i]
        size = d + 1
        # Below it: larger sets, looked at after this one.
        if size < problem.m and _descend(table, problem, scratch, d, i, e, thr, tasks):
            d = size
        if tasks >= problem.m:
            counters[NUM_MEMBERS] = size
            counters[DEPTH] = d
            return int(c)


@inlined
def _next_work(table: Table, problem: Problem, scratch: Scratch, e: int, thr: int) -> bool:
    """Make the root of the tree for the next W with which m tasks could be held; False if there is none.

    Each worker alone: its W-th last UP slot is its c, and what it can hold by then.
    """
    counters, needs, tree = scratch.counters, scratch.needs, scratch.tree
    iw = counters[WORK]
    while True:
        iw += 1
        if iw >= problem.work.size or e - problem.work[iw] + 1 <= thr:
            counters[DEPTH] = -1
            counters[WORK] = problem.work.size
            return False
        n = 0
        total = 0
        for j in range(counters[NUM_ABLE]):
            q = tree.able[j]
            i = table.cnt[e + 1, q] - problem.work[iw]
            if i < 0:
                continue
            c = table.pos[q, i]
            if c <= thr:
                continue
            x = most_tasks(table, needs, q, c, problem.caps[iw, q], problem.t_data)
            if x > 0:
                insert(tree.candidate[0], tree.candidate_c[0], tree.candidate_tasks[0], n, q, c, x)
                n += 1
                total += x
        if total >= problem.m:
            break
    all_up(tree.common_up[0], thr + 1, e)
    tree.num_candidates[0] = n
    tree.next_candidate[0] = 0
    tree.c[0] = e
    counters[WORK] = iw
    return True


@inlined
def _next_candidate(table: Table, problem: Problem, scratch: Scratch, mode: int, d: int, thr: int) -> int:
    """Return the next candidate to join the members at depth d, by its index; -1 if no set below is of interest.

    Leaves out candidates whose c is too early by now, and those that a symmetric one left out came before.
    """
    needs, tree, order = scratch.needs, scratch.tree, scratch.order
    iw = scratch.counters[WORK]
    n = tree.num_candidates[d]
    i = tree.next_candidate[d]
    while i < n and (
        tree.candidate_c[d, i] <= thr
        or (mode != FREE and i > 0 and are_symmetric(order, tree.candidate[d, i - 1], tree.candidate[d, i]))
    ):
        i += 1
    # No set below computes from a later slot than this.
    best_c = 0
    for j in range(i, n):
        best_c = max(best_c, tree.candidate_c[d, j])
    # How many workers could be sent the program before it.
    fresh = NEVER
    if mode != FREE and problem.t_prog > 0 and problem.n_com < problem.p:
        fresh = programs_sent(problem, scratch.counters[FIRST_SLOT], best_c)
    # The most tasks that the members, and the candidates with as many programs, could hold by then.
    total = 0
    for j in range(d):
        q = tree.members[j]
        total += most_tasks(table, needs, q, min(tree.c[d], best_c), problem.caps[iw, q], problem.t_data)
        if needs_program(table, needs, q):
            fresh -= 1
    for j in range(i, n):
        if total >= problem.m:
            break
        if tree.candidate_c[d, j] > thr:
            if not needs_program(table, needs, tree.candidate[d, j]):
                total += tree.candidate_tasks[d, j]
            elif fresh > 0:
                fresh -= 1
                total += tree.candidate_tasks[d, j]
    if i >= n or total < problem.m or fresh < 0 or (mode == OWN and _nothing_new(scratch, d, i)):
        return -1
    return int(i)


@inlined
def _tasks_with(table: Table, problem: Problem, scratch: Scratch, d: int, i: int) -> int:
    """Return how many tasks the members at depth d and candidate i could hold; -1 if a member could hold none."""
    tree = scratch.tree
    c = tree.candidate_c[d, i]
    iw = scratch.counters[WORK]
    tasks = tree.candidate_tasks[d, i]
    for j in range(d):
        q = tree.members[j]
        x = most_tasks(table, scratch.needs, q, c, problem.caps[iw, q], problem.t_data)
        tasks += x
        if x == 0:
            return -1
    return int(tasks)


@inlined
def _descend(table: Table, problem: Problem, scratch: Scratch, d: int, i: int, e: int, thr: int, tasks: int) -> bool:
    """Make the node below d with candidate i among the members, who hold so many tasks; False if nothing lies there.

    Its candidates are those after i that have W slots in common with the members, from the first slot on in which
    they may receive, and could hold a task.
    """
    needs, tree, up = scratch.needs, scratch.tree, table.up
    iw = scratch.counters[WORK]
    size = d + 1
    top = e >> 6
    common = tree.common_up[size]
    joined = tree.candidate[d, i]
    for k in range((thr + 1) >> 6, top + 1):
        common[k] = tree.common_up[d, k] & up[joined, k]
    n = 0
    total = tasks
    for j in range(i + 1, tree.num_candidates[d]):
        if tree.candidate_c[d, j] <= thr:
            continue
        q = tree.candidate[d, j]
        c = last_common_bit(common, up[q], top, max(thr + 1, needs.receive_from[q]), problem.work[iw])
        if c < 0:
            continue
        x = most_tasks(table, needs, q, c, problem.caps[iw, q], problem.t_data)
        if x > 0:
            insert(tree.candidate[size], tree.candidate_c[size], tree.candidate_tasks[size], n, q, c, x)
            n += 1
            total += x
    if n == 0 or total < problem.m:
        return False
    tree.num_candidates[size] = n
    tree.next_candidate[size] = 0
    tree.c[size] = tree.candidate_c[d, i]
    return True


@kernel
def _nothing_new(scratch: Scratch, d: int, i: int) -> bool:
    """Return whether, without stand-by, the members and all candidates from `i` on give no new holder set."""
    tree, obtainable, wanted = scratch.tree, scratch.needs.obtainable, scratch.wanted
    assign(wanted, scratch.needs.survivors)
    for j in range(d):
        if has(obtainable, tree.members[j]):
            add(wanted, tree.members[j])
    for j in range(i, tree.num_candidates[d]):
        if has(obtainable, tree.candidate[d, j]):
            add(wanted, tree.candidate[d, j])
    return is_known(scratch, wanted)


@kernel
def is_known(scratch: Scratch, held: Words) -> bool:
    """Return whether `held` is contained in a holder set found for this last slot."""
    num_found = scratch.counters[NUM_FOUND]
    scratch.effort[SPENT] += num_found * held.size // 16
    for r in range(num_found):
        if within(held, scratch.found.held[r]):
            return True
    return False


@kernel
def insert(workers: Ints, cs: Ints, tasks: Ints, n: int, q: int, c: int, x: int) -> None:
    """Put worker q with slot c and x tasks into a list of n, in order of falling x (ties in order of entry)."""
    while n > 0 and tasks[n - 1] < x:
        workers[n] = workers[n - 1]
        cs[n] = cs[n - 1]
        tasks[n] = tasks[n - 1]
        n -= 1
    workers[n] = q
    cs[n] = c
    tasks[n] = x


@kernel
def all_up(common: Words, c: int, e: int) -> None:
    """Let ``common`` begin with all slots from that of c's word on to e; those after e in e's word are not in it."""
    common[c >> 6 : e >> 6] = ~np.uint64(0)
    common[e >> 6] = ~np.uint64(0) >> np.uint64(63 - (e & 63))
