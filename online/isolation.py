"""A user's policy in a process of its own, which does not hold the future.

The process is started afresh, not forked, in an empty folder, with few environment variables. It receives what the
policy may see, choice by choice. Its answers are plain values that contain no code.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Timer
from typing import Any, BinaryIO, Self

import msgspec

import hindsched
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import as_unicode, excerpt
from hindsched.online.loading import split_file

__all__ = ["PolicyProcess", "plain", "serve"]

#: Environment variables that a policy's process inherits, by the beginning of their names.
_INHERITED = (
    "CUDA_", "GOTO_", "HOME", "LANG", "LC_", "LD_LIBRARY_PATH", "MKL_", "NUMBA_", "OMP_", "OPENBLAS_", "PATH", "SYSTEM",
    "TEMP", "TMP", "TZ", "USER", "XDG_CACHE_HOME",
)  # fmt: skip
#: Largest answer in bytes; default 16 MiB, far above one choice for all workers of the largest instances.
_LARGEST_ANSWER = 1 << 24
#: Largest number of characters of a message from the process.
_LONGEST_MESSAGE = 2_000
#: Seconds that a process has to end by itself after its last choice.
_PATIENCE_S = 1.0


class _Reply(msgspec.Struct):
    value: Any = None
    expected: str | None = None
    place: str | None = None
    file: str | None = None


_REPLIES = msgspec.msgpack.Decoder(_Reply)


class PolicyProcess:
    """A user's policy in a process of its own; a context manager that ends the process.

    Parameters
    ----------
    family
        The family of the policy; ``hindsched.online.FAMILY.isolated`` serves the policy in the process.
    policy
        ``path/to/file.py:ClassName``, or any other name that the family's ``make_policy`` knows; not an object, whose
        code would be here already.
    options
        Options for ``make_policy``, which may not hold the future.
    time_limit_s
        Seconds after which the process is killed; None: no limit.

    Attributes
    ----------
    name
        The policy's name.

    Raises
    ------
    InputError
        For a policy that cannot be made, as ``make_policy`` does.
    """

    def __init__(self, family: str, policy: object, options: object, *, time_limit_s: float | None = None) -> None:
        if not isinstance(policy, str):
            raise InputError(f"the object {policy!r}, expected a name or path/to/file.py:ClassName", place="policy")
        self._given = split_file(policy)[0]
        # the process works elsewhere, so it gets the absolute path
        self._absolute = str(Path(self._given).absolute()) if self._given else ""
        self._folder = tempfile.TemporaryDirectory(prefix="hindsched-", ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-u", str(Path(__file__).with_name("policy_process.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self._folder.name,
            env={name: value for name, value in os.environ.items() if name.startswith(_INHERITED)},
            start_new_session=True,
        )
        self._limit_s = time_limit_s
        self._is_late = False
        self._timer = None if time_limit_s is None else Timer(time_limit_s, self._stop_late)
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        self.name = policy
        text = self._absolute + policy.removeprefix(self._given) if self._given else policy
        try:
            name = self._exchange(pickle.dumps(_module_path()), (family, text, options), f"policy {policy}")
            if not (isinstance(name, str) and name and name.isprintable()):
                raise InputError(f"name {excerpt(repr(name))}, expected one line of text", place=f"policy {policy}")
        except BaseException:
            self.end()
            raise
        self.name = name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_PATIENCE_S)
        self.end()

    def call(self, method: str, *arguments: object, place: str) -> Any:
        """Return what a method of the policy's server returns: a plain value (see `plain`).

        Parameters
        ----------
        method
            The method of ``Server`` in ``hindsched.online.FAMILY.isolated``.
        *arguments
            What the policy may see.
        place
            The place in the run, for messages.

        Raises
        ------
        InputError
            If the policy raises, ends its process, exceeds the time limit, or sends anything but an answer.
        """
        return self._exchange(b"", (method, arguments), place)

    def end(self) -> None:
        """End the process, and all that it has started."""
        if self._timer is not None:
            self._timer.cancel()
        self._kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._folder.cleanup()

    def _exchange(self, before: bytes, message: object, place: str) -> Any:
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        try:
            requests.write(before + pickle.dumps(message))
            requests.flush()
            size = answers.read(4)
            length = int.from_bytes(size, "big")
            content = answers.read(length) if length <= _LARGEST_ANSWER else b""
        except OSError:  # the process has closed its end
            size, length, content = b"", 0, b""
        if len(size) < 4 or (length <= _LARGEST_ANSWER and len(content) < length):
            raise InputError(self._why_it_ended(), place=place)
        if length > _LARGEST_ANSWER:
            raise InputError(f"an answer of {length} bytes, expected at most {_LARGEST_ANSWER}", place=place)
        try:
            reply = _REPLIES.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise InputError("its process sent something else than an answer", place=place) from None
        if reply.expected is not None:
            file = None if reply.file is None else self._as_given(reply.file)
            at = place if reply.place is None else self._as_given(reply.place)
            raise InputError(self._as_given(reply.expected), place=None if file is not None else at, file=file)
        return reply.value

    def _as_given(self, text: str) -> str:
        """Return a message with the policy's file as the user wrote it."""
        short = text[:_LONGEST_MESSAGE]
        return short.replace(self._absolute, self._given) if self._given else short

    def _why_it_ended(self) -> str:
        try:
            code = self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            return "closed the pipe of its answers"
        if self._is_late:
            return f"has not finished after {self._limit_s:g} s, the time limit of a run"
        if code >= 0:
            return f"ended its process with exit code {code}, expected a choice"
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        return f"its process was ended by signal {name}, expected a choice"

    def _stop_late(self) -> None:
        self._is_late = True
        self._kill()

    def _kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()


def plain(value: Any) -> Any:
    """Return an answer of a policy as a value without code: numbers, texts, None, and lists; a mapping as its pairs.

    Raises
    ------
    InputError
        For anything else.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, float):
        return float(value)
    if hasattr(value, "__index__"):
        number = value.__index__()
        return number if abs(number) < 1 << 63 else float(number)
    if isinstance(value, Mapping):
        return [[plain(key), plain(value[key])] for key in value]
    try:
        return [plain(each) for each in value]
    except TypeError:
        raise InputError(f"{excerpt(repr(value))}, expected numbers, lists and mappings") from None


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Make a policy in this process and answer requests until the pipe closes.

    Parameters
    ----------
    requests
        The family, the policy and its options; then each method of the family's ``Server`` with its arguments.
    answers
        Receives the policy's name, then each answer.
    """
    family, policy, options = pickle.load(requests)
    server: Any = None

    def make() -> str:
        nonlocal server
        server = import_module(f"hindsched.online.{family}.isolated").Server(policy, options)
        return str(server.name)

    _reply(answers, make)
    while True:
        try:
            method, arguments = pickle.load(requests)
        except EOFError:
            return
        _reply(answers, getattr(server, method), *arguments)


def _reply(answers: BinaryIO, call: Callable[..., Any], *arguments: object) -> None:
    """Write what a call returns, or the message of its error, after its length in 4 bytes."""
    try:
        reply = msgspec.msgpack.encode({"value": call(*arguments)})
    except InputError as error:
        reply = msgspec.msgpack.encode({"expected": error.expected, "place": error.place, "file": error.file})
    except BaseException as error:  # user code may raise anything
        what = " ".join(f"raised {type(error).__name__}: {error}".split())
        reply = msgspec.msgpack.encode({"expected": as_unicode(what)})
    answers.write(len(reply).to_bytes(4, "big") + reply)
    answers.flush()


def _module_path() -> list[str]:
    """Return the folders of modules without the current folder, where it is not the source of hindsched."""
    here, root = os.getcwd(), str(Path(hindsched.__file__).resolve().parents[1])
    return [folder for folder in sys.path if folder == root or folder not in ("", here)]
