"""Estimates in tables filled on demand: the compiled twin of `hindsched.online.coupled.estimates`.

A hash table, keyed by bit set, holds the values that depend on a set of workers only. Formulas have the same order of
operations as in the plain twin, so that both round alike.
"""

from __future__ import annotations

import math

import numpy as np

from hindsched.instances.array_types import Ints, Reals, Words
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.bit_sets import NONE, WORD
from hindsched.online.coupled.kernels.renewal_kernels import estimate_set

__all__ = [
    "E_C",
    "E_GIVEN",
    "LOG_P",
    "copy_sets",
    "duration_alone",
    "log_duration",
    "log_sum",
    "not_down_row",
    "place_of",
    "place_of_slots",
    "row_of_set",
    "whole_slots",
]

#: Columns of the table of sets; column 0 holds the set, as the bits of a float.
LOG_P, E_C, E_GIVEN = 1, 2, 3
#: Indices of `hindsched.online.coupled.estimates.ESTIMATORS`.
CONDITIONAL, UNDIVIDED = 1, 2

_CEIL_SLACK = 1e-9
_LARGE_LOG = 700.0
_GOLDEN = WORD(0x9E3779B97F4A7C15)


@kernel
def place_of(members: WORD, mask: int) -> int:
    """Return the first row to probe for a set, in a table of ``mask + 1`` rows."""
    return int(np.int64((members * _GOLDEN) >> WORD(32))) & mask


@kernel
def row_of_set(members: WORD, sets: Reals, keys: Words, count: Ints, modes: Reals, order: Ints) -> int:
    """Return the row of a set of workers, filled if it is new.

    ``keys`` is ``sets`` viewed as words: open addressing, 2^k rows of four, free if column 0 is 0. A row must be free.
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
def copy_sets(old: Words, new: Words) -> None:
    """Copy every set into an empty, larger table (see `row_of_set`)."""
    mask = new.shape[0] - 1
    for i in range(old.shape[0]):
        if old[i, 0] != NONE:
            row = place_of(old[i, 0], mask)
            while new[row, 0] != NONE:
                row = (row + 1) & mask
            for column in range(4):
                new[row, column] = old[i, column]


@kernel
def undivided(e_c: float, log_p: float) -> float:
    """Return A / (1 + E_u) (``estimates.undivided``)."""
    return e_c / -math.expm1(log_p) if log_p < 0.0 else e_c


@kernel
def duration_alone(q: int, slots: int, alone: Reals, single: Reals, estimator: int) -> float:
    """Return E^(q)(n), the expected slots until worker q was UP in n slots (``Estimates.duration_alone``).

    ``alone`` caches it for small n; nan is unknown.
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
    """Return log(a + b) from log(a) and b >= 0, also if a is beyond the range of floats."""
    if log_a < _LARGE_LOG or b == np.inf:
        return math.log(math.exp(min(log_a, _LARGE_LOG)) + b)
    if b == 0.0 or log_a == np.inf:
        return log_a
    log_b = math.log(b)
    low, high = min(log_a, log_b), max(log_a, log_b)
    return high + math.log1p(math.exp(low - high))


@kernel
def whole_slots(duration: float) -> float:
    """Return the duration rounded up to slots; `_CEIL_SLACK` absorbs rounding errors."""
    return np.ceil(duration - _CEIL_SLACK) if duration < np.inf else np.inf


@kernel
def place_of_slots(slots: float, mask: int) -> int:
    """Return the index of the row of log P_ND(t), among ``mask + 1`` rows."""
    if slots >= 2.0**62:
        return mask
    word = WORD(np.int64(slots))
    return int(np.int64((word ^ (word >> WORD(14)) * WORD(0x2545F491)) & WORD(mask)))


@kernel
def not_down_row(slots: float, keys: Reals, rows: Reals, stays: Reals, matrices: Reals) -> int:
    """Return the row of log P_ND(t) (in ``rows``) and P_ND(t) (in ``stays``) of all workers, filled if it is missing.

    `place_of_slots` gives the row; another t of the same row replaces it.
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
