"""The criterion: the compiled twin of `hindsched.online.coupled.lookahead.attempts.AttemptModel`.

D depends on the members and on those that are RECLAIMED, and so does U if no member has anything to receive. Both are
cached by these two sets of workers, as words of bits. They are also stored side by side for all workers that may join a
set, since building and exchanging read them in turn.
"""

from __future__ import annotations

import math

import numpy as np

from hindsched.instances.array_types import Ints, Reals
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.lookahead.attempts import DECAYED, STEP
from hindsched.online.coupled.lookahead.kernels.planner_arguments import (
    AttemptTables,
    PlannerContext,
    RunState,
    Scratch,
)

__all__ = [
    "LOG_P_PLUS",
    "ONE",
    "WORD",
    "U",
    "cost_of",
    "expected_cost",
    "load_members",
    "multiply",
    "place_of",
    "reach_of",
    "stop_of",
    "success_of",
    "total_of_two",
]

WORD = np.uint64
ONE = WORD(1)

#: Indices of a line of ``AttemptTables.sums``.
U, D, LOG_P_PLUS = 2, 3, 4


#: Floating-point rules under which the compiler may add several products at once.
SUM_IN_ANY_ORDER = {"reassoc", "nsz", "contract"}


@kernel
def stop_of(longest: int, decay: float, slots: int) -> int:
    """Return the number of slots of a sum."""
    return min(slots, STEP * int(math.ceil((longest + 1.0 + DECAYED / decay) / STEP)))


@kernel(fastmath=SUM_IN_ANY_ORDER)
def total_of_two(a: Reals, b: Reals, stop: int) -> float:
    """Return the sum of the first products."""
    found = 0.0
    for t in range(stop):
        found += a[t] * b[t]
    return found


@kernel(fastmath=SUM_IN_ANY_ORDER)
def total_of_three(a: Reals, b: Reals, c: Reals, stop: int) -> float:
    """Return the sum of the first products."""
    found = 0.0
    for t in range(stop):
        found += a[t] * b[t] * c[t]
    return found


@kernel
def multiply(a: Reals, b: Reals, stop: int, into: Reals) -> None:
    """Write the first products; ``into`` may be one of the two."""
    for t in range(stop):
        into[t] = a[t] * b[t]


@kernel
def multiply_three(a: Reals, b: Reals, c: Reals, stop: int, into: Reals) -> None:
    """Write the first products; ``into`` may be one of the three."""
    for t in range(stop):
        into[t] = a[t] * b[t] * c[t]


@kernel
def reach_of(tables: AttemptTables, scratch: Scratch, num: int) -> float:
    """Return U of the first ``num`` members of ``scratch.who``."""
    who, state, need, reach = scratch.who, scratch.state, scratch.need, tables.reach
    q = who[0]
    if num == 1:
        p_plus = tables.p_plus[q]
        return float(tables.reaches_up[q, state[0]] * tables.powers[q, need[0]] / (1.0 - p_plus))
    decay = tables.rate[q]
    longest = need[0]
    for k in range(1, num):
        decay += tables.rate[who[k]]
        longest = max(longest, need[k])
    stop = stop_of(longest, decay, tables.stay.shape[2])
    product = reach[q, state[0], need[0]]
    k = 1
    while num - k > 2:
        one, two = reach[who[k], state[k], need[k]], reach[who[k + 1], state[k + 1], need[k + 1]]
        multiply_three(product, one, two, stop, scratch.other)
        product = scratch.other
        k += 2
    one = reach[who[k], state[k], need[k]]
    end = product[stop - 1] * one[stop - 1]
    if num - k == 1:
        total = total_of_two(product, one, stop)
    else:
        two = reach[who[k + 1], state[k + 1], need[k + 1]]
        total = total_of_three(product, one, two, stop)
        end *= two[stop - 1]
    return float(total + end / math.expm1(decay))


@kernel
def stay_of(tables: AttemptTables, scratch: Scratch, num: int) -> float:
    """Return D of the first ``num`` members of ``scratch.who``."""
    who, state, stay = scratch.who, scratch.state, tables.stay
    q = who[0]
    if num == 1:
        return float(tables.time_to_down[q, state[0]])
    decay = tables.rate[q]
    for k in range(1, num):
        decay += tables.rate[who[k]]
    stop = stop_of(0, decay, tables.stay.shape[2])
    product = stay[q, state[0]]
    k = 1
    while num - k > 2:
        multiply_three(product, stay[who[k], state[k]], stay[who[k + 1], state[k + 1]], stop, scratch.other)
        product = scratch.other
        k += 2
    one = stay[who[k], state[k]]
    end = product[stop - 1] * one[stop - 1]
    if num - k == 1:
        total = total_of_two(product, one, stop)
    else:
        two = stay[who[k + 1], state[k + 1]]
        total = total_of_three(product, one, two, stop)
        end *= two[stop - 1]
    return float(total + end / math.expm1(decay))


@kernel(forceinline=True)
def hash_of_set(members: WORD, reclaimed: WORD) -> WORD:
    """Return a hash of 32 bits."""
    return ((members ^ (reclaimed * WORD(0xC2B2AE3D27D4EB4F))) * WORD(0x9E3779B97F4A7C15)) >> WORD(32)


@kernel(forceinline=True)
def place_of(tables: AttemptTables, scratch: Scratch, members: WORD, reclaimed: WORD) -> int:
    """Return the line of a set that lacks nothing, computed if it is missing."""
    sets = tables.sets
    place = int(np.int64(hash_of_set(members, reclaimed) & WORD(sets.shape[0] - 1)))
    if sets[place, 0] != members or sets[place, 1] != reclaimed:
        _fill(tables, scratch, members, reclaimed, place)
    return place


@kernel
def _fill(tables: AttemptTables, scratch: Scratch, members: WORD, reclaimed: WORD, place: int) -> None:
    """Compute the line of a set."""
    num = 0
    for q in range(tables.rate.size):
        if members >> WORD(q) & ONE:
            scratch.who[num] = q
            scratch.state[num] = int(reclaimed >> WORD(q) & ONE)
            scratch.need[num] = 0
            num += 1
    u = reach_of(tables, scratch, num)
    tables.sets[place, 0] = members
    tables.sets[place, 1] = reclaimed
    tables.sums[place, U] = u
    tables.sums[place, D] = stay_of(tables, scratch, num)
    tables.sums[place, LOG_P_PLUS] = math.log1p(-1.0 / u) if u > 1.0 else -np.inf


@kernel
def _enter(tables: AttemptTables, scratch: Scratch, row: int, able: WORD, reclaimed: WORD) -> None:
    """Fill a row for the workers ``able``, of which ``reclaimed`` are RECLAIMED."""
    bases, rows, sums = tables.bases, tables.rows, tables.sums
    for state in range(2):
        missing = (able & reclaimed if state else able & ~reclaimed) & ~bases[row, 2 + state]
        if missing == WORD(0):
            continue
        bases[row, 2 + state] |= missing
        for q in range(rows.shape[2]):
            if missing >> WORD(q) & ONE:
                with_it = bases[row, 0] | ONE << WORD(q)
                place = place_of(tables, scratch, with_it, WORD(0))
                rows[row, 0, q] = sums[place, U]
                rows[row, 1, q] = sums[place, D]
                rows[row, 2, q] = sums[place, LOG_P_PLUS]
                place = place_of(tables, scratch, with_it, bases[row, 1] | WORD(state) << WORD(q))
                rows[row, 3 + 2 * state, q] = sums[place, U]
                rows[row, 4 + 2 * state, q] = sums[place, D]


@kernel(forceinline=True)
def row_of(
    tables: AttemptTables, scratch: Scratch, members: WORD, reclaimed: WORD, able: WORD, able_reclaimed: WORD
) -> int:
    """Return the row of a set, filled for the workers ``able``, of which ``able_reclaimed`` are RECLAIMED."""
    bases = tables.bases
    row = int(np.int64(hash_of_set(members, reclaimed) & WORD(bases.shape[0] - 1)))
    if bases[row, 0] != members or bases[row, 1] != reclaimed:
        bases[row, 0] = members
        bases[row, 1] = reclaimed
        bases[row, 2] = bases[row, 3] = WORD(0)
    filled = bases[row, 2] & ~able_reclaimed | bases[row, 3] & able_reclaimed
    if able & ~filled != WORD(0):
        _enter(tables, scratch, row, able, able_reclaimed)
    return row


@kernel(forceinline=True)
def is_above(bar: float, u: float, d: float, u0: float, d0: float, log_p_plus: float, work: int, value: float) -> bool:
    """Return whether J is certainly above a bar; (1 + z / 8 + z^2 / 128)^8 is a lower bound on exp(z)."""
    z = (1 - work) * log_p_plus * 0.125
    most = 1.0 + z + 0.5 * z * z
    most *= most
    most *= most
    most *= most
    return (d + value - bar) * most * u0 > u * (d0 - 1.0 + value)


@kernel
def candidates_within(
    tables: AttemptTables,
    scratch: Scratch,
    eligible: Ints,
    row: int,
    reached: float,
    work: int,
    bar: float,
    value: float,
) -> int:
    """Return, as bits, the workers whose J with one more task is not certainly above a bar.

    ``reached`` is the probability that all members are ever UP and loaded in one slot; this event is independent of the
    new member.
    """
    joins, longer = scratch.joins, scratch.longer
    fresh_u, fresh_d, log_p_plus = tables.rows[row, 0], tables.rows[row, 1], tables.rows[row, 2]
    up_u, up_d = tables.rows[row, 3], tables.rows[row, 4]
    reclaimed_u, reclaimed_d = tables.rows[row, 5], tables.rows[row, 6]
    found = 0
    for q in range(joins.size):
        # without branches and stores, so that the compiler vectorises over workers
        u, other_u, d, other_d = up_u[q], reclaimed_u[q], up_d[q], reclaimed_d[q]
        u = other_u if eligible[q] > 0 else u
        d = other_d if eligible[q] > 0 else d
        joint = reached * joins[q] * fresh_u[q]
        u = joint if joint < u else u
        its_work = longer[q] if longer[q] > work else work
        is_out = is_above(bar, u, d, fresh_u[q], fresh_d[q], log_p_plus[q], its_work, value)
        found |= (0 if is_out else 1) << q
    return found


@kernel(forceinline=True)
def success_of(u: float, u0: float, log_p_plus: float, work: int) -> float:
    """Return P of an attempt with ``work`` slots of remaining computation."""
    success = u / u0
    if work > 1:
        success *= math.exp((work - 1) * log_p_plus)
    return success


@kernel
def expected_cost(u: float, d: float, u0: float, d0: float, log_p_plus: float, work: int, value: float) -> float:
    """Return J = E[T] + (1 - P) V of an attempt with ``work`` slots of remaining computation."""
    success = success_of(u, u0, log_p_plus, work)
    return d - success * (d0 - 1.0) + (1.0 - success) * value


@kernel
def load_members(context: PlannerContext, run_state: RunState, tasks: Ints) -> int:
    """Write the members with their states and needs into the scratch arrays; return their number."""
    application, _, tables, scratch = context
    eligible, program, data = scratch.eligible, run_state.program, run_state.data
    who, state, need = scratch.who, scratch.state, scratch.need
    num = lacking = needed = 0
    for q in range(tasks.size):
        if tasks[q] > 0:
            who[num] = q
            state[num] = eligible[q]
            need[num] = application.t_prog - program[q] + max(0, tasks[q] * application.t_data - data[q])
            lacking += int(need[num] > 0)
            needed += need[num]
            num += 1
    if lacking > application.n_com:
        least = min((needed + application.n_com - 1) // application.n_com, tables.reach.shape[2] - 1)
        for k in range(num):
            if need[k] > 0:
                need[k] = max(need[k], least)
    return num


@kernel
def cost_of(context: PlannerContext, run_state: RunState, tasks: Ints, done: int, value: float) -> float:
    """Return J of a configuration after ``done`` slots of computation."""
    application, _, tables, scratch = context
    eligible = scratch.eligible
    members = reclaimed = WORD(0)
    work = 0
    for q in range(tasks.size):
        if tasks[q] > 0:
            members |= ONE << WORD(q)
            if eligible[q] > 0:
                reclaimed |= ONE << WORD(q)
            work = max(work, tasks[q] * application.w[q])
    place = place_of(tables, scratch, members, WORD(0))
    u0, d0, log_p_plus = tables.sums[place, U], tables.sums[place, D], tables.sums[place, LOG_P_PLUS]
    if reclaimed != WORD(0):
        place = place_of(tables, scratch, members, reclaimed)
    u, d = tables.sums[place, U], tables.sums[place, D]
    num = load_members(context, run_state, tasks)
    is_lacking = False
    for k in range(num):
        is_lacking = is_lacking or scratch.need[k] > 0
    if is_lacking:
        u = reach_of(tables, scratch, num)
    return expected_cost(u, d, u0, d0, log_p_plus, work - done, value)
