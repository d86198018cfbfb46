"""Baselines of the related work: work queues with replication, and exclusion of slow machines.

Their rules and readings are in docs/bags/model.md section 9.
"""

from __future__ import annotations

from functools import lru_cache
from math import lcm

from hindsched.online.bags.options import MAX_COPIES
from hindsched.online.bags.visible import Visible

__all__ = ["ExclS1", "ExclS1Dup", "Wqr", "WqrFt", "slow_machines"]


class WqrFt:
    """WQR-FT: a work queue with replication, automatic resubmission and checkpoints.

    A free machine gets the waiting task of lowest index, so a failed task precedes all tasks not yet started. If no
    task waits, it gets a copy of the running task with the fewest live copies. The scheduler knows neither speeds nor
    states.

    Parameters
    ----------
    max_copies
        Only tasks with fewer live copies are replicated.

    References
    ----------
    C. Anglano, M. Canonico, *Fault-Tolerant Scheduling for Bag-of-Tasks Grid Applications*, EGC 2005.
    """

    name = "WQR-FT"

    def __init__(self, max_copies: int = MAX_COPIES) -> None:
        self.max_copies = max_copies

    def choose(self, machine: int, instant: int, visible: Visible) -> int | None:
        """Return the first waiting task, otherwise the running one with the fewest copies, ties by index."""
        first = self.first(visible)
        if first is not None:
            return first
        copies = ((len(visible.copies(task)), task) for task in visible.unfinished)
        return min(((n, task) for n, task in copies if 0 < n < self.max_copies), default=(0, None))[1]

    def first(self, visible: Visible) -> int | None:
        """Return the first waiting task; None if no task waits."""
        return visible.first_waiting


class Wqr(WqrFt):
    """WQR: a work queue with replication. It neither resubmits a task whose copies all failed nor uses checkpoints.

    Parameters
    ----------
    max_copies
        Only tasks with fewer live copies are replicated: 2 is "WQR 2x" of the paper.

    References
    ----------
    D. Paranhos da Silva, W. Cirne, F. Brasileiro, *Trading Cycles for Information: Using Replication to Schedule
    Bag-of-Tasks Applications on Computational Grids*, Euro-Par 2003.
    """

    name = "WQR"
    ignores_checkpoints = True

    def first(self, visible: Visible) -> int | None:
        """Return the first task that has never had a copy; None if each has had one."""
        return visible.first_unstarted


@lru_cache(maxsize=16)
def slow_machines(ticks: tuple[int, ...]) -> frozenset[int]:
    """Return the machines whose speed 1/g is more than one standard deviation below the mean of all machines.

    Parameters
    ----------
    ticks
        The g of each machine. The comparison is exact.

    Examples
    --------
    Speeds 1, 1, 1 and 1/4 have mean 13/16 and standard deviation 0.32; equal machines are never excluded.

    >>> sorted(slow_machines((1, 1, 1, 4))), sorted(slow_machines((3, 3, 3)))
    ([3], [])
    """
    number, common = len(ticks), lcm(*ticks)
    speeds = [common // g for g in ticks]
    total, squares = sum(speeds), sum(speed * speed for speed in speeds)
    spread = number * squares - total * total  # number^2 times the variance
    return frozenset(
        q for q, speed in enumerate(speeds) if number * speed < total and (total - number * speed) ** 2 > spread
    )


class ExclS1:
    """EXCL-S1: FCFS on the machines that are not `slow_machines`.

    References
    ----------
    D. Kondo, A. A. Chien, H. Casanova, *Resource Management for Rapid Application Turnaround on Enterprise Desktop
    Grids*, SC 2004.
    """

    name = "EXCL-S1"

    def choose(self, machine: int, instant: int, visible: Visible) -> int | None:
        """Return the first waiting task; None if no task waits or the machine is excluded."""
        return None if machine in slow_machines(visible.problem.ticks) else visible.first_waiting


class ExclS1Dup(WqrFt):
    """EXCL-S1-DUP: WQR-FT on the machines that are not `slow_machines`: exclusion and task duplication together.

    Parameters
    ----------
    max_copies
        See `WqrFt`.
    """

    name = "EXCL-S1-DUP"

    def choose(self, machine: int, instant: int, visible: Visible) -> int | None:
        """Return the choice of WQR-FT; None if the machine is excluded."""
        return None if machine in slow_machines(visible.problem.ticks) else super().choose(machine, instant, visible)
