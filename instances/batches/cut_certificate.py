"""Cuts: why no play can satisfy more tasks of a batch; claimed by a solver, recomputed here (rule H3).

A cut is a set X of seconds. By its end no play can have satisfied more tasks of a batch than there are contacts in X,
plus what the workers could end if they were contacted in all other seconds (docs/batches/model.md section 6). This
module shares no code with any solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from hindsched.instances.batches.model import Compute, Instance
from hindsched.instances.batches.run import Contacts, Run, Rung
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import convert, encode
from hindsched.instances.verdict import Verdict

__all__ = [
    "CUT_FORMAT",
    "Cut",
    "CutBounds",
    "CutCertificate",
    "check_cut_certificate",
    "read_cut_certificate",
    "write_cut_certificate",
]

#: The form of a claim's file.
CUT_FORMAT = "batches-cut/1"

_Array = npt.NDArray[Any]

#: Workers that go on in step.
_CHUNK = 8192

#: So many times the window of a batch are looked up together with it.
_AHEAD = 8

#: Disjoint half-open intervals of seconds, increasing.
Cut: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class CutCertificate:
    """What a solver says a rung allows, with a cut for each batch.

    Parameters
    ----------
    rung
        The rung.
    satisfied
        For each batch the most tasks that can be satisfied.
    cuts
        For each batch, with its deadline, the cut that proves it.
    instance
        Fingerprint of the instance it was made for, if it is told.
    """

    family: ClassVar[str] = "batches"

    rung: Rung
    satisfied: tuple[int, ...]
    cuts: tuple[Cut, ...]
    instance: str | None = None

    def __str__(self) -> str:
        return f"at most {sum(self.satisfied)} tasks on the rung {self.rung}, each batch by its cut"


class _CutCertificateFile(msgspec.Struct):
    rung: str
    satisfied: list[int]
    cut: list[list[tuple[int, int]]]
    instance: str | None = None


def read_cut_certificate(document: dict[str, Any]) -> CutCertificate:
    """Return the claim in what a solver answers: ``rung``, ``satisfied`` and ``cut``; other keys are not looked at.

    Raises
    ------
    InputError
        Naming the place.

    Examples
    --------
    >>> read_cut_certificate({"rung": "traffic", "satisfied": [3], "cut": [[[0, 5]]]}).cuts
    (((0, 5),),)
    """
    file = convert(document, _CutCertificateFile)
    return CutCertificate(
        Rung.parse(file.rung), tuple(file.satisfied), tuple(tuple(cut) for cut in file.cut), file.instance
    )


def write_cut_certificate(claim: CutCertificate) -> str:
    """Return the text of a claim's file; `read_cut_certificate` gives back an equal one."""
    head = {"format": CUT_FORMAT, "instance": claim.instance, "rung": str(claim.rung)}
    return encode({**head, "satisfied": claim.satisfied, "cut": claim.cuts}) + "\n"


def check_cut_certificate(instance: Instance, claim: CutCertificate, of: Run | None = None) -> Verdict:
    """Recompute every cut: H3 holds where each bounds its batch by exactly what is claimed.

    Parameters
    ----------
    instance
        With all availability.
    claim
        What is claimed.
    of
        The run that the rungs ``traffic`` and ``stream`` are measured by.

    Returns
    -------
    Verdict
        Its time is the deadline of the first batch whose cut does not prove the claim; its outcome the claim.

    Raises
    ------
    InputError
        When there is not one number and one cut for each batch, or the run is missing.

    Examples
    --------
    >>> lone = Instance(tasks=2, batches=[(0, 4)], c=[2], up=[[(0, 9)]])
    >>> check_cut_certificate(lone, CutCertificate(Rung.FREE, (2,), ((),))).is_valid
    True
    >>> check_cut_certificate(lone, CutCertificate(Rung.FREE, (1,), ((),))).rule
    'H3'
    """
    for name, values in (("satisfied", claim.satisfied), ("cut", claim.cuts)):
        if len(values) != instance.num_batches:
            raise InputError(f"a list of {len(values)}, expected one per batch, {instance.num_batches}", place=name)
    bounds = CutBounds(instance, claim.rung, of)
    for i, (satisfied, cut) in enumerate(zip(claim.satisfied, claim.cuts, strict=True)):
        deadline = instance.batches[i][1]
        wrong = bounds.refused(i, deadline, satisfied, cut)
        if wrong:
            return Verdict(deadline, "H3", wrong, None, "second")
    return Verdict(None, None, None, claim, "second")


class CutBounds:
    """What cuts bound, for one rung of one instance and one run.

    Parameters
    ----------
    instance
        With all availability.
    rung
        The rung.
    of
        The run it is measured by, one of this instance; may be None for ``free``.

    Raises
    ------
    InputError
        For ``traffic`` and ``stream`` without a run.
    """

    def __init__(self, instance: Instance, rung: Rung, of: Run | None = None) -> None:
        if rung is not Rung.FREE and of is None:
            raise InputError(f'"{rung}", expected the run it is measured by as well', place="rung")
        self.instance = instance
        self.rung = rung
        self._c = np.array(instance.c, dtype=np.int64)
        self._is_reliable = instance.compute is Compute.RELIABLE
        contacts = Contacts.of([]) if of is None else of.contacts
        in_time = np.argsort(contacts.time, kind="stable")
        self._times = contacts.time[in_time].astype(np.int64)
        self._workers = contacts.worker[in_time].astype(np.int64)
        window = instance.window(instance.batches[0][0], instance.end)
        owner = np.repeat(np.arange(instance.num_workers, dtype=np.int32), np.diff(window.offsets))
        self._all = _Rows(owner, *(np.ascontiguousarray(column) for column in window.ups.T))
        self._near, self._range = self._all, (0, instance.end)

    def _rows(self, since: int, until: int) -> _Rows:
        """Return the intervals that have a second in [since, until); those of a few batches are looked up together."""
        low, high = self._range
        if not (low <= since and until <= high) or self._near is self._all:
            self._range = since, since + _AHEAD * (until - since)
            self._near = self._all.within(*self._range)
        return self._near.within(since, until)

    def wrong(self, cut: Sequence[tuple[int, int]]) -> str:
        """Say why this is no cut of the rung; empty if it is one."""
        last = min((a for a, _ in cut), default=0)
        for a, b in sorted(cut):
            if not last <= a < b:
                return f"[{a}, {b}) in a cut, expected disjoint intervals"
            last = b
        if cut and self.rung is not Rung.TRAFFIC:
            return f"a cut of seconds, expected none for {self.rung}"
        return ""

    def refused(self, batch: int, deadline: int, most: int, cut: Sequence[tuple[int, int]]) -> str:
        """Say why a cut does not bound a batch by just so many tasks; empty if it does."""
        wrong = self.wrong(cut)
        if wrong:
            return wrong
        bound = self.bound(batch, deadline, cut)
        return "" if bound == most else f"the cut bounds batch {batch} by {bound}, not by {most}"

    def bound(self, batch: int, deadline: int, cut: Sequence[tuple[int, int]]) -> int:
        """Return the most tasks of a batch, alone, that this cut lets end by ``deadline``.

        Parameters
        ----------
        batch
            Its index.
        deadline
            Any second after the submission; not only that of the batch.
        cut
            Seconds; without overlap.

        Notes
        -----
        Thousands of workers go on in step: as many steps as one of them ends tasks, and no more of them than are
        needed for N. O(m log m) a step for m intervals.
        """
        submission = self.instance.batches[batch][0]
        first, last = np.searchsorted(self._times, (submission, deadline))
        times, workers = self._times[first:last], self._workers[first:last]
        field = _Field(self, submission, deadline)
        tasks = self.instance.tasks
        if self.rung is Rung.FREE:
            return min(tasks, field.count(None, tasks))
        if self.rung is Rung.STREAM:
            return min(tasks, field.count_of(times, workers, tasks))
        inside = np.zeros(times.size, dtype=bool)
        for a, b in cut:
            inside |= (a <= times) & (times < b)
        contacts = int(inside.sum())
        return min(tasks, contacts + field.count(_distinct(times[~inside]), tasks - contacts))


def _distinct(values: _Array) -> _Array:
    """Return the different values of a sorted array."""
    return values[_changes(values)]


def _changes(values: _Array) -> _Array:
    """Return the places of a sorted array that differ from the one before; the first does."""
    return np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1]))) if values.size else np.arange(0)


class _Rows(NamedTuple):
    """Intervals, and whose each is, by worker and time."""

    owner: _Array
    start: _Array
    stop: _Array

    def within(self, since: int, until: int) -> _Rows:
        """Return those that have a second in [since, until)."""
        kept = np.flatnonzero((self.stop > since) & (self.start < until))
        return _Rows(*(column[kept] for column in self))


class _Field:
    """The workers that are available in a window, and what they end by its end."""

    def __init__(self, bounds: CutBounds, submission: int, deadline: int) -> None:
        rows = bounds._rows(submission, deadline)
        first = _changes(rows.owner)
        self.members = rows.owner[first]
        self.first = np.append(first, rows.owner.size)
        self.c = bounds._c[self.members]
        self.a, self.b = (np.clip(edge.astype(np.int64), submission, deadline) for edge in (rows.start, rows.stop))
        self.span = deadline + 1
        owner = np.repeat(np.arange(self.members.size, dtype=np.int64), np.diff(self.first))
        self.keys = owner * self.span + self.a
        lengths = self.b - self.a
        before = np.concatenate(([0], np.cumsum(lengths)))
        self.own = before[:-1] - before[self.first[:-1]][owner]  # a worker's available seconds before each interval
        total = before[self.first[1:]] - before[self.first[:-1]]
        self.is_reliable = bounds._is_reliable
        self.submission, self.deadline = submission, deadline
        self.total = np.full_like(total, deadline - submission) if self.is_reliable else total

    def count(self, seconds: _Array | None, enough: int) -> int:
        """Return how many tasks end by the deadline, if each worker is contacted in all its available ``seconds``.

        None stands for all seconds. From ``enough`` on nobody counts further.
        """
        count = 0
        for low in range(0, self.members.size, _CHUNK):
            if count >= enough:
                break
            some = np.arange(low, min(low + _CHUNK, self.members.size))
            count += self._count(some, seconds, enough - count)
        return count

    def _count(self, active: _Array, seconds: _Array | None, enough: int) -> int:
        """Return it for some of the workers."""
        now = np.full(active.size, self.submission, dtype=np.int64)  # the next contact is at now or later
        busy = np.zeros(active.size, dtype=np.int64)  # own time in which the last task ends
        count = 0
        while active.size and count < enough:
            now, place, found = self._next(active, now, seconds)
            active, now, place, busy = active[found], now[found], place[found], busy[found]
            busy = np.maximum(self._own_time(now, place), busy) + self.c[active]
            ended = busy <= self.total[active]
            active, now, busy = active[ended], now[ended] + 1, busy[ended]
            count += active.size
        return count

    def count_of(self, times: _Array, workers: _Array, enough: int) -> int:
        """Return how many tasks end by the deadline, if just these contacts carry one each; see `count`."""
        order = np.lexsort((times, workers))
        times = times[order]
        index = np.searchsorted(self.members, workers[order])
        starts = _changes(index)
        stops = np.append(starts[1:], times.size) if times.size else index
        active, at = index[starts], starts
        busy = np.zeros(active.size, dtype=np.int64)
        count = 0
        while active.size and count < enough:
            place = np.searchsorted(self.keys, active * self.span + times[at], side="right") - 1
            busy = np.maximum(self._own_time(times[at], place), busy) + self.c[active]
            kept = busy <= self.total[active]
            count += int(kept.sum())
            kept &= at + 1 < stops
            active, at, stops, busy = active[kept], at[kept] + 1, stops[kept], busy[kept]
        return count

    def _own_time(self, times: _Array, place: _Array) -> _Array:
        if self.is_reliable:
            return times - self.submission
        own: _Array = self.own[place] + times - self.a[place]
        return own

    def _next(self, active: _Array, now: _Array, seconds: _Array | None) -> tuple[_Array, _Array, _Array]:
        """Return each worker's next available second from ``now`` on, among ``seconds``; its interval; whether any."""
        now = now.copy()
        place = np.zeros(active.size, dtype=np.int64)
        open_ = np.arange(active.size)
        found = np.ones(active.size, dtype=bool)
        while open_.size:
            if seconds is not None:
                at = np.searchsorted(seconds, now[open_])
                none = at == seconds.size
                now[open_[~none]] = seconds[at[~none]]
                found[open_[none]] = False
                open_ = open_[~none]
            here = active[open_]
            spot = np.searchsorted(self.keys, here * self.span + now[open_], side="right") - 1
            inside = (spot >= self.first[here]) & (now[open_] < self.b[np.maximum(spot, 0)])
            place[open_[inside]] = spot[inside]
            open_, spot, here = open_[~inside], spot[~inside], here[~inside]
            after = np.maximum(spot + 1, self.first[here])
            none = after >= self.first[here + 1]
            found[open_[none]] = False
            open_, after = open_[~none], after[~none]
            now[open_] = self.a[after]
            if seconds is None:
                place[open_] = after
                break
        return now, place, found
