"""Study of the policy renewal on windows that it was not designed on: test zones, second half of their samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from hindsched.bench.deadline.reproduction import DEADLINES_H, OVERHEADS_S, WORK_S
from hindsched.instances.deadline import HOUR_S, spot_zones
from hindsched.offline.deadline import solve
from hindsched.online.deadline import run_policy

__all__ = ["FIRST_SAMPLE", "POLICIES", "ZONES", "how_many", "rows", "starts"]

#: The test zones, and the first of the samples that the design did not use.
ZONES = ("us-east-1c", "us-east-1f", "us-east-2a", "us-west-2a", "us-west-2c")
FIRST_SAMPLE = 10_079
#: The policies that are compared.
POLICIES = ("renewal", "uniform", "greedy")


def starts(slots: int, number: int) -> list[int]:
    """Return first samples of windows, evenly spaced over the test samples.

    Examples
    --------
    >>> starts(960, 2), starts(10_000, 1)
    ([12359, 16919], [10119])
    """
    places = spot_zones.SAMPLES - slots - FIRST_SAMPLE + 1
    return [FIRST_SAMPLE + (2 * i + 1) * places // (2 * number) for i in range(number)]


def how_many(number: int) -> int:
    """Return the number of windows."""
    return len(ZONES) * len(DEADLINES_H) * len(OVERHEADS_S) * number


def rows(number: int, step: Callable[[str], None]) -> Iterator[dict[str, object]]:
    """Yield the costs of each window in units of money: the optima, and the policies under the guard ``step``.

    Parameters
    ----------
    number
        Windows of each zone, deadline and overhead.
    step
        Called after each window.
    """
    for zone, hours, overhead_s in product(ZONES, DEADLINES_H, OVERHEADS_S):
        for start in starts(hours * HOUR_S // spot_zones.SLOT_S, number):
            job = spot_zones.window([zone], start, work_s=WORK_S, deadline_s=hours * HOUR_S, overhead_s=overhead_s)
            costs: dict[str, object] = {"free": solve(job).value}
            for policy in POLICIES:
                run = run_policy(job, policy, guard="step", schedule=False)
                costs[policy] = run.cost if run.finish is not None else None
            yield {"deadline_h": hours, "overhead_s": overhead_s, "zone": zone, "start": start, **costs}
            step(f"{zone} {hours} h {overhead_s} s")
