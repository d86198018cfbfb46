"""A configuration built task by task by J: the twin of `hindsched.online.coupled.lookahead.plans.Builder`.

Three things make it fast, and none changes what is built. What the sets of the last steps become with one more member
is remembered. The product of the g of those chosen is kept, so that one more worker costs one scalar product. And a
worker is passed over without it where its J, at the least, is above that of the one who won the step last time.
"""

from __future__ import annotations

import math

import numpy as np

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.lookahead.kernels.attempt_kernels import (
    ONE,
    WORD,
    judge,
    load,
    multiply,
    multiply_three,
    reach_of,
    row_of,
    stop_of,
    total_of_two,
    within,
)
from hindsched.online.coupled.lookahead.kernels.planner_arguments import Application, Chances, Rules, Scratch

__all__ = ["CLEAR", "build"]

#: A configuration is better where its J is less by this part of it: more than rounding errors.
CLEAR = 1e-9

#: What is to be done before the product of those chosen is used: nothing, one more factor, all of them.
_READY, _ONE_MORE, _ALL = range(3)


@kernel
def build(
    application: Application,
    rules: Rules,
    chances: Chances,
    scratch: Scratch,
    eligible: Ints,
    program: Ints,
    data: Ints,
) -> bool:
    """Build a configuration in ``scratch.built`` and its J in ``scratch.worth``; False if workers cannot hold m tasks.

    ``eligible`` are the states of those that may hold tasks, -1 of others.
    """
    built, able, joins, longer, rows = scratch.built, scratch.able, scratch.joins, scratch.longer, chances.rows
    w, t_prog, t_data, value = application.w, application.t_prog, application.t_data, rules.value
    slots = chances.stay.shape[2]
    room = longest_first = count = 0
    able_set = reclaimed_set = WORD(0)
    for q in range(built.size):
        built[q] = 0
        longer[q] = w[q]
        if eligible[q] >= 0 and application.capacities[q] > 0:
            room += application.capacities[q]
            need = t_prog - program[q] + max(0, t_data - data[q])
            longest_first = max(longest_first, need)
            joins[q] = chances.back[q, eligible[q]] * chances.powers[q, need]
            able[count] = q
            able_set |= ONE << WORD(q)
            reclaimed_set |= WORD(eligible[q]) << WORD(q)
            count += 1
    if room < application.tasks:
        return False
    members = reclaimed = WORD(0)
    work = num = lacking = longest = stop = 0
    decay, reached = 0.0, 1.0
    todo, last = _READY, -1
    for step in range(application.tasks):
        row = row_of(chances, scratch, members, reclaimed, able_set, reclaimed_set)
        best = -1
        best_worth = best_reached = np.inf
        guess, guess_worth, guess_reached = scratch.guess[step], np.inf, np.inf
        near = -1  # all of them
        for i in range(-1, count):
            if i < 0:
                q = guess
                if eligible[q] < 0:
                    continue
            else:
                q = able[i]
                if near >> q & 1 == 0:
                    continue
                if q == guess:
                    if guess_worth < np.inf and (best < 0 or guess_worth < best_worth - CLEAR * abs(best_worth)):
                        best, best_worth, best_reached = q, guess_worth, guess_reached
                    continue
            x = built[q] + 1
            if x > application.capacities[q]:
                continue
            state = eligible[q]
            u, d = rows[row, 3 + 2 * state, q], rows[row, 4 + 2 * state, q]
            u0, d0, log_again = rows[row, 0, q], rows[row, 1, q], rows[row, 2, q]
            need = t_prog - program[q] + max(0, x * t_data - data[q])
            new_work = max(work, longer[q])
            if longest > 0 or need > 0:
                before = t_prog - program[q] + max(0, (x - 1) * t_data - data[q]) if x > 1 else 0
                if lacking + int(need > 0) - int(before > 0) > application.n_com or (
                    x > 1 and num > 1 and need != before
                ):
                    built[q] = x
                    u = reach_of(chances, scratch, load(application, chances, scratch, eligible, built, program, data))
                    built[q] = x - 1
                elif num == 0 or (num == 1 and x > 1):
                    u = chances.back[q, state] * chances.powers[q, need] / (1.0 - chances.again[q])
                elif x == 1:
                    if todo != _READY:
                        # as far as any further worker can ask for it
                        end = stop_of(max(longest, longest_first), decay, slots)
                        if todo == _ONE_MORE and end <= stop:
                            its = t_prog - program[last] + max(0, built[last] * t_data - data[last])
                            multiply(scratch.reach, chances.reach[last, eligible[last], its], end, scratch.reach)
                        else:
                            _multiply_all(application, chances, scratch, eligible, program, data, end)
                        todo, stop = _READY, end
                    reach = chances.reach[q, state, need]
                    sum_decay = decay + chances.rate[q]
                    end = stop_of(max(longest, need), sum_decay, slots)
                    u = total_of_two(scratch.reach, reach, end)
                    u += scratch.reach[end - 1] * reach[end - 1] / math.expm1(sum_decay)
                else:
                    u = reached * u0
            worth = judge(u, d, u0, d0, log_again, new_work, value)
            if i < 0:
                guess_worth, guess_reached = worth, u / u0
                near = within(chances, scratch, eligible, row, reached, work, worth + CLEAR * worth, value)
                near |= 1 << q
            elif best < 0 or worth < best_worth - CLEAR * abs(best_worth):
                best, best_worth, best_reached = q, worth, u / u0
        q = best
        scratch.guess[step] = q
        reached = best_reached
        x = built[q] + 1
        need = t_prog - program[q] + max(0, x * t_data - data[q])
        before = t_prog - program[q] + max(0, (x - 1) * t_data - data[q]) if x > 1 else 0
        built[q] = x
        work = max(work, longer[q])
        longer[q] += w[q]
        joins[q] = 1.0
        lacking += int(need > 0) - int(before > 0)
        longest = max(longest, need)
        scratch.worth[0] = best_worth
        if x == 1:
            members |= ONE << WORD(q)
            reclaimed |= WORD(eligible[q]) << WORD(q)
            decay += chances.rate[q]
            num += 1
            todo = _ONE_MORE if todo == _READY and num > 1 else _ALL
            last = q
        elif need != before:
            todo = _ALL
    return True


@kernel
def _multiply_all(
    application: Application,
    chances: Chances,
    scratch: Scratch,
    eligible: Ints,
    program: Ints,
    data: Ints,
    end: int,
) -> None:
    """Write the product of all that hold tasks."""
    num = 0
    for q in range(scratch.built.size):
        x = scratch.built[q]
        if x > 0:
            scratch.who[num] = q
            scratch.need[num] = application.t_prog - program[q] + max(0, x * application.t_data - data[q])
            num += 1
    who, need, reach = scratch.who, scratch.need, chances.reach
    product = reach[who[0], eligible[who[0]], need[0]]
    k = 1
    if num == 1:
        for t in range(end):
            scratch.reach[t] = product[t]
    elif num % 2 == 0:
        multiply(product, reach[who[1], eligible[who[1]], need[1]], end, scratch.reach)
        product = scratch.reach
        k = 2
    while k < num:
        one, two = reach[who[k], eligible[who[k]], need[k]], reach[who[k + 1], eligible[who[k + 1]], need[k + 1]]
        multiply_three(product, one, two, end, scratch.reach)
        product = scratch.reach
        k += 2
