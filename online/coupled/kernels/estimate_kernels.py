"""Estimates in tables filled on demand: the compiled twin of `hindsched.online.coupled.estimates`.

A hash table holds the values that depend on a set of workers only. Its key is the sum of the members' labels: 128
random bits for each worker, the same for workers with the same modes. So a set of any size has a key of two words, and
equal workers share their estimates. Two sets of different estimates share a key with a probability of about 1e-38.
Formulas have the same order of operations as in the plain twin, so that both round alike.
"""

from __future__ import annotations

import math

import numpy as np

from hindsched.instances.array_types import Ints, Reals, Words
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.arguments import Tables
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
    "place_of_slots",
    "row_of_set",
    "whole_slots",
]

#: Columns of the table of sets; columns 0 and 1 hold the key of the set, as the bits of two floats.
LOG_P, E_C, E_GIVEN = 2, 3, 4
#: Columns of ``Tables.single``.
SINGLE_LOG_P, SINGLE_E_C, SINGLE_E_GIVEN = 1, 2, 3
#: Indices of `hindsched.online.coupled.estimates.ESTIMATORS`.
CONDITIONAL, UNDIVIDED = 1, 2

_CEIL_SLACK = 1e-9
_LARGE_LOG = 700.0


@kernel(forceinline=True)
def row_of_set(tables: Tables, first: WORD, second: WORD, holders: Ints, num_holders: int, q: int) -> int:
    """Return the row of the holders, and of worker q unless it is -1, filled if it is new.

    ``first`` and ``second`` are the sum of their labels, the key of a table with open addressing. ``keys`` is ``sets``
    viewed as words: 2^k rows, free if the first word is 0.
    """
    keys = tables.keys
    row: int = int(np.int64(first)) & (keys.shape[0] - 1)
    while keys[row, 0] != first or keys[row, 1] != second:
        if keys[row, 0] == NONE:
            estimate = estimate_set(holders, num_holders, q, tables.modes, tables.ranks)
            return _enter(first, second, estimate, tables.sets, keys, tables.num_sets)
        row = (row + 1) & (keys.shape[0] - 1)
    return row


@kernel
def _enter(
    first: WORD, second: WORD, estimate: tuple[float, float, float, float], sets: Reals, keys: Words, count: Ints
) -> int:
    """Fill a free row and return it; a table that is almost full is emptied first, and must then grow."""
    mask = keys.shape[0] - 1
    if 8 * count[0] > 7 * mask:
        for i in range(mask + 1):
            keys[i, 0] = NONE
        count[0] = mask // 2 + 1
    count[0] += 1
    row: int = int(np.int64(first)) & mask
    while keys[row, 0] != NONE:
        row = (row + 1) & mask
    keys[row, 0] = first
    keys[row, 1] = second
    _, sets[row, LOG_P], sets[row, E_C], sets[row, E_GIVEN] = estimate
    return row


@kernel
def copy_sets(old: Words, new: Words) -> int:
    """Copy every set into an empty, larger table (see `row_of_set`); return their number."""
    mask = new.shape[0] - 1
    num = 0
    for i in range(old.shape[0]):
        if old[i, 0] != NONE:
            num += 1
            row = int(np.int64(old[i, 0])) & mask
            while new[row, 0] != NONE:
                row = (row + 1) & mask
            for column in range(old.shape[1]):
                new[row, column] = old[i, column]
    return num


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
        value = 1.0 + (slots - 1) * single[q, SINGLE_E_GIVEN]
    else:
        e_c = single[q, SINGLE_E_C]
        if estimator == UNDIVIDED:
            e_c = undivided(e_c, single[q, SINGLE_LOG_P])
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
