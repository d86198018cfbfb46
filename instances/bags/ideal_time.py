"""The ideal execution time, to which the paper compares turnarounds."""

from __future__ import annotations

from hindsched.instances.bags.model import Instance

__all__ = ["ideal_time"]


def ideal_time(instance: Instance) -> int:
    """Return the paper's ideal execution time (IET): n tasks, each whole on one machine, all machines always UP.

    It is the n-th smallest of the numbers j k g_q, j >= 1. For machines that are always UP it is the optimum without
    checkpoints and with private ones, but not with shared ones (docs/bags/model.md section 4).

    Examples
    --------
    >>> from hindsched.instances.bags.generate import paper
    >>> round(ideal_time(paper("M01", tasks=75, slots=1)) / 60_000, 2)
    53.18
    """
    whole = [instance.segments * ticks for ticks in instance.ticks]
    low, high = 0, min(whole) * instance.tasks
    while high - low > 1:
        middle = (low + high) // 2
        if sum(middle // length for length in whole) >= instance.tasks:
            high = middle
        else:
            low = middle
    return high
