"""Unchecked answers of the solvers of this family, and the schedule of given starts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from hindsched.instances.grid import Instance, PriceCertificate, Schedule
from hindsched.instances.grid.schedule import SCHEDULE_FORMATS
from hindsched.offline.limits import Limit

__all__ = ["Claim", "assign_nodes"]


@dataclass(frozen=True, slots=True)
class Claim:
    """Starts, a bound and its proof, before the checker has confirmed them.

    Parameters
    ----------
    starts
        Start of each job.
    is_optimal
        Whether the solver proved that no schedule has a smaller total wait.
    prices
        The certificate of the bound; None: only the bound 0 is proven.
    counts
        Counts for reports.
    limit
        The limit that stopped the solver before a proof.
    """

    starts: Sequence[int]
    is_optimal: bool
    prices: PriceCertificate | None = None
    counts: dict[str, int] = field(default_factory=dict)
    limit: Limit | None = None


def assign_nodes(instance: Instance, starts: Sequence[int]) -> Schedule:
    """Return a schedule with given starts that fit by count: jobs by (start, index), each on the lowest free nodes.

    Notes
    -----
    Free nodes are stored as intervals, in a list: O(log n) for a job and for each interval it takes or returns, besides
    the moves within the list.

    Examples
    --------
    >>> trio = Instance(nodes=3, slot_s=60, submit=[0, 0, 0], width=[1, 1, 2], length=[2, 1, 3])
    >>> assign_nodes(trio, [0, 0, 1]).document["allocations"]
    [[0, '0'], [0, '1'], [1, '1-2']]
    """
    width, length = instance.width.tolist(), instance.length.tolist()
    free = [(0, instance.nodes)]
    running: list[tuple[int, int]] = []
    nodes_of: list[list[tuple[int, int]]] = [[] for _ in starts]
    for j in sorted(range(len(starts)), key=lambda j: (starts[j], j)):
        while running and running[0][0] <= starts[j]:
            for run in nodes_of[heappop(running)[1]]:
                _release(free, run)
        missing = width[j]
        while missing:
            first, stop = free[0]
            taken = min(missing, stop - first)
            nodes_of[j].append((first, first + taken))
            free[:1] = [(first + taken, stop)] if first + taken < stop else []
            missing -= taken
        heappush(running, (starts[j] + length[j], j))
    allocations = [
        [int(start), ",".join(f"{a}" if a + 1 == b else f"{a}-{b - 1}" for a, b in runs)]
        for start, runs in zip(starts, nodes_of, strict=True)
    ]
    document = {"format": SCHEDULE_FORMATS[0], "instance": instance.fingerprint, "allocations": allocations}
    return Schedule(document)


def _release(free: list[tuple[int, int]], run: tuple[int, int]) -> None:
    """Add an interval of nodes to the free ones, and merge it with its neighbours."""
    first, stop = run
    i = bisect_left(free, run)
    k = i
    if i and free[i - 1][1] == first:
        i -= 1
        first = free[i][0]
    if k < len(free) and free[k][0] == stop:
        stop = free[k][1]
        k += 1
    free[i:k] = [(first, stop)]
