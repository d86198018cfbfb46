"""Calls in child processes: a call that ends, blocks or exhausts its process costs only its own result.

A child is started with the module path of this process, but without the current folder in front: a file ``random.py``
there is not imported. It has a process group and a folder for temporary files of its own, so that nothing is left when
it is killed. It ends when its parent ends.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import inf
from multiprocessing import Pipe
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Generic, TypeVar

from hindsched.bench.campaign.child_process import Lost
from hindsched.bench.campaign.chunks import Chunks
from hindsched.instances.errors import InputError
from hindsched.instances.families import registered

__all__ = ["Child", "call_in_child", "call_in_children"]

T = TypeVar("T")

#: The program of a child. Arguments: the module path, the descriptor of its connection, and those of `serve_parent`.
_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from hindsched.bench.campaign.child_process import serve_parent
serve_parent(int(sys.argv[2]), *json.loads(sys.argv[3]))
"""
#: Number of processes that may end before they are ready: something else may have killed them.
_MAX_FAILED_STARTS = 2


class Child(Generic[T]):
    """A process that calls a function on each of several items, in order.

    Parameters
    ----------
    announces
        Whether it announces compilation.

    Raises
    ------
    InputError
        If the process cannot start.
    """

    def __init__(self, *, announces: bool = False) -> None:
        self.items: deque[T] = deque()
        #: Whether the process has ended.
        self.has_ended = False
        #: Whether the process was ever ready to call functions.
        self.has_started = False
        #: Number of results of the present call, and its duration in the process once it is over.
        self.num_results, self.duration_s = 0, 0.0
        self._is_asked = False
        self._spent_s = 0.0
        self._since: float | None = None
        self._scratch = tempfile.mkdtemp(prefix="hindsched-")
        self.connection, theirs = Pipe()
        with theirs:
            start = (os.getpid(), self._scratch, announces)
            arguments = [json.dumps(_import_path()), str(theirs.fileno()), json.dumps(start)]
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-c", _PROGRAM, *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=_standard_error(),
                    pass_fds=[theirs.fileno()],
                    env=os.environ | {"TMPDIR": self._scratch},
                    process_group=0,
                )
            except OSError as error:
                os.rmdir(self._scratch)
                raise InputError(f"a worker process cannot start: {error.strerror}") from None

    def give(self, function: Callable[[T], Any], items: Sequence[T], max_s: float) -> None:
        """Let the process call a function on items, for at most ``max_s`` seconds and at least once."""
        import cloudpickle

        self.items = deque(items)
        self.num_results, self._is_asked = 0, False
        self._spent_s, self._since = 0.0, None
        self._send(cloudpickle.dumps((registered(), function, list(items), max_s)))

    def ask_for_rest(self) -> None:
        """Let the process end its call after the present item, once the call takes `child_process.SHARED_S`."""
        if len(self.items) > 1 and not self._is_asked:
            self._is_asked = True
            self._send(b"")

    def _send(self, message: bytes) -> None:
        with suppress(OSError):  # it has ended, which is noticed when its results are received
            self.connection.send_bytes(message)

    def remaining_s(self, limit_s: float) -> float:
        """Return how long the present call may still take; infinite if no part with a limit is running."""
        return inf if self._since is None else limit_s - self._spent_s - (time.monotonic() - self._since)

    def receive(self) -> Iterator[tuple[T, Any] | None]:
        """Yield the results that have arrived, each with its item; at the end of the items or the process, None.

        Raises
        ------
        Exception
            What the function raised.
        """
        try:
            while self.connection.poll():
                kind, *content = pickle.loads(self.connection.recv_bytes())
                self.has_started = True
                if kind == "clock":
                    self._count(content[0])
                elif kind == "result":
                    self._spent_s, self._since = 0.0, None
                    self.num_results += 1
                    yield self.items.popleft(), content[0]
                elif kind == "raise":
                    break
                elif kind == "done":
                    self.duration_s = content[0]
                    yield None
                    return
            else:
                return
        except (EOFError, ConnectionError, pickle.UnpicklingError):
            code = self.end()
            if self.items and self.has_started:
                yield self.items.popleft(), Lost(f"its process {_how_it_ended(code)}", may_recover=True)
            yield None
        else:
            raise content[0] from RuntimeError(content[1])

    def _count(self, runs: bool) -> None:
        now = time.monotonic()
        if self._since is not None:
            self._spent_s += now - self._since
        self._since = now if runs else None

    def end(self) -> int:
        """Kill the process and what it started, remove its temporary files, and return its exit code."""
        if not self.has_ended:
            self.has_ended = True
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self.connection.close()
            shutil.rmtree(self._scratch, ignore_errors=True)
        return self._process.wait()


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"was ended by {name}" + (", as when memory runs out" if -code == signal.SIGKILL else "")


def call_in_children(
    function: Callable[[T], Any],
    waiting: Chunks[T],
    num_children: int,
    *,
    limit_s: float | None = None,
    max_chunk_s: float = inf,
    kept: list[Child[Any]] | None = None,
    announces: bool = False,
) -> Iterator[list[tuple[T, Any]]]:
    """Call a function on items in child processes; yield items with their results.

    Parameters
    ----------
    function
        A picklable function.
    waiting
        The items. Those of a group are computed in order in one process, but if another one is idle and nothing waits,
        a process shares its items after `child_process.SHARED_S`.
    num_children
        Number of processes.
    limit_s
        Most seconds of the parts of a call that are `limited`; None: no limit.
    max_chunk_s
        After this time a chunk is left unfinished, and the items that are left have no result.
    kept
        Idle children, which are used and stay alive; None: all children end.
    announces
        Whether the first child announces compilation.

    Yields
    ------
    list
        Pairs of an item and what the function returned, or `Lost`.

    Raises
    ------
    Exception
        What the function raised.
    """
    idle: list[Child[T]] = [] if kept is None else kept
    busy: list[Child[T]] = []
    failed_starts = 0
    try:
        while waiting or busy:
            while waiting and len(busy) < num_children:
                child = _taken(idle) or Child[T](announces=announces)
                announces = False
                busy.append(child)
                child.give(function, waiting.take(), max_chunk_s)
            if len(busy) < num_children:
                max(busy, key=lambda child: len(child.items)).ask_for_rest()
            left_s = inf if limit_s is None else min(child.remaining_s(limit_s) for child in busy)
            wait([child.connection for child in busy], None if left_s == inf else max(0.0, left_s))
            results: list[tuple[T, Any]] = []
            for child in busy.copy():
                is_free = False
                for result in child.receive():
                    if result is None:
                        is_free = True
                    else:
                        results.append(result)
                if not is_free and limit_s is not None and child.remaining_s(limit_s) <= 0:
                    results.append((child.items.popleft(), Lost(f"not finished after {limit_s:g} s", limit_s=limit_s)))
                    child.end()
                    is_free = True
                if is_free:
                    busy.remove(child)
                    if child.has_ended or child.duration_s < max_chunk_s:
                        waiting.put_back(child.items, num_idle=num_children - len(busy))
                    if not child.has_ended:
                        idle.append(child)
                        waiting.finished(child.num_results, child.duration_s)
                    elif child.items:
                        failed_starts += not child.has_started
                        if failed_starts > _MAX_FAILED_STARTS:
                            raise InputError(
                                "worker processes cannot start: too little memory, or too many processes; all finished "
                                "rows are kept: the same command resumes"
                            )
            if results:
                yield results
    finally:
        for child in [*busy, *(idle if kept is None else ())]:
            child.end()


def _taken(idle: list[Child[T]]) -> Child[T] | None:
    try:
        return idle.pop()  # threads of a Dask worker share the list
    except IndexError:
        return None


def call_in_child(function: Callable[..., T], *arguments: object, place: str, limit_s: float | None = None) -> T:
    """Return what a function returns in a child process.

    Parameters
    ----------
    function, *arguments
        What is called, and with what.
    place
        The place in the error if the process ends instead.
    limit_s
        Most seconds of its parts that are `limited`; None: no limit.

    Raises
    ------
    InputError
        If the process ends instead.
    Exception
        What the function raises.
    """
    for results in call_in_children(_apply, Chunks([(function, arguments)]), 1, limit_s=limit_s, announces=True):
        ((_, result),) = results
        if isinstance(result, Lost):
            raise InputError(result.why, place=place)
        found: T = result
        return found
    raise AssertionError("one item has one result")


def _apply(call: tuple[Callable[..., T], tuple[object, ...]]) -> T:
    function, arguments = call
    return function(*arguments)


def _import_path() -> list[str]:
    """Return the module path for a child: the current folder, which Python puts in front, comes last."""
    root = Path(__file__).resolve().parents[2]
    is_implicit = bool(sys.path) and sys.path[0] in ("", os.getcwd()) and not sys.flags.safe_path
    if not is_implicit or root == Path.cwd().resolve():  # a checkout of this package is trusted
        return sys.path
    return [*sys.path[1:], os.getcwd()]


def _standard_error() -> int:
    try:
        os.fstat(2)
    except OSError:
        return subprocess.DEVNULL
    return 2
