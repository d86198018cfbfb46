"""Rule R3 as a flow: whether the master can send all this in time.

In an iteration that starts in slot s and computes from slot c on, worker j of a given list needs
``need[j]`` units (slots of program, then of data), one at most in each UP slot of [lo_j, c), and
the master sends at most n_com units in a slot. That is a transportation problem: source - worker
(capacity need_j) - UP slot (1) - sink (n_com), and everything can be sent iff a flow saturates the
workers. Transfers are preemptive and nobody has a deadline before c, so program-before-data is no
further condition: each worker's first units are its program.

Method. If at most n_com workers need anything, each may use all its UP slots. Otherwise slots are
filled in order, serving the workers with least slack first, and whatever is still missing is sent
along augmenting paths (breadth first over workers, rerouting units of others), which is exact.

Task counts. The vectors of needs that can be met are the integral points of a polymatroid (they
are the saturable demands of a bipartite flow). If data were divisible, task counts for a set would
therefore be found by extending any feasible vector as long as possible: a maximal one has maximum
sum. Data comes in packets of T_data units; with T_data = 1 the extension is the answer, otherwise
it is a necessary condition, checked before the whole task counts are enumerated (`share`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from offline.coupled.native.constants import LIMIT, NO, SPENT, UNDECIDED, YES
from offline.coupled.native.kernels import Bytes, Flags, Ints, kernel
from offline.coupled.native.parameters import Problem
from offline.coupled.native.state_tables import Table


class Flow(NamedTuple):
    """Working memory of the questions, and the answer to the last one of `send`.

    Of n participants and slots s..c-1, ``sent[(t - s) * n + j]`` tells whether the master serves participant j in slot
    t, and ``load[t - s]`` how many it serves then.
    """

    effort: Ints
    sent: Bytes
    load: Ints
    left: Ints
    need: Ints
    room: Ints
    served: Ints
    slack: Ints
    seen: Flags
    before: Ints
    through: Ints
    queue: Ints
    scanned: Flags


def make_flow(workers: int, slots: int, effort: Ints) -> Flow:
    """Working memory for so many workers and slots."""

    def ints(n: int) -> Ints:
        return np.zeros(n, np.int64)

    return Flow(
        effort=effort,
        sent=np.zeros(workers * slots, np.uint8),
        load=ints(slots),
        left=ints(workers),
        need=ints(workers),
        room=ints(workers),
        served=ints(workers),
        slack=ints(workers),
        seen=np.zeros(workers, np.bool_),
        before=ints(workers),
        through=ints(workers),
        queue=ints(workers),
        scanned=np.zeros(slots, np.bool_),
    )


@kernel
def _augment(tab: Table, flow: Flow, n_com: int, s: int, c: int, part: Ints, lo: Ints, n: int, j: int) -> bool:
    """Send one more unit to participant `j`, rerouting units of others; False if impossible."""
    sent, load, cnt = flow.sent, flow.load, tab.cnt
    seen, before, through, scanned, queue = flow.seen, flow.before, flow.through, flow.scanned, flow.queue
    for b in range(n):
        seen[b] = False
    for i in range(c - s):
        scanned[i] = False
    queue[0] = j
    seen[j] = True
    head, tail = 0, 1
    cost = n + c - s
    while head < tail:
        a = queue[head]
        head += 1
        q = part[a]
        cost += c - lo[a]
        for t in range(lo[a], c):
            i = t - s
            if scanned[i] or sent[i * n + a] or cnt[t + 1, q] == cnt[t, q]:
                continue
            if load[i] < n_com:
                load[i] += 1
                sent[i * n + a] = 1
                while a != j:
                    i = through[a]
                    sent[i * n + a] = 0
                    a = before[a]
                    sent[i * n + a] = 1
                flow.effort[SPENT] += 1 + cost // 64
                return True
            scanned[i] = True
            cost += n
            for b in range(n):
                if sent[i * n + b] and not seen[b]:
                    seen[b] = True
                    before[b] = a
                    through[b] = i
                    queue[tail] = b
                    tail += 1
    flow.effort[SPENT] += 1 + cost // 64
    return False


@kernel
def send(tab: Table, flow: Flow, n_com: int, s: int, c: int, part: Ints, need: Ints, lo: Ints, n: int) -> int:
    """Find out in which slots to send, so that each participant j gets ``need[j]`` units before slot c.

    Returns YES, with the answer in `flow`, or NO; UNDECIDED if the effort limit was met before.
    """
    sent, load, left, served, slack = flow.sent, flow.load, flow.left, flow.served, flow.slack
    cnt = tab.cnt
    waiting = 0
    for j in range(n):
        left[j] = need[j]
        if left[j] > 0:
            waiting += 1
            if lo[j] >= c or cnt[c, part[j]] - cnt[lo[j], part[j]] < left[j]:
                return NO
    for i in range(n * (c - s)):
        sent[i] = 0
    for i in range(c - s):
        load[i] = 0
    flow.effort[SPENT] += 1 + n * (c - s) // 64
    for t in range(s, c):
        if waiting == 0:
            return YES
        k = 0
        for j in range(n):
            q = part[j]
            if left[j] == 0 or t < lo[j] or cnt[t + 1, q] == cnt[t, q]:
                continue
            v = cnt[c, q] - cnt[t, q] - left[j]
            if k < n_com:
                i = k
                k += 1
            elif slack[k - 1] <= v:
                continue
            else:
                i = k - 1
            while i > 0 and slack[i - 1] > v:
                slack[i] = slack[i - 1]
                served[i] = served[i - 1]
                i -= 1
            slack[i] = v
            served[i] = j
        for i in range(k):
            j = served[i]
            sent[(t - s) * n + j] = 1
            left[j] -= 1
            if left[j] == 0:
                waiting -= 1
        load[t - s] = k
    for j in range(n):
        while left[j] > 0:
            if flow.effort[SPENT] > flow.effort[LIMIT]:
                return UNDECIDED
            if not _augment(tab, flow, n_com, s, c, part, lo, n, j):
                return NO
            left[j] -= 1
    return YES


@kernel
def can_send(tab: Table, flow: Flow, n_com: int, s: int, c: int, part: Ints, need: Ints, lo: Ints, n: int) -> int:
    """Answer the same question, without the slots where that is easy."""
    busy = 0
    total = 0
    for j in range(n):
        if need[j] > 0:
            busy += 1
            total += need[j]
            if lo[j] >= c or tab.cnt[c, part[j]] - tab.cnt[lo[j], part[j]] < need[j]:
                return NO
    if busy <= n_com:
        return YES
    if total > n_com * (c - s):
        return NO
    return send(tab, flow, n_com, s, c, part, need, lo, n)


@kernel
def share(
    tab: Table,
    prob: Problem,
    flow: Flow,
    s: int,
    c: int,
    part: Ints,
    ns: int,
    n: int,
    prog: Ints,
    caps: Ints,
    lo: Ints,
    x: Ints,
) -> int:
    """Find task counts with which everything can be sent.

    Participants ``part[:ns]`` compute and ``part[ns:n]`` are on stand-by; ``prog[j]`` is what j
    still needs of the program and ``caps[j]`` the most tasks j could take if it were alone.

    Returns
    -------
    int
        YES, and then ``x[:ns]`` sums to m with 1 <= x_j <= caps_j; NO; or UNDECIDED if the effort limit was met
        before.
    """
    m, td, n_com = prob.m, prob.t_data, prob.n_com
    need, room = flow.need, flow.room
    busy = 0
    for j in range(n):
        if prog[j] > 0 or (j < ns and td > 0):
            busy += 1
    # First try: one task each, the others to those with most room. Final when nothing binds.
    rest = m - ns
    for j in range(ns):
        x[j] = 1
        room[j] = tab.cnt[c, part[j]] - tab.cnt[lo[j], part[j]] - prog[j] - td
    while rest > 0:
        best = -1
        for j in range(ns):
            if x[j] < caps[j] and (best < 0 or room[j] > room[best]):
                best = j
        if best < 0:
            return NO
        x[best] += 1
        room[best] -= td
        rest -= 1
    if busy <= n_com:
        return YES
    for j in range(n):
        need[j] = prog[j] + (x[j] * td if j < ns else 0)
    answer = can_send(tab, flow, n_com, s, c, part, need, lo, n)
    if answer != NO or td == 0:
        return answer
    # Divisible data: extend one task each as long as possible.
    total = m * td
    for j in range(n):
        total += prog[j]
        if j < ns:
            need[j] = prog[j] + td
    if total > n_com * (c - s):
        return NO
    answer = send(tab, flow, n_com, s, c, part, need, lo, n)
    if answer != YES:
        return answer
    want = (m - ns) * td
    for j in range(ns):
        x[j] = 1
        extra = (caps[j] - 1) * td
        while want > 0 and extra > 0 and _augment(tab, flow, n_com, s, c, part, lo, n, j):
            if flow.effort[SPENT] > flow.effort[LIMIT]:
                return UNDECIDED
            want -= 1
            extra -= 1
            if td == 1:
                x[j] += 1
    if want > 0:
        return NO
    if td == 1:
        return YES
    # Whole tasks: x_0, x_1, ... in turn, largest first, while the others hold one task each.
    for j in range(ns):
        x[j] = 1
    left = m - ns  # tasks beyond one each that are not given out
    j = 0
    x[0] = min(caps[0], 1 + left) + 1
    left -= x[0] - 1
    while j >= 0:
        x[j] -= 1
        left += 1
        later = 0
        for i in range(j + 1, ns):
            later += caps[i] - 1
        if x[j] < 1 or later < left:
            left += x[j] - 1
            x[j] = 1
            j -= 1
            continue
        flow.effort[SPENT] += 1
        if flow.effort[SPENT] > flow.effort[LIMIT]:
            return UNDECIDED
        for i in range(ns):
            need[i] = prog[i] + x[i] * td
        answer = can_send(tab, flow, n_com, s, c, part, need, lo, n)
        if answer == UNDECIDED:
            return UNDECIDED
        if answer == NO:
            continue
        if left == 0:
            return YES
        j += 1
        x[j] = min(caps[j], 1 + left) + 1
        left -= x[j] - 1
    return NO
