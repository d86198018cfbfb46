"""Random instances of the family ``deadline``: spot by a Markov chain, or by independent slots."""

from __future__ import annotations

import numpy as np

from hindsched.instances.deadline.model import MOST, Instance, Zone
from hindsched.instances.errors import InputError
from hindsched.instances.random_streams import stream

__all__ = ["ON_DEMAND_PRICE", "SPOT_PRICE", "generate"]

#: Micro-dollars an hour of one V100 on AWS, as the public simulator has them.
SPOT_PRICE, ON_DEMAND_PRICE = 973_100, 3_060_000
#: Largest numbers of zones, and of slots of all zones.
_MOST_ZONES, _MOST_SLOTS = 1_000, 10_000_000


def generate(
    seed: int,
    *,
    zones: int = 1,
    slots: int = 48,
    slot_s: int = 600,
    up: float = 0.6,
    stay: float = 0.8,
    work_s: int | None = None,
    deadline_s: int | None = None,
    overhead_s: int = 300,
    spot_price: int = SPOT_PRICE,
    on_demand_price: int = ON_DEMAND_PRICE,
    move_delay_s: int = 0,
    move_cost: int = 0,
) -> Instance:
    """Return an instance whose zones have or lack spot by independent two-state chains.

    Parameters
    ----------
    seed
        Seed of the instance. A zone's slots depend neither on their number nor on other zones.
    zones, slots, slot_s, overhead_s, spot_price, on_demand_price
        See `Instance`.
    up, stay
        In a slot, a zone keeps the state of the slot before with probability ``stay``; otherwise it has spot with
        probability ``up``.
    work_s
        W. None: three fifths of the slots.
    deadline_s
        D. None: the end of the last slot.
    move_delay_s, move_cost
        Delay and cost of a move between any two zones.

    Raises
    ------
    InputError
        If a number is out of range, or the deadline is not in the slot after the last one.

    Examples
    --------
    >>> generate(1, slots=6).spot.shape, generate(1, zones=2, slots=9).work_s
    ((1, 6), 3240)
    """
    for name, share in (("up", up), ("stay", stay)):
        if not 0 <= share <= 1:
            raise InputError(f"{share}, expected a probability", place=name)
    for name, number, most in (("zones", zones, _MOST_ZONES), ("slots", slots, _MOST_SLOTS), ("slot_s", slot_s, MOST)):
        if not 1 <= number <= most:
            raise InputError(f"{number}, expected an integer from 1 to {most}", place=name)
    if zones * slots > _MOST_SLOTS:
        raise InputError(f"{slots} of {zones} zones, expected at most {_MOST_SLOTS} together", place="slots")
    if deadline_s is None:
        deadline_s = slots * slot_s
    if deadline_s // slot_s != slots:
        found = f"{deadline_s} s are {deadline_s // slot_s} slots of {slot_s} s"
        raise InputError(f"{found}, expected {slots}", place="deadline_s")
    rows = [_drawn(stream("deadline", seed, z), slots, up, stay) for z in range(zones)]
    apart = [[int(i != j) for j in range(zones)] for i in range(zones)]
    return Instance(
        slot_s=slot_s,
        deadline_s=deadline_s,
        work_s=slots * slot_s * 3 // 5 if work_s is None else work_s,
        overhead_s=overhead_s,
        zones=[Zone(row, spot_price, on_demand_price) for row in rows],
        move_delay_s=[[move_delay_s * number for number in row] for row in apart],
        move_cost=[[move_cost * number for number in row] for row in apart],
    )


def _drawn(draws: np.random.Generator, slots: int, up: float, stay: float) -> np.ndarray:
    """Return the slots of a zone; each takes two numbers of the stream."""
    numbers = draws.random((slots, 2))
    fresh = numbers[:, 1] < up
    is_fresh = numbers[:, 0] >= stay
    is_fresh[0] = True
    last = np.maximum.accumulate(np.where(is_fresh, np.arange(slots), 0))
    return np.asarray(fresh[last])
