"""Build a configuration task by task: the compiled twin of `hindsched.online.coupled.passive.Builder`.

Three devices make it fast; none changes the result.

- *A tree.* The tasks assigned so far are a node of a tree. At a node, P_plus^(W-1) and E(W) with one more task on
  worker q depend on nothing else, so they are computed once and cached as plain numbers.
- *Bounds.* A worker that certainly loses against the best one needs no estimate of the set with it (see
  `hindsched.online.coupled.kernels.bound_kernels`).
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

from hindsched.instances.array_types import Words
from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.arguments import (
    BY_Y,
    BuildContext,
    RunState,
)
from hindsched.online.coupled.kernels.bit_sets import NONE, ONE, add, contains, lowest
from hindsched.online.coupled.kernels.bit_sets import clear as clear_set
from hindsched.online.coupled.kernels.bound_kernels import fill_bound
from hindsched.online.coupled.kernels.criteria_kernels import (
    CLEAR_MARGIN,
    UNDECIDED,
    best_value,
    criterion_value,
    needs_logarithms,
)
from hindsched.online.coupled.kernels.log_criteria_kernels import exact_step
from hindsched.online.coupled.kernels.needs import HORIZON, cached_duration_alone, least_alone, need_for
from hindsched.online.coupled.kernels.partial_configurations import add_node, fill_child, key_of_child

__all__ = ["build"]


@kernel(forceinline=True)
def build(context: BuildContext, run_state: RunState, up: Words, first: int, elapsed: int) -> None:
    """Build from step ``first`` on and keep the steps before it; the UP workers can hold m tasks.

    The needs of ``trace.enrolled`` workers may decrease.
    """
    application, heuristic, tables, tree, trace = context
    criterion = heuristic.build
    w, capacities, n_com, num_tasks = application.w, application.capacities, application.n_com, application.tasks
    success, duration, child = tree.success, tree.duration, tree.child
    built, workers, holders, chosen = trace.built, trace.workers, trace.holders, trace.chosen
    time = float(elapsed) if criterion == BY_Y else 0.0
    if first == 0:
        clear_set(trace.close)
        if tree.num_nodes[0] + num_tasks + 1 > child.shape[0]:
            tree.num_nodes[0] = 0
        if tree.num_nodes[0] == 0:
            add_node(tree, NONE, NONE, 0)
        trace.node[0] = 0
        trace.lowest[0] = 0.0
        trace.num_holders[0] = 0
    for q in range(built.size):
        built[q] = 0
    clear_set(chosen)
    for k in range(first):
        built[trace.worker[k]] += 1
        add(chosen, trace.worker[k])
    num_holders, node, lowest_longest = trace.num_holders[first], trace.node[first], trace.lowest[first]
    longest = 0.0
    needed = 0
    for h in range(num_holders):
        need_of = need_for(application, run_state, holders[h], built[holders[h]])
        needed += need_of
        longest = max(longest, cached_duration_alone(heuristic, tables, holders[h], need_of))
    num = 0
    for j in range(up.size):
        rest = up[j]
        while rest != NONE:
            q = 64 * j + lowest(rest)
            rest &= rest - ONE
            if built[q] < capacities[q]:
                workers[num] = q
                num += 1
    guaranteed = num_tasks
    for k in range(first, num_tasks):
        best = -1
        most = best_bound = clear = rival = -np.inf
        is_close = False
        guess = trace.worker[k]  # the winner of the last build: its value rules most others out at once
        for i in range(-1, num):
            if i < 0:
                q = guess
                if not contains(up, q):
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
                fill_bound(context, node, num_holders, q, x + 1)
                computation = duration[node, q]
            bound = best_value(criterion, abs(computation), success[node, q], time)
            if bound < clear:
                rival = max(rival, bound)
                continue
            need = need_for(application, run_state, q, x + 1)
            alone = cached_duration_alone(heuristic, tables, q, need)
            e_comm = max(longest, alone)
            is_short = num_holders + (x == 0) > n_com
            if is_short:
                before = need_for(application, run_state, q, x) if x > 0 else 0
                e_comm = max(e_comm, (needed + need - before) / n_com)
            while True:
                reached = criterion_value(
                    criterion, tables, abs(computation), success[node, q], time, e_comm, q, x, holders, num_holders
                )
                if computation > 0.0 or reached < clear:
                    break
                fill_child(context, node, num_holders, q, x + 1)  # so far these are bounds
                computation = duration[node, q]
                bound = best_value(criterion, computation, success[node, q], time)
            if not is_short:
                e_low = max(lowest_longest, least_alone(heuristic, tables, trace, q, need, alone))
                bound = reached
                if e_low < e_comm:
                    bound = criterion_value(
                        criterion, tables, abs(computation), success[node, q], time, e_low, q, x, holders, num_holders
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
            rival = np.inf
            best = exact_step(
                context, run_state, num, node, num_holders, longest, needed, elapsed, -np.inf if is_left else clear
            )
        q = best
        x = built[q] + 1
        trace.worker[k] = q
        if criterion == BY_Y and not is_left:  # the time at the horizon
            most *= (duration[node, q] + time) / (duration[node, q] + time + HORIZON)
        trace.clear[k] = UNDECIDED if is_left else most - CLEAR_MARGIN * abs(most)
        if not rival < trace.clear[k]:
            guaranteed = min(guaranteed, k)
        need = need_for(application, run_state, q, x)
        alone = cached_duration_alone(heuristic, tables, q, need)
        longest = max(longest, alone)
        lowest_longest = max(lowest_longest, least_alone(heuristic, tables, trace, q, need, alone))
        needed += need
        if x > 1:
            needed -= need_for(application, run_state, q, x - 1)
        next_node = int(child[node, q])
        if next_node < 0:
            first_key, second_key = key_of_child(context, node, q, x)
            next_node = add_node(tree, first_key, second_key, max(tree.work[node], x * w[q]))
            child[node, q] = next_node
        if x == 1:
            holders[num_holders] = q
            num_holders += 1
            add(chosen, q)
        node = next_node
        built[q] = x
        trace.node[k + 1] = node
        trace.lowest[k + 1] = lowest_longest
        trace.num_holders[k + 1] = num_holders
    trace.guaranteed[0] = guaranteed
