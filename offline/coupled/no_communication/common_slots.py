"""The common-slots problem, to which instances without communication reduce, on boolean arrays.

Rows are workers, columns are slots. A *team* gives x_q tasks to row q, at most ``most[q]``. Its members are the rows
with x_q >= 1, its *length* is L = max x_q w_q. Its slots are a set T of columns in which every member is UP, and no
member is DOWN between the first and the last of them. With unit w and ``most`` and without DOWN this is maximum
k-subset intersection (kMIS), or a biclique of given size.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.offline.results import Sense

__all__ = ["Aim", "CommonSlots", "Team", "down_runs", "value_of"]

Booleans = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]


class Aim(StrEnum):
    """The objective of a problem.

    ``ANY``: a team with sum x_q = m and |T| >= L, of value 1.
    ``EARLIEST``: the fewest leading slots that hold such a team and its T.
    ``WIDEST``: the largest f with sum x_q = m and |T| >= f L; 0 if f = 1 is impossible.
    ``HEAVIEST``: the largest sum x_q with |T| >= L; 0 if no row can hold a task.
    """

    ANY = "any"
    EARLIEST = "earliest"
    WIDEST = "widest"
    HEAVIEST = "heaviest"

    @property
    def is_maximal(self) -> bool:
        """Whether larger is better."""
        return self in (Aim.WIDEST, Aim.HEAVIEST)

    @property
    def sense(self) -> Sense:
        """Whether less or more is better."""
        return Sense.MAX if self.is_maximal else Sense.MIN

    def is_better(self, value: int, than: int | None) -> bool:
        """Return whether a value is better than another; every value is better than None."""
        return than is None or (value > than if self.is_maximal else value < than)


@dataclass(frozen=True, eq=False)
class CommonSlots:
    """A common-slots problem.

    Parameters
    ----------
    up, down
        Shape (p, N): where each row is UP, and where it is DOWN. A slot that is neither suspends the computation.
    w
        p slots, >= 1, that a row takes for one task.
    most
        p counts, >= 0: the most tasks that a row may hold.
    tasks
        m >= 1; `Aim.HEAVIEST` ignores it.
    aim
        The objective.

    Examples
    --------
    >>> problem = CommonSlots.of_rows(["1101", "1011", "0111"], tasks=2, aim=Aim.WIDEST)
    >>> problem.num_rows, problem.slots, bool(problem.down.any())
    (3, 4, False)
    """

    up: Booleans
    down: Booleans
    w: Integers
    most: Integers
    tasks: int
    aim: Aim

    def __post_init__(self) -> None:
        p = self.up.shape[0]
        if self.up.ndim != 2 or self.down.shape != self.up.shape or self.w.shape != (p,) or self.most.shape != (p,):
            raise InputError("expected arrays up and down of shape (p, N), w and most of shape (p,)", place="shapes")
        if (self.up & self.down).any():
            raise InputError("a slot both UP and DOWN, expected at most one of them", place="down")
        if (self.w < 1).any() or (self.most < 0).any() or self.tasks < 1:
            raise InputError("expected w >= 1, most >= 0 and tasks >= 1", place="counts")

    @classmethod
    def of_rows(cls, rows: list[str], *, tasks: int, aim: Aim) -> CommonSlots:
        """Return the problem with unit w and most, ``1`` for UP, ``d`` for DOWN and another letter for neither."""
        letters = np.array([list(row) for row in rows])
        ones = np.ones(len(rows), dtype=np.int64)
        return cls(letters == "1", letters == "d", ones, ones, tasks, aim)

    @property
    def num_rows(self) -> int:
        """Number p of rows."""
        return int(self.up.shape[0])

    @property
    def slots(self) -> int:
        """Number N of columns."""
        return int(self.up.shape[1])


@dataclass(frozen=True, slots=True)
class Team:
    """The tasks x_q >= 1 of the members, and slots T in which all members are UP (increasing, 0-based)."""

    tasks: dict[int, int]
    slots: tuple[int, ...]


def value_of(problem: CommonSlots, team: Team) -> int:
    """Return the value of a team, computed from the arrays alone; every answer of a back end is checked here.

    Raises
    ------
    SelfCheckError
        If it is no team of this problem.
    """
    members, slots = sorted(team.tasks), list(team.slots)
    counts = np.array([team.tasks[q] for q in members], dtype=np.int64)
    _expect(slots == sorted(set(slots)) and all(0 <= t < problem.slots for t in slots), "slots in increasing order")
    _expect(all(0 <= q < problem.num_rows for q in members), "rows of the problem")
    _expect(bool((counts >= 1).all() and (counts <= problem.most[members]).all()), "1 <= x_q <= most[q]")
    _expect(bool(problem.up[np.ix_(members, slots)].all()), "every member UP in every slot")
    if slots:
        between = problem.down[members, slots[0] : slots[-1] + 1]
        _expect(not between.any(), "no member DOWN between the first and the last slot")
    if problem.aim is not Aim.HEAVIEST:
        _expect(int(counts.sum()) == problem.tasks, f"{problem.tasks} tasks")
    length = int((counts * problem.w[members]).max(initial=0))
    if problem.aim is Aim.WIDEST:
        return len(slots) // length
    _expect(len(slots) >= length, f"{length} slots")
    if problem.aim is Aim.HEAVIEST:
        return int(counts.sum())
    return slots[length - 1] + 1 if problem.aim is Aim.EARLIEST else 1


def _expect(holds: bool, what: str) -> None:
    if not holds:
        raise SelfCheckError(f"a back end returned no valid team, expected {what}")


def down_runs(row: Booleans) -> list[tuple[int, int]]:
    """Return the first and the last slot of every run of True.

    Examples
    --------
    >>> down_runs(np.array([1, 0, 1, 1], dtype=bool))
    [(0, 0), (2, 3)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([0], row.astype(np.int8), [0]))))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2)]
