"""Instances whose machines are the nodes of a real trace (docs/bags/model.md section 6)."""

from __future__ import annotations

from math import floor

from hindsched.instances.bags.generate import segment_ticks
from hindsched.instances.bags.model import WEEK_S, Instance, Store
from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Seconds
from hindsched.instances.traces.parsing import to_length, to_moment
from hindsched.instances.traces.trace import Absence, Nodes, Trace

__all__ = ["from_trace"]

_THURSDAY_S = 3 * 24 * 3600  # UNIX time begins on a Thursday


def from_trace(
    trace: Trace,
    *,
    tasks: int,
    slot_s: float | str | Seconds,
    checkpoints: int = 0,
    kinds: str = "D",
    reference_s: int = 1800,
    store: Store | str = Store.SHARED,
    on_demand: bool = False,
    start: float | str | Seconds | None = None,
    slots: int | None = None,
    nodes: Nodes = None,
    absent: Absence = "down",
) -> Instance:
    """Return an instance whose machines are the nodes of a real trace.

    Its clock is UTC and starts at the second in which slot 0 begins.

    Parameters
    ----------
    trace
        See `hindsched.instances.traces.read`.
    tasks, checkpoints, reference_s, store, on_demand
        See `paper`.
    slot_s, start, slots, nodes, absent
        The window, see `hindsched.instances.traces.Trace.states`. A slot is a whole number of milliseconds.
    kinds
        One letter for the type of all machines, or one letter per machine.

    Raises
    ------
    InputError
        As in `hindsched.instances.traces.Trace.states` and `Instance`, and if a slot is not a whole number of
        milliseconds.
    """
    if checkpoints < 0:
        raise InputError(f"{checkpoints}, expected an integer >= 0", place="checkpoints")
    length = to_length(slot_s, "slot_s") * 1000
    if length.denominator != 1:
        raise InputError(f"{slot_s} s, expected a whole number of milliseconds", place="slot_s")
    window = trace.window(
        slot_s=slot_s, start=None if start is None else to_moment(start, "start"), slots=slots, nodes=nodes
    )
    states = trace.states(slot_s=slot_s, start=window.start, slots=window.slots, nodes=window.nodes, absent=absent)
    p = len(window.nodes)
    if len(kinds) not in {1, p}:
        raise InputError(f"{len(kinds)} types, expected one for all or one per machine, {p}", place="kinds")
    return Instance(
        tasks=tasks,
        segments=checkpoints + 1,
        slot=length.numerator,
        ticks=[
            segment_ticks(kind, reference_s=reference_s, segments=checkpoints + 1)
            for kind in (kinds * p if len(kinds) == 1 else kinds)
        ],
        states=states,
        store=store,
        on_demand=on_demand,
        reference_s=reference_s,
        clock_s=(floor(window.start) + _THURSDAY_S) % WEEK_S,
    )
