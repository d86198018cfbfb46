"""Instances on real machines, where their traces are at hand: nine spot zones, and a cluster's failures."""

from __future__ import annotations

import os
from pathlib import Path

import click

from bench.campaign.sources import Given, Source
from instances.coupled.imported import from_trace
from instances.traces import Trace, read

__all__ = ["real_sources", "spot_sources"]

#: Where the traces are looked for; the variable names another folder.
FOLDER, VARIABLE = Path("../shared/data"), "HINDSCHED_TRACES"

#: Nine zones sampled every 195 s. Chains are fitted on a week, instances are two days long and a week apart.
SPOT_SLOT_S, SPOT_TRAIN, SPOT_SLOTS, SPOT_WINDOWS = 195, 3_100, 900, 4
SPOT = "spot m=4 n_com=2 K=10 (9 AWS zones, one slot = 195 s)"

#: 500 nodes of the LANL trace, one slot = 600 s: chains from ten weeks, then a year of slots.
LANL_SLOT_S, LANL_TRAIN, LANL_SLOTS, LANL_NODES = 600, 10_000, 50_000, 500
LANL = "LANL (500 nodes, one slot = 600 s)"


def spot_sources() -> list[Source]:
    """Return instances on real spot machines; none, saying so, where the trace is not at hand.

    A lost spot machine loses what it held: it is DOWN.
    """
    trace = _trace("spot_aws_v100", "*.csv*")
    if trace is None:
        return []
    begin = trace.window(slot_s=SPOT_SLOT_S).start
    return [
        Given(
            f"spot window {window}",
            SPOT,
            from_trace(
                trace,
                tasks=4,
                slot_s=SPOT_SLOT_S,
                iterations=10,
                n_com=2,
                t_prog=3,
                t_data=1,
                w=6,
                start=begin + (window + 1) * SPOT_TRAIN * SPOT_SLOT_S,
                slots=SPOT_SLOTS,
                train_slots=SPOT_TRAIN,
            ),
        )
        for window in range(SPOT_WINDOWS)
    ]


def real_sources() -> list[Source]:
    """Return the spot instances, and some on 500 nodes of a cluster with m = 20 and 50 and w = 1, 10 and 100 slots."""
    sources = spot_sources()
    trace = _trace("fta_lanl", "event_trace*")
    if trace is None:
        return sources
    for m in (20, 50):
        for w in (1, 10, 100):
            instance = from_trace(
                trace,
                tasks=m,
                slot_s=LANL_SLOT_S,
                iterations=10,
                n_com=20,
                t_prog=5 * w,
                t_data=w,
                w=10 * w,
                nodes=LANL_NODES,
                slots=LANL_SLOTS,
                train_slots=LANL_TRAIN,
            )
            sources.append(Given(f"LANL m={m} w={10 * w}", LANL, instance))
    return sources


def _trace(name: str, pattern: str) -> Trace | None:
    folder = Path(os.environ.get(VARIABLE, FOLDER)) / name
    files = sorted(folder.glob(pattern))
    if not files:
        click.echo(f"hindsched: no real trace in {folder} ({VARIABLE} names its parent): left out", err=True)
        return None
    return read(*files)
