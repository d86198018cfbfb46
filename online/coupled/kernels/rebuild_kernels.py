"""Compiled: the first step of the last build that must be repeated.

Each step of the trace holds for a number of slots, in spite of passing time and transfers (see
`hindsched.online.coupled.kernels.builder_kernels`). Three things can still change a step: a worker that leaves, a
worker that arrives, and a step without such a guarantee.

- A worker that leaves changes nothing if it was never close to being chosen. If it was chosen, the steps before its
  first task remain valid.
- A worker that arrives is compared with the winner of each step: the most the newcomer can reach up to the horizon
  against the least that is guaranteed for the winner.
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
from hindsched.online.coupled.kernels.bit_sets import NONE, ONE, contains, lowest
from hindsched.online.coupled.kernels.bound_kernels import fill_bound
from hindsched.online.coupled.kernels.criteria_kernels import best_value, criterion_value
from hindsched.online.coupled.kernels.needs import cached_duration_alone, least_alone, need_for
from hindsched.online.coupled.kernels.partial_configurations import fill_child

__all__ = ["first_invalid_step"]


@kernel(forceinline=True)
def first_invalid_step(context: BuildContext, run_state: RunState, up: Words, is_moved: bool, elapsed: int) -> int:
    """Return the first step of the last build that is no longer valid; m if all are valid.

    Parameters
    ----------
    up
        Workers that are UP now.
    is_moved
        Whether transfers have proceeded or time counts.
    """
    application, heuristic, tables, tree, trace = context
    criterion = heuristic.build
    n_com, num_tasks = application.n_com, application.tasks
    success, duration, holders = tree.success, tree.duration, trace.holders
    time = float(elapsed) if criterion == BY_Y else 0.0
    close = chosen = NONE
    for j in range(up.size):
        gone = trace.known_up[j] & ~up[j]
        close |= gone & trace.close[j]
        chosen |= gone & trace.chosen[j]
    if close != NONE or tree.num_nodes[0] + num_tasks >= tree.work.size:
        return 0
    stop = trace.guaranteed[0] if is_moved else num_tasks
    if chosen != NONE:
        for k in range(stop):
            if not contains(up, trace.worker[k]):
                stop = k
                break
    for j in range(up.size):
        new = up[j] & ~trace.known_up[j]
        while new != NONE and stop > 0:
            q = 64 * j + lowest(new)
            new &= new - ONE
            if application.capacities[q] == 0:
                continue
            need = need_for(application, run_state, q, 1)
            alone = cached_duration_alone(heuristic, tables, q, need)
            alone = least_alone(heuristic, tables, trace, q, need, alone)
            for k in range(stop):
                node = trace.node[k]
                clear = trace.clear[k]
                num_holders = trace.num_holders[k]
                computation = duration[node, q]
                if np.isnan(computation):
                    fill_bound(context, node, num_holders, q, 1)
                    computation = duration[node, q]
                bound = best_value(criterion, abs(computation), success[node, q], time)
                if bound < clear:
                    continue
                if computation < 0.0:
                    fill_child(context, node, num_holders, q, 1)
                    computation = duration[node, q]
                    bound = best_value(criterion, computation, success[node, q], time)
                if not bound < clear and num_holders < n_com:
                    e_low = max(trace.lowest[k], alone)
                    bound = criterion_value(
                        criterion, tables, computation, success[node, q], time, e_low, q, 0, holders, num_holders
                    )
                if not bound < clear:
                    stop = k
                    break
    return int(stop)
