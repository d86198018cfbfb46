"""Cut certificates: proofs of an upper bound on the satisfied tasks of each batch, and their check (rule H3).

A cut is a set X of seconds. The satisfied tasks of a batch are at most the number of contacts in X plus the number of
tasks that the workers can end if they call in all other seconds (docs/batches/model.md section 6). This module shares
no code with a solver.
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

#: The format of a certificate's file.
CUT_FORMAT = "batches-cut/1"

_Array = npt.NDArray[Any]

#: Number of workers that are processed together.
_CHUNK = 8192

#: Length of the cached window of intervals, as a multiple of the window of a batch.
_CACHED_WINDOWS = 8

#: Disjoint half-open intervals of seconds, in increasing order.
Cut: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class CutCertificate:
    """A claim of the largest number of satisfied tasks of each batch on a rung, with a cut per batch as proof.

    Parameters
    ----------
    rung
        The rung.
    satisfied
        For each batch the largest number of tasks that can be satisfied.
    cuts
        For each batch the cut that proves the number, at the batch's deadline.
    instance
        Fingerprint of the instance, if known.
    """

    family: ClassVar[str] = "batches"

    rung: Rung
    satisfied: tuple[int, ...]
    cuts: tuple[Cut, ...]
    instance: str | None = None

    def __str__(self) -> str:
        return f"at most {sum(self.satisfied)} tasks on the rung {self.rung}, with a cut for each batch"


class _CutCertificateFile(msgspec.Struct):
    rung: str
    satisfied: list[int]
    cut: list[list[tuple[int, int]]]
    instance: str | None = None


def read_cut_certificate(document: dict[str, Any]) -> CutCertificate:
    """Return the certificate in a parsed file or a solver's answer; only ``rung``, ``satisfied``, ``cut`` are required.

    Raises
    ------
    InputError
        If a key is missing or a value has another form. The message names the place. Further keys are ignored.

    Examples
    --------
    >>> read_cut_certificate({"rung": "traffic", "satisfied": [3], "cut": [[[0, 5]]]}).cuts
    (((0, 5),),)
    """
    file = convert(document, _CutCertificateFile)
    return CutCertificate(
        Rung.parse(file.rung), tuple(file.satisfied), tuple(tuple(cut) for cut in file.cut), file.instance
    )


def write_cut_certificate(certificate: CutCertificate) -> str:
    """Return the text of a certificate's file; `read_cut_certificate` returns an equal certificate."""
    head = {"format": CUT_FORMAT, "instance": certificate.instance, "rung": str(certificate.rung)}
    return encode({**head, "satisfied": certificate.satisfied, "cut": certificate.cuts}) + "\n"


def check_cut_certificate(instance: Instance, certificate: CutCertificate, of: Run | None = None) -> Verdict:
    """Compute the bound of every cut again. Rule H3: it is the claimed number.

    Parameters
    ----------
    instance
        The instance.
    certificate
        The certificate.
    of
        The run to which the rungs ``traffic`` and ``stream`` refer.

    Returns
    -------
    Verdict
        Its time is the deadline of the first batch whose cut does not prove the claimed number. Its outcome is the
        certificate, or None if H3 is broken.

    Raises
    ------
    InputError
        If there is not one number and one cut for each batch, or the run is missing.

    Examples
    --------
    >>> lone = Instance(tasks=2, batches=[(0, 4)], c=[2], up=[[(0, 9)]])
    >>> check_cut_certificate(lone, CutCertificate(Rung.FREE, (2,), ((),))).is_valid
    True
    >>> check_cut_certificate(lone, CutCertificate(Rung.FREE, (1,), ((),))).rule
    'H3'
    """
    for name, values in (("satisfied", certificate.satisfied), ("cut", certificate.cuts)):
        if len(values) != instance.num_batches:
            raise InputError(f"a list of {len(values)}, expected one per batch, {instance.num_batches}", place=name)
    bounds = CutBounds(instance, certificate.rung, of)
    for i, (satisfied, cut) in enumerate(zip(certificate.satisfied, certificate.cuts, strict=True)):
        deadline = instance.batches[i][1]
        defect = bounds.claim_defect(i, deadline, satisfied, cut)
        if defect:
            return Verdict(deadline, "H3", defect, None, "second")
    return Verdict(None, None, None, certificate, "second")


class CutBounds:
    """Bounds of cuts on a rung of an instance.

    Parameters
    ----------
    instance
        The instance.
    rung
        The rung.
    of
        The run of this instance to which the rung refers; may be None for ``free``.

    Raises
    ------
    InputError
        If ``traffic`` or ``stream`` comes without a run.
    """

    def __init__(self, instance: Instance, rung: Rung, of: Run | None = None) -> None:
        if rung is not Rung.FREE and of is None:
            raise InputError(f'"{rung}", expected the run to which it refers as well', place="rung")
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
        self._all = _Intervals(owner, *(np.ascontiguousarray(column) for column in window.ups.T))
        self._cached, self._cached_window = self._all, (0, instance.end)

    def intervals(self, since: int, until: int) -> _Intervals:
        """Return the intervals with a second in [since, until); a longer window is cached for the next batches."""
        low, high = self._cached_window
        if not (low <= since and until <= high) or self._cached is self._all:
            self._cached_window = since, since + _CACHED_WINDOWS * (until - since)
            self._cached = self._all.within(*self._cached_window)
        return self._cached.within(since, until)

    def cut_defect(self, cut: Sequence[tuple[int, int]]) -> str:
        """Return why this is not a cut of the rung; empty if it is one."""
        last = min((a for a, _ in cut), default=0)
        for a, b in sorted(cut):
            if not last <= a < b:
                return f"[{a}, {b}) in a cut, expected disjoint intervals"
            last = b
        if cut and self.rung is not Rung.TRAFFIC:
            return f"a cut of seconds, expected none for {self.rung}"
        return ""

    def claim_defect(self, batch: int, deadline: int, most: int, cut: Sequence[tuple[int, int]]) -> str:
        """Return why a cut does not bound the tasks of a batch by exactly ``most``; empty if it does."""
        defect = self.cut_defect(cut)
        if defect:
            return defect
        bound = self.bound(batch, deadline, cut)
        return "" if bound == most else f"the cut bounds batch {batch} by {bound}, not by {most}"

    def bound(self, batch: int, deadline: int, cut: Sequence[tuple[int, int]]) -> int:
        """Return the upper bound of a cut on the tasks of a batch, alone, that end by ``deadline``.

        Parameters
        ----------
        batch
            Index of the batch.
        deadline
            A second after the submission; it may differ from the batch's deadline.
        cut
            Intervals of seconds without overlap.

        Notes
        -----
        All workers are processed in parallel, one task per step, until N tasks have ended. O(m log m) per step for m
        intervals.
        """
        submission = self.instance.batches[batch][0]
        first, last = np.searchsorted(self._times, (submission, deadline))
        times, workers = self._times[first:last], self._workers[first:last]
        workers_in_window = _AvailableWorkers(self, submission, deadline)
        tasks = self.instance.tasks
        if self.rung is Rung.FREE:
            return min(tasks, workers_in_window.count(None, tasks))
        if self.rung is Rung.STREAM:
            return min(tasks, workers_in_window.count_contacts(times, workers, tasks))
        inside = np.zeros(times.size, dtype=bool)
        for a, b in cut:
            inside |= (a <= times) & (times < b)
        contacts = int(inside.sum())
        return min(tasks, contacts + workers_in_window.count(_distinct(times[~inside]), tasks - contacts))


def _distinct(values: _Array) -> _Array:
    """Return the distinct values of a sorted array."""
    return values[_changes(values)]


def _changes(values: _Array) -> _Array:
    """Return the positions of a sorted array whose value differs from the previous one, with the first position."""
    return np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1]))) if values.size else np.arange(0)


class _Intervals(NamedTuple):
    """Intervals with their workers, by worker and time."""

    owner: _Array
    start: _Array
    stop: _Array

    def within(self, since: int, until: int) -> _Intervals:
        """Return the intervals with a second in [since, until)."""
        kept = np.flatnonzero((self.stop > since) & (self.start < until))
        return _Intervals(*(column[kept] for column in self))


class _AvailableWorkers:
    """The workers that are available in a window; counts the tasks that they end in it."""

    def __init__(self, bounds: CutBounds, submission: int, deadline: int) -> None:
        rows = bounds.intervals(submission, deadline)
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
        """Return the number of tasks that end by the deadline if each worker calls in all its available ``seconds``.

        None means all seconds. The count may stop as soon as it reaches ``enough``.
        """
        count = 0
        for low in range(0, self.members.size, _CHUNK):
            if count >= enough:
                break
            some = np.arange(low, min(low + _CHUNK, self.members.size))
            count += self._count(some, seconds, enough - count)
        return count

    def _count(self, active: _Array, seconds: _Array | None, enough: int) -> int:
        """Return the count for some of the workers."""
        now = np.full(active.size, self.submission, dtype=np.int64)  # earliest second of the next contact
        busy = np.zeros(active.size, dtype=np.int64)  # own time at which the last task ends
        count = 0
        while active.size and count < enough:
            now, place, found = self._next(active, now, seconds)
            active, now, place, busy = active[found], now[found], place[found], busy[found]
            busy = np.maximum(self._own_time(now, place), busy) + self.c[active]
            ended = busy <= self.total[active]
            active, now, busy = active[ended], now[ended] + 1, busy[ended]
            count += active.size
        return count

    def count_contacts(self, times: _Array, workers: _Array, enough: int) -> int:
        """Return the number of tasks that end by the deadline if each of these contacts carries one; see `count`."""
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
        """Return for each worker the first second >= ``now`` that it can call in, its interval, and if there is one.

        A worker can call in its available seconds; if ``seconds`` is not None, only in those of them.
        """
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
