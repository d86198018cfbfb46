"""Instances whose zones are the nodes of a real trace (docs/deadline/model.md section 6)."""

from __future__ import annotations

from fractions import Fraction

from hindsched.instances.deadline.generate import ON_DEMAND_PRICE, SPOT_PRICE
from hindsched.instances.deadline.model import HOUR_S, Instance, Zone
from hindsched.instances.deadline.moves import moves_of_checkpoint, region_of
from hindsched.instances.deadline.prices import PriceTable
from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Seconds, exact_seconds
from hindsched.instances.states import UP
from hindsched.instances.traces.parsing import seconds, to_moment
from hindsched.instances.traces.trace import Nodes, Trace

__all__ = ["from_trace", "hours_to_s"]


def from_trace(
    trace: Trace,
    *,
    slot_s: int,
    work_s: int,
    deadline_s: int,
    overhead_s: int,
    start: float | str | Seconds | None = None,
    nodes: Nodes = None,
    spot_price: int = SPOT_PRICE,
    on_demand_price: int = ON_DEMAND_PRICE,
    prices: PriceTable | None = None,
    checkpoint_gb: float | Fraction = 0,
) -> Instance:
    """Return an instance whose zones are the nodes of a real trace.

    Spot can be had in a slot if the node is available during all of it.

    Parameters
    ----------
    trace
        See `hindsched.instances.traces.read`.
    slot_s, work_s, deadline_s, overhead_s
        See `Instance`. The window has as many slots as end by the deadline.
    start, nodes
        The window, see `hindsched.instances.traces.Trace.states`.
    spot_price, on_demand_price
        Micro-dollars an hour of all zones.
    prices
        Spot prices over time, in place of ``spot_price``; a slot costs the price at its start.
    checkpoint_gb
        Size of the checkpoint, from which delays and costs of moves follow; see `moves_of_checkpoint`.

    Raises
    ------
    InputError
        As in `hindsched.instances.traces.Trace.states`, `PriceTable.in_slots` and `Instance`.
    """
    if not 1 <= slot_s <= deadline_s:
        raise InputError(f"{deadline_s}, expected at least one slot of {slot_s} s", place="deadline_s")
    window = trace.window(
        slot_s=slot_s,
        start=None if start is None else to_moment(start, "start"),
        slots=deadline_s // slot_s,
        nodes=nodes,
    )
    spot = trace.states(slot_s=slot_s, start=window.start, slots=window.slots, nodes=window.nodes) == UP
    regions = [region_of(node) for node in window.nodes]
    delays, costs = moves_of_checkpoint(regions, checkpoint_gb)
    return Instance(
        slot_s=slot_s,
        deadline_s=deadline_s,
        work_s=work_s,
        overhead_s=overhead_s,
        zones=[
            Zone(
                spot[z],
                spot_price if prices is None else tuple(prices.in_slots(node, window.start, slot_s, window.slots)),
                on_demand_price,
                node,
                regions[z],
            )
            for z, node in enumerate(window.nodes)
        ],
        move_delay_s=delays,
        move_cost=costs,
    )


def hours_to_s(hours: float | str | Fraction, place: str) -> int:
    """Return hours as seconds.

    Raises
    ------
    InputError
        If they are not a whole number of seconds, or below 0.

    Examples
    --------
    >>> hours_to_s("0.05", "overhead_h"), hours_to_s(52, "deadline_h")
    (180, 187200)
    """
    length = seconds(hours) if isinstance(hours, str) else exact_seconds(hours, place)
    if length is None or length < 0 or Fraction(length * HOUR_S).denominator != 1:
        raise InputError(f"{hours} h, expected a whole number of seconds >= 0", place=place)
    return int(length * HOUR_S)
