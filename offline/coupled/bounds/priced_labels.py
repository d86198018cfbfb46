"""Labels that pay rents: the relaxed search, with programs charged to the channel (docs/model.md section 3).

A label (t, H, cost) stands for k iterations after which slot t comes, H are all workers that could hold the program,
and ``cost`` is what their members pay at least, less what the programs are worth that could be sent. An iteration that
follows is one of the relaxed search, paid as an arc of the graph of merged labels (module `merged`), whose distances
tell which labels are of interest. There all holders in one slot are merged; here they are not.

**Proposition.** Let rents and values be as in Proposition 3, for a horizon V and a part of the schedules. If no label
of K iterations within V slots costs 0 or less, no schedule of the part has makespan V or less.

*Proof.* Take a schedule of the part, of makespan V or less. Its first k iterations, complete within t2 slots, are
*matched* by a label (t1, H1, cost1) if t1 <= t2, cost1 is no more than they pay, less what the programs of their
communications are worth, and there is a set Z of workers who can be sent the program in t1..t2-1, after their last DOWN
before t2, such that everyone who holds the program in t2, and to whom it is of use, is in H1 and not DOWN in t1..t2-1,
or is in Z. The root matches 0 iterations. Let a label match k of them, and let S compute iteration k + 1 in c..e. From
t1 the channel can send Z their programs in t1..t2-1 and do as the schedule does from t2 on: so S can compute from c on,
and c is not after the last slot that `together` finds; nor is it after ``top``, nor the cost below ``arc``, which hold
for t2 as for every slot from t1 on. Each q in S can hold no fewer tasks than in the schedule, the programs that the
channel has room for in t1..c-1 are no fewer than in t2..c-1, and the new holders, all survivors of H1 and who has
T_prog UP slots in t1..c-1, include those of the schedule. So the label made for (e + 1, c), or one for a later c that
costs no more and has no fewer holders, matches k + 1 iterations. A label is dropped if another of as many iterations
starts no later, costs no more, and `covers` its holders: that one matches what this one did. And it is left out if it
costs more than what remains is sure to bring back, ``rest``: then a schedule that it matches would pay more than its
programs are worth. By Proposition 3 none does, so some label matches all K iterations, and costs 0 or less. QED

So a node (k, t) for which no label is made, kept or dropped, is in no schedule of the part within V: the label that
matches k - 1 iterations of one that goes through it would have led there.

Members are not exchanged for symmetric ones here: each life has a rent of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Flags, Ints, Reals, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.bounds.iteration_knapsack import Knapsack, list_able, make_knapsack
from hindsched.offline.coupled.bounds.prefetch_table import Prefetch, free_finish
from hindsched.offline.coupled.bounds.state_space_relaxation import Charges, Merged, price_below, together, use
from hindsched.offline.coupled.search.bitsets import assign, within
from hindsched.offline.coupled.search.constants import (
    DOMINANCE_EFFORT,
    DROPPED,
    FAR_AWAY,
    LIMIT,
    NEVER,
    PAYING_LABELS,
    REFUTED,
    RELAXED,
    SPENT,
    STOP,
    STOPPED,
)
from hindsched.offline.coupled.search.dominance import covers
from hindsched.offline.coupled.search.feasible_team_cache import FeasibleTeamCache, recall
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.normal_form import hold, programs_sent
from hindsched.offline.coupled.search.scratch_memory import Scratch
from hindsched.offline.coupled.search.state_tables import Table
from hindsched.offline.coupled.search.worker_order import order_workers

__all__ = ["Outlook", "PayingLabels", "find_path", "make_paying_labels", "trace_label"]


class Outlook(NamedTuple):
    """What may follow, by the graph of merged labels.

    An iteration that leads from slot s or a later one to (k, t) computes from slot ``top[k, s, t]`` at the latest and
    costs ``arc[k, s, t]`` at least; ``rest[k, t]`` is what the iterations after k cost at least that start in slot t or
    later. ``reached[k, t]`` is set where some label of k iterations was made that starts in slot t, kept or not. The
    arrays begin as those of `Merged`.
    """

    top: Ints
    arc: Ints
    rest: Ints
    reached: Flags


class PayingLabels(NamedTuple):
    """Labels of k iterations are ``first[k]..first[k + 1] - 1``, by start; one that was dropped has the parent DROPPED.

    An iteration's members compute from slot ``c`` on, its W has index ``iw``. ``hoped`` is the H of the label that is
    being made.
    """

    first: Ints
    start: Ints
    cost: Ints
    parent: Ints
    c: Ints
    iw: Ints
    held: Words
    hoped: Words
    knapsack: Knapsack


def make_paying_labels(workers: int, iterations: int) -> PayingLabels:
    """Room for labels of so many iterations."""

    def ints(n: int) -> Ints:
        return np.zeros(n, np.int64)

    words = (workers + 63) // 64
    return PayingLabels(
        first=ints(iterations + 2),
        start=ints(PAYING_LABELS),
        cost=ints(PAYING_LABELS),
        parent=ints(PAYING_LABELS),
        c=ints(PAYING_LABELS),
        iw=ints(PAYING_LABELS),
        held=np.zeros((PAYING_LABELS, words), np.uint64),
        hoped=np.zeros(words, np.uint64),
        knapsack=make_knapsack(workers),
    )


@kernel
def find_path(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    prefetch: Prefetch,
    charges: Charges,
    merged: Merged,
    outlook: Outlook,
    labels: PayingLabels,
    iterations: int,
    horizon: int,
) -> int:
    """Look for labels of all iterations that cost 0 or less; return the cheapest.

    Or `constants.REFUTED` if there is none, STOPPED if the effort or the room for labels did not suffice. ``horizon``
    is the number of slots that there are.
    """
    first, early, late = labels.first, merged.early, merged.late
    end = late[iterations]
    first[0], first[1] = 0, 1
    labels.start[0], labels.cost[0], labels.parent[0] = 0, charges.paid, -1
    for j in range(problem.num_words):
        labels.held[0, j] = np.uint64(0)
    n = 1
    for k in range(1, iterations + 1):
        low = n
        for t in range(early[k], late[k] + 1):
            for i in range(first[k - 1], low):
                if labels.parent[i] == DROPPED:
                    continue
                s = labels.start[i]
                if scratch.effort[SPENT] > scratch.effort[STOP]:
                    return STOPPED
                finish = free_finish(table, problem, scratch, prefetch, s, horizon)
                if finish < 0:
                    return STOPPED
                if finish > t:
                    break
                scratch.effort[SPENT] += 1
                row, column = s - early[k - 1], t - early[k]
                arc, rest = outlook.arc[k, row, column], outlook.rest[k, column]
                if arc >= FAR_AWAY or rest >= FAR_AWAY or labels.cost[i] + arc + rest > 0:
                    continue
                witnesses = merged.witnesses
                n = _extend(
                    table, problem, scratch, charges, witnesses, outlook, labels, k, i, t, low, n, row, column, end
                )
                if n < 0:
                    return STOPPED
        first[k + 1] = n
        if n == low:
            return REFUTED
    best = -1
    for i in range(first[iterations], n):
        if labels.parent[i] != DROPPED and (best < 0 or labels.cost[i] < labels.cost[best]):
            best = i
    return best


@kernel
def _extend(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    charges: Charges,
    witnesses: FeasibleTeamCache,
    outlook: Outlook,
    labels: PayingLabels,
    k: int,
    i: int,
    t: int,
    low: int,
    n: int,
    row: int,
    column: int,
    end: int,
) -> int:
    """Make labels low..n-1 of k iterations more by those that follow label i and start in slot t.

    What is known of the arc, and of what remains, is at ``row`` and ``column``. Returns how many labels there are now;
    -1 if there is no room. Of a later slot c to compute from more programs and holders come, so only slots that cost
    less than every later one count.
    """
    effort, knapsack = scratch.effort, labels.knapsack
    s, e = labels.start[i], t - 1
    num_able = list_able(table, problem, scratch, knapsack, s, e, labels.held[i], end)
    least = 1 - outlook.rest[k, column]
    is_asked = False
    c = outlook.top[k, row, column] + 1
    while c > s:
        c -= 1
        if problem.n_com * (c - s) < problem.m * problem.t_data:
            break
        base = labels.cost[i] - charges.pi[k] * programs_sent(problem, s, c)
        if base >= least:
            break
        price, iw = price_below(table, problem, scratch, charges, knapsack, num_able, k, c, t, least - base)
        if price < 0:
            continue
        if not is_asked:
            is_asked = True
            if recall(table, scratch.needs, witnesses, s, e) < c:
                order_workers(table, problem, scratch, s, e, end)
                last = together(table, problem, scratch, witnesses, s, e)
                if last < c:
                    c = last + 1
                    continue
        cost = least = base + price
        outlook.reached[k, column] = True
        # All that could hold the program afterwards do.
        labels.hoped[:] = np.uint64(0)
        hold(problem, scratch.needs, labels.hoped, c)
        effort[SPENT] += 1 + problem.p // 16
        if _is_dominated(table, problem, scratch, labels, low, n, t, cost):
            continue
        _drop_dominated(labels, low, n, t, cost)
        if n == labels.start.size:
            return -1
        labels.start[n], labels.cost[n], labels.parent[n], labels.c[n], labels.iw[n] = t, cost, i, c, iw
        assign(labels.held[n], labels.hoped)
        n += 1
    return n


@kernel
def _is_dominated(
    table: Table, problem: Problem, scratch: Scratch, labels: PayingLabels, low: int, n: int, t: int, cost: int
) -> bool:
    """Return whether the label (t, ``hoped``, cost) is dominated by one of the labels low..n-1, who start no later."""
    effort = scratch.effort
    effort[SPENT] += 1 + (n - low) // 8
    effort[LIMIT] = min(effort[SPENT] + DOMINANCE_EFFORT, effort[STOP])
    for i in range(n - 1, low - 1, -1):
        if labels.parent[i] == DROPPED or labels.cost[i] > cost:
            continue
        if covers(table, problem, scratch, RELAXED, labels.start[i], labels.held[i], t, labels.hoped, NEVER):
            return True
    return False


@kernel
def _drop_dominated(labels: PayingLabels, low: int, n: int, t: int, cost: int) -> None:
    """Drop those of the labels low..n-1 with the same slot that (t, ``hoped``, cost) dominates."""
    for i in range(n - 1, low - 1, -1):
        if labels.start[i] < t:
            return
        if labels.cost[i] >= cost and within(labels.held[i], labels.hoped):
            labels.parent[i] = DROPPED


@kernel
def trace_label(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    charges: Charges,
    labels: PayingLabels,
    label: int,
    end: int,
    used: Reals,
    sent: Ints,
    ends: Ints,
) -> None:
    """Write what the iterations that lead to a label use of each life, the programs sent, and the slot after each."""
    for k in range(ends.size - 1, 0, -1):
        i = labels.parent[label]
        s, c, t = labels.start[i], labels.c[label], labels.start[label]
        ends[k] = t
        sent[k] = programs_sent(problem, s, c)
        iw, held = labels.iw[label], labels.held[i]
        use(table, problem, scratch, charges, labels.knapsack, held, k, s, c, t, iw, end, used)
        label = i
