"""Build a configuration task by task: the compiled twin of `hindsched.online.coupled.passive.Builder`.

Two devices make it fast; neither changes the result.

- *A tree.* The tasks assigned so far are a node of a tree. At a node, P_plus^(W-1) and E(W) with one more task on
  worker q depend on nothing else, so they are computed once and cached as plain numbers.
- *A scan in plain numbers.* Each step computes the criterion of every free worker without logarithms. It skips a worker
  that would lose even with nothing to receive. It chooses the best worker if that leads all others by a relative 1e-9,
  far more than rounding or the tolerance of ties. Otherwise, or near the ends of the range of floats, it decides with
  the logarithms of the plain twin.

The trace keeps the result with a guarantee for each step. For the next `HORIZON` slots in which transfers proceed or
time counts, the winner's criterion stays above ``clear`` and that of all others below, unless a worker arrives. For the
winner, fewer slots to receive are better, and criterion Y uses the latest time. For the others, members are assumed to
have received as much as they can by then. Steps from ``guaranteed`` on have no guarantee (see
`hindsched.online.coupled.kernels.rebuild_kernels`).

`build` is one long kernel, since its state is in local variables.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.arguments import (
    BY_Y,
    Application,
    BuildContext,
    BuildTrace,
    Heuristic,
    RunState,
    Tables,
)
from hindsched.online.coupled.kernels.bit_sets import NONE, ONE, WORD, lowest
from hindsched.online.coupled.kernels.criteria_kernels import (
    CLEAR_MARGIN,
    UNDECIDED,
    best_value,
    criterion_value,
    needs_logarithms,
)
from hindsched.online.coupled.kernels.estimate_kernels import duration_alone
from hindsched.online.coupled.kernels.log_criteria_kernels import exact_step
from hindsched.online.coupled.kernels.partial_configurations import add_node, fill_child

__all__ = ["HORIZON", "build", "cached_duration_alone", "need_for"]

#: Number of slots for which a step is guaranteed; more slots make fewer guarantees hold.
HORIZON = 12


@kernel(forceinline=True)
def need_for(application: Application, run_state: RunState, q: int, x: int) -> int:
    """Return the slots that worker q still has to receive for x >= 1 tasks."""
    need: int = application.t_prog - run_state.program[q] + max(0, x * application.t_data - run_state.data[q])
    return need


@kernel(forceinline=True)
def cached_duration_alone(heuristic: Heuristic, tables: Tables, q: int, need: int) -> float:
    """Return the expected slots until worker q has received ``need`` slots (see `duration_alone`)."""
    alone = tables.alone[q, need] if need < tables.alone.shape[1] else np.nan
    if np.isnan(alone):
        alone = duration_alone(q, need, tables.alone, tables.single, heuristic.estimator)
    return alone


@kernel(forceinline=True)
def prepare(
    application: Application,
    heuristic: Heuristic,
    tables: Tables,
    trace: BuildTrace,
    run_state: RunState,
    members: WORD,
    q: int,
) -> None:
    """Write what worker q has to receive for its tasks in ``trace.built`` and with one more, and the expected slots.

    ``trace.low`` is a lower bound on these slots at the horizon.
    """
    x = trace.built[q]
    trace.before[q] = need_for(application, run_state, q, x) if x > 0 else 0
    need = need_for(application, run_state, q, x + 1)
    trace.need[q] = need
    alone = cached_duration_alone(heuristic, tables, q, need)
    trace.alone[q] = alone
    if members >> WORD(q) & ONE:
        alone = cached_duration_alone(heuristic, tables, q, max(0, need - HORIZON))
    trace.low[q] = alone


@kernel(forceinline=True)
def build(
    context: BuildContext,
    run_state: RunState,
    up: WORD,
    members: WORD,
    first: int,
    elapsed: int,
) -> None:
    """Build from step ``first`` on and keep the steps before it; the UP workers can hold m tasks.

    ``members`` are enrolled now, so their needs may decrease.
    """
    application, heuristic, tables, tree, trace = context
    criterion = heuristic.build
    w, capacities, n_com, num_tasks = application.w, application.capacities, application.n_com, application.tasks
    success, duration, child = tree.success, tree.duration, tree.child
    built, before, need, alone, low = trace.built, trace.before, trace.need, trace.alone, trace.low
    workers, holders = trace.workers, trace.holders
    time = float(elapsed) if criterion == BY_Y else 0.0
    if first == 0:
        trace.close[0] = NONE
        if tree.num_nodes[0] + num_tasks + 1 > child.shape[0]:
            tree.num_nodes[0] = 0
        if tree.num_nodes[0] == 0:
            add_node(tree, NONE, 0)
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
        need_of = need_for(application, run_state, holders[h], built[holders[h]])
        needed += need_of
        longest = max(longest, cached_duration_alone(heuristic, tables, holders[h], need_of))
    num = 0
    rest = up
    while rest != NONE:
        q = lowest(rest)
        rest &= rest - ONE
        if built[q] < capacities[q]:
            workers[num] = q
            num += 1
            prepare(application, heuristic, tables, trace, run_state, members, q)
    guaranteed = num_tasks
    for k in range(first, num_tasks):
        best = -1
        most = best_bound = clear = rival = -np.inf
        is_close = False
        guess = trace.worker[k]  # the winner of the last build: its value rules most others out at once
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
                fill_child(application, heuristic, tables, tree, node, q, x + 1)
                computation = duration[node, q]
            bound = best_value(criterion, computation, success[node, q], time)
            if bound < clear:
                rival = max(rival, bound)
                continue
            e_comm = max(longest, alone[q])
            is_short = num_holders + (x == 0) > n_com
            if is_short:
                e_comm = max(e_comm, (needed + need[q] - before[q]) / n_com)
            reached = criterion_value(
                criterion, tables, computation, success[node, q], time, e_comm, q, x, holders, num_holders
            )
            if not is_short:
                e_low = max(lowest_longest, low[q])
                bound = reached
                if e_low < e_comm:
                    bound = criterion_value(
                        criterion, tables, computation, success[node, q], time, e_low, q, x, holders, num_holders
                    )
            if reached > most:
                is_close = most >= reached - CLEAR_MARGIN * abs(reached)
                rival = max(rival, best_bound)
                most, best_bound = reached, bound
                clear = reached - CLEAR_MARGIN * abs(reached)
                best = q
            else:
                is_close = is_close or reached >= clear
                rival = max(rival, bound)
        is_left = needs_logarithms(criterion, most)
        if is_left or is_close:
            trace.close[0] = ~NONE
            rival = np.inf
            best = exact_step(context, num, node, num_holders, longest, needed, elapsed)
        q = best
        x = built[q] + 1
        trace.worker[k] = q
        if criterion == BY_Y and not is_left:  # the time at the horizon
            most *= (duration[node, q] + time) / (duration[node, q] + time + HORIZON)
        trace.clear[k] = UNDECIDED if is_left else most - CLEAR_MARGIN * abs(most)
        if not rival < trace.clear[k]:
            guaranteed = min(guaranteed, k)
        longest = max(longest, alone[q])
        lowest_longest = max(lowest_longest, low[q])
        needed += need[q] - before[q]
        if x == 1:
            holders[num_holders] = q
            num_holders += 1
        next_node = child[node, q]
        if next_node < 0:
            next_node = add_node(tree, tree.members[node] | ONE << WORD(q), max(tree.work[node], x * w[q]))
            child[node, q] = next_node
        node = next_node
        built[q] = x
        if x < capacities[q]:
            prepare(application, heuristic, tables, trace, run_state, members, q)
        trace.node[k + 1] = node
        trace.lowest[k + 1] = lowest_longest
        trace.num_holders[k + 1] = num_holders
    trace.guaranteed[0] = guaranteed
