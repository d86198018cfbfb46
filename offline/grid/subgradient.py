"""Lagrangian bounds by the subgradient method: prices of nodes and of step loads (docs/grid/model.md section 6).

Besides the nodes, some *step loads* have prices. For a number k, the step load of a job is ⌊(k + 1) n / (M + 1)⌋, with
limit k. Jobs that fit together have Σ n <= M, so their loads sum to at most ⌊(k + 1) M / (M + 1)⌋ = k. For k = 1: jobs
wider than half of the nodes run one at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hindsched.instances.grid import Instance
from hindsched.instances.grid.model import Ints
from hindsched.offline.grid.job_prices import SCALE, CellPrices
from hindsched.offline.grid.kernels.subgradient_ascent import ascend
from hindsched.offline.limits import Stopwatch

__all__ = ["SubgradientParameters", "subgradient_prices"]


@dataclass(frozen=True, slots=True)
class SubgradientParameters:
    """Parameters of the subgradient method.

    Parameters
    ----------
    most_cells
        Largest number of cells; longer spans have several slots a cell.
    coarse_cells
        Largest number of cells of the first, coarsest level. Each further level has cells a quarter as long.
    least_factor
        A level ends when the factor of Polyak's step is smaller.
    small_steps
        Step loads have k = 1, ..., this number.
    common_widths
        Number of widths of largest area with step loads: a step load has the k of which just fit together.
    rounds
        Bounds that are evaluated without a time limit.
    chunk
        Approximate product of jobs and cells between two looks at the clock.
    """

    most_cells: int = 12_000
    coarse_cells: int = 256
    least_factor: float = 1e-4
    small_steps: int = 3
    common_widths: int = 5
    rounds: int = 1_500
    chunk: int = 5_000_000


_PARAMETERS = SubgradientParameters()


def subgradient_prices(instance: Instance, starts: Ints, watch: Stopwatch, until_s: float | None) -> CellPrices:
    """Return good prices for an instance by a projected subgradient method, from coarse to fine cells.

    Parameters
    ----------
    instance
        At least one job.
    starts
        Starts of a schedule: its total wait is the target of Polyak's step, and prices end where it ends.
    watch, until_s
        When to stop; None: after a fixed number of rounds.

    Notes ----- A round costs at most O(n c) for c cells; the starts of a job are tried until its wait alone exceeds the
    best cost. The bounds converge to the value of the time-indexed linear program with step loads as further rows.

    References
    ----------
    M. Held, P. Wolfe, H. P. Crowder, "Validation of subgradient optimization", Mathematical Programming 6 (1974).
    P. M. Camerini, L. Fratta, F. Maffioli, "On improving relaxation methods by modified gradient techniques",
    Mathematical Programming Study 3 (1975).
    """
    first = int(instance.submit[0])
    span = int((starts + instance.length).max()) - first
    finest = -(-span // _PARAMETERS.most_cells)
    widths, kind = np.unique(instance.width, return_inverse=True)
    area = np.bincount(kind, weights=instance.width * instance.length).astype(float)
    loads, limits = _resources(widths, area, instance.nodes)
    jobs = instance.submit - first, kind, instance.length, loads.astype(float), limits.astype(float)
    upper = float(starts.sum() - instance.submit.sum())
    steps = [finest]
    while span // steps[0] > _PARAMETERS.coarse_cells:
        steps.insert(0, 4 * steps[0])
    best = np.zeros((len(limits), -(-span // steps[0])))
    reached, done, begun_s = -1.0, 0, watch.elapsed_s()
    for level, step in enumerate(steps, 1):
        cells = -(-span // step)
        if level > 1:
            best = np.repeat(best, 4, axis=1)[:, :cells].copy()
        prices, way, rise = best.copy(), np.zeros_like(best), np.zeros_like(best)
        sums, use = np.zeros((2, len(widths), cells + 1))
        memory = np.array([-1.0, 1.0, 0.0])
        rounds = max(1, min(100, _PARAMETERS.chunk // (cells * (len(widths) + len(instance)))))
        share = level / len(steps)
        end_s = None if until_s is None else begun_s + share * (until_s - begun_s)
        while done < share * _PARAMETERS.rounds if end_s is None else watch.elapsed_s() < end_s:
            if watch.is_over() or reached > upper - 1 + 1e-6 or memory[1] < _PARAMETERS.least_factor:
                break
            ascend(*jobs, step, prices, best, way, memory, upper, rounds, rise, sums, use)
            reached = max(reached, float(memory[0]))
            done += rounds
    whole = np.rint(best * SCALE).astype(np.int64)
    return CellPrices(instance, first, finest, kind, loads, limits, whole, done)


def _resources(widths: Ints, area: npt.NDArray[np.float64], nodes: int) -> tuple[Ints, Ints]:
    """Return loads (widths, resources) and limits: the nodes, and step loads that the other resources do not imply.

    The step loads are those of small k, and for the widths of largest area those with the k that fit together.
    """
    common = [nodes // int(widths[i]) for i in np.argsort(-area, kind="stable")[: _PARAMETERS.common_widths]]
    columns, limits = [widths], [nodes]
    for k in sorted({*range(1, _PARAMETERS.small_steps + 1), *common}):
        load = (k + 1) * widths // (nodes + 1)
        is_implied = any((load * limit <= column * k).all() for column, limit in zip(columns, limits, strict=True))
        if k < nodes and not is_implied:
            columns.append(load)
            limits.append(k)
    return np.stack(columns, axis=1), np.array(limits)
