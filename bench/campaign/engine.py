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
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, cast

from hindsched.bench.campaign.journal import Journal
from hindsched.bench.progress import counting, tell_of_compilation
from hindsched.instances.errors import InputError
from hindsched.instances.families import BUILT_IN, names, part

__all__ = ["FailedJobsError", "Job", "code_digest", "provenance", "run_jobs", "source_digest"]

#: A group that has worked for so long hands over the rows it has made, so that little is lost with it.
_HAND_OVER_S = 5.0
#: Groups handed out for each process at work: enough that none waits, few enough to count the time left. One only as
#: soon as a group has handed over: its rest then goes to the process that came free, which holds what the group shares.
_AHEAD = 2

_ALL = ("instances", "offline", "online")


class FailedJobsError(InputError):
    """Some jobs failed on bad input; the rows of all others are made."""


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
    group
        Neighbours of one group run in one process, one after another: they share what is costly to load.
    """

    key: str
    note: str
    call: Callable[..., dict[str, Any]]
    arguments: tuple[Any, ...]
    group: str = ""

    def run(self) -> dict[str, Any]:
        """Make the row."""
        return {"key": self.key, **self.call(*self.arguments), **provenance()}


class _Outcome(NamedTuple):
    """What became of a job: its row, or why there is none."""

    note: str
    row: dict[str, Any] | None
    failure: str | None


def run_jobs(
    what: str, jobs: Sequence[Job], journal: Journal, *, num_processes: int = 1, dask: str | None = None
) -> None:
    """Make every row that the journal does not hold yet, and append each as soon as it is made.

    Rows stand in the journal in the order in which they were finished; their content does not depend on it. A job that
    fails on bad input (a policy that raises) leaves no row; the others are made all the same.

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
    dask
        The address of a Dask scheduler, whose workers do the work instead.

    Raises
    ------
    FailedJobsError
        After all other rows are made, for the jobs that failed: the first of them, and how many there are.
    InputError
        At once, when a worker process is lost or runs other code than this, or the disk is full; the rows so far stay.
    """
    if journal.torn:
        sys.stderr.write(f"hindsched: {journal.path}: the last row was torn off by an interruption; it is made again\n")
    missing = [job for job in jobs if job.key not in journal]
    if not missing:
        return
    failures: list[str] = []
    with counting(what, total=len(jobs), done=len(jobs) - len(missing)) as counter:
        for outcomes in _made(missing, num_processes, dask):
            journal.append_all([outcome.row for outcome in outcomes if outcome.row is not None])
            for outcome in outcomes:
                if outcome.failure is not None:
                    failures.append(outcome.failure)
                counter.step(outcome.note, failed=outcome.failure is not None)
    if failures:
        others = f" (and {len(failures) - 1} more failed; the other rows are safe)" if len(failures) > 1 else ""
        raise FailedJobsError(failures[0] + others)


def _made(jobs: Sequence[Job], num_processes: int, dask: str | None) -> Iterator[list[_Outcome]]:
    if dask is None and (num_processes == 1 or len(jobs) == 1):
        yield from ([_outcome(job)] for job in jobs)
        return
    groups = deque(list(group) for _, group in groupby(jobs, lambda job: job.group or job.key))
    with _local_pool(num_processes) if dask is None else _dask_pool(dask) as pool:
        num_groups = len(groups)
        pending: set[Future[list[_Outcome]]] = set()
        handed: dict[Future[list[_Outcome]], list[Job]] = {}
        ahead = _AHEAD
        while groups or pending:
            while groups and len(pending) < ahead * pool.size():
                group = groups.popleft()
                is_first = not handed and len(groups) == num_groups - 1
                future = pool.executor.submit(_run_in_worker, group, pool.owner, is_first, _HAND_OVER_S)
                pending.add(future)
                handed[future] = group
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                group = handed.pop(future)
                try:
                    outcomes = future.result()
                except (BrokenExecutor, CancelledError) as error:
                    raise InputError(
                        "a worker process was lost (killed, or out of memory); every row in the results is safe: "
                        "the same command resumes, and fewer processes take less memory"
                    ) from error
                if len(outcomes) < len(group):
                    groups.appendleft(group[len(outcomes) :])
                    ahead = 1
                _expect_same_code(outcomes)
                yield outcomes


class _Pool(NamedTuple):
    """Who does the work: an executor, how many jobs it can be at, and the process that its workers end with."""

    executor: Executor
    size: Callable[[], int]
    owner: int | None


@contextmanager
def _local_pool(num_processes: int) -> Iterator[_Pool]:
    import warnings

    from joblib.externals.loky import get_reusable_executor

    # a worker that has compiled has grown; loky starts another in its place, and says so to nobody who could use it
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)

    executor = get_reusable_executor(max_workers=num_processes)
    try:
        yield _Pool(executor, lambda: num_processes, os.getpid())
    except BaseException:
        executor.shutdown(wait=True, kill_workers=True)
        raise
    executor.shutdown(wait=True)  # else the workers stay for a next campaign, and delay the exit


@contextmanager
def _dask_pool(address: str) -> Iterator[_Pool]:
    try:
        from distributed import Client
        from distributed.comm.addressing import parse_address, parse_host_port
    except ModuleNotFoundError:
        raise InputError(
            'distributed is not installed, expected pip install "hindsched[distributed]"', place="--dask"
        ) from None
    with _refused(address):  # before a client is made, which would tell of its end much later
        parse_host_port(parse_address(address)[1])
    with _refused(address):
        client: Any = cast(Any, Client)(address, timeout="10s", set_as_default=False)
    with client, client.get_executor(pure=False) as executor:
        yield _Pool(executor, lambda: max(1, sum(client.nthreads().values())), None)


@contextmanager
def _refused(address: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, TimeoutError) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{address!r}: {why}; expected the address of a Dask scheduler", place="--dask") from None


_ONE_AT_A_TIME = threading.Lock()


def _run_in_worker(jobs: Sequence[Job], owner: int | None, is_first: bool, hand_over_s: float) -> list[_Outcome]:
    """Make rows in a worker process until the time to hand over has come; the first says if it has to compile."""
    if owner is not None:
        _end_with(owner)
        if is_first:
            tell_of_compilation()
    outcomes: list[_Outcome] = []
    begun = time.monotonic()
    for job in jobs:
        with _ONE_AT_A_TIME:  # a Dask worker may have several threads; what policies print is caught by process
            outcomes.append(_outcome(job))
        if time.monotonic() - begun >= hand_over_s:
            break
    return outcomes


def _outcome(job: Job) -> _Outcome:
    try:
        return _Outcome(job.note, job.run(), None)
    except InputError as error:
        return _Outcome(job.note, None, str(error))


def _expect_same_code(outcomes: Sequence[_Outcome]) -> None:
    for outcome in outcomes:
        if outcome.row is not None and outcome.row["code"] != code_digest():
            raise InputError(
                f"a worker runs other code ({outcome.row['code']}) than this campaign ({code_digest()}): "
                "install the same version of hindsched everywhere"
            )


@cache
def _end_with(parent: int) -> None:
    """Let this process end within a second of its parent, whatever ended that and whatever this one is at."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@cache
def code_digest(*packages: str, family: str | None = None) -> str:
    """Return a digest of the source of the packages that rows depend on: rows of other code are not reused.

    Parameters
    ----------
    *packages
        Some of ``instances``, ``offline``, ``online``; none given means all of them.
    family
        Whose row it is: what all families share counts, and the family's own, not what belongs to the others. None:
        everything counts.
    """
    root = Path(__file__).resolve().parents[2]
    places = [root / package for package in packages or _ALL]
    if family is None:
        return source_digest(*places)[:16]
    theirs = set(names()) - {family}
    own = [] if family in BUILT_IN else _sources_of(family, packages or _ALL)
    return source_digest(*places, *own, without=theirs)[:16]


def _sources_of(family: str, packages: Sequence[str]) -> list[Path]:
    """Return where the parts of a family of somebody else's come from: the folder of a package, or the file."""
    files = [getattr(part(family, package), "__file__", None) for package in packages]
    places = {Path(file).resolve() for file in files if file is not None}
    return sorted({place.parent if place.name == "__init__.py" else place for place in places})


def source_digest(*places: Path, without: Collection[str] = ()) -> str:
    """Return a digest of the Python source in these folders and files.

    Parameters
    ----------
    *places
        Folders, with all below them, and files.
    without
        Names of folders directly below a place that do not count.
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
    """Return what a row says of the code and the machine that made it."""
    return {
        "version": version("hindsched"),
        "code": code_digest(),
        "python": sys.version.split()[0],
        "numpy": version("numpy"),
        "ortools": version("ortools"),
        "machine": f"{platform.system()} {platform.machine()}",
    }
