"""Levels tick by tick, as an integer linear program for PuLP: exact for tiny instances, shared disks, not on demand.

``x[s, t, l]`` tells whether a segment that is the l-th of its task starts in stretch s at tick t. Tasks are alike: n
segments of each level, and at every tick at least as many of level l have ended as of level l + 1 have started, is all
that chains need. Times are integers, every tick has its own variables, nothing is relaxed.
"""

from __future__ import annotations

import pulp

from instances.bags import Instance
from instances.errors import InputError
from offline.bags.stretches import Ints, Stretches

__all__ = ["time_optimum"]


def time_optimum(instance: Instance) -> int | None:
    """Return the least turnaround, None if no play completes all tasks.

    Raises
    ------
    InputError
        For private disks or an instance on demand.

    Examples
    --------
    >>> pair = Instance.from_letters(["uuu", "udu"], ticks=[2, 1], slot=2, tasks=2, segments=2)
    >>> time_optimum(pair)
    4
    """
    if instance.on_demand or not instance.is_shared:
        raise InputError("expected a shared store, not on demand, for this model", place="store")
    stretches = Stretches.of_states(instance.states, instance.ticks, instance.slot)
    program = pulp.LpProblem("levels", pulp.LpMinimize)
    end = pulp.LpVariable("end", 0, instance.horizon)
    program += end
    levels = range(instance.segments)
    starts: dict[tuple[int, int], list[pulp.LpVariable]] = {}  # by level and tick
    ends: dict[tuple[int, int], list[pulp.LpVariable]] = {}
    for s in range(stretches.machine.size):
        work, begin, stop = _places(stretches, s)
        ticks = int(stretches.ticks[stretches.machine[s]])
        made = [[pulp.LpVariable(f"x_{s}_{w}_{j}", cat="Binary") for j in levels] for w in work]
        for w in range(len(work) + ticks - 1):
            program += pulp.lpSum(x for row in made[max(0, w - ticks + 1) : w + 1] for x in row) <= 1
        for row, t, y in zip(made, begin, stop, strict=True):
            program += end >= y * pulp.lpSum(row)
            for j in levels:
                starts.setdefault((j, t), []).append(row[j])
                ends.setdefault((j, y), []).append(row[j])
    for j in levels:
        program += pulp.lpSum(x for (level, _), xs in starts.items() if level == j for x in xs) == instance.tasks
        for t in range(instance.horizon) if j else ():
            done = pulp.lpSum(x for (level, y), xs in ends.items() if level == j - 1 and y <= t for x in xs)
            program += pulp.lpSum(x for (level, y), xs in starts.items() if level == j and y <= t for x in xs) <= done
    status = program.solve(pulp.PULP_CBC_CMD(msg=False, threads=1))
    return round(end.value()) if pulp.LpStatus[status] == "Optimal" else None


def _places(stretches: Stretches, s: int) -> tuple[list[int], list[int], list[int]]:
    """Return every work at which a segment can start in a stretch, with the instants it starts and ends."""
    import numpy as np

    total = int(stretches.caps(stretches.horizon)[s])
    ticks = int(stretches.ticks[stretches.machine[s]])
    work: Ints = np.arange(max(0, total - ticks + 1))
    where = np.full(work.size, s)
    return (
        work.tolist(),
        stretches.start_at(where, work).tolist(),
        stretches.end_at(where, work + ticks).tolist(),
    )
