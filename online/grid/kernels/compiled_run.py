"""Runs of the built-in schedulers in machine code: the arrays, and the calls of the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hindsched.instances.array_types import Int32s, Ints, Words
from hindsched.instances.grid import Instance
from hindsched.instances.random_streams import stream
from hindsched.online.grid.dgs import Offer
from hindsched.online.grid.draws import WORDS_PER_JOB, words
from hindsched.online.grid.events import FOREVER, EventRun
from hindsched.online.grid.kernels import baseline_kernels, dgs_kernels, late_kernels
from hindsched.online.grid.kernels.node_schedules import Candidates, NodeSchedules
from hindsched.online.grid.kernels.overlay_kernels import Overlay, cyclon_round, static_overlay
from hindsched.online.grid.kernels.schedule_kernels import release, release_all, reserve
from hindsched.online.grid.late import LateScheduler
from hindsched.online.grid.options import AsapCounted, AsapPinned, BuiltIn, Dgs, Easy, Fcfs, Late, Queue
from hindsched.online.grid.runs import Counters, Run

__all__ = ["run_kernel"]

#: Number of jobs whose random words are drawn at once.
_BLOCK = 4096
_ALWAYS = 2**62


def run_kernel(instance: Instance, policy: BuiltIn) -> Run:
    """Run a built-in scheduler; the result is that of its plain twin.

    Examples
    --------
    >>> trio = Instance(nodes=2, slot_s=60, submit=[0, 0, 0], width=[1, 2, 1], length=[3, 1, 3])
    >>> run_kernel(trio, Easy()).starts.tolist()
    [0, 3, 0]
    """
    if isinstance(policy, Dgs):
        return (
            EventRun(instance, policy, _EventDgs(instance, policy)).run()
            if policy.has_events
            else _Dgs(instance, policy).run()
        )
    if isinstance(policy, Late):
        return LateScheduler(instance, policy, _CompiledQueries(instance, policy)).run()
    if isinstance(policy, AsapPinned):
        return _asap_pinned(instance, policy)
    return _by_count(instance, policy)


def _by_count(instance: Instance, policy: AsapCounted | Queue | Fcfs | Easy) -> Run:
    """Run a scheduler that counts nodes, and choose the nodes afterwards."""
    submit, width, length = instance.submit, instance.width, instance.length
    jobs = len(instance)
    starts = np.empty(jobs, dtype=np.int64)
    running = baseline_kernels.Running.of(min(jobs, instance.nodes) + 1)
    waiting = np.empty(jobs, dtype=np.int64)
    if isinstance(policy, AsapCounted):
        time, used = np.empty((2, 2 * jobs + 1), dtype=np.int64)
        baseline_kernels.asap_counted(submit, width, length, instance.nodes, time, used, starts)
    elif isinstance(policy, Fcfs):
        baseline_kernels.fcfs(submit, width, length, instance.nodes, running, starts)
    elif isinstance(policy, Easy):
        baseline_kernels.easy(submit, width, length, instance.nodes, running, waiting, starts)
    else:
        keys = {"length": length, "area": _areas(width, length), "width": width, "file": np.zeros_like(width)}
        key = keys[policy.rule]
        rank = np.empty(jobs, dtype=np.int64)
        rank[np.argsort(key, kind="stable")] = np.arange(jobs)
        baseline_kernels.queue(submit, width, length, rank, instance.nodes, running, waiting, starts)
    offsets = _offsets(width)
    held = np.empty(int(offsets[-1]), dtype=np.int32)
    running.number[0] = 0
    is_free = np.ones(instance.nodes + 1, dtype=np.bool_)
    order = np.argsort(starts, kind="stable")
    baseline_kernels.place(order, starts, width, length, offsets, is_free, running, held)
    return Run(policy.name, instance, starts, offsets, held.astype(np.int64))


def _areas(width: Ints, length: Ints) -> npt.NDArray[Any]:
    """Return width times length, as Python integers if 64 bits might not hold them."""
    is_small = int(width.max(initial=0)) * int(length.max(initial=0)) < 2**63
    return width * length if is_small else width.astype(object) * length


def _asap_pinned(instance: Instance, policy: AsapPinned) -> Run:
    offsets = _offsets(instance.width)
    held = np.empty(int(offsets[-1]), dtype=np.int32)
    starts = np.empty(len(instance), dtype=np.int64)
    candidates = Candidates(
        np.arange(instance.nodes, dtype=np.int32),
        np.full(instance.nodes, _ALWAYS, dtype=np.int64),
        *np.empty((2, instance.nodes), dtype=np.int64),
    )
    schedules = NodeSchedules.of(instance.nodes, len(held))
    baseline_kernels.asap_pinned(instance.submit, instance.width, instance.length, schedules, candidates, starts, held)
    return Run(policy.name, instance, starts, offsets, held.astype(np.int64))


class _Dgs:
    """A run of dgs, in intervals of slots without change of the overlay."""

    def __init__(self, instance: Instance, options: Dgs) -> None:
        self.instance = instance
        self.options = options
        self.overlay: Overlay = static_overlay(instance.nodes, options.degree, options.seed)
        offsets = _offsets(instance.width)
        self.jobs = dgs_kernels.Jobs(
            instance.submit,
            instance.width,
            instance.length,
            np.empty(len(instance), dtype=np.int64),
            np.empty(int(offsets[-1]), dtype=np.int32),
            offsets,
        )
        search = dgs_kernels.SearchOptions(
            options.fwd,
            options.messaging == "poll",
            options.poll_phase == "own",
            options.poll_slots,
            options.explore == "further",
            options.latency,
            options.messaging == "poll" or options.latency > 0 or options.mtbf > 0,
        )
        self.context = _search_context(instance, self.overlay, search)
        self.poll = 0
        self.block = -1
        self.drawn: Words = np.empty((0, WORDS_PER_JOB), dtype=np.uint64)

    def run(self) -> Run:
        """Return the run."""
        last = int(self.instance.submit[-1]) if len(self.instance) else -1
        if self.options.overlay == "static":
            self._run_slots(0, last)
        else:
            every = self.options.every
            for number in range(last // every + 1):
                self.shuffle(number)
                self._run_slots(number * every, min((number + 1) * every - 1, last))
        return self._result()

    def shuffle(self, number: int) -> None:
        """Simulate a round of Cyclon; round 0 does nothing."""
        nodes, degree = self.overlay.lists.shape
        if number > 0 and degree > 0:
            swap = min(self.options.swap, degree)  # no node has more entries
            work: Int32s = np.empty((6, swap + degree + 1), dtype=np.int32)
            drawn = words(nodes * (2 * swap - 1), "grid", "shuffle", self.options.seed, number)
            cyclon_round(self.overlay, swap, drawn, work)

    def _run_slots(self, begin: int, end: int) -> None:
        """Count polls and allocate jobs in slots ``begin`` to ``end``."""
        self.poll += _polls(self.overlay.sizes, begin, end, self.options)
        first, stop = np.searchsorted(self.instance.submit, [begin, end + 1]).tolist()
        while first < stop:
            self._draw(first // _BLOCK)
            last = min(stop, (self.block + 1) * _BLOCK)
            drawn = self.drawn[first - self.block * _BLOCK :]
            dgs_kernels.run_jobs(self.jobs, first, last, drawn, self.context)
            first = last

    def _draw(self, block: int) -> None:
        """Draw the words of a block of jobs; four words are one step of the generator's counter."""
        if block != self.block:
            generator = stream("grid", "job", self.options.seed).bit_generator
            generator.advance(block * _BLOCK * WORDS_PER_JOB // 4)  # type: ignore[attr-defined]
            self.drawn = generator.random_raw(_BLOCK * WORDS_PER_JOB).reshape(-1, WORDS_PER_JOB)
            self.block = block

    def _result(self) -> Run:
        ran = self.jobs.starts >= 0
        width = np.where(ran, self.instance.width, 0)
        offsets = _offsets(width)
        job = np.repeat(np.arange(len(width)), width)
        within = np.arange(int(offsets[-1])) - offsets[:-1][job]
        held = self.jobs.held[self.jobs.offsets[:-1][job] + within].astype(np.int64)
        held = held[np.lexsort((held, job))]
        return Run(self.options.name, self.instance, self.jobs.starts, offsets, held, Counters(**self.totals()))

    def totals(self) -> dict[str, int]:
        """Return the counters."""
        count = dict(zip(dgs_kernels.COUNTED, self.context.counts.tolist(), strict=True))
        more = {"forwards": count["searches"], "pull": count["first"] + count["second"], "poll": self.poll}
        return count | more


class _EventDgs(_Dgs):
    """Overlay, schedules and counters of a run of dgs with events, which `EventRun` simulates."""

    def __init__(self, instance: Instance, options: Dgs) -> None:
        super().__init__(instance, options)
        self.up = self.overlay.up
        self.slot = -1
        self.stamp = 0
        self.last = int(instance.submit[-1]) if len(instance) else -1
        self.job = _job_arrays(instance)

    def advance(self, slot: int) -> None:
        every = self.options.every if self.options.overlay == "cyclon" else FOREVER
        while self.slot < slot:
            begin = self.slot + 1
            if begin % every == 0:
                self.shuffle(begin // every)
            self.slot = min(slot, begin // every * every + every - 1)
            sizes = np.where(self.up, self.overlay.sizes, 0)
            self.poll += _polls(sizes, begin, min(self.slot, self.last), self.options)

    def neighbours(self, node: int) -> list[int]:
        row = self.overlay.lists[node]
        known: list[int] = row[row >= 0].tolist()
        return known

    def allocate(self, searchers: Sequence[int], job: tuple[int, int, int]) -> tuple[int, int, tuple[int, ...]]:
        self.job.submit[0], self.job.width[0], self.job.length[0] = job
        self.job.starts[0] = -1
        self.context.work.pool[: len(searchers)] = searchers
        found = dgs_kernels.allocate(self.job, 0, len(searchers), self.stamp, self.context)
        self.stamp += len(searchers)
        start = int(self.job.starts[0])
        return found, start, tuple(self.job.held[: job[1]].tolist()) if start >= 0 else ()

    def release(self, nodes: Sequence[int], start: int, *, without: int = -1) -> None:
        held: Int32s = np.array(nodes, dtype=np.int32)
        release_all(self.context.schedules, held, start)
        self._push(int(self.overlay.in_degrees[held[held != without]].sum()))

    def stop(self, node: int, now: int) -> None:
        self.up[node] = False
        reserve(self.context.schedules, node, now, FOREVER, now)

    def resume(self, node: int, stopped: int, introducer: int | None) -> None:
        self.up[node] = True
        release(self.context.schedules, node, stopped)
        if self.options.overlay == "cyclon":
            self._join(node, introducer)
        self._push(int(self.overlay.in_degrees[node]))

    def _join(self, node: int, introducer: int | None) -> None:
        """Replace the list of a node by an introducer and its list."""
        lists, ages, sizes, in_degrees, _ = self.overlay
        known: list[tuple[int, int]] = []
        if introducer is not None:
            known = [(introducer, 0), *zip(lists[introducer].tolist(), ages[introducer].tolist(), strict=True)]
        in_degrees[self.neighbours(node)] -= 1
        taken = [entry for entry in known if entry[0] >= 0 and entry[0] != node][: lists.shape[1]]
        lists[node], sizes[node] = -1, len(taken)
        for place, (neighbour, age) in enumerate(taken):
            lists[node, place], ages[node, place] = neighbour, age
            in_degrees[neighbour] += 1

    def _push(self, messages: int) -> None:
        self.context.counts[dgs_kernels.COUNTED.index("push")] += messages


class _CompiledQueries:
    """Overlay and schedules as arrays, queried by kernels for the plain simulator of late."""

    def __init__(self, instance: Instance, options: Late) -> None:
        overlay = static_overlay(instance.nodes, options.degree, options.seed)
        self.lists: list[list[int]] = overlay.lists.tolist()
        self.job = _job_arrays(instance)
        search = dgs_kernels.SearchOptions(options.fwd, False, False, 1, options.explore == "further", 0, False)
        self.context = _search_context(instance, overlay, search)
        self.found: Int32s = np.empty(len(self.job.held), dtype=np.int32)
        self.stamp = 0

    def best_offer(self, searchers: Sequence[int], now: int, width: int, length: int) -> Offer | None:
        self.job.submit[0], self.job.width[0], self.job.length[0] = now, width, length
        drawn: Int32s = np.array(searchers, dtype=np.int32)
        taken = late_kernels.best_offer(self.job, drawn, len(drawn), self.stamp, self.context)
        self.stamp += len(drawn)
        if taken < 0:
            return None
        work = self.context.work
        return Offer(int(work.offers[taken]), taken, tuple(work.offered[taken, :width].tolist()))

    def prepare(self, nodes: list[int]) -> Int32s:
        return np.array(nodes, dtype=np.int32)

    def free_nodes(self, nodes: Int32s, now: int, width: int, length: int) -> tuple[int, ...] | None:
        if late_kernels.first_free(self.context.schedules, nodes, width, now, now + length, self.found):
            return tuple(self.found[:width].tolist())
        return None

    def reserve(self, offer: Offer, end: int, now: int) -> None:
        late_kernels.reserve_all(self.context.schedules, np.array(offer.nodes, dtype=np.int32), offer.start, end, now)


def _job_arrays(instance: Instance) -> dgs_kernels.Jobs:
    """Return arrays for a job at a time."""
    widest = int(instance.width.max()) if len(instance) else 1
    submit, width, length, starts = np.zeros((4, 1), dtype=np.int64)
    held: Int32s = np.empty(widest, dtype=np.int32)
    return dgs_kernels.Jobs(submit, width, length, starts, held, np.zeros(1, dtype=np.int64))


def _search_context(
    instance: Instance, overlay: Overlay, options: dgs_kernels.SearchOptions
) -> dgs_kernels.SearchContext:
    widest = int(instance.width.max()) if len(instance) else 1
    return dgs_kernels.SearchContext(
        overlay,
        NodeSchedules.of(instance.nodes, int(instance.width.sum()) + instance.nodes),  # a run or an outage each
        options,
        dgs_kernels.Work.of(instance.nodes, overlay.lists.shape[1], options.fwd, widest),
        np.zeros(len(dgs_kernels.COUNTED), dtype=np.int64),
    )


def _polls(sizes: Ints, begin: int, end: int, options: Dgs) -> int:
    """Return the schedules fetched by polls in slots ``begin`` to ``end``."""
    if end < begin:
        return 0
    every = options.poll_slots
    if options.poll_phase == "common":
        return int(sizes.sum()) * (end // every - (begin - 1) // every)
    phase = np.arange(len(sizes)) % every
    return int((sizes * ((end - phase) // every - (begin - 1 - phase) // every)).sum())


def _offsets(width: Ints) -> Ints:
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(width, dtype=np.int64)))
