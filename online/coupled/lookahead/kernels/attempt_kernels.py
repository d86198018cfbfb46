"""The criterion: the compiled twin of `hindsched.online.coupled.lookahead.attempts.AttemptModel`.

D depends on the members and on those that are RECLAIMED, and so does U if no member has anything to receive. Both are
cached by a key of the set. They are also stored side by side for all workers that may join a set, since building and
exchanging read them in turn. The table of g of a worker is filled when a product needs it.
"""

from __future__ import annotations

import math

import numpy as np

from hindsched.instances.array_types import Ints, Reals
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.bit_sets import NONE, ONE, WORD, lowest
from hindsched.online.coupled.lookahead.attempts import DECAYED, STEP
from hindsched.online.coupled.lookahead.kernels.planner_arguments import (
    AttemptTables,
    PlannerContext,
    RunState,
    Scratch,
)

__all__ = [
    "LOG_P_PLUS",
    "D",
    "U",
    "candidates_within",
    "cost_of",
    "expected_cost",
    "fill_reach",
    "is_above",
    "lacks",
    "line_of",
    "load_members",
    "load_plan",
    "multiply",
    "multiply_three",
    "place_of",
    "reach_of",
    "row_of",
    "stop_of",
    "success_of",
    "total_of_two",
]

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
def fill_reach(tables: AttemptTables, who: Ints, state: Ints, need: Ints, num: int) -> None:
    """Fill the tables of g of the first ``num`` members of ``who`` as far as they need anything."""
    places, filled, used = tables.reach_places, tables.reach_filled, tables.num_lines
    missing = short = 0
    for k in range(num):
        missing += int(need[k] > 0 and places[who[k], state[k]] < 0)
        short += int(need[k] > filled[who[k], state[k]])
    if short == 0:
        return
    needs = tables.powers.shape[1]
    if used[0] + needs * missing > tables.reach.shape[0]:
        places[:] = -1
        filled[:] = 0
        used[0] = places.size
    for k in range(num):
        q, s = who[k], state[k]
        if need[k] > filled[q, s]:
            if places[q, s] < 0:
                places[q, s] = used[0]
                used[0] += needs
            _extend_table(tables, q, s, need[k])


@kernel
def _extend_table(tables: AttemptTables, q: int, state: int, need: int) -> None:
    """Fill a table of g up to ``need``."""
    uu, ur, ru, rr = tables.kept[q, 0, 0], tables.kept[q, 0, 1], tables.kept[q, 1, 0], tables.kept[q, 1, 1]
    for n in range(tables.reach_filled[q, state] + 1, need + 1):
        before = tables.reach[line_of(tables, q, state, n - 1)]
        line = tables.reach[line_of(tables, q, state, n)]
        g = 0.0
        r = 0.0
        for t in range(line.size):
            line[t] = g
            g, r = before[t] * uu + r * ru, before[t] * ur + r * rr
    tables.reach_filled[q, state] = need


@kernel(forceinline=True)
def line_of(tables: AttemptTables, q: int, state: int, need: int) -> int:
    """Return the line of g(s, n, t) of a worker in ``tables.reach``; its table must be filled so far."""
    if need == 0:
        return 2 * q + state
    return int(tables.reach_places[q, state] + need)


@kernel
def reach_of(tables: AttemptTables, scratch: Scratch, state: Ints, need: Ints, num: int) -> float:
    """Return U of the first ``num`` members of ``scratch.who`` in these states with these needs."""
    who, reach = scratch.who, tables.reach
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
    if longest > 0:
        fill_reach(tables, who, state, need, num)
    product = reach[line_of(tables, q, state[0], need[0])]
    k = 1
    while num - k > 2:
        one = reach[line_of(tables, who[k], state[k], need[k])]
        two = reach[line_of(tables, who[k + 1], state[k + 1], need[k + 1])]
        multiply_three(product, one, two, stop, scratch.other)
        product = scratch.other
        k += 2
    one = reach[line_of(tables, who[k], state[k], need[k])]
    end = product[stop - 1] * one[stop - 1]
    if num - k == 1:
        total = total_of_two(product, one, stop)
    else:
        two = reach[line_of(tables, who[k + 1], state[k + 1], need[k + 1])]
        total = total_of_three(product, one, two, stop)
        end *= two[stop - 1]
    return float(total + end / math.expm1(decay))


@kernel
def stay_of(tables: AttemptTables, scratch: Scratch, state: Ints, num: int) -> float:
    """Return D of the first ``num`` members of ``scratch.who`` in these states."""
    who, stay = scratch.who, tables.stay
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


@kernel
def place_of(tables: AttemptTables, scratch: Scratch, state: Ints, num: int) -> int:
    """Return the line of the first ``num`` of ``scratch.who``, which lack nothing, computed if it is missing."""
    sets, labels, who = tables.sets, tables.labels, scratch.who
    key, check = NONE, NONE
    for k in range(num):
        key += labels[who[k], state[k], 0]
        check += labels[who[k], state[k], 1]
    place = int(np.int64(key & WORD(sets.shape[0] - 1)))
    if sets[place, 0] != key or sets[place, 1] != check:
        u = reach_of(tables, scratch, state, scratch.zeros, num)
        sets[place, 0], sets[place, 1] = key, check
        tables.sums[place, U] = u
        tables.sums[place, D] = stay_of(tables, scratch, state, num)
        tables.sums[place, LOG_P_PLUS] = log_p_plus_of(u)
    return place


@kernel(forceinline=True)
def log_p_plus_of(u: float) -> float:
    """Return log(1 - 1 / U) for members that are UP."""
    return math.log1p(-1.0 / u) if u > 1.0 else -np.inf


@kernel(forceinline=True)
def row_of(tables: AttemptTables, scratch: Scratch, key: WORD, check: WORD, num: int) -> int:
    """Return the row of the first ``num`` of ``scratch.base``, filled for ``scratch.able_set``; the key is theirs."""
    bases, able, reclaimed = tables.bases, scratch.able_set, scratch.reclaimed_set
    row = int(np.int64(key & WORD(bases.shape[0] - 1)))
    words = able.size
    if bases[row, 0] != key or bases[row, 1] != check:
        bases[row, 0], bases[row, 1] = key, check
        for j in range(2, 2 + 2 * words):
            bases[row, j] = NONE
    missing = NONE
    for j in range(words):
        filled = bases[row, 2 + j] & ~reclaimed[j] | bases[row, 2 + words + j] & reclaimed[j]
        missing |= able[j] & ~filled
    if missing != NONE:
        _fill_row(tables, scratch, row, num)
    return row


@kernel
def _fill_row(tables: AttemptTables, scratch: Scratch, row: int, num: int) -> None:
    """Fill a row for the workers ``scratch.able_set``, of which ``scratch.reclaimed_set`` are RECLAIMED."""
    bases, values, eligible = tables.bases, tables.rows[row], scratch.eligible
    words = scratch.able_set.size
    decay, now = _multiply_base(tables, scratch, num)
    for j in range(words):
        reclaimed = scratch.reclaimed_set[j]
        missing_up = scratch.able_set[j] & ~reclaimed & ~bases[row, 2 + j]
        missing_reclaimed = scratch.able_set[j] & reclaimed & ~bases[row, 2 + words + j]
        bases[row, 2 + j] |= missing_up
        bases[row, 2 + words + j] |= missing_reclaimed
        missing = missing_up | missing_reclaimed
        while missing != NONE:
            q = 64 * j + lowest(missing)
            missing &= missing - ONE
            state = eligible[q]
            if num == 0:
                u0, d0 = tables.reaches_up[q, 0] / (1.0 - tables.p_plus[q]), tables.time_to_down[q, 0]
                u, d = tables.reaches_up[q, state] / (1.0 - tables.p_plus[q]), tables.time_to_down[q, state]
            elif _is_in_base(scratch, num, q):
                for k in range(num):
                    scratch.who[k] = scratch.base[k]
                    scratch.state[k] = eligible[scratch.base[k]]
                place = place_of(tables, scratch, scratch.zeros, num)
                u0, d0 = tables.sums[place, U], tables.sums[place, D]
                place = place_of(tables, scratch, scratch.state, num)
                u, d = tables.sums[place, U], tables.sums[place, D]
            else:
                up, stay = tables.up[q], tables.stay[q]
                sum_decay = decay + tables.rate[q]
                end = stop_of(0, sum_decay, stay.shape[1])
                rest = 1.0 / math.expm1(sum_decay)
                u0 = total_with_rest(scratch.products[0], up[0], end, rest)
                d0 = total_with_rest(scratch.products[1], stay[0], end, rest)
                u, d = u0, d0
                if now > 0 or state > 0:
                    u = total_with_rest(scratch.products[now], up[state], end, rest)
                    d = total_with_rest(scratch.products[now + 1], stay[state], end, rest)
            values[0, q], values[1, q], values[2, q] = u0, d0, log_p_plus_of(u0)
            values[3 + 2 * state, q], values[4 + 2 * state, q] = u, d


@kernel(forceinline=True)
def total_with_rest(a: Reals, b: Reals, stop: int, rest: float) -> float:
    """Return the sum of the first products, and ``rest`` times the last of them."""
    return float(total_of_two(a, b, stop) + a[stop - 1] * b[stop - 1] * rest)


@kernel
def _multiply_base(tables: AttemptTables, scratch: Scratch, num: int) -> tuple[float, int]:
    """Write the products of the first ``num`` of ``scratch.base``.

    Return their decay, and the index of the products in their present states: that of the products with all of them UP,
    if they are.
    """
    base, eligible, products = scratch.base, scratch.eligible, scratch.products
    decay = 0.0
    now = 0
    for k in range(num):
        decay += tables.rate[base[k]]
        now = 2 if eligible[base[k]] > 0 else now
    if num == 0:
        return decay, now
    stop = stop_of(0, decay, products.shape[1])
    for i in range(0, now + 1, 2):
        up, stay = products[i], products[i + 1]
        q = base[0]
        state = eligible[q] if i > 0 else 0
        one_up, one_stay = tables.up[q, state], tables.stay[q, state]
        if num == 1:
            for t in range(stop):
                up[t], stay[t] = one_up[t], one_stay[t]
        for k in range(1, num, 2):
            q = base[k]
            state = eligible[q] if i > 0 else 0
            if k + 1 == num:
                multiply(one_up, tables.up[q, state], stop, up)
                multiply(one_stay, tables.stay[q, state], stop, stay)
            else:
                r = base[k + 1]
                other = eligible[r] if i > 0 else 0
                multiply_three(one_up, tables.up[q, state], tables.up[r, other], stop, up)
                multiply_three(one_stay, tables.stay[q, state], tables.stay[r, other], stop, stay)
            one_up, one_stay = up, stay
    return decay, now


@kernel(forceinline=True)
def _is_in_base(scratch: Scratch, num: int, q: int) -> bool:
    """Return whether a worker is among the first ``num`` of ``scratch.base``."""
    for k in range(num):
        if scratch.base[k] == q:
            return True
    return False


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
    tables: AttemptTables, scratch: Scratch, row: int, reached: float, work: int, bar: float, value: float
) -> None:
    """Write to ``scratch.near`` the workers whose J with one more task is not certainly above a bar.

    ``reached`` is the probability that all members are ever UP and loaded in one slot; this event is independent of the
    new member.
    """
    joins, longer, eligible, near = scratch.joins, scratch.longer, scratch.eligible, scratch.near
    fresh_u, fresh_d, log_p_plus = tables.rows[row, 0], tables.rows[row, 1], tables.rows[row, 2]
    up_u, up_d = tables.rows[row, 3], tables.rows[row, 4]
    reclaimed_u, reclaimed_d = tables.rows[row, 5], tables.rows[row, 6]
    for q in range(joins.size):
        # without branches, so that the compiler vectorises over workers
        u, other_u, d, other_d = up_u[q], reclaimed_u[q], up_d[q], reclaimed_d[q]
        u = other_u if eligible[q] > 0 else u
        d = other_d if eligible[q] > 0 else d
        joint = reached * joins[q] * fresh_u[q]
        u = joint if joint < u else u
        its_work = longer[q] if longer[q] > work else work
        is_out = is_above(bar, u, d, fresh_u[q], fresh_d[q], log_p_plus[q], its_work, value)
        near[q] = 0 if is_out else 1


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
def load_plan(tasks: Ints, scratch: Scratch) -> int:
    """Write the members of a plan to ``scratch.base``; return their number."""
    num = 0
    for q in range(tasks.size):
        if tasks[q] > 0:
            scratch.base[num] = q
            num += 1
    return num


@kernel
def load_members(context: PlannerContext, run_state: RunState, tasks: Ints, num: int) -> None:
    """Write the first ``num`` of ``scratch.base`` with their states and needs into the scratch arrays."""
    application, _, _, scratch = context
    eligible, program, data = scratch.eligible, run_state.program, run_state.data
    who, state, need = scratch.who, scratch.state, scratch.need
    lacking = needed = 0
    for k in range(num):
        q = scratch.base[k]
        who[k] = q
        state[k] = eligible[q]
        need[k] = application.t_prog - program[q] + max(0, tasks[q] * application.t_data - data[q])
        lacking += int(need[k] > 0)
        needed += need[k]
    if lacking > application.n_com:
        least = (needed + application.n_com - 1) // application.n_com
        least = min(least, context.tables.powers.shape[1] - 1)
        for k in range(num):
            if need[k] > 0:
                need[k] = max(need[k], least)


@kernel(forceinline=True)
def lacks(scratch: Scratch, num: int) -> bool:
    """Return whether a member that has been loaded has anything to receive."""
    for k in range(num):
        if scratch.need[k] > 0:
            return True
    return False


@kernel
def cost_of(context: PlannerContext, run_state: RunState, tasks: Ints, done: int, value: float) -> float:
    """Return J of a configuration after ``done`` slots of computation."""
    application, _, tables, scratch = context
    num = load_plan(tasks, scratch)
    load_members(context, run_state, tasks, num)
    work = 0
    for k in range(num):
        work = max(work, tasks[scratch.who[k]] * application.w[scratch.who[k]])
    place = place_of(tables, scratch, scratch.zeros, num)
    u0, d0, log_p_plus = tables.sums[place, U], tables.sums[place, D], tables.sums[place, LOG_P_PLUS]
    place = place_of(tables, scratch, scratch.state, num)
    u, d = tables.sums[place, U], tables.sums[place, D]
    if lacks(scratch, num):
        u = reach_of(tables, scratch, scratch.state, scratch.need, num)
    return expected_cost(u, d, u0, d0, log_p_plus, work - done, value)
