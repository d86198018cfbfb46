"""The subgradient method for the multipliers of the program constraints (Polyak 1969; docs/bounds.md)."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints, Reals
from hindsched.instances.coupled.model import Instance
from hindsched.offline.coupled.bounds.program_lagrangian.shortest_paths import Path
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import SlotGraph, SlotTables

__all__ = ["SCALE", "SubgradientMethod", "SubgradientParameters", "multipliers_of_shares", "reindex_periods"]

#: Units of one slot of the makespan in the integers of multipliers and distances.
SCALE = 1 << 20


@dataclass(frozen=True, slots=True)
class SubgradientParameters:
    """Parameters of the moves along subgradients.

    Parameters
    ----------
    momentum, program_momentum
        Weight of former subgradients, for multipliers and for program values; a larger one makes smoother moves.
    end_weight
        Weight of the last path in the statistics of the ends of iterations, by which nodes are branched.
    cheapest_tolerance
        Factor above the least program value up to which an iteration shares the programs that a period needs.
    max_log_change
        Largest change of the logarithm of a program value in one step.
    min_value, max_value
        Least and largest program value, as multiples of the initial value.
    """

    momentum: float = 0.7
    program_momentum: float = 0.8
    end_weight: float = 0.2
    cheapest_tolerance: float = 1.02
    max_log_change: float = 0.2
    min_value: float = 1e-3
    max_value: float = 1e3


class Momentum(NamedTuple):
    """Averages of former subgradients: use of each period by iteration, and programs that each iteration lacks."""

    used: Reals
    lacking: Reals


class SubgradientMethod:
    """Multipliers of one branch node: program values by iteration, and each period's shares of its cap.

    Statistics of the ends of iterations in the paths found are kept too, since they decide how the node is branched.
    """

    def __init__(
        self, instance: Instance, iterations: int, parameters: SubgradientParameters = SubgradientParameters()
    ) -> None:
        self.iterations = iterations
        self._parameters = parameters
        self._first_value = instance.t_prog / instance.channels
        self._program_values: Reals = np.full(iterations + 1, self._first_value)
        self._shares: Reals = np.zeros((iterations + 1, 0))
        self._tables: SlotTables | None = None
        self._ends: Reals = np.zeros((2, iterations + 1))  # mean and variance over the paths found
        self._paths = 0

    def set_tables(self, tables: SlotTables) -> None:
        """Continue with the periods of other tables; shares of known periods stay."""
        self._shares = reindex_periods(self._shares, self._tables, tables)
        self._tables = tables

    def begin(self, graph: SlotGraph) -> Momentum:
        """Begin with a horizon: give initial shares to periods without shares; return a momentum of zero."""
        is_new = self._shares.sum(axis=0) == 0.0
        self._shares[:, is_new] = graph.first_shares()[:, is_new]
        return Momentum(np.zeros_like(self._shares), np.zeros(self.iterations + 1))

    def multipliers(self, graph: SlotGraph) -> tuple[Ints, Ints]:
        """Return valid integers: program values by iteration, and multipliers by iteration and period."""
        program_values = np.ceil(self._program_values * SCALE).astype(np.int64)
        return program_values, multipliers_of_shares(self._shares, graph.multiplier_caps(program_values))

    def step(self, graph: SlotGraph, path: Path, momentum: Momentum, length: float, value_step: float) -> None:
        """Move along the subgradient at a path, and project onto valid multipliers.

        Parameters
        ----------
        graph
            Of the horizon to be refuted.
        path
            A path of least cost.
        momentum
            Changed in place.
        length
            Intended increase of the path's cost, in slots.
        value_step
            Step length of the logarithms of the program values.
        """
        given, (shares, values), (used, lacking) = self._parameters, (self._shares, self._program_values), momentum
        caps = np.minimum.accumulate(np.where(graph.can_receive, values[:, None], np.inf), axis=0)
        iteration, period = np.nonzero(path.used)
        cap = caps[iteration, period]
        is_cheapest = graph.can_receive[:, period] & (values[:, None] <= given.cheapest_tolerance * cap)
        is_cheapest &= np.arange(len(values))[:, None] <= iteration
        amount = path.used[iteration, period] * shares[iteration, period]
        needed = is_cheapest @ (amount / np.maximum(1, is_cheapest.sum(axis=0)))
        used *= given.momentum
        finite = np.where(np.isfinite(cap), cap, 0.0)
        used[iteration, period] += (1 - given.momentum) * path.used[iteration, period] * finite
        periods = np.flatnonzero(used.any(axis=0))
        norm = float((used[:, periods] ** 2).sum())
        if norm > 0.0:
            moved = shares[:, periods] + length / norm * used[:, periods]
            shares[1:, periods] = _project_to_simplex(moved[1:])
        lacking *= given.program_momentum
        lacking += (1 - given.program_momentum) * (needed - path.sent)
        change = value_step * lacking[1:] / max(1.0, 1.0 + path.sent[1:].mean())
        values[1:] *= np.exp(np.clip(change, -given.max_log_change, given.max_log_change))
        low, high = given.min_value * self._first_value, given.max_value * self._first_value
        np.clip(values, low, min(high, float(graph.horizon)), out=values)
        self._count_ends(path)

    def _count_ends(self, path: Path) -> None:
        self._paths += 1
        difference = path.ends - self._ends[0]
        weight = max(1 / self._paths, self._parameters.end_weight)
        self._ends[0] += weight * difference
        self._ends[1] = (1 - weight) * (self._ends[1] + weight * difference**2)

    def branching_end(self, early: Ints, late: Ints) -> tuple[int, int] | None:
        """Return the iteration whose end varies most in paths, and its mean end within the window; None if none can."""
        spread = np.where(late > early, self._ends[1] + 1e-9 * (late - early), 0.0)
        spread[[0, -1]] = 0.0
        k = int(np.argmax(spread))
        if spread[k] == 0.0:
            return None
        return k, int(min(max(early[k], np.floor(self._ends[0, k])), late[k] - 1))

    def normalize(self) -> None:
        """Scale the program values to their initial sum; every multiple of all multipliers proves the same."""
        self._program_values[1:] *= self._first_value * self.iterations / self._program_values[1:].sum()

    def copy(self) -> SubgradientMethod:
        """Return the method for a subset of the schedules, with the same multipliers."""
        other = copy(self)
        other._program_values, other._shares = self._program_values.copy(), self._shares.copy()
        other._ends = self._ends.copy()
        other._paths = 0
        return other

    def release(self) -> None:
        """Free the shares, which take most of the memory."""
        self._shares = np.zeros((self.iterations + 1, 0))
        self._tables = None

    def nbytes(self) -> int:
        """Return the memory taken, in bytes."""
        return self._shares.nbytes


def reindex_periods(values: Reals, old: SlotTables | None, new: SlotTables) -> Reals:
    """Return columns by the periods of other tables; 0 for periods that the old tables do not have."""
    if old is new:
        return values
    columns = np.zeros((len(values), len(new.owner)))
    if old is not None:
        columns[:, new.facts.period[old.first, old.owner]] = values
    return columns


def multipliers_of_shares(shares: Reals, caps: Ints) -> Ints:
    """Return multipliers by iteration and period: each period's shares of its caps, as integers."""
    wanted = np.floor(shares * caps).astype(np.int64)
    multipliers = np.zeros_like(wanted)
    later = np.zeros(wanted.shape[1], np.int64)
    for k in range(len(wanted) - 1, 0, -1):
        total = np.maximum(later, np.minimum(later + wanted[k], caps[k]))
        multipliers[k] = total - later
        later = total
    return multipliers


def _project_to_simplex(columns: Reals) -> Reals:
    """Return the nearest columns with entries >= 0 and a sum of at most 1."""
    positive = np.maximum(columns, 0.0)
    above = positive.sum(axis=0) > 1.0
    if not above.any():
        return positive
    rows = positive[:, above]
    ordered = -np.sort(-rows, axis=0)
    sums = np.cumsum(ordered, axis=0) - 1.0
    numbers = np.arange(1, len(rows) + 1)[:, None]
    count = (ordered * numbers > sums).sum(axis=0)
    cut = sums[count - 1, np.arange(rows.shape[1])] / count
    positive[:, above] = np.maximum(rows - cut, 0.0)
    return positive
