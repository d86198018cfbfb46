"""RANDOM: the compiled twin of `hindsched.online.coupled.random_baseline`."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Words
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.arguments import Application, BuildTrace
from hindsched.online.coupled.kernels.bit_sets import NONE, ONE, WORD, lowest

__all__ = ["draw"]


@kernel
def draw(application: Application, up: Words, numbers: Words, drawn: int, trace: BuildTrace) -> int:
    """Fill ``trace.built`` with tasks on random UP workers; return the index of the next number, -1 if numbers run out.

    The workers are ``trace.holders``. The numbers are the 32-bit words that numpy's ``Generator.integers`` uses, and
    this is its method (Lemire), so that the plain twin draws the same.
    """
    capacities, built, free = application.capacities, trace.built, trace.workers
    for q in range(built.size):
        built[q] = 0
    num = num_holders = 0
    for j in range(up.size):
        rest = up[j]
        while rest != NONE:
            q = 64 * j + lowest(rest)
            rest &= rest - ONE
            if capacities[q] > 0:
                free[num] = q
                num += 1
    for _ in range(application.tasks):
        pick = 0
        if num > 1:
            threshold = WORD(2**32 - num) % WORD(num)
            while True:
                if drawn == numbers.size:
                    return -1
                product = numbers[drawn] * WORD(num)
                drawn += 1
                if product & WORD(0xFFFFFFFF) >= threshold:
                    break
            pick = int(np.int64(product >> WORD(32)))
        q = free[pick]
        if built[q] == 0:
            trace.holders[num_holders] = q
            num_holders += 1
        built[q] += 1
        if built[q] == capacities[q]:
            num -= 1
            for i in range(pick, num):
                free[i] = free[i + 1]
    trace.num_holders[application.tasks] = num_holders
    return drawn
