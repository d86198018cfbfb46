"""The four criteria in plain numbers, more is better: P, -E, P / (E + t) and P / E."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.arguments import BY_E, BY_P, Tables
from hindsched.online.coupled.kernels.estimate_kernels import not_down_row, place_of_slots, whole_slots

__all__ = ["CLEAR", "HARD", "best_value", "is_hard", "value"]

#: Values this far apart, relatively, are different beyond doubt: far more than rounding or the tolerance of ties.
CLEAR = 1e-9
#: Probabilities below are left to logarithms.
_LEAST = 1e-280
#: What no worker can be clearly below.
HARD = -np.inf


@kernel(forceinline=True)
def best_value(criterion: int, computation: float, chance: float, time: float) -> float:
    """Return the criterion of a configuration that has nothing to receive.

    Parameters
    ----------
    criterion
        By number, see `hindsched.online.coupled.kernels.arguments`.
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
def value(
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
    """Return the criterion of a configuration: of the holders, and of worker q if its x is 0 up to now."""
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
def is_hard(criterion: int, best: float) -> bool:
    """Whether a value is so near the end of the range of floats that only logarithms can tell."""
    return best == -np.inf if criterion == BY_E else best < _LEAST
