"""Who holds the program after an iteration: the maximal sets of holders it can leave behind.

`expand` turns sets S into the maximal holder sets: one flow question (`transfer.share`) if all
stand-by workers can be served, a branching over maximal subsets otherwise. Set S with slot c
cannot give more holders than U(c), those that could be ready by c if alone, and U grows with c: so
once a set containing U(c') is found only c > c' are of interest; c' is the threshold of `advance`.
"""

from __future__ import annotations

import numpy as np

from offline.coupled.native.constants import (
    EFFORT_LIMIT,
    FOUND,
    FOUND_LIMIT,
    IW,
    LIMIT,
    NEVER,
    NO,
    NUM,
    OWN,
    SPENT,
    STAND_BY,
    STOP,
    UNDECIDED,
    YES,
)
from offline.coupled.native.iteration import Space, advance, are_twins, arrange, begin, known, most_tasks
from offline.coupled.native.kernels import Counts, Ints, Words, add, assign, has, kernel, within
from offline.coupled.native.parameters import Problem
from offline.coupled.native.state_tables import Table
from offline.coupled.native.transfer import share


@kernel
def record(spc: Space, held: Words, size: int, c: int, iw: int) -> bool:
    """Add a holder set and drop those it contains; False if there is no room."""
    n = 0
    for r in range(spc.state[FOUND]):
        if not within(spc.found_held[r], held):
            if n < r:
                assign(spc.found_held[n], spc.found_held[r])
                assign(spc.found_set[n], spc.found_set[r])
                spc.found_c[n] = spc.found_c[r]
                spc.found_iw[n] = spc.found_iw[r]
            n += 1
    spc.state[FOUND] = n
    if n >= spc.state[FOUND_LIMIT]:
        return False
    for k in range(held.size):
        spc.found_held[n, k] = held[k]
        spc.found_set[n, k] = np.uint64(0)
    for j in range(size):
        add(spc.found_set[n], spc.chosen[j])
    spc.found_c[n] = c
    spc.found_iw[n] = iw
    spc.state[FOUND] = n + 1
    return True


@kernel
def enlist(tab: Table, prob: Problem, spc: Space, j: int, q: int, c: int, iw: int, computes: bool) -> None:
    """Make worker q participant j of the next flow question."""
    spc.part[j] = q
    spc.part_lo[j] = spc.lo[q]
    spc.part_prog[j] = spc.base[q] - tab.cnt[spc.lo[q], q]
    spc.part_cap[j] = 0
    if computes:
        spc.part_cap[j] = most_tasks(tab.cnt, spc.base, spc.lo, q, c, prob.caps[iw, q], prob.t_data)


@kernel
def fits(tab: Table, prob: Problem, spc: Space, s: int, c: int, ns: int, n: int) -> int:
    """Return whether participants ``part[:ns]`` can compute and ``part[ns:n]`` be given the program."""
    total = prob.m * prob.t_data
    for j in range(n):
        total += spc.part_prog[j]
    spc.effort[SPENT] += 1
    if total > prob.n_com * (c - s):
        return NO
    return share(tab, prob, spc.flow, s, c, spc.part, ns, n, spc.part_prog, spc.part_cap, spc.part_lo, spc.x)


@kernel
def _is_hopeless(cnt: Counts, prob: Problem, base: Ints, e: int) -> bool:
    """Return whether the workers have too few UP slots by e: every task costs its worker T_data + w_q of them."""
    total = 0
    for q in range(prob.p):
        have = cnt[e + 1, q] - base[q]
        if have > 0:
            total += min(prob.most[q], have // prob.each[q])
    return total < prob.m


@kernel
def expand(tab: Table, prob: Problem, spc: Space, mode: int, s: int, e: int, horizon: int, last: bool) -> bool:
    """Find the maximal holder sets after an iteration in slots s..e; `prepare` was called.

    If `last`, any one set will do. Returns False if the answer may be incomplete: the effort
    limit was met, or the room for holder sets.
    """
    state, effort = spc.state, spc.effort
    state[FOUND] = 0
    effort[SPENT] += 1 + prob.p // 4
    effort[LIMIT] = min(effort[SPENT] + state[EFFORT_LIMIT], effort[STOP])
    if _is_hopeless(tab.cnt, prob, spc.base, e):
        return True
    arrange(tab, prob, spc, s, e, horizon)
    thr = begin(tab, prob, spc, s, e)
    while True:
        c = advance(tab, prob, spc, mode, e, thr)
        if c < 0:
            return bool(c == -1)
        ns = state[NUM]
        iw = state[IW]
        for j in range(ns):
            enlist(tab, prob, spc, j, spc.chosen[j], c, iw, True)
        n = ns
        assign(spc.wish, spc.sure)
        if mode == OWN:
            for j in range(ns):
                if has(spc.mine, spc.chosen[j]):
                    add(spc.wish, spc.chosen[j])
        else:
            effort[SPENT] += prob.p // 16
            for k in range(prob.p):
                q = spc.order[k]
                if has(spc.mine, q) and spc.ready[q] <= c:
                    add(spc.wish, q)
                    computes = False
                    for j in range(ns):
                        computes = computes or spc.chosen[j] == q
                    if not computes and mode == STAND_BY and not last:
                        enlist(tab, prob, spc, n, q, c, iw, False)
                        n += 1
        if known(spc, spc.wish):
            continue
        answer = fits(tab, prob, spc, s, c, ns, n)
        if answer == YES:
            if not record(spc, spc.wish, ns, c, iw):
                return False
        elif answer == UNDECIDED:
            return False
        elif n > ns:
            answer = fits(tab, prob, spc, s, c, ns, ns)
            if answer == UNDECIDED:
                return False
            if answer == YES and not _choose(tab, prob, spc, s, c, iw, ns, n):
                return False
        if last and state[FOUND] > 0:
            return True
        if mode != OWN:
            for r in range(state[FOUND]):
                first = NEVER
                for q in range(prob.p):
                    if has(spc.mine, q) and not has(spc.found_held[r], q):
                        first = min(first, spc.ready[q])
                thr = max(thr, min(e, first - 1))


@kernel
def _choose(tab: Table, prob: Problem, spc: Space, s: int, c: int, iw: int, ns: int, n: int) -> bool:
    """Record the maximal sets of stand-by workers ``part[ns:n]`` that can be served with S.

    Depth first over the stand-by workers, taking each before leaving it out; a branch whose
    optimistic set is contained in a known one is cut, so only maximal sets are recorded.
    """
    total = n - ns
    extra, wish, own = spc.extra, spc.hope, spc.own
    step, taken = spc.step, spc.taken  # step is 0: to be taken, 1: to be left out, 2: both done
    for d in range(total + 1):
        step[d] = taken[d] = 0
    for d in range(total):
        extra[d] = spc.part[ns + d]
    assign(own, spc.sure)
    for j in range(ns):
        if has(spc.mine, spc.chosen[j]):
            add(own, spc.chosen[j])
    d = 0
    size = ns
    while d >= 0:
        if step[d] == 1:
            size -= taken[d]
            taken[d] = 0
        spc.effort[SPENT] += 1 + n // 16
        assign(wish, own)
        for j in range(ns, size):
            add(wish, spc.part[j])
        j = d + step[d]  # the first that is still open; twins of one that is left out are left out too
        if step[d] > 0:
            j = d + 1
        if j > 0 and taken[j - 1] == 0:
            out = extra[j - 1]
            while j < total and are_twins(spc, out, extra[j]):
                j += 1
        while j < total:
            add(wish, extra[j])
            j += 1
        if step[d] == 2 or known(spc, wish):
            size -= taken[d]
            taken[d] = 0
            step[d] = 0
            d -= 1
        elif d == total:
            if not record(spc, wish, ns, c, iw):
                return False
            d -= 1
        elif step[d] == 1:
            step[d] = 2
            d += 1
        else:
            step[d] = 1
            if d > 0 and taken[d - 1] == 0 and are_twins(spc, extra[d - 1], extra[d]):
                continue
            enlist(tab, prob, spc, size, extra[d], c, iw, False)
            answer = fits(tab, prob, spc, s, c, ns, size + 1)
            if answer == UNDECIDED or spc.effort[SPENT] > spc.effort[LIMIT]:
                assign(wish, own)  # so far it can be done: a holder set, if not a maximal one
                for j in range(ns, size):
                    add(wish, spc.part[j])
                if not known(spc, wish):
                    record(spc, wish, ns, c, iw)
                return False
            if answer == YES:
                taken[d] = 1
                size += 1
                d += 1
    return True
