"""Schedules and Lagrangian certificates: reading, writing and checking both."""

from __future__ import annotations

from typing import Any

from hindsched.instances.coupled.certificate_evaluation import check_certificate
from hindsched.instances.coupled.check import check as check_schedule
from hindsched.instances.coupled.files import SCHEDULE_FORMATS as SCHEDULES
from hindsched.instances.coupled.files import read_schedule as read_letters
from hindsched.instances.coupled.files import write_schedule as write_letters
from hindsched.instances.coupled.lagrangian_certificate import (
    FORMAT,
    LagrangianCertificate,
    format_certificate,
    read_certificate,
)
from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.schedule import Schedule
from hindsched.instances.verdict import Verdict

__all__ = ["SCHEDULE_FORMATS", "check", "read_schedule", "write_schedule"]

#: The formats of schedules, and of certificates that prove a bound.
SCHEDULE_FORMATS = (*SCHEDULES, FORMAT)


def read_schedule(document: dict[str, Any]) -> Schedule | LagrangianCertificate:
    """Return the schedule or the certificate of a parsed file (docs/model.md section 4).

    Raises
    ------
    InputError
        If the file does not have this format. The message names the place.
    """
    return read_certificate(document) if document.get("format") == FORMAT else read_letters(document)


def write_schedule(schedule: Schedule | LagrangianCertificate) -> str:
    """Return the text of a file; `read_schedule` returns an equal object."""
    if isinstance(schedule, LagrangianCertificate):
        return format_certificate(schedule)
    return write_letters(schedule)


def check(instance: Instance, schedule: Schedule | LagrangianCertificate) -> Verdict:
    """Replay a schedule, or evaluate a certificate (`check_certificate`), and return the verdict.

    Raises
    ------
    InputError
        If the schedule cannot be replayed, or the certificate cannot be evaluated.
    """
    if isinstance(schedule, LagrangianCertificate):
        return check_certificate(instance, schedule)
    return check_schedule(instance, schedule)
