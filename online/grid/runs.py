"""Results of runs: allocations, counters, metrics (docs/grid/model.md sections 2 and 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import ClassVar

import numpy as np

from hindsched.instances.errors import InputError
from hindsched.instances.grid import Instance, Schedule
from hindsched.instances.grid.model import Ints
from hindsched.instances.grid.schedule import Events

__all__ = ["Counters", "EventCounters", "LateCounters", "Metrics", "Run", "Utilisation"]


@dataclass(frozen=True, slots=True)
class Counters:
    """Messages of a run of dgs, each the copy of one schedule, and numbers of events.

    Parameters
    ----------
    searches, forwards
        Searchers to which jobs were forwarded; both are equal.
    queries
        Neighbours that searchers queried.
    first, second
        Schedules of a searcher's own neighbours, and of the neighbours of queried nodes.
    pull, push, poll
        Schedules sent if each search fetches them, if a node reports each allocation to the nodes that list it, and if
        nodes fetch those of their neighbours periodically. All three are counted, whichever is in use.
    answers
        Searchers that made an offer.
    refusals
        Outdated offers.
    allocated_nodes
        Nodes allocated to jobs.
    failed_reach, failed_stale
        Jobs without offers, and jobs with outdated offers only.
    """

    searches: int = 0
    queries: int = 0
    first: int = 0
    second: int = 0
    pull: int = 0
    push: int = 0
    poll: int = 0
    forwards: int = 0
    answers: int = 0
    refusals: int = 0
    allocated_nodes: int = 0
    failed_reach: int = 0
    failed_stale: int = 0


@dataclass(frozen=True, slots=True)
class EventCounters(Counters):
    """Counters of a run of dgs with failures, cancellations or searches again (docs/grid/model.md section 3.8).

    Parameters
    ----------
    outages
        Failures of nodes, and nodes that are down in slot 0.
    lost_runs, lost_slots
        Runs that node failures stopped, and the node-slots that these had used.
    moved
        Reservations that node failures made void.
    failed_lost
        Jobs that node failures stopped more than ``restarts`` times.
    cancelled
        Jobs that were cancelled before their end.
    retries
        Searches again after refusals.
    """

    outages: int = 0
    lost_runs: int = 0
    lost_slots: int = 0
    moved: int = 0
    failed_lost: int = 0
    cancelled: int = 0
    retries: int = 0


@dataclass(frozen=True, slots=True)
class LateCounters:
    """Messages of a run of late.

    Parameters
    ----------
    forwards
        Jobs sent to searchers.
    withdrawals
        Notices to searchers that a waiting job has been allocated elsewhere.
    notices
        Notices from a node that is reserved or free again to every searcher with waiting jobs within two hops.
    promises
        Jobs that got a promised start after their patience.
    failed_reach
        Jobs for which no searcher knows enough nodes.
    """

    forwards: int = 0
    withdrawals: int = 0
    notices: int = 0
    promises: int = 0
    failed_reach: int = 0


@dataclass(frozen=True, slots=True)
class Metrics:
    """Metrics of a run; waits and responses are in slots, over the jobs that run.

    Parameters
    ----------
    jobs, failed
        The number of all jobs, and of those that never run.
    total_wait, total_response, max_wait
        Sums and maximum over the other jobs.
    median_wait
        The median; None if no job runs.
    ends
        The last busy slot + 1, 0 if no job runs.
    """

    jobs: int
    failed: int
    total_wait: int
    total_response: int
    max_wait: int
    median_wait: float | None
    ends: int


@dataclass(frozen=True, slots=True)
class Utilisation:
    """Requested and executed node-slots per period.

    Parameters
    ----------
    capacity
        Node-slots of a period.
    requested
        Area of the jobs submitted in each period, failed ones too.
    executed
        Busy node-slots in each period.
    """

    capacity: int
    requested: Ints
    executed: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run of a scheduler on an instance.

    Parameters
    ----------
    policy
        The scheduler's name.
    instance
        The instance.
    starts
        The start of each job, -1 for a failed job; read-only.
    offsets, held
        The nodes of job j are ``held[offsets[j]:offsets[j + 1]]``, ascending; read-only.
    counters
        Counters of dgs and late; None for other schedulers.
    events
        Outages, cancelled jobs and stopped runs; None in a run without such options.
    """

    FAILED: ClassVar[int] = -1

    policy: str
    instance: Instance
    starts: Ints
    offsets: Ints = field(repr=False)
    held: Ints = field(repr=False)
    counters: Counters | LateCounters | None = None
    events: Events | None = None

    def __post_init__(self) -> None:
        for array in (self.starts, self.offsets, self.held):
            array.setflags(write=False)

    @classmethod
    def of(
        cls,
        policy: str,
        instance: Instance,
        starts: Sequence[int | None],
        nodes: Sequence[Iterable[int]],
        counters: Counters | LateCounters | None = None,
        events: Events | None = None,
    ) -> Run:
        """Return the run with these starts (None: failed) and nodes, in any order."""
        ordered = [sorted(held) for held in nodes]
        offsets = np.concatenate(([0], np.cumsum([len(held) for held in ordered], dtype=np.int64)))
        return cls(
            policy,
            instance,
            np.array([cls.FAILED if start is None else start for start in starts], dtype=np.int64),
            offsets,
            np.fromiter(chain.from_iterable(ordered), dtype=np.int64, count=int(offsets[-1])),
            counters,
            events,
        )

    @property
    def accepted(self) -> Ints:
        """The jobs that run, by increasing index."""
        jobs: Ints = np.flatnonzero(self.starts != self.FAILED)
        return jobs

    def nodes(self, job: int) -> list[int]:
        """Return the nodes of a job, ascending; none for a failed job."""
        nodes: list[int] = self.held[self.offsets[job] : self.offsets[job + 1]].tolist()
        return nodes

    def schedule(self) -> Schedule:
        """Return the schedule for `hindsched.instances.grid.check`; O(allocated nodes)."""
        starts = [None if start == self.FAILED else start for start in self.starts.tolist()]
        return Schedule.of(self.instance, starts, [self.nodes(j) for j in range(len(starts))], self.events)

    def metrics(self) -> Metrics:
        """Return the metrics of the run.

        Examples
        --------
        >>> pair = Instance(nodes=1, slot_s=60, submit=[0, 0, 0], width=[1, 1, 1], length=[5, 1, 1])
        >>> Run.of("mine", pair, [0, 5, None], [[0], [0], []]).metrics()
        Metrics(jobs=3, failed=1, total_wait=5, total_response=11, max_wait=5, median_wait=2.5, ends=6)
        """
        run = self.accepted
        starts, submit, length = self.starts[run], self.instance.submit[run], self.instance.length[run]
        waits = np.sort(starts - submit).tolist()
        middle = waits[(len(waits) - 1) // 2 : len(waits) // 2 + 1]
        twice = middle[0] + middle[-1] if middle else 0
        return Metrics(
            jobs=len(self.starts),
            failed=len(self.starts) - len(waits),
            total_wait=sum(waits),
            total_response=sum(waits) + sum(length.tolist()),
            max_wait=waits[-1] if waits else 0,
            median_wait=None if not waits else twice / 2 if twice % 2 else twice // 2,
            ends=int((starts + length).max()) if waits else 0,
        )

    def utilisation(self, period: int | None = None) -> Utilisation:
        """Return requested and executed node-slots, period by period, up to the last submission or busy slot.

        Parameters
        ----------
        period
            Slots of a period; None: a day, rounded down to whole slots (at least one).

        Raises
        ------
        InputError
            For a period below 1.

        Examples
        --------
        >>> lone = Instance(nodes=2, slot_s=60, submit=[1], width=[2], length=[4])
        >>> run = Run.of("mine", lone, [3], [[0, 1]])
        >>> run.utilisation(4).requested.tolist(), run.utilisation(4).executed.tolist()
        ([8, 0], [2, 6])
        """
        instance = self.instance
        period = max(1, 86_400 // instance.slot_s) if period is None else period
        if period < 1:
            raise InputError(f"{period}, expected an integer >= 1", place="period")
        last = max(self.metrics().ends, int(instance.submit[-1]) + 1 if len(instance) else 0)
        count = -(-last // period)
        requested = np.zeros(count, dtype=np.int64)
        np.add.at(requested, instance.submit // period, instance.width * instance.length)
        run = self.accepted
        width, start = instance.width[run], self.starts[run]
        # busy node-slots before the end of each period: a sum of ramps
        edges = np.arange(1, count + 1, dtype=np.int64) * period
        done = _ramps(edges, start, width) - _ramps(edges, start + instance.length[run], width)
        return Utilisation(period * instance.nodes, requested, np.diff(done, prepend=0))


def _ramps(at: Ints, begin: Ints, slope: Ints) -> Ints:
    """Return the sum of slope x max(0, at - begin) over all ramps, for each of ``at`` (ascending)."""
    order = np.argsort(begin, kind="stable")
    slopes = np.concatenate(([0], np.cumsum(slope[order])))
    moments = np.concatenate(([0], np.cumsum(slope[order] * begin[order])))
    i = np.searchsorted(begin[order], at)
    ramps: Ints = slopes[i] * at - moments[i]
    return ramps
