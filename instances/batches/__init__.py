"""Batches of equal tasks with deadlines, on volunteer computers that call the master (docs/batches/model.md)."""

from __future__ import annotations

from typing import Any

from hindsched.instances.batches.availability import Availability
from hindsched.instances.batches.check import Outcome, check_run, expect_run
from hindsched.instances.batches.cut_certificate import (
    CUT_FORMAT,
    CutCertificate,
    check_cut_certificate,
    read_cut_certificate,
    write_cut_certificate,
)
from hindsched.instances.batches.files import INSTANCE_FORMATS, read_instance, write_instance
from hindsched.instances.batches.model import Compute, Instance
from hindsched.instances.batches.run import RUN_FORMAT, Contacts, Run, Rung, read_run, write_run
from hindsched.instances.batches.volunteers import VolunteerParameters, Volunteers
from hindsched.instances.verdict import Verdict

__all__ = [
    "INSTANCE_FORMATS",
    "SCHEDULE_FORMATS",
    "Availability",
    "Compute",
    "Contacts",
    "CutCertificate",
    "Instance",
    "Outcome",
    "Run",
    "Rung",
    "VolunteerParameters",
    "Volunteers",
    "check",
    "read_instance",
    "read_schedule",
    "write_instance",
    "write_schedule",
]

#: Formats of runs and of cut certificates.
SCHEDULE_FORMATS = (RUN_FORMAT, CUT_FORMAT)


def read_schedule(document: dict[str, Any]) -> Run | CutCertificate:
    """Return the run or the cut certificate of a parsed file (docs/batches/model.md section 4).

    Raises
    ------
    InputError
        If a key, the format or the rung is unknown, or a key is missing. The message names the place.
    """
    if document.get("format", CUT_FORMAT) == CUT_FORMAT and "cut" in document:
        return read_cut_certificate(document)
    return read_run(document)


def write_schedule(schedule: Run | CutCertificate) -> str:
    """Return the text of the file of a run or a cut certificate; `read_schedule` returns an equal object."""
    return write_cut_certificate(schedule) if isinstance(schedule, CutCertificate) else write_run(schedule)


def check(instance: Instance, schedule: Run | CutCertificate, of: Run | None = None) -> Verdict:
    """Replay a run, or compute the bound of each cut of a certificate again, and return the verdict.

    Parameters
    ----------
    instance
        The instance.
    schedule
        See `check_run` and `check_cut_certificate`.
    of
        The run to which the rungs ``traffic`` and ``stream`` refer.

    Raises
    ------
    InputError
        If a rung other than ``free`` comes without its run, if that run has contacts that are impossible in the
        instance, or if a certificate does not have one number and one cut for each batch.
    """
    if of is not None:
        expect_run(instance, of)
    if isinstance(schedule, CutCertificate):
        return check_cut_certificate(instance, schedule, of)
    return check_run(instance, schedule, of)
