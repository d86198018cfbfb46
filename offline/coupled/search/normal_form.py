"""One iteration: what every worker needs in it, and the tasks that a worker can hold.

Let an iteration start in slot s, the slot after the end of the iteration before or 0, and end in slot e. Let H be the
*holders* at its start, the workers that hold the complete program; x the task counts in slot e; S = {q : x_q >= 1} the
*team*; W = max x_q w_q; and c the W-th last slot up to e in which all of S are UP. By Proposition 1 (docs/model.md,
"Normal form") the iteration is possible iff no worker of S is DOWN in c..e and the channel can meet these needs in
slots s..c-1: each q in S needs x_q T_data units, and each worker of S and of a set Z of stand-by workers T_prog more,
unless it is a *survivor*: in H and not DOWN in s..e. The holders afterwards are the survivors, S and Z.

So (s, H, e, W, S, x, Z) determines an iteration, and later iterations depend on (e + 1, holders) only. If n_com does
not bind, the holders grow with c, and the largest c suffices.

**Symmetric workers.** Let ``end`` be a slot before which every schedule that can still improve ends: the number of
slots, or the incumbent makespan less one. Workers with equal w and mu that are UP in all slots s..end-1, and are both
in H or both not in H, are *symmetric*: exchanging their names from s on keeps schedules valid and as long. So among the
sets S, or sets Z for a given S, that differ in symmetric workers only, one suffices: the first of them in a fixed order
compute, the next are on stand-by. `teams.next_team` and `holders` leave out a worker if they leave out a symmetric
worker before it. Likewise a program counts only if it can be of use before ``end`` (`useful`).
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Words
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.search.bitsets import add, has
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.scratch_memory import Needs
from hindsched.offline.coupled.search.slot_codes import NEVER
from hindsched.offline.coupled.search.state_tables import Table

MAX_SKIP = 64
"""Ends after which `next_program` stops: keys in the queue rise with the ends, and unknown ends have no key."""


@kernel
def useful(table: Table, problem: Problem, q: int, t: int, horizon: int) -> bool:
    """Return whether a program that worker q holds at the start of slot t can be of use before `horizon`.

    To compute with it worker q needs T_data + w_q UP slots before its next DOWN slot and before `horizon`. True also if
    the known slots do not decide it.
    """
    if problem.t_prog == 0:
        return False
    i = table.cnt[t, q] + problem.slots_per_task[q] - 1
    if i < table.cnt[table.length, q]:
        return bool(table.pos[q, i] < horizon and table.down[table.pos[q, i], q] < t)
    return bool(table.length < horizon and table.down[table.length - 1, q] < t)


@kernel
def prepare_free(table: Table, problem: Problem, needs: Needs, t: int, e: int) -> None:
    """Write what every worker needs in an iteration in slots t..e if programs take no channel: see `prepare`."""
    for q in range(problem.p):
        period_start = table.down[e, q] + 1
        first = max(t, period_start)
        needs.receive_from[q] = first
        needs.data_base[q] = max(table.cnt[first, q], table.cnt[period_start, q] + problem.t_prog)


@kernel
def prepare(table: Table, problem: Problem, needs: Needs, s: int, e: int, held: Words, horizon: int) -> None:
    """Write what every worker needs in an iteration in slots s..e with holders `held` at its start.

    ``survivors`` are the survivors of `held`, and ``obtainable`` the other workers that can have the program by slot e;
    both without the workers that cannot use it before `horizon`.
    """
    needs.survivors[:] = np.uint64(0)
    needs.obtainable[:] = np.uint64(0)
    for q in range(problem.p):
        period_start = table.down[e, q] + 1
        first = max(s, period_start)
        needs.receive_from[q] = first
        needs.data_base[q] = table.cnt[first, q]
        needs.program_by[q] = 0
        if problem.t_prog == 0:
            continue
        if period_start <= s and has(held, q):
            if useful(table, problem, q, e + 1, horizon):
                add(needs.survivors, q)
            continue
        needs.data_base[q] += problem.t_prog
        if needs.data_base[q] <= table.cnt[e, q]:
            needs.program_by[q] = table.pos[q, needs.data_base[q] - 1] + 1
            if useful(table, problem, q, e + 1, horizon):
                add(needs.obtainable, q)
        else:
            needs.program_by[q] = NEVER


@kernel
def next_program(table: Table, problem: Problem, s: int, e: int, held: Words, horizon: int) -> int:
    """Return the next slot after e in which a worker can have the program that could not one slot before.

    The iteration starts in slot s with holders `held`, as in `prepare`. The slot is at most `MAX_SKIP` slots after e,
    and at most the end of the known slots and of the horizon. Before it, survivors and obtainable workers are among
    those of slot e.
    """
    stop = min(horizon, table.length, e + MAX_SKIP)
    for t in range(e + 1, stop):
        for q in range(problem.p):
            num_up = table.cnt[t, q]
            period_start = table.down[t, q] + 1
            if (
                num_up > table.cnt[t - 1, q]  # the last unit of a program in slot t - 1
                and num_up - table.cnt[max(s, period_start), q] == problem.t_prog
                and not (period_start <= s and has(held, q))
                and useful(table, problem, q, t + 1, horizon)
            ):
                return t
    return max(e + 1, stop)


@kernel
def needs_program(table: Table, needs: Needs, q: int) -> bool:
    """Return whether worker q needs the program before it can compute."""
    return bool(needs.data_base[q] > table.cnt[needs.receive_from[q], q])


@kernel
def is_up_throughout(table: Table, q: int, s: int, horizon: int) -> bool:
    """Return whether worker q is known to be UP in all slots s..horizon-1."""
    return bool(horizon <= table.length and s <= horizon and table.cnt[horizon, q] - table.cnt[s, q] == horizon - s)


@kernel
def last_before_data(problem: Problem, s: int) -> int:
    """Return the last slot c in which no iteration that starts in slot s can compute: its data need more slots."""
    return s - 1 + (problem.m * problem.t_data + problem.n_com - 1) // problem.n_com


@kernel
def programs_sent(problem: Problem, s: int, c: int) -> int:
    """Return how many programs the channel can send in slots s..c-1 in addition to the data of an iteration.

    0 if the slots are fewer than T_prog, since a worker receives one unit a slot; negative if the data alone exceed the
    channel.
    """
    programs = (problem.n_com * (c - s) - problem.m * problem.t_data) // problem.t_prog
    return min(programs, problem.p if c - s >= problem.t_prog else 0)


@kernel
def most_tasks(table: Table, needs: Needs, q: int, c: int, cap: int, t_data: int) -> int:
    """Return X_q(c): the most tasks, at most `cap`, that worker q can hold if it computes from slot c on."""
    room = table.cnt[c, q] - needs.data_base[q]
    if room < 0 or c < needs.receive_from[q]:
        return 0
    if t_data == 0:
        return cap
    room //= t_data
    return cap if room > cap else room


@kernel
def hold(problem: Problem, needs: Needs, held: Words, c: int) -> None:
    """Add to `held` the workers that can hold the program after an iteration that computes from slot c on.

    `prepare` has to be called before.
    """
    for k in range(problem.num_words):
        held[k] |= needs.survivors[k]
    for q in range(problem.p):
        if needs.program_by[q] <= c and has(needs.obtainable, q):
            add(held, q)
