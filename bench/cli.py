"""The command line: ``hindsched``, the front door of the toolkit.

Results go to standard output, progress and messages to standard error. Exit codes: 0 done; 1 a schedule was
refused by ``check``; 2 bad input or usage, told in one line; 3 the toolkit contradicted itself; 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn

import click

from bench.commands.biclique import biclique
from bench.commands.campaign import campaign
from bench.commands.check import check
from bench.commands.compile_ import compile_
from bench.commands.export import export
from bench.commands.gantt import gantt
from bench.commands.generate import generate
from bench.commands.import_ import import_
from bench.commands.leaderboard import leaderboard
from bench.commands.measure.group import bench
from bench.commands.online_optimum import online_optimum
from bench.commands.recheck import recheck
from bench.commands.reduce import reduce
from bench.commands.report import report
from bench.commands.reproduce import reproduce
from bench.commands.score import score
from bench.commands.simulate import simulate
from bench.commands.solve import solve
from bench.commands.verify.bags import verify_bags
from bench.commands.verify.reductions import verify_reductions
from bench.commands.verify.simulator import verify_simulator
from bench.commands.verify.solvers import verify_solvers
from bench.progress import tell_of_compilation
from instances.errors import HindschedError, InputError

__all__ = ["hindsched", "main"]

EXIT_USAGE, EXIT_CONTRADICTION, EXIT_INTERRUPTED = 2, 3, 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="hindsched", prog_name="hindsched")
def hindsched() -> None:
    """Compare on-line schedulers on volatile machines with the best that full knowledge of the future allows."""


for _command in (
    generate,
    import_,
    solve,
    online_optimum,
    simulate,
    check,
    gantt,
    export,
    score,
    leaderboard,
    campaign,
    report,
    reproduce,
    recheck,
    reduce,
    biclique,
    verify_reductions,
    verify_solvers,
    verify_simulator,
    verify_bags,
    bench,
    compile_,
):
    hindsched.add_command(_command)


def main() -> None:
    """Run the command line and exit with its code."""
    for stream in ("stdout", "stderr"):
        if getattr(sys, stream) is None:  # closed by who called us
            setattr(sys, stream, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    tell_of_compilation()
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        _run()
    finally:
        signal.signal(signal.SIGTERM, before)


def _run() -> NoReturn:
    try:
        with hindsched.make_context("hindsched", sys.argv[1:]) as context:
            code = hindsched.invoke(context)
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
    except (KeyboardInterrupt, click.Abort):
        _fail("interrupted", EXIT_INTERRUPTED)
    except BrokenPipeError:  # the reader of our output has gone; nothing is left to say
        _drop_output()
        sys.exit(0)
    except OSError as error:
        _drop_output()
        _fail(f"{error.filename or 'standard output'}: {error.strerror}", EXIT_USAGE)
    sys.exit(code if isinstance(code, int) else 0)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt  # who is asked to end leaves as tidily as who is interrupted


def _drop_output() -> None:
    """Send what standard output still holds nowhere: the interpreter flushes it again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> NoReturn:
    with suppress(OSError):  # where nobody can be told, the exit code still tells
        click.echo(f"hindsched: {message}", err=True)
    sys.exit(code)
