"""The instance type of the family ``grid``: identical nodes and rigid parallel jobs in order of submission."""

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

#: The fields of a job, in the order of its entry in a file.
FIELDS = ("submit", "width", "length")
#: The largest number of nodes of an instance.
MOST_NODES = 2**31 - 1
#: The last submission plus all lengths is below this number, so that all slots of a schedule fit 64 bits.
LATEST = 2**61


@dataclass(frozen=True, eq=False, init=False)
class Instance(BaseInstance):
    """Rigid parallel jobs for a grid of identical nodes that never fail (docs/grid/model.md section 1).

    An instance is immutable and is validated when it is made. Equality, hash and `fingerprint` follow the content.

    Parameters
    ----------
    nodes
        M, number of nodes; a node runs one job at a time.
    slot_s
        Seconds of a slot. Only reports in seconds depend on it.
    submit
        Slot >= 0 of each job's submission, in non-decreasing order.
    width
        Number of nodes that each job needs at once, 1 to M.
    length
        Number of slots that each job runs, >= 1.

    Raises
    ------
    InputError
        If a value is invalid. The message names the job and the field.

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
        """Raise `InputError` for the first job with a field out of range, and for the first such field in it."""
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
        """Return the number of jobs."""
        return len(self.submit)

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """Yield each job as (submit, width, length)."""
        return zip(self.submit.tolist(), self.width.tolist(), self.length.tolist(), strict=True)

    @property
    def area(self) -> int:
        """Sum of width times length of all jobs, in node-slots."""
        return sum(n * s for _, n, s in self.rows())

    @property
    def horizon(self) -> int:
        """A slot by which all jobs can have ended: the last submission plus all lengths; 0 without jobs."""
        return int(self.submit[-1]) + sum(self.length.tolist()) if len(self) else 0

    @cached_property
    def fingerprint(self) -> str:
        """``sha256:`` and the digest of the content (docs/grid/model.md section 1).

        It binds schedules and certificates to this instance.
        """
        content = json.dumps([self.nodes, self.slot_s, [list(row) for row in self.rows()]], separators=(",", ":"))
        return f"sha256:{hashlib.sha256(b'grid/1' + bytes(1) + content.encode()).hexdigest()}"

    def subset(self, jobs: Sequence[int] | Ints) -> Instance:
        """Return the instance with some of the jobs, given by increasing index; their submissions stay the same.

        Examples
        --------
        >>> list(Instance(2, 60, [0, 1, 5], [2, 1, 1], [3, 1, 2]).subset([0, 2]).rows())
        [(0, 2, 3), (5, 1, 2)]
        """
        chosen = np.asarray(jobs, dtype=np.int64)
        return Instance(self.nodes, self.slot_s, self.submit[chosen], self.width[chosen], self.length[chosen])


def _column(values: Sequence[int] | Ints, name: str) -> Ints:
    """Return a read-only copy of the values of a field; bools and floats are not accepted as integers."""
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
