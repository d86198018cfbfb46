"""Options of commands that only the family `deadline` has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from hindsched.bench.commands.options import COUNT, POSITIVE, bound_option
from hindsched.bench.commands.traces import trace_options
from hindsched.instances.deadline.guards import Guard, Rung
from hindsched.online.deadline.options import Bank, RunGuard

__all__ = ["OPTIONS"]

_OVERHEAD = click.Option(
    ["--overhead", "overhead_s"], type=COUNT, default=300, help="d, seconds in which a launch computes nothing."
)
_RUN = [
    click.Option(
        ["--guard"],
        type=click.Choice([str(guard) for guard in RunGuard]),
        help="What protects the deadline.  [default: step with one zone, latched with several]",
    ),
    click.Option(
        ["--bank"],
        type=click.Choice([str(bank) for bank in Bank]),
        help="sliced: whether it computes on spot after the target of a slice is reached.  [default: no]",
    ),
]
_RUNG = [
    click.Option(
        ["--rung"],
        type=click.Choice([str(rung) for rung in Rung]),
        default=str(Rung.FREE),
        help="Schedules that count: all, or those that the guard lets run.",
    ),
    click.Option(
        ["--guard"],
        type=click.Choice([str(guard) for guard in Guard]),
        help="Guard of --rung guarded.  [default: step with one zone, latched with several]",
    ),
]
_GENERATE = [
    click.Option(["--zones"], type=POSITIVE, default=1, help="Z, number of zones."),
    click.Option(["--slots"], type=POSITIVE, default=48, help="N, number of slots."),
    click.Option(["--slot", "slot_s"], type=POSITIVE, default=600, help="Seconds of a slot."),
    click.Option(["--up"], type=click.FloatRange(0, 1), default=0.6, help="Share of slots with spot."),
    click.Option(
        ["--stay"], type=click.FloatRange(0, 1), default=0.8, help="Probability that a slot is as the one before."
    ),
    click.Option(["--work", "work_s"], type=POSITIVE, help="W, seconds of computing.  [default: 3/5 of the slots]"),
    click.Option(["--deadline", "deadline_s"], type=POSITIVE, help="D, in seconds.  [default: after the last slot]"),
    _OVERHEAD,
    click.Option(["--seed"], type=COUNT, default=0, help="Seed."),
]
_IMPORT = [
    click.Option(["--slot", "slot_s"], type=POSITIVE, required=True, help="Seconds of a slot."),
    click.Option(["--work-h", "work_s"], metavar="H", required=True, help="W, hours of computing that the job needs."),
    click.Option(
        ["--deadline-h", "deadline_s"], metavar="H", required=True, help="D, hours from the start to the deadline."
    ),
    click.Option(
        ["--overhead-h", "overhead_s"], metavar="H", default="0", help="d, hours in which a launch computes nothing."
    ),
    click.Option(
        ["--start"], metavar="TIME", help="Begin of slot 0: UNIX seconds or an ISO date.  [default: earliest]"
    ),
    click.Option(
        ["--windows"],
        type=POSITIVE,
        metavar="K",
        help="Number of windows, spread evenly over the trace without overlap: a file each in the folder -o.  "
        "[default: one window, in one file]",
    ),
    click.Option(["--nodes"], metavar="K|NAME,...", help="Number of zones, or their names.  [default: all]"),
    click.Option(["--spot-price"], metavar="USD", help="Dollars an hour of a spot instance.  [default: 0.9731]"),
    click.Option(
        ["--on-demand-price"], metavar="USD", help="Dollars an hour of an on-demand instance.  [default: 3.06]"
    ),
    click.Option(["--prices"], metavar="CSV", help="Spot prices over time: a table with time, zone and price."),
    click.Option(
        ["--checkpoint-gb"], type=float, default=0.0, help="Size of the checkpoint, which moves between regions."
    ),
    *trace_options(),
]
_SCORE = [
    click.Option(
        ["--zone", "zones"],
        multiple=True,
        metavar="NAME",
        help="A packaged zone, or several joined by +.  [default: nine]",
    ),
    click.Option(["--work-h"], type=POSITIVE, default=48, help="W, hours of computing."),
    click.Option(["--deadline-h"], type=POSITIVE, default=70, help="D, hours to the deadline."),
    click.Option(
        ["--overhead", "overhead_s"], type=COUNT, default=720, help="d, seconds in which a launch computes nothing."
    ),
    click.Option(["--starts"], type=POSITIVE, default=4, help="Number of windows of each zone."),
    click.Option(["--seed"], type=COUNT, default=0, help="Seed of the windows."),
    *_RUN,
]

_REPRODUCE = [
    click.Option(
        ["--starts"], type=POSITIVE, default=40, help="Number of windows of each zone, deadline and overhead."
    ),
    click.Option(
        ["--zones", "--zone", "zones"],
        multiple=True,
        metavar="NAME",
        help="A packaged zone; can be repeated.  [default: nine]",
    ),
    click.Option(["--seed"], type=COUNT, default=0, help="Seed of the windows."),
]

#: By command.
OPTIONS: Mapping[str, Sequence[click.Option]] = {
    "generate": _GENERATE,
    "import": _IMPORT,
    "solve": [*_RUNG, bound_option()],
    "check": _RUNG,
    "simulate": _RUN,
    "score": _SCORE,
    "reproduce": _REPRODUCE,
}
