"""Decentralised as-soon-as-possible grids: rigid parallel jobs that come over time, on identical nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hindsched.instances.grid import dual_prices as _prices
from hindsched.instances.grid import schedule as _schedule
from hindsched.instances.grid.check import Outcome, check_schedule
from hindsched.instances.grid.dual_prices import PRICE_FORMATS, Prices, Resource, write_prices
from hindsched.instances.grid.files import INSTANCE_FORMATS, read_instance, write_instance
from hindsched.instances.grid.model import Instance
from hindsched.instances.grid.price_bound import Bound, check_prices
from hindsched.instances.grid.schedule import Schedule
from hindsched.instances.verdict import Verdict

__all__ = [
    "INSTANCE_FORMATS",
    "PRICE_FORMATS",
    "SCHEDULE_FORMATS",
    "Bound",
    "Instance",
    "Outcome",
    "Prices",
    "Resource",
    "Schedule",
    "check",
    "check_prices",
    "check_schedule",
    "read_instance",
    "read_schedule",
    "write_instance",
    "write_prices",
    "write_schedule",
]

#: What the key ``format`` of a file for `check` may say: a schedule, or prices that prove a bound.
SCHEDULE_FORMATS = (*_schedule.SCHEDULE_FORMATS, *PRICE_FORMATS)


def read_schedule(document: Mapping[str, Any]) -> Schedule | Prices:
    """Return the schedule or the prices that a decoded file holds; whether they are right is for `check` to say.

    Raises
    ------
    InputError
        Where ``format`` names neither.
    """
    if document.get("format") in PRICE_FORMATS:
        return _prices.read_prices(document)
    return _schedule.read_schedule(document)


def write_schedule(claim: Schedule | Prices) -> str:
    """Return the text of the file of a schedule or of prices."""
    return write_prices(claim) if isinstance(claim, Prices) else _schedule.write_schedule(claim)


def check(instance: Instance, claim: Schedule | Prices) -> Verdict:
    """Judge a schedule (S1 to S6) or prices (P1, P2) of an instance.

    See `hindsched.instances.grid.check.check_schedule` and `hindsched.instances.grid.price_bound.check_prices`.

    Examples
    --------
    >>> pair = Instance(nodes=3, slot_s=60, submit=[0, 0], width=[2, 2], length=[5, 1])
    >>> check(pair, Schedule.of(pair, [0, None], [[0, 1], []])).outcome
    Outcome(jobs=2, failed=1, total_wait=0)
    """
    return check_prices(instance, claim) if isinstance(claim, Prices) else check_schedule(instance, claim)
