"""The independent checker of runs and certificates (docs/batches/model.md sections 2 and 4).

It shares no code with any solver or simulator, so that a mistake of theirs cannot hide here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hindsched.instances.batches.model import Compute, Instance
from hindsched.instances.batches.run import NOTHING, Contacts, Run, Rung
from hindsched.instances.errors import InputError
from hindsched.instances.verdict import Verdict

__all__ = ["Outcome", "check_run", "expect_run", "outcome_of"]

_Array = npt.NDArray[Any]

#: Workers that are looked at together.
_BLOCK = 1024


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a valid run achieves, batch by batch.

    Parameters
    ----------
    satisfied
        Tasks of which a copy ended by the deadline.
    latency
        Seconds from the submission until every task had ended; None if not all did by the run's end.
    copies
        Tasks sent, copies counted.
    """

    satisfied: tuple[int, ...]
    latency: tuple[int | None, ...]
    copies: tuple[int, ...]

    @property
    def satisfied_tasks(self) -> int:
        """Tasks that met their deadline, over all batches."""
        return sum(self.satisfied)

    def __str__(self) -> str:
        batches = len(self.satisfied)
        return f"{self.satisfied_tasks} satisfied tasks in {batches} batch{'' if batches == 1 else 'es'}"


class _Broken(NamedTuple):
    """A row that breaks a rule."""

    row: int
    rule: str
    reason: str


def check_run(instance: Instance, schedule: Run, of: Run | None = None) -> Verdict:
    """Replay a run or a certificate and name the first rule that is broken.

    Three times the rows are gone through: what they say (F, V5), what it means (V5, V6, V1, F, V4, V2), and whether
    a certificate keeps to its rung (H2, H1). The verdict does not depend on the fingerprint (see
    `hindsched.instances.is_made_for`).

    Parameters
    ----------
    instance
        With all availability.
    schedule
        The text.
    of
        The run that a certificate of the rungs ``traffic`` and ``stream`` is measured by; `expect_run` tells whether
        it is one.

    Returns
    -------
    Verdict
        Its time is that of the row, None for a row that is no contact; its outcome an `Outcome`, None after a break.

    Raises
    ------
    InputError
        For a rung other than ``free`` without the run it is measured by.

    Notes
    -----
    O((n + m) log m) for n rows and m intervals.

    Examples
    --------
    >>> pair = Instance(tasks=2, batches=[(0, 4)], c=[1, 2], up=[[(0, 2), (3, 6)], [(0, 9)]])
    >>> check_run(pair, Run(pair.fingerprint, Contacts.of([(0, 0, 0, 0, 1), (1, 1, 0, 1, 3)]))).outcome
    Outcome(satisfied=(2,), latency=(3,), copies=(2,))
    >>> check_run(pair, Run(pair.fingerprint, Contacts.of([(2, 0, 0, 0, 4)]))).rule
    'V1'
    """
    if schedule.rung not in (None, Rung.FREE) and of is None:
        raise InputError(f'"{schedule.rung}", expected the run it is measured by as well', place="rung")
    contacts = schedule.contacts
    broken = _misread(instance, contacts)
    if broken is None and schedule.malformed is not None:
        row, reason = schedule.malformed
        return Verdict(None, "F", f"contacts[{row}]: {reason}", None, "second")
    if broken is None:
        broken = _misplaced(instance, contacts)
    if broken is None and of is not None and schedule.rung not in (None, Rung.FREE):
        broken = _beyond_the_rung(instance, contacts, of.contacts, is_stream=schedule.rung is Rung.STREAM)
    if broken is not None:
        return Verdict(int(contacts.time[broken.row]), broken.rule, broken.reason, None, "second")
    return Verdict(None, None, None, outcome_of(instance, contacts), "second")


def expect_run(instance: Instance, run: Run) -> None:
    """Raise `InputError` unless a run's contacts, whatever they carry, are possible: what rungs are measured by.

    Examples
    --------
    >>> lone = Instance(tasks=1, batches=[(0, 4)], c=[1], up=[[(0, 2)]])
    >>> expect_run(lone, Run(lone.fingerprint, Contacts.of([(0, 0), (3, 0)])))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hindsched.instances.errors.InputError: no run of this instance: second 3: V1 broken: ...
    """
    nothing = np.broadcast_to(np.int64(NOTHING), len(run.contacts))
    bare = Contacts(run.contacts.time, run.contacts.worker, nothing, nothing, nothing)
    verdict = check_run(instance, Run(run.instance, bare, malformed=run.malformed))
    if not verdict.is_valid:
        raise InputError(f"no run of this instance: {verdict}")


def outcome_of(instance: Instance, contacts: Contacts) -> Outcome:
    """Return what valid contacts achieve, from the ends they state."""
    satisfied = [0] * instance.num_batches
    latency: list[int | None] = [None] * instance.num_batches
    copies = [0] * instance.num_batches
    sends = np.flatnonzero(contacts.batch != NOTHING)
    order = sends[np.argsort(contacts.batch[sends], kind="stable")]
    batch, task, end = contacts.batch[order], contacts.task[order], contacts.end[order]
    for i, rows in _groups(batch):
        submission, deadline = instance.batches[i]
        copies[i] = rows.stop - rows.start
        ended = np.flatnonzero(end[rows] != NOTHING)
        ends = end[rows][ended]
        by_end = np.argsort(ends, kind="stable")
        _, first = np.unique(task[rows][ended][by_end], return_index=True)  # the first is the earliest copy
        firsts = ends[by_end][first]
        satisfied[i] = int((firsts <= deadline).sum())
        if firsts.size == instance.tasks:
            latency[i] = int(firsts.max()) - submission
    return Outcome(tuple(satisfied), tuple(latency), tuple(copies))


def _groups(column: _Array) -> Iterator[tuple[int, slice]]:
    """Yield each value of a sorted column, and its rows."""
    if column.size == 0:
        return
    borders = [0, *(np.flatnonzero(column[1:] != column[:-1]) + 1).tolist(), column.size]
    for start, stop in pairwise(borders):
        yield int(column[start]), slice(start, stop)


def _first(*findings: tuple[_Array, str]) -> tuple[int, str] | None:
    """Return the first row that one of the conditions holds in, and the first such condition in it."""
    rows = [(int(np.argmax(holds)), rank) for rank, (holds, _) in enumerate(findings) if holds.any()]
    if not rows:
        return None
    row, rank = min(rows)
    return row, findings[rank][1]


def _misread(instance: Instance, contacts: Contacts) -> _Broken | None:
    """F and V5, as far as the text alone tells: order, workers, repetitions."""
    time, worker = contacts.time, contacts.worker
    after = np.zeros(len(contacts), dtype=bool)
    twice = after.copy()
    after[1:] = (time[1:] < time[:-1]) | ((time[1:] == time[:-1]) & (worker[1:] < worker[:-1]))
    twice[1:] = (time[1:] == time[:-1]) & (worker[1:] == worker[:-1])
    unknown = (worker < 0) | (worker >= instance.num_workers)
    found = _first((after, "order"), (unknown, "worker"), (twice, "twice"))
    if found is None:
        return None
    row, kind = found
    if kind == "order":
        return _Broken(row, "F", f"contacts[{row}]: earlier than the row before, expected rows by time and worker")
    if kind == "worker":
        return _Broken(row, "F", f"no worker {worker[row]}, expected 0 to {instance.num_workers - 1}")
    return _Broken(row, "V5", f"worker {worker[row]} is contacted twice in one second")


def _misplaced(instance: Instance, contacts: Contacts) -> _Broken | None:
    """V5, V6, V1, F, V4 and V2, row by row."""
    time, worker, batch, task = contacts.time, contacts.worker, contacts.batch, contacts.task
    sends = batch != NOTHING
    known = (batch >= 0) & (batch < instance.num_batches) & (task >= 0) & (task < instance.tasks)
    submissions = np.array([submission for submission, _ in instance.batches], dtype=np.int64)
    timelines = _Timelines(instance, worker)
    in_time = np.clip(time, instance.start, instance.end)  # the others break V5 or V6
    found = _first(
        (time < instance.start, "V5"),
        (time >= instance.end, "V6"),
        (~timelines.are_available(in_time), "V1"),
        (sends & ~known, "F"),
        (sends & (time < submissions[np.where(known, batch, 0)]), "V4"),
    )
    valid = len(contacts) if found is None else found[0]  # V2 comes last in a row: it can only break before
    ends = timelines.ends(time, np.flatnonzero(sends[:valid]))
    wrong = np.flatnonzero(ends[:valid] != contacts.end[:valid])
    if wrong.size:
        row = int(wrong[0])
        said, true = (None if end == NOTHING else int(end) for end in (contacts.end[row], ends[row]))
        told = "not by the run's end" if true is None else f"at {true}"
        return _Broken(row, "V2", f"worker {worker[row]} ends this task {told}, not {'null' if said is None else said}")
    if found is None:
        return None
    row, rule = found
    who, when = f"worker {worker[row]}", int(time[row])
    reason = {
        "V5": f"{who} is contacted before the run begins at {instance.start}",
        "V6": f"{who} is contacted, but the run ends at {instance.end}",
        "V1": f"{who} is not available in second {when}",
        "F": f"no task {task[row]} of batch {batch[row]}",
        "V4": f"batch {batch[row]} is not submitted before {submissions[batch[row]] if rule == 'V4' else None}",
    }
    return _Broken(row, rule, reason[rule])


class _Timelines:
    """The availability of the workers in a column, and what they make of the tasks they are sent."""

    def __init__(self, instance: Instance, worker: _Array) -> None:
        self._instance = instance
        self._availability = instance.window(instance.start, instance.end)
        self._order = np.argsort(worker, kind="stable")
        self._worker = worker[self._order].astype(np.int64)
        self._c = np.array(instance.c, dtype=np.int64)

    def are_available(self, time: _Array) -> npt.NDArray[np.bool_]:
        """Return for each row whether its worker is available at this time."""
        available = np.zeros(time.size, dtype=bool)
        for rows, block in self._blocks(self._order, self._worker, int(time.max(initial=0))):
            place, is_begun = block.place(time[rows])
            available[rows] = is_begun & (time[rows] < block.stops[place])
        return available

    def ends(self, time: _Array, sent: _Array) -> _Array:
        """Return the true ends of the tasks sent in these rows (V2), ``NOTHING`` elsewhere and after the run's end.

        In the worker's own time u, which counts the seconds in which tasks advance, task k ends at
        v_k = max(u_k, v_{k-1}) + C, so v_k - k C is the running maximum of u_k - (k - 1) C.
        """
        is_sent = np.zeros(time.size, dtype=bool)
        is_sent[sent] = True
        kept = is_sent[self._order]
        worker = self._worker[kept]
        longest = int(np.bincount(worker).max(initial=0)) * max(self._instance.c)
        ends = np.full(time.size, NOTHING, dtype=np.int64)
        for rows, block in self._blocks(self._order[kept], worker, self._instance.end + longest):
            ends[rows] = self._ends_of(block, time[rows].astype(np.int64))
        return np.where(ends <= self._instance.end, ends, NOTHING)

    def _ends_of(self, block: _Block, time: _Array) -> _Array:
        """Return when the tasks of a block's rows end; after the run's end if they do not end in what is known."""
        c = self._c[block.first_worker + block.worker]
        starts = np.flatnonzero(np.concatenate(([True], block.worker[1:] != block.worker[:-1])))
        number = np.arange(time.size, dtype=np.int64) - np.repeat(starts, np.diff(np.append(starts, time.size)))
        is_reliable = self._instance.compute is Compute.RELIABLE
        place, _ = block.place(time)
        begin = time if is_reliable else block.own[place] + time - block.starts[place]
        stop: _Array = np.maximum.accumulate(begin - number * c + block.lift) - block.lift + (number + 1) * c
        if is_reliable:
            return stop
        place = np.searchsorted(block.own_keys, block.lift + stop, side="left") - 1  # begins with less own time
        is_ended = stop <= block.own_total[block.worker]
        return np.where(is_ended, block.starts[place] + stop - block.own[place], self._instance.end + 1)

    def _blocks(self, order: _Array, worker: _Array, most: int) -> Iterator[tuple[_Array, _Block]]:
        """Yield rows in the order of their workers, those of a few workers at once.

        No row's number may be above ``most``; it bounds how many workers' times go into 64 bits.
        """
        ups, offsets = self._availability.ups, self._availability.offsets
        span = 2 * (max(most, int(ups.max(initial=0))) + 1)
        size = max(1, min(_BLOCK, 2**62 // span))
        lows = np.unique(worker // size) * size
        for low, start, stop in zip(
            lows.tolist(), np.searchsorted(worker, lows), np.searchsorted(worker, lows + size), strict=True
        ):
            mine = offsets[low : low + size + 1]
            if mine[-1] > mine[0]:
                yield order[start:stop], _Block(ups[mine[0] : mine[-1]], mine - mine[0], worker[start:stop], low, span)


class _Block:
    """Rows of a few workers, and these workers' intervals in one increasing order.

    What is worker j's is lifted by j times ``span``, which is more than twice any number of one worker.
    """

    def __init__(self, ups: _Array, offsets: _Array, worker: _Array, first_worker: int, span: int) -> None:
        self.first_worker = first_worker
        self.worker = worker - first_worker
        self.lift = self.worker * span
        self.starts, self.stops = ups[:, 0].astype(np.int64), ups[:, 1].astype(np.int64)
        owner = np.repeat(np.arange(offsets.size - 1, dtype=np.int64), np.diff(offsets))
        self._first = offsets[:-1]
        self._keys = owner * span + self.starts
        before = np.concatenate(([0], np.cumsum(self.stops - self.starts)))
        self.own = before[:-1] - before[offsets[:-1]][owner]  # own time before each interval
        self.own_keys = owner * span + self.own
        self.own_total = before[offsets[1:]] - before[offsets[:-1]]

    def place(self, time: _Array) -> tuple[_Array, npt.NDArray[np.bool_]]:
        """Return for each row its worker's last interval that begins by a time, and whether there is one."""
        place = np.searchsorted(self._keys, self.lift + time, side="right") - 1
        is_begun = place >= self._first[self.worker]
        return np.where(is_begun, place, 0), is_begun


def _beyond_the_rung(instance: Instance, contacts: Contacts, run: Contacts, *, is_stream: bool) -> _Broken | None:
    """H2 and H1, row by row."""
    seconds, counts = np.unique(np.append(run.time, -1), return_counts=True)
    place = np.searchsorted(seconds, contacts.time, side="right") - 1
    in_second = np.arange(len(contacts)) - np.searchsorted(contacts.time, contacts.time)
    is_known = seconds[place] == contacts.time
    is_more = in_second >= np.where(is_known, counts[place], 0)
    is_foreign = np.zeros(len(contacts), dtype=bool)
    if is_stream:
        num = instance.num_workers
        meant = (run.worker >= 0) & (run.worker < num)
        made = np.sort(np.searchsorted(seconds, run.time[meant]) * num + run.worker[meant])
        wanted = place * num + contacts.worker
        at = np.minimum(np.searchsorted(made, wanted), made.size - 1)
        is_foreign = ~(is_known & (made[at] == wanted)) if made.size else ~is_foreign
    found = _first((is_foreign, "H2"), (is_more, "H1"))
    if found is None:
        return None
    row, rule = found
    if rule == "H2":
        return _Broken(row, rule, f"the run has no contact of worker {contacts.worker[row]} in this second")
    return _Broken(row, rule, "more contacts than the run has in this second")
