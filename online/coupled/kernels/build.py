"""A configuration built task by task: the twin of `online.coupled.passive.Builder`, for a first time.

Two things make it fast, and neither changes what is built.

- *Nodes.* The tasks given so far are a node of a tree. At a node P_plus^(W-1) and E(W) of the configuration with one
  more task on worker q depend on nothing else, so they are computed once and kept, as plain numbers.
- *A scan in plain numbers.* At each step the criterion of every free worker is formed without logarithms; a worker that
  would lose even if it had nothing to receive is passed over. If the best is ahead of all others by a relative 1e-9, far
  more than rounding or the tolerance of ties, it is chosen. Otherwise, or where numbers come near the ends of the
  range of floats, the step is decided as the plain twin decides it.

What was built stays in the trace, for `online.coupled.kernels.review`.
"""

from __future__ import annotations

import numpy as np

from online.coupled.kernels.compiling import NONE, ONE, WORD, kernel, lowest
from online.coupled.kernels.estimates import not_down_row, place_of_slots, row_alone, whole_slots
from online.coupled.kernels.layout import BY_AY, BY_E, BY_P, BY_Y, Application, Choice, Plans, Standing, Tables, Trace
from online.coupled.kernels.nodes import fill, new_node
from online.coupled.kernels.steps import exact_step

__all__ = ["CLEAR", "LEAST", "build", "prepare"]

#: Criteria this far apart, relatively, are different beyond doubt.
CLEAR = 1e-9
#: Probabilities below are left to logarithms.
LEAST = 1e-280


@kernel(forceinline=True)
def prepare(application: Application, choice: Choice, tables: Tables, trace: Trace, standing: Standing, q: int) -> None:
    """Write what worker q has to receive for its tasks in ``trace.built`` and with one more, and how long that takes."""
    x = trace.built[q]
    lacks = application.t_prog - standing.program[q]
    trace.before[q] = lacks + max(0, x * application.t_data - standing.data[q]) if x > 0 else 0
    need = lacks + max(0, (x + 1) * application.t_data - standing.data[q])
    trace.need[q] = need
    alone = tables.alone[q, need] if need < tables.alone.shape[1] else np.nan
    if alone != alone:
        alone = row_alone(q, need, tables.alone, tables.single, choice.is_printed)
    trace.alone[q] = alone


@kernel(forceinline=True)
def build(
    application: Application,
    choice: Choice,
    tables: Tables,
    plans: Plans,
    trace: Trace,
    standing: Standing,
    up: WORD,
    first: int,
    elapsed: int,
) -> None:
    """Build from step ``first`` on; the steps before it stand. The UP workers can hold m tasks."""
    criterion = choice.build
    w, capacities, n_com, num_tasks = application.w, application.capacities, application.n_com, application.tasks
    success, duration, child = plans.success, plans.duration, plans.child
    built, before, need, alone = trace.built, trace.before, trace.need, trace.alone
    workers, holders, stays, rows = trace.workers, trace.holders, tables.stays, tables.not_down_slots
    row_mask = rows.size - 1
    time = float(elapsed) if criterion == BY_Y else 0.0
    if first == 0:
        trace.close[0] = NONE
        if plans.count[0] + num_tasks + 1 > child.shape[0]:
            plans.count[0] = 0
        if plans.count[0] == 0:
            new_node(plans, NONE, 0)
        trace.node[0] = 0
        trace.longest[0] = 0.0
        trace.needed[0] = 0
        trace.num_holders[0] = 0
    for q in range(built.size):
        built[q] = 0
    for k in range(first):
        built[trace.worker[k]] += 1
    num = 0
    rest = up
    while rest != NONE:
        q = lowest(rest)
        rest &= rest - ONE
        if built[q] < capacities[q]:
            workers[num] = q
            num += 1
            prepare(application, choice, tables, trace, standing, q)
    num_holders, node = trace.num_holders[first], trace.node[first]
    longest, needed = trace.longest[first], trace.needed[first]
    for k in range(first, num_tasks):
        best = -1
        best_value = best_bound = clear = rival = -np.inf
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
            if computation != computation:
                fill(application, choice, tables, plans, node, q, x + 1)
                computation = duration[node, q]
            # the criterion of a worker that has nothing to receive
            if criterion == BY_E:
                bound = -computation
            elif criterion == BY_P:
                bound = success[node, q]
            else:
                bound = success[node, q] / (computation + time)
            if bound < clear:
                rival = max(rival, bound)
                continue
            e_comm = max(longest, alone[q])
            if num_holders + (x == 0) > n_com:
                e_comm = max(e_comm, (needed + need[q] - before[q]) / n_com)
            if criterion == BY_E:
                value = -(computation + e_comm)
            else:
                whole = whole_slots(e_comm)
                row = place_of_slots(whole, row_mask)
                if rows[row] != whole:
                    not_down_row(whole, rows, tables.not_down, stays, tables.matrices)
                value = success[node, q]
                if x == 0:
                    value *= stays[row, q]
                for h in range(num_holders):
                    value *= stays[row, holders[h]]
                if criterion == BY_Y or criterion == BY_AY:
                    value /= computation + e_comm + time
            if e_comm == alone[q]:
                bound = value  # what others have yet to receive changes nothing, while this worker has as much to
            if value > best_value:
                is_close = best_value >= value - CLEAR * abs(value)
                rival = max(rival, best_bound)
                best_value, best_bound = value, bound
                clear = value - CLEAR * abs(value)
                best = q
            else:
                is_close = is_close or value >= clear
                rival = max(rival, bound)
        is_hard = best_value < LEAST if criterion != BY_E else best_value == -np.inf
        if is_hard or is_close:
            trace.close[0] = ~NONE
            rival = np.inf
            best = exact_step(application, choice, tables, plans, trace, num, node, num_holders, longest, needed, elapsed)
        q = best
        x = built[q] + 1
        trace.worker[k] = q
        trace.best[k] = -np.inf if is_hard else best_value
        trace.rival[k] = rival
        longest = max(longest, alone[q])
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
            prepare(application, choice, tables, trace, standing, q)
        trace.node[k + 1] = node
        trace.longest[k + 1] = longest
        trace.needed[k + 1] = needed
        trace.num_holders[k + 1] = num_holders
