"""The campaign engine: it runs jobs in parallel, each once, and resumes interrupted campaigns.

A job is a function with picklable arguments that returns a row. Its key covers everything that the row depends on, so a
row with the same key is reused.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from hindsched.bench.campaign.child_process import Lost
from hindsched.bench.campaign.chunks import Chunks
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.campaign.processes import Child, call_in_children
from hindsched.bench.progress import counting
from hindsched.bench.shared_types import Row
from hindsched.instances.errors import InputError
from hindsched.instances.families import BUILT_IN, names, part

__all__ = ["FailedJobsError", "Job", "Runs", "code_digest", "provenance", "run_jobs", "source_digest"]

#: Seconds after which a Dask worker returns the rows of a chunk so far, so that an interruption loses little.
_MAX_CHUNK_S = 5.0

_ALL = ("instances", "offline", "online")


class FailedJobsError(InputError):
    """Some jobs failed on wrong input, or lost their process; the rows of all other jobs exist."""


@dataclass(frozen=True, slots=True)
class Job:
    """The computation of one row.

    Parameters
    ----------
    key
        Key of the row: equal keys mean equal rows, except for run times.
    note
        Description for progress messages.
    call, arguments
        A function of a module and its arguments, both picklable; it returns the row without its key.
    group
        Consecutive jobs of one group share data that is costly to load: they run in one process, in order. If a
        process is idle and no group waits, the rest of a long group is divided.
    failed
        A function of a message and the arguments; it returns the row of a job that lost its process. None: no row.
        The row of a failed job has its message under the key ``failure``.
    """

    key: str
    note: str
    call: Callable[..., Row]
    arguments: tuple[Any, ...]
    group: str = ""
    failed: Callable[..., Row] | None = None

    def run(self) -> Row:
        """Compute the row."""
        return {"key": self.key, **self.call(*self.arguments), **provenance()}


@dataclass(frozen=True, slots=True)
class Runs:
    """How runs of policies are treated, which may do anything.

    Parameters
    ----------
    limit_s
        Seconds after which a run is stopped; None: no limit.
    retries_failed
        Whether to compute failed rows again.
    """

    limit_s: float | None = None
    retries_failed: bool = False


class _Outcome(NamedTuple):
    """The outcome of a job: its row, or an error message, or both."""

    key: str
    note: str
    row: Row | None
    failure: str | None


def run_jobs(
    what: str,
    jobs: Sequence[Job],
    journal: Journal,
    *,
    num_processes: int = 1,
    dask: str | None = None,
    runs: Runs | None = None,
) -> None:
    """Compute every row that is not in the journal, and append it at once.

    The order of rows in the journal is the order of completion; their content does not depend on it. A job that fails
    on wrong input, such as a policy that raises, costs only its own row. So does a job that loses its process, after a
    second attempt in a process of its own, alone.

    Parameters
    ----------
    what
        Title of the progress messages.
    jobs
        The jobs, in the order in which they should begin.
    journal
        An open journal.
    num_processes
        Number of worker processes; 1: this process, if ``runs`` is None.
    dask
        Address of a Dask scheduler whose workers run the jobs instead.
    runs
        How runs of policies are treated; None: jobs run no code of users, so this process may run them.

    Raises
    ------
    FailedJobsError
        After all other rows are computed, if jobs failed, now or earlier: with the first error and the number of
        failures.
    InputError
        At once, if the workers are lost or run different code, or the disk is full; finished rows are kept.
    """
    if journal.torn:
        sys.stderr.write(f"hindsched: {journal.path}: the last row was cut off and is recomputed\n")
    failed = journal.failed_rows()
    again = {key for key, row in failed.items() if runs is not None and _is_tried_again(row, runs)}
    missing = [job for job in jobs if job.key not in journal or job.key in again]
    failures = [str(failed[job.key]["failure"]) for job in jobs if job.key in failed and job.key not in again]
    if missing:
        with counting(what, total=len(jobs), done=len(jobs) - len(missing)) as counter:
            for outcomes in _outcomes(missing, num_processes, dask, runs):
                _expect_same_code(outcomes)
                journal.append_all([outcome.row for outcome in outcomes if outcome.row is not None])
                for outcome in outcomes:
                    if outcome.failure is not None:
                        failures.append(outcome.failure)
                    counter.step(outcome.note, failed=outcome.failure is not None)
    if failures:
        others = f" (and {len(failures) - 1} more failed; the other rows are kept)" if len(failures) > 1 else ""
        raise FailedJobsError(failures[0] + others)


def _is_tried_again(row: Row, runs: Runs) -> bool:
    """Return whether a failed row is computed again: on request, or with more time than it had."""
    limit_s = row.get("run_limit_s")
    has_more_time = limit_s is not None and (runs.limit_s is None or runs.limit_s > limit_s)
    return runs.retries_failed or has_more_time


def _outcomes(jobs: Sequence[Job], num_processes: int, dask: str | None, runs: Runs | None) -> Iterator[list[_Outcome]]:
    limit_s = None if runs is None else runs.limit_s
    if dask is not None:
        from hindsched.bench.campaign.dask_cluster import call_on_cluster

        waiting = Chunks(jobs, _group_of)
        for chunk, outcomes in call_on_cluster(_run_in_dask_worker, waiting, dask, limit_s):
            known = {outcome.key for outcome in outcomes}
            waiting.put_back(job for job in chunk if job.key not in known)
            yield outcomes
    elif runs is None and (num_processes == 1 or len(jobs) == 1):
        yield from ([_outcome(job)] for job in jobs)
    else:
        yield from _outcomes_of(Chunks(jobs, _group_of), num_processes, limit_s)


def _group_of(job: Job) -> str:
    return job.group or job.key


def _outcomes_of(
    waiting: Chunks[Job],
    num_processes: int,
    limit_s: float | None,
    *,
    max_chunk_s: float = inf,
    kept: list[Child[Any]] | None = None,
) -> Iterator[list[_Outcome]]:
    """Run jobs in child processes; a job that loses its process is tried again alone at the end."""
    lost: list[Job] = []
    for results in call_in_children(
        _outcome, waiting, num_processes, limit_s=limit_s, max_chunk_s=max_chunk_s, kept=kept, announces=kept is None
    ):
        outcomes: list[_Outcome] = []
        for job, result in results:
            if isinstance(result, Lost) and result.may_recover:
                lost.append(job)
            else:
                outcomes.append(_settled(job, result))
        yield outcomes
    for job in lost:
        for ((_, result),) in call_in_children(_outcome, Chunks([job]), 1, limit_s=limit_s):
            yield [_settled(job, result)]


def _settled(job: Job, result: _Outcome | Lost) -> _Outcome:
    """Return the outcome of a job that may have lost its process."""
    if not isinstance(result, Lost):
        return result
    message = f"{job.note}: {result.why}"
    if job.failed is not None:
        for ((_, row),) in call_in_children(_failed_row, Chunks([(job, message)]), 1):
            if not isinstance(row, Lost):
                return _Outcome(job.key, job.note, {**row, "run_limit_s": result.limit_s}, message)
    return _Outcome(job.key, job.note, None, message)


def _failed_row(failed: tuple[Job, str]) -> Row:
    job, message = failed
    assert job.failed is not None
    return {"key": job.key, **job.failed(message, *job.arguments), **provenance()}


#: The idle child processes of this Dask worker: its jobs run in children, so that they cannot end the worker.
_kept: list[Child[Any]] = []


def _run_in_dask_worker(jobs: Sequence[Job], limit_s: float | None) -> list[_Outcome]:
    """Compute rows in a Dask worker, for at most `_MAX_CHUNK_S` seconds and the jobs that lose their process."""
    found = _outcomes_of(Chunks(jobs, lambda _: None), 1, limit_s, max_chunk_s=_MAX_CHUNK_S, kept=_kept)
    return [outcome for outcomes in found for outcome in outcomes]


def _outcome(job: Job) -> _Outcome:
    try:
        row = job.run()
        return _Outcome(job.key, job.note, row, row.get("failure"))
    except InputError as error:
        return _Outcome(job.key, job.note, None, str(error))


def _expect_same_code(outcomes: Sequence[_Outcome]) -> None:
    for outcome in outcomes:
        if outcome.row is not None and outcome.row["code"] != code_digest():
            raise InputError(
                f"a worker runs other code ({outcome.row['code']}) than this campaign ({code_digest()}): "
                "install the same version of hindsched everywhere"
            )


@cache
def code_digest(*packages: str, family: str | None = None) -> str:
    """Return a digest of the source code that rows depend on; rows of other code are not reused.

    Parameters
    ----------
    *packages
        Some of ``instances``, ``offline``, ``online``; none: all of them.
    family
        Family of the row: shared code and code of the family count, code of other families does not. None: all code
        counts.
    """
    root = Path(__file__).resolve().parents[2]
    places = [root / package for package in packages or _ALL]
    if family is None:
        return source_digest(*places)[:16]
    others = set(names()) - {family}
    own = [] if family in BUILT_IN else _sources_of(family, packages or _ALL)
    return source_digest(*places, *own, without=others)[:16]


def _sources_of(family: str, packages: Sequence[str]) -> list[Path]:
    """Return the folders or files of a user's family."""
    files = [getattr(part(family, package), "__file__", None) for package in packages]
    places = {Path(file).resolve() for file in files if file is not None}
    return sorted({place.parent if place.name == "__init__.py" else place for place in places})


def source_digest(*places: Path, without: Collection[str] = ()) -> str:
    """Return a digest of the Python source in folders and files.

    Parameters
    ----------
    *places
        Files, and folders with all files below them.
    without
        Names of subfolders that do not count.
    """
    digest = hashlib.sha256()
    for place in places:
        for source in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            inside = source.relative_to(place.parent)
            if len(inside.parts) < 3 or inside.parts[1] not in without:
                digest.update(str(inside).encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


@cache
def provenance() -> dict[str, str]:
    """Return the entries of a row on the code and the machine that computed it."""
    return {
        "version": version("hindsched"),
        "code": code_digest(),
        "python": sys.version.split()[0],
        "numpy": version("numpy"),
        "ortools": version("ortools"),
        "machine": f"{platform.system()} {platform.machine()}",
    }
