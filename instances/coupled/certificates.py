"""What a solver or simulator may hand in, of either kind, and its check: schedules, and rents that prove a bound."""

from __future__ import annotations

from typing import Any

from hindsched.instances.coupled.certificate_evaluation import check_rents
from hindsched.instances.coupled.check import check as check_schedule
from hindsched.instances.coupled.files import SCHEDULE_FORMATS as SCHEDULES
from hindsched.instances.coupled.files import read_schedule as read_letters
from hindsched.instances.coupled.files import write_schedule as write_letters
from hindsched.instances.coupled.lagrangian_certificate import FORMAT, Rents, format_rents, read_rents
from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.schedule import Schedule
from hindsched.instances.verdict import Verdict

__all__ = ["SCHEDULE_FORMATS", "check", "read_schedule", "write_schedule"]

#: The forms that a schedule's or a certificate's file may have.
SCHEDULE_FORMATS = (*SCHEDULES, FORMAT)


def read_schedule(document: dict[str, Any]) -> Schedule | Rents:
    """Return what a parsed file holds: a schedule or rents (docs/model.md section 4).

    Raises
    ------
    InputError
        Naming the place.
    """
    return read_rents(document) if document.get("format") == FORMAT else read_letters(document)


def write_schedule(schedule: Schedule | Rents) -> str:
    """Return the text of a file; `read_schedule` gives back an equal object."""
    return format_rents(schedule) if isinstance(schedule, Rents) else write_letters(schedule)


def check(instance: Instance, schedule: Schedule | Rents) -> Verdict:
    """Replay a schedule (`hindsched.instances.coupled.check`), or evaluate rents (`check_rents`).

    Raises
    ------
    InputError
        Where there is nothing to replay or to evaluate.
    """
    return check_rents(instance, schedule) if isinstance(schedule, Rents) else check_schedule(instance, schedule)
