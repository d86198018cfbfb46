"""Compiled tree of partial configurations: each node stores the effect of one more task on each worker."""

from __future__ import annotations

import math

import numpy as np

from hindsched.instances.compiling import kernel
from hindsched.online.coupled.kernels.arguments import BuildContext, ConfigurationTree
from hindsched.online.coupled.kernels.bit_sets import WORD
from hindsched.online.coupled.kernels.estimate_kernels import E_C, E_GIVEN, LOG_P, log_duration, row_of_set

__all__ = ["add_node", "fill_child", "key_of_child", "row_of_child"]

#: Exponent above which a duration counts as infinite and a probability as 0.
_LARGEST_LOG = 600.0


@kernel
def add_node(tree: ConfigurationTree, first: WORD, second: WORD, work: int) -> int:
    """Add a node with this key and W, all else unknown; return its row."""
    node: int = tree.num_nodes[0]
    tree.num_nodes[0] += 1
    child, duration = tree.child[node], tree.duration[node]
    for q in range(child.size):
        child[q] = -1
        duration[q] = np.nan
    tree.key[node, 0] = first
    tree.key[node, 1] = second
    tree.work[node] = work
    tree.sums[node, 0, 0] = np.nan
    return node


@kernel(forceinline=True)
def fill_child(context: BuildContext, node: int, num_holders: int, q: int, x: int) -> None:
    """Write duration and success at a node for one more task, the x-th, on worker q."""
    write_child(context, node, q, x, row_of_child(context, node, num_holders, q, x))


@kernel(forceinline=True)
def row_of_child(context: BuildContext, node: int, num_holders: int, q: int, x: int) -> int:
    """Return the row of the set of a node with the x-th task on worker q."""
    first, second = key_of_child(context, node, q, x)
    return row_of_set(context.tables, first, second, context.trace.holders, num_holders, q if x == 1 else -1)


@kernel(forceinline=True)
def key_of_child(context: BuildContext, node: int, q: int, x: int) -> tuple[WORD, WORD]:
    """Return the key of the set of a node with the x-th task on worker q."""
    first, second = context.tree.key[node, 0], context.tree.key[node, 1]
    if x == 1:
        first += context.tables.labels[q, 0]
        second += context.tables.labels[q, 1]
    return first, second


@kernel(forceinline=True)
def write_child(context: BuildContext, node: int, q: int, x: int, row: int) -> None:
    """Write duration and success at a node for the x-th task on worker q, from the row of the set.

    Beyond e^600 a duration is infinite and a probability 0: worse than any other. If all workers have such a value,
    the step is decided by logarithms.
    """
    application, heuristic, tables, tree, _ = context
    work = max(tree.work[node], x * application.w[q])
    sets = tables.sets
    log_p = 0.0 if work == 1 else (work - 1) * sets[row, LOG_P]
    log_e = log_duration(work, sets[row, LOG_P], sets[row, E_C], sets[row, E_GIVEN], heuristic.estimator)
    tree.success[node, q] = math.exp(log_p) if log_p > -_LARGEST_LOG else 0.0
    tree.duration[node, q] = math.exp(log_e) if log_e < _LARGEST_LOG else np.inf
