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
    RANDOM,
    RANDOM_USED,
    SLOT,
    BuildContext,
    Record,
    RunState,
    States,
)
from hindsched.online.coupled.kernels.bit_sets import NONE, ONE, WORD, lowest
from hindsched.online.coupled.kernels.builder_kernels import HORIZON, build
from hindsched.online.coupled.kernels.log_criteria_kernels import takes_candidate
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

    ``nothing_received`` is a state without transfers; candidates are built by it if ``heuristic.is_fresh``. The rows of
    ``record.letters`` are the slots to record, with their entries.
    """
    application, heuristic, tables, tree, trace = context
    at, tasks, program, data, need, _, _ = run_state
    up, down = states
    w, capacities = application.w, application.capacities
    t_prog, t_data = application.t_prog, application.t_data
    p, num_tasks = w.size, application.tasks
    is_passive = heuristic.switch < 0
    built = trace.built
    known_up = NONE
    enrolled = NONE  # the workers enrolled when the trace was made
    moves = 0  # slots since then in which transfers proceeded or time counted
    is_moved = False
    is_known = False
    recorded = record.letters.shape[0]
    entries = record.entries

    # The state of the run is in local variables. Sets of workers are words of bits: ``members`` of the configuration,
    # ``lacking`` members that still need program or data, ``received`` workers that hold some of either. ``need`` is
    # what a member has to receive, ``work`` the slots of the computation.
    slot, iteration, begun = at[SLOT], at[ITERATION], at[ITERATION_START]
    computed, num_entries, drawn = at[COMPUTED], at[ENTRIES], at[RANDOM_USED]
    members = lacking = received = NONE
    total = work = 0
    for q in range(p):
        if program[q] > 0 or data[q] > 0:
            received |= ONE << WORD(q)
        if tasks[q] > 0:
            members |= ONE << WORD(q)
            total += tasks[q]
            work = max(work, tasks[q] * w[q])
            need[q] = t_prog - program[q] + max(0, tasks[q] * t_data - data[q])
            if need[q] > 0:
                lacking |= ONE << WORD(q)
    is_complete = total == num_tasks

    code = DONE
    while slot < limit and iteration < application.iterations:
        # Is there room for all that one slot can write? If not, the caller enlarges the array and calls again.
        if slot >= up.size:
            code = MORE_STATES
            break
        if 2 * tables.num_sets[0] > tables.keys.shape[0]:
            code = MORE_SETS
            break
        if slot < recorded and num_entries + 2 * p + 2 > entries.size:
            code = MORE_ENTRIES
            break
        now_up, now_down = up[slot], down[slot]
        # R1: a worker that is DOWN loses program and data, and leaves the configuration; the computation is lost.
        lost = now_down & received
        received &= ~lost
        while lost != NONE:
            q = lowest(lost)
            lost &= lost - ONE
            program[q] = data[q] = 0
        lost = now_down & members
        if lost != NONE:
            members &= ~lost
            lacking &= ~lost
            is_complete = False
            computed = 0
            while lost != NONE:
                q = lowest(lost)
                lost &= lost - ONE
                tasks[q] = 0
        # R2: choose a configuration, if the old one is incomplete or the heuristic is proactive.
        if not is_complete or not is_passive:
            # Can the UP workers hold all tasks?
            room = 0
            rest = now_up
            while room < num_tasks and rest != NONE:
                q = lowest(rest)
                rest &= rest - ONE
                room += capacities[q]
            taken = False
            if room >= num_tasks:
                if heuristic.switch == RANDOM:
                    for q in range(p):
                        built[q] = 0
                    if drawn + num_tasks > numbers.size:
                        code = MORE_RANDOM
                        break
                    used = draw(application, now_up, numbers, drawn, built)
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
                        gone = known_up & ~now_up
                        new = now_up & ~known_up
                        start = first_invalid_step(context, seen, gone, new, enrolled, is_moved, elapsed)
                    if start == 0:
                        moves = 0
                        enrolled = NONE if heuristic.is_fresh and is_complete else members
                    if start < num_tasks:
                        build(context, seen, now_up, enrolled, start, elapsed)
                    is_known = True
                    is_moved = False
                    known_up = now_up
                    # A candidate replaces a complete configuration if it differs and is better.
                    taken = not is_complete or not is_same(tree.members[trace.node[num_tasks]], built, members, tasks)
                    if taken and (is_complete or heuristic.keeps_value):
                        seen = nothing_received if heuristic.is_fresh else run_state
                        left = work - computed
                        taken = takes_candidate(context, run_state, seen, is_complete, members, left, elapsed)
            else:
                # They cannot: give up an incomplete configuration.
                is_known = False  # this slot does not update the trace
                if not is_complete and members != NONE:
                    for q in range(p):
                        built[q] = 0
                    taken = True
            if taken:
                # All other workers leave and lose data and an incomplete program; the computation restarts.
                old = members
                members = lacking = NONE
                work = 0
                computed = 0
                is_complete = room >= num_tasks
                for q in range(p):
                    tasks[q] = built[q]
                    if built[q] > 0:
                        members |= ONE << WORD(q)
                        work = max(work, built[q] * w[q])
                        need[q] = t_prog - program[q] + max(0, built[q] * t_data - data[q])
                        if need[q] > 0:
                            lacking |= ONE << WORD(q)
                received = leave(old & ~members, t_prog, program, data, received)
                is_known = False  # other workers receive from now on
                if slot < recorded:
                    num_entries = record_configuration(slot, members, tasks, entries, num_entries)
        # R3: the master serves at most n_com members that lack something. R4: if no member lacks anything and all are
        # UP, they compute. R5: when the work is done the iteration ends, and all members leave.
        is_noted = slot < recorded
        if is_noted:
            rest = members
            while rest != NONE:
                q = lowest(rest)
                rest &= rest - ONE
                record.letters[slot, q] = _IDLE
        if lacking != NONE:
            waiting = lacking & now_up
            is_moved = is_moved or (waiting != NONE and not heuristic.is_fresh)
            channels = application.channels
            while waiting != NONE and channels > 0:
                if heuristic.service == BY_INDEX:
                    q = lowest(waiting)
                else:
                    q = first(waiting, heuristic.service, need, program, data, t_prog)
                bit = ONE << WORD(q)
                waiting &= ~bit
                channels -= 1
                received |= bit
                letter = _PROGRAM
                if program[q] < t_prog:  # the program first
                    program[q] += 1
                else:
                    data[q] += 1
                    letter = _DATA
                if is_noted:
                    record.letters[slot, q] = letter
                need[q] -= 1
                if need[q] == 0:
                    lacking &= ~bit
        elif is_complete and now_up & members == members:
            computed += 1
            if is_noted:
                rest = members
                while rest != NONE:
                    q = lowest(rest)
                    rest &= rest - ONE
                    record.letters[slot, q] = _COMPUTE
            if computed == work:
                received = leave(members, t_prog, program, data, received)
                for q in range(p):
                    tasks[q] = 0
                members = NONE
                is_complete = False
                computed = 0
                is_known = False  # the elapsed time is 0 again
                iteration += 1
                begun = slot + 1
        slot += 1
    at[SLOT], at[ITERATION], at[ITERATION_START] = slot, iteration, begun
    at[COMPUTED], at[ENTRIES], at[RANDOM_USED] = computed, num_entries, drawn
    return code


@kernel
def is_same(one: WORD, built: Ints, other: WORD, tasks: Ints) -> bool:
    """Return whether two configurations, each a set and its tasks, are equal."""
    if one != other:
        return False
    while one != NONE:
        q = lowest(one)
        one &= one - ONE
        if built[q] != tasks[q]:
            return False
    return True


@kernel
def leave(leaving: WORD, t_prog: int, program: Ints, data: Ints, received: WORD) -> WORD:
    """Remove data and incomplete programs of workers; return the workers that still hold a program."""
    while leaving != NONE:
        q = lowest(leaving)
        leaving &= leaving - ONE
        data[q] = 0
        if program[q] < t_prog:
            program[q] = 0
        if program[q] == 0:
            received &= ~(ONE << WORD(q))
    return received


@kernel
def record_configuration(slot: int, members: WORD, tasks: Ints, entries: Ints, num: int) -> int:
    """Write an entry of the schedule; return the new length of the list of entries."""
    entries[num] = slot
    at = num + 2
    rest = members
    while rest != NONE:
        q = lowest(rest)
        rest &= rest - ONE
        entries[at] = q
        entries[at + 1] = tasks[q]
        at += 2
    entries[num + 1] = (at - num - 2) // 2
    return at


@kernel
def first(waiting: WORD, service: int, need: Ints, program: Ints, data: Ints, t_prog: int) -> int:
    """Return the waiting worker to serve next: the largest need, or a transfer that has begun."""
    best = -1
    best_rank = 0
    while waiting != NONE:
        q = lowest(waiting)
        waiting &= waiting - ONE
        begun = program[q] if program[q] < t_prog else data[q]
        rank = need[q] if service == BY_LONGEST else min(1, begun)
        if best < 0 or rank > best_rank:
            best = q
            best_rank = rank
    return best
