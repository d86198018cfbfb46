"""The renewal sums E_u = sum of P(t) and A = sum of t P(t), t = 1, 2, ... (docs/model.md section 5).

P(t) is the probability that all workers of a set are UP t slots after a slot in which all were UP. For one worker
``p(t) = a l1^t + (1-a) l2^t``; for a set P(t) is the product. A worker is represented by its *gaps* 1 - l1 and 1 - l2:
the l1 of a worker that is hardly ever DOWN is so close to 1 that ``1 - l1`` would lose its digits.

Written to be read; `hindsched.online.coupled.kernels.renewal_kernels` is the compiled twin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hindsched.instances.chains import Chain

__all__ = ["RELATIVE_ERROR", "Modes", "modes", "sums", "sums_closed", "sums_truncated"]

#: Truncation error of the sums, relative to the sum; rounding errors come in addition.
RELATIVE_ERROR = 1e-14
#: Gap below which a worker counts as never DOWN: no run has 1e30 slots.
_LEAST_GAP = 1e-30
#: Number of slots that are summed at once.
_BLOCK = 4096


class Modes(NamedTuple):
    """One worker's ``p(t) = weight (1 - gap)^t + other_weight (1 - other_gap)^t``.

    ``gap`` is 0 exactly for a worker that returns to UP with certainty; ``weight`` is then its long-run share of UP
    slots.
    """

    weight: float
    gap: float
    other_weight: float
    other_gap: float


def modes(chain: Chain) -> Modes:
    """Return the two terms of one worker's p(t), from the eigenvalues of M = [[P_uu, P_ur], [P_ru, P_rr]].

    The diagonal is computed from the entries off the diagonal.

    Notes
    -----
    If no path leads from RECLAIMED back to UP (P_ur P_ru = 0), M is triangular, possibly defective, and p(t) is the one
    term P_uu^t, for any other eigenvalue. Otherwise l1 > l2, and a = (P_uu - l2) / (l1 - l2) is in (0, 1).

    Examples
    --------
    >>> modes(Chain(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))))  # always UP
    Modes(weight=1.0, gap=0.0, other_weight=0.0, other_gap=1.0)
    """
    (uu, ur, ud), (ru, _, rd), _ = chain.rows
    if ur * ru == 0.0:
        gap = ur + ud if uu > 0.5 else 1.0 - uu
        return Modes(1.0, _clean(gap), 0.0, 1.0)
    half = ((ru + rd) - (ur + ud)) / 2  # (P_uu - P_rr) / 2
    root = math.sqrt(half * half + ur * ru)  # (l1 - l2) / 2
    other_gap = (ur + ud + ru + rd) / 2 + root
    gap = _clean((ur * rd + ud * ru + ud * rd) / other_gap)  # det(I - M) / (1 - l2), without cancellation
    large = (root + abs(half)) / (2 * root)
    small = ur * ru / ((root + abs(half)) * 2 * root)
    weight, other_weight = (large, small) if half >= 0 else (small, large)
    return Modes(weight, gap, other_weight, other_gap)


def sums(workers: Sequence[Modes]) -> tuple[float, float]:
    """Return (E_u, A) of a set of workers, by the cheaper of the two forms.

    Parameters
    ----------
    workers
        At least one of them has a gap above 0; otherwise the sums diverge.

    Notes
    -----
    `sums_closed` costs 2^|S|. `sums_truncated` costs |S| times the slots until the larger eigenvalues dominate. These
    are few for workers whose state changes often, even if they are rarely DOWN.
    """
    if len(workers) <= 12 or 2 ** len(workers) <= len(workers) * _slots_to_settle(workers):
        return sums_closed(workers)
    return sums_truncated(workers)


def sums_closed(workers: Sequence[Modes]) -> tuple[float, float]:
    """Return (E_u, A) in closed form: the product expands into 2^|S| geometric series.

    With gap g, a series of ratio 1 - g has sum (1 - g) / g, and weighted by t the sum (1 - g) / g^2. The gap of a
    product of ratios is g + h - g h.
    """
    weights: npt.NDArray[np.float64] = np.ones(1)
    gaps: npt.NDArray[np.float64] = np.zeros(1)
    for weight, gap, other_weight, other_gap in workers:
        one = gaps + gap - gaps * gap
        if other_weight == 0.0:
            gaps = one
            continue
        gaps = np.concatenate((one, gaps + other_gap - gaps * other_gap))
        weights = np.concatenate((weights * weight, weights * other_weight))
    series = weights * (1.0 - gaps) / gaps
    return max(0.0, float(series.sum())), max(0.0, float((series / gaps).sum()))


def sums_truncated(workers: Sequence[Modes]) -> tuple[float, float]:
    """Return (E_u, A) summed slot by slot, with the remainder in closed form.

    The sum stops when the remainder is at most `RELATIVE_ERROR` of it, or when P(t) equals its leading term, the
    product of the weights times Lambda^t, to that accuracy: the remainder is then one geometric series.
    """
    columns = np.array([worker[:] for worker in workers]).T[:, :, None]
    weight, gap, other_weight, other_gap = columns
    settled = _slots_to_settle(workers)
    with np.errstate(divide="ignore"):  # l1 = 0 has logarithm -inf, and its powers are 0
        log_l1 = np.log1p(-gap)
    log_lambda = float(log_l1.sum())
    e_u = a = 0.0
    last = 0
    while last < settled:
        t = np.arange(last + 1, min(last + _BLOCK, settled) + 1, dtype=np.float64)
        product = (weight * np.exp(log_l1 * t) + other_weight * (1.0 - other_gap) ** t).prod(axis=0)
        e_u += float(product.sum())
        a += float((t * product).sum())
        last += t.size
        # p(t) <= l1^t for each worker, so Lambda^t bounds P(t)
        bound_u, bound_a = _tail(log_lambda, last)
        if bound_u <= RELATIVE_ERROR * e_u and bound_a <= RELATIVE_ERROR * a:
            return e_u, a
    leading = float(weight.prod())
    tail_u, tail_a = _tail(log_lambda, settled)
    return e_u + leading * tail_u, a + leading * tail_a


def _tail(log_ratio: float, last: int) -> tuple[float, float]:
    """Return the sums of ratio^t and of t ratio^t over t > last."""
    gap = -math.expm1(log_ratio)
    rest = math.exp(log_ratio * (last + 1)) / gap
    return rest, rest * (last + 1.0 / gap)


def _slots_to_settle(workers: Sequence[Modes]) -> int:
    """Return the number of slots from which on the product of the p(t) equals its leading term to `RELATIVE_ERROR`.

    The product of 1 + r_q rho_q^t, with r = (1-a)/a and rho = |l2|/l1, differs from 1 by about the sum of the
    r_q rho_q^t; each term may use an equal share of the error. A rho of 1 never settles.
    """
    slots = 0.0
    for weight, gap, other_weight, other_gap in workers:
        rho = abs(1.0 - other_gap) / (1.0 - gap) if gap < 1.0 else 0.0
        if other_weight == 0.0 or rho == 0.0:
            continue
        if rho >= 1.0:
            return 2**62
        excess = math.log(len(workers) * other_weight / (weight * RELATIVE_ERROR))
        slots = max(slots, excess / -math.log(rho))
    return 1 + math.ceil(min(slots, 2.0**62))


def _clean(gap: float) -> float:
    return gap if gap >= _LEAST_GAP else 0.0
