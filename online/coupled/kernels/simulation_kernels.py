"""Rules R1 to R5 slot by slot: the twin of `hindsched.online.coupled.simulate`, for the built-in heuristics."""

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
    NUMBERS,
    RANDOM,
    SLOT,
    Application,
    Choice,
    Plans,
    Record,
    Standing,
    States,
    Tables,
    Trace,
)
from hindsched.online.coupled.kernels.bit_sets import NONE, ONE, WORD, lowest
from hindsched.online.coupled.kernels.builder_kernels import HORIZON, build
from hindsched.online.coupled.kernels.log_criteria_kernels import is_gain
from hindsched.online.coupled.kernels.random_kernels import draw
from hindsched.online.coupled.kernels.rebuild_kernels import review

__all__ = ["DONE", "MORE_ENTRIES", "MORE_NUMBERS", "MORE_SETS", "MORE_STATES", "run"]

#: Why `run` returns: the run is over, or something must grow before it goes on.
DONE, MORE_STATES, MORE_SETS, MORE_ENTRIES, MORE_NUMBERS = range(5)

#: Places in `hindsched.online.coupled.simulate.SERVICES`.
BY_INDEX, BY_LONGEST = 0, 1

_PROGRAM, _DATA, _COMPUTE, _IDLE = np.uint8(ord("P")), np.uint8(ord("D")), np.uint8(ord("C")), np.uint8(ord("I"))


@kernel
def run(
    application: Application,
    choice: Choice,
    tables: Tables,
    plans: Plans,
    trace: Trace,
    states: States,
    standing: Standing,
    blank: Standing,
    record: Record,
    numbers: Words,
    limit: int,
) -> int:
    """Go on from slot ``standing.at[SLOT]`` to the end, to ``limit``, or to where something is short.

    In ``blank`` no worker has received anything: what a candidate is built by where ``choice.is_fresh``.
    ``record.letters`` has as many rows as slots are to be recorded; entries are recorded for these slots.
    """
    at, tasks, program, data, need, _, _ = standing
    up, down = states
    w, capacities = application.w, application.capacities
    t_prog, t_data = application.t_prog, application.t_data
    p, num_tasks = w.size, application.tasks
    is_passive = choice.switch < 0
    built = trace.built
    known_up = NONE
    enrolled = NONE  # who was when the trace was made
    moves = 0  # slots since in which needs may have become less, or time has passed that counts
    is_moved = False
    is_known = False
    recorded = record.letters.shape[0]
    entries = record.entries

    # Where the run stands is kept in local variables; the sets are words of bits, made from what workers have:
    # ``members`` are those of the configuration, ``lacking`` the members that still need program or data, ``received``
    # all that hold some of either, ``need`` the units a member needs, ``work`` the slots the computation takes.
    slot, iteration, begun = at[SLOT], at[ITERATION], at[ITERATION_START]
    computed, num_entries, drawn = at[COMPUTED], at[ENTRIES], at[NUMBERS]
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
        # Is there room for all that one slot can write? If not, the caller makes some and calls again.
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
        # R1: who is DOWN loses program and data, and is no longer a member; the computation of the iteration is lost.
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
        # R2: a new configuration, if the old one is incomplete or the heuristic looks at every slot.
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
                if choice.switch == RANDOM:
                    for q in range(p):
                        built[q] = 0
                    if drawn + num_tasks > numbers.size:
                        code = MORE_NUMBERS
                        break
                    used = draw(application, now_up, numbers, drawn, built)
                    if used < 0:
                        code = MORE_NUMBERS
                        break
                    drawn = used
                    taken = True
                else:
                    # Only the steps of the trace that may have changed since the last look are built anew.
                    elapsed = slot - begun
                    start = 0
                    # By yield, the time that has passed counts in every step.
                    is_moved = is_moved or choice.build == BY_Y
                    seen = standing
                    if choice.is_fresh:
                        if is_complete:
                            seen = blank
                        else:
                            is_known = False  # the trace was built by what nobody had received
                    if is_moved:
                        moves += 1
                    if is_known and moves < HORIZON:
                        gone = known_up & ~now_up
                        new = now_up & ~known_up
                        start = review(
                            application, choice, tables, plans, trace, seen, gone, new, enrolled, is_moved, elapsed
                        )
                    if start == 0:
                        moves = 0
                        enrolled = NONE if choice.is_fresh and is_complete else members
                    if start < num_tasks:
                        build(application, choice, tables, plans, trace, seen, now_up, enrolled, start, elapsed)
                    is_known = True
                    is_moved = False
                    known_up = now_up
                    # In place of a complete configuration it is taken if it is another one, and better.
                    taken = not is_complete or not is_same(plans.members[trace.node[num_tasks]], built, members, tasks)
                    if taken and (is_complete or choice.keeps_value):
                        taken = is_gain(
                            application, choice, tables, plans, trace, standing,
                            blank if choice.is_fresh else standing, is_complete, members, work - computed, elapsed,
                        )  # fmt: skip
            else:
                # They cannot: an incomplete configuration is given up.
                is_known = False  # the trace was not looked at in this slot
                if not is_complete and members != NONE:
                    for q in range(p):
                        built[q] = 0
                    taken = True
            if taken:
                # Everybody else leaves, and loses data and a part of the program; the computation begins anew.
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
                is_known = False  # others will receive now
                if slot < recorded:
                    num_entries = note(slot, members, tasks, entries, num_entries)
        # R3: the master serves members that lack something, n_com at most. R4: if nobody lacks anything, all members
        # that are UP together compute. R5: when the work is done the iteration ends, and everybody leaves.
        is_noted = slot < recorded
        if is_noted:
            rest = members
            while rest != NONE:
                q = lowest(rest)
                rest &= rest - ONE
                record.letters[slot, q] = _IDLE
        if lacking != NONE:
            waiting = lacking & now_up
            is_moved = is_moved or (waiting != NONE and not choice.is_fresh)
            channels = application.channels
            while waiting != NONE and channels > 0:
                if choice.service == BY_INDEX:
                    q = lowest(waiting)
                else:
                    q = first(waiting, choice.service, need, program, data, t_prog)
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
                is_known = False  # time begins anew
                iteration += 1
                begun = slot + 1
        slot += 1
    at[SLOT], at[ITERATION], at[ITERATION_START] = slot, iteration, begun
    at[COMPUTED], at[ENTRIES], at[NUMBERS] = computed, num_entries, drawn
    return code


@kernel
def is_same(one: WORD, built: Ints, other: WORD, tasks: Ints) -> bool:
    """Whether two configurations, each a set and its tasks, are the same."""
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
    """Take data and partial programs from workers; return who still has something."""
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
def note(slot: int, members: WORD, tasks: Ints, entries: Ints, num: int) -> int:
    """Write an entry of the schedule; return how long the list of entries is now."""
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
    """Return who of the waiting workers is served next: by largest need, or who has begun to receive."""
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
