"""Compiled search over teams of all lengths at once, with tasks as weights: for workers with many and unequal tasks.

A team S completes M tasks in W_M(S) slots, the least L with sum of min(most_q, floor(L / w_q)) >= M. W_M is monotone:
no further member makes it longer. So below a node with members S, common slots T and candidates C every team needs at
least W = W_M(S u C) slots, times f if f executions are required. That gives exact reductions:

- drop a candidate c with |T & c| < f W; this makes C smaller and W larger, and is repeated until nothing changes;
- close the node if then |T| < f W.

Each solution raises the requirement: an earlier finish (T is cut), a larger factor f, or more tasks M.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.kmis.kernels.search_state import DONE, HIT, PAUSED
from hindsched.offline.kmis.kernels.vectors import lowest, popcount
from hindsched.offline.kmis.kernels.word_constants import NONE, WORD

__all__ = [
    "ANY",
    "FACTOR",
    "FINISH",
    "GOAL",
    "LIMIT",
    "SIZE",
    "STATUS",
    "TASKS",
    "TOP",
    "WIDTH",
    "length_needed",
    "search_weighted",
]


TOP, LIMIT, FACTOR, GOAL, STATUS, SIZE = range(6)
FINISH, WIDTH, TASKS, ANY = range(4)  # what a solution improves


@kernel("int64(int64[::1], int64, int64[::1], int64[::1], int64, int64)", allocates=True)
def length_needed(rows: Ints, count: int, w: Ints, most: Ints, goal: int, longest: int) -> int:
    """Return W_goal(rows[:count]), or ``longest`` + 1 if it is larger than ``longest``."""
    low, high = 0, longest + 1
    while high - low > 1:
        middle = (low + high) >> 1
        done = 0
        for i in range(count):
            done += min(most[rows[i]], middle // w[rows[i]])
        if done >= goal:
            high = middle
        else:
            low = middle
    return high


@kernel(
    "void(uint64[:,::1], int64[::1], int64[::1], int64, int64[::1], uint64[:,::1], int64[:,::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64)",
    allocates=True,
)
def search_weighted(
    packed: Words,
    w: Ints,
    most: Ints,
    purpose: int,
    state: Ints,
    common: Words,
    candidates: Ints,
    numbers: Ints,
    places: Ints,
    chosen: Ints,
    best: Ints,
    budget: int,
) -> None:
    """Search until the end or for about ``budget`` words of work; all state is in arrays.

    Level d holds the members ``chosen[:d]``, their slots ``common[d]``, its ``numbers[d]`` candidates ``candidates[d]``
    and the next to branch on, ``places[d]``; ``places[d] < 0`` marks a level before its reduction.
    """
    n_words = packed.shape[1]
    pool = np.empty(packed.shape[0] + 1, np.int64)
    level, limit, factor, goal = state[TOP], state[LIMIT], state[FACTOR], state[GOAL]
    work = 0
    status = DONE
    while level >= 0:
        if work > budget:
            status = PAUSED
            break
        here = common[level]
        if places[level] < 0:
            places[level] = 0
            used = (limit + 63) >> 6
            size = 0
            for k in range(n_words):
                if k >= used:
                    here[k] = NONE
                elif k == used - 1 and limit & 63:
                    here[k] &= (WORD(1) << WORD(limit & 63)) - WORD(1)
                size += popcount(here[k])
            needed = length_needed(chosen, level, w, most, goal, size // factor)
            if level > 0 and factor * needed <= size:  # a solution: record it and raise the requirement
                best[:level] = chosen[:level]
                state[SIZE] = level
                if purpose == FINISH:
                    left = needed
                    for k in range(used):
                        ones = popcount(here[k])
                        if ones >= left:
                            word = here[k]
                            for _ in range(left - 1):
                                word &= word - WORD(1)
                            limit = 64 * k + lowest(word)
                            break
                        left -= ones
                elif purpose == WIDTH:
                    factor = size // needed + 1
                elif purpose == TASKS:
                    goal = 1
                    for i in range(level):
                        goal += min(most[chosen[i]], size // w[chosen[i]])
                else:
                    status = HIT
                    break
                places[level] = -1  # reduce the node again
                continue
            pool[:level] = chosen[:level]
            row = candidates[level]
            while True:  # drop candidates until none drops
                number = numbers[level]
                pool[level : level + number] = row[:number]
                needed = factor * length_needed(pool, level + number, w, most, goal, size // factor)
                if needed > size:
                    numbers[level] = 0
                    break
                kept = 0
                for i in range(number):
                    ones = 0
                    for k in range(used):
                        ones += popcount(packed[row[i], k] & here[k])
                    if ones >= needed:
                        row[kept] = row[i]
                        kept += 1
                work += number * used
                numbers[level] = kept
                if kept == number:
                    break
        place = places[level]
        if place >= numbers[level]:
            level -= 1
            continue
        places[level] = place + 1
        joined = candidates[level, place]
        rest = numbers[level] - place - 1
        chosen[level] = joined
        pool[: level + 1] = chosen[: level + 1]
        pool[level + 1 : level + 1 + rest] = candidates[level, place + 1 : place + 1 + rest]
        size = 0
        for k in range(n_words):
            common[level + 1, k] = here[k] & packed[joined, k]
            size += popcount(common[level + 1, k])
        work += n_words
        if factor * length_needed(pool, level + 1 + rest, w, most, goal, size // factor) > size:
            continue
        level += 1
        candidates[level, :rest] = candidates[level - 1, place + 1 : place + 1 + rest]
        numbers[level] = rest
        places[level] = -1
    state[TOP], state[LIMIT], state[FACTOR], state[GOAL] = level, limit, factor, goal
    state[STATUS] = status
