"""The rungs at any size: earliest ends for ``free`` and ``stream``, flows for ``traffic`` (docs/batches/model.md)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hindsched.instances.array_types import Int32s, Ints
from hindsched.instances.batches import Compute, Instance, Run, Rung
from hindsched.instances.batches.cut_certificate import Cut
from hindsched.instances.errors import InputError
from hindsched.offline.batches.hindsight import BatchAnswer, BatchContacts
from hindsched.offline.batches.kernels import earliest_ends, traffic_flow
from hindsched.offline.batches.kernels.instance_arrays import NEVER, InstanceArrays, advance_all

__all__ = ["BatchSolver"]


class BatchSolver:
    """Solves an instance batch by batch, in order.

    Parameters
    ----------
    instance
        With all availability.
    rung
        The rung.
    of
        The run that defines the rung; ignored on ``free``.

    Raises
    ------
    InputError
        For seconds beyond 32 bits.

    Notes ----- For a batch with n contacts after its submission, ``stream`` costs O(n log N), and ``free`` fewer steps
    a worker than that. For ``traffic`` a sweep costs O((n + w) log n) with w availability intervals of workers that are
    fast enough; a bisection over deadlines needs one sweep a step.
    """

    def __init__(self, instance: Instance, rung: Rung, of: Run | None) -> None:
        first = instance.batches[0][0]
        #: The kernels count seconds in 32 bits from here on: from 0 unless the run ends too late for that.
        self.origin = first if instance.end >= NEVER - 1 else 0
        self.end = instance.end - self.origin
        if self.end >= NEVER - 1:
            raise InputError(f"{self.end} s, expected fewer than {NEVER - 1} for this solver", place="batches")
        self.instance = instance
        self.rung = rung
        availability = instance.covering(first, instance.end)
        low, high = availability.row_ranges(first, instance.end)
        ups = availability.ups
        if ups.dtype != np.int32:
            ups = np.clip(ups - self.origin, 0, NEVER).astype(np.int32)
        has_run = rung is not Rung.FREE and of is not None
        times, workers = (
            _contacts(of, first, self.origin) if has_run and of is not None else (np.empty(0, dtype=np.int32),) * 2
        )
        begins = np.flatnonzero(np.concatenate(([True], times[1:] != times[:-1]))) if times.size else np.arange(0)
        seconds, counts = times[begins], np.diff(np.append(begins, times.size))
        c = np.array(instance.c, dtype=np.int64)
        tasks, num = instance.tasks, instance.num_workers
        self.arrays = InstanceArrays(
            ups=ups,
            place=low,
            high=high,
            c=c,
            order=np.argsort(c, kind="stable"),
            end=self.end,
            is_reliable=instance.compute is Compute.RELIABLE,
            tasks=tasks,
            times=times,
            workers=workers,
            seconds=seconds.astype(np.int32),
            counts=counts.astype(np.int32),
        )
        self.earliest = earliest_ends.Earliest(
            end=_ints(tasks),
            time=_ints(tasks),
            worker=_ints(tasks),
            size=_ints(1),
            busy=_ints(num),
            row=_ints(num),
            batch=_ints(num, -1),
        )
        self.flow = _flow(tasks, seconds.size, num)
        self.candidates = traffic_flow.Candidates(
            _ints(1), _shorts(num), _shorts(num), _shorts(num + 1), np.empty((num, 2), dtype=np.int32)
        )
        self.stamp = 0

    def solve(self, batch: int) -> BatchAnswer:
        """Return the answer for a batch; the calls have to be in the order of batches."""
        submission, deadline = (time - self.origin for time in self.instance.batches[batch])
        advance_all(self.arrays, submission)
        if self.rung is Rung.TRAFFIC:
            answer = self._by_flow(submission, deadline)
        else:
            answer = self._by_ends(submission, deadline, self._earliest(submission, self.rung))
        return _shifted(answer, self.origin) if self.origin else answer

    def _earliest(self, submission: int, rung: Rung) -> BatchContacts:
        """Return the contacts with the N earliest ends by the end of the run, or with all ends if they are fewer."""
        if rung is Rung.FREE:
            earliest_ends.free_ends(self.arrays, submission, self.earliest)
        else:
            self.stamp += 1
            first = _place(self.arrays.times, submission)
            earliest_ends.stream_ends(self.arrays, self.stamp, first, self.earliest)
        size = int(self.earliest.size[0])
        time, worker, end = (column[:size] for column in (self.earliest.time, self.earliest.worker, self.earliest.end))
        order = np.lexsort((worker, time))
        return time[order], worker[order], end[order]

    def _by_ends(self, submission: int, deadline: int, contacts: BatchContacts) -> BatchAnswer:
        """Return the answer that follows from the N earliest ends, as early ends do not delay each other."""
        in_time = contacts[2] <= deadline
        latency = int(contacts[2].max()) - submission if contacts[2].size == self.instance.tasks else None
        return BatchAnswer(
            satisfied=int(in_time.sum()),
            cut=(),
            contacts=(contacts[0][in_time], contacts[1][in_time], contacts[2][in_time]),
            latency=latency,
            latency_cut=(),
            latency_contacts=None if latency is None else contacts,
        )

    def _by_flow(self, submission: int, deadline: int) -> BatchAnswer:
        self._gather(submission, deadline)
        self._can_end(submission, deadline, is_exact=True)
        satisfied = int(self.flow.size[0])
        contacts, cut = self._contacts_of_flow(), self._cut()
        end = self._least_end(submission, deadline, satisfied)
        if end is None:
            self._gather(submission, self.end)
            self._can_end(submission, self.end, is_exact=True)
            return BatchAnswer(satisfied, cut, contacts, None, self._cut(), None)
        if self._served != end:
            self._can_end(submission, end)
        latency_contacts = self._contacts_of_flow()
        latency_cut = self._cut_before(submission, end)
        return BatchAnswer(satisfied, cut, contacts, end - submission, latency_cut, latency_contacts)

    def _least_end(self, submission: int, deadline: int, satisfied: int) -> int | None:
        """Return the least e by which N tasks can end, by bisection, or None if they cannot end by E.

        Beyond the deadline the rungs ``free`` and ``stream`` bound it.
        """
        tasks = self.instance.tasks
        first = _place(self.arrays.times, submission)
        if self.arrays.times.size - first < tasks:
            return None
        low = int(self.arrays.times[first + tasks - 1]) + int(self.arrays.c.min()) - 1  # does not suffice
        if satisfied == tasks:
            high = deadline
            # the workers cannot end N tasks earlier even with all contacts
            low = _last_before(low, high, lambda end: traffic_flow.most(self.arrays, self.candidates, end) >= tasks)
        else:
            free, stream = (self._earliest(submission, rung)[2] for rung in (Rung.FREE, Rung.STREAM))
            if free.size < tasks:
                return None
            low = max(low, int(free.max()) - 1, deadline)
            high = int(stream.max()) if stream.size == tasks else self.end + 1  # suffices, or is unknown
        if high > deadline:  # otherwise all candidates are gathered already
            self._gather(submission, min(high, self.end))
        # ruled out by the fastest workers and the latest contacts
        low = _last_before(low, high, lambda end: self._bound(submission, end) >= tasks)
        step = 1
        while high - low > 1:
            middle = min((low + high) // 2, low + step)
            low, high = (low, middle) if self._can_end(submission, middle) else (middle, high)
            step *= 4
        return high if high <= self.end else None

    def _gather(self, submission: int, horizon: int) -> None:
        """Gather the workers that may be needed until a deadline."""
        while not traffic_flow.gather(self.arrays, self.candidates, submission, horizon):
            self.candidates = self.candidates._replace(ups=np.empty((2 * len(self.candidates.ups), 2), dtype=np.int32))

    def _bound(self, submission: int, deadline: int) -> int:
        """Return an upper bound on the tasks that can end by a deadline, by cuts of the fastest workers only."""
        first, stop = (_place(self.arrays.seconds, time) for time in (submission, deadline))
        return int(traffic_flow.bound(self.arrays, self.candidates, self.flow, traffic_flow.FEW, deadline, first, stop))

    def _can_end(self, submission: int, deadline: int, *, is_exact: bool = False) -> bool:
        """Return whether N tasks can end by a deadline; if exact, the flow is then a maximum flow."""
        first, stop = (_place(self.arrays.seconds, time) for time in (submission, deadline))
        answer, has_cut = traffic_flow.reaches(self.arrays, self.candidates, self.flow, deadline, first, stop, is_exact)
        self._range, self._has_cut = (first, stop), has_cut
        self._served = deadline if answer else None
        return bool(answer)

    def _contacts_of_flow(self) -> BatchContacts:
        """Return the contacts of the flow with the ends of their tasks."""
        size = int(self.flow.size[0])
        time = self.arrays.seconds[self.flow.second[:size]].astype(np.int64)
        worker = self.candidates.worker[self.flow.worker[:size]].astype(np.int64)
        order = np.lexsort((worker, time))
        time, worker = time[order], worker[order]
        end = np.empty(size, dtype=np.int64)
        self.stamp += 1
        earliest_ends.ends_in_order(self.arrays, self.earliest, self.stamp, time, worker, end)
        return time, worker, end

    def _cut(self) -> Cut:
        """Return the cut that proves the flow maximum; empty if it has N contacts."""
        if self.flow.size[0] == self.instance.tasks:
            return ()
        first, stop = self._range
        if self._has_cut:
            return self._cut_of_bound(first)
        seconds = self.arrays.seconds[first:stop]
        inside = self.flow.visited[first:stop] != self.flow.epoch[1]
        edges = np.flatnonzero(np.diff(np.concatenate(([0], inside.astype(np.int8), [0]))))
        return tuple((int(seconds[a]), int(seconds[b - 1]) + 1) for a, b in edges.reshape(-1, 2))

    def _cut_of_bound(self, first: int) -> Cut:
        """Return the cut of the last bound."""
        last = int(self.flow.best[1])
        return ((int(self.arrays.seconds[first]), int(self.arrays.seconds[last - 1]) + 1),) if last > first else ()

    def _cut_before(self, submission: int, end: int) -> Cut:
        """Return a cut that proves that N tasks cannot end before the least end, by the cheapest method that works."""
        if self._bound(submission, end - 1) < self.instance.tasks:
            return self._cut_of_bound(_place(self.arrays.seconds, submission))
        self._can_end(submission, end - 1, is_exact=True)
        return self._cut()


def _shifted(answer: BatchAnswer, seconds: int) -> BatchAnswer:
    """Return an answer with all its times shifted; latencies stay."""

    def contacts(one: BatchContacts) -> BatchContacts:
        return one[0] + seconds, one[1], one[2] + seconds

    def cut(one: Cut) -> Cut:
        return tuple((a + seconds, b + seconds) for a, b in one)

    late = answer.latency_contacts
    return BatchAnswer(
        satisfied=answer.satisfied,
        cut=cut(answer.cut),
        contacts=contacts(answer.contacts),
        latency=answer.latency,
        latency_cut=cut(answer.latency_cut),
        latency_contacts=None if late is None else contacts(late),
    )


def _contacts(of: Run, since: int, origin: int) -> tuple[np.ndarray, np.ndarray]:
    """Return times, counted from an origin, and workers of a run's contacts from a second on, in order of time."""
    kept = np.flatnonzero(of.contacts.time >= since)
    order = kept[np.lexsort((of.contacts.worker[kept], of.contacts.time[kept]))]
    return (of.contacts.time[order] - origin).astype(np.int32), of.contacts.worker[order].astype(np.int32)


def _last_before(low: int, high: int, is_enough: Callable[[int], bool]) -> int:
    """Return by bisection the last time in [low, high) that is not enough."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return low


def _place(seconds: Int32s, time: int) -> int:
    """Return the first place of sorted seconds that is not before a time; equal types avoid a copy."""
    return int(np.searchsorted(seconds, seconds.dtype.type(time)))


def _ints(size: int, value: int = 0) -> Ints:
    return np.full(size, value, dtype=np.int64)


def _shorts(size: int) -> Int32s:
    return np.zeros(size, dtype=np.int32)


def _flow(tasks: int, seconds: int, workers: int) -> traffic_flow.Flow:
    return traffic_flow.Flow(
        size=_ints(1),
        second=_shorts(tasks),
        worker=_shorts(tasks),
        rank=_ints(tasks),
        link=_shorts(tasks),
        used=_shorts(seconds),
        bucket=_shorts(seconds),
        visited=_shorts(seconds),
        by_pair=_shorts(seconds),
        by_second=_shorts(seconds),
        queue=_shorts(seconds),
        head=_shorts(workers),
        held=_ints(workers),
        stamp=_ints(workers),
        next=_shorts(workers),
        pool=_ints(workers),
        epoch=_ints(2),
        gain=_shorts(seconds),
        best=_ints(2),
        search=_shorts(workers),
        explored=_shorts(workers),
    )
