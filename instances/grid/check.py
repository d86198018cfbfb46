"""The independent checker: S1 to S6 from the instance and the schedule's text alone (docs/grid/model.md section 4).

It shares no code with any solver or simulator, so that a mistake of theirs cannot hide here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hindsched.instances.errors import InputError
from hindsched.instances.grid.model import Instance, Ints
from hindsched.instances.grid.schedule import SCHEDULE_FORMATS, Schedule, node_runs
from hindsched.instances.verdict import Verdict

__all__ = ["Outcome", "check_schedule"]

_KEYS = {"format", "instance", "allocations"}
_Runs = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a valid schedule achieves.

    Parameters
    ----------
    jobs
        Jobs of the instance.
    failed
        Those without allocation, which never run.
    total_wait
        Slots from submission to start, summed over the others.
    """

    jobs: int
    failed: int
    total_wait: int

    def __str__(self) -> str:
        return f"{self.jobs} jobs, {self.failed} failed, total wait {self.total_wait}"


def check_schedule(instance: Instance, schedule: Schedule) -> Verdict:
    """Judge a schedule and name the first rule of S1 to S6 that it breaks.

    Asked in this order: S1 form (keys, fingerprint, a list); S2 one entry per job; then job by job S1 (null, or a
    start and a text), S3 no start before the submission, S1 (the node text), S4 nodes strictly ascending and below
    M, S5 exactly the job's width; at last S6, no node runs two jobs in one slot, at the earliest slot and there the
    lowest node.

    Parameters
    ----------
    instance
        The instance.
    schedule
        The schedule; another fingerprint than the instance's breaks S1.

    Returns
    -------
    Verdict
        Its time is the slot where S6 breaks, or the start of the job that breaks S3, S4 or S5; else None. Its
        outcome is an `Outcome`, None for a schedule that is refused.

    Notes
    -----
    O(A log A) for A allocated nodes, counted by stretches of nodes that all entries treat alike.

    Examples
    --------
    >>> pair = Instance(nodes=3, slot_s=60, submit=[0, 0], width=[2, 2], length=[5, 1])
    >>> print(check_schedule(pair, Schedule.of(pair, [0, 4], [[0, 1], [1, 2]])).reason)
    node 1 runs jobs 0 and 1
    >>> print(check_schedule(pair, Schedule.of(pair, [0, 5], [[0, 1], [1, 2]])).outcome)
    2 jobs, 0 failed, total wait 5
    """
    starts: list[int] = []
    held: list[_Runs] = []
    jobs: list[int] = []
    try:
        entries = _entries(instance, schedule.document)
        for j, (entry, (submit, width, _)) in enumerate(zip(entries, instance.rows(), strict=True)):
            if entry is None:
                continue
            start, text = _typed(j, entry)
            if start < submit:
                raise _BrokenRule("S3", f"job {j} starts before its submission in slot {submit}", start)
            runs = _runs(j, text)
            _check_nodes(j, runs, start, width, instance.nodes)
            jobs.append(j)
            starts.append(start)
            held.append(runs)
        _check_overlap(jobs, starts, instance.length[jobs].tolist(), held)
    except _BrokenRule as broken:
        return Verdict(broken.slot, broken.rule, broken.reason, None)
    total_wait = sum(starts) - sum(instance.submit[jobs].tolist())
    return Verdict(None, None, None, Outcome(len(instance), len(instance) - len(jobs), total_wait))


class _BrokenRule(Exception):  # noqa: N818 - a finding that ends the check, not an error
    def __init__(self, rule: str, reason: str, slot: int | None = None) -> None:
        super().__init__(rule, reason)
        self.rule = rule
        self.reason = reason
        self.slot = slot


def _entries(instance: Instance, document: Mapping[str, Any]) -> list[Any]:
    """S1 and S2 of the file as a whole."""
    for key in sorted(_KEYS - document.keys()):
        raise _BrokenRule("S1", f"missing key {key}")
    for key in document:
        if key not in _KEYS:
            raise _BrokenRule("S1", f"unknown key {key!r}")
    if document["format"] not in SCHEDULE_FORMATS:
        raise _BrokenRule("S1", f'another format than "{SCHEDULE_FORMATS[0]}"')
    if document["instance"] != instance.fingerprint:
        raise _BrokenRule("S1", "another fingerprint than the instance's")
    entries = document["allocations"]
    if not isinstance(entries, list):
        raise _BrokenRule("S1", "allocations is no list")
    if len(entries) != len(instance):
        raise _BrokenRule("S2", f"{len(entries)} entries for {len(instance)} jobs")
    return entries


def _typed(j: int, entry: object) -> tuple[int, str]:
    """S1 of one entry that is not null."""
    if isinstance(entry, list) and len(entry) == 2 and type(entry[0]) is int and type(entry[1]) is str:
        return entry[0], entry[1]
    raise _BrokenRule("S1", f"the entry of job {j} is neither null nor a start and a node text")


def _runs(j: int, text: str) -> _Runs:
    """S1 of one node text."""
    try:
        return node_runs(text)
    except InputError as error:
        raise _BrokenRule("S1", f"job {j}: {error.expected}") from None


def _check_nodes(j: int, runs: _Runs, start: int, width: int, nodes: int) -> None:
    """S4 and S5."""
    last = -1
    for first, final in runs:
        if first <= last:
            raise _BrokenRule("S4", f"job {j}: node {first} stands after node {last}", start)
        if final >= nodes:
            raise _BrokenRule("S4", f"job {j}: node {final}, but there are {nodes}", start)
        last = final
    count = sum(final - first + 1 for first, final in runs)
    if count != width:
        raise _BrokenRule("S5", f"job {j} has {count} nodes, but width {width}", start)


def _check_overlap(jobs: list[int], starts: list[int], lengths: list[int], held: list[_Runs]) -> None:
    """S6, at the earliest slot and there the lowest node.

    On each node the runs are sorted by start. Up to the first overlap they are disjoint, so it lies between
    neighbours of this order; so the earliest of all overlaps of neighbours is the earliest overlap there is.
    """
    if not jobs:
        return
    ends = [start + length for start, length in zip(starts, lengths, strict=True)]
    ticks = {tick: rank for rank, tick in enumerate(sorted({*starts, *ends}))}  # a start may have any size
    entry, node = _by_stretch(held)
    start = np.array([ticks[tick] for tick in starts], dtype=np.int64)[entry]
    end = np.array([ticks[tick] for tick in ends], dtype=np.int64)[entry]
    order = np.lexsort((entry, start, node))
    entry, node, start, end = entry[order], node[order], start[order], end[order]
    clash = np.flatnonzero((node[1:] == node[:-1]) & (start[1:] < end[:-1])) + 1
    if clash.size:
        first = clash[np.lexsort((entry[clash], node[clash], start[clash]))[0]]
        pair = sorted((jobs[entry[first - 1]], jobs[entry[first]]))
        where = starts[entry[first]]
        raise _BrokenRule("S6", f"node {node[first]} runs jobs {pair[0]} and {pair[1]}", where)


def _by_stretch(held: list[_Runs]) -> tuple[Ints, Ints]:
    """Return pairs (entry, first node of a stretch), stretches being the nodes between neighbouring ends of runs."""
    flat = np.array([(i, a, b + 1) for i, runs in enumerate(held) for a, b in runs], dtype=np.int64)
    cuts = np.unique(flat[:, 1:])
    low, high = np.searchsorted(cuts, flat[:, 1]), np.searchsorted(cuts, flat[:, 2])
    counts = high - low
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(flat[:, 0], counts), cuts[np.repeat(low, counts) + within]
