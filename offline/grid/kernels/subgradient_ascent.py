"""Kernel of the projected subgradient method for prices (Lagrangian multipliers).

There is a price for each resource and each cell of ``step`` slots. Jobs of one width have the same loads, so one table
of cumulative prices serves them all. The kernels have ten arguments or more, since bundled arrays slow them down.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel

__all__ = ["ascend"]

Floats = npt.NDArray[np.float64]


@kernel
def _cumulative(sums: Floats, at: int, step: int, cells: int) -> float:
    """Return the cumulative price of the first ``at`` slots."""
    cell = at // step
    if cell >= cells:
        cell, at = cells, cells * step
    cumulative: float = sums[cell]
    if at > cell * step:
        cumulative += (sums[cell + 1] - sums[cell]) * (at - cell * step) / step
    return cumulative


@kernel
def _value(
    submit: Ints,
    kind: Ints,
    length: Ints,
    loads: Floats,
    limits: Floats,
    prices: Floats,
    step: int,
    rise: Floats,
    sums: Floats,
    use: Floats,
) -> float:
    """Return the bound of these prices, and in ``rise`` its supergradient: use minus limit in each cell."""
    resources, cells = prices.shape
    kinds = len(loads)
    for w in range(kinds):
        for c in range(cells):
            use[w, c] = 0.0
            p = 0.0
            for i in range(resources):
                p += loads[w, i] * prices[i, c]
            sums[w, c + 1] = sums[w, c] + p * step
    total = 0.0
    for i in range(resources):
        for c in range(cells):
            total -= limits[i] * prices[i, c] * step
    for j in range(len(submit)):
        row = sums[kind[j]]
        best = _cumulative(row, submit[j] + length[j], step, cells) - _cumulative(row, submit[j], step, cells)
        start = submit[j]
        for side in range(1 if step == 1 else 2):  # a run begins, or ends, where a cell does
            shift = 0 if side == 0 else length[j]
            cell = (submit[j] + shift) // step + 1
            while True:
                at = cell * step - shift
                if at - submit[j] >= best or cell > cells + (length[j] // step + 1) * side:
                    break
                cost = (
                    at - submit[j] + _cumulative(row, at + length[j], step, cells) - _cumulative(row, at, step, cells)
                )
                if cost < best:
                    best, start = cost, at
                cell += 1
        total += best
        end = start + length[j]
        for c in range(min(start // step, cells), min((end - 1) // step + 1, cells)):
            use[kind[j], c] += min(end, (c + 1) * step) - max(start, c * step)
    for i in range(resources):
        for c in range(cells):
            rise[i, c] = -limits[i] * step
            for w in range(kinds):
                rise[i, c] += loads[w, i] * use[w, c]
    return total


@kernel
def _copy(source: Floats, target: Floats) -> None:
    for i in range(source.shape[0]):
        for c in range(source.shape[1]):
            target[i, c] = source[i, c]


@kernel
def ascend(
    submit: Ints,
    kind: Ints,
    length: Ints,
    loads: Floats,
    limits: Floats,
    step: int,
    prices: Floats,
    best: Floats,
    way: Floats,
    memory: Floats,
    upper: float,
    rounds: int,
    rise: Floats,
    sums: Floats,
    use: Floats,
) -> None:
    """Improve prices for a number of rounds: Polyak's step towards the upper bound along a deflected supergradient.

    Parameters
    ----------
    submit, kind, length
        Of each job: its submission after the begin of the first cell, its row of ``loads``, its length.
    loads, limits
        (kinds, resources) and (resources,).
    step
        Slots of a cell.
    prices, best, way
        (resources, cells): the present prices, the best prices, the direction of the last step.
    memory
        The best bound, the factor of the step, and the rounds since the best bound rose.
    upper
        The total wait of a schedule.
    rounds
        Number of bounds that are evaluated.
    rise, sums, use
        Scratch: (resources, cells), twice (kinds, cells + 1), ``sums`` beginning with zeros.
    """
    for _ in range(rounds):
        value = _value(submit, kind, length, loads, limits, prices, step, rise, sums, use)
        if value > memory[0] + 1e-9:
            if value > memory[0] + 1e-4 * (1.0 + abs(value)):
                memory[2] = 0
            memory[0] = value
            _copy(prices, best)
        else:
            memory[2] += 1
        if memory[2] >= 20:
            memory[1] *= 0.7
            memory[2] = 0
            _copy(best, prices)
            for i in range(prices.shape[0]):
                for c in range(prices.shape[1]):
                    way[i, c] = 0.0
            continue
        for i in range(prices.shape[0]):  # the projection removes directions below 0
            for c in range(prices.shape[1]):
                if prices[i, c] <= 0.0 and rise[i, c] < 0.0:
                    rise[i, c] = 0.0
        across, norm = 0.0, 0.0
        for i in range(prices.shape[0]):
            for c in range(prices.shape[1]):
                across += way[i, c] * rise[i, c]
                norm += way[i, c] ** 2
        turn = -1.5 * across / norm if across < 0.0 and norm > 0.0 else 0.0
        norm = 0.0
        for i in range(prices.shape[0]):
            for c in range(prices.shape[1]):
                way[i, c] = rise[i, c] + turn * way[i, c]
                norm += way[i, c] ** 2
        if norm <= 0.0:
            return
        size = memory[1] * max(upper - value, 0.5) / norm
        for i in range(prices.shape[0]):
            for c in range(prices.shape[1]):
                prices[i, c] = max(0.0, prices[i, c] + size * way[i, c])
