r"""One iteration: its normal form, and the sets of workers that complete it in a given slot.

Normal form
-----------
Let an iteration of a valid schedule start in slot s (the slot after the previous iteration's end,
or 0), when exactly the workers of H hold the program, and end in slot e. Let x be the task counts
at its end, S = {q : x_q >= 1} and W = max x_q w_q.

**Proposition.** With c the W-th last slot up to e in which all of S are UP:

(a) no worker of S is DOWN in [c, e];
(b) each q in S *needs* x_q T_data units, and T_prog more unless it is in H and not DOWN in [s, e];
    each other worker that holds the program at the end and is not such a survivor needs T_prog;
(c) these needs can be met in slots [s, c): in slot t a worker that is UP at t and not DOWN in
    [t, e] may receive one unit, at most n_com workers do.

Conversely, for any s <= c <= e, S, x with sum x = m, x <= mu, c as above, and any further set Z
of workers with which (a)-(c) hold, R1-R5 admit an iteration in slots s..e after which the holders
are the survivors of H, S and Z.

*Proof.* The W computing slots c_1 < ... < c_W = e that count have all of S UP and lie after
everything S needs has arrived. They are W common UP slots up to e, so c_1 <= c. From c_1 to e no
task count changes and no worker of S is DOWN (either would lose the computation), which is (a).
All these slots are computation slots, so nothing is sent after c_1 (R3, R4): every unit of the
iteration is sent in [s, c_1). Task data is void and partial programs are lost when an iteration
ends and when a worker is DOWN, so what counts is received in [s, c_1) after the last DOWN slot up
to e, or is a whole program held since before s. That is (b) and (c).
Conversely, enrol every worker from its first unit on (it is UP then; not DOWN before e, so R1 does
not touch it), workers of S that need nothing from slot c on (they are UP), workers of Z until they
have the program. Send as the flow of (c) says, program first. Every slot of [s, c) can be made a
communication slot: the configuration is incomplete while a worker of S is missing, has something to
send while one lacks something, and otherwise one task count is lowered by one until slot c, which
by R2 loses nothing but computation. From c on nothing is lacking, so the common UP slots compute,
and the W-th of them is e. QED

**Symmetric workers.** Let ``end`` be a slot in which all schedules that are still of interest have ended: the
number of slots, or the makespan to beat less one. Workers with equal w and mu that are UP in all slots
s..end-1, and both in H or both not, are *symmetric*. Exchanging their names from s on turns valid
schedules into valid schedules of the same length, so of all sets S, and of all Z for a given S, that
differ in the choice among symmetric workers only one each is needed: the first of them in a fixed
order compute, the next are on stand-by. So `member_sets.advance` and `holders` leave out a worker if
they leave out a symmetric one before it. Likewise a program counts only if it can be of use before
``end`` (`useful`).

So an iteration is fixed by (s, H, e, W, S, x, Z), c follows from (e, W, S), and all that the future
sees of it is (e + 1, holders). If n_com does not bind, the holders grow with c, and the best is the
largest c alone.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Words
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.search.bitsets import add, has
from hindsched.offline.coupled.search.constants import NEVER
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.scratch_memory import Needs
from hindsched.offline.coupled.search.state_tables import Table


@kernel
def useful(table: Table, problem: Problem, q: int, t: int, horizon: int) -> bool:
    """Return whether a program that worker q holds at the start of slot t can still serve before `horizon`.

    To compute with it q has to be UP for the data of a task and for its w_q computing slots, all
    different, before it is next DOWN and before `horizon`. True also if the known slots do not tell.
    """
    if problem.t_prog == 0:
        return False
    i = table.cnt[t, q] + problem.slots_per_task[q] - 1
    if i < table.cnt[table.length, q]:
        return bool(table.pos[q, i] < horizon and table.down[table.pos[q, i], q] < t)
    return bool(table.length < horizon and table.down[table.length - 1, q] < t)


@kernel
def prepare_free(table: Table, problem: Problem, needs: Needs, t: int, e: int) -> None:
    """Needs in an iteration from t to e if programs come free: see `prepare`."""
    for q in range(problem.p):
        born = table.down[e, q] + 1  # the first slot of q's availability period
        first = max(t, born)
        needs.receive_from[q] = first
        needs.data_base[q] = max(table.cnt[first, q], table.cnt[born, q] + problem.t_prog)


@kernel
def prepare(table: Table, problem: Problem, needs: Needs, s: int, e: int, held: Words, horizon: int) -> None:
    """Needs of every worker in an iteration in slots s..e with holders `held` at its start.

    Of the survivors of `held`, and of the others that could have the program by slot e, ``survivors`` and
    ``obtainable`` have only those to whom it is still of use before `horizon`.
    """
    needs.survivors[:] = np.uint64(0)
    needs.obtainable[:] = np.uint64(0)
    for q in range(problem.p):
        born = table.down[e, q] + 1  # the first slot of q's availability period
        first = max(s, born)
        needs.receive_from[q] = first
        needs.data_base[q] = table.cnt[first, q]
        needs.program_by[q] = 0
        if problem.t_prog == 0:
            continue
        if born <= s and has(held, q):
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
def needs_program(table: Table, needs: Needs, q: int) -> bool:
    """Return whether worker q has to be sent the program before it can compute."""
    return bool(needs.data_base[q] > table.cnt[needs.receive_from[q], q])


@kernel
def is_up_throughout(table: Table, q: int, s: int, horizon: int) -> bool:
    """Return whether worker q is known to be UP in all slots s..horizon-1."""
    return bool(horizon <= table.length and s <= horizon and table.cnt[horizon, q] - table.cnt[s, q] == horizon - s)


@kernel
def last_before_data(problem: Problem, s: int) -> int:
    """Return the last slot by which the data of an iteration that starts in slot s cannot all have been sent."""
    return s - 1 + (problem.m * problem.t_data + problem.n_com - 1) // problem.n_com


@kernel
def programs_sent(problem: Problem, s: int, c: int) -> int:
    """Return how many programs the channel can send in slots s..c-1 beside the data of an iteration.

    None if a worker could not receive a whole one, a unit a slot; negative if the data alone are too many.
    """
    programs = (problem.n_com * (c - s) - problem.m * problem.t_data) // problem.t_prog
    return min(programs, problem.p if c - s >= problem.t_prog else 0)


@kernel
def most_tasks(table: Table, needs: Needs, q: int, c: int, cap: int, t_data: int) -> int:
    """X_q(c): most tasks worker q can hold if computation starts in slot c, at most `cap`."""
    room = table.cnt[c, q] - needs.data_base[q]
    if room < 0 or c < needs.receive_from[q]:
        return 0
    if t_data == 0:
        return cap
    room //= t_data
    return cap if room > cap else room


@kernel
def hold(problem: Problem, needs: Needs, held: Words, c: int) -> None:
    """Add to `held` who can hold the program after an iteration that computes from slot c on; `prepare` was called."""
    for k in range(problem.num_words):
        held[k] |= needs.survivors[k]
    for q in range(problem.p):
        if needs.program_by[q] <= c and has(needs.obtainable, q):
            add(held, q)
