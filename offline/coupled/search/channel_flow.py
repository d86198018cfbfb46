"""Rule R3 as a flow: whether the master can send all units in time.

In an iteration that starts in slot s and computes from slot c on, participant j needs ``need[j]`` units, first of
program, then of data. It receives at most one in each UP slot of [first_j, c), and the master sends at most n_com in a
slot. That is a transportation problem: source - participant (capacity need_j) - UP slot (1) - sink (n_com). All units
can be sent iff a flow saturates the participants. Transfers are preemptive and have no deadline before c, so the order
of program and data is no further condition.

If at most n_com participants need units, each may use all its UP slots. Otherwise slots are filled in order, least
slack first, and the missing units are sent along augmenting paths (breadth first over participants), which is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Bytes, Flags, Ints
from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.search.effort import LIMIT, SPENT
from hindsched.offline.coupled.search.least_slack_first import least_slack
from hindsched.offline.coupled.search.state_tables import Table

YES, NO, UNDECIDED = 1, 0, -1
"""Answers of a flow query; UNDECIDED: the effort limit was met before an answer."""


class Participants(NamedTuple):
    """The participants of an iteration: first the members, then the stand-by workers.

    Participant j is ``worker[j]``. It can receive from slot ``receive_from[j]`` on, needs ``program[j]`` units of
    program and can hold ``most[j]`` tasks if it is served alone, 0 on stand-by. ``tasks[j]`` is a result.
    """

    worker: Ints
    receive_from: Ints
    program: Ints
    most: Ints
    tasks: Ints


class Flow(NamedTuple):
    """The flow of the last `send`, and scratch memory.

    For n participants and slots s..c-1, ``sent[(t - s) * n + j]`` says whether the master serves participant j in slot
    t, ``load[t - s]`` how many it serves in t, and ``left[j]`` how many units j still needs. ``served`` and ``slack``
    are for one slot. ``is_seen`` to ``queue`` are for the breadth-first search of a path, which reaches j from
    ``before[j]`` because j gives up slot ``through[j]``. ``need`` and ``room`` are for task counts.
    """

    effort: Ints
    sent: Bytes
    load: Ints
    left: Ints
    served: Ints
    slack: Ints
    is_seen: Flags
    is_scanned: Flags
    before: Ints
    through: Ints
    queue: Ints
    need: Ints
    room: Ints


def make_participants(workers: int) -> Participants:
    """Return arrays for this many participants."""
    return Participants(*(np.zeros(workers, np.int64) for _ in Participants._fields))


def make_flow(workers: int, slots: int, effort: Ints) -> Flow:
    """Return arrays for these numbers of workers and slots."""

    def ints(n: int) -> Ints:
        return np.zeros(n, np.int64)

    return Flow(
        effort=effort,
        sent=np.zeros(workers * slots, np.uint8),
        load=ints(slots),
        left=ints(workers),
        served=ints(workers),
        slack=ints(workers),
        is_seen=np.zeros(workers, np.bool_),
        is_scanned=np.zeros(slots, np.bool_),
        before=ints(workers),
        through=ints(workers),
        queue=ints(workers),
        need=ints(workers),
        room=ints(workers),
    )


@kernel
def send(table: Table, flow: Flow, parts: Participants, need: Ints, n: int, n_com: int, s: int, c: int) -> int:
    """Find slots of s..c-1 in which each participant j < n receives ``need[j]`` units.

    Returns YES with the slots in `flow`, NO, or UNDECIDED if the effort limit is met before.
    """
    left = flow.left
    for j in range(n):
        left[j] = need[j]
        if need[j] > 0 and not _has_slots(table, parts, need, j, c):
            return NO
    flow.effort[SPENT] += 1 + n * (c - s) // 64
    _send_by_slack(table, flow, parts, n, n_com, s, c)
    for j in range(n):
        while left[j] > 0:
            if flow.effort[SPENT] > flow.effort[LIMIT]:
                return UNDECIDED
            if not augment(table, flow, parts, n, n_com, s, c, j):
                return NO
            left[j] -= 1
    return YES


@kernel
def _has_slots(table: Table, parts: Participants, need: Ints, j: int, c: int) -> bool:
    """Return whether participant j has as many UP slots before c as it needs units."""
    q, first = parts.worker[j], parts.receive_from[j]
    return bool(first < c and table.cnt[c, q] - table.cnt[first, q] >= need[j])


@inlined
def _send_by_slack(table: Table, flow: Flow, parts: Participants, n: int, n_com: int, s: int, c: int) -> None:
    """Fill the slots s..c-1 in order, each with the participants of least slack."""
    sent, load, left, cnt = flow.sent, flow.load, flow.left, table.cnt
    served, slack = flow.served, flow.slack
    waiting = 0
    for j in range(n):
        if left[j] > 0:
            waiting += 1
    for i in range(n * (c - s)):
        sent[i] = 0
    for i in range(c - s):
        load[i] = 0
    for t in range(s, c):
        if waiting == 0:
            return
        num = least_slack(cnt, parts.worker, parts.receive_from, left, served, slack, n, n_com, t, c)
        for i in range(num):
            j = served[i]
            sent[(t - s) * n + j] = 1
            left[j] -= 1
            if left[j] == 0:
                waiting -= 1
        load[t - s] = num


@kernel
def augment(table: Table, flow: Flow, parts: Participants, n: int, n_com: int, s: int, c: int, j: int) -> bool:
    """Send one more unit to participant `j` along an augmenting path; return False if there is none.

    The search is breadth first from j. A participant reaches the slots in which it can receive; a slot with a busy
    channel reaches the participants that it serves, which may give it up for another slot.
    """
    sent, load, cnt = flow.sent, flow.load, table.cnt
    is_seen, is_scanned, before, through, queue = flow.is_seen, flow.is_scanned, flow.before, flow.through, flow.queue
    for b in range(n):
        is_seen[b] = False
    for i in range(c - s):
        is_scanned[i] = False
    queue[0] = j
    is_seen[j] = True
    head, tail = 0, 1
    cost = n + c - s
    while head < tail:
        a = queue[head]
        head += 1
        q, first = parts.worker[a], parts.receive_from[a]
        cost += c - first
        for t in range(first, c):
            i = t - s
            if is_scanned[i] or sent[i * n + a] or cnt[t + 1, q] == cnt[t, q]:
                continue
            if load[i] < n_com:  # a free channel: each participant on the path takes the slot of its successor
                load[i] += 1
                sent[i * n + a] = 1
                while a != j:
                    i = through[a]
                    sent[i * n + a] = 0
                    a = before[a]
                    sent[i * n + a] = 1
                flow.effort[SPENT] += 1 + cost // 64
                return True
            is_scanned[i] = True
            cost += n
            for b in range(n):
                if sent[i * n + b] and not is_seen[b]:
                    is_seen[b] = True
                    before[b] = a
                    through[b] = i
                    queue[tail] = b
                    tail += 1
    flow.effort[SPENT] += 1 + cost // 64
    return False


@kernel
def can_send(table: Table, flow: Flow, parts: Participants, need: Ints, n: int, n_com: int, s: int, c: int) -> int:
    """Return the answer of `send`, without computing the slots where simple counts decide it."""
    busy = 0
    total = 0
    for j in range(n):
        if need[j] > 0:
            busy += 1
            total += need[j]
            if not _has_slots(table, parts, need, j, c):
                return NO
    if busy <= n_com:
        return YES
    if total > n_com * (c - s):
        return NO
    return send(table, flow, parts, need, n, n_com, s, c)
