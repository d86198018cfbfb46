"""Compiled bounds on the estimates of a set with one more worker, at the cost of a few additions.

Let u(t) be the probability that all members of a set S are UP t slots after a slot in which all were UP. With a worker
whose p(t) is a l1^t + b l2^t, the renewal sums of the larger set are E_u = a G(l1) + b G(l2) and A = a F(l1) + b F(l2),
where G(z) is the sum of u(t) z^t and F(z) that of t u(t) z^t (docs/model.md section 5). G and F are convex. So a few
values of G and F for each node of the tree bound both sums for all workers: a chord is above G, and the extension of
the next chord is below F. An upper bound on E_u and a lower bound on A give an upper bound on P_plus^(W-1) and a lower
bound on E(W).
"""

from __future__ import annotations

import math

import numpy as np

from hindsched.instances.array_types import Ints, Reals
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.arguments import BoundTables, BuildContext
from hindsched.online.coupled.kernels.estimate_kernels import CONDITIONAL, UNDIVIDED

__all__ = ["bounds_with", "fill_bound", "fill_sums"]

#: Relative margin, above all rounding errors.
_MARGIN = 1e-9
#: Largest value of G, which is infinite for workers that are never DOWN, and least duration.
_LARGEST, _LEAST = 1e300, 1e-300


@kernel(fastmath={"reassoc", "nsz", "contract"})
def fill_sums(bounds: BoundTables, sums: Reals, holders: Ints, num_holders: int) -> None:
    """Compute upper bounds on G and lower bounds on F for the holders."""
    chances, powers, logs = bounds.chances, bounds.powers, bounds.logs
    product, timed = bounds.product[0], bounds.product[1]
    slots = product.size
    decay = 0.0
    for t in range(slots):
        product[t] = 1.0
    for k in range(num_holders):
        q = holders[k]
        decay += bounds.decays[q]
        for t in range(slots):
            product[t] *= chances[q, t]
    for t in range(slots):
        timed[t] = (t + 1) * product[t]
    for i in range(logs.size):
        g = f = 0.0
        for t in range(slots):
            g += product[t] * powers[i, t]
            f += timed[t] * powers[i, t]
        rate = decay - logs[i]  # u(t) z^t <= exp(-rate t)
        rest = math.exp(-rate * (slots + 1)) / -math.expm1(-rate) if rate > 0.0 else _LARGEST
        sums[0, i] = min(_LARGEST, g + rest)
        sums[1, i] = f


@kernel(forceinline=True)
def sums_with(bounds: BoundTables, sums: Reals, q: int) -> tuple[float, float]:
    """Return an upper bound on E_u and a lower bound on A with worker q."""
    e_u = a = 0.0
    for i in range(2):
        s = bounds.segments[q, i]
        e_u += bounds.shares[q, i, 0] * sums[0, s] + bounds.shares[q, i, 1] * sums[0, s + 1]
        a += bounds.shares[q, i, 2] * sums[1, s + 1] + bounds.shares[q, i, 3] * sums[1, s + 2]
    return e_u, max(0.0, a)


@kernel(forceinline=True)
def fill_bound(context: BuildContext, node: int, num_holders: int, q: int, x: int) -> None:
    """Write bounds on success and duration at a node with one more task, the x-th, on worker q.

    The bound on the duration is written with a minus.
    """
    application, heuristic, tables, tree, trace = context
    if x > 1 or num_holders == 0:  # the estimate itself costs little
        tree.success[node, q] = 1.0
        tree.duration[node, q] = -_LEAST
        return
    sums = tree.sums[node]
    if np.isnan(sums[0, 0]):
        fill_sums(tables.bounds, sums, trace.holders, num_holders)
    work = max(tree.work[node], application.w[q])
    success, duration = bounds_with(tables.bounds, sums, heuristic.estimator, q, work)
    tree.success[node, q] = success
    tree.duration[node, q] = -duration


@kernel(forceinline=True)
def bounds_with(bounds: BoundTables, sums: Reals, estimator: int, q: int, work: int) -> tuple[float, float]:
    """Return an upper bound on success and a lower bound on duration with worker q, for W = ``work``."""
    e_u, a = sums_with(bounds, sums, q)
    left = float(work - 1)
    # log(1 + 1 / x) >= 2 / (2 x + 1)
    success = math.exp(-left * 2.0 / (2.0 * e_u + 1.0))
    if estimator == CONDITIONAL:
        duration = 1.0 + left * a / max(e_u * (1.0 + e_u), _LEAST)
    elif estimator == UNDIVIDED:
        duration = (1.0 + left * a / (1.0 + e_u)) / success
    else:
        duration = (1.0 + left * a / (1.0 + e_u) / (1.0 + e_u)) / success
    return min(1.0, success * (1.0 + _MARGIN)), duration * (1.0 - _MARGIN)
