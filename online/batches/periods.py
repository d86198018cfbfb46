"""The number of requests that a batch needs, and the period of calls that brings them."""

from __future__ import annotations

import math
from functools import cache

__all__ = ["period", "poisson_tail", "requests_for"]


def poisson_tail(mean: float, least: int) -> float:
    """Return the probability that a Poisson number of this mean is at least ``least``.

    Examples
    --------
    >>> round(poisson_tail(1.0, 1), 6)
    0.632121
    """
    if least <= 0:
        return 1.0
    if mean <= 0:
        return 0.0

    def chance(count: int) -> float:
        return math.exp(count * math.log(mean) - mean - math.lgamma(count + 1))

    if least > mean:  # the terms fall from here on
        terms = [chance(least)]
        while terms[-1] > 1e-18 * terms[0]:
            terms.append(terms[-1] * mean / (least + len(terms)))
        return math.fsum(terms)
    terms = [chance(least - 1)]
    while terms[-1] > 0 and len(terms) < least:
        terms.append(terms[-1] * (least - len(terms)) / mean)
    return 1 - math.fsum(terms)


@cache
def requests_for(tasks: int, k: float, copies: int = 1) -> int:
    """Return lambda, the least mean with which enough Poisson requests arrive with probability ``k``.

    This is the paper's equation 1, corrected (docs/batches/model.md section 3).

    Parameters
    ----------
    tasks
        N.
    k
        K, above 0 and below 1.
    copies
        q, requests per task.

    Examples
    --------
    >>> [requests_for(tasks, 0.99) for tasks in (1024, 2048, 4096)]
    [1100, 2155, 4247]
    """
    wanted = tasks * copies
    low, high = 0, 1  # the tail increases with the mean: k is above that of low, not above that of high
    while poisson_tail(high, wanted) < k:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if poisson_tail(middle, wanted) < k:
            low = middle
        else:
            high = middle
    return high


def period(active: int, margin: int, workers: int, requests: int) -> int:
    """Return T in seconds, at least 1: ``active`` workers then bring ``requests`` in nine tenths of the margin.

    Parameters
    ----------
    active
        P.
    margin
        W (L_i - S_i), see `hindsched.instances.batches.model.Instance.margin`.
    workers
        W.
    requests
        lambda.

    Examples
    --------
    >>> period(1000, 12_600 * 5, 5, 1100)
    10309
    """
    return max(1, 9 * active * margin // (10 * requests * workers))
