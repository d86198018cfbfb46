"""The command line ``hindsched``.

Results go to standard output, progress and messages to standard error. Exit codes: 0 success; 1 an invalid schedule
(``check``) or a differing row (``recheck``); 2 wrong input or usage, a full disk, too little memory or a lost worker
process; 3 a contradiction or an unexpected error inside the toolkit; 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import click

__all__ = ["main"]

_OUTPUT, _LIBRARY = "standard output", "a library cannot be loaded (too little memory, or a broken installation)"
EXIT_USAGE, EXIT_CONTRADICTION, EXIT_INTERRUPTED = 2, 3, 130


def _load_hindsched() -> click.Command:
    from hindsched.bench.commands.group import hindsched

    return hindsched


def main(name: str = "hindsched", load: Callable[[], click.Command] = _load_hindsched) -> None:
    """Run a command line and exit with its code.

    Parameters
    ----------
    name
        The program name in help texts.
    load
        Returns the command; called late, so that an interruption during slow imports is reported.
    """
    for stream in ("stdout", "stderr"):
        if getattr(sys, stream) is None:  # closed by the calling process
            setattr(sys, stream, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as on standard error: names of files may hold any bytes
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        _run(name, load)
    except KeyboardInterrupt:
        _fail("interrupted", EXIT_INTERRUPTED)
    except SystemExit:
        raise
    except BaseException as error:  # the last handler: no error ends in a traceback
        _fail(_report(error), EXIT_CONTRADICTION)
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(name: str, load: Callable[[], click.Command]) -> NoReturn:
    # slow imports are here, so that an interruption during them is reported
    import click

    from hindsched.bench.progress import announce_compilation
    from hindsched.instances.errors import HindschedError, InputError

    announce_compilation()
    try:
        command = load()
        variable = f"_{name}_COMPLETE".upper()
        if variable in os.environ:
            from click.shell_completion import shell_complete

            sys.exit(shell_complete(command, {}, name, variable, os.environ[variable]))
        with command.make_context(name, sys.argv[1:]) as context:
            code = command.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(EXIT_USAGE)
    except click.ClickException as error:
        _fail(" ".join(error.format_message().split()) + _help_of(error), EXIT_USAGE)
    except InputError as error:
        _fail(str(error), EXIT_USAGE)
    except HindschedError as error:
        _fail(str(error), EXIT_CONTRADICTION)
    except MemoryError:
        _fail("not enough memory for an instance of this size", EXIT_USAGE)
    except RecursionError:
        _fail("nested too deeply: the input, or calls within a policy", EXIT_USAGE)
    except ImportError as error:  # numpy and others explain over many lines that memory does not suffice
        _fail(f"{_LIBRARY}: {' '.join(str(error).split())}", EXIT_USAGE)
    except click.Abort:
        raise KeyboardInterrupt from None
    except BrokenPipeError:  # the reader of the output has closed it
        _drop_output()
        sys.exit(0)
    except OSError as error:
        place = error.filename or _place_without_name(error)
        if place == _OUTPUT:
            _drop_output()
        _fail(f"{place}: {error.strerror or ' '.join(str(error).split())}", EXIT_USAGE)
    sys.exit(code if isinstance(code, int) else 0)


def _help_of(error: click.ClickException) -> str:
    """Return what a missing option means and where all options are explained; nothing for other errors."""
    import click

    if not isinstance(error, click.MissingParameter) or error.ctx is None:
        return ""
    text = getattr(error.param, "help", None)
    return f"{f' {text}' if text else ''} See {error.ctx.command_path} --help."


def _place_without_name(error: OSError) -> str:
    """Return what an error of the operating system is about that names no file."""
    try:
        sys.stdout.flush()
    except OSError:
        return _OUTPUT
    raised_in = traceback.extract_tb(error.__traceback__)[-1].filename
    if raised_in == __file__ or Path(raised_in).parent.name == "click":  # unbuffered output has nothing to flush
        return _OUTPUT
    if raised_in.endswith("synchronize.py"):
        return "/dev/shm, the memory that worker processes share (one process needs none)"
    return _LIBRARY if error.errno is None else "the operating system refuses"


def _report(error: BaseException) -> str:
    """Write the traceback of an unexpected error to a new file, and return the line that names it."""
    from hindsched.instances.errors import printable

    what = printable(" ".join(f"{type(error).__name__}: {error}".split()))[:200]
    command = printable(" ".join(sys.argv))
    text = f"{command}\nPython {sys.version}\n\n{''.join(traceback.format_exception(error))}"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="hindsched-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(text)
    except OSError:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"an error of the toolkit, please report it: {what} ({frame.filename}:{frame.lineno})"
    return f"an error of the toolkit, please report it with the file {file.name}: {what}"


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt  # SIGTERM is handled as an interruption


def _drop_output() -> None:
    """Discard buffered output, which the interpreter would flush at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> NoReturn:
    with suppress(OSError):  # without standard error, only the exit code is left
        print(f"hindsched: {message}", file=sys.stderr, flush=True)
    sys.exit(code)
