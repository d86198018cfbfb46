"""Decentralised as-soon-as-possible grids: rigid parallel jobs that arrive over time, on identical nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hindsched.instances.grid import price_certificate as _prices
from hindsched.instances.grid import schedule as _schedule
from hindsched.instances.grid.check import Outcome, check_schedule
from hindsched.instances.grid.files import INSTANCE_FORMATS, read_instance, write_instance
from hindsched.instances.grid.model import Instance
from hindsched.instances.grid.price_certificate import (
    CERTIFICATE_FORMATS,
    PriceCertificate,
    Resource,
    write_certificate,
)
from hindsched.instances.grid.price_certificate_check import Bound, check_certificate
from hindsched.instances.grid.schedule import Schedule
from hindsched.instances.verdict import Verdict

__all__ = [
    "CERTIFICATE_FORMATS",
    "INSTANCE_FORMATS",
    "SCHEDULE_FORMATS",
    "Bound",
    "Instance",
    "Outcome",
    "PriceCertificate",
    "Resource",
    "Schedule",
    "check",
    "check_certificate",
    "check_schedule",
    "read_instance",
    "read_schedule",
    "write_certificate",
    "write_instance",
    "write_schedule",
]

#: Formats of schedules, and of certificates that prove a bound.
SCHEDULE_FORMATS = (*_schedule.SCHEDULE_FORMATS, *CERTIFICATE_FORMATS)


def read_schedule(document: Mapping[str, Any]) -> Schedule | PriceCertificate:
    """Return the schedule or the certificate of a parsed file. `check` decides whether it obeys the rules.

    Raises
    ------
    InputError
        If ``format`` names neither.
    """
    if document.get("format") in CERTIFICATE_FORMATS:
        return _prices.read_certificate(document)
    return _schedule.read_schedule(document)


def write_schedule(schedule: Schedule | PriceCertificate) -> str:
    """Return the text of the file of a schedule or a certificate; `read_schedule` returns an equal object."""
    if isinstance(schedule, PriceCertificate):
        return write_certificate(schedule)
    return _schedule.write_schedule(schedule)


def check(instance: Instance, schedule: Schedule | PriceCertificate) -> Verdict:
    """Check a schedule (rules S1 to S6) or a certificate (P1 and P2); return the first broken rule or the outcome.

    See `hindsched.instances.grid.check.check_schedule` and
    `hindsched.instances.grid.price_certificate_check.check_certificate`.

    Examples
    --------
    >>> pair = Instance(nodes=3, slot_s=60, submit=[0, 0], width=[2, 2], length=[5, 1])
    >>> check(pair, Schedule.of(pair, [0, None], [[0, 1], []])).outcome
    Outcome(jobs=2, failed=1, total_wait=0)
    """
    if isinstance(schedule, PriceCertificate):
        return check_certificate(instance, schedule)
    return check_schedule(instance, schedule)
