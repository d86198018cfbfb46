"""Exhaustive search: serial generation in all orders of a few jobs (docs/grid/model.md section 5, fact 2)."""

from __future__ import annotations

from hindsched.instances.errors import InputError
from hindsched.instances.grid import Instance
from hindsched.offline.grid.claim import Claim
from hindsched.offline.limits import Limits

__all__ = ["MOST_JOBS", "least_start", "solve"]

#: Largest number of jobs.
MOST_JOBS = 7

_Run = tuple[int, int, int]


def solve(instance: Instance, limits: Limits) -> Claim:
    """Return an optimal schedule of at most seven jobs; the search shares nothing with the other solvers.

    Raises
    ------
    InputError
        For more jobs.

    Notes ----- A depth-first search over orders, which leaves an order whose waits so far reach the best total. It
    takes less than a second and ignores the limits.

    Examples
    --------
    >>> pair = Instance(nodes=2, slot_s=60, submit=[0, 1], width=[2, 2], length=[5, 1])
    >>> solve(pair, Limits()).starts
    [2, 1]
    """
    if len(instance) > MOST_JOBS:
        raise InputError(f"{len(instance)} jobs, expected at most {MOST_JOBS} for brute", place="solver")
    rows = list(instance.rows())
    starts = [0] * len(rows)
    best: list[int] = []
    least = sum(length for _, _, length in rows) * len(rows) + sum(submit for submit, _, _ in rows) + 1
    nodes = 0

    def extend(placed: list[_Run], left: list[int], wait: int) -> None:
        nonlocal least, best, nodes
        nodes += 1
        if wait >= least:
            return
        if not left:
            best, least = list(starts), wait
            return
        for j in left:
            submit, width, length = rows[j]
            start = least_start(placed, submit, width, length, instance.nodes)
            starts[j] = start
            extend([*placed, (start, start + length, width)], [k for k in left if k != j], wait + start - submit)

    extend([], list(range(len(rows))), 0)
    return Claim(best, True, None, {"nodes": nodes})


def least_start(placed: list[_Run], submit: int, width: int, length: int, nodes: int) -> int:
    """Return the least start >= submission at which a job fits in addition to placed runs (start, end, width).

    It is the submission or the end of a run. The use of nodes during the job is highest at its start or where another
    run begins.

    Examples
    --------
    >>> least_start([(0, 3, 2), (4, 5, 1)], submit=1, width=2, length=2, nodes=2)
    5
    """
    for start in sorted({submit, *(end for _, end, _ in placed if end > submit)}):
        highs = [start, *(begin for begin, _, _ in placed if start < begin < start + length)]
        if all(sum(n for begin, end, n in placed if begin <= slot < end) + width <= nodes for slot in highs):
            return start
    raise AssertionError("after the last end it fits")
