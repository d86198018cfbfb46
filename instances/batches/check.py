"""The independent checker of runs and certificates (docs/batches/model.md sections 2 and 4).

It shares no code with any solver or simulator, so that a mistake of theirs cannot hide here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from instances.batches.model import Compute, Instance
from instances.batches.run import NOTHING, Contacts, Run, Rung
from instances.errors import InputError
from instances.verdict import Verdict

__all__ = ["Outcome", "check_run", "outcome_of"]

_Array = npt.NDArray[Any]


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
    `instances.is_made_for`).

    Parameters
    ----------
    instance
        With all availability.
    schedule
        The text.
    of
        The run that a certificate of the rungs ``traffic`` and ``stream`` is measured by.

    Returns
    -------
    Verdict
        Its time is that of the row, None for a row that is no contact; its outcome an `Outcome`, None after a break.

    Raises
    ------
    InputError
        For a rung other than ``free`` without the run it is measured by, or with a run that has a row that is no
        contact.

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
    if of is not None and of.malformed is not None:
        raise InputError(of.malformed.reason, place=f"contacts[{of.malformed.row}]")
    contacts = schedule.contacts
    broken = _misread(instance, contacts)
    if broken is None and schedule.malformed is not None:
        row, reason = schedule.malformed
        return Verdict(None, "F", f"contacts[{row}]: {reason}", None, "second")
    if broken is None:
        broken = _misplaced(instance, contacts)
    if broken is None and of is not None and schedule.rung not in (None, Rung.FREE):
        broken = _beyond_the_rung(contacts, of.contacts, is_stream=schedule.rung is Rung.STREAM)
    if broken is not None:
        return Verdict(int(contacts.time[broken.row]), broken.rule, broken.reason, None, "second")
    return Verdict(None, None, None, outcome_of(instance, contacts), "second")


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
    found = _first(
        (time < instance.start, "V5"),
        (time >= instance.end, "V6"),
        (~timelines.are_available(time), "V1"),
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
        self._worker = worker[self._order]
        self._size = worker.size

    def are_available(self, time: _Array) -> npt.NDArray[np.bool_]:
        """Return for each row whether its worker is available at this time."""
        available = np.zeros(self._size, dtype=bool)
        for j, group in _groups(self._worker):
            rows = self._order[group]
            ups = self._availability.of_worker(j)
            place = np.searchsorted(ups[:, 0], time[rows], side="right") - 1
            inside = place >= 0
            inside[inside] = time[rows][inside] < ups[place[inside], 1]
            available[rows] = inside
        return available

    def ends(self, time: _Array, sent: _Array) -> _Array:
        """Return the true ends of the tasks sent in these rows (V2), ``NOTHING`` elsewhere and after the run's end.

        In the worker's own time u, which counts the seconds in which tasks advance, task k ends at
        v_k = max(u_k, v_{k-1}) + C, so v_k - k C is the running maximum of u_k - (k - 1) C.
        """
        stop = int(sent[-1]) + 1 if sent.size else 0
        is_sent = np.zeros(self._size, dtype=bool)
        is_sent[sent] = True
        ends = np.full(self._size, NOTHING, dtype=np.int64)
        for j, group in _groups(self._worker):
            rows = self._order[group]
            rows = rows[is_sent[rows]] if stop else rows[:0]
            if rows.size:
                ends[rows] = self._ends_of(j, time[rows].astype(np.int64))
        return ends

    def _ends_of(self, j: int, time: _Array) -> _Array:
        c = self._instance.c[j]
        ups = self._availability.of_worker(j).astype(np.int64)
        reliable = self._instance.compute is Compute.RELIABLE
        own = np.concatenate(([0], np.cumsum(ups[:, 1] - ups[:, 0])))  # own time before each interval, and at the end
        place = np.searchsorted(ups[:, 0], time, side="right") - 1
        begin = time if reliable else own[place] + time - ups[place, 0]
        number = np.arange(time.size, dtype=np.int64)
        stops = np.maximum.accumulate(begin - number * c) + (number + 1) * c
        if reliable:
            ends = stops
        else:
            place = np.searchsorted(own[1:], stops, side="left")
            never = place == len(ups)
            place[never] = 0
            ends = np.where(never, self._instance.end + 1, ups[place, 0] + stops - own[place])
        return np.where(ends <= self._instance.end, ends, NOTHING)


def _beyond_the_rung(contacts: Contacts, run: Contacts, *, is_stream: bool) -> _Broken | None:
    """H2 and H1, row by row."""
    made = set(zip(run.time.tolist(), run.worker.tolist(), strict=True)) if is_stream else set()
    left = Counter(run.time.tolist())
    for row, (time, worker) in enumerate(zip(contacts.time.tolist(), contacts.worker.tolist(), strict=True)):
        if is_stream and (time, worker) not in made:
            return _Broken(row, "H2", f"the run has no contact of worker {worker} in this second")
        if left[time] == 0:
            return _Broken(row, "H1", "more contacts than the run has in this second")
        left[time] -= 1
    return None
