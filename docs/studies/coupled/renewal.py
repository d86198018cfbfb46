"""Machines whose availability periods are Weibull or log-normal, and policies with and without chains on them.

The paper names such machines as future work. All else is as on the drawn chains of the map of foresight, so the
difference shows what the chain costs.
"""

from __future__ import annotations

from math import gamma

import numpy as np
import numpy.typing as npt

from docs.studies.coupled.baselines import LongestUp, MostUp
from docs.studies.coupled.foresight import (
    PERIOD,
    TASKS,
    TRAIN_SLOTS,
    Point,
    Windows,
    drawn_sources,
    make_instance,
    trace_sources,
)
from hindsched.bench.campaign.sources import Given, Source
from hindsched.instances import fit
from hindsched.instances.coupled.model import Instance
from hindsched.instances.random_streams import stream
from hindsched.instances.states import DOWN, RECLAIMED, UP
from hindsched.instances.traces import read_packaged

__all__ = ["POLICIES", "SHAPES", "draw_periods", "draw_renewal", "sources"]

#: Two policies with chains and two without.
POLICIES = ("E-IE", "auto", LongestUp(), MostUp())
#: Values of the axis of task length.
_VALUES = (0.05, 0.1, 0.2)

#: Shape of the Weibull distribution, and sigma of the logarithm. Both have a coefficient of variation above 2.
SHAPES = {"weibull": 0.5, "lognormal": 1.3}
#: Slots of an instance after the training slots.
_SLOTS = 40_000

Numbers = npt.NDArray[np.float64]


def draw_periods(kind: str, mean: float, number: int, generator: np.random.Generator) -> Numbers:
    """Return lengths of availability periods with a given mean, as real numbers.

    Examples
    --------
    >>> lengths = draw_periods("weibull", 60.0, 200_000, np.random.default_rng(0))
    >>> round(float(lengths.mean())), bool(np.median(lengths) < 20)
    (60, True)
    """
    shape = SHAPES[kind]
    if kind == "weibull":
        return mean / gamma(1 + 1 / shape) * generator.weibull(shape, number)
    return generator.lognormal(np.log(mean) - shape**2 / 2, shape, number)


def draw_renewal(kind: str, point: Point, seed: int, number: int) -> Instance:
    """Return one instance whose workers alternate between availability periods and geometric absences.

    Speeds, mean lengths and the share of absences that are DOWN are those of `hindsched`'s drawn chains at the same
    point. The chains are fitted on the slots before the instance.
    """
    mean, slots = point.task * PERIOD, TRAIN_SLOTS + _SLOTS
    p = round(point.workers * TASKS)
    rows, w = [], []
    for q in range(p):
        generator = stream("coupled", "foresight", kind, seed, number, q)
        factor = generator.uniform(2 / 3, 4 / 3)
        w.append(max(1, round(mean * generator.uniform(0.5, 1.5))))
        away = max(1.0, PERIOD * factor * point.away)
        count = int(4 * slots / (PERIOD * factor + away)) + 100
        ups = np.maximum(1, np.rint(draw_periods(kind, PERIOD * factor, count, generator))).astype(np.int64)
        absences = generator.geometric(1 / away, count)
        states = np.where(generator.random(count) < point.lost, DOWN, RECLAIMED)
        row = np.repeat(
            np.stack([np.full(count, UP), states], axis=1).ravel(), np.stack([ups, absences], axis=1).ravel()
        )
        rows.append(row[:slots])
    known = np.array(rows, dtype=np.uint8)
    return make_instance(point, w, known[:, TRAIN_SLOTS:], [fit(row[:TRAIN_SLOTS]) for row in known])


def sources(instances: int, windows: int, seed: int) -> list[Source]:
    """Return instances along the axis of task length: chains, both renewal processes, and spot zones.

    Parameters
    ----------
    instances
        Drawn instances at each point.
    windows
        Windows of the trace, once with absences that are DOWN (`spot`), once RECLAIMED (`spot-reclaimed`).
    seed
        Seed of drawn instances.
    """
    values = tuple(f"task={value:g} " for value in _VALUES)
    found = [each for each in drawn_sources(["task"], instances, seed) if any(value in each.name for value in values)]
    for kind in SHAPES:
        for task in _VALUES:
            for number in range(instances):
                name = f"{kind} task={task:g} window {number}"
                found.append(Given(name, "foresight", draw_renewal(kind, Point(task=task), seed, number)))
    trace = read_packaged("spot_aws_v100")
    for name, absent in (("spot", "down"), ("spot-reclaimed", "reclaimed")):
        of_trace = Windows(windows, train_slots=3_100, slots=3_400, absent=absent)
        found += trace_sources(name, trace, 195, of_trace, tasks=_VALUES)
    return found
