r"""The rent bound: what the programs cost the channel, over all iterations together.

The free-prefetch bound lets everyone have the program for nothing, and the relaxed search lets the master send it to
any number of stand-by workers at once. If n_com binds, that is what is wrong with them: with short iterations few
programs can be sent before the computation has to go on. Here the programs sent are counted, in all iterations.

**Rents.** A *life* of a worker is a longest run of slots without DOWN. Let every worker q ask a rent r_q(t) >= 0 for
each slot t, and let phi(t) >= 0, such that for every life and every slot t of it the rents of that life from t on sum
up to at most phi(t). An iteration that computes in slots c..e with the workers S pays the rents of all of S for the
slots c..e. Then in every valid schedule, up to every iteration i,

    sum_{j <= i} rents paid by j  <=  sum_{j <= i} phi(c_j) g_j,                                        (*)

where g_j is the number of programs that the channel can deliver in iteration j = (s_j, c_j, e_j) at most:
T_prog g_j <= n_com (c_j - s_j) - m T_data, and g_j is at most the number of workers with T_prog UP slots in
[s_j, c_j) after their last DOWN up to e_j; without stand-by it is at most m too.

*Proof.* By the normal form (module `iteration`) q can compute in iteration i only if a whole program was sent to it
in [s_j, c_j) for some j <= i, in the life that contains c_i..e_i, and so c_j. For each life used up to i take such a j
for its first use. All that the life pays is for slots from c_j on, since the iterations that use it begin to compute in
c_j or later, and these slots are all different, since iterations follow each other. So it pays at most phi(c_j). And at
most g_j programs are delivered in iteration j and kept to its end, to a life each: all units of the iteration are sent
in [s_j, c_j), and m T_data of them are data. QED

**The search** looks for a chain of K iterations within V slots that satisfies (*) and relaxes everything else:
labels (t, H, R) after k iterations, where H are all workers that could hold the program (n_com does not limit them),
and R is the right side of (*) less the left. From a label, for every end e and every slot c to begin to compute in,
S is taken from the workers that are UP in c and in e, not DOWN between, and, each for itself, have W UP slots there and
can have received their needs; the cheapest S that holds m tasks is bounded by the fractional knapsack. (t1, H1, R1)
dominates (t2, H2, R2) if t1 <= t2, R1 >= R2, and every worker of H2 is in H1 and not DOWN in [t1, t2), or has T_prog UP
slots there after its last DOWN: from the first label the same c, e and S follow, with the same rents and no fewer
programs. If no chain is found there is no schedule of K iterations within V slots.

**Which rents.** Any are valid; good ones are learnt. If a chain is found, the one with most left over is looked at:
the rent of a life moves to the slots in which that chain uses it, so that the next chain has to pay for them. And phi
is a mixture of steps, 1 before a slot tau and 0 from tau on: (*) for one tau says that too few programs can have been
delivered by then; the weights follow the steps for which the chains had least left over. Rents and phi are integers, a
program's price being `UNIT` a unit, so no rounding is involved in a proof.

**Cells.** Rents have to do for all chains at once, and no rents may refute all chains where some refute each. Therefore
schedules are divided into cells: a cell says of some iterations k in which slots at the soonest and at the latest
iteration k + 1 starts (``soonest``, ``latest``), and the search looks at the chains for which this is so. A cell is
divided by whether iteration k + 1 starts before slot t or not, so every schedule lies in a cell at all times, whatever
k and t, and if no cell has a schedule within V slots, there is none. (*) holds for every schedule, whatever its cell,
so each cell may have rents of its own. Dominance stays valid: both labels have k iterations within the cell, and what
follows from the first has the same ends as what follows from the second. For more iterations than are asked for, a
cell restricts nothing.

O(V^2) pairs of start and end per level at most, each with a knapsack for each (c, W); the labels are few, because H
grows with the time that passed and R is a number.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from offline.coupled.native.constants import (
    BEYOND,
    CHAIN_LABELS,
    CHAINS,
    FAINT,
    LEAST,
    MOST,
    NEVER,
    OPEN,
    OWN,
    PAUSE,
    RATE,
    REFUTED,
    SPENT,
    STEPS,
    STOP,
    STOPPED,
    SUM,
    UNIT,
)
from offline.coupled.native.iteration import Space, most_tasks, prepare, programs_sent
from offline.coupled.native.kernels import Ints, Reals, Words, add, assign, has, kernel, within
from offline.coupled.native.parameters import Problem
from offline.coupled.native.prefetch import compose
from offline.coupled.native.state_tables import Table


class Rents(NamedTuple):
    """Rents, what they are learnt from, and the labels of one search.

    ``ends`` counts the chains of a question, and has sum, least and greatest of the slots after their k-th iteration.
    ``usage[t, q]`` is how often chains used worker q in slot t, ``rent[t, q]`` the rents for the slots before t,
    ``loss[i]`` what chains had left over by the i-th step. Labels of k iterations are ``first[k]..first[k+1]-1``.
    """

    usage: Reals
    rent: Ints
    phi: Ints
    steps: Ints
    weight: Ints
    loss: Reals
    first: Ints
    soonest: Ints
    latest: Ints
    ends: Ints
    start: Ints
    left: Ints
    parent: Ints
    c: Ints
    iw: Ints
    held: Words
    hope: Words
    alive: Ints
    able: Ints
    able_up: Ints
    able_x: Ints
    able_rent: Ints
    cheap: Ints
    cheap_x: Ints
    cheap_rent: Ints
    chains: Ints


def make_rents(workers: int, slots: int, iterations: int) -> Rents:
    """Room for schedules of so many iterations within so many slots."""

    def ints(n: int) -> Ints:
        return np.zeros(n, np.int64)

    words = (workers + 63) // 64
    return Rents(
        usage=np.zeros((slots, workers)),
        rent=np.zeros((slots + 1, workers), np.int64),
        phi=ints(slots + 1),
        steps=ints(STEPS),
        weight=ints(STEPS),
        loss=np.zeros(STEPS),
        first=ints(iterations + 2),
        soonest=ints(iterations + 1),
        latest=ints(iterations + 1) + NEVER,
        ends=np.zeros((4, iterations + 1), np.int64),
        start=ints(CHAIN_LABELS),
        left=ints(CHAIN_LABELS),
        parent=ints(CHAIN_LABELS),
        c=ints(CHAIN_LABELS),
        iw=ints(CHAIN_LABELS),
        held=np.zeros((CHAIN_LABELS, words), np.uint64),
        hope=np.zeros(words, np.uint64),
        alive=ints(workers),
        able=ints(workers),
        able_up=ints(workers),
        able_x=ints(workers),
        able_rent=ints(workers),
        cheap=ints(workers),
        cheap_x=ints(workers),
        cheap_rent=ints(workers),
        chains=ints(1),
    )


@kernel
def _last_of_life(tab: Table, q: int, t: int, end: int) -> int:
    """Return the last slot before `end` of the life that contains slot t."""
    while t + 1 < end and tab.down[t + 1, q] != t + 1:
        t += 1
    return t


@kernel
def _set_rents(tab: Table, prob: Problem, rnt: Rents, end: int) -> None:
    """Divide the price of a program among the slots of each life, in proportion to their usage, for every step."""
    least = rnt.loss[0]
    for i in range(1, STEPS):
        least = min(least, rnt.loss[i])
    total = 0.0
    rate = RATE / prob.t_prog
    for i in range(STEPS):
        total += exp(-rate * (rnt.loss[i] - least))
    for i in range(STEPS):
        rnt.weight[i] = int(UNIT * exp(-rate * (rnt.loss[i] - least)) / total)
    for t in range(end + 1):
        rnt.phi[t] = 0
        for i in range(STEPS):
            if rnt.steps[i] > t:
                rnt.phi[t] += prob.t_prog * rnt.weight[i]
    rent, usage = rnt.rent, rnt.usage
    for q in range(prob.p):
        rent[0, q] = 0
        t = 0
        while t < end:
            if tab.down[t, q] == t:
                rent[t + 1, q] = rent[t, q]
                t += 1
                continue
            last = _last_of_life(tab, q, t, end)
            paid = rent[t, q]
            for u in range(t, last + 1):
                rent[u + 1, q] = paid
            for i in range(STEPS):
                tau = min(rnt.steps[i], last + 1)
                price = prob.t_prog * rnt.weight[i]
                whole = 0.0
                for u in range(t, tau):
                    whole += usage[u, q]
                part = 0.0
                share = 0
                for u in range(t, last + 1):
                    if u < tau and whole > 0.0:
                        part += usage[u, q]
                        share = min(price, max(share, int(price * (part / whole))))
                    rent[u + 1, q] += share
            t = last + 1


@kernel
def _gather(tab: Table, prob: Problem, spc: Space, rnt: Rents, num_alive: int, c: int, e: int) -> int:
    """List in ``able*`` who can compute in c..e: UP slots there, tasks received by c, rents; return their number."""
    spc.effort[SPENT] += 1 + num_alive // 16
    cnt = tab.cnt
    n = 0
    for j in range(num_alive):
        q = rnt.alive[j]
        if cnt[c + 1, q] == cnt[c, q]:
            continue
        x = most_tasks(cnt, spc.base, spc.lo, q, c, prob.most[q], prob.t_data)
        if x > 0:
            rnt.able[n] = q
            rnt.able_up[n] = cnt[e + 1, q] - cnt[c, q]
            rnt.able_x[n] = x
            rnt.able_rent[n] = rnt.rent[e + 1, q] - rnt.rent[c, q]
            n += 1
    return n


@kernel
def _cheapest(prob: Problem, spc: Space, rnt: Rents, n: int, iw: int) -> int:
    """Least rent, fractional, of workers of ``able[:n]`` that hold m tasks and compute in W slots; -1 if they cannot.

    W is ``prob.work[iw]``; for iw < 0 everyone has a W of their own, and the rent is no greater than for any W. Fills
    ``cheap*`` with the workers, those taken first; those not taken have ``cheap_x`` = 0.
    """
    spc.effort[SPENT] += 1 + n // 32
    k = 0
    total = 0
    w = prob.work[iw] if iw >= 0 else 0
    for j in range(n):
        q = rnt.able[j]
        x = min(rnt.able_x[j], prob.caps[iw, q] if iw >= 0 else rnt.able_up[j] // prob.w[q])
        if x > 0 and rnt.able_up[j] >= w:
            rnt.cheap[k], rnt.cheap_x[k], rnt.cheap_rent[k] = q, x, rnt.able_rent[j]
            total += x
            k += 1
    if total < prob.m:
        return -1
    spc.effort[SPENT] += n // 8
    return _pay(rnt, k, prob.m)


@kernel
def _swap(rnt: Rents, i: int, j: int) -> None:
    rnt.cheap[i], rnt.cheap[j] = rnt.cheap[j], rnt.cheap[i]
    rnt.cheap_x[i], rnt.cheap_x[j] = rnt.cheap_x[j], rnt.cheap_x[i]
    rnt.cheap_rent[i], rnt.cheap_rent[j] = rnt.cheap_rent[j], rnt.cheap_rent[i]


@kernel
def _pay(rnt: Rents, n: int, tasks: int) -> int:
    """Least rent, fractional, for so many tasks by ``cheap[:n]``, who hold enough.

    Puts those to be taken in front, as quickselect does: O(n) as a rule.
    """
    x, rent = rnt.cheap_x, rnt.cheap_rent
    low, high = 0, n
    left = tasks
    cost = 0
    while left > 0:
        pivot_x, pivot_rent = x[(low + high) // 2], rent[(low + high) // 2]
        # low..i-1 ask less for a task than the pivot, i..k-1 as much, j..high-1 more.
        i, k, j = low, low, high
        less = 0
        less_rent = 0
        while k < j:
            ahead = rent[k] * pivot_x - pivot_rent * x[k]
            if ahead < 0:
                less += x[k]
                less_rent += rent[k]
                _swap(rnt, i, k)
                i += 1
                k += 1
            elif ahead == 0:
                k += 1
            else:
                j -= 1
                _swap(rnt, k, j)
        if less >= left:
            high = i
            continue
        left -= less
        cost += less_rent
        while i < k and left > 0:
            if x[i] <= left:
                cost += rent[i]
                left -= x[i]
            else:
                cost += rent[i] * left // x[i]
                left = 0
            i += 1
        low = i
    for k in range(low, n):
        x[k] = 0
    return cost


@kernel
def _is_dominated(tab: Table, prob: Problem, spc: Space, rnt: Rents, low: int, n: int, t: int, left: int) -> bool:
    """Return whether the label (t, `hope`, left) is dominated by one of the labels low..n-1."""
    spc.effort[SPENT] += 1 + (n - low) // 8
    for i in range(low, n):
        t1 = rnt.start[i]
        if t1 < 0 or t1 > t or rnt.left[i] < left:
            continue
        good = True
        for k in range(prob.words):
            rest = rnt.hope[k]
            if t1 == t:
                if rest & ~rnt.held[i, k]:
                    good = False
                continue
            q = 64 * k
            while good and rest:
                if rest & np.uint64(1):
                    first = tab.down[t - 1, q] + 1
                    if first > t1 or not has(rnt.held[i], q):
                        good = tab.cnt[t, q] - tab.cnt[max(first, t1), q] >= prob.t_prog
                rest >>= np.uint64(1)
                q += 1
        if good:
            return True
    return False


@kernel
def _drop_dominated(rnt: Rents, low: int, n: int, t: int, left: int) -> None:
    """Drop those of the labels low..n-1 with the same slot that (t, `hope`, left) dominates."""
    for i in range(low, n):
        if rnt.start[i] == t and rnt.left[i] <= left and within(rnt.held[i], rnt.hope):
            rnt.start[i] = -1


@kernel
def _look(tab: Table, prob: Problem, spc: Space, rnt: Rents, s: int, e: int, held: Words, end: int) -> int:
    """Prepare for iterations in slots s..e; list the workers that can compute in one, and return their number."""
    spc.effort[SPENT] += 1 + prob.p // 8
    prepare(tab, prob, spc, s, e, held, end)
    n = 0
    for q in range(prob.p):
        if tab.cnt[e + 1, q] > tab.cnt[e, q] and tab.cnt[e, q] >= spc.base[q] + prob.t_data:
            rnt.alive[n] = q
            n += 1
    return n


@kernel
def _programs(tab: Table, prob: Problem, spc: Space, mode: int, s: int, c: int) -> int:
    """Most programs that can be delivered in slots s..c-1 together with the data; `prepare` was called."""
    n = 0
    for q in range(prob.p):
        if spc.lo[q] < c and tab.cnt[c, q] - tab.cnt[spc.lo[q], q] >= prob.t_prog:
            n += 1
    if mode == OWN:
        n = min(n, prob.m)
    return min(n, programs_sent(prob, s, c))


@kernel
def _search(
    tab: Table, prob: Problem, spc: Space, memo: Ints, rnt: Rents, mode: int, iterations: int, end: int, horizon: int
) -> int:
    """Look for a chain within `end` slots, all of them known; return the label of the best one, or a reason."""
    effort, first = spc.effort, rnt.first
    first[0], first[1] = 0, 1
    rnt.start[0], rnt.left[0], rnt.parent[0] = 0, 0, -1
    for k in range(prob.words):
        rnt.held[0, k] = np.uint64(0)
    n = 1
    for done in range(iterations):
        low = n
        for i in range(first[done], low):
            s = rnt.start[i]
            if s < 0:
                continue
            free = compose(tab, prob, spc, memo, s, 1, horizon)
            if free == BEYOND:
                continue
            if free == PAUSE:
                return STOPPED
            for e in range(max(free, rnt.soonest[done + 1]) - 1, min(end, rnt.latest[done + 1])):
                ahead = compose(tab, prob, spc, memo, e + 1, iterations - done - 1, horizon)
                if ahead == PAUSE or effort[SPENT] > effort[STOP]:
                    return STOPPED
                if ahead == BEYOND or ahead > end:
                    break
                num_alive = _look(tab, prob, spc, rnt, s, e, rnt.held[i], end)
                most_left = -1
                for c in range(e, s - 1, -1):
                    if prob.n_com * (c - s) < prob.m * prob.t_data:
                        break
                    effort[SPENT] += 1 + prob.p // 16
                    most = rnt.left[i] + _programs(tab, prob, spc, mode, s, c) * rnt.phi[c]
                    if most <= most_left:
                        continue
                    num_able = _gather(tab, prob, spc, rnt, num_alive, c, e)
                    cost = _cheapest(prob, spc, rnt, num_able, -1)
                    if cost < 0 or most - cost <= most_left:
                        continue
                    cost, best_iw = -1, -1
                    for iw in range(prob.work.size):
                        if prob.work[iw] > e - c + 1:
                            break
                        v = _cheapest(prob, spc, rnt, num_able, iw)
                        if v >= 0 and (cost < 0 or v < cost):
                            cost, best_iw = v, iw
                    left = most - cost
                    if cost < 0 or left <= most_left:
                        continue
                    most_left = left
                    assign(rnt.hope, spc.sure)
                    for q in range(prob.p):
                        if has(spc.mine, q) and spc.ready[q] <= c:
                            add(rnt.hope, q)
                    if _is_dominated(tab, prob, spc, rnt, low, n, e + 1, left):
                        continue
                    _drop_dominated(rnt, low, n, e + 1, left)
                    if n == rnt.start.size:
                        return STOPPED
                    rnt.start[n] = e + 1
                    rnt.left[n] = left
                    rnt.parent[n] = i
                    rnt.c[n] = c
                    rnt.iw[n] = best_iw
                    assign(rnt.held[n], rnt.hope)
                    n += 1
        first[done + 2] = n
        if n == low:
            return REFUTED
    best = -1
    for i in range(first[iterations], n):
        if rnt.start[i] >= 0 and (best < 0 or rnt.left[i] > rnt.left[best]):
            best = i
    return best


@kernel
def _learn(tab: Table, prob: Problem, spc: Space, rnt: Rents, mode: int, label: int, iterations: int, end: int) -> None:
    """Enter the chain that leads to a label into ``usage`` and ``loss``."""
    usage, ends = rnt.usage, rnt.ends
    rnt.chains[0] += 1
    k = iterations
    while label > 0:
        i = rnt.parent[label]
        t = rnt.start[label]
        ends[CHAINS, k] += 1
        ends[SUM, k] += t
        ends[LEAST, k] = min(ends[LEAST, k], t)
        ends[MOST, k] = max(ends[MOST, k], t)
        k -= 1
        s, c, e = rnt.start[i], rnt.c[label], rnt.start[label] - 1
        num_alive = _look(tab, prob, spc, rnt, s, e, rnt.held[i], end)
        num_able = _gather(tab, prob, spc, rnt, num_alive, c, e)
        _cheapest(prob, spc, rnt, num_able, rnt.iw[label])
        delivered = _programs(tab, prob, spc, mode, s, c) * prob.t_prog
        for h in range(STEPS):
            if rnt.steps[h] > c:
                rnt.loss[h] += delivered
        for j in range(num_able):
            if rnt.cheap_x[j] == 0:
                break
            q = rnt.cheap[j]
            birth = tab.down[e, q] + 1
            last = _last_of_life(tab, q, e, end)
            for h in range(STEPS):
                whole = part = 0.0
                for t in range(birth, min(last + 1, rnt.steps[h])):
                    whole += usage[t, q]
                    if c <= t <= e:
                        part += usage[t, q]
                if part > 0.0:
                    rnt.loss[h] -= prob.t_prog * part / whole
        for j in range(num_able):
            if rnt.cheap_x[j] == 0:
                break
            for t in range(c, e + 1):
                usage[t, rnt.cheap[j]] += 1.0 / (e - c + 1)
        label = i


@kernel
def merits(tab: Table, prob: Problem, rnt: Rents, end: int, merit: Reals) -> None:
    """Fill ``merit[t, q]`` with how often a chain used worker q from slot t on, until its next DOWN or slot `end`."""
    for q in range(prob.p):
        for t in range(merit.shape[0]):
            merit[t, q] = 0.0
        for t in range(min(end, merit.shape[0]) - 1, -1, -1):
            if tab.down[t, q] != t:
                merit[t, q] = rnt.usage[t, q] / max(1, rnt.chains[0])
                if t + 1 < merit.shape[0]:
                    merit[t, q] += merit[t + 1, q]


@kernel
def credit(prob: Problem, spc: Space, held: Words, t: int) -> float:
    """Slots that the channel would take for those programs of the holders that chains use from slot t on."""
    if t >= spc.merit.shape[0]:
        return 0.0
    programs = 0.0
    for q in range(prob.p):
        if has(held, q):
            programs += min(1.0, spc.merit[t, q])
    return programs * prob.t_prog / prob.n_com


@kernel
def begin_rents(tab: Table, prob: Problem, rnt: Rents) -> None:
    """Start with equal rents for all UP slots."""
    for t in range(rnt.usage.shape[0]):
        for q in range(prob.p):
            rnt.usage[t, q] = FAINT * (tab.cnt[t + 1, q] - tab.cnt[t, q])
    for i in range(STEPS):
        rnt.loss[i] = 0.0


@kernel
def refute(
    tab: Table,
    prob: Problem,
    spc: Space,
    memo: Ints,
    rnt: Rents,
    mode: int,
    iterations: int,
    end: int,
    horizon: int,
    rounds: int,
) -> int:
    """Try to prove that no schedule completes the iterations within `end` slots, all of which are known."""
    early = compose(tab, prob, spc, memo, 0, min(2, iterations), horizon)
    if early < 0 or early >= end:
        early = 0
    for i in range(STEPS):
        rnt.steps[i] = early + 1 + (end - early - 1) * i // (STEPS - 1)
    for k in range(iterations + 1):
        rnt.ends[CHAINS, k] = rnt.ends[SUM, k] = rnt.ends[MOST, k] = 0
        rnt.ends[LEAST, k] = NEVER
    for _ in range(rounds):
        _set_rents(tab, prob, rnt, end)
        spc.effort[SPENT] += 1 + prob.p * end // 16
        label = _search(tab, prob, spc, memo, rnt, mode, iterations, end, horizon)
        if label < 0:
            return label
        _learn(tab, prob, spc, rnt, mode, label, iterations, end)
    return OPEN


def split(rents: Rents, iterations: int) -> tuple[int, int] | None:
    """Return k and t to divide a cell by: whether the iteration after k starts before t or not; None if nothing does.

    The k for which the chains of the last question differ most, and their mean t.
    """
    ends = rents.ends
    best = None
    spread = 0
    for k in range(1, iterations):
        if ends[CHAINS, k] and ends[MOST, k] - ends[LEAST, k] > spread:
            spread = int(ends[MOST, k] - ends[LEAST, k])
            best = k, int(ends[SUM, k] // ends[CHAINS, k]) + 1
    if best is None:  # all alike: put that chain into the smaller part
        for k in range(1, iterations):
            t = int(ends[MOST, k])
            low, high = int(rents.soonest[k]), int(min(rents.latest[k], ends[MOST, iterations]))
            if ends[CHAINS, k] and min(high, t + 20) - max(low, t - 20) > spread:
                spread = min(high, t + 20) - max(low, t - 20)
                best = k, t + 1 if t < high else t
    return best
