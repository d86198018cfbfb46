"""Labels: what an iteration leaves behind, which of them matter, and their queue.

By the normal form (module `iteration`) all that a valid schedule of the first k iterations hands
to the rest is the slot t after its last iteration and the set H of workers holding the program
then. A *label* (k, t, H) stands for one such schedule, kept as its parent label and the set S that
computes. Workers to whom the program is of no more use (`iteration.useful`) are left out of H:
they compute in no further iteration on the strength of it, so no completion changes.

**Dominance.** Let (k, t1, H1) and (k, t2, H2) be labels with t1 <= t2, such that every worker
of H2 is in H1 and not DOWN in [t1, t2), or belongs to a set Z; and, with stand-by, all of Z can be
sent the program in slots [t1, t2) after their last DOWN before t2 (a flow, as in `transfer`);
without stand-by, Z is empty. Then every completion of the second label is matched by one of
the first that ends no later: the second can be dropped.

*Proof.* Take a completion from (t2, H2), its first iteration in slots t2..e. From (t1, H1) start
that iteration in t1 instead: send Z its programs in [t1, t2), with no worker computing (the
configuration is incomplete), then do as the second schedule does. At t2 at least the workers of
H2 hold the program, and the master is as free as there. This is a valid iteration in t1..e, after
which the holders include those of the second schedule; with more holders, everything the second
does later can be done too. The last slot is the same. QED

In the relaxed search, where programs for stand-by workers are free, Z is charged to the channel as well: workers of Z
may compute in that very iteration, and then their programs are not free.

The names in this are free: let r be in H1 and not DOWN in [t1, t2), not in H2, and let q in H2 and r
have equal w and mu and both be UP in all slots from t2 to the end of what is of interest. Then r may
stand for q (`_twin_of`): exchange q and r in the completion of the second label, which is valid from H2
with r for q. Each r stands for one q.

With stand-by this leaves very few labels: whoever ends later must have gained, meanwhile, a
program that an idle master could not have delivered.

The queue is a binary heap on (key, more iterations first, older first): no ties are left to chance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from offline.coupled.native.constants import COUNT, DOMINANCE_EFFORT, HEAP, LIMIT, OWN, SPENT, STOP, YES
from offline.coupled.native.iteration import Space, is_up_throughout
from offline.coupled.native.kernels import Flags, Ints, Words, add, assign, has, kernel, popcount
from offline.coupled.native.parameters import Problem
from offline.coupled.native.state_tables import Table
from offline.coupled.native.transfer import can_send


class Labels(NamedTuple):
    """All labels and the queue, as parallel arrays.

    ``nxt`` is the next last slot to be tried from the label, ``older`` and ``newest`` chain the
    labels with the same number of iterations, ``tally[BEST]`` is the label to report.
    """

    done: Ints
    start: Ints
    held: Words
    parent: Ints
    nxt: Ints
    members: Words
    c: Ints
    iw: Ints
    dead: Flags
    older: Ints
    newest: Ints
    heap_key: Ints
    heap_label: Ints
    tally: Ints


def make_labels(iterations: int, words: int, room: int) -> Labels:
    """Arrays for `room` labels of at most `iterations` iterations, with the root label in place."""

    def ints(n: int) -> Ints:
        return np.zeros(n, np.int64)

    lab = Labels(
        done=ints(room),
        start=ints(room),
        held=np.zeros((room, words), np.uint64),
        parent=ints(room),
        nxt=ints(room),
        members=np.zeros((room, words), np.uint64),
        c=ints(room),
        iw=ints(room),
        dead=np.zeros(room, np.bool_),
        older=ints(room),
        newest=ints(iterations + 1) - 1,
        heap_key=ints(room),
        heap_label=ints(room),
        tally=ints(6),
    )
    lab.tally[COUNT] = lab.tally[HEAP] = 1
    lab.parent[0] = lab.older[0] = -1
    lab.newest[0] = 0
    return lab


def more_labels(lab: Labels) -> Labels:
    """Return the same labels with twice the room."""
    more = make_labels(len(lab.newest) - 1, lab.held.shape[1], 2 * len(lab.done))
    for new, old in zip(more, lab, strict=True):
        new[: len(old)] = old
    return more


@kernel
def _before(lab: Labels, a: int, b: int) -> bool:
    """Return whether cell a of the heap comes before cell b."""
    if lab.heap_key[a] != lab.heap_key[b]:
        return bool(lab.heap_key[a] < lab.heap_key[b])
    i, j = lab.heap_label[a], lab.heap_label[b]
    if lab.done[i] != lab.done[j]:
        return bool(lab.done[i] > lab.done[j])
    return bool(i < j)


@kernel
def _swap(lab: Labels, a: int, b: int) -> None:
    key, label = lab.heap_key[a], lab.heap_label[a]
    lab.heap_key[a], lab.heap_label[a] = lab.heap_key[b], lab.heap_label[b]
    lab.heap_key[b], lab.heap_label[b] = key, label


@kernel
def push(lab: Labels, key: int, label: int) -> None:
    """Queue a label; each is in the queue at most once."""
    n = lab.tally[HEAP]
    lab.heap_key[n] = key
    lab.heap_label[n] = label
    lab.tally[HEAP] = n + 1
    while n > 0 and _before(lab, n, (n - 1) // 2):
        _swap(lab, n, (n - 1) // 2)
        n = (n - 1) // 2


@kernel
def pop(lab: Labels) -> None:
    """Remove the head of the queue, ``heap_label[0]``."""
    n = lab.tally[HEAP] - 1
    lab.tally[HEAP] = n
    lab.heap_key[0] = lab.heap_key[n]
    lab.heap_label[0] = lab.heap_label[n]
    i = 0
    while 2 * i + 1 < n:
        j = 2 * i + 1
        if j + 1 < n and _before(lab, j + 1, j):
            j += 1
        if not _before(lab, j, i):
            break
        _swap(lab, i, j)
        i = j


@kernel
def _twin_of(tab: Table, prob: Problem, held: Words, taken: Words, q: int, t1: int, t: int, horizon: int) -> bool:
    """Take a worker that held the program from t1 to t and is a twin of q from t on; False if there is none."""
    for k in range(prob.words):
        if held[k] & ~taken[k]:
            for r in range(64 * k, min(prob.p, 64 * k + 64)):
                if (
                    prob.kind[r] == prob.kind[q]
                    and has(held, r)
                    and not has(taken, r)
                    and is_up_throughout(tab, r, t, horizon)
                    and (t == 0 or tab.down[t - 1, r] < t1)
                ):
                    add(taken, r)
                    return True
    return False


@kernel
def covered(
    tab: Table,
    prob: Problem,
    spc: Space,
    lab: Labels,
    mode: int,
    done: int,
    t: int,
    held: Words,
    horizon: int,
    skip: int,
) -> bool:
    """Return whether (done, t, held) is known to be dominated by a living label other than `skip`."""
    taken, part, lo = spc.own, spc.part, spc.part_lo
    effort = spc.effort
    effort[LIMIT] = min(effort[SPENT] + DOMINANCE_EFFORT, effort[STOP])
    looked_at = 0
    i = lab.newest[done]
    while i >= 0:
        looked_at += 1
        t1 = lab.start[i]
        good = not lab.dead[i] and i != skip and t1 <= t
        n = 0
        k = 0
        twins = False
        while good and k < prob.words:
            bits = held[k]
            while bits:
                lowest = bits & (~bits + np.uint64(1))
                bits ^= lowest
                q = 64 * k + popcount(lowest - np.uint64(1))
                first = tab.down[t - 1, q] + 1 if t > 0 else 0
                if first <= t1 and lab.held[i, k] & lowest:
                    continue
                if is_up_throughout(tab, q, t, horizon):
                    if not twins:
                        twins = True
                        assign(taken, held)
                    if _twin_of(tab, prob, lab.held[i], taken, q, t1, t, horizon):
                        continue
                part[n] = q
                lo[n] = max(first, t1)
                if mode == OWN or tab.cnt[t, q] - tab.cnt[lo[n], q] < prob.t_prog:
                    good = False
                    break
                n += 1
            k += 1
        if good and n > prob.n_com:
            for j in range(n):
                spc.part_prog[j] = prob.t_prog
            good = can_send(tab, spc.flow, prob.n_com, t1, t, part, spc.part_prog, lo, n) == YES
        if good:
            effort[SPENT] += 1 + looked_at // 4
            return True
        i = lab.older[i]
    effort[SPENT] += 1 + looked_at // 4
    return False
