"""The tree of partial configurations: at each node, what one more task on each worker would mean."""

from __future__ import annotations

import math

import numpy as np

from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.arguments import Application, Choice, Plans, Tables
from hindsched.online.coupled.kernels.bit_sets import ONE, WORD
from hindsched.online.coupled.kernels.estimate_kernels import E_C, E_GIVEN, LOG_P, log_duration, row_of_set

__all__ = ["fill", "new_node"]

_LARGEST_LOG = 600.0


@kernel
def new_node(plans: Plans, members: WORD, work: int) -> int:
    """Return a node about which nothing is known but its set and its W."""
    node: int = plans.num_nodes[0]
    plans.num_nodes[0] += 1
    for q in range(plans.child.shape[1]):
        plans.child[node, q] = -1
        plans.duration[node, q] = plans.success[node, q] = np.nan
    plans.members[node] = members
    plans.work[node] = work
    return node


@kernel
def fill(application: Application, choice: Choice, tables: Tables, plans: Plans, node: int, q: int, x: int) -> None:
    """Compute what a node has to know of one more task, the x-th, on worker q.

    Beyond e^600 a duration is infinite and a probability 0: worse than any other, and a step where no worker has
    another value is decided by logarithms.
    """
    members = plans.members[node] | ONE << WORD(q)
    work = max(plans.work[node], x * application.w[q])
    row = row_of_set(members, tables.sets, tables.keys, tables.num_sets, tables.modes, tables.order)
    sets = tables.sets
    log_p = 0.0 if work == 1 else (work - 1) * sets[row, LOG_P]
    log_e = log_duration(work, sets[row, LOG_P], sets[row, E_C], sets[row, E_GIVEN], choice.estimator)
    plans.success[node, q] = math.exp(log_p) if log_p > -_LARGEST_LOG else 0.0
    plans.duration[node, q] = math.exp(log_e) if log_e < _LARGEST_LOG else np.inf
