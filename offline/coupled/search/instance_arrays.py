"""The data of an instance that do not depend on the slot, as arrays for the kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints


class Problem(NamedTuple):
    """Constants of an instance; docs/model.md section 1 has the symbols.

    Parameters
    ----------
    p, m, n_com, t_prog, t_data, w
        As in the paper; n_com is at most p.
    max_tasks
        ``max_tasks[q]`` is mu_q, at most m.
    slots_per_task
        ``slots_per_task[q]`` = T_data + w_q: the UP slots that one task costs worker q.
    work
        The values that W = max x_q w_q can take, ascending, without those within which the workers cannot compute m
        tasks. Kernels pass a W on as its index ``iw``.
    caps
        ``caps[iw, q]`` is the largest number of tasks that worker q computes within ``work[iw]`` slots.
    num_words
        Number of 64-bit words in a set of workers.
    kind
        Workers with equal w and mu have equal kinds.
    """

    p: int
    m: int
    n_com: int
    t_prog: int
    t_data: int
    w: Ints
    max_tasks: Ints
    slots_per_task: Ints
    work: Ints
    caps: Ints
    num_words: int
    kind: Ints


def make_problem(w: Ints, mu: Ints, m: int, n_com: int, t_prog: int, t_data: int) -> Problem:
    """Return the arrays of an instance; a `mu` of m or more does not bind."""
    p = len(w)
    w = np.asarray(w, np.int64)
    max_tasks = np.minimum(np.asarray(mu, np.int64), m)
    values = {int(x * w[q]) for q in range(p) for x in range(1, int(max_tasks[q]) + 1)}
    work = np.array(sorted(values), np.int64)
    caps = np.minimum(max_tasks[None, :], work[:, None] // w[None, :])
    kinds = {pair: i for i, pair in enumerate(sorted({(int(w[q]), int(max_tasks[q])) for q in range(p)}))}
    keep = caps.sum(axis=1) >= m
    return Problem(
        p=p,
        m=m,
        n_com=min(n_com, p),
        t_prog=t_prog,
        t_data=t_data,
        w=w,
        max_tasks=max_tasks,
        slots_per_task=w + t_data,
        work=np.ascontiguousarray(work[keep]),
        caps=np.ascontiguousarray(caps[keep]),
        num_words=(p + 63) // 64,
        kind=np.array([kinds[int(w[q]), int(max_tasks[q])] for q in range(p)], np.int64),
    )
