"""Options of commands that only the family `batches` has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import click

from hindsched.bench.commands.options import COUNT, NUMBERS, POSITIVE, Number
from hindsched.bench.commands.traces import trace_options
from hindsched.instances.batches import Compute, Rung
from hindsched.instances.batches.volunteers import DAY

__all__ = ["DURATION", "OPTIONS"]

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": DAY}


class _Duration(click.ParamType[int]):
    """Seconds, or a number with its unit: ``90``, ``30m``, ``4h``, ``7d``."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"([0-9]{1,9})([smhd]?)", str(value))
        if match is None or int(match[1]) == 0:
            self.fail(f"{value!r}, expected seconds above 0, or such as 30m, 4h, 7d", param, ctx)
        return int(match[1]) * _UNITS[match[2]]


DURATION = _Duration()


def _points(workers: int | None, tasks: int, batches: int) -> list[click.Option]:
    found = [
        click.Option(["--tasks"], type=POSITIVE, default=tasks, help="N, number of tasks of a batch."),
        click.Option(
            ["--deadline", "deadline_s"],
            type=DURATION,
            default="4h",
            help="Time from a batch's submission to its deadline.",
        ),
        click.Option(["--c"], type=DURATION, default="30m", help="Mean computing time of a task."),
        click.Option(["--batches"], type=POSITIVE, default=batches, help="M, number of consecutive batches."),
        click.Option(["--first-day"], type=COUNT, default=153, help="Day of the first submission, from 0."),
        click.Option(["--homogeneous"], is_flag=True, help="Give all workers the same speed."),
    ]
    if workers is not None:
        option = click.Option(["--workers"], type=POSITIVE, default=workers, help="W, number of workers.")
        found.insert(0, option)
    return found


_LEAD = click.Option(
    ["--lead", "lead_s"], type=DURATION, default="7d", help="Time from the begin of the run to the first submission."
)
_SEED = click.Option(["--seed"], type=COUNT, default=0, help="Seed of the workers.")
_COMPUTE = click.Option(
    ["--compute"],
    type=click.Choice([str(kind) for kind in Compute]),
    help="Whether tasks progress in available seconds or in all seconds.  [default: available; random with --small]",
)
_OF = click.Option(["--of"], metavar="RUN", help="The run that defines the relaxations traffic and stream.")

#: By command.
OPTIONS: Mapping[str, Sequence[click.Option]] = {
    "generate": [
        *_points(37_472, 1024, 256),
        _LEAD,
        _SEED,
        _COMPUTE,
        click.Option(["--drawn"], is_flag=True, help="Write the seed of the workers instead of their intervals."),
        click.Option(
            ["--small"],
            is_flag=True,
            help="Generate a small random instance; uses --workers, --tasks, --batches, --compute, --seed.",
        ),
    ],
    "import": [
        *trace_options(),
        *_points(None, 1024, 256),
        _LEAD,
        click.Option(["--seed"], type=COUNT, default=0, help="Seed of the speeds of the workers."),
        click.Option(["--origin"], type=int, help="UNIX second that becomes second 0.  [default: the trace's begin]"),
        _COMPUTE,
    ],
    "solve": [
        click.Option(
            ["--rung"],
            type=click.Choice([str(rung) for rung in Rung]),
            help="Contacts of the schedules: free, as many as in a run, or those of a run.  [default: free]",
        ),
        _OF,
    ],
    "check": [_OF],
    "reproduce": [
        click.Option(["--days"], type=NUMBERS, default="153,214,275", help="Days of the first submission."),
        click.Option(["--batches"], type=POSITIVE, default=256, help="M, number of batches."),
        click.Option(
            ["--scale"],
            type=Number(min=0, min_open=True, max=1),
            default=1.0,
            help="Share of the 37,472 workers and of the tasks per batch.",
        ),
        _SEED,
        click.Option(["--held"], is_flag=True, help="Only evaluate the runs in the folder."),
    ],
    "score": [
        *_points(400, 16, 12),
        click.Option(["--draws"], type=POSITIVE, default=3, help="Number of draws of workers."),
    ],
}
