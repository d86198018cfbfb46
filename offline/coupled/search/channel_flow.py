"""Rule R3 as a flow: whether the master can send all this in time.

In an iteration that starts in slot s and computes from slot c on, worker j of a given list needs
``need[j]`` units (slots of program, then of data), one at most in each UP slot of [first_j, c), and
the master sends at most n_com units in a slot. That is a transportation problem: source - worker
(capacity need_j) - UP slot (1) - sink (n_com), and everything can be sent iff a flow saturates the
workers. Transfers are preemptive and nobody has a deadline before c, so program-before-data is no
further condition: each worker's first units are its program.

Method. If at most n_com workers need anything, each may use all its UP slots. Otherwise slots are
filled in order, serving the workers with least slack first, and whatever is still missing is sent
along augmenting paths (breadth first over workers, rerouting units of others), which is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Bytes, Flags, Ints
from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.search.constants import LIMIT, NO, SPENT, UNDECIDED, YES
from hindsched.offline.coupled.search.least_slack_first import least_slack
from hindsched.offline.coupled.search.state_tables import Table


class Participants(NamedTuple):
    """Who takes part in an iteration: those that compute come first, then those on stand-by.

    Of participant j: ``worker[j]``; the slot it may be served from; the units of program it still needs; the most tasks
    it could hold if it were alone, 0 on stand-by; and, as a result, the tasks it is given.
    """

    worker: Ints
    receive_from: Ints
    program: Ints
    most: Ints
    tasks: Ints


class Flow(NamedTuple):
    """Working memory, and the result of the last `send`.

    Of n participants and slots s..c-1, ``sent[(t - s) * n + j]`` tells whether the master serves participant j in slot
    t, and ``load[t - s]`` how many it serves then; ``left[j]`` is what is still to be sent to j. ``served`` and
    ``slack`` list those served in a slot, and ``is_seen`` ... ``queue`` are a breadth-first search for a path: a
    participant ``j`` was reached from ``before[j]``, because it gives up the slot ``through[j]``. ``need`` and
    ``room`` are for the task counts.
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
    """Room for so many participants."""
    return Participants(*(np.zeros(workers, np.int64) for _ in Participants._fields))


def make_flow(workers: int, slots: int, effort: Ints) -> Flow:
    """Working memory for so many workers and slots."""

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
    """Find out in which slots to send, so that each participant j < n gets ``need[j]`` units in slots s..c-1.

    Returns YES, with the slots in `flow`, or NO; UNDECIDED if the effort limit was met before.
    """
    left = flow.left
    for j in range(n):
        left[j] = need[j]
        if need[j] > 0 and not _has_slots(table, parts, need, j, c):
            return NO
    flow.effort[SPENT] += 1 + n * (c - s) // 64
    _send_by_slack(table, flow, parts, n, n_com, s, c)
    # What is missing is sent along augmenting paths.
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
    """Return whether participant j has as many UP slots before c as it needs, if nobody else needs any."""
    q, first = parts.worker[j], parts.receive_from[j]
    return bool(first < c and table.cnt[c, q] - table.cnt[first, q] >= need[j])


@inlined
def _send_by_slack(table: Table, flow: Flow, parts: Participants, n: int, n_com: int, s: int, c: int) -> None:
    """Fill the slots s..c-1 in order, each with those that can least wait, until nothing is left to be sent."""
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
    """Send one more unit to participant `j`, rerouting units of others; False if impossible.

    Breadth first from j: a participant reaches a slot in which it could be served too; if the channel is busy then, it
    reaches those that are served in that slot, who could give it up for another one.
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
            if load[i] < n_com:  # a free channel: everybody on the way back to j takes the slot of the next one
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
    """Answer the same question as `send`, without the slots where that is easy."""
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
