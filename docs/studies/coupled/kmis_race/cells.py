"""Cells of the race on k-subset intersections: shapes of arrays, from which all sides get the same states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hindsched.instances.coupled import generate
from hindsched.instances.states import UP

__all__ = ["GROUPS", "LENGTH", "Cell", "cells_of"]

#: Names of the groups, in the order of measurement.
GROUPS = ("small", "hard", "markov", "growth")
#: Common slots that task B requires, w.
LENGTH = 20

_SMALL = (
    (20, 200, 0.5),
    (20, 1000, 0.5),
    (20, 1000, 0.8),
    (40, 400, 0.5),
    (60, 1000, 0.4),
    (100, 500, 0.3),
)
_HARD = ((60, 1000, 0.5), (100, 1000, 0.4), (100, 1000, 0.5))
#: Centre of the growth cells, and the values of each parameter around it.
_P, _N, _DENSITY, _M = 60, 1000, 0.4, 10
_P_VALUES, _N_VALUES = (20, 40, 60, 80, 100, 150), (250, 500, 1000, 2000, 4000)
_DENSITY_VALUES, _M_VALUES = (0.2, 0.3, 0.4, 0.5, 0.55), (3, 5, 8, 10, 12, 15, 20)


@dataclass(frozen=True, slots=True)
class Cell:
    """Arrays of one shape.

    Parameters
    ----------
    group
        One of `GROUPS`.
    p, slots
        The shape.
    density
        Share of UP slots, drawn independently. None: states from the chains of the paper's experiment.
    m
        Size of the team.
    axis
        Parameter that a growth cell varies: ``p``, ``N``, ``density`` or ``m``; empty for others.
    """

    group: str
    p: int
    slots: int
    density: float | None
    m: int
    axis: str = ""

    @property
    def name(self) -> str:
        """Return the shape as text.

        Examples
        --------
        >>> Cell("small", 20, 200, 0.5, 5).name, Cell("markov", 20, 200, None, 5).name
        ('20 x 200, .5, m=5', '20 x 200, chains, m=5')
        """
        density = "chains" if self.density is None else f"{self.density:g}".removeprefix("0")
        return f"{self.p} x {self.slots}, {density}, m={self.m}"

    @property
    def identity(self) -> str:
        """Return the parameters of the arrays; a shape in two groups is measured once."""
        return f"{self.p}|{self.slots}|{self.density}|{self.m}"

    def draw(self, seed: int) -> npt.NDArray[np.bool_]:
        """Return the boolean array of shape (p, N) of this seed.

        Examples
        --------
        >>> Cell("small", 20, 200, 0.5, 5).draw(0).shape
        (20, 200)
        """
        if self.density is not None:
            is_up: npt.NDArray[np.bool_] = np.random.default_rng(seed).random((self.p, self.slots)) < self.density
            return is_up
        instance = generate.paper(m=self.m, n_com=None, wmin=1, scenario=seed, trial=0, slots=self.slots, p=self.p)
        return np.asarray(instance.states == UP)


def cells_of(groups: Sequence[str]) -> list[Cell]:
    """Return the cells of these groups.

    Examples
    --------
    >>> {group: len(cells_of([group])) for group in GROUPS}
    {'small': 12, 'hard': 3, 'markov': 11, 'growth': 23}
    """
    cells = []
    if "small" in groups:
        cells += [Cell("small", *shape, m) for shape in _SMALL for m in (5, 10)]
    if "hard" in groups:
        cells += [Cell("hard", *shape, 10) for shape in _HARD]
    if "markov" in groups:
        shapes = dict.fromkeys((p, slots) for p, slots, _ in _SMALL)
        cells += [Cell("markov", *shape, None, m) for shape in shapes for m in (5, 10)]
        cells += [Cell("markov", 100, 1000, None, 10)]
    if "growth" in groups:
        centre = Cell("growth", _P, _N, _DENSITY, _M)
        cells += [replace(centre, p=p, axis="p") for p in _P_VALUES]
        cells += [replace(centre, slots=slots, axis="N") for slots in _N_VALUES]
        cells += [replace(centre, density=density, axis="density") for density in _DENSITY_VALUES]
        cells += [replace(centre, m=m, axis="m") for m in _M_VALUES]
    return cells
