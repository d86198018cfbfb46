"""The command line ``hindsched``.

Results go to standard output, progress and messages to standard error. Exit codes: 0 success; 1 an invalid schedule
(``check``) or a differing row (``recheck``); 2 wrong input or usage, a full disk, too little memory or a lost worker
process; 3 a contradiction inside the toolkit; 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import click

__all__ = ["main"]

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
        with command.make_context(name, sys.argv[1:]) as context:
            code = command.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(EXIT_USAGE)
    except click.ClickException as error:
        _fail(" ".join(error.format_message().split()), EXIT_USAGE)
    except InputError as error:
        _fail(str(error), EXIT_USAGE)
    except HindschedError as error:
        _fail(str(error), EXIT_CONTRADICTION)
    except MemoryError:
        _fail("not enough memory for an instance of this size", EXIT_USAGE)
    except click.Abort:
        raise KeyboardInterrupt from None
    except BrokenPipeError:  # the reader of the output has closed it
        _drop_output()
        sys.exit(0)
    except OSError as error:
        _drop_output()
        _fail(f"{error.filename or 'standard output'}: {error.strerror}", EXIT_USAGE)
    sys.exit(code if isinstance(code, int) else 0)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt  # SIGTERM is handled as an interruption


def _drop_output() -> None:
    """Discard buffered output, which the interpreter would flush at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> NoReturn:
    with suppress(OSError):  # without standard error, only the exit code is left
        print(f"hindsched: {message}", file=sys.stderr, flush=True)
    sys.exit(code)
