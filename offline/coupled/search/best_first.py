"""Best-first search over labels.

The queue holds labels, each with the next end e to try. The key of a label is a lower bound on the cost of schedules
whose next iteration ends in e or later, by the composed free-prefetch bound F (module `bounds.prefetch_table`):
F^(K-k-1) (e + 1) for the makespan, and minus the largest number of iterations, -(k + 1 + max {j : F^j(e + 1) <= N}),
for the iterations. A step takes the head of the queue, expands its iteration to e into the maximal holder sets (module
`holders`), and makes a label of every set that no label dominates (module `dominance`). Then the old label returns with
e + 1. docs/native_search.md has the proof that the first complete schedule is optimal.

The search considers only schedules of cost at most ``cost_limit``; for the makespan these end before the slot that
`horizon_of` returns. The limit never rises, so nothing that was dropped before is needed later. A *dive* is the same
search with a large `bonus` per completed iteration in the key, so that it runs depth first, and with incomplete
expansions. It gives good schedules of instances that are too large to be solved.
"""

from __future__ import annotations

from typing import NamedTuple

from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.bounds.prefetch_table import SCANNED_TO, Prefetch, compose, free_finish, most_from
from hindsched.offline.coupled.search.bitsets import assign
from hindsched.offline.coupled.search.dominance import is_dominated
from hindsched.offline.coupled.search.effort import EFFORT_PER_STEP, SPENT
from hindsched.offline.coupled.search.holders import expand
from hindsched.offline.coupled.search.labels import (
    BEST_LABEL,
    HEAP_SIZE,
    NUM_DOMINATED,
    NUM_EXPANDED,
    NUM_LABELS,
    NUM_POPPED,
    Labels,
    pop,
    push,
)
from hindsched.offline.coupled.search.normal_form import next_program, prepare
from hindsched.offline.coupled.search.scratch_memory import NUM_FOUND
from hindsched.offline.coupled.search.search_arrays import SearchArrays
from hindsched.offline.coupled.search.slot_codes import NEVER, SLOTS_UNKNOWN

SOLVED, EXHAUSTED, NEED_SLOTS, NEED_LABELS, SLICE_DONE, EXPANSION_INCOMPLETE = range(6)
"""Why `run` stopped.

The best label is optimal; the queue is empty; more slots have to be known; the label arrays are full; the steps are
spent; an expansion met its limits.
"""


class SearchSettings(NamedTuple):
    """Settings of a search.

    Parameters
    ----------
    mode
        See module `modes`.
    iterations
        K for the objective makespan, 0 for the objective iterations.
    horizon
        Number N of slots.
    cost_limit
        Largest cost of a schedule that the search considers.
    bonus
        Amount by which each completed iteration lowers the key.
    accepts_incomplete
        Whether incomplete expansions are accepted.
    """

    mode: int
    iterations: int
    horizon: int
    cost_limit: int
    bonus: int
    accepts_incomplete: bool


class Expansion(NamedTuple):
    """The expansion of a label.

    Parameters
    ----------
    label
        The label.
    e
        Slot in which its next iteration ends.
    horizon
        Slot before which all schedules of interest end.
    cost
        Lower bound on the cost of schedules through this end.
    is_last
        Whether the iteration may be the last.
    """

    label: int
    e: int
    horizon: int
    cost: int
    is_last: bool


@kernel
def horizon_of(settings: SearchSettings) -> int:
    """Return the slot before which all schedules that the search considers end."""
    return min(settings.horizon, settings.cost_limit) if settings.iterations > 0 else settings.horizon


@kernel
def run(arrays: SearchArrays, prefetch: Prefetch, labels: Labels, settings: SearchSettings, steps: int) -> int:
    """Process the queue for about `steps` steps and return why it stopped; may be called again at any time."""
    tally, effort = labels.tally, arrays.scratch.effort
    since = effort[SPENT]
    end = horizon_of(settings)
    while tally[HEAP_SIZE] > 0:
        if steps * EFFORT_PER_STEP <= effort[SPENT] - since:
            return SLICE_DONE
        if tally[NUM_LABELS] + arrays.scratch.found.c.size >= labels.start.size:
            return NEED_LABELS
        # The head of the queue and its next end.
        i = labels.heap_label[0]
        done, s, e = labels.done[i], labels.start[i], labels.next_end[i]
        effort[SPENT] += 1
        if settings.iterations == 0 and settings.bonus == 0 and -labels.heap_key[0] <= labels.done[tally[BEST_LABEL]]:
            return SOLVED
        if e == s:  # a new label
            first = _first_finish(arrays, prefetch, labels, settings, i, end)
            if first < 0:
                return NEED_SLOTS if first == SLOTS_UNKNOWN else SLICE_DONE
            if first >= NEVER:
                pop(labels)
                continue
            e = first - 1
        if e >= settings.horizon:
            pop(labels)
            continue
        if e >= arrays.table.length:
            return NEED_SLOTS
        # A lower bound for ends in e or later; the label returns to the queue if it is no longer the head.
        ahead, cost, last = _cost_from(arrays, prefetch, settings, done, e)
        if ahead < 0:
            return NEED_SLOTS if ahead == SLOTS_UNKNOWN else SLICE_DONE
        if cost > settings.cost_limit:
            labels.next_end[i] = e
            pop(labels)
            continue
        tally[NUM_POPPED] += 1
        key = cost - settings.bonus * done
        if key > labels.heap_key[0]:
            labels.next_end[i] = e
            pop(labels)
            push(labels, key, i)
            continue
        reason = _expand_label(arrays, labels, settings, Expansion(i, e, end, cost, last))
        if reason != SLICE_DONE:
            return reason
    return EXHAUSTED


@inlined
def _first_finish(
    arrays: SearchArrays, prefetch: Prefetch, labels: Labels, settings: SearchSettings, i: int, end: int
) -> int:
    """Return the free-prefetch bound on the slot after the next iteration of label i; NEVER if the label is dropped.

    SLOTS_UNKNOWN or EFFORT_LIMIT_MET as `free_finish`.
    """
    tally = labels.tally
    done, s = labels.done[i], labels.start[i]
    first = free_finish(arrays, prefetch, s, settings.horizon)
    if first < 0:
        if tally[HEAP_SIZE] == 1 and settings.iterations > 0 and settings.bonus == 0:  # the only label
            labels.heap_key[0] = max(labels.heap_key[0], prefetch.scan[SCANNED_TO] + 1)
        return first
    if first < NEVER and is_dominated(arrays, labels, settings.mode, done, s, labels.held[i], end, i):
        labels.is_dropped[i] = True
        tally[NUM_DOMINATED] += 1
        return NEVER
    return first


@inlined
def _cost_from(
    arrays: SearchArrays, prefetch: Prefetch, settings: SearchSettings, done: int, e: int
) -> tuple[int, int, bool]:
    """Return a lower bound for schedules whose iteration after the first `done` ends in e or later.

    Three values: the completion bound, or SLOTS_UNKNOWN or EFFORT_LIMIT_MET; the bound on the cost; and whether that
    iteration may be the last.
    """
    if settings.iterations > 0:
        left = settings.iterations - done - 1
        ahead = compose(arrays, prefetch, e + 1, left, settings.horizon)
        return ahead, ahead, left == 0
    ahead = most_from(arrays, prefetch, e + 1, settings.horizon)
    return ahead, -(done + 1 + ahead), ahead == 0


@inlined
def _expand_label(arrays: SearchArrays, labels: Labels, settings: SearchSettings, expansion: Expansion) -> int:
    """Make labels of the holder sets that the iteration after a label can end with; then the next end is e + 1.

    Returns SLICE_DONE if the search can continue, else SOLVED or EXPANSION_INCOMPLETE.
    """
    problem, scratch = arrays.problem, arrays.scratch
    tally, needs, reachable = labels.tally, scratch.needs, scratch.reachable
    i, e, end, _, last = expansion
    done, s, mode = labels.done[i], labels.start[i], settings.mode
    prepare(arrays.table, problem, needs, s, e, labels.held[i], end)
    scratch.effort[SPENT] += 1 + problem.p // 16
    # If even the set of all possible holders is dominated, the end needs no expansion.
    assign(reachable, needs.survivors)
    for k in range(problem.num_words):
        reachable[k] |= needs.obtainable[k]
    if not last and is_dominated(arrays, labels, mode, done + 1, e + 1, reachable, end, -1):
        later = next_program(arrays.table, problem, s, e, labels.held[i], end)
        scratch.effort[SPENT] += (later - e) * problem.p // 64
        labels.next_end[i] = later
        tally[NUM_DOMINATED] += 1
        return SLICE_DONE
    is_whole = expand(arrays, mode, s, e, end, last)
    tally[NUM_EXPANDED] += 1
    if not is_whole and not settings.accepts_incomplete:
        return EXPANSION_INCOMPLETE
    labels.next_end[i] = e + 1
    if _add_labels(arrays, labels, settings, expansion):
        return SOLVED
    return SLICE_DONE


@inlined
def _add_labels(arrays: SearchArrays, labels: Labels, settings: SearchSettings, expansion: Expansion) -> bool:
    """Make labels of the holder sets found by an expansion; return True if one is optimal."""
    tally, found = labels.tally, arrays.scratch.found
    i, e, end, cost, last = expansion
    done = labels.done[i] + 1
    for r in range(arrays.scratch.counters[NUM_FOUND]):
        if not last and is_dominated(arrays, labels, settings.mode, done, e + 1, found.held[r], end, -1):
            tally[NUM_DOMINATED] += 1
            continue
        n = tally[NUM_LABELS]
        tally[NUM_LABELS] = n + 1
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
        if last or (settings.iterations == 0 and done > labels.done[tally[BEST_LABEL]]):
            tally[BEST_LABEL] = n
        if last:
            return True
        push(labels, cost - settings.bonus * done, n)
    return False
