"""The independent checker of runs and certificates (docs/batches/model.md sections 2 and 4).

The checker shares no code with solvers or simulators, so it does not share their mistakes.
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

#: Number of workers that are processed together.
_BLOCK = 1024


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a valid run, batch by batch.

    Parameters
    ----------
    satisfied
        Number of tasks of which a copy ends by the deadline.
    latency
        Seconds from the submission until all tasks have ended; None if some have not by the end of the run.
    copies
        Number of copies of tasks that are sent.
    """

    satisfied: tuple[int, ...]
    latency: tuple[int | None, ...]
    copies: tuple[int, ...]

    @property
    def satisfied_tasks(self) -> int:
        """Number of satisfied tasks in all batches."""
        return sum(self.satisfied)

    def __str__(self) -> str:
        batches = len(self.satisfied)
        return f"{self.satisfied_tasks} satisfied tasks in {batches} batch{'' if batches == 1 else 'es'}"


class _Broken(NamedTuple):
    """A broken rule, and the row that breaks it."""

    row: int
    rule: str
    reason: str


def check_run(instance: Instance, schedule: Run, of: Run | None = None) -> Verdict:
    """Replay a run or a certificate and report the first rule that is broken.

    The checker makes three passes over the rows. The first checks their form and order (F, V5), the second their
    content (V5, V6, V1, F, V4, V2), and the third the rung of a certificate (H2, H1). The verdict does not depend on
    the fingerprint (see `hindsched.instances.is_made_for`).

    Parameters
    ----------
    instance
        The instance.
    schedule
        The run or certificate.
    of
        The run to which the rungs ``traffic`` and ``stream`` refer. `expect_run` checks it.

    Returns
    -------
    Verdict
        Its time is that of the row, or None for a row that is not a contact. Its outcome is an `Outcome`, or None if a
        rule is broken.

    Raises
    ------
    InputError
        If a rung other than ``free`` comes without its run.

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
        raise InputError(f'"{schedule.rung}", expected the run to which it refers as well', place="rung")
    contacts = schedule.contacts
    broken = _check_order(instance, contacts)
    if broken is None and schedule.malformed is not None:
        row, reason = schedule.malformed
        return Verdict(None, "F", f"contacts[{row}]: {reason}", None, "second")
    if broken is None:
        broken = _check_contacts(instance, contacts)
    if broken is None and of is not None and schedule.rung not in (None, Rung.FREE):
        broken = _check_rung(instance, contacts, of.contacts, is_stream=schedule.rung is Rung.STREAM)
    if broken is not None:
        return Verdict(int(contacts.time[broken.row]), broken.rule, broken.reason, None, "second")
    return Verdict(None, None, None, outcome_of(instance, contacts), "second")


def expect_run(instance: Instance, run: Run) -> None:
    """Raise `InputError` unless the contacts of a run are possible in an instance; the tasks sent are not checked.

    Examples
    --------
    >>> lone = Instance(tasks=1, batches=[(0, 4)], c=[1], up=[[(0, 2)]])
    >>> expect_run(lone, Run(lone.fingerprint, Contacts.of([(0, 0), (3, 0)])))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hindsched.instances.errors.InputError: not a run of this instance: second 3: V1 broken: ...
    """
    nothing = np.broadcast_to(np.int64(NOTHING), len(run.contacts))
    bare = Contacts(run.contacts.time, run.contacts.worker, nothing, nothing, nothing)
    verdict = check_run(instance, Run(run.instance, bare, malformed=run.malformed))
    if not verdict.is_valid:
        raise InputError(f"not a run of this instance: {verdict}")


def outcome_of(instance: Instance, contacts: Contacts) -> Outcome:
    """Return the outcome of valid contacts, from the ends in their rows."""
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
    """Yield each value of a sorted column with its rows."""
    if column.size == 0:
        return
    borders = [0, *(np.flatnonzero(column[1:] != column[:-1]) + 1).tolist(), column.size]
    for start, stop in pairwise(borders):
        yield int(column[start]), slice(start, stop)


def _first(*findings: tuple[_Array, str]) -> tuple[int, str] | None:
    """Return the first row in which a condition holds, and the name of the first such condition."""
    rows = [(int(np.argmax(holds)), rank) for rank, (holds, _) in enumerate(findings) if holds.any()]
    if not rows:
        return None
    row, rank = min(rows)
    return row, findings[rank][1]


def _check_order(instance: Instance, contacts: Contacts) -> _Broken | None:
    """Check the parts of F and V5 that concern order, workers and repetitions."""
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
        return _Broken(row, "F", f"contacts[{row}]: before the previous row, expected rows by time and worker")
    if kind == "worker":
        return _Broken(row, "F", f"worker {worker[row]}, expected 0 to {instance.num_workers - 1}")
    return _Broken(row, "V5", f"worker {worker[row]} is contacted twice in one second")


def _check_contacts(instance: Instance, contacts: Contacts) -> _Broken | None:
    """Check V5, V6, V1, F, V4 and V2, row by row."""
    time, worker, batch, task = contacts.time, contacts.worker, contacts.batch, contacts.task
    sends = batch != NOTHING
    known = (batch >= 0) & (batch < instance.num_batches) & (task >= 0) & (task < instance.tasks)
    submissions = np.array([submission for submission, _ in instance.batches], dtype=np.int64)
    timelines = _Timelines(instance, worker)
    in_time = np.clip(time, instance.start, instance.end)  # times outside break V5 or V6
    found = _first(
        (time < instance.start, "V5"),
        (time >= instance.end, "V6"),
        (~timelines.are_available(in_time), "V1"),
        (sends & ~known, "F"),
        (sends & (time < submissions[np.where(known, batch, 0)]), "V4"),
    )
    valid = len(contacts) if found is None else found[0]  # V2 is the last rule of a row, so only earlier rows matter
    ends = timelines.ends(time, np.flatnonzero(sends[:valid]))
    wrong = np.flatnonzero(ends[:valid] != contacts.end[:valid])
    if wrong.size:
        row = int(wrong[0])
        stated, true = (None if end == NOTHING else int(end) for end in (contacts.end[row], ends[row]))
        found_end = "after the end of the run" if true is None else f"at {true}"
        expected = "null" if stated is None else stated
        return _Broken(row, "V2", f"worker {worker[row]} ends this task {found_end}, but the row has {expected}")
    if found is None:
        return None
    row, rule = found
    who, when = f"worker {worker[row]}", int(time[row])
    reason = {
        "V5": f"{who} is contacted before the run begins at {instance.start}",
        "V6": f"{who} is contacted, but the run ends at {instance.end}",
        "V1": f"{who} is not available in second {when}",
        "F": f"task {task[row]} of batch {batch[row]} does not exist",
        "V4": f"batch {batch[row]} is not submitted before {submissions[batch[row]] if rule == 'V4' else None}",
    }
    return _Broken(row, rule, reason[rule])


class _Timelines:
    """Availability of the workers in a column, and the ends of the tasks that they are sent."""

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
            place, is_begun = block.last_begun(time[rows])
            available[rows] = is_begun & (time[rows] < block.stops[place])
        return available

    def ends(self, time: _Array, sent: _Array) -> _Array:
        """Return the true ends of the tasks sent in these rows (V2); ``NOTHING`` elsewhere and after the run's end.

        The own time u of a worker counts the seconds in which its tasks advance. Task k ends at own time
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
        """Return the ends of the tasks of a block's rows; E + 1 for tasks that do not end in the known availability."""
        c = self._c[block.first_worker + block.worker]
        starts = np.flatnonzero(np.concatenate(([True], block.worker[1:] != block.worker[:-1])))
        number = np.arange(time.size, dtype=np.int64) - np.repeat(starts, np.diff(np.append(starts, time.size)))
        is_reliable = self._instance.compute is Compute.RELIABLE
        place, _ = block.last_begun(time)
        begin = time if is_reliable else block.own[place] + time - block.starts[place]
        stop: _Array = np.maximum.accumulate(begin - number * c + block.lift) - block.lift + (number + 1) * c
        if is_reliable:
            return stop
        place = np.searchsorted(block.own_keys, block.lift + stop, side="left") - 1  # last interval with own < stop
        is_ended = stop <= block.own_total[block.worker]
        return np.where(is_ended, block.starts[place] + stop - block.own[place], self._instance.end + 1)

    def _blocks(self, order: _Array, worker: _Array, most: int) -> Iterator[tuple[_Array, _Block]]:
        """Yield the rows of a few workers at a time, in the order of workers.

        ``most`` is an upper bound on the numbers of rows. It limits the number of workers whose times fit 64 bits.
        """
        ups, offsets = self._availability.ups, self._availability.offsets
        span = 2 * (max(most, int(ups.max(initial=0))) + 1)
        size = max(1, min(_BLOCK, 2**62 // span))
        lows = np.unique(worker // size) * size
        for low, start, stop in zip(
            lows.tolist(), np.searchsorted(worker, lows), np.searchsorted(worker, lows + size), strict=True
        ):
            part = offsets[low : low + size + 1]
            if part[-1] > part[0]:
                yield order[start:stop], _Block(ups[part[0] : part[-1]], part - part[0], worker[start:stop], low, span)


class _Block:
    """Rows of a few workers, and the intervals of these workers in one increasing sequence.

    The numbers of worker j are shifted by j times ``span``, which is more than twice every number.
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

    def last_begun(self, time: _Array) -> tuple[_Array, npt.NDArray[np.bool_]]:
        """Return for each row the last interval of its worker that begins by a time, and whether there is one."""
        place = np.searchsorted(self._keys, self.lift + time, side="right") - 1
        is_begun = place >= self._first[self.worker]
        return np.where(is_begun, place, 0), is_begun


def _check_rung(instance: Instance, contacts: Contacts, run: Contacts, *, is_stream: bool) -> _Broken | None:
    """Check H2 and H1, row by row."""
    seconds, counts = np.unique(np.append(run.time, -1), return_counts=True)
    place = np.searchsorted(seconds, contacts.time, side="right") - 1
    in_second = np.arange(len(contacts)) - np.searchsorted(contacts.time, contacts.time)
    is_known = seconds[place] == contacts.time
    is_more = in_second >= np.where(is_known, counts[place], 0)
    is_foreign = np.zeros(len(contacts), dtype=bool)
    if is_stream:
        num = instance.num_workers
        is_valid = (run.worker >= 0) & (run.worker < num)
        made = np.sort(np.searchsorted(seconds, run.time[is_valid]) * num + run.worker[is_valid])
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
