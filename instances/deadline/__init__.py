"""One job with a deadline on spot and on-demand instances of cloud zones, at least cost."""

from __future__ import annotations

from typing import Any

from hindsched.instances.deadline import schedule as _schedule
from hindsched.instances.deadline.bound_certificate import (
    CERTIFICATE_FORMATS,
    BoundCertificate,
    read_certificate,
    write_certificate,
)
from hindsched.instances.deadline.bound_certificate_check import Bound, check_certificate
from hindsched.instances.deadline.check import Outcome, check_schedule
from hindsched.instances.deadline.files import INSTANCE_FORMATS, read_instance, write_instance
from hindsched.instances.deadline.guards import Guard, Rung, guard_for
from hindsched.instances.deadline.model import HOUR_S, UNITS_PER_DOLLAR, Instance, Zone
from hindsched.instances.deadline.schedule import Kind, Placement, Run, Schedule
from hindsched.instances.verdict import Verdict

__all__ = [
    "CERTIFICATE_FORMATS",
    "HOUR_S",
    "INSTANCE_FORMATS",
    "SCHEDULE_FORMATS",
    "UNITS_PER_DOLLAR",
    "Bound",
    "BoundCertificate",
    "Guard",
    "Instance",
    "Kind",
    "Outcome",
    "Placement",
    "Run",
    "Rung",
    "Schedule",
    "Zone",
    "check",
    "check_certificate",
    "check_schedule",
    "guard_for",
    "read_certificate",
    "read_instance",
    "read_schedule",
    "write_certificate",
    "write_instance",
    "write_schedule",
]

#: Formats of schedules, and of certificates that prove a bound.
SCHEDULE_FORMATS = (*_schedule.SCHEDULE_FORMATS, *CERTIFICATE_FORMATS)


def read_schedule(document: dict[str, Any]) -> Schedule | BoundCertificate:
    """Return the schedule or the certificate of a parsed file. `check` decides whether it obeys the rules.

    Raises
    ------
    InputError
        If ``format`` names neither.
    """
    if document.get("format") in CERTIFICATE_FORMATS:
        return read_certificate(document)
    return _schedule.read_schedule(document)


def write_schedule(schedule: Schedule | BoundCertificate) -> str:
    """Return the text of the file of a schedule or a certificate; `read_schedule` returns an equal object."""
    if isinstance(schedule, BoundCertificate):
        return write_certificate(schedule)
    return _schedule.write_schedule(schedule)


def check(
    instance: Instance,
    schedule: Schedule | BoundCertificate,
    *,
    rung: Rung | str = Rung.FREE,
    guard: Guard | str | None = None,
) -> Verdict:
    """Check a schedule or a certificate of a bound; return the first broken rule or the outcome.

    See `hindsched.instances.deadline.check.check_schedule` and
    `hindsched.instances.deadline.bound_certificate_check.check_certificate`.
    """
    if isinstance(schedule, BoundCertificate):
        return check_certificate(instance, schedule)
    return check_schedule(instance, schedule, rung=rung, guard=guard)
