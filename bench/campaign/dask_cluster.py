"""Calls on the workers of a Dask cluster. A failure of the cluster is an error of one line."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast

from hindsched.bench.campaign.chunks import Chunks
from hindsched.instances.errors import InputError

__all__ = ["call_on_cluster"]

T = TypeVar("T")
R = TypeVar("R")

#: Chunks submitted per thread of the cluster: enough that no thread is idle, few enough to estimate the remaining time.
_AHEAD = 2
#: Seconds without a scheduler or a worker after which a campaign ends.
_PATIENCE_S = 10.0
#: Seconds between two looks at the cluster.
_PERIOD_S = 1.0
_RESUMES = "all finished rows are kept: the same command resumes"


def call_on_cluster(
    function: Callable[[list[T], float | None], list[R]], waiting: Chunks[T], address: str, limit_s: float | None
) -> Iterator[tuple[list[T], list[R]]]:
    """Call a function on chunks of items by the workers of a Dask cluster; yield each chunk with its results.

    A finished chunk wakes this process by a callback, so its cost does not depend on the number of others.

    Parameters
    ----------
    function
        A picklable function of a chunk and ``limit_s``; it returns a result for each item, or for the first ones.
    waiting
        The items. They are removed when they are submitted; the caller may put some back between results.
    address
        The address of the scheduler.
    limit_s
        The second argument of the function.

    Raises
    ------
    InputError
        If there is no such scheduler, it ends, it has no workers for `_PATIENCE_S` seconds, or a chunk ends several
        workers.
    """
    done: SimpleQueue[Any] = SimpleQueue()
    submitted: dict[str, list[T]] = {}
    with _client(address) as client:
        cluster = _Cluster(client, address)
        while waiting or submitted:
            while waiting and len(submitted) < _AHEAD * cluster.threads:
                chunk = waiting.take()
                future = client.submit(_timed, function, chunk, limit_s, pure=False)
                submitted[future.key] = chunk
                future.add_done_callback(done.put)
                cluster.futures[future.key] = future  # the cluster forgets what has no reference
            cluster.look()
            with suppress(Empty):
                future = done.get(timeout=_PERIOD_S)
                result = cluster.result(future)
                if result is None:
                    done.put(future)  # its worker is lost, and the scheduler has it computed again
                else:
                    del cluster.futures[future.key]
                    results, seconds = result
                    waiting.finished(len(results), seconds)
                    yield submitted.pop(future.key), results


def _timed(
    function: Callable[[list[T], float | None], list[R]], chunk: list[T], limit_s: float | None
) -> tuple[list[R], float]:
    begun = time.monotonic()
    return function(chunk, limit_s), time.monotonic() - begun


class _Cluster:
    """The state of a cluster, looked at from time to time."""

    def __init__(self, client: Any, address: str) -> None:
        self._client, self._address = client, address
        self.futures: dict[str, Any] = {}
        #: Number of jobs that can run at once.
        self.threads = 1
        self._last_look = 0.0
        self._last_seen = time.monotonic()

    def look(self) -> None:
        """Raise `InputError` if there was no worker for `_PATIENCE_S` seconds."""
        now = time.monotonic()
        if now - self._last_look < _PERIOD_S:
            return
        self._last_look = now
        missing = "does not answer"
        with suppress(Exception):  # of several kinds, if the scheduler has ended
            self.threads = sum(self._client.nthreads(callback_timeout=_PERIOD_S).values())
            missing = "has no workers"
            if self.threads:
                self._last_seen = now
        self.threads = max(1, self.threads)
        if now - self._last_seen >= _PATIENCE_S:
            raise self._error(f"the scheduler {missing} for {_PATIENCE_S:g} s; {_RESUMES}")

    def result(self, future: Any) -> Any:
        """Return the result of a future that is done; None if it is being computed again.

        Raises
        ------
        InputError
            If the scheduler or several workers are lost.
        """
        from distributed import KilledWorker

        try:
            return future.result(timeout=_PERIOD_S)
        except TimeoutError:
            return None
        except CancelledError:
            raise self._error(f"the connection to the scheduler is lost; {_RESUMES}") from None
        except KilledWorker:
            raise self._error(
                f"a job lost several workers (killed, or out of memory); {_RESUMES}, and fewer threads per worker need "
                "less memory"
            ) from None

    def _error(self, message: str) -> InputError:
        return InputError(f"{self._address}: {message}", place="--dask")


@contextmanager
def _client(address: str) -> Iterator[Any]:
    try:
        from distributed import Client
        from distributed.comm.addressing import parse_address, parse_host_port
    except ModuleNotFoundError:
        raise InputError(
            'distributed is not installed, expected pip install "hindsched[distributed]"', place="--dask"
        ) from None
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):  # they report in tracebacks
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    with _refused(address):  # before a client is made, which reports errors much later
        parse_host_port(parse_address(address)[1])
    with _refused(address):
        client: Any = cast(Any, Client)(address, timeout="10s", set_as_default=False)
    try:
        yield client
    finally:
        with suppress(Exception):  # the scheduler may have ended
            client.close(timeout=_PERIOD_S)


@contextmanager
def _refused(address: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, TimeoutError) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{address!r}: {why}; expected the address of a Dask scheduler", place="--dask") from None
