"""Real spot machines for the main job, where their trace is at hand."""

from __future__ import annotations

import os
from pathlib import Path

import click

from bench.coupled.sources import Given, Source

__all__ = ["spot_sources"]

#: Where the trace is looked for; the variable names another folder.
FOLDER, VARIABLE = Path("../shared/data/spot_aws_v100"), "HINDSIGHT_SPOT_TRACE"

#: Nine zones sampled every 195 s: fit the chains on a week, then score on windows of a day and a bit, a week apart.
SLOT_S, TRAIN_SLOTS, SLOTS, WINDOWS = 195, 3_100, 600, 4
SETTING = "spot m=4 n_com=2 K=10 (9 AWS zones, one slot = 195 s)"


def spot_sources() -> list[Source]:
    """Return instances on real spot machines; none, saying so, where the trace is not at hand.

    Each is a later window of the trace; its chains are fitted on the week before it. A lost spot machine loses what
    it held: it is DOWN.
    """
    folder = Path(os.environ.get(VARIABLE, FOLDER))
    files = sorted(folder.glob("*.csv*"))
    if not files:
        click.echo(f"hindsight: no real trace in {folder} ({VARIABLE} names another folder): left out", err=True)
        return []
    from instances.coupled.imported import from_trace
    from instances.traces import read

    trace = read(*files)
    begin = trace.window(slot_s=SLOT_S).start
    sources: list[Source] = []
    for window in range(WINDOWS):
        start = begin + (TRAIN_SLOTS + window * TRAIN_SLOTS) * SLOT_S
        instance = from_trace(
            trace,
            tasks=4,
            slot_s=SLOT_S,
            iterations=10,
            n_com=2,
            t_prog=3,
            t_data=1,
            w=6,
            start=start,
            slots=SLOTS,
            train_slots=TRAIN_SLOTS,
        )
        sources.append(Given(f"spot window {window}", SETTING, instance))
    return sources
