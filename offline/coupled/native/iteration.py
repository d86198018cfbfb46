r"""One iteration: its normal form, and the sets of workers that complete it in a given slot.

Normal form
-----------
Let an iteration of a valid schedule start in slot s (the slot after the previous iteration's end,
or 0), when exactly the workers of H hold the program, and end in slot e. Let x be the task counts
at its end, S = {q : x_q >= 1} and W = max x_q w_q.

**Proposition.** With c the W-th last slot up to e in which all of S are UP:

(a) no worker of S is DOWN in [c, e];
(b) each q in S *needs* x_q T_data units, and T_prog more unless it is in H and not DOWN in [s, e];
    each other worker that holds the program at the end and is not such a survivor needs T_prog;
(c) these needs can be met in slots [s, c): in slot t a worker that is UP at t and not DOWN in
    [t, e] may receive one unit, at most n_com workers do.

Conversely, for any s <= c <= e, S, x with sum x = m, x <= mu, c as above, and any further set Z
of workers with which (a)-(c) hold, R1-R5 admit an iteration in slots s..e after which the holders
are the survivors of H, S and Z.

*Proof.* The W computing slots c_1 < ... < c_W = e that count have all of S UP and lie after
everything S needs has arrived. They are W common UP slots up to e, so c_1 <= c. From c_1 to e no
task count changes and no worker of S is DOWN (either would lose the computation), which is (a).
All these slots are computation slots, so nothing is sent after c_1 (R3, R4): every unit of the
iteration is sent in [s, c_1). Task data is void and partial programs are lost when an iteration
ends and when a worker is DOWN, so what counts is received in [s, c_1) after the last DOWN slot up
to e, or is a whole program held since before s. That is (b) and (c).
Conversely, enrol every worker from its first unit on (it is UP then; not DOWN before e, so R1 does
not touch it), workers of S that need nothing from slot c on (they are UP), workers of Z until they
have the program. Send as the flow of (c) says, program first. Every slot of [s, c) can be made a
communication slot: the configuration is incomplete while a worker of S is missing, has something to
send while one lacks something, and otherwise one task count is lowered by one until slot c, which
by R2 loses nothing but computation. From c on nothing is lacking, so the common UP slots compute,
and the W-th of them is e. QED

**Twins.** Let ``end`` be a slot in which all schedules that are still of interest have ended: the
number of slots, or the makespan to beat less one. Workers with equal w and mu that are UP in all slots
s..end-1, and both in H or both not, are *twins*. Exchanging their names from s on turns valid
schedules into valid schedules of the same length, so of all sets S, and of all Z for a given S, that
differ in the choice among twins only one each is needed: the first twins in a fixed order
compute, the next are on stand-by. `advance` and `_choose` leave out a worker if they leave out its
twin before it. Likewise a program counts only if it can be of use before ``end`` (`useful`).

So an iteration is fixed by (s, H, e, W, S, x, Z), c follows from (e, W, S), and all that the future
sees of it is (e + 1, holders). If n_com does not bind, the holders grow with c, and the best is the
largest c alone.

Search
------
Per last slot e and candidate W, worker q alone would start to compute in its W-th last UP slot c_q
and could take X_q(c_q) tasks. If these sum to less than m there is nothing (most slots end here).
Otherwise sets S are enumerated depth first (`advance`): a node is a set with its common UP slots
as bits, hence its c; adding a worker lowers c, hence every X_q(c), so a node is cut when
the members and all remaining candidates - each with its own c if added now - cannot hold m tasks.
If n_com binds, of candidates without the program only as many count as the channel can serve:
(n_com (c - s) - m T_data) // T_prog of them at most.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from offline.coupled.native.constants import (
    ALIVE,
    DEPTH,
    EFFORT_LIMIT,
    FIRST,
    FOUND,
    FOUND_LIMIT,
    FREE,
    IW,
    LIMIT,
    NEVER,
    NODES,
    NUM,
    OWN,
    SPENT,
    STOP,
)
from offline.coupled.native.kernels import Counts, Ints, Reals, Words, add, assign, has, kernel, last_common_bit, within
from offline.coupled.native.parameters import Problem
from offline.coupled.native.state_tables import Table
from offline.coupled.native.transfer import Flow, make_flow


class Space(NamedTuple):
    """Working memory of the enumeration.

    Rows of ``cand*`` and ``common`` belong to the depth of the search, the last row of ``cand``
    to the workers UP at e. ``worth``, ``score`` and ``top`` are those of module `proposals`. The answer is in
    ``found_*[:state[FOUND]]``.
    """

    state: Ints
    effort: Ints
    flow: Flow
    base: Ints
    lo: Ints
    ready: Ints
    order: Ints
    key: Ints
    merit: Reals
    twin: Ints
    common: Words
    cand: Ints
    cand_c: Ints
    cand_x: Ints
    upto: Ints
    num: Ints
    node_c: Ints
    chosen: Ints
    part: Ints
    part_lo: Ints
    part_prog: Ints
    part_cap: Ints
    x: Ints
    extra: Ints
    step: Ints
    taken: Ints
    worth: Reals
    score: Reals
    top: Ints
    sure: Words
    mine: Words
    wish: Words
    hope: Words
    own: Words
    found_held: Words
    found_set: Words
    found_c: Ints
    found_iw: Ints


def make_space(prob: Problem, slots: int, found: int = 256) -> Space:
    """Working memory for `slots` slots and at most `found` holder sets at a time."""

    def ints(*shape: int) -> Ints:
        return np.zeros(shape, np.int64)

    def words(*shape: int) -> Words:
        return np.zeros(shape, np.uint64)

    p, k = prob.p, prob.words
    deep = min(prob.m, p) + 2
    state, effort = ints(9), ints(3)
    state[EFFORT_LIMIT] = effort[LIMIT] = effort[STOP] = NEVER
    state[FOUND_LIMIT] = found
    return Space(
        state=state,
        effort=effort,
        flow=make_flow(p, slots, effort),
        base=ints(p),
        lo=ints(p),
        ready=ints(p),
        order=np.arange(p, dtype=np.int64),
        key=ints(p),
        merit=np.zeros((0, p)),
        twin=ints(p),
        common=words(deep, (slots + 63) // 64),
        cand=ints(deep, p),
        cand_c=ints(deep, p),
        cand_x=ints(deep, p),
        upto=ints(deep),
        num=ints(deep),
        node_c=ints(deep),
        chosen=ints(deep),
        part=ints(p),
        part_lo=ints(p),
        part_prog=ints(p),
        part_cap=ints(p),
        x=ints(p),
        extra=ints(p),
        step=ints(p + 1),
        taken=ints(p + 1),
        worth=np.zeros(p),
        score=np.zeros(p),
        top=ints(p),
        sure=words(k),
        mine=words(k),
        wish=words(k),
        hope=words(k),
        own=words(k),
        found_held=words(found, k),
        found_set=words(found, k),
        found_c=ints(found),
        found_iw=ints(found),
    )


@kernel
def useful(tab: Table, prob: Problem, q: int, t: int, horizon: int) -> bool:
    """Return whether a program that worker q holds at the start of slot t can still serve before `horizon`.

    To compute with it q has to be UP for the data of a task and for its w_q computing slots, all
    different, before it is next DOWN and before `horizon`. If the known slots do not tell, the answer is True.
    """
    if prob.t_prog == 0:
        return False
    i = tab.cnt[t, q] + prob.each[q] - 1
    if i < tab.cnt[tab.length, q]:
        return bool(tab.pos[q, i] < horizon and tab.down[tab.pos[q, i], q] < t)
    return bool(tab.length < horizon and tab.down[tab.length - 1, q] < t)


@kernel
def prepare_free(cnt: Counts, down: Counts, prob: Problem, base: Ints, lo: Ints, t: int, e: int) -> None:
    """Needs in an iteration from t to e if programs come free: see `prepare`."""
    for q in range(prob.p):
        a = down[e, q] + 1
        lo[q] = max(t, a)
        base[q] = max(cnt[lo[q], q], cnt[a, q] + prob.t_prog)


@kernel
def prepare(tab: Table, prob: Problem, spc: Space, s: int, e: int, held: Words, horizon: int) -> None:
    """Needs of every worker in an iteration in slots s..e with holders `held` at its start.

    Worker q may receive in UP slots from ``lo`` on, and can then hold x tasks by slot c if
    ``cnt[c] - base >= x T_data``; it can hold the program by slot ``ready``. ``sure`` are the
    survivors of `held`, ``mine`` the others that could have the program by slot e; of both only
    those to whom it is still of use.
    """
    spc.sure[:] = np.uint64(0)
    spc.mine[:] = np.uint64(0)
    for q in range(prob.p):
        a = tab.down[e, q] + 1
        lo = max(s, a)
        spc.lo[q] = lo
        spc.base[q] = tab.cnt[lo, q]
        spc.ready[q] = 0
        if prob.t_prog == 0:
            continue
        if a <= s and has(held, q):
            if useful(tab, prob, q, e + 1, horizon):
                add(spc.sure, q)
            continue
        spc.base[q] += prob.t_prog
        if spc.base[q] <= tab.cnt[e, q]:
            spc.ready[q] = tab.pos[q, spc.base[q] - 1] + 1
            if useful(tab, prob, q, e + 1, horizon):
                add(spc.mine, q)
        else:
            spc.ready[q] = NEVER


@kernel
def is_up_throughout(tab: Table, q: int, s: int, horizon: int) -> bool:
    """Return whether worker q is known to be UP in all slots s..horizon-1."""
    return bool(horizon <= tab.length and s <= horizon and tab.cnt[horizon, q] - tab.cnt[s, q] == horizon - s)


@kernel
def arrange(tab: Table, prob: Problem, spc: Space, s: int, e: int, horizon: int) -> None:
    """Put the workers in the order in which they are tried, and find the twins; `prepare` was called.

    The order matters for what is found first only: holders first, then those of most ``merit`` after e, if that is
    known, then those that can do most tasks before they are next DOWN. Twins, ``twin[q] == twin[r] >= 0``, are
    neighbours in it if their merit is equal; where they are not, both are tried.
    """
    key, order, twin = spc.key, spc.order, spc.twin
    top = min(tab.length, horizon) - 1
    for q in range(prob.p):
        holds = spc.base[q] == tab.cnt[spc.lo[q], q]
        twin[q] = -1
        if is_up_throughout(tab, q, s, horizon):
            twin[q] = 2 * prob.kind[q] + (1 if holds else 0)
        low, high = e, top + 1  # UP or RECLAIMED in low, and `high` is its next DOWN or out of sight
        if top > e and tab.down[top, q] > e:
            while high - low > 1:
                middle = (low + high) // 2
                if tab.down[middle, q] > e:
                    high = middle
                else:
                    low = middle
        tasks = min(1 << 20, 64 * max(0, high - e) // prob.each[q]) if prob.each[q] > 0 else 1 << 20
        if e + 1 < spc.merit.shape[0]:
            tasks += int(min(spc.merit[e + 1, q], 1000.0) * 1024.0) << 20
        key[q] = ((0 if holds else 1) << 62) - (tasks << 20) + prob.kind[q]
    for i in range(1, prob.p):  # nearly in order from the last time
        q = order[i]
        k = i
        while k > 0:
            r = order[k - 1]
            if key[r] < key[q] or (key[r] == key[q] and (twin[r] < twin[q] or (twin[r] == twin[q] and r < q))):
                break
            order[k] = r
            k -= 1
        order[k] = q


@kernel
def begin(tab: Table, prob: Problem, spc: Space, s: int, e: int) -> int:
    """Start `advance`; returns the threshold that the data alone sets for c."""
    n = 0
    alive = spc.cand[spc.cand.shape[0] - 1]
    for k in range(prob.p):
        q = spc.order[k]
        if tab.cnt[e + 1, q] > tab.cnt[e, q] and tab.cnt[e + 1, q] > spc.base[q]:
            alive[n] = q
            n += 1
    spc.state[ALIVE] = n
    spc.state[IW] = -1
    spc.state[DEPTH] = -1
    spc.state[FIRST] = s
    return last_before_data(prob, s)


@kernel
def last_before_data(prob: Problem, s: int) -> int:
    """Return the last slot by which the data of an iteration that starts in slot s cannot all have been sent."""
    return s - 1 + (prob.m * prob.t_data + prob.n_com - 1) // prob.n_com


@kernel
def programs_sent(prob: Problem, s: int, c: int) -> int:
    """Return how many programs the channel can send in slots s..c-1 beside the data of an iteration."""
    return (prob.n_com * (c - s) - prob.m * prob.t_data) // prob.t_prog


@kernel
def all_up(common: Words, c: int, e: int) -> None:
    """Let ``common`` begin with all slots from that of c's word on to e; those after e in e's word are not in it."""
    common[c >> 6 : e >> 6] = ~np.uint64(0)
    common[e >> 6] = ~np.uint64(0) >> np.uint64(63 - (e & 63))


@kernel
def most_tasks(cnt: Counts, base: Ints, lo: Ints, q: int, c: int, cap: int, t_data: int) -> int:
    """X_q(c): most tasks worker q can hold if computation starts in slot c, at most `cap`."""
    room = cnt[c, q] - base[q]
    if room < 0 or c < lo[q]:
        return 0
    if t_data == 0:
        return cap
    room //= t_data
    return cap if room > cap else room


@kernel
def insert(cand: Ints, cand_c: Ints, cand_x: Ints, n: int, q: int, c: int, x: int) -> None:
    """Keep candidates in order of falling x (ties in order of entry)."""
    while n > 0 and cand_x[n - 1] < x:
        cand[n] = cand[n - 1]
        cand_c[n] = cand_c[n - 1]
        cand_x[n] = cand_x[n - 1]
        n -= 1
    cand[n] = q
    cand_c[n] = c
    cand_x[n] = x


@kernel
def advance(tab: Table, prob: Problem, spc: Space, mode: int, e: int, thr: int) -> int:
    """Find the next set S with slot c > `thr` whose workers, each alone, could hold m tasks.

    Returns c, with the set in ``chosen[:state[NUM]]`` and the index of W in ``state[IW]``; -1
    when there is none left; -2 when the effort limit is met.
    """
    m, td, tp = prob.m, prob.t_data, prob.t_prog
    cnt, pos, up = tab.cnt, tab.pos, tab.up
    base, lo, state = spc.base, spc.lo, spc.state
    work, caps = prob.work, prob.caps
    alive = spc.cand[spc.cand.shape[0] - 1]
    cand0, cand0_c, cand0_x = spc.cand[0], spc.cand_c[0], spc.cand_x[0]
    scarce = mode != FREE and tp > 0 and prob.n_com < prob.p
    top = e >> 6
    d = state[DEPTH]
    iw = state[IW]
    while True:
        if d < 0:
            # The next W. Each worker alone: its W-th last UP slot, and what it can hold by then.
            iw += 1
            if iw >= work.size or e - work[iw] + 1 <= thr:
                state[DEPTH] = -1
                state[IW] = work.size
                return -1
            n = 0
            total = 0
            for j in range(state[ALIVE]):
                q = alive[j]
                i = cnt[e + 1, q] - work[iw]
                if i < 0:
                    continue
                c = pos[q, i]
                if c <= thr:
                    continue
                x = most_tasks(cnt, base, lo, q, c, caps[iw, q], td)
                if x > 0:
                    insert(cand0, cand0_c, cand0_x, n, q, c, x)
                    n += 1
                    total += x
            if total < m:
                continue
            all_up(spc.common[0], thr + 1, e)
            spc.num[0] = n
            spc.upto[0] = 0
            spc.node_c[0] = e
            d = 0
            continue
        # The next candidate of this node, and the most tasks that any set below could hold.
        i = spc.upto[d]
        n = spc.num[d]
        while i < n and (
            spc.cand_c[d, i] <= thr or (mode != FREE and i > 0 and are_twins(spc, spc.cand[d, i - 1], spc.cand[d, i]))
        ):
            i += 1
        best_c = 0
        for j in range(i, n):
            best_c = max(best_c, spc.cand_c[d, j])
        fresh = NEVER
        if scarce:
            fresh = (prob.n_com * (best_c - state[FIRST]) - m * td) // tp
        total = 0
        for j in range(d):
            q = spc.chosen[j]
            total += most_tasks(cnt, base, lo, q, min(spc.node_c[d], best_c), caps[iw, q], td)
            if base[q] > cnt[lo[q], q]:
                fresh -= 1
        for j in range(i, n):
            if total >= m:
                break
            if spc.cand_c[d, j] > thr:
                q = spc.cand[d, j]
                if base[q] == cnt[lo[q], q]:
                    total += spc.cand_x[d, j]
                elif fresh > 0:
                    fresh -= 1
                    total += spc.cand_x[d, j]
        if i >= n or total < m or fresh < 0 or (mode == OWN and _nothing_new(spc, d, i)):
            d -= 1
            continue
        state[NODES] += 1
        spc.effort[SPENT] += 1 + (n - i) // 16
        if spc.effort[SPENT] > spc.effort[LIMIT]:
            return -2
        # Add it: what can the members hold now?
        spc.upto[d] = i + 1
        c = spc.cand_c[d, i]
        tasks = spc.cand_x[d, i]
        for j in range(d):
            q = spc.chosen[j]
            x = most_tasks(cnt, base, lo, q, c, caps[iw, q], td)
            tasks += x
            if x == 0:
                tasks = -1
                break
        if tasks < 0:
            continue
        q = spc.cand[d, i]
        spc.chosen[d] = q
        size = d + 1
        if size < m:
            for k in range((thr + 1) >> 6, top + 1):
                spc.common[size, k] = spc.common[d, k] & up[q, k]
            k = 0
            total = tasks
            for j in range(i + 1, n):
                if spc.cand_c[d, j] <= thr:
                    continue
                q = spc.cand[d, j]
                c2 = last_common_bit(spc.common[size], up[q], top, max(thr + 1, lo[q]), work[iw])
                if c2 < 0:
                    continue
                x = most_tasks(cnt, base, lo, q, c2, caps[iw, q], td)
                if x > 0:
                    insert(spc.cand[size], spc.cand_c[size], spc.cand_x[size], k, q, c2, x)
                    k += 1
                    total += x
            if k > 0 and total >= m:
                d = size
                spc.num[d] = k
                spc.upto[d] = 0
                spc.node_c[d] = c
        if tasks >= m:
            state[NUM] = size
            state[DEPTH] = d
            state[IW] = iw
            return int(c)


@kernel
def are_twins(spc: Space, q: int, r: int) -> bool:
    """Return whether q and r are twins, as `arrange` found them."""
    return bool(spc.twin[q] >= 0 and spc.twin[q] == spc.twin[r])


@kernel
def _nothing_new(spc: Space, d: int, i: int) -> bool:
    """Return whether, without stand-by, the members and all candidates from `i` on give no new holder set."""
    wish = spc.wish
    assign(wish, spc.sure)
    for j in range(d):
        if has(spc.mine, spc.chosen[j]):
            add(wish, spc.chosen[j])
    for j in range(i, spc.num[d]):
        if has(spc.mine, spc.cand[d, j]):
            add(wish, spc.cand[d, j])
    return known(spc, wish)


@kernel
def known(spc: Space, held: Words) -> bool:
    """Return whether `held` is contained in a holder set found for this last slot."""
    spc.effort[SPENT] += spc.state[FOUND] * held.size // 16
    for r in range(spc.state[FOUND]):
        if within(held, spc.found_held[r]):
            return True
    return False
