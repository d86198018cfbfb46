"""Make the rows of a study of grids, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from hindsched.bench.campaign.engine import Job, code_digest, run_jobs
from hindsched.bench.campaign.jobs import job_key
from hindsched.bench.campaign.journal import Journal

__all__ = ["made_rows"]

Rows = list[dict[str, Any]]


def made_rows(study: str, call: Callable[..., Rows], arguments: Iterable[tuple[Any, ...]], folder: Path) -> Rows:
    """Return the rows of calls in their order; calls whose rows the folder holds, of the same code, are not repeated.

    Parameters
    ----------
    study
        Name of the study in messages and keys.
    call, arguments
        A function of a module, and the arguments of each call; equal ``repr`` means equal arguments. Calls with one
        first argument are neighbours.
    folder
        Holds the journal ``runs.jsonl``, which other studies may share.
    """
    code = code_digest("offline", family="grid")
    jobs = [
        Job(job_key("grid", "online", code, study, each), f"{study} {each}", _row, (call, each), group=repr(each[0]))
        for each in arguments
    ]
    with Journal(folder) as journal:
        run_jobs(study, jobs, journal)
        return [row for job in jobs for row in journal[job.key]["rows"]]


def _row(call: Callable[..., Rows], arguments: tuple[Any, ...]) -> dict[str, Any]:
    return {"kind": call.__module__, "rows": call(*arguments)}
