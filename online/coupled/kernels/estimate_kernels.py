"""The estimates of docs/model.md section 5 in tables filled on demand: the twin of `online.coupled.estimates`.

What depends on a set of workers alone lies in a hash table by the set's bit mask. Formulas are spelled as in the plain
twin, operation by operation, so that both round alike.
"""

from __future__ import annotations

import math

import numpy as np

from hindsched.instances.array_types import Ints, Reals, Words
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.bit_sets import WORD
from hindsched.online.coupled.kernels.renewal_kernels import estimate_set

__all__ = [
    "E_C",
    "E_GIVEN",
    "LOG_P",
    "log_duration",
    "log_sum",
    "not_down_row",
    "place_of",
    "place_of_slots",
    "row_alone",
    "row_of_set",
    "whole_slots",
]

#: Columns of the table of sets; column 0 holds the set, as the bits of a float.
LOG_P, E_C, E_GIVEN = 1, 2, 3
#: Places in `hindsched.online.coupled.estimates.ESTIMATORS`.
CONDITIONAL, UNDIVIDED = 1, 2

_CEIL_SLACK = 1e-9
_LARGE_LOG = 700.0
_GOLDEN = WORD(0x9E3779B97F4A7C15)


@kernel
def place_of(members: WORD, mask: int) -> int:
    """Return where to look for a set first, in a table of ``mask + 1`` rows."""
    return int(np.int64((members * _GOLDEN) >> WORD(32))) & mask


@kernel
def row_of_set(members: WORD, sets: Reals, keys: Words, count: Ints, modes: Reals, order: Ints) -> int:
    """Return the row of a set of workers, made now if it is new.

    ``keys`` is ``sets`` seen as words: open addressing, 2^k rows of four, free where column 0 is 0. It must have room.
    """
    mask = keys.shape[0] - 1
    row = place_of(members, mask)
    while keys[row, 0] != members:
        if keys[row, 0] == WORD(0):
            count[0] += 1
            _, log_p, e_c, e_given = estimate_set(members, modes, order)
            keys[row, 0] = members
            sets[row, LOG_P] = log_p
            sets[row, E_C] = e_c
            sets[row, E_GIVEN] = e_given
            return row
        row = (row + 1) & mask
    return row


@kernel
def undivided(e_c: float, log_p: float) -> float:
    """Return A / (1 + E_u) (``estimates.undivided``)."""
    return e_c / -math.expm1(log_p) if log_p < 0.0 else e_c


@kernel
def row_alone(q: int, slots: int, alone: Reals, single: Reals, estimator: int) -> float:
    """Return E^(q)(n), the expected time worker q takes to be UP in n slots (``Estimates.duration_alone``).

    ``alone`` remembers it for the first n, nan where it was not asked for yet.
    """
    if slots < alone.shape[1]:
        known: float = alone[q, slots]
        if not np.isnan(known):
            return known
    if slots == 0:
        value = 0.0
    elif slots == 1:
        value = 1.0
    elif estimator == CONDITIONAL:
        value = 1.0 + (slots - 1) * single[q, E_GIVEN]
    else:
        e_c = single[q, E_C]
        if estimator == UNDIVIDED:
            e_c = undivided(e_c, single[q, LOG_P])
        success = math.pow(single[q, 0], float(slots - 1))
        value = (1.0 + (slots - 1) * e_c) / success if success > 0.0 else np.inf
    if slots < alone.shape[1]:
        alone[q, slots] = value
    return value


@kernel
def log_duration(work: int, log_p: float, e_c: float, e_given: float, estimator: int) -> float:
    """Return log E(W) for ``work`` slots of computation (``Estimates.log_duration``)."""
    if work == 1:
        return 0.0
    if estimator == CONDITIONAL:
        return math.log1p((work - 1) * e_given)
    if estimator == UNDIVIDED:
        e_c = undivided(e_c, log_p)
    return math.log1p((work - 1) * e_c) - (work - 1) * log_p


@kernel
def log_sum(log_a: float, b: float) -> float:
    """Return log(a + b) from log(a) and b >= 0, also where a is beyond the range of floats."""
    if log_a < _LARGE_LOG or b == np.inf:
        return math.log(math.exp(min(log_a, _LARGE_LOG)) + b)
    if b == 0.0 or log_a == np.inf:
        return log_a
    log_b = math.log(b)
    low, high = min(log_a, log_b), max(log_a, log_b)
    return high + math.log1p(math.exp(low - high))


@kernel
def whole_slots(duration: float) -> float:
    """Return the duration rounded up to slots, forgiving what rounding errors added to an integer."""
    return np.ceil(duration - _CEIL_SLACK) if duration < np.inf else np.inf


@kernel
def place_of_slots(slots: float, mask: int) -> int:
    """Return where the row of log P_ND(t) lies, among ``mask + 1`` rows."""
    if slots >= 2.0**62:
        return mask
    word = WORD(np.int64(slots))
    return int(np.int64((word ^ (word >> WORD(14)) * WORD(0x2545F491)) & WORD(mask)))


@kernel
def not_down_row(slots: float, keys: Reals, rows: Reals, stays: Reals, matrices: Reals) -> int:
    """Return the row of log P_ND(t) (in ``rows``) and P_ND(t) (in ``stays``) of all workers, made now if need be.

    A row lies where `place_of_slots` says, and gives way to another t of the same place.
    """
    i = place_of_slots(slots, keys.size - 1)
    if keys[i] != slots:
        _fill_row(i, slots, keys, rows, stays, matrices)
    return i


@kernel
def _fill_row(i: int, slots: float, keys: Reals, rows: Reals, stays: Reals, matrices: Reals) -> None:
    keys[i] = slots
    mantissa, exponent = (0.5, 1025) if slots == np.inf else math.frexp(slots)
    doublings = max(0, exponent - 53)
    digits = int(math.ldexp(mantissa, exponent - doublings))
    for q in range(matrices.shape[0]):
        rows[i, q] = _log_stays(matrices[q], digits, doublings)
        stays[i, q] = math.exp(rows[i, q])


@kernel
def _log_stays(matrix: Reals, digits: int, doublings: int) -> float:
    """Return log of the first row's sum of M^(digits 2^doublings), by repeated squaring."""
    a, b, c, d = matrix
    u, r = 1.0, 0.0
    log_row = log_power = 0.0
    while digits:
        if doublings == 0 and digits & 1:
            u, r = u * a + r * c, u * b + r * d
            total = u + r
            if total == 0.0:
                return -np.inf
            u, r, log_row = u / total, r / total, log_row + log_power + math.log(total)
        if doublings:
            doublings -= 1
        else:
            digits >>= 1
        a, b, c, d = a * a + b * c, b * (a + d), c * (a + d), c * b + d * d
        scale = max(a, b, c, d)
        if scale == 0.0:
            return -np.inf if digits else log_row
        a, b, c, d = a / scale, b / scale, c / scale, d / scale
        log_power = 2.0 * log_power + math.log(scale)
    return log_row
