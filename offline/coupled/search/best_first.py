"""Best-first search over labels.

The queue holds labels, each with the next last slot e to try. Its key is what the best schedule
through an end in e or later costs at least, by the free-prefetch bound composed (module
`prefetch`):

makespan
    F^(K-k-1)(e + 1), to be minimised;
iterations
    -(k + 1 + max {j : F^j(e + 1) <= N}), that is, minus the most iterations.

The head of the queue is taken, its iteration to e expanded into maximal holder sets (module
`iteration`), and every set that no label dominates (module `dominance`) becomes a new label; then the
old label goes back with e + 1. So ends are tried one by one, and only while they can be part of an
optimal schedule.

**Correctness.** At all times every completed schedule is matched, as dominance matches it, by one
that passes through a living label and an end not yet tried from it; this holds at the start (root
label) and each step preserves it: an end e is left behind only after all its maximal holder
sets have become labels or are dominated, and a non-maximal set by a maximal one. So the key at
the head bounds all schedules from below at any time; when the head yields a schedule that costs its
key, that schedule is optimal. Every step raises some label's e, so the search ends. Keys never
fall along a path, since F is non-decreasing and no iteration that starts in t ends before F(t).

Only schedules of cost at most ``limit`` are of interest, and all of the above is said of those; for the makespan
they end before slot ``end``. The limit only falls, so what was dropped before is not missed later.

Diving. With a large `bonus` per completed iteration in the key the same search goes depth first,
and `limit` cuts what cannot beat the best schedule known. This is used to obtain good schedules of
instances too large to be solved, then also with ``may_cut``: incomplete expansions are accepted.
"""

from __future__ import annotations

from typing import NamedTuple

from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.bounds.prefetch_table import Prefetch, compose, free_finish, most_from
from hindsched.offline.coupled.search.bitsets import assign
from hindsched.offline.coupled.search.constants import (
    BEST,
    BEYOND,
    COUNT,
    CUT,
    DOMINATED,
    EXHAUSTED,
    EXPANDED,
    HEAP,
    NEED_LABELS,
    NEED_SLOTS,
    NEVER,
    NUM_FOUND,
    PER_STEP,
    POPPED,
    SCANNED_TO,
    SLICE,
    SOLVED,
    SPENT,
)
from hindsched.offline.coupled.search.dominance import is_dominated
from hindsched.offline.coupled.search.holders import expand
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.labels import Labels, pop, push
from hindsched.offline.coupled.search.normal_form import prepare
from hindsched.offline.coupled.search.scratch_memory import Scratch
from hindsched.offline.coupled.search.state_tables import Table


class Question(NamedTuple):
    """What is asked of a search.

    Parameters
    ----------
    mode
        Who may receive the program, and at what cost (`constants.FREE` and others).
    iterations
        K for the objective makespan, 0 for the objective iterations.
    horizon
        Number N of slots.
    limit
        Largest cost that is of interest.
    bonus
        What a completed iteration lowers the key by.
    may_cut
        Accept incomplete expansions.
    """

    mode: int
    iterations: int
    horizon: int
    limit: int
    bonus: int
    may_cut: bool


@kernel
def end_of_interest(question: Question) -> int:
    """Return the slot before which all schedules of interest end."""
    return min(question.horizon, question.limit) if question.iterations > 0 else question.horizon


@kernel
def run(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    prefetch: Prefetch,
    labels: Labels,
    question: Question,
    steps: int,
) -> int:
    """Work on the queue for about `steps` units of work; may be called again at any time.

    Returns why it stopped: `constants.SOLVED` and others.
    """
    tally, effort = labels.tally, scratch.effort
    since = effort[SPENT]
    end = end_of_interest(question)
    while tally[HEAP] > 0:
        if steps * PER_STEP <= effort[SPENT] - since:
            return SLICE
        if tally[COUNT] + scratch.found.c.size >= labels.start.size:
            return NEED_LABELS
        # The head of the queue, and the end to be tried next.
        i = labels.heap_label[0]
        done, s, e = labels.done[i], labels.start[i], labels.next_end[i]
        effort[SPENT] += 1
        if question.iterations == 0 and question.bonus == 0 and -labels.heap_key[0] <= labels.done[tally[BEST]]:
            return SOLVED
        if e == s:  # not looked at yet
            first = _first_finish(table, problem, scratch, prefetch, labels, question, i, end)
            if first < 0:
                return NEED_SLOTS if first == BEYOND else SLICE
            if first >= NEVER:
                pop(labels)
                continue
            e = first - 1
        if e >= question.horizon:
            pop(labels)
            continue
        if e >= table.length:
            return NEED_SLOTS
        # What an end in e or later costs at least: does that still make it the head?
        ahead, cost, last = _cost_from(table, problem, scratch, prefetch, question, done, e)
        if ahead < 0:
            return NEED_SLOTS if ahead == BEYOND else SLICE
        if cost > question.limit:
            labels.next_end[i] = e
            pop(labels)
            continue
        tally[POPPED] += 1
        key = cost - question.bonus * done
        if key > labels.heap_key[0]:
            labels.next_end[i] = e
            pop(labels)
            push(labels, key, i)
            continue
        why = _end_iteration(table, problem, scratch, labels, question, i, e, end, cost, last)
        if why != SLICE:
            return why
    return EXHAUSTED


@inlined
def _first_finish(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    prefetch: Prefetch,
    labels: Labels,
    question: Question,
    i: int,
    end: int,
) -> int:
    """Return the free-prefetch bound on the slot after the next iteration of label i; NEVER if it is not of interest.

    BEYOND or PAUSE as `prefetch.free_finish`.
    """
    tally = labels.tally
    done, s = labels.done[i], labels.start[i]
    first = free_finish(table, problem, scratch, prefetch, s, question.horizon)
    if first < 0:
        if tally[HEAP] == 1 and question.iterations > 0 and question.bonus == 0:  # nothing else is left: a bound
            labels.heap_key[0] = max(labels.heap_key[0], prefetch.scan[SCANNED_TO] + 1)
        return first
    if first < NEVER and is_dominated(table, problem, scratch, labels, question.mode, done, s, labels.held[i], end, i):
        labels.is_dropped[i] = True
        tally[DOMINATED] += 1
        return NEVER
    return first


@inlined
def _cost_from(
    table: Table, problem: Problem, scratch: Scratch, prefetch: Prefetch, question: Question, done: int, e: int
) -> tuple[int, int, bool]:
    """Return what schedules cost at least whose iteration after the first `done` ends in e or later.

    First the bound itself, which may be BEYOND or PAUSE; then the cost; then whether that iteration may be the last.
    """
    if question.iterations > 0:
        left = question.iterations - done - 1
        ahead = compose(table, problem, scratch, prefetch, e + 1, left, question.horizon)
        return ahead, ahead, left == 0
    ahead = most_from(table, problem, scratch, prefetch, e + 1, question.horizon)
    return ahead, -(done + 1 + ahead), ahead == 0


@inlined
def _end_iteration(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    labels: Labels,
    question: Question,
    i: int,
    e: int,
    end: int,
    cost: int,
    last: bool,
) -> int:
    """End the iteration after label i in slot e: make labels of what it can leave behind; then e + 1 is next.

    Returns SLICE to go on, or why the search stops: SOLVED or CUT.
    """
    tally, needs, reachable = labels.tally, scratch.needs, scratch.reachable
    done, s, mode = labels.done[i], labels.start[i], question.mode
    prepare(table, problem, needs, s, e, labels.held[i], end)
    scratch.effort[SPENT] += 1 + problem.p // 16
    # Even with all the holders there could be, is it of interest?
    assign(reachable, needs.survivors)
    for k in range(problem.num_words):
        reachable[k] |= needs.obtainable[k]
    if not last and is_dominated(table, problem, scratch, labels, mode, done + 1, e + 1, reachable, end, -1):
        labels.next_end[i] = e + 1
        tally[DOMINATED] += 1
        return SLICE
    is_whole = expand(table, problem, scratch, mode, s, e, end, last)
    tally[EXPANDED] += 1
    if not is_whole and not question.may_cut:
        return CUT
    labels.next_end[i] = e + 1
    if _enter(table, problem, scratch, labels, question, i, e, end, cost, last):
        return SOLVED
    return SLICE


@inlined
def _enter(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    labels: Labels,
    question: Question,
    i: int,
    e: int,
    end: int,
    cost: int,
    last: bool,
) -> bool:
    """Make labels of the holder sets after label i and an iteration that ended in e; True if one solves the problem."""
    tally, found = labels.tally, scratch.found
    done = labels.done[i] + 1
    for r in range(scratch.counters[NUM_FOUND]):
        if not last and is_dominated(
            table, problem, scratch, labels, question.mode, done, e + 1, found.held[r], end, -1
        ):
            tally[DOMINATED] += 1
            continue
        n = tally[COUNT]
        tally[COUNT] = n + 1
        labels.done[n] = done
        labels.start[n] = labels.next_end[n] = e + 1
        labels.parent[n] = i
        assign(labels.held[n], found.held[r])
        assign(labels.members[n], found.members[r])
        labels.c[n] = found.c[r]
        labels.iw[n] = found.iw[r]
        labels.is_dropped[n] = False
        labels.older[n] = labels.newest[done]
        labels.newest[done] = n
        if last or (question.iterations == 0 and done > labels.done[tally[BEST]]):
            tally[BEST] = n
        if last:
            return True
        push(labels, cost - question.bonus * done, n)
    return False
