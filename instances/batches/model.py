"""The instance type of the family ``batches``: volatile workers, and batches of equal tasks with deadlines."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import ClassVar

from hindsched.instances.base_instance import BaseInstance, as_integer
from hindsched.instances.batches.availability import MOST, Availability, AvailabilitySource, Ints, KnownAvailability
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import excerpt

__all__ = ["Compute", "Instance"]


class Compute(StrEnum):
    """Seconds in which a task advances: available seconds only, or all (docs/batches/model.md section 1)."""

    AVAILABLE = "available"
    RELIABLE = "reliable"

    @classmethod
    def parse(cls, text: Compute | str) -> Compute:
        """Return the member with this value; raise `InputError` if there is none."""
        try:
            return cls(text)
        except ValueError:
            raise InputError(f"{excerpt(str(text))}, expected {' or '.join(cls)}", place="compute") from None


@dataclass(frozen=True, eq=False, init=False)
class Instance(BaseInstance):
    """Batches of equal tasks for W volatile workers with known availability (docs/batches/model.md section 1).

    An instance is immutable and is validated when it is made. Equality, hash and `fingerprint` follow the content. The
    unit of time is the second.

    Parameters
    ----------
    tasks
        N, tasks per batch.
    batches
        M pairs of a submission S_i and a deadline D_i.
    c
        W integers C_j: seconds that worker j computes per task.
    up
        W lists of half-open intervals [a, b) in increasing order that do not touch; or an `Availability`; or a source
        of availability.
    start
        t0, the second in which runs begin. Earlier seconds are history.
    compute
        Whether a task advances in available seconds only, or in every second.

    Raises
    ------
    InputError
        If a value is invalid. The message names the place.

    Examples
    --------
    >>> pair = Instance(tasks=2, batches=[(0, 4)], c=[1, 2], up=[[(0, 2), (3, 6)], [(0, 9)]])
    >>> pair.num_workers, pair.end, pair.margin(0)
    (2, 4, 5)
    """

    family: ClassVar[str] = "batches"
    _argument_names: ClassVar[Mapping[str, str]] = {"source": "up"}

    tasks: int
    batches: tuple[tuple[int, int], ...]
    c: tuple[int, ...] = field(repr=False)
    source: AvailabilitySource = field(repr=False)
    start: int
    compute: Compute

    def __init__(
        self,
        tasks: int,
        batches: Sequence[Sequence[int]],
        c: Sequence[int],
        up: Sequence[Sequence[Sequence[int]]] | Availability | AvailabilitySource,
        start: int = 0,
        compute: Compute | str = Compute.AVAILABLE,
    ) -> None:
        if len(c) == 0:
            raise InputError("no worker, expected at least one", place="workers")
        begin = as_integer(start, 0, MOST, "start")
        checked = {
            "tasks": as_integer(tasks, 1, MOST, "tasks"),
            "batches": _batches(batches, begin),
            "c": tuple(as_integer(value, 1, MOST, f"workers[{j}].c") for j, value in enumerate(c)),
            "source": _source(up),
            "start": begin,
            "compute": Compute.parse(compute),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        rows = self.source.num_workers
        if rows != len(c):
            raise InputError(f"{rows} rows of intervals, expected one per worker, {len(c)}", place="up")

    @property
    def num_workers(self) -> int:
        """Number of workers, W."""
        return len(self.c)

    @property
    def num_batches(self) -> int:
        """Number of batches, M."""
        return len(self.batches)

    @property
    def end(self) -> int:
        """E, the last deadline and the end of a run."""
        return self.batches[-1][1]

    @cached_property
    def sum_c(self) -> int:
        """Sum of all C_j."""
        return sum(self.c)

    def margin(self, batch: int) -> int:
        """Return the integer W (L_i - S_i), where L_i is D_i minus the mean of all C_j."""
        submission, deadline = self.batches[batch]
        return self.num_workers * (deadline - submission) - self.sum_c

    def last_call(self, batch: int) -> int:
        """Return L_i rounded down: the last second in which a task of mean length can begin."""
        return self.batches[batch][0] + self.margin(batch) // self.num_workers

    @property
    def firsts(self) -> Ints:
        """First available second of each worker; -1 for a worker that is never available."""
        return self.source.firsts

    @property
    def up(self) -> Availability:
        """All intervals. They are drawn if necessary; `window` draws a part of them."""
        return self.source.whole()

    def window(self, since: int, until: int) -> Availability:
        """Return the intervals with a second in [since, until); they are not clipped to this window."""
        return self.source.window(since, until)

    def covering(self, since: int, until: int) -> Availability:
        """Return at least the intervals with a second in [since, until); further ones where this is faster."""
        return self.source.covering(since, until)

    @cached_property
    def fingerprint(self) -> str:
        """``sha256:`` and the digest of the content. It binds runs and results to this instance.

        For drawn availability the digest covers the seed and the constants, so nothing is drawn. The same intervals
        given as lists have a different fingerprint.
        """
        digest = hashlib.sha256(b"batches/1\0")
        digest.update(repr((self.tasks, self.batches, self.c, self.start, str(self.compute))).encode())
        digest.update(self.source.identity)
        return f"sha256:{digest.hexdigest()}"


def _source(up: Sequence[Sequence[Sequence[int]]] | Availability | AvailabilitySource) -> AvailabilitySource:
    if isinstance(up, Availability):
        return KnownAvailability(up)
    if isinstance(up, AvailabilitySource):
        return up
    rows = [
        [_pair(pair, f"workers[{j}].up[{n}]") for n, pair in enumerate(intervals)] for j, intervals in enumerate(up)
    ]
    return KnownAvailability(Availability.of(rows))


def _batches(batches: Sequence[Sequence[int]], start: int) -> tuple[tuple[int, int], ...]:
    if len(batches) == 0:
        raise InputError("no batch, expected at least one", place="batches")
    checked: list[tuple[int, int]] = []
    earliest, reason = start, "the start of the run"
    for i, batch in enumerate(batches):
        place = f"batches[{i}]"
        submission, deadline = _pair(batch, place)
        if submission < earliest:
            raise InputError(f"submitted at {submission}, expected {earliest} or later, {reason}", place=place)
        if deadline <= submission:
            raise InputError(f"[{submission}, {deadline}], expected a deadline after the submission", place=place)
        checked.append((submission, deadline))
        earliest, reason = deadline, "the previous deadline"
    return tuple(checked)


def _pair(pair: Sequence[int], place: str) -> tuple[int, int]:
    if len(pair) != 2:
        raise InputError(f"a list of {len(pair)}, expected two integers", place=place)
    first, second = (as_integer(number, 0, MOST, place) for number in pair)
    return first, second
