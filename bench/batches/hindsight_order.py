"""Compare a run with its hindsight optima. These are ordered, since each relaxes the next one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from hindsched.instances.batches import Instance, Rung
from hindsched.instances.errors import SelfCheckError
from hindsched.offline.batches import Hindsight

__all__ = ["expect_ordered", "mean_latency_ratio"]


def expect_ordered(who: str, optima: Mapping[Rung, Hindsight], run: Any) -> None:
    """Raise `SelfCheckError` unless every optimum is at least as good as the next one, and the last as the run.

    Parameters
    ----------
    who
        Name of the run, for the message.
    optima
        Hindsight optima by rung, in order of decreasing freedom.
    run
        Anything with ``satisfied`` and ``latency`` per batch.
    """
    steps = [*((str(rung), answer) for rung, answer in optima.items()), ("the run", run)]
    for (above, better), (below, worse) in pairwise(steps):
        for i, (most, least) in enumerate(zip(better.satisfied, worse.satisfied, strict=True)):
            if most < least:
                raise SelfCheckError(f"{who}: batch {i} has {least} satisfied tasks by {below}, {most} by {above}")
        for i, (fast, slow) in enumerate(zip(better.latency, worse.latency, strict=True)):
            if slow is not None and (fast is None or fast > slow):
                raise SelfCheckError(f"{who}: batch {i} has latency {slow} by {below}, {fast} by {above}")


def mean_latency_ratio(instance: Instance, run: Any, optimum: Hindsight) -> float | None:
    """Return the mean ratio of a run's latency to an optimum's over the batches that the run satisfies, or None."""
    ratios = [
        latency / least
        for latency, least, satisfied in zip(run.latency, optimum.latency, run.satisfied, strict=True)
        if satisfied == instance.tasks and latency is not None and least is not None
    ]
    return sum(ratios) / len(ratios) if ratios else None
