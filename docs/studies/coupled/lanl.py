"""Instances on the machines of LANL's cluster in the Failure Trace Archive; the user names the table."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

from hindsched.bench.campaign.sources import Given, Source
from hindsched.instances.coupled.from_trace import from_trace
from hindsched.instances.coupled.model import Instance
from hindsched.instances.errors import InputError
from hindsched.instances.traces import Trace, read

__all__ = ["WHOLE_START", "lanl_sources"]

#: 500 nodes of the LANL trace, one slot = 600 s: chains from ten weeks, then a year of slots.
LANL_SLOT_S, LANL_TRAIN, LANL_SLOTS, LANL_NODES = 600, 10_000, 50_000, 500
LANL = "LANL (500 nodes, one slot = 600 s)"

#: All nodes of the LANL trace, those that are not observed as DOWN: chains from ten weeks from here on, then 20 weeks.
WHOLE_START, WHOLE_SLOTS = 1_061_099_160, 20_000
WHOLE = "LANL (3,577 nodes, one slot = 600 s)"


def lanl_sources(folder: Path) -> list[Source]:
    """Return instances on a cluster: 500 nodes, m = 20 and 50, w = 10 to 1,000 slots; all nodes, m = 50 to 500.

    Parameters
    ----------
    folder
        Holds, itself or in ``fta_lanl``, the table ``event_trace...`` of LANL's machines in the Failure Trace Archive.

    Raises
    ------
    InputError
        Where there is no such table.
    """
    files = sorted(folder.glob("event_trace*")) + sorted(folder.glob("fta_lanl/event_trace*"))
    if not files:
        raise InputError("no event_trace... in it or in its folder fta_lanl, expected LANL's table", file=folder)
    trace = read(files[0])
    sources: list[Source] = []
    for m, w in product((20, 50), (10, 100, 1000)):
        instance = _lanl(trace, m, w, nodes=LANL_NODES, slots=LANL_SLOTS)
        sources.append(Given(f"LANL m={m} w={w}", LANL, instance))
    for m, w in product((50, 100, 500), (10, 100)):
        start = WHOLE_START + LANL_TRAIN * LANL_SLOT_S
        instance = _lanl(trace, m, w, start=start, slots=WHOLE_SLOTS, unobserved="down")
        sources.append(Given(f"LANL p={instance.num_workers} m={m} w={w}", WHOLE, instance))
    return sources


def _lanl(trace: Trace, m: int, w: int, **window: Any) -> Instance:
    return from_trace(
        trace,
        tasks=m,
        slot_s=LANL_SLOT_S,
        iterations=10,
        n_com=20,
        t_prog=w // 2,
        t_data=w // 10,
        w=w,
        train_slots=LANL_TRAIN,
        **window,
    )
