"""The teams that can compute an iteration that ends in a given slot: all sets S of the normal form.

For a last slot e and a W, worker q alone computes from its W-th last UP slot c_q on and can hold X_q(c_q) tasks. If
these sum to less than m there is no team; most slots end here. Otherwise teams are enumerated depth first. A node is a
team with its common UP slots as bits, hence its c. A further worker lowers c, hence every X_q(c). So a node is cut when
the members and all candidates, each with the c that the team has if it joins now, cannot hold m tasks. If n_com binds,
at most (n_com (c - s) - m T_data) // T_prog candidates without the program count.

`next_team` returns one team at a time with its slot c. Its caller passes the threshold that c has to exceed.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.search.bitsets import add, assign, has, last_common_bit, within
from hindsched.offline.coupled.search.effort import LIMIT, SPENT
from hindsched.offline.coupled.search.modes import FREE_PREFETCH, NO_STAND_BY
from hindsched.offline.coupled.search.normal_form import (
    last_before_data,
    most_tasks,
    needs_program,
    programs_sent,
)
from hindsched.offline.coupled.search.scratch_memory import (
    DEPTH,
    FIRST_SLOT,
    NUM_ABLE,
    NUM_FOUND,
    NUM_MEMBERS,
    NUM_NODES,
    WORK_INDEX,
    Scratch,
)
from hindsched.offline.coupled.search.search_arrays import SearchArrays
from hindsched.offline.coupled.search.slot_codes import NEVER
from hindsched.offline.coupled.search.worker_order import are_symmetric


@kernel
def begin_teams(arrays: SearchArrays, s: int, e: int) -> int:
    """Start the enumeration for an iteration in slots s..e; return the threshold that the data alone sets for c."""
    table, scratch = arrays.table, arrays.scratch
    counters, needs, able = scratch.counters, scratch.needs, scratch.tree.able
    n = 0
    for k in range(arrays.problem.p):
        q = scratch.order.workers[k]
        if table.cnt[e + 1, q] > table.cnt[e, q] and table.cnt[e + 1, q] > needs.data_base[q]:
            able[n] = q
            n += 1
    counters[NUM_ABLE] = n
    counters[WORK_INDEX] = -1
    counters[DEPTH] = -1
    counters[FIRST_SLOT] = s
    return last_before_data(arrays.problem, s)


@kernel
def next_team(arrays: SearchArrays, mode: int, e: int, threshold: int) -> int:
    """Find the next team with slot c > `threshold` whose members, each served alone, can hold m tasks.

    Returns c, with the team in ``tree.members[:counters[NUM_MEMBERS]]`` and the index of W in ``counters[WORK_INDEX]``;
    -1 if no team is left; -2 if the effort limit is met.
    """
    scratch = arrays.scratch
    counters, tree = scratch.counters, scratch.tree
    d = counters[DEPTH]
    while True:
        # The tree of this W is finished, or none has been started.
        if d < 0:
            if not _next_work(arrays, e, threshold):
                return -1
            d = 0
        # Return from a node whose members and remaining candidates cannot hold m tasks.
        i = _next_candidate(arrays, mode, d, threshold)
        if i < 0:
            d -= 1
            continue
        counters[NUM_NODES] += 1
        scratch.effort[SPENT] += 1 + (tree.num_candidates[d] - i) // 16
        if scratch.effort[SPENT] > scratch.effort[LIMIT]:
            return -2
        # The candidate joins the members, unless a member can hold no task any more.
        tree.next_candidate[d] = i + 1
        c = tree.candidate_c[d, i]
        tasks = _tasks_with(arrays, d, i)
        if tasks < 0:
            continue
        tree.members[d] = tree.candidate[d, i]
        size = d + 1
        # Larger teams follow this one.
        if size < arrays.problem.m and _descend(arrays, d, i, e, threshold, tasks):
            d = size
        if tasks >= arrays.problem.m:
            counters[NUM_MEMBERS] = size
            counters[DEPTH] = d
            return int(c)


@inlined
def _next_work(arrays: SearchArrays, e: int, threshold: int) -> bool:
    """Make the root of the tree for the next W with which workers can hold m tasks; return False if there is none.

    At the root each worker has the c and the tasks that it has alone.
    """
    table, problem, scratch = arrays
    counters, needs, tree = scratch.counters, scratch.needs, scratch.tree
    iw = counters[WORK_INDEX]
    while True:
        iw += 1
        if iw >= problem.work.size or e - problem.work[iw] + 1 <= threshold:
            counters[DEPTH] = -1
            counters[WORK_INDEX] = problem.work.size
            return False
        n = 0
        total = 0
        for j in range(counters[NUM_ABLE]):
            q = tree.able[j]
            i = table.cnt[e + 1, q] - problem.work[iw]
            if i < 0:
                continue
            c = table.pos[q, i]
            if c <= threshold:
                continue
            x = most_tasks(table, needs, q, c, problem.caps[iw, q], problem.t_data)
            if x > 0:
                insert(tree.candidate[0], tree.candidate_c[0], tree.candidate_tasks[0], n, q, c, x)
                n += 1
                total += x
        if total >= problem.m:
            break
    all_up(tree.common_up[0], threshold + 1, e)
    tree.num_candidates[0] = n
    tree.next_candidate[0] = 0
    tree.c[0] = e
    counters[WORK_INDEX] = iw
    return True


@inlined
def _next_candidate(arrays: SearchArrays, mode: int, d: int, threshold: int) -> int:
    """Return the index of the next candidate at depth d; -1 if the node is cut.

    Skips candidates whose c does not exceed the threshold, and candidates after a symmetric one that was left out.
    """
    table, problem, scratch = arrays
    needs, tree, order = scratch.needs, scratch.tree, scratch.order
    iw = scratch.counters[WORK_INDEX]
    n = tree.num_candidates[d]
    i = tree.next_candidate[d]
    while i < n and (
        tree.candidate_c[d, i] <= threshold
        or (mode != FREE_PREFETCH and i > 0 and are_symmetric(order, tree.candidate[d, i - 1], tree.candidate[d, i]))
    ):
        i += 1
    # No team below computes from a later slot.
    best_c = 0
    for j in range(i, n):
        best_c = max(best_c, tree.candidate_c[d, j])
    # The number of workers that the channel can send the program before that slot.
    programs = NEVER
    if mode != FREE_PREFETCH and problem.t_prog > 0 and problem.n_com < problem.p:
        programs = programs_sent(problem, scratch.counters[FIRST_SLOT], best_c)
    # The most tasks that the members, and the candidates with this many programs, can hold.
    total = 0
    for j in range(d):
        q = tree.members[j]
        total += most_tasks(table, needs, q, min(tree.c[d], best_c), problem.caps[iw, q], problem.t_data)
        if needs_program(table, needs, q):
            programs -= 1
    for j in range(i, n):
        if total >= problem.m:
            break
        if tree.candidate_c[d, j] > threshold:
            if not needs_program(table, needs, tree.candidate[d, j]):
                total += tree.candidate_tasks[d, j]
            elif programs > 0:
                programs -= 1
                total += tree.candidate_tasks[d, j]
    if i >= n or total < problem.m or programs < 0 or (mode == NO_STAND_BY and _adds_no_holder(scratch, d, i)):
        return -1
    return int(i)


@inlined
def _tasks_with(arrays: SearchArrays, d: int, i: int) -> int:
    """Return how many tasks the members at depth d and candidate i can hold; -1 if a member can hold none."""
    scratch = arrays.scratch
    tree = scratch.tree
    c = tree.candidate_c[d, i]
    iw = scratch.counters[WORK_INDEX]
    tasks = tree.candidate_tasks[d, i]
    for j in range(d):
        q = tree.members[j]
        x = most_tasks(arrays.table, scratch.needs, q, c, arrays.problem.caps[iw, q], arrays.problem.t_data)
        tasks += x
        if x == 0:
            return -1
    return int(tasks)


@inlined
def _descend(arrays: SearchArrays, d: int, i: int, e: int, threshold: int, tasks: int) -> bool:
    """Make the node below d in which candidate i is a member; return False if it has no team.

    Its candidates are those after i that have W common UP slots with the members, from the first slot on in which they
    can receive, and can hold a task. ``tasks`` is what the members can hold.
    """
    problem, scratch = arrays.problem, arrays.scratch
    needs, tree, up = scratch.needs, scratch.tree, arrays.table.up
    iw = scratch.counters[WORK_INDEX]
    size = d + 1
    top = e >> 6
    common = tree.common_up[size]
    joined = tree.candidate[d, i]
    for k in range((threshold + 1) >> 6, top + 1):
        common[k] = tree.common_up[d, k] & up[joined, k]
    n = 0
    total = tasks
    for j in range(i + 1, tree.num_candidates[d]):
        if tree.candidate_c[d, j] <= threshold:
            continue
        q = tree.candidate[d, j]
        c = last_common_bit(common, up[q], top, max(threshold + 1, needs.receive_from[q]), problem.work[iw])
        if c < 0:
            continue
        x = most_tasks(arrays.table, needs, q, c, problem.caps[iw, q], problem.t_data)
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
def _adds_no_holder(scratch: Scratch, d: int, i: int) -> bool:
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
    """Insert worker q with slot c and x tasks into a list of n, sorted by falling x; ties stay in order of entry."""
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
    """Set the bits of ``common`` from the first slot of c's word to e, and clear those after e in e's word."""
    common[c >> 6 : e >> 6] = ~np.uint64(0)
    common[e >> 6] = ~np.uint64(0) >> np.uint64(63 - (e & 63))
