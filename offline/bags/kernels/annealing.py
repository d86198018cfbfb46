"""Simulated annealing of levels, compiled.

Every position has a level (0: unused) and a cell (how late it lies). ``balance[l, t]`` is the number of segments of
level l that have ended by time t, minus those of level l + 1 that have started. The cost is the sum of its negative
parts over levels and times. A step exchanges the levels of two near positions, or moves a position to the next cell. It
is accepted if the cost rises by at most a random threshold that decreases with time.

`anneal` has more than eight arguments, since bundled arrays slow kernels down. Decisions use integers and one product
of floats, and the kernel draws its own random numbers, so that machine code and plain Python take the same steps.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel

__all__ = ["THRESHOLDS", "anneal", "random_step"]


_MULTIPLIER = 1_932_734_418  # a < 2^31 for which a 2^32 - 1 and a 2^31 - 1 are prime
_LOW = (1 << 32) - 1
_BITS = 10

#: Quantiles of the exponential distribution; a rise up to a random one times the temperature is accepted.
THRESHOLDS = -np.log((np.arange(1 << _BITS) + 0.5) / (1 << _BITS))


@kernel
def random_step(x: int) -> int:
    """Return the next state of a multiply-with-carry generator (Marsaglia); its low 32 bits are random.

    The state is positive and has at most 63 bits, so nothing overflows; the period is 1932734418 * 2^31 - 1.

    Examples
    --------
    >>> random_step(1), random_step(2**63 - 1) < 2**63
    (1932734418, True)
    """
    return _MULTIPLIER * (x & _LOW) + (x >> 32)


@kernel
def _add(balance: Ints, level: int, begin: int, end: int, change: int) -> int:
    """Add to the balance of a level in [begin, end), or subtract in [end, begin); return the rise of the cost."""
    if end < begin:
        begin, end, change = end, begin, -change
    rise = 0
    for t in range(begin, end):
        old = balance[level, t]
        new = old + change
        balance[level, t] = new
        rise += (-new if new < 0 else 0) - (-old if old < 0 else 0)
    return rise


@kernel
def _move(balance: Ints, level: int, segments: int, ends: tuple[int, int], starts: tuple[int, int]) -> int:
    """Change the end and start (old, new) of one segment of a level; return the rise of the cost."""
    rise = 0
    if 0 < level < segments:
        rise += _add(balance, level, ends[0], ends[1], -1)
    if level > 1:
        rise += _add(balance, level - 1, starts[0], starts[1], 1)
    return rise


@kernel
def _exchange(balance: Ints, p: int, q: int, level: Ints, cell: Ints, start: Ints, end: Ints, segments: int) -> int:
    """Exchange the levels of two positions; return the rise of the cost."""
    ep, eq, sp, sq = end[p, cell[p]], end[q, cell[q]], start[p, cell[p]], start[q, cell[q]]
    a, b = level[p], level[q]
    rise = _move(balance, a, segments, (ep, eq), (sp, sq)) + _move(balance, b, segments, (eq, ep), (sq, sp))
    level[p], level[q] = b, a
    return rise


@kernel
def _is_free(p: int, to: int, cell: Ints, cells: int, before: Ints, after: Ints) -> bool:
    """Return whether a position can move to a cell, since cells do not decrease within a period."""
    if to < 0 or to >= cells:
        return False
    if to < cell[p]:
        return bool(before[p] < 0 or cell[before[p]] <= to)
    return bool(after[p] < 0 or to <= cell[after[p]])


@kernel
def anneal(
    level: Ints,
    cell: Ints,
    start: Ints,
    end: Ints,
    before: Ints,
    after: Ints,
    low: Ints,
    high: Ints,
    balance: Ints,
    thresholds: npt.NDArray[np.float64],
    segments: int,
    reach: int,
    steps: int,
    hot: float,
    cooling: float,
    seed: int,
) -> int:
    """Anneal ``level`` and ``cell`` in place until the cost is 0 or the steps are done; return the cost.

    Parameters
    ----------
    level, cell
        Shape (P,): the initial assignment, changed in place.
    start, end
        Shape (P, cells): time index of start and end of each position in each cell.
    before, after
        Shape (P,): the neighbours in the same period, -1 for none.
    low, high
        Shape (P,): least and greatest level that a position may have; 0 is always allowed.
    balance
        Shape (k + 1, times), zeros; filled here.
    thresholds
        `THRESHOLDS`.
    segments
        k.
    reach
        Largest distance of positions that exchange levels.
    steps, hot, cooling
        Number of steps; the first temperature, and its factor in each step.
    seed
        Seed of the random numbers.
    """
    cost = 0
    for p in range(level.size):
        if 0 < level[p] < segments:
            cost += _add(balance, level[p], end[p, cell[p]], balance.shape[1], 1)
        if level[p] > 1:
            cost += _add(balance, level[p] - 1, start[p, cell[p]], balance.shape[1], -1)
    x = (seed & _LOW) + 1
    for _ in range(4):  # which separates near seeds
        x = random_step(x)
    temperature = hot
    for _ in range(steps):
        if cost == 0:
            break
        temperature *= cooling
        x = random_step(x)
        p = (x & _LOW) % level.size
        x = random_step(x)
        kind = (x & _LOW) >> _BITS
        limit = temperature * thresholds[x & ((1 << _BITS) - 1)]
        if kind % 7 == 0:
            old = cell[p]
            to = old + 1 if kind % 2 else old - 1
            if not _is_free(p, to, cell, start.shape[1], before, after):
                continue
            ends, starts = (end[p, old], end[p, to]), (start[p, old], start[p, to])
            rise = _move(balance, level[p], segments, ends, starts)
            if rise <= limit:
                cell[p] = to
                cost += rise
            else:
                _move(balance, level[p], segments, (ends[1], ends[0]), (starts[1], starts[0]))
            continue
        q = p + 1 + (kind // 7) % reach
        if q >= level.size or level[p] == level[q]:
            continue
        if (level[q] and not low[p] <= level[q] <= high[p]) or (level[p] and not low[q] <= level[p] <= high[q]):
            continue
        rise = _exchange(balance, p, q, level, cell, start, end, segments)
        if rise <= limit:
            cost += rise
        else:
            _exchange(balance, p, q, level, cell, start, end, segments)
    return cost
