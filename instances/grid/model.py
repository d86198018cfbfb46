"""What an instance of a grid is: identical nodes, a slot, and rigid parallel jobs in order of submission."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import index
from typing import ClassVar, SupportsIndex

import numpy as np
import numpy.typing as npt

from hindsched.instances.base_instance import BaseInstance, as_integer
from hindsched.instances.errors import InputError

__all__ = ["FIELDS", "LATEST", "MOST_NODES", "Instance", "Ints"]

Ints = npt.NDArray[np.int64]

#: What a job says, in the order of its entry in a file.
FIELDS = ("submit", "width", "length")
#: Most nodes an instance may have.
MOST_NODES = 2**31 - 1
#: Last submission and the sum of all lengths stay below this together, so that no slot of a schedule leaves 64 bits.
LATEST = 2**61


@dataclass(frozen=True, eq=False, init=False)
class Instance(BaseInstance):
    """Rigid parallel jobs for a grid of identical nodes that never fail (docs/grid/model.md section 1).

    Immutable and validated once, here. Equality, hash and `fingerprint` follow the content.

    Parameters
    ----------
    nodes
        M, nodes; each runs one job at a time.
    slot_s
        Seconds of a slot. Nothing but reports in seconds depends on it.
    submit
        Slot >= 0 in which each job is submitted; never falls.
    width
        Nodes each job needs at once, 1 to M.
    length
        Slots each job runs, >= 1.

    Raises
    ------
    InputError
        Naming the job and the field.

    Examples
    --------
    >>> pair = Instance(nodes=2, slot_s=60, submit=[0, 1], width=[2, 1], length=[3, 1])
    >>> len(pair), pair.area
    (2, 7)
    >>> list(pair.rows())
    [(0, 2, 3), (1, 1, 1)]
    """

    family: ClassVar[str] = "grid"

    nodes: int
    slot_s: int
    submit: Ints = field(repr=False)
    width: Ints = field(repr=False)
    length: Ints = field(repr=False)

    def __init__(
        self,
        nodes: int,
        slot_s: int,
        submit: Sequence[int] | Ints,
        width: Sequence[int] | Ints,
        length: Sequence[int] | Ints,
    ) -> None:
        object.__setattr__(self, "nodes", as_integer(nodes, 1, MOST_NODES, "nodes"))
        object.__setattr__(self, "slot_s", as_integer(slot_s, 1, LATEST, "slot_s"))
        for name, values in zip(FIELDS, (submit, width, length), strict=True):
            object.__setattr__(self, name, _column(values, name))
            if len(getattr(self, name)) != len(self.submit):
                raise InputError(f"{len(values)} values, expected one per job, {len(self.submit)}", place=name)
        self._check()

    def _check(self) -> None:
        """Refuse the first job that breaks a bound, and in it the first field."""
        before = np.concatenate(([0], self.submit[:-1])) if len(self) else self.submit
        broken = {
            "submit": self.submit < before,
            "width": (self.width < 1) | (self.width > self.nodes),
            "length": self.length < 1,
        }
        any_broken = np.logical_or.reduce(list(broken.values()))
        if any_broken.any():
            j = int(any_broken.argmax())
            name = next(name for name in FIELDS if broken[name][j])
            expected = {
                "submit": f">= {before[j]}" + (", the submission before it" if j and self.submit[j] >= 0 else ""),
                "width": f"from 1 to {self.nodes}, the nodes",
                "length": ">= 1",
            }[name]
            raise InputError(f"{getattr(self, name)[j]}, expected an integer {expected}", place=f"jobs[{j}].{name}")
        if len(self) and int(self.submit[-1]) + sum(self.length.tolist()) >= LATEST:
            raise InputError(f"last submission and lengths sum to {LATEST} or more, expected less", place="jobs")

    def __len__(self) -> int:
        """How many jobs."""
        return len(self.submit)

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """Yield each job as (submit, width, length)."""
        return zip(self.submit.tolist(), self.width.tolist(), self.length.tolist(), strict=True)

    @property
    def area(self) -> int:
        """Node-slots of all jobs together."""
        return sum(n * s for _, n, s in self.rows())

    @property
    def horizon(self) -> int:
        """A slot by which every job can have ended: last submission + the sum of all lengths; 0 without jobs."""
        return int(self.submit[-1]) + sum(self.length.tolist()) if len(self) else 0

    @cached_property
    def fingerprint(self) -> str:
        """``sha256:`` and the digest of the content (docs/grid/model.md section 1); it binds schedules and prices."""
        content = json.dumps([self.nodes, self.slot_s, [list(row) for row in self.rows()]], separators=(",", ":"))
        return f"sha256:{hashlib.sha256(b'grid/1' + bytes(1) + content.encode()).hexdigest()}"

    def subset(self, jobs: Sequence[int] | Ints) -> Instance:
        """Return the instance of some jobs only, by increasing index; submissions stay.

        Examples
        --------
        >>> list(Instance(2, 60, [0, 1, 5], [2, 1, 1], [3, 1, 2]).subset([0, 2]).rows())
        [(0, 2, 3), (5, 1, 2)]
        """
        chosen = np.asarray(jobs, dtype=np.int64)
        return Instance(self.nodes, self.slot_s, self.submit[chosen], self.width[chosen], self.length[chosen])


def _column(values: Sequence[int] | Ints, name: str) -> Ints:
    """Return the values of one field as a read-only array of its own; bools and floats are no integers."""
    if isinstance(values, np.ndarray) and (values.ndim != 1 or values.dtype.kind not in "iu"):
        raise InputError(f"{values.dtype} in {values.ndim} dimensions, expected a row of integers", place=name)
    if not isinstance(values, np.ndarray):
        for j, value in enumerate(values):
            if isinstance(value, bool | np.bool_) or not isinstance(value, SupportsIndex):
                raise InputError(f"{value!r}, expected an integer", place=f"jobs[{j}].{name}")
            if not -LATEST <= index(value) < LATEST:
                raise InputError(f"{value!r}, expected an integer below {LATEST}", place=f"jobs[{j}].{name}")
    column = np.array(values, dtype=np.int64)
    column.setflags(write=False)
    return column
