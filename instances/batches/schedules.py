"""What a solver or simulator may hand in, of either kind, and its check: runs, and claims with their cuts."""

from __future__ import annotations

from typing import Any

from hindsched.instances.batches.check import check_run, expect_run
from hindsched.instances.batches.cuts import FORMAT as CLAIM_FORMAT
from hindsched.instances.batches.cuts import Claim, check_claim, format_claim, read_claim
from hindsched.instances.batches.model import Instance
from hindsched.instances.batches.run import FORMAT as RUN_FORMAT
from hindsched.instances.batches.run import Run, read_run, write_run
from hindsched.instances.verdict import Verdict

__all__ = ["SCHEDULE_FORMATS", "check", "read_schedule", "write_schedule"]

#: The forms that a run's or a claim's file may have.
SCHEDULE_FORMATS = (RUN_FORMAT, CLAIM_FORMAT)


def read_schedule(document: dict[str, Any]) -> Run | Claim:
    """Return what a parsed file holds: a claim if it has cuts, else a run (docs/batches/model.md section 4).

    Raises
    ------
    InputError
        Naming the place: an unknown or missing key, another form or rung.
    """
    if document.get("format", CLAIM_FORMAT) == CLAIM_FORMAT and "cut" in document:
        return read_claim(document)
    return read_run(document)


def write_schedule(schedule: Run | Claim) -> str:
    """Return the text of a run's or a claim's file; `read_schedule` gives back an equal one."""
    return format_claim(schedule) if isinstance(schedule, Claim) else write_run(schedule)


def check(instance: Instance, schedule: Run | Claim, of: Run | None = None) -> Verdict:
    """Replay a run or a certificate, or recompute the cuts of a claim; name the first rule that is broken.

    Parameters
    ----------
    instance
        With all availability.
    schedule
        See `check_run` and `check_claim`.
    of
        The run that the rungs ``traffic`` and ``stream`` are measured by.

    Raises
    ------
    InputError
        For a rung other than ``free`` without the run it is measured by, or with one whose contacts the instance
        rules out, and for a claim without one number and one cut for each batch.
    """
    if of is not None:
        expect_run(instance, of)
    return check_claim(instance, schedule, of) if isinstance(schedule, Claim) else check_run(instance, schedule, of)
