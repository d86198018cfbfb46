"""Rules R1 to R5 slot by slot: the compiled twin of `hindsched.online.coupled.simulate` for the paper's heuristics.

`run` is one long kernel: it keeps the state of the run in local variables.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.arguments import (
    BY_Y,
    COMPUTED,
    ENTRIES,
    ITERATION,
    ITERATION_START,
    NUM_HOLDERS,
    RANDOM,
    RANDOM_USED,
    SLOT,
    Application,
    BuildContext,
    BuildTrace,
    Record,
    RunState,
    States,
)
from hindsched.online.coupled.kernels.bit_sets import NONE, ONE, add, clear, contains, lowest, remove
from hindsched.online.coupled.kernels.builder_kernels import build
from hindsched.online.coupled.kernels.log_criteria_kernels import takes_candidate
from hindsched.online.coupled.kernels.needs import HORIZON, need_for
from hindsched.online.coupled.kernels.random_kernels import draw
from hindsched.online.coupled.kernels.rebuild_kernels import first_invalid_step

__all__ = ["DONE", "MORE_ENTRIES", "MORE_RANDOM", "MORE_SETS", "MORE_STATES", "run"]

#: Why `run` returns: the run is over, or an array must grow before the run can continue.
DONE, MORE_STATES, MORE_SETS, MORE_ENTRIES, MORE_RANDOM = range(5)

#: Indices of `hindsched.online.coupled.simulate.SERVICES`.
BY_INDEX, BY_LONGEST = 0, 1

_PROGRAM, _DATA, _COMPUTE, _IDLE = np.uint8(ord("P")), np.uint8(ord("D")), np.uint8(ord("C")), np.uint8(ord("I"))


@kernel
def run(
    context: BuildContext,
    states: States,
    run_state: RunState,
    nothing_received: RunState,
    record: Record,
    numbers: Words,
    limit: int,
) -> int:
    """Continue from slot ``run_state.at[SLOT]`` to the end, to ``limit``, or until an array is too small.

    ``nothing_received`` is a state without transfers; candidates are built by it if ``heuristic.is_fresh``. The columns
    of ``record.letters`` are the slots to record, with their entries.
    """
    application, heuristic, tables, tree, trace = context
    at, tasks, program, data, need, holders, members, lacking, received, waiting, key, _ = run_state
    up, down = states
    words = up.shape[1]
    w, capacities = application.w, application.capacities
    t_prog, num_tasks = application.t_prog, application.tasks
    p = w.size
    is_passive = heuristic.switch < 0
    built = trace.built
    moves = 0  # slots since the trace was made in which transfers proceeded or time counted
    is_moved = False
    is_known = False
    recorded = record.letters.shape[1]
    entries = record.entries

    # Numbers of the run's state are in local variables. ``work`` is the slots of the computation, ``num_lacking`` the
    # number of members that lack something.
    slot, iteration, begun = at[SLOT], at[ITERATION], at[ITERATION_START]
    computed, num_entries, drawn = at[COMPUTED], at[ENTRIES], at[RANDOM_USED]
    total = work = num_lacking = 0
    for h in range(at[NUM_HOLDERS]):
        q = holders[h]
        total += tasks[q]
        work = max(work, tasks[q] * w[q])
        if contains(lacking, q):
            num_lacking += 1
    is_complete = total == num_tasks

    code = DONE
    while slot < limit and iteration < application.iterations:
        # Is there room for all that one slot can write? If not, the caller enlarges the array and calls again.
        if slot >= up.shape[0]:
            code = MORE_STATES
            break
        if 2 * tables.num_sets[0] > tables.keys.shape[0]:
            code = MORE_SETS
            break
        if slot < recorded and num_entries + 2 * p + 2 > entries.size:
            code = MORE_ENTRIES
            break
        # R1: a worker that is DOWN loses program and data, and leaves the configuration; the computation is lost.
        is_up = True
        for j in range(words):
            now_down = down[slot, j]
            is_up = is_up and members[j] & ~up[slot, j] == NONE
            if now_down & (received[j] | members[j]) == NONE:
                continue
            lost = now_down & received[j]
            received[j] &= ~lost
            while lost != NONE:
                q = 64 * j + lowest(lost)
                lost &= lost - ONE
                program[q] = data[q] = 0
            lost = now_down & members[j]
            members[j] &= ~lost
            while lost != NONE:
                q = 64 * j + lowest(lost)
                lost &= lost - ONE
                tasks[q] = 0
                if contains(lacking, q):
                    remove(lacking, q)
                    num_lacking -= 1
                is_complete = False
                computed = 0
        # R2: choose a configuration, if the old one is incomplete or the heuristic is proactive.
        if not is_complete or not is_passive:
            now_up = up[slot]
            # Can the UP workers hold all tasks?
            room = 0
            for j in range(words):
                rest = now_up[j]
                while room < num_tasks and rest != NONE:
                    room += capacities[64 * j + lowest(rest)]
                    rest &= rest - ONE
            taken = False
            if room >= num_tasks:
                if heuristic.switch == RANDOM:
                    if drawn + num_tasks > numbers.size:
                        code = MORE_RANDOM
                        break
                    used = draw(application, now_up, numbers, drawn, trace)
                    if used < 0:
                        code = MORE_RANDOM
                        break
                    drawn = used
                    taken = True
                else:
                    # Repeat only those steps of the trace that may have changed since the last build.
                    elapsed = slot - begun
                    start = 0
                    # For criterion Y the elapsed time counts in every step.
                    is_moved = is_moved or heuristic.build == BY_Y
                    seen = run_state
                    if heuristic.is_fresh:
                        if is_complete:
                            seen = nothing_received
                        else:
                            is_known = False  # the trace was built without transfers
                    if is_moved:
                        moves += 1
                    if is_known and moves < HORIZON:
                        start = first_invalid_step(context, seen, now_up, is_moved, elapsed)
                    if start == 0:
                        moves = 0
                        for j in range(words):
                            trace.enrolled[j] = NONE if heuristic.is_fresh and is_complete else members[j]
                    if start < num_tasks:
                        build(context, seen, now_up, start, elapsed)
                    is_known = True
                    is_moved = False
                    for j in range(words):
                        trace.known_up[j] = now_up[j]
                    # A candidate replaces a complete configuration if it differs and is better.
                    taken = not is_complete or not is_same(trace, tasks, num_tasks)
                    if taken and (is_complete or heuristic.keeps_value):
                        seen = nothing_received if heuristic.is_fresh else run_state
                        left = work - computed
                        taken = takes_candidate(context, run_state, seen, is_complete, left, elapsed)
            else:
                # They cannot: give up an incomplete configuration.
                is_known = False  # this slot does not update the trace
                if not is_complete:
                    for j in range(words):
                        taken = taken or members[j] != NONE
                if taken:
                    for q in range(p):
                        built[q] = 0
                    trace.num_holders[num_tasks] = 0
            if taken:
                # All other workers leave and lose data and an incomplete program; the computation restarts.
                computed = 0
                is_complete = room >= num_tasks
                for h in range(at[NUM_HOLDERS]):
                    q = holders[h]
                    tasks[q] = 0
                    if built[q] == 0:
                        leave(run_state, q, t_prog)
                if heuristic.switch != RANDOM and is_complete:
                    node = trace.node[num_tasks]
                    key[0], key[1] = tree.key[node, 0], tree.key[node, 1]
                work, num_lacking = enrol(application, run_state, trace)
                is_up = True
                is_known = False  # other workers receive from now on
                if slot < recorded:
                    num_entries = record_configuration(slot, run_state, entries, num_entries)
        # R3: the master serves at most n_com members that lack something. R4: if no member lacks anything and all are
        # UP, they compute. R5: when the work is done the iteration ends, and all members leave.
        is_noted = slot < recorded
        if is_noted:
            for h in range(at[NUM_HOLDERS]):
                if tasks[holders[h]] > 0:
                    record.letters[holders[h], slot] = _IDLE
        if num_lacking > 0:
            num = 0
            for j in range(words):
                rest = lacking[j] & up[slot, j]
                while rest != NONE:
                    waiting[num] = 64 * j + lowest(rest)
                    rest &= rest - ONE
                    num += 1
            is_moved = is_moved or (num > 0 and not heuristic.is_fresh)
            if num > application.channels:
                if heuristic.service != BY_INDEX:
                    put_first(application.channels, num, heuristic.service, run_state, t_prog)
                num = application.channels
            for i in range(num):
                q = waiting[i]
                add(received, q)
                letter = _PROGRAM
                if program[q] < t_prog:  # the program first
                    program[q] += 1
                else:
                    data[q] += 1
                    letter = _DATA
                if is_noted:
                    record.letters[q, slot] = letter
                need[q] -= 1
                if need[q] == 0:
                    remove(lacking, q)
                    num_lacking -= 1
        elif is_complete and is_up:
            computed += 1
            if is_noted:
                for h in range(at[NUM_HOLDERS]):
                    record.letters[holders[h], slot] = _COMPUTE
            if computed == work:
                for h in range(at[NUM_HOLDERS]):
                    leave(run_state, holders[h], t_prog)
                    tasks[holders[h]] = 0
                at[NUM_HOLDERS] = 0
                clear(members)
                is_complete = False
                computed = 0
                is_known = False  # the elapsed time is 0 again
                iteration += 1
                begun = slot + 1
        slot += 1
    at[SLOT], at[ITERATION], at[ITERATION_START] = slot, iteration, begun
    at[COMPUTED], at[ENTRIES], at[RANDOM_USED] = computed, num_entries, drawn
    return code


@kernel(forceinline=True)
def is_same(trace: BuildTrace, tasks: Ints, num_tasks: int) -> bool:
    """Return whether the configuration built is that of ``tasks``, which is complete."""
    for h in range(trace.num_holders[num_tasks]):
        q = trace.holders[h]
        if trace.built[q] != tasks[q]:
            return False
    return True


@kernel(forceinline=True)
def enrol(application: Application, run_state: RunState, trace: BuildTrace) -> tuple[int, int]:
    """Hold the configuration built; return the slots of its computation and the number of members that lack something.

    The holders of ``run_state`` become those of the trace, in increasing order.
    """
    members, lacking, holders = run_state.members, run_state.lacking, run_state.holders
    clear(members)
    clear(lacking)
    for h in range(trace.num_holders[application.tasks]):
        add(members, trace.holders[h])
    num = work = num_lacking = 0
    for j in range(members.size):
        rest = members[j]
        while rest != NONE:
            q = 64 * j + lowest(rest)
            rest &= rest - ONE
            holders[num] = q
            num += 1
            x = run_state.tasks[q] = trace.built[q]
            work = max(work, x * application.w[q])
            run_state.need[q] = need_for(application, run_state, q, x)
            if run_state.need[q] > 0:
                add(lacking, q)
                num_lacking += 1
    run_state.at[NUM_HOLDERS] = num
    return work, num_lacking


@kernel(forceinline=True)
def leave(run_state: RunState, q: int, t_prog: int) -> None:
    """Remove a worker's data and incomplete program."""
    run_state.data[q] = 0
    if run_state.program[q] < t_prog:
        run_state.program[q] = 0
    if run_state.program[q] == 0:
        remove(run_state.received, q)


@kernel
def record_configuration(slot: int, run_state: RunState, entries: Ints, num: int) -> int:
    """Write an entry of the schedule; return the new length of the list of entries."""
    num_holders = run_state.at[NUM_HOLDERS]
    entries[num] = slot
    entries[num + 1] = num_holders
    for h in range(num_holders):
        entries[num + 2 + 2 * h] = run_state.holders[h]
        entries[num + 3 + 2 * h] = run_state.tasks[run_state.holders[h]]
    return int(num + 2 + 2 * num_holders)


@kernel
def put_first(channels: int, num: int, service: int, run_state: RunState, t_prog: int) -> None:
    """Put those to serve first of ``num`` waiting workers: the largest needs, or transfers that have begun.

    Ties go to the lower index.
    """
    waiting = run_state.waiting
    for i in range(channels):
        best = -1
        best_rank = 0
        for k in range(i, num):
            q = waiting[k]
            begun = run_state.program[q] if run_state.program[q] < t_prog else run_state.data[q]
            rank = run_state.need[q] if service == BY_LONGEST else min(1, begun)
            if best < 0 or rank > best_rank:
                best = k
                best_rank = rank
        q = waiting[best]
        for k in range(best, i, -1):
            waiting[k] = waiting[k - 1]
        waiting[i] = q
