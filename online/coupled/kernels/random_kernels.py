"""RANDOM: the compiled twin of `hindsched.online.coupled.random_baseline`."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.arguments import Application
from hindsched.online.coupled.kernels.bit_sets import NONE, ONE, WORD, lowest

__all__ = ["draw"]


@kernel
def draw(application: Application, up: WORD, numbers: Words, drawn: int, built: Ints) -> int:
    """Fill ``built`` with tasks on random UP workers; return the index of the next number, -1 if numbers run out.

    The numbers are the 32-bit words that numpy's ``Generator.integers`` uses, and this is its method (Lemire), so that
    the plain twin draws the same.
    """
    capacities = application.capacities
    for _ in range(application.tasks):
        free = 0
        rest = up
        while rest != NONE:
            q = lowest(rest)
            rest &= rest - ONE
            if built[q] < capacities[q]:
                free += 1
        pick = 0
        if free > 1:
            threshold = WORD(2**32 - free) % WORD(free)
            while True:
                if drawn == numbers.size:
                    return -1
                product = numbers[drawn] * WORD(free)
                drawn += 1
                if product & WORD(0xFFFFFFFF) >= threshold:
                    break
            pick = int(np.int64(product >> WORD(32)))
        rest = up
        while rest != NONE:
            q = lowest(rest)
            rest &= rest - ONE
            if built[q] < capacities[q]:
                if pick == 0:
                    built[q] += 1
                    break
                pick -= 1
    return drawn
