"""The campaign engine: it runs jobs in parallel, each once, and resumes interrupted campaigns.

A job is a function with picklable arguments that returns a row. Its key covers everything that the row depends on, so a
row with the same key is reused.
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
from hindsched.bench.progress import announce_compilation, counting
from hindsched.bench.shared_types import Row
from hindsched.instances.errors import InputError
from hindsched.instances.families import BUILT_IN, names, part

__all__ = ["FailedJobsError", "Job", "code_digest", "provenance", "run_jobs", "source_digest"]

#: Seconds after which a worker returns the rows of a group so far, so that an interruption loses little.
_MAX_GROUP_S = 5.0
#: Groups submitted per process: enough that no process is idle, few enough to estimate the remaining time. It becomes 1
#: after a worker returns an unfinished group: the rest of the group then goes to the same process, with its caches.
_GROUPS_PER_PROCESS = 2

_ALL = ("instances", "offline", "online")


class FailedJobsError(InputError):
    """Some jobs failed on wrong input; the rows of all other jobs exist."""


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
        Consecutive jobs of one group run in one process, in order, and share what is costly to load.
    """

    key: str
    note: str
    call: Callable[..., Row]
    arguments: tuple[Any, ...]
    group: str = ""

    def run(self) -> Row:
        """Compute the row."""
        return {"key": self.key, **self.call(*self.arguments), **provenance()}


class _Outcome(NamedTuple):
    """The outcome of a job: its row, or an error message."""

    note: str
    row: Row | None
    failure: str | None


def run_jobs(
    what: str, jobs: Sequence[Job], journal: Journal, *, num_processes: int = 1, dask: str | None = None
) -> None:
    """Compute every row that is not in the journal, and append it at once.

    The order of rows in the journal is the order of completion; their content does not depend on it. A job that fails
    on wrong input, such as a policy that raises, has no row, and the other jobs continue.

    Parameters
    ----------
    what
        Title of the progress messages.
    jobs
        The jobs, in the order in which they should begin.
    journal
        An open journal.
    num_processes
        Number of worker processes; 1: this process.
    dask
        Address of a Dask scheduler whose workers run the jobs instead.

    Raises
    ------
    FailedJobsError
        After all other rows are computed, if jobs failed: with the first error and the number of failures.
    InputError
        At once, if a worker process is lost or runs different code, or the disk is full; finished rows are kept.
    """
    if journal.torn:
        sys.stderr.write(f"hindsched: {journal.path}: the last row was cut off and is recomputed\n")
    missing = [job for job in jobs if job.key not in journal]
    if not missing:
        return
    failures: list[str] = []
    with counting(what, total=len(jobs), done=len(jobs) - len(missing)) as counter:
        for outcomes in _outcomes(missing, num_processes, dask):
            journal.append_all([outcome.row for outcome in outcomes if outcome.row is not None])
            for outcome in outcomes:
                if outcome.failure is not None:
                    failures.append(outcome.failure)
                counter.step(outcome.note, failed=outcome.failure is not None)
    if failures:
        others = f" (and {len(failures) - 1} more failed; the other rows are kept)" if len(failures) > 1 else ""
        raise FailedJobsError(failures[0] + others)


def _outcomes(jobs: Sequence[Job], num_processes: int, dask: str | None) -> Iterator[list[_Outcome]]:
    if dask is None and (num_processes == 1 or len(jobs) == 1):
        yield from ([_outcome(job)] for job in jobs)
        return
    groups = deque(list(group) for _, group in groupby(jobs, lambda job: job.group or job.key))
    with _local_pool(num_processes) if dask is None else _dask_pool(dask) as pool:
        num_groups = len(groups)
        pending: set[Future[list[_Outcome]]] = set()
        submitted: dict[Future[list[_Outcome]], list[Job]] = {}
        ahead = _GROUPS_PER_PROCESS
        while groups or pending:
            while groups and len(pending) < ahead * pool.size():
                group = groups.popleft()
                is_first = not submitted and len(groups) == num_groups - 1
                future = pool.executor.submit(_run_in_worker, group, pool.owner, is_first, _MAX_GROUP_S)
                pending.add(future)
                submitted[future] = group
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                group = submitted.pop(future)
                try:
                    outcomes = future.result()
                except (BrokenExecutor, CancelledError) as error:
                    raise InputError(
                        "a worker process was lost (killed, or out of memory); all finished rows are kept: the same "
                        "command resumes, and fewer processes need less memory"
                    ) from error
                if len(outcomes) < len(group):
                    groups.appendleft(group[len(outcomes) :])
                    ahead = 1
                _expect_same_code(outcomes)
                yield outcomes


class _Pool(NamedTuple):
    """An executor, its number of parallel jobs, and the process with which its workers end."""

    executor: Executor
    size: Callable[[], int]
    owner: int | None


@contextmanager
def _local_pool(num_processes: int) -> Iterator[_Pool]:
    import warnings

    from joblib.externals.loky import get_reusable_executor

    # compilation makes a worker grow; loky then replaces it, with a warning that users cannot act on
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)

    executor = get_reusable_executor(max_workers=num_processes)
    try:
        yield _Pool(executor, lambda: num_processes, os.getpid())
    except BaseException:
        executor.shutdown(wait=True, kill_workers=True)
        raise
    executor.shutdown(wait=True)  # else the workers wait for another campaign, and delay the exit


@contextmanager
def _dask_pool(address: str) -> Iterator[_Pool]:
    try:
        from distributed import Client
        from distributed.comm.addressing import parse_address, parse_host_port
    except ModuleNotFoundError:
        raise InputError(
            'distributed is not installed, expected pip install "hindsched[distributed]"', place="--dask"
        ) from None
    with _refused(address):  # before a client is made, which reports errors much later
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


def _run_in_worker(jobs: Sequence[Job], owner: int | None, is_first: bool, max_group_s: float) -> list[_Outcome]:
    """Compute rows in a worker process for at most ``max_group_s`` seconds; the first group announces compilation."""
    if owner is not None:
        _end_with(owner)
        if is_first:
            announce_compilation()
    outcomes: list[_Outcome] = []
    started = time.monotonic()
    for job in jobs:
        with _ONE_AT_A_TIME:  # a Dask worker may have several threads, but standard output is redirected per process
            outcomes.append(_outcome(job))
        if time.monotonic() - started >= max_group_s:
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
    """Make this process end within a second of its parent."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


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
