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

import numpy as np

from offline.coupled.native.kernels import Bytes, Ints, kernel
from offline.coupled.native.problem import Problem
from offline.coupled.native.windows import Table

YES, NO, UNDECIDED = 1, 0, -1


@kernel
def _augment(
    tab: Table,
    n_com: int,
    s: int,
    c: int,
    part: Ints,
    lo: Ints,
    n: int,
    j: int,
    sent: Bytes,
    load: Ints,
) -> bool:
    """Send one more unit to participant `j`, rerouting units of others; False if impossible."""
    seen = np.zeros(n, np.bool_)
    before = np.full(n, -1, np.int64)
    through = np.full(n, -1, np.int64)
    scanned = np.zeros(c - s, np.bool_)
    queue = np.empty(n, np.int64)
    queue[0] = j
    seen[j] = True
    head, tail = 0, 1
    while head < tail:
        a = queue[head]
        head += 1
        q = part[a]
        for t in range(lo[a], c):
            i = t - s
            if scanned[i] or sent[a, i] or tab.cnt[t + 1, q] == tab.cnt[t, q]:
                continue
            if load[i] < n_com:
                load[i] += 1
                sent[a, i] = 1
                while a != j:
                    i = through[a]
                    sent[a, i] = 0
                    a = before[a]
                    sent[a, i] = 1
                return True
            scanned[i] = True
            for b in range(n):
                if sent[b, i] and not seen[b]:
                    seen[b] = True
                    before[b] = a
                    through[b] = i
                    queue[tail] = b
                    tail += 1
    return False


@kernel
def send(
    tab: Table,
    n_com: int,
    s: int,
    c: int,
    part: Ints,
    need: Ints,
    lo: Ints,
    n: int,
    sent: Bytes,
    load: Ints,
) -> bool:
    """Fill ``sent[j, t - s]`` so that participant j gets ``need[j]`` units before slot c."""
    left = need[:n].copy()
    waiting = 0
    for j in range(n):
        if left[j] > 0:
            waiting += 1
            if lo[j] >= c or tab.cnt[c, part[j]] - tab.cnt[lo[j], part[j]] < left[j]:
                return False
    served = np.empty(n, np.int64)
    slack = np.empty(n, np.int64)
    for t in range(s, c):
        if waiting == 0:
            return True
        k = 0
        for j in range(n):
            q = part[j]
            if left[j] == 0 or t < lo[j] or tab.cnt[t + 1, q] == tab.cnt[t, q]:
                continue
            v = tab.cnt[c, q] - tab.cnt[t, q] - left[j]
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
            sent[j, t - s] = 1
            left[j] -= 1
            if left[j] == 0:
                waiting -= 1
        load[t - s] = k
    for j in range(n):
        while left[j] > 0:
            if not _augment(tab, n_com, s, c, part, lo, n, j, sent, load):
                return False
            left[j] -= 1
    return True


@kernel
def can_send(tab: Table, n_com: int, s: int, c: int, part: Ints, need: Ints, lo: Ints, n: int) -> bool:
    """Answer the same question, without a schedule where that is easy."""
    busy = 0
    total = 0
    for j in range(n):
        if need[j] > 0:
            busy += 1
            total += need[j]
            if lo[j] >= c or tab.cnt[c, part[j]] - tab.cnt[lo[j], part[j]] < need[j]:
                return False
    if busy <= n_com:
        return True
    if total > n_com * (c - s):
        return False
    sent = np.zeros((n, c - s), np.uint8)
    load = np.zeros(c - s, np.int64)
    return send(tab, n_com, s, c, part, need, lo, n, sent, load)


@kernel
def share(
    tab: Table,
    prob: Problem,
    s: int,
    c: int,
    part: Ints,
    ns: int,
    n: int,
    prog: Ints,
    caps: Ints,
    lo: Ints,
    x: Ints,
    patience: Ints,
) -> int:
    """Find task counts with which everything can be sent.

    Participants ``part[:ns]`` compute and ``part[ns:n]`` are on stand-by; ``prog[j]`` is what j
    still needs of the program and ``caps[j]`` the most tasks j could take if it were alone.

    Returns
    -------
    int
        YES, and then ``x[:ns]`` sums to m with 1 <= x_j <= caps_j; NO; or UNDECIDED after
        ``patience[0]`` vectors of task counts, which is counted down.
    """
    m, td, n_com = prob.m, prob.t_data, prob.n_com
    busy = 0
    for j in range(n):
        if prog[j] > 0 or (j < ns and td > 0):
            busy += 1
    # First try: one task each, the others to those with most room. Final when nothing binds.
    rest = m - ns
    room = np.empty(ns, np.int64)
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
    need = np.empty(n, np.int64)
    for j in range(n):
        need[j] = prog[j] + (x[j] * td if j < ns else 0)
    if can_send(tab, n_com, s, c, part, need, lo, n):
        return YES
    if td == 0:
        return NO
    # Divisible data: extend one task each as long as possible.
    total = m * td
    for j in range(n):
        total += prog[j]
        if j < ns:
            need[j] = prog[j] + td
    if total > n_com * (c - s):
        return NO
    sent = np.zeros((n, c - s), np.uint8)
    load = np.zeros(c - s, np.int64)
    if not send(tab, n_com, s, c, part, need, lo, n, sent, load):
        return NO
    want = (m - ns) * td
    for j in range(ns):
        x[j] = 1
        extra = (caps[j] - 1) * td
        while want > 0 and extra > 0 and _augment(tab, n_com, s, c, part, lo, n, j, sent, load):
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
        patience[0] -= 1
        if patience[0] < 0:
            return UNDECIDED
        for i in range(ns):
            need[i] = prog[i] + x[i] * td
        if not can_send(tab, n_com, s, c, part, need, lo, n):
            continue
        if left == 0:
            return YES
        j += 1
        x[j] = min(caps[j], 1 + left) + 1
        left -= x[j] - 1
    return NO
