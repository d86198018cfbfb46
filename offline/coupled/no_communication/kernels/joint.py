"""One search over teams for every length at once, with tasks as weights: for workers that hold many and differ much.

A team S completes M tasks in W_M(S) slots, the least L with sum of min(most_q, floor(L / w_q)) >= M. Nobody who joins
makes that longer: W_M is monotone. So below a node with members S, common slots T and candidates C every team needs
at least W = W_M(S u C) slots, f times that where f executions are wanted. That gives the exact reductions

- drop a candidate c with |T & c| < f W; this makes C smaller and W larger, and is repeated until nothing changes;
- close the node if then |T| < f W.

Each solution raises what is wanted: an earlier finish (T is cut), a larger factor f, or more tasks M.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.kmis.kernels.search_layout import DONE, HIT, PAUSED
from hindsched.offline.kmis.kernels.vectors import lowest, popcount
from hindsched.offline.kmis.kernels.words import NONE, WORD

__all__ = [
    "JOINT_ANY",
    "JOINT_FACTOR",
    "JOINT_FINISH",
    "JOINT_GOAL",
    "JOINT_LIMIT",
    "JOINT_SIZE",
    "JOINT_STATUS",
    "JOINT_TASKS",
    "JOINT_TOP",
    "JOINT_WIDTH",
    "length_needed",
    "search_joint",
]


JOINT_TOP, JOINT_LIMIT, JOINT_FACTOR, JOINT_GOAL, JOINT_STATUS, JOINT_SIZE = range(6)
JOINT_FINISH, JOINT_WIDTH, JOINT_TASKS, JOINT_ANY = range(4)  # what a solution raises


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
def search_joint(
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
    """Search for about ``budget`` words' worth of work, or to the end; all state is in arrays.

    Level d holds the members ``chosen[:d]``, their slots ``common[d]``, its ``numbers[d]`` candidates ``candidates[d]``
    and the next to branch on, ``places[d]``; ``places[d] < 0`` marks a level that has not been reduced yet.
    """
    n_words = packed.shape[1]
    pool = np.empty(packed.shape[0] + 1, np.int64)
    level, limit, factor, goal = state[JOINT_TOP], state[JOINT_LIMIT], state[JOINT_FACTOR], state[JOINT_GOAL]
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
            if level > 0 and factor * needed <= size:  # a solution: note it, and ask for more
                best[:level] = chosen[:level]
                state[JOINT_SIZE] = level
                if purpose == JOINT_FINISH:
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
                elif purpose == JOINT_WIDTH:
                    factor = size // needed + 1
                elif purpose == JOINT_TASKS:
                    goal = 1
                    for i in range(level):
                        goal += min(most[chosen[i]], size // w[chosen[i]])
                else:
                    status = HIT
                    break
                places[level] = -1  # look at the node again
                continue
            pool[:level] = chosen[:level]
            row = candidates[level]
            while True:  # drop who cannot join, until nobody more drops
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
    state[JOINT_TOP], state[JOINT_LIMIT], state[JOINT_FACTOR], state[JOINT_GOAL] = level, limit, factor, goal
    state[JOINT_STATUS] = status
