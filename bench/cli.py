"""The command line: ``hindsight``, the front door of the toolkit.

Results go to standard output, progress and messages to standard error. Exit codes: 0 done; 1 a schedule was
refused by ``check``; 2 bad input or usage, told in one line; 3 the toolkit contradicted itself; 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

import click

from bench.commands.bench import bench
from bench.commands.biclique import biclique
from bench.commands.check import check
from bench.commands.gantt import gantt
from bench.commands.generate import generate
from bench.commands.import_ import import_
from bench.commands.reduce import reduce
from bench.commands.score import score
from bench.commands.simulate import simulate
from bench.commands.solve import solve
from bench.commands.verify_reductions import verify_reductions
from bench.commands.verify_solvers import verify_solvers
from instances.errors import HindsightError, InputError

__all__ = ["hindsight", "main"]

EXIT_USAGE, EXIT_CONTRADICTION, EXIT_INTERRUPTED = 2, 3, 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="hindsight-coupled", prog_name="hindsight")
def hindsight() -> None:
    """Compare on-line schedulers on volatile machines with the best that full knowledge of the future allows."""


for _command in (
    generate,
    import_,
    solve,
    simulate,
    check,
    gantt,
    score,
    reduce,
    biclique,
    verify_reductions,
    verify_solvers,
    bench,
):
    hindsight.add_command(_command)


def main() -> None:
    """Run the command line and exit with its code."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        _run()
    finally:
        signal.signal(signal.SIGTERM, before)


def _run() -> NoReturn:
    try:
        code = hindsight.main(prog_name="hindsight", standalone_mode=False)
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
    except HindsightError as error:
        _fail(str(error), EXIT_CONTRADICTION)
    except MemoryError:
        _fail("not enough memory for an instance of this size", EXIT_USAGE)
    except (KeyboardInterrupt, click.Abort):
        _fail("interrupted", EXIT_INTERRUPTED)
    except BrokenPipeError:
        # the reader of our output has gone; nothing is left to say, and the interpreter must not flush again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt  # who is asked to end leaves as tidily as who is interrupted


def _fail(message: str, code: int) -> NoReturn:
    click.echo(f"hindsight: {message}", err=True)
    sys.exit(code)
