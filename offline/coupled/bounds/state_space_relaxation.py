"""Merged labels: what the relaxed search sees, with rents to be paid (docs/model.md section 3, Merged labels).

The relaxed search (`constants.RELAXED`) sees who can compute together and who can hold a program by then, but programs
are free. The bound by rents (package `offline.coupled.rents`) charges them, but sees neither. Here all labels of the
relaxed search with k iterations and slot t are merged into one node (k, t), with all who hold the program in any of
them; an iteration from s to t computes from slot ``top`` at the latest, the last from which workers can compute it
together if those of node (k - 1, s) hold the program. An arc is paid as that of the graph of the rents is. What is
proven follows below, in four parts.

*Holders.* In every schedule of the part within the horizon, node (k, t) exists if iterations 1..k are complete within
t slots, and all who then hold the program, and to whom it is of use, are among its holders; the k-th computes from the
arc's ``top`` at the latest. For k = 0 nobody holds it. Let it be so for k - 1. The iteration is one of the relaxed
search for those holders: nobody but the members needs the channel. `together` finds the last slot from which it can
compute, and those who hold the program after it are survivors of the holders, or have T_prog UP slots before they
compute.

*Cost.* The members pay the rents of their lives at least, and the programs sent are no more than the channel has room
for before slot c. So what an arc is found to cost, the least over all c up to ``top``, is no more than what the
iteration pays, less what its programs are worth; and if all paths cost more than 0, no schedule of the part has a
makespan within the horizon, by Proposition 3.

*Fixing.* For the same reason no such schedule has an iteration whose arc, with the least path to it and from it, costs
more than 0: that arc is left out, or its ``top`` made lower. Then fewer workers may hold the program, and more arcs are
left out.

*Members.* Let worker q, who can hold X tasks, be a member of an iteration. It pays its rent r in full, and the others
hold m - X tasks at least. What tasks cost at least, fractional, is convex in their number; so if the m-th costs u, the
iteration pays r - u X more than the least, or more. Where that, for all arcs, slots c and W, with the least path to and
from them, is more than 0, no such schedule has q in that iteration. Nor does one compute from a slot c from which all
cost more than 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Flags, Int32s, Ints, Reals, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.bounds.iteration_knapsack import (
    Knapsack,
    cheapest,
    cheapest_below,
    list_able,
    list_fit,
    make_knapsack,
)
from hindsched.offline.coupled.bounds.prefetch_table import Prefetch, free_finish
from hindsched.offline.coupled.search.constants import (
    ANY_SLOT,
    FAR_AWAY,
    LIMIT,
    NO,
    NUM_MEMBERS,
    RELAXED,
    SPENT,
    STOP,
    TOGETHER_EFFORT,
    WORK,
)
from hindsched.offline.coupled.search.feasible_team_cache import FeasibleTeamCache, recall, remember
from hindsched.offline.coupled.search.holders import can_serve_all
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.normal_form import hold, prepare, programs_sent
from hindsched.offline.coupled.search.scratch_memory import Scratch
from hindsched.offline.coupled.search.state_tables import Table
from hindsched.offline.coupled.search.teams import begin_teams, next_team
from hindsched.offline.coupled.search.worker_order import order_workers

__all__ = [
    "ArcRoom",
    "Charges",
    "Merged",
    "lower",
    "make_arc_room",
    "make_merged",
    "narrow",
    "price_below",
    "together",
    "trace",
    "unfold",
    "use",
    "weigh",
    "weigh_members",
]


class Charges(NamedTuple):
    """What is paid: worker q, whose life is number ``life[t, q]``, pays ``rents[k, life]`` for the k-th iteration.

    A program sent in it is worth ``pi[k]``; ``paid`` is what is paid in any case.
    """

    life: Int32s
    rents: Ints
    pi: Ints
    paid: int


class ArcRoom(NamedTuple):
    """Room for what arcs cost, see `Merged`; all graphs of one size may share it, as it is filled anew by `weigh`."""

    cost: Ints
    c: Int32s
    iw: Int32s
    knapsack: Knapsack
    witnesses: FeasibleTeamCache


def make_arc_room(iterations: int, width: int, workers: int, witnesses: FeasibleTeamCache) -> ArcRoom:
    """Room for arcs between so many nodes of each number of iterations."""
    arcs = (iterations + 1, width, width)
    return ArcRoom(
        np.full(arcs, FAR_AWAY, np.int64),
        np.zeros(arcs, np.int32),
        np.zeros(arcs, np.int32),
        make_knapsack(workers),
        witnesses,
    )


class Merged(NamedTuple):
    """The nodes and arcs: (k, t) for t from ``early[k]`` to ``late[k]``; the arrays begin there.

    ``held[k, t]`` are the holders, ``is_new`` where they are not those that ``top`` was found for. ``top[k, s, t]`` is
    the last slot from which the k-th iteration can compute, ANY_SLOT if that is not known, -1 if there is no arc;
    ``cost[k, s, t]`` is what it costs at least, by an iteration that computes from slot ``c`` on and whose W has index
    ``iw``.
    """

    early: Ints
    late: Ints
    held: Words
    is_new: Flags
    top: Int32s
    cost: Ints
    c: Int32s
    iw: Int32s
    knapsack: Knapsack
    witnesses: FeasibleTeamCache


def make_merged(early: Ints, late: Ints, workers: int, room: ArcRoom) -> Merged:
    """Nodes in these windows, and all arcs between them; nothing is known of them."""
    shape = (len(early), int((late - early).max()) + 1)
    is_node = np.arange(shape[1]) <= (late - early)[:, None]
    top = np.full((*shape, shape[1]), -1, np.int32)
    top[1:][is_node[:-1, :, None] & is_node[1:, None, :]] = ANY_SLOT
    return Merged(
        early,
        late,
        held=np.zeros((*shape, (workers + 63) // 64), np.uint64),
        is_new=np.ones(shape, np.bool_),
        top=top,
        cost=room.cost,
        c=room.c,
        iw=room.iw,
        knapsack=room.knapsack,
        witnesses=room.witnesses,
    )


@kernel
def narrow(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    prefetch: Prefetch,
    iterations: int,
    horizon: int,
    early: Ints,
    late: Ints,
) -> int:
    """Make windows as narrow as the free-prefetch bound allows.

    Returns 1, 0 if no schedule is left, or what `prefetch.free_finish` returns if it is not known yet.
    """
    for k in range(1, iterations + 1):
        finish = free_finish(table, problem, scratch, prefetch, early[k - 1], horizon)
        if finish < 0:
            return int(finish)
        early[k] = max(early[k], finish)
        if early[k] > late[k]:
            return 0
    for k in range(iterations - 1, 0, -1):
        while late[k] >= early[k]:
            finish = free_finish(table, problem, scratch, prefetch, late[k], horizon)
            if finish < 0:
                return int(finish)
            if finish <= late[k + 1]:
                break
            late[k] -= 1
        if early[k] > late[k]:
            return 0
    return 1


@kernel
def together(table: Table, problem: Problem, scratch: Scratch, witnesses: FeasibleTeamCache, s: int, e: int) -> int:
    """Return the last slot from which an iteration in s..e can compute; -1 if none can; e if that is too much effort.

    `prepare` and `arrange` were called.
    """
    effort, counters = scratch.effort, scratch.counters
    effort[LIMIT] = min(effort[SPENT] + TOGETHER_EFFORT, effort[STOP])
    thr = begin_teams(table, problem, scratch, s, e)
    best = -1
    while True:
        c = next_team(table, problem, scratch, RELAXED, e, thr)
        if c < 0:
            return best if c == -1 else e
        size = counters[NUM_MEMBERS]
        members = scratch.tree.members[:size]
        if can_serve_all(table, problem, scratch, members, s, c, counters[WORK], size) != NO:
            best = thr = c
            remember(table, scratch.needs, witnesses, s, e, c, members, size)


@kernel
def unfold(
    table: Table, problem: Problem, scratch: Scratch, prefetch: Prefetch, merged: Merged, k: int, s: int, horizon: int
) -> None:
    """Find the arcs from node (k - 1, s), and who holds the program after them."""
    early, late, effort = merged.early, merged.late, scratch.effort
    row = s - early[k - 1]
    end = late[late.size - 1]
    held = merged.held[k - 1, row]
    is_new = merged.is_new[k - 1, row]
    first = free_finish(table, problem, scratch, prefetch, s, horizon)
    is_arranged = False
    for t in range(early[k], late[k] + 1):
        column = t - early[k]
        top = merged.top[k, row, column]
        if top >= 0 and first >= 0 and t < first:
            top = -1
        if top >= 0:
            effort[SPENT] += 1 + problem.p // 16
            prepare(table, problem, scratch.needs, s, t - 1, held, end)
            if is_new and recall(table, scratch.needs, merged.witnesses, s, t - 1) < top:
                if not is_arranged:
                    effort[SPENT] += 1 + problem.p // 4
                    order_workers(table, problem, scratch, s, t - 1, end)
                    is_arranged = True
                top = min(top, together(table, problem, scratch, merged.witnesses, s, t - 1))
        merged.top[k, row, column] = top
        if top >= 0:
            hold(problem, scratch.needs, merged.held[k, column], top)


@kernel
def weigh(table: Table, problem: Problem, scratch: Scratch, charges: Charges, merged: Merged, k: int) -> None:
    """Find what the arcs to the nodes of k iterations cost; what others cost stays as it was."""
    early, late = merged.early, merged.late
    for s in range(early[k - 1], late[k - 1] + 1):
        row = s - early[k - 1]
        for t in range(early[k], late[k] + 1):
            column = t - early[k]
            if merged.top[k, row, column] >= 0:
                _weigh(table, problem, scratch, charges, merged, k, s, t)


@kernel
def _weigh(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    charges: Charges,
    merged: Merged,
    k: int,
    s: int,
    t: int,
) -> None:
    """Find what the arc from (k - 1, s) to (k, t) costs: the least over all slots to compute from and all W."""
    knapsack, row, column = merged.knapsack, s - merged.early[k - 1], t - merged.early[k]
    num_able = _list_able(table, problem, scratch, merged, k, s, t)
    least = FAR_AWAY
    for c in range(merged.top[k, row, column], s - 1, -1):
        if problem.n_com * (c - s) < problem.m * problem.t_data:
            break
        base = -charges.pi[k] * programs_sent(problem, s, c)
        if base >= least:  # fewer programs are sent before an earlier slot
            break
        price, iw = price_below(table, problem, scratch, charges, knapsack, num_able, k, c, t, least - base)
        if price < 0:
            continue
        least = base + price
        merged.c[k, row, column], merged.iw[k, row, column] = c, iw
    merged.cost[k, row, column] = least
    if least >= FAR_AWAY:
        merged.top[k, row, column] = -1


@kernel
def _list_able(table: Table, problem: Problem, scratch: Scratch, merged: Merged, k: int, s: int, t: int) -> int:
    """List the workers that can compute in an arc from (k - 1, s) to (k, t), and return their number."""
    held, end = merged.held[k - 1, s - merged.early[k - 1]], merged.late[merged.late.size - 1]
    return list_able(table, problem, scratch, merged.knapsack, s, t - 1, held, end)


@kernel
def _list_payers(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    charges: Charges,
    knapsack: Knapsack,
    num_able: int,
    k: int,
    c: int,
    t: int,
) -> int:
    """List who can compute iteration k in slots c..t-1, with what they pay, and return their number."""
    num_fit = list_fit(table, problem, scratch, knapsack, num_able, c, t - 1)
    for j in range(num_fit):
        knapsack.fit_price[j] = charges.rents[k, charges.life[t - 1, knapsack.fit[j]]]
    return num_fit


@kernel
def price_below(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    charges: Charges,
    knapsack: Knapsack,
    num_able: int,
    k: int,
    c: int,
    t: int,
    most: int,
) -> tuple[int, int]:
    """Return what iteration k pays at least if it computes in c..t-1, and the index of its W; -1 if not below `most`.

    `list_able` was called.
    """
    num_fit = _list_payers(table, problem, scratch, charges, knapsack, num_able, k, c, t)
    return cheapest_below(problem, scratch, knapsack, num_fit, t - c, most)


@kernel
def lower(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    charges: Charges,
    merged: Merged,
    k: int,
    before: Ints,
    after: Ints,
) -> int:
    """Lower the ``top`` of arcs to nodes of k iterations as far as what paths cost allows; return how many are left.

    ``before`` are the least distances of the nodes that the arcs come from, ``after`` those from there to the end.
    """
    early, late, knapsack = merged.early, merged.late, merged.knapsack
    left = 0
    for s in range(early[k - 1], late[k - 1] + 1):
        row = s - early[k - 1]
        for t in range(early[k], late[k] + 1):
            column = t - early[k]
            c = merged.top[k, row, column]
            if c < 0:
                continue
            room = -before[row] - after[column]
            if merged.cost[k, row, column] > room:
                merged.top[k, row, column] = -1
                continue
            left += 1
            num_able = _list_able(table, problem, scratch, merged, k, s, t)
            while c > merged.c[k, row, column]:
                num_fit = _list_payers(table, problem, scratch, charges, knapsack, num_able, k, c, t)
                price = cheapest(problem, scratch, knapsack, num_fit, -1)
                if price >= 0 and price - charges.pi[k] * programs_sent(problem, s, c) <= room:
                    break
                c -= 1
            merged.top[k, row, column] = c
    return left


@kernel
def weigh_members(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    charges: Charges,
    merged: Merged,
    k: int,
    before: Ints,
    after: Ints,
    least: Ints,
    first: Flags,
) -> None:
    """Lower ``least[life]`` to what paths cost at least in whose k-th iteration the life computes.

    ``first`` is set for the slots from which that iteration computes in some path of interest.

    ``before`` are the least distances of the nodes that the arcs come from, ``after`` those from there to the end.
    Paths that cost more than 0 are of no interest.
    """
    early, late, knapsack = merged.early, merged.late, merged.knapsack
    for s in range(early[k - 1], late[k - 1] + 1):
        row = s - early[k - 1]
        for t in range(early[k], late[k] + 1):
            column = t - early[k]
            rest = before[row] + after[column]
            if merged.top[k, row, column] < 0 or merged.cost[k, row, column] + rest > 0:
                continue
            num_able = _list_able(table, problem, scratch, merged, k, s, t)
            for c in range(merged.top[k, row, column], s - 1, -1):
                if problem.n_com * (c - s) < problem.m * problem.t_data:
                    break
                base = rest - charges.pi[k] * programs_sent(problem, s, c)
                if base > 0:
                    break
                num_fit = _list_payers(table, problem, scratch, charges, knapsack, num_able, k, c, t)
                price = cheapest(problem, scratch, knapsack, num_fit, -1)
                if price < 0 or base + price > 0:
                    continue
                for iw in range(problem.work.size):
                    if problem.work[iw] > t - c:
                        break
                    price = cheapest(problem, scratch, knapsack, num_fit, iw)
                    if price < 0 or base + price > 0:
                        continue
                    first[c] = True
                    _weigh_each(problem, charges, knapsack, num_fit, k, t, iw, base + price, least)


@kernel
def _weigh_each(
    problem: Problem,
    charges: Charges,
    knapsack: Knapsack,
    num_fit: int,
    k: int,
    t: int,
    iw: int,
    total: int,
    least: Ints,
) -> None:
    """Lower ``least[life]`` for those of ``fit[:num_fit]`` who have W slots.

    ``total`` is the least cost of all paths with this c and W, and `cheapest` was called for them, which has put those
    taken in front, the last with the last of the tasks.
    """
    j = 0
    left = problem.m - knapsack.item_tasks[0]
    while left > 0:
        j += 1
        left -= knapsack.item_tasks[j]
    last_price, last_tasks = knapsack.item_price[j], knapsack.item_tasks[j]
    w = problem.work[iw]
    for i in range(num_fit):
        q = knapsack.fit[i]
        x = min(knapsack.fit_tasks[i], problem.caps[iw, q])
        if x > 0 and knapsack.fit_up[i] >= w:
            more = (knapsack.fit_price[i] * last_tasks - last_price * x) // last_tasks
            life = charges.life[t - 1, q]
            least[life] = min(least[life], total + max(0, more))


@kernel
def use(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    charges: Charges,
    knapsack: Knapsack,
    held: Words,
    k: int,
    s: int,
    c: int,
    t: int,
    iw: int,
    end: int,
    used: Reals,
) -> None:
    """Write what an iteration in s..t-1 uses of each life, found once more, as when it was paid."""
    num_able = list_able(table, problem, scratch, knapsack, s, t - 1, held, end)
    num_fit = _list_payers(table, problem, scratch, charges, knapsack, num_able, k, c, t)
    cheapest(problem, scratch, knapsack, num_fit, iw)
    left = problem.m
    j = 0
    while left > 0:  # those who are taken stand in front
        tasks = knapsack.item_tasks[j]
        used[k, charges.life[t - 1, knapsack.item[j]]] = min(1.0, left / tasks)
        left -= tasks
        j += 1


@kernel
def trace(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    charges: Charges,
    merged: Merged,
    used: Reals,
    sent: Ints,
    ends: Ints,
) -> None:
    """Write what the iterations of the path through nodes (k, ``ends[k]``) use of each life, and the programs sent."""
    early, end = merged.early, merged.late[ends.size - 1]
    for k in range(1, ends.size):
        s, t = ends[k - 1], ends[k]
        row, column = s - early[k - 1], t - early[k]
        c, iw = merged.c[k, row, column], merged.iw[k, row, column]
        sent[k] = programs_sent(problem, s, c)
        held = merged.held[k - 1, row]
        use(table, problem, scratch, charges, merged.knapsack, held, k, s, c, t, iw, end, used)
