"""Compiled tree of partial configurations: each node stores the effect of one more task on each worker."""

from __future__ import annotations

import math

import numpy as np

from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.arguments import Application, ConfigurationTree, Heuristic, Tables
from hindsched.online.coupled.kernels.bit_sets import ONE, WORD
from hindsched.online.coupled.kernels.estimate_kernels import E_C, E_GIVEN, LOG_P, log_duration, row_of_set

__all__ = ["add_node", "fill_child"]

#: Exponent above which a duration counts as infinite and a probability as 0.
_LARGEST_LOG = 600.0


@kernel
def add_node(tree: ConfigurationTree, members: WORD, work: int) -> int:
    """Add a node with this set and W, all else unknown; return its row."""
    node: int = tree.num_nodes[0]
    tree.num_nodes[0] += 1
    for q in range(tree.child.shape[1]):
        tree.child[node, q] = -1
        tree.duration[node, q] = tree.success[node, q] = np.nan
    tree.members[node] = members
    tree.work[node] = work
    return node


@kernel
def fill_child(
    application: Application,
    heuristic: Heuristic,
    tables: Tables,
    tree: ConfigurationTree,
    node: int,
    q: int,
    x: int,
) -> None:
    """Compute duration and success at a node for one more task, the x-th, on worker q.

    Beyond e^600 a duration is infinite and a probability 0: worse than any other. If all workers have such a value,
    the step is decided by logarithms.
    """
    members = tree.members[node] | ONE << WORD(q)
    work = max(tree.work[node], x * application.w[q])
    row = row_of_set(members, tables.sets, tables.keys, tables.num_sets, tables.modes, tables.order)
    sets = tables.sets
    log_p = 0.0 if work == 1 else (work - 1) * sets[row, LOG_P]
    log_e = log_duration(work, sets[row, LOG_P], sets[row, E_C], sets[row, E_GIVEN], heuristic.estimator)
    tree.success[node, q] = math.exp(log_p) if log_p > -_LARGEST_LOG else 0.0
    tree.duration[node, q] = math.exp(log_e) if log_e < _LARGEST_LOG else np.inf
