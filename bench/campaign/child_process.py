"""What a child process of a campaign does: it calls functions for its parent and sends the results."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from hindsched.bench.progress import announce_compilation
from hindsched.instances.errors import InputError
from hindsched.instances.families import register

__all__ = ["SHARED_S", "Lost", "is_child", "limited", "serve_parent"]

T = TypeVar("T")

#: Seconds after which a process shares the rest of its items with idle ones: long against loading an instance.
SHARED_S = 1.0
#: Share of the free memory that a child may use: Python then raises MemoryError before the machine runs out of it.
_MEMORY_SHARE = 0.9


class Lost(NamedTuple):
    """What happened to a call that returned nothing.

    Parameters
    ----------
    why
        The end of a sentence that begins with the call.
    may_recover
        Whether the cause may lie outside the call, so that another attempt makes sense.
    limit_s
        The limit that the call did not keep; None: another cause.
    """

    why: str
    may_recover: bool = False
    limit_s: float | None = None


class _Parent:
    """The connection of a child to its parent."""

    def __init__(self, descriptor: int) -> None:
        self._connection = Connection(descriptor)
        self._lock = threading.Lock()
        self._is_limited = False
        self._compiling = 0

    def send(self, *message: object) -> None:
        """Send a message from any thread."""
        with self._lock:
            self._connection.send_bytes(pickle.dumps(message))

    def is_asked(self) -> bool:
        """Return whether a message waits: the parent wants the rest of the call."""
        return self._connection.poll()

    def receive(self) -> bytes:
        """Return the next message."""
        return self._connection.recv_bytes()

    def limit(self, is_limited: bool) -> None:
        """Start or stop the clock of the call."""
        self._is_limited = is_limited
        self._compiling = 0
        self.send("clock", is_limited)

    def compile(self, change: int) -> None:
        """Stop the clock while machine code is compiled."""
        self._compiling += change
        if self._is_limited:
            self.send("clock", self._compiling == 0)


_parent: _Parent | None = None


def is_child() -> bool:
    """Return whether this process is a child that runs jobs."""
    return _parent is not None


@contextmanager
def limited() -> Iterator[None]:
    """Count the time of a block towards the limit of the call, without the compilation of machine code."""
    if _parent is None:
        yield
        return
    _parent.limit(True)
    try:
        yield
    finally:
        _parent.limit(False)


def serve_parent(descriptor: int, owner: int, scratch: str, announces: bool) -> None:
    """Call what the parent sends, until the parent ends.

    Parameters
    ----------
    descriptor
        File descriptor of the connection to the parent.
    owner
        Process identifier of the parent.
    scratch
        Folder of temporary files, removed at the end.
    announces
        Whether to announce compilation.
    """
    global _parent  # noqa: PLW0603  # a process has one parent
    _parent = parent = _Parent(descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    threading.Thread(target=_end_with, args=(owner, scratch), daemon=True).start()
    _limit_memory()
    if announces:
        announce_compilation()
    _stop_clock_in_compilation(parent)
    parent.send("ready")
    with suppress(EOFError, OSError):
        while True:
            content = parent.receive()
            if not content:  # asked for the rest of a call that is over
                continue
            try:
                families, function, items, max_s = pickle.loads(content)
            except Exception as error:
                refused = InputError(f"a job cannot be loaded by its process: {type(error).__name__}: {error}")
                parent.send("raise", refused, traceback.format_exc())
                continue
            for name, module in families.items():
                register(name, module)
            started = time.monotonic()
            for item in items:
                parent.send(*_answer(function, item))
                spent_s = time.monotonic() - started
                if spent_s >= max_s or (spent_s >= SHARED_S and parent.is_asked()):
                    break
            parent.send("done", spent_s)
    _end(scratch)


def _answer(function: Callable[[T], Any], item: T) -> tuple[Any, ...]:
    try:
        return "result", function(item)
    except MemoryError:
        return "result", Lost("raised MemoryError", may_recover=True)
    except Exception as error:
        text = traceback.format_exc()
        with suppress(Exception):
            pickle.loads(pickle.dumps(error))
            return "raise", error, text
        return "raise", RuntimeError(str(error)), text
    except BaseException as error:
        return "result", Lost(f"raised {type(error).__name__}")


def _end_with(owner: int, scratch: str) -> None:
    """End this process within a second of its parent."""
    while os.getppid() == owner:
        time.sleep(1.0)
    _end(scratch)


def _end(scratch: str) -> None:
    shutil.rmtree(scratch, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


def _limit_memory() -> None:
    """Let this process run out of memory before others do, where the system can."""
    with suppress(OSError, ValueError, ImportError, StopIteration):
        import resource

        Path("/proc/self/oom_score_adj").write_text("1000")
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")) << 10
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = int(free * _MEMORY_SHARE)
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _stop_clock_in_compilation(parent: _Parent) -> None:
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, _: object) -> None:
            parent.compile(1)

        def on_end(self, _: object) -> None:
            parent.compile(-1)

    event.register("numba:compile", Listener())
