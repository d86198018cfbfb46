"""The free-prefetch bound (docs/model.md section 3): what remains takes at least this long.

Let F(t) be the slot after the earliest end of an iteration that starts in slot t when every worker
may have received its program in any UP slots since it was last DOWN, before t too, and n_com does
not limit anything but the total of the data.

**Proposition.** In every valid schedule, an iteration that starts in slot t ends in slot F(t) - 1
or later; F is non-decreasing; so k further iterations from t on end in slot F^k(t) - 1 or later,
and within horizon N there are at most max {k : F^k(t) <= N} of them.

*Proof.* By the normal form (module `iteration`) a worker computing in c.. has received its data
in UP slots of [t, c) after its last DOWN a_q - 1, and its program after that DOWN too, in other
slots: at least T_prog + x T_data UP slots in [a_q, c), of which x T_data at or after t. These are
the two conditions of F; with b = max(t, a_q) they read
``cnt[c] - max(cnt[b], cnt[a_q] + T_prog) >= x T_data``. Both weaken as t falls, so whatever is
possible from t is possible from t' < t: F is non-decreasing, and composition bounds a chain. QED

What is computed is an f <= F: when a last slot has cost too much effort it is taken for possible. The
composition of f bounds as well: by induction f^k(t) <= F^k(t), since f(f^(k-1)(t)) <= F(f^(k-1)(t)) <= F(F^(k-1)(t)).

f is computed on demand and kept. The scan for F(t) starts at F(t') - 1 for the nearest t' <= t that
is known, and jumps over last slots that are out of reach: worker q needs T_data + w_q UP slots
after its base for each task, and what it has of them grows by at most one per slot
(`_out_of_reach`).
"""

from __future__ import annotations

from offline.coupled.native.constants import BEYOND, FREE, FREE_EFFORT, FREE_SCAN, LIMIT, NEVER, PAUSE, SPENT, STOP
from offline.coupled.native.iteration import Space, advance, begin, prepare_free
from offline.coupled.native.kernels import Counts, Ints, kernel
from offline.coupled.native.parameters import Problem
from offline.coupled.native.state_tables import Table


@kernel
def _can_hold(cnt: Counts, prob: Problem, base: Ints, e: int, more: int) -> bool:
    """Return whether m tasks could be held if every worker had `more` UP slots more than it has by e."""
    total = 0
    for q in range(prob.p):
        have = cnt[e + 1, q] - base[q] + more
        if have > 0:
            have //= prob.each[q]
            total += min(prob.most[q], have)
            if total >= prob.m:
                return True
    return False


@kernel
def _out_of_reach(cnt: Counts, prob: Problem, base: Ints, e: int) -> int:
    """Return a number of slots after e before which no iteration can end; 0 if e itself may be an end.

    A DOWN between e and the end only takes UP slots away: it leaves at most `more` of them, and the
    program is still to be received, while ``cnt - base >= -T_prog`` before.
    """
    if _can_hold(cnt, prob, base, e, 0):
        return 0
    low, high = 0, 1
    while not _can_hold(cnt, prob, base, e, high):
        low = high
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        if _can_hold(cnt, prob, base, e, middle):
            high = middle
        else:
            low = middle
    return high


@kernel
def free_finish(tab: Table, prob: Problem, spc: Space, memo: Ints, t: int, horizon: int) -> int:
    """F(t): NEVER if it exceeds `horizon`; BEYOND or PAUSE if not known yet.

    ``memo[t]`` keeps F(t) (0: unknown), ``memo[-2:]`` an unfinished t and where its scan stands.
    """
    if t >= horizon:
        return NEVER
    if t >= tab.length:
        return BEYOND
    if memo[t] != 0:
        return int(memo[t])
    k = t - 1
    while k >= 0 and memo[k] == 0:
        k -= 1
    e = t if k < 0 else max(t, memo[k] - 1)
    if memo[memo.size - 2] == t:
        e = max(e, memo[memo.size - 1])
    steps = FREE_SCAN
    effort = spc.effort
    while e < horizon:
        if e >= tab.length or steps == 0:
            memo[memo.size - 2] = t
            memo[memo.size - 1] = e
            return BEYOND if steps > 0 else PAUSE
        steps -= 1
        effort[SPENT] += 1 + prob.p // 16
        prepare_free(tab.cnt, tab.down, prob, spc.base, spc.lo, t, e)
        ahead = _out_of_reach(tab.cnt, prob, spc.base, e)
        if ahead > 0:
            e += ahead
            continue
        thr = begin(tab, prob, spc, t, e)
        # The budget of this question is its own: were it the rest of an expansion's, F could come out too late.
        effort[LIMIT] = min(effort[SPENT] + FREE_EFFORT, effort[STOP])
        found = advance(tab, prob, spc, FREE, e, thr)
        if found == -2 and effort[SPENT] > effort[STOP]:
            steps = 0
            continue
        if found != -1:
            memo[t] = e + 1
            return e + 1
        e += 1
    memo[t] = NEVER
    return NEVER


@kernel
def compose(tab: Table, prob: Problem, spc: Space, memo: Ints, t: int, k: int, horizon: int) -> int:
    """F^k(t), or NEVER, BEYOND, PAUSE."""
    for _ in range(k):
        t = free_finish(tab, prob, spc, memo, t, horizon)
        if t < 0 or t >= NEVER:
            return t
    return t


@kernel
def most_from(tab: Table, prob: Problem, spc: Space, memo: Ints, gain: Ints, t: int, horizon: int) -> int:
    """Greatest k with F^k(t) <= horizon; BEYOND or PAUSE. ``gain[t]`` keeps k + 1."""
    steps = 0
    u = t
    while u < horizon and gain[u] == 0:
        v = free_finish(tab, prob, spc, memo, u, horizon)
        if v < 0:
            return v
        if v >= NEVER:
            gain[u] = 1
            break
        u = v
        steps += 1
    rest = gain[u] - 1 if u < horizon else 0
    most = steps + rest
    u = t
    while steps > 0:
        gain[u] = steps + rest + 1
        u = int(memo[u])
        steps -= 1
    return most
