"""The rungs at scale: earliest ends for ``free`` and ``stream``, flows for ``traffic`` (docs/batches/model.md)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hindsched.instances.array_types import Int32s, Ints
from hindsched.instances.batches import Compute, Instance, Run, Rung
from hindsched.instances.batches.cuts import Cut
from hindsched.instances.errors import InputError
from hindsched.offline.batches.hindsight import BatchAnswer, BatchContacts
from hindsched.offline.batches.kernels import earliest_ends, traffic_flow
from hindsched.offline.batches.kernels.instance_arrays import NEVER, InstanceArrays, advance_all

__all__ = ["BatchSolver"]

_NO_PAIR = -1


class BatchSolver:
    """A solver that goes through the batches of an instance, in order.

    Parameters
    ----------
    instance
        With all availability.
    rung
        The rung.
    of
        The run it is measured by; not looked at on the rung ``free``.

    Raises
    ------
    InputError
        For seconds beyond 32 bits.

    Notes
    -----
    The numbers of a batch cost O(n log N) for ``stream`` and n contacts from its submission on, less than that many
    steps a worker for ``free``; for ``traffic`` a sweep costs O((n + w) log n) with w intervals of workers that compute
    fast enough, and one is needed for each step of a bisection over deadlines.
    """

    def __init__(self, instance: Instance, rung: Rung, of: Run | None) -> None:
        first = instance.batches[0][0]
        #: The kernels count seconds in 32 bits, from second 0 or, where the run ends too late for that, from here on.
        self.origin = first if instance.end >= NEVER - 1 else 0
        self.end = instance.end - self.origin
        if self.end >= NEVER - 1:
            raise InputError(f"{self.end} s, expected fewer than {NEVER - 1} for this solver", place="batches")
        self.instance = instance
        self.rung = rung
        availability = instance.covering(first, instance.end)
        low, high = availability.places(first, instance.end)
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
        """Return the answer for a batch; batches are to be asked for in order."""
        submission, deadline = (time - self.origin for time in self.instance.batches[batch])
        advance_all(self.arrays, submission)
        if self.rung is Rung.TRAFFIC:
            answer = self._by_flow(submission, deadline)
        else:
            answer = self._by_ends(submission, deadline, self._earliest(submission, self.rung))
        return _later(answer, self.origin) if self.origin else answer

    def _earliest(self, submission: int, rung: Rung) -> BatchContacts:
        """Return the N earliest ends by the run's end, or all."""
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

    def _by_ends(self, submission: int, deadline: int, play: BatchContacts) -> BatchAnswer:
        """Tasks that end early are not in each other's way: the N earliest ends tell everything."""
        in_time = play[2] <= deadline
        latency = int(play[2].max()) - submission if play[2].size == self.instance.tasks else None
        return BatchAnswer(
            satisfied=int(in_time.sum()),
            cut=(),
            contacts=(play[0][in_time], play[1][in_time], play[2][in_time]),
            latency=latency,
            latency_cut=(),
            latency_contacts=None if latency is None else play,
        )

    def _by_flow(self, submission: int, deadline: int) -> BatchAnswer:
        self._gather(submission, deadline)
        self._reaches(submission, deadline, is_exact=True)
        satisfied = int(self.flow.size[0])
        play, cut = self._play(), self._cut()
        end = self._least_end(submission, deadline, satisfied)
        if end is None:
            self._gather(submission, self.end)
            self._reaches(submission, self.end, is_exact=True)
            return BatchAnswer(satisfied, cut, play, None, self._cut(), None)
        if self._served != end:
            self._reaches(submission, end)
        latency_contacts = self._play()
        return BatchAnswer(satisfied, cut, play, end - submission, self._cut_before(submission, end), latency_contacts)

    def _least_end(self, submission: int, deadline: int, satisfied: int) -> int | None:
        """Return the least e by which N tasks can end, by bisection; beyond the deadline between what other rungs tell.

        None: not by E.
        """
        tasks = self.instance.tasks
        first = _place(self.arrays.times, submission)
        if self.arrays.times.size - first < tasks:
            return None
        low = int(self.arrays.times[first + tasks - 1]) + int(self.arrays.c.min()) - 1  # too little
        if satisfied == tasks:
            high = deadline  # and too little is what the workers cannot do, whoever is contacted when
            low = _last_before(low, high, lambda end: traffic_flow.most(self.arrays, self.candidates, end) >= tasks)
        else:
            free, stream = (self._earliest(submission, rung)[2] for rung in (Rung.FREE, Rung.STREAM))
            if free.size < tasks:
                return None
            low = max(low, int(free.max()) - 1, deadline)
            high = int(stream.max()) if stream.size == tasks else self.end + 1  # enough, or nobody knows yet
        if high > deadline:  # else all who are needed are together
            self._gather(submission, min(high, self.end))
        # what the fastest workers and the latest contacts rule out
        low = _last_before(low, high, lambda end: self._bound(submission, end) >= tasks)
        step = 1
        while high - low > 1:
            middle = min((low + high) // 2, low + step)
            low, high = (low, middle) if self._reaches(submission, middle) else (middle, high)
            step *= 4
        return high if high <= self.end else None

    def _gather(self, submission: int, horizon: int) -> None:
        """Bring together the workers that may be needed up to a deadline."""
        while not traffic_flow.gather(self.arrays, self.candidates, submission, horizon):
            self.candidates = self.candidates._replace(ups=np.empty((2 * len(self.candidates.ups), 2), dtype=np.int32))

    def _bound(self, submission: int, deadline: int) -> int:
        """Return a bound on the tasks that can end by a deadline, by cuts that need the fastest workers only."""
        first, stop = (_place(self.arrays.seconds, time) for time in (submission, deadline))
        return int(traffic_flow.bound(self.arrays, self.candidates, self.flow, traffic_flow.FEW, deadline, first, stop))

    def _reaches(self, submission: int, deadline: int, *, is_exact: bool = False) -> bool:
        """Whether N tasks can end by a deadline; if it is to be exact, the flow is a largest one afterwards."""
        first, stop = (_place(self.arrays.seconds, time) for time in (submission, deadline))
        answer, has_cut = traffic_flow.reaches(self.arrays, self.candidates, self.flow, deadline, first, stop, is_exact)
        self._range, self._has_cut = (first, stop), has_cut
        self._served = deadline if answer else None
        return bool(answer)

    def _play(self) -> BatchContacts:
        """Return the contacts of the flow, and when their tasks end."""
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
        """Return the cut that proves the flow largest; none if it has N."""
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
        """Return the cut that the last bound was found by."""
        last = int(self.flow.best[1])
        return ((int(self.arrays.seconds[first]), int(self.arrays.seconds[last - 1]) + 1),) if last > first else ()

    def _cut_before(self, submission: int, end: int) -> Cut:
        """Return the cut that proves that N tasks cannot end before the least end: the cheapest there is."""
        if self._bound(submission, end - 1) < self.instance.tasks:
            return self._cut_of_bound(_place(self.arrays.seconds, submission))
        self._reaches(submission, end - 1, is_exact=True)
        return self._cut()


def _later(answer: BatchAnswer, seconds: int) -> BatchAnswer:
    """Return an answer with all its times later; latencies stay."""

    def play(one: BatchContacts) -> BatchContacts:
        return one[0] + seconds, one[1], one[2] + seconds

    def cut(one: Cut) -> Cut:
        return tuple((a + seconds, b + seconds) for a, b in one)

    late = answer.latency_contacts
    return BatchAnswer(
        satisfied=answer.satisfied,
        cut=cut(answer.cut),
        contacts=play(answer.contacts),
        latency=answer.latency,
        latency_cut=cut(answer.latency_cut),
        latency_contacts=None if late is None else play(late),
    )


def _contacts(of: Run, since: int, origin: int) -> tuple[np.ndarray, np.ndarray]:
    """Return times, counted from an origin, and workers of a run's contacts from a second on, in order of time."""
    kept = np.flatnonzero(of.contacts.time >= since)
    order = kept[np.lexsort((of.contacts.worker[kept], of.contacts.time[kept]))]
    return (of.contacts.time[order] - origin).astype(np.int32), of.contacts.worker[order].astype(np.int32)


def _last_before(low: int, high: int, is_enough: Callable[[int], bool]) -> int:
    """Return by bisection the last time from ``low`` on, before ``high``, from which it is not enough."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return low


def _place(seconds: Int32s, time: int) -> int:
    """Return the first place of sorted seconds that is not before a time; of one kind, so that nothing is copied."""
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
