"""A configuration built task by task: the twin of `hindsched.online.coupled.passive.Builder`, for a first time.

Two things make it fast, and neither changes what is built.

- *Nodes.* The tasks given so far are a node of a tree. At a node P_plus^(W-1) and E(W) of the configuration with one
  more task on worker q depend on nothing else, so they are computed once and kept, as plain numbers.
- *A scan in plain numbers.* At each step the criterion of every free worker is formed without logarithms; a worker that
  would lose even if it had nothing to receive is passed over. If the best is ahead of all others by a relative 1e-9,
  far more than rounding or the tolerance of ties, it is chosen. Otherwise, or where numbers come near the ends of
  the range of floats, the step is decided as the plain twin decides it.

What was built stays in the trace, with a promise for each step: for the next `HORIZON` slots in which transfers go on
or time counts, the winner's criterion stays above ``clear``, and that of all others below, if nobody new comes. (The
winner: the less there is to receive the better, and of criterion Y the time is taken as late as it may be. The others:
members are taken to have received what they can by then.) Steps from ``firm`` on have no such promise. See
`hindsched.online.coupled.kernels.rebuild_kernels`.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.arguments import BY_Y, Application, Choice, Plans, Standing, Tables, Trace
from hindsched.online.coupled.kernels.bit_sets import NONE, ONE, WORD, lowest
from hindsched.online.coupled.kernels.criteria_kernels import CLEAR, HARD, best_value, is_hard, value
from hindsched.online.coupled.kernels.estimate_kernels import row_alone
from hindsched.online.coupled.kernels.log_criteria_kernels import exact_step
from hindsched.online.coupled.kernels.partial_configurations import fill, new_node

__all__ = ["HORIZON", "alone_for", "build", "need_for"]

#: For how many slots a step is promised.
HORIZON = 12


@kernel(forceinline=True)
def need_for(application: Application, standing: Standing, q: int, x: int) -> int:
    """Return the slots that worker q has to receive for x >= 1 tasks."""
    need: int = application.t_prog - standing.program[q] + max(0, x * application.t_data - standing.data[q])
    return need


@kernel(forceinline=True)
def alone_for(choice: Choice, tables: Tables, q: int, need: int) -> float:
    """Return how long it takes worker q to receive so much, were it alone."""
    alone = tables.alone[q, need] if need < tables.alone.shape[1] else np.nan
    if np.isnan(alone):
        alone = row_alone(q, need, tables.alone, tables.single, choice.estimator)
    return alone


@kernel(forceinline=True)
def prepare(
    application: Application, choice: Choice, tables: Tables, trace: Trace, standing: Standing, members: WORD, q: int
) -> None:
    """Write what worker q has to receive for its tasks in ``trace.built`` and with one more, and how long that takes.

    ``trace.low`` is how long it takes at the horizon, at the least.
    """
    x = trace.built[q]
    trace.before[q] = need_for(application, standing, q, x) if x > 0 else 0
    need = need_for(application, standing, q, x + 1)
    trace.need[q] = need
    alone = alone_for(choice, tables, q, need)
    trace.alone[q] = alone
    if members >> WORD(q) & ONE:
        alone = alone_for(choice, tables, q, max(0, need - HORIZON))
    trace.low[q] = alone


@kernel(forceinline=True)
def build(
    application: Application,
    choice: Choice,
    tables: Tables,
    plans: Plans,
    trace: Trace,
    standing: Standing,
    up: WORD,
    members: WORD,
    first: int,
    elapsed: int,
) -> None:
    """Build from step ``first`` on; the steps before it stand. The UP workers can hold m tasks.

    ``members`` are enrolled now, so that what they have to receive may become less.
    """
    criterion = choice.build
    w, capacities, n_com, num_tasks = application.w, application.capacities, application.n_com, application.tasks
    success, duration, child = plans.success, plans.duration, plans.child
    built, before, need, alone, low = trace.built, trace.before, trace.need, trace.alone, trace.low
    workers, holders = trace.workers, trace.holders
    time = float(elapsed) if criterion == BY_Y else 0.0
    if first == 0:
        trace.close[0] = NONE
        if plans.num_nodes[0] + num_tasks + 1 > child.shape[0]:
            plans.num_nodes[0] = 0
        if plans.num_nodes[0] == 0:
            new_node(plans, NONE, 0)
        trace.node[0] = 0
        trace.lowest[0] = 0.0
        trace.num_holders[0] = 0
    for q in range(built.size):
        built[q] = 0
    for k in range(first):
        built[trace.worker[k]] += 1
    num_holders, node, lowest_longest = trace.num_holders[first], trace.node[first], trace.lowest[first]
    longest = 0.0
    needed = 0
    for h in range(num_holders):
        need_of = need_for(application, standing, holders[h], built[holders[h]])
        needed += need_of
        longest = max(longest, alone_for(choice, tables, holders[h], need_of))
    num = 0
    rest = up
    while rest != NONE:
        q = lowest(rest)
        rest &= rest - ONE
        if built[q] < capacities[q]:
            workers[num] = q
            num += 1
            prepare(application, choice, tables, trace, standing, members, q)
    firm = num_tasks
    for k in range(first, num_tasks):
        best = -1
        most = best_bound = clear = rival = -np.inf
        is_close = False
        guess = trace.worker[k]  # who won last time: most others are then seen to lose at one glance
        for i in range(-1, num):
            if i < 0:
                q = guess
                if not up >> WORD(q) & ONE:
                    continue
            else:
                q = workers[i]
                if q == guess:
                    continue
            x = built[q]
            if x == capacities[q]:
                continue
            computation = duration[node, q]
            if np.isnan(computation):
                fill(application, choice, tables, plans, node, q, x + 1)
                computation = duration[node, q]
            bound = best_value(criterion, computation, success[node, q], time)
            if bound < clear:
                rival = max(rival, bound)
                continue
            e_comm = max(longest, alone[q])
            is_short = num_holders + (x == 0) > n_com
            if is_short:
                e_comm = max(e_comm, (needed + need[q] - before[q]) / n_com)
            reached = value(criterion, tables, computation, success[node, q], time, e_comm, q, x, holders, num_holders)
            if not is_short:
                e_low = max(lowest_longest, low[q])
                bound = reached
                if e_low < e_comm:
                    bound = value(
                        criterion, tables, computation, success[node, q], time, e_low, q, x, holders, num_holders
                    )
            if reached > most:
                is_close = most >= reached - CLEAR * abs(reached)
                rival = max(rival, best_bound)
                most, best_bound = reached, bound
                clear = reached - CLEAR * abs(reached)
                best = q
            else:
                is_close = is_close or reached >= clear
                rival = max(rival, bound)
        is_left = is_hard(criterion, most)
        if is_left or is_close:
            trace.close[0] = ~NONE
            rival = np.inf
            best = exact_step(
                application, choice, tables, plans, trace, num, node, num_holders, longest, needed, elapsed
            )
        q = best
        x = built[q] + 1
        trace.worker[k] = q
        if criterion == BY_Y and not is_left:  # the time at the horizon
            most *= (duration[node, q] + time) / (duration[node, q] + time + HORIZON)
        trace.clear[k] = HARD if is_left else most - CLEAR * abs(most)
        if not rival < trace.clear[k]:
            firm = min(firm, k)
        longest = max(longest, alone[q])
        lowest_longest = max(lowest_longest, low[q])
        needed += need[q] - before[q]
        if x == 1:
            holders[num_holders] = q
            num_holders += 1
        next_node = child[node, q]
        if next_node < 0:
            next_node = new_node(plans, plans.members[node] | ONE << WORD(q), max(plans.work[node], x * w[q]))
            child[node, q] = next_node
        node = next_node
        built[q] = x
        if x < capacities[q]:
            prepare(application, choice, tables, trace, standing, members, q)
        trace.node[k + 1] = node
        trace.lowest[k + 1] = lowest_longest
        trace.num_holders[k + 1] = num_holders
    trace.firm[0] = firm
