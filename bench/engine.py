"""The campaign engine: jobs by key, run once each, in parallel, resumable.

A job is a plain function with plain arguments that returns a row. Its key says everything its row depends on, so a
row with that key never has to be made again.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.journal import Journal
from bench.progress import counting

__all__ = ["Job", "code_digest", "provenance", "run_jobs"]


@dataclass(frozen=True, slots=True)
class Job:
    """One row to make.

    Parameters
    ----------
    key
        Names the row: equal keys, equal rows (but for run times).
    note
        What a person sees while it runs.
    call, arguments
        A module-level function and its arguments, both picklable; it returns the row without its key.
    """

    key: str
    note: str
    call: Callable[..., dict[str, Any]]
    arguments: tuple[Any, ...]

    def run(self) -> tuple[str, str, dict[str, Any]]:
        """Make the row."""
        row = self.call(*self.arguments)
        return self.key, self.note, {"key": self.key, **row, **provenance()}


def run_jobs(what: str, jobs: Sequence[Job], journal: Journal, *, num_processes: int) -> None:
    """Make every row that the journal does not hold yet, and append each as soon as it is made.

    Rows stand in the journal in the order in which they were finished; their content does not depend on it.

    Parameters
    ----------
    what
        Heads the progress.
    jobs
        In the order in which they should begin.
    journal
        Open.
    num_processes
        Worker processes; 1 runs in this process.
    """
    if journal.torn:
        sys.stderr.write(f"hindsight: {journal.path}: the last row was torn off by an interruption; it is made again\n")
    missing = [job for job in jobs if job.key not in journal]
    if not missing:
        return
    with counting(what, total=len(jobs), done=len(jobs) - len(missing)) as counter:
        for _, note, row in _made(missing, num_processes):
            journal.append(row)
            counter.step(note)


def _made(jobs: Sequence[Job], num_processes: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    if num_processes == 1 or len(jobs) == 1:
        yield from (job.run() for job in jobs)
        return
    from joblib import Parallel, delayed
    from joblib.externals.loky import get_reusable_executor

    pool = Parallel(n_jobs=num_processes, batch_size=1, return_as="generator_unordered")
    yield from pool(delayed(_run_in_worker)(job, os.getpid()) for job in jobs)
    get_reusable_executor().shutdown(wait=True)  # else the workers stay for a next campaign, and delay the exit


def _run_in_worker(job: Job, campaign: int) -> tuple[str, str, dict[str, Any]]:
    """Make a row in a worker process, which ends when the campaign's process is no more."""
    _end_with(campaign)
    return job.run()


@cache
def _end_with(parent: int) -> None:
    """Let this process end within a second of its parent, whatever ended that and whatever this one is at."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@cache
def code_digest() -> str:
    """Return a digest of the source of the packages that rows depend on: rows of other code are not reused."""
    digest = hashlib.sha256()
    root = Path(__file__).resolve().parent.parent
    for package in ("instances", "offline", "online"):
        for source in sorted((root / package).rglob("*.py")):
            digest.update(str(source.relative_to(root)).encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


@cache
def provenance() -> dict[str, str]:
    """Return what a row says of the code and the machine that made it."""
    return {
        "version": version("hindsight-coupled"),
        "code": code_digest(),
        "python": sys.version.split()[0],
        "numpy": version("numpy"),
        "ortools": version("ortools"),
        "machine": f"{platform.system()} {platform.machine()}",
    }
