"""A configuration built task by task by J: the twin of `online.coupled.ours.building.Builder`.

Two things make it fast, and neither changes what is built. The product of the g of those chosen is kept, so that one
more worker costs one scalar product. And a worker is passed over without it where its J, at the least, is above that of
the one who won the step last time.
"""

from __future__ import annotations

import math

import numpy as np

from online.coupled.ours.kernels.attempts import (
    ONE,
    WORD,
    judge,
    load,
    multiply,
    place_of,
    reach_of,
    stop_of,
    total_of_two,
)
from online.coupled.ours.kernels.compiling import Ints, kernel
from online.coupled.ours.kernels.layout import Application, Chances, Rules, Scratch

__all__ = ["CLEAR", "build"]

#: A configuration is better where its J is less by this part of it: more than rounding errors.
CLEAR = 1e-9


@kernel()
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
    built, sums = scratch.built, chances.sums
    w, t_prog, t_data = application.w, application.t_prog, application.t_data
    p = built.size
    slots = chances.stay.shape[2]
    room = longest_first = 0
    for q in range(p):
        built[q] = 0
        if eligible[q] >= 0 and application.capacities[q] > 0:
            room += application.capacities[q]
            longest_first = max(longest_first, t_prog - program[q] + max(0, t_data - data[q]))
    if room < application.tasks:
        return False
    members = reclaimed = WORD(0)
    work = num = lacking = longest = stop = 0
    decay, reached = 0.0, 1.0
    for step in range(application.tasks):
        best = -1
        best_worth = best_reached = np.inf
        guess, guess_worth = scratch.guess[step], np.inf
        for i in range(-1, p):
            q = i if i >= 0 else guess
            x = built[q] + 1
            if eligible[q] < 0 or x > application.capacities[q]:
                continue
            state = eligible[q]
            need = t_prog - program[q] + max(0, x * t_data - data[q])
            before = t_prog - program[q] + max(0, (x - 1) * t_data - data[q]) if x > 1 else 0
            new_work = max(work, x * w[q])
            now_lacking = lacking + int(need > 0) - int(before > 0)
            new_members = members | ONE << WORD(q)
            new_reclaimed = reclaimed | WORD(state) << WORD(q)
            place = place_of(chances, scratch, new_members, WORD(0))
            u0, d0, log_again = sums[place, 0], sums[place, 1], sums[place, 2]
            place = place_of(chances, scratch, new_members, new_reclaimed)
            u, d = sums[place, 0], sums[place, 1]  # U at the most
            longest_now = max(longest, need)
            if longest_now > 0:
                # the worker and the others come so far independently of each other
                if x == 1:
                    u = min(u, reached * chances.back[q, state] * chances.again[q] ** need * u0)
                else:
                    u = min(u, reached * u0)
                if judge(u, d, u0, d0, log_again, new_work, rules.value) > guess_worth + CLEAR * guess_worth:
                    continue
                if now_lacking > application.n_com or (x > 1 and num > 1 and need != before):
                    built[q] = x
                    count = load(application, chances, scratch, eligible, built, program, data)
                    u = reach_of(chances, scratch, count)
                    built[q] = x - 1
                elif num == 0 or (num == 1 and x > 1):
                    u = chances.back[q, state] * chances.again[q] ** need / (1.0 - chances.again[q])
                elif x == 1:
                    reach = chances.reach[q, state, need]
                    sum_decay = decay + chances.rate[q]
                    end = stop_of(longest_now, sum_decay, slots)
                    u = total_of_two(scratch.reach, reach, end)
                    u += scratch.reach[end - 1] * reach[end - 1] / math.expm1(sum_decay)
                else:
                    u = reached * u0
            worth = judge(u, d, u0, d0, log_again, new_work, rules.value)
            if i < 0:
                guess_worth = worth
            elif best < 0 or worth < best_worth - CLEAR * abs(best_worth):
                best, best_worth, best_reached = q, worth, u / u0
        q = best
        scratch.guess[step] = q
        reached = best_reached
        x = built[q] + 1
        need = t_prog - program[q] + max(0, x * t_data - data[q])
        before = t_prog - program[q] + max(0, (x - 1) * t_data - data[q]) if x > 1 else 0
        built[q] = x
        work = max(work, x * w[q])
        lacking += int(need > 0) - int(before > 0)
        longest = max(longest, need)
        scratch.worth[0] = best_worth
        if x == 1:
            members |= ONE << WORD(q)
            reclaimed |= WORD(eligible[q]) << WORD(q)
            decay += chances.rate[q]
            num += 1
        elif need == before:
            continue
        if step == application.tasks - 1:
            break
        # the product of those chosen, as far as any further worker can ask for it
        end = stop_of(max(longest, longest_first), decay, slots)
        if x == 1 and num > 1 and end <= stop:
            multiply(scratch.reach, chances.reach[q, eligible[q], need], end, scratch.reach)
        else:
            _multiply_all(application, chances, scratch, eligible, program, data, end)
        stop = end
    return True


@kernel()
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
    for t in range(end):
        scratch.reach[t] = 1.0
    for q in range(scratch.built.size):
        x = scratch.built[q]
        if x > 0:
            need = application.t_prog - program[q] + max(0, x * application.t_data - data[q])
            multiply(scratch.reach, chances.reach[q, eligible[q], need], end, scratch.reach)
