"""The independent checker: S1-S9 checked from instance and schedule text (docs/grid/model.md section 4).

The checker shares no code with solvers or simulators, so it does not share their mistakes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hindsched.instances.errors import InputError
from hindsched.instances.grid.model import Instance, Ints
from hindsched.instances.grid.schedule import SCHEDULE_FORMATS, Schedule, node_runs
from hindsched.instances.verdict import Verdict

__all__ = ["Outcome", "check_schedule"]

_KEYS = {"format", "instance", "allocations"}
_EVENT_KEYS = {"outages", "cancelled", "stopped"}
_Runs = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a valid schedule.

    Parameters
    ----------
    jobs
        Number of jobs of the instance.
    failed
        Number of jobs without an allocation, which never run to their end.
    total_wait
        Slots from submission to start, summed over the other jobs.
    """

    jobs: int
    failed: int
    total_wait: int

    def __str__(self) -> str:
        return f"{self.jobs} jobs, {self.failed} failed, total wait {self.total_wait}"


def check_schedule(instance: Instance, schedule: Schedule) -> Verdict:
    """Check a schedule and report the first rule that is broken.

    The rules are checked in this order:

    - S1: keys, fingerprint, and a list of allocations; S2: one entry per job.
    - Job by job S1: null, or a start and a node text; S3: no start before the submission; S1: the node text; S4: nodes
      strictly ascending and below M; S5: exactly the job's width.
    - With events, outage by outage, cancelled job by cancelled job, and stopped run by stopped run, the form (S1), and
      of stopped runs S3 to S5. S8: a run stops before its end, in the slot in which one of its nodes fails or its job
      is cancelled, and before the next run of the job. S9: a cancelled job does not run from that slot on.
    - S6: no node runs two jobs in a slot; S7: none runs a job while it is down. The earliest such slot is reported, and
      in it the lowest node.

    Parameters
    ----------
    instance
        The instance.
    schedule
        The schedule. A fingerprint that is not the instance's breaks S1.

    Returns
    -------
    Verdict
        Its time is the slot in which S6 or S7 is broken, or the start of the run that breaks another rule from S3 on;
        otherwise None.
        Its outcome is an `Outcome`, or None if a rule is broken.

    Notes
    -----
    O(A log A) for A allocated nodes. Nodes that occur in the same entries are treated as one.

    Examples
    --------
    >>> pair = Instance(nodes=3, slot_s=60, submit=[0, 0], width=[2, 2], length=[5, 1])
    >>> print(check_schedule(pair, Schedule.of(pair, [0, 4], [[0, 1], [1, 2]])).reason)
    node 1 runs jobs 0 and 1
    >>> print(check_schedule(pair, Schedule.of(pair, [0, 5], [[0, 1], [1, 2]])).outcome)
    2 jobs, 0 failed, total wait 5
    """
    ran: list[_Run] = []
    try:
        entries = _entries(instance, schedule.document)
        for j, entry in enumerate(entries):
            if entry is not None:
                start, text = _start_and_text(j, entry)
                ran.append(_run(instance, j, start, start + int(instance.length[j]), text))
        others = _event_runs(instance, schedule.document, ran) if "outages" in schedule.document else []
        _check_overlap([*ran, *others])
    except _BrokenRule as broken:
        return Verdict(broken.slot, broken.rule, broken.reason, None)
    total_wait = sum(run.start - int(instance.submit[run.job]) for run in ran)
    return Verdict(None, None, None, Outcome(len(instance), len(instance) - len(ran), total_wait))


class _Run(NamedTuple):
    """What a job, or an outage as job -1, occupies: slots start to end - 1 on nodes."""

    job: int
    start: int
    end: int
    nodes: _Runs


class _BrokenRule(Exception):  # noqa: N818 - a finding that ends the check, not an error
    def __init__(self, rule: str, reason: str, slot: int | None = None) -> None:
        super().__init__(rule, reason)
        self.rule = rule
        self.reason = reason
        self.slot = slot


def _entries(instance: Instance, document: Mapping[str, Any]) -> list[Any]:
    """Return the list of allocations, after the checks of S1 and S2 that concern the whole file."""
    has_events = document.get("format") == SCHEDULE_FORMATS[1]
    keys = _KEYS | _EVENT_KEYS if has_events else _KEYS
    for key in sorted(keys - document.keys()):
        raise _BrokenRule("S1", f"missing key {key}")
    for key in document:
        if key not in keys:
            raise _BrokenRule("S1", f"unknown key {key!r}")
    if document["format"] not in SCHEDULE_FORMATS:
        raise _BrokenRule("S1", f'another format, expected "{SCHEDULE_FORMATS[0]}"')
    if document["instance"] != instance.fingerprint:
        raise _BrokenRule("S1", "another fingerprint, expected the instance's")
    entries = document["allocations"]
    if not isinstance(entries, list):
        raise _BrokenRule("S1", "allocations is not a list")
    if len(entries) != len(instance):
        raise _BrokenRule("S2", f"{len(entries)} entries for {len(instance)} jobs")
    return entries


def _start_and_text(j: int, entry: object) -> tuple[int, str]:
    """Return the start and the node text of an entry that is not null (S1)."""
    if isinstance(entry, list) and len(entry) == 2 and type(entry[0]) is int and type(entry[1]) is str:
        return entry[0], entry[1]
    raise _BrokenRule("S1", f"the entry of job {j} is neither null nor a start and a node text")


def _run(instance: Instance, j: int, start: int, end: int, text: str) -> _Run:
    """Return a run of a job, after the checks S3, S1 of the node text, S4 and S5."""
    submit, width = int(instance.submit[j]), int(instance.width[j])
    if start < submit:
        raise _BrokenRule("S3", f"job {j} starts before its submission in slot {submit}", start)
    runs = _runs(j, text)
    _check_nodes(j, runs, start, width, instance.nodes)
    return _Run(j, start, end, runs)


def _event_runs(instance: Instance, document: Mapping[str, Any], ran: list[_Run]) -> list[_Run]:
    """Return the stopped runs, and the outages as runs, after the checks S1, S3 to S5, S8 and S9 of events."""
    outages = _integers(document, "outages", 3)
    for before, (node, begin, end) in zip([[-1, 0, 0], *outages], outages, strict=False):
        if not (0 <= node < instance.nodes and 0 <= begin < end and (before[0] < node or before[2] <= begin)):
            raise _BrokenRule("S1", f"outage {[node, begin, end]}, expected nodes and disjoint intervals in order")
        if before[0] > node:
            raise _BrokenRule("S1", f"outage of node {node} after one of node {before[0]}")
    cancelled = _integers(document, "cancelled", 2)
    last = -1
    for j, slot in cancelled:
        if not (last < j < len(instance) and slot >= int(instance.submit[j])):
            raise _BrokenRule("S1", f"cancelled {[j, slot]}, expected jobs in order, after their submission")
        last = j
    failures = {(node, begin) for node, begin, _ in outages}
    cancelled_in = {row[0]: row[1] for row in cancelled}
    stopped = []
    for j, start, end, text in _stopped(instance, document):
        run = _run(instance, j, start, end, text)
        if not start < end < start + int(instance.length[j]):
            raise _BrokenRule("S8", f"job {j} stops in slot {end}, expected a slot of its run but the first", start)
        nodes = (node for first, final in run.nodes for node in range(first, final + 1))
        if cancelled_in.get(j) != end and not any((node, end) in failures for node in nodes):
            raise _BrokenRule("S8", f"job {j} stops in slot {end} without a failure or a cancellation", start)
        stopped.append(run)
    free_from: dict[int, int] = {}
    for run in sorted([*ran, *stopped], key=lambda run: (run.job, run.start)):
        if run.start < free_from.get(run.job, 0):
            raise _BrokenRule("S8", f"job {run.job} starts again before its run has stopped", run.start)
        free_from[run.job] = run.end
        if run.end > cancelled_in.get(run.job, run.end):
            raise _BrokenRule("S9", f"job {run.job} runs after its cancellation", run.start)
    return [*stopped, *(_Run(-1, begin, end, [(node, node)]) for node, begin, end in outages)]


def _integers(document: Mapping[str, Any], key: str, count: int) -> list[list[int]]:
    """Return a list of rows of integers (S1)."""
    rows = document[key]
    if not isinstance(rows, list):
        raise _BrokenRule("S1", f"{key} is not a list")
    for i, row in enumerate(rows):
        if not (isinstance(row, list) and len(row) == count and all(type(number) is int for number in row)):
            raise _BrokenRule("S1", f"{key}[{i}] is not a list of {count} integers")
    return rows


def _stopped(instance: Instance, document: Mapping[str, Any]) -> list[tuple[int, int, int, str]]:
    """Return the entries of the list of stopped runs (S1)."""
    rows = document["stopped"]
    if not isinstance(rows, list):
        raise _BrokenRule("S1", "stopped is not a list")
    found = []
    for i, row in enumerate(rows):
        if not (isinstance(row, list) and [type(cell) for cell in row] == [int, int, int, str]):
            raise _BrokenRule("S1", f"stopped[{i}] is not a job, a start, an end and a node text")
        if not 0 <= row[0] < len(instance):
            raise _BrokenRule("S1", f"stopped[{i}] is of job {row[0]}, but there are {len(instance)} jobs")
        found.append(tuple(row))
    return found


def _runs(j: int, text: str) -> _Runs:
    """Return the runs of a node text (S1)."""
    try:
        return node_runs(text)
    except InputError as error:
        raise _BrokenRule("S1", f"job {j}: {error.expected}") from None


def _check_nodes(j: int, runs: _Runs, start: int, width: int, nodes: int) -> None:
    """Check S4 and S5 of a job."""
    last = -1
    for first, final in runs:
        if first <= last:
            raise _BrokenRule("S4", f"job {j}: node {first} after node {last}, expected ascending nodes", start)
        if final >= nodes:
            raise _BrokenRule("S4", f"job {j}: node {final}, but there are {nodes} nodes", start)
        last = final
    count = sum(final - first + 1 for first, final in runs)
    if count != width:
        raise _BrokenRule("S5", f"job {j} has {count} nodes, but width {width}", start)


def _check_overlap(ran: list[_Run]) -> None:
    """Check S6 and S7; report the earliest slot with an overlap, and in it the lowest node.

    On each node the runs are sorted by start. The runs before the first overlap are disjoint, so the first overlap is
    between neighbours in this order. Hence the earliest overlap of neighbours is the earliest of all overlaps.
    """
    if not ran:
        return
    jobs, starts, ends, held = (list(column) for column in zip(*ran, strict=True))
    ticks = {tick: rank for rank, tick in enumerate(sorted({*starts, *ends}))}  # a start may have any size
    entry, node = _entries_by_block(held)
    start = np.array([ticks[tick] for tick in starts], dtype=np.int64)[entry]
    end = np.array([ticks[tick] for tick in ends], dtype=np.int64)[entry]
    order = np.lexsort((entry, start, node))
    entry, node, start, end = entry[order], node[order], start[order], end[order]
    clash = np.flatnonzero((node[1:] == node[:-1]) & (start[1:] < end[:-1])) + 1
    if clash.size:
        first = clash[np.lexsort((entry[clash], node[clash], start[clash]))[0]]
        pair = sorted((jobs[entry[first - 1]], jobs[entry[first]]))
        where = starts[entry[first]]
        if pair[0] < 0:
            raise _BrokenRule("S7", f"node {node[first]} is down and runs job {pair[1]}", where)
        raise _BrokenRule("S6", f"node {node[first]} runs jobs {pair[0]} and {pair[1]}", where)


def _entries_by_block(held: list[_Runs]) -> tuple[Ints, Ints]:
    """Return as two columns the pairs of an entry and the first node of a block that it occupies.

    The ends of all runs divide the nodes into blocks, so an entry occupies either all nodes of a block or none.
    """
    flat = np.array([(i, a, b + 1) for i, runs in enumerate(held) for a, b in runs], dtype=np.int64)
    cuts = np.unique(flat[:, 1:])
    low, high = np.searchsorted(cuts, flat[:, 1]), np.searchsorted(cuts, flat[:, 2])
    counts = high - low
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(flat[:, 0], counts), cuts[np.repeat(low, counts) + within]
