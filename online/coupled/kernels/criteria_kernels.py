"""The four criteria in plain numbers, compiled: P, -E, P / (E + t) and P / E; a larger value is better.

`criterion_value` takes ten arguments: it is inlined into the innermost loop, where bundles cost time.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.arguments import BY_E, BY_P, Tables
from hindsched.online.coupled.kernels.estimate_kernels import not_down_row, place_of_slots, whole_slots

__all__ = ["CLEAR_MARGIN", "UNDECIDED", "best_value", "criterion_value", "needs_logarithms"]

#: Relative difference above which two values certainly differ: far more than rounding or the tolerance of ties.
CLEAR_MARGIN = 1e-9
#: Probability below which a step is decided by logarithms.
_LEAST = 1e-280
#: Bound of a step without guarantee: no worker is clearly below it.
UNDECIDED = -np.inf


@kernel(forceinline=True)
def best_value(criterion: int, computation: float, chance: float, time: float) -> float:
    """Return the criterion of a configuration that needs no transfer.

    Parameters
    ----------
    criterion
        A number, see `hindsched.online.coupled.kernels.arguments`.
    computation, chance
        E(W) and P_plus^(W-1).
    time
        t for criterion Y; 0 for the others.
    """
    if criterion == BY_E:
        return -computation
    if criterion == BY_P:
        return chance
    return chance / (computation + time)


@kernel(forceinline=True)
def criterion_value(
    criterion: int,
    tables: Tables,
    computation: float,
    chance: float,
    time: float,
    e_comm: float,
    q: int,
    x: int,
    holders: Ints,
    num_holders: int,
) -> float:
    """Return the criterion of a configuration: the holders, and worker q if it has x = 0 tasks so far."""
    if criterion == BY_E:
        return -(computation + e_comm)
    stays = tables.stays
    slots = whole_slots(e_comm)
    row = place_of_slots(slots, tables.not_down_slots.size - 1)
    if tables.not_down_slots[row] != slots:
        not_down_row(slots, tables.not_down_slots, tables.not_down, stays, tables.matrices)
    if x == 0:
        chance *= stays[row, q]
    for k in range(num_holders):
        chance *= stays[row, holders[k]]
    if criterion == BY_P:
        return chance
    return chance / (computation + e_comm + time)


@kernel(forceinline=True)
def needs_logarithms(criterion: int, best: float) -> bool:
    """Return whether a value is so close to the end of the range of floats that only logarithms can compare it."""
    return best == -np.inf if criterion == BY_E else best < _LEAST
