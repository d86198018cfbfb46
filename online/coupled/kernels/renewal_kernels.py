"""P_plus and E_c of one set of workers: the compiled twin of `hindsched.online.coupled.renewal_sums`."""

from __future__ import annotations

import math

import numpy as np

from hindsched.instances.array_types import Ints, Reals
from hindsched.instances.compiling import kernel

__all__ = ["estimate_set"]

_RELATIVE_ERROR = 1e-14
_MOST_SLOTS = 2.0**62


@kernel(allocates=True)
def estimate_set(
    holders: Ints, num_holders: int, q: int, modes: Reals, ranks: Ints
) -> tuple[float, float, float, float]:
    """Return p_plus, log_p_plus, e_c and e_given_success of `hindsched.online.coupled.estimates.SetEstimate`.

    Parameters
    ----------
    holders, num_holders
        The set: the first ``num_holders`` of these workers.
    q
        One more worker of the set, or -1.
    modes
        Shape (p, 4): the modes of the workers, sorted, so that equal workers give equal sums to the last bit.
    ranks
        The row of each worker in ``modes``.
    """
    size = num_holders + (q >= 0)
    chosen = np.empty(size, np.int64)
    is_endless = True
    share = 1.0
    for i in range(size):
        rank = ranks[holders[i] if i < num_holders else q]
        place = i
        while place > 0 and chosen[place - 1] > rank:
            chosen[place] = chosen[place - 1]
            place -= 1
        chosen[place] = rank
    for i in range(size):
        is_endless = is_endless and modes[chosen[i], 1] == 0.0
        share *= modes[chosen[i], 0]
    if is_endless:
        return 1.0, 0.0, 1.0 / share, 1.0 / share
    if size <= 12 or 2.0**size <= size * _slots_to_settle(modes, chosen, size):
        e_u, a = _closed(modes, chosen, size)
    else:
        e_u, a = _truncated(modes, chosen, size)
    if e_u == 0.0:
        return 0.0, -np.inf, 0.0, np.inf
    e_c = a / (1.0 + e_u) ** 2
    p_plus = e_u / (1.0 + e_u)
    return p_plus, -math.log1p(1.0 / e_u), e_c, e_c / p_plus


@kernel(allocates=True)
def _closed(modes: Reals, chosen: Ints, size: int) -> tuple[float, float]:
    weights = np.ones(1 << size)
    gaps = np.zeros(1 << size)
    terms = 1
    for i in range(size):
        weight, gap, other_weight, other_gap = modes[chosen[i]]
        if other_weight != 0.0:
            for k in range(terms):
                weights[terms + k] = weights[k] * other_weight
                gaps[terms + k] = gaps[k] + other_gap - gaps[k] * other_gap
            for k in range(terms):
                weights[k] *= weight
        for k in range(terms):
            gaps[k] = gaps[k] + gap - gaps[k] * gap
        if other_weight != 0.0:
            terms *= 2
    for k in range(terms):
        weights[k] = weights[k] * (1.0 - gaps[k]) / gaps[k]
        gaps[k] = weights[k] / gaps[k]
    e_u = a = 0.0
    for k in range(terms):
        e_u += weights[k]
        a += gaps[k]
    return max(0.0, e_u), max(0.0, a)


@kernel(allocates=True)
def _truncated(modes: Reals, chosen: Ints, size: int) -> tuple[float, float]:
    settled = _slots_to_settle(modes, chosen, size)
    log_lambda = 0.0
    leading = 1.0
    log_l1 = np.empty(size)
    for i in range(size):
        log_l1[i] = math.log1p(-modes[chosen[i], 1]) if modes[chosen[i], 1] < 1.0 else -np.inf
        log_lambda += log_l1[i]
        leading *= modes[chosen[i], 0]
    e_u = a = 0.0
    last = 0
    while last < settled:
        t = last + 1.0
        product = 1.0
        for i in range(size):
            weight, _, other_weight, other_gap = modes[chosen[i]]
            product *= weight * math.exp(log_l1[i] * t) + other_weight * math.pow(1.0 - other_gap, t)
        e_u += product
        a += t * product
        last += 1
        if last % 64 == 0:
            bound_u, bound_a = _tail(log_lambda, float(last))
            if bound_u <= _RELATIVE_ERROR * e_u and bound_a <= _RELATIVE_ERROR * a:
                return e_u, a
    tail_u, tail_a = _tail(log_lambda, settled)
    return e_u + leading * tail_u, a + leading * tail_a


@kernel(allocates=True)
def _tail(log_ratio: float, last: float) -> tuple[float, float]:
    gap = -math.expm1(log_ratio)
    rest = math.exp(log_ratio * (last + 1.0)) / gap
    return rest, rest * (last + 1.0 / gap)


@kernel(allocates=True)
def _slots_to_settle(modes: Reals, chosen: Ints, size: int) -> float:
    slots = 0.0
    for i in range(size):
        weight, gap, other_weight, other_gap = modes[chosen[i]]
        rho = abs(1.0 - other_gap) / (1.0 - gap) if gap < 1.0 else 0.0
        if other_weight == 0.0 or rho == 0.0:
            continue
        if rho >= 1.0:
            return _MOST_SLOTS
        slots = max(slots, math.log(size * other_weight / (weight * _RELATIVE_ERROR)) / -math.log(rho))
    settled: float = 1.0 + np.ceil(min(slots, _MOST_SLOTS))
    return settled
