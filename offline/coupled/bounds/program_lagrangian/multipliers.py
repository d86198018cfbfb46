"""Multipliers of the bound by rents, and how they move along what paths use (docs/model.md section 3)."""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hindsched.instances.array_types import Ints
from hindsched.instances.coupled.model import Instance
from hindsched.offline.coupled.bounds.program_lagrangian.shortest_paths import Path
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import Graph, Tables

__all__ = ["SCALE", "Learner", "moved"]

Reals = NDArray[np.float64]

#: What one slot of the makespan counts, in the integers of multipliers and distances.
SCALE = 1 << 20

_MOMENTUM = 0.7
_PI_MOMENTUM = 0.8
_NEW_END = 0.2  # what the last path counts beside those before it, for where paths end


class Momentum(NamedTuple):
    """What lately found paths use of each life, by index, and the programs that they lack."""

    pull: Reals
    lack: Reals


class Learner:
    """Multipliers for one part of the schedules: values of programs by index, and each life's shares of its value.

    Where the iterations of lately found paths end is kept too, as the part may be divided by that.
    """

    def __init__(self, instance: Instance, iterations: int) -> None:
        self.iterations = iterations
        self._first_pi = instance.t_prog / instance.channels
        self._pi: Reals = np.full(iterations + 1, self._first_pi)
        self._shares: Reals = np.zeros((iterations + 1, 0))
        self._tables: Tables | None = None
        self._ends: Reals = np.zeros((2, iterations + 1))  # of lately found paths: mean and variance
        self._paths = 0

    def move(self, tables: Tables) -> None:
        """Look at the lives of other tables from now on; what has been learnt stays."""
        self._shares = moved(self._shares, self._tables, tables)
        self._tables = tables

    def begin(self, graph: Graph) -> Momentum:
        """Begin to learn for a horizon: give shares to each life that has none yet."""
        fresh = self._shares.sum(axis=0) == 0.0
        self._shares[:, fresh] = graph.nearness()[:, fresh]
        return Momentum(np.zeros_like(self._shares), np.zeros(self.iterations + 1))

    def multipliers(self, graph: Graph) -> tuple[Ints, Ints]:
        """Return valid values of programs by index, and rents by index and life, as integers."""
        pi = np.ceil(self._pi * SCALE).astype(np.int64)
        return pi, _divide(self._shares, graph.caps(pi))

    def step(self, graph: Graph, found: Path, momentum: Momentum, length: float, pi_step: float) -> None:
        """Move the multipliers along the subgradient that a path gives, and back to where they are valid.

        ``length`` is by how much what the path costs should grow by its rents, ``pi_step`` how fast the values move.
        """
        (shares, pi), (pull, lack) = (self._shares, self._pi), momentum
        most = np.where(graph.sendable, pi[:, None], np.inf)
        most = np.minimum.accumulate(most, axis=0)
        used_index, used_life = np.nonzero(found.used)
        least = most[used_index, used_life]
        is_cheap = graph.sendable[:, used_life] & (pi[:, None] <= 1.02 * least)
        is_cheap &= np.arange(len(pi))[:, None] <= used_index
        of_each = found.used[used_index, used_life] * shares[used_index, used_life]
        asked = is_cheap @ (of_each / np.maximum(1, is_cheap.sum(axis=0)))
        pull *= _MOMENTUM
        finite = np.where(np.isfinite(least), least, 0.0)
        pull[used_index, used_life] += (1 - _MOMENTUM) * found.used[used_index, used_life] * finite
        lives = np.flatnonzero(pull.any(axis=0))
        size = float((pull[:, lives] ** 2).sum())
        if size > 0.0:
            new = shares[:, lives] + length / size * pull[:, lives]
            shares[1:, lives] = _on_simplex(new[1:])
        lack *= _PI_MOMENTUM
        lack += (1 - _PI_MOMENTUM) * (asked - found.sent)
        pi[1:] *= np.exp(np.clip(pi_step * lack[1:] / max(1.0, 1.0 + found.sent[1:].mean()), -0.2, 0.2))
        np.clip(pi, 1e-3 * self._first_pi, min(1e3 * self._first_pi, float(graph.horizon)), out=pi)
        self._note(found)

    def _note(self, found: Path) -> None:
        """Count where the iterations of a path end."""
        self._paths += 1
        off = found.ends - self._ends[0]
        new = max(1 / self._paths, _NEW_END)
        self._ends[0] += new * off
        self._ends[1] = (1 - new) * (self._ends[1] + new * off**2)

    def where_ends_differ(self, early: Ints, late: Ints) -> tuple[int, int] | None:
        """Return an iteration whose ends differ most in paths, and their mean within its window; None if none can."""
        width = np.where(late > early, self._ends[1] + 1e-9 * (late - early), 0.0)
        width[[0, -1]] = 0.0
        k = int(np.argmax(width))
        if width[k] == 0.0:
            return None
        return k, int(min(max(early[k], np.floor(self._ends[0, k])), late[k] - 1))

    def scale(self) -> None:
        """Make the values of programs as large together as they were first: any multiple of all proves the same."""
        self._pi[1:] *= self._first_pi * self.iterations / self._pi[1:].sum()

    def copy(self) -> Learner:
        """Return one for a part of the same schedules, which knows the same."""
        half = copy(self)
        half._pi, half._shares, half._ends = self._pi.copy(), self._shares.copy(), self._ends.copy()
        half._paths = 0
        return half

    def forget(self) -> None:
        """Keep no shares, which take most of the memory."""
        self._shares = np.zeros((self.iterations + 1, 0))
        self._tables = None

    def nbytes(self) -> int:
        """Memory taken."""
        return self._shares.nbytes


def moved(of_lives: Reals, old: Tables | None, new: Tables) -> Reals:
    """Return columns by the lives of other tables."""
    if old is new:
        return of_lives
    moved = np.zeros((len(of_lives), len(new.owner)))
    if old is not None:
        moved[:, new.facts.life[old.first, old.owner]] = of_lives
    return moved


def _divide(shares: Reals, most: Ints) -> Ints:
    """Return rents by index and life: each life's shares of what they may be at most, as integers."""
    wanted = np.floor(shares * most).astype(np.int64)
    rents = np.zeros_like(wanted)
    rest = np.zeros(wanted.shape[1], np.int64)
    for k in range(len(wanted) - 1, 0, -1):
        total = np.maximum(rest, np.minimum(rest + wanted[k], most[k]))
        rents[k] = total - rest
        rest = total
    return rents


def _on_simplex(columns: Reals) -> Reals:
    """Return the nearest columns with entries >= 0 that sum up to 1 at most."""
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
