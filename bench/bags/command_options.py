"""Options of commands that only the family `bags` has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from hindsched.bench.commands.options import ABOVE_ZERO, COUNT, POSITIVE
from hindsched.bench.commands.traces import trace_options
from hindsched.bench.shared_types import Given
from hindsched.instances.bags import Store
from hindsched.instances.bags.generate import MIXES, SETS, TRACES
from hindsched.online.bags.options import ABSENCES, HANDOVERS, MAX_COPIES
from hindsched.online.bags.predictors import PREDICTORS

__all__ = ["OPTIONS"]


def _bag(*, tasks_needed: bool = False) -> list[click.Option]:
    """Return the options for a bag."""
    tasks: Given = {"required": True} if tasks_needed else {"default": 25}
    return [
        click.Option(["--tasks"], type=POSITIVE, help="n, number of tasks.", **tasks),
        click.Option(
            ["--reference", "reference_s"],
            type=POSITIVE,
            default=1800,
            help="R, CPU seconds of a task on the reference machine.",
        ),
        click.Option(
            ["--checkpoints"], type=COUNT, default=0, help="Number of checkpoints of a task, k - 1. Paper: 0, 1, 9."
        ),
        click.Option(
            ["--store"],
            type=click.Choice([str(store) for store in Store]),
            default=str(Store.SHARED),
            help="Machines that can resume from a saved state: all, or the one that saved it.",
        ),
    ]


_ON_DEMAND = click.Option(["--on-demand"], is_flag=True, help="Allow saves at any time.")
_SET = click.Option(
    ["--set", "machines"], type=click.Choice(list(SETS)), default="M01", help="Set of machines in the paper."
)
_MOVE = click.Option(
    ["--move", "move_s"],
    type=COUNT,
    default=0,
    metavar="S",
    help="Seconds that a machine spends to fetch a checkpoint that it has not saved itself.",
)
_MIX = click.Option(["--mix"], type=click.Choice(MIXES), default=MIXES[0], help="Arrangement of machine types in M04.")
_RUN = [
    click.Option(
        ["--predictor"],
        metavar="NAME",
        help=f"Predictor of FCFS-PRDCT-DMD: {', '.join(PREDICTORS)}, or FILE.py:CLASS.  [default: hour, trained on a "
        "generated trace of class rooms]",
    ),
    click.Option(
        ["--max-copies"],
        metavar="INTEGER",
        help=f"Largest number of copies of a task.  [default: {MAX_COPIES}]",
    ),
    click.Option(
        ["--handover"],
        type=click.Choice([str(handover) for handover in HANDOVERS]),
        help="When a machine that a completion frees requests work.  [default: immediate]",
    ),
    click.Option(
        ["--absence"],
        type=click.Choice([str(absence) for absence in ABSENCES]),
        help="Whether the master notices that a machine with a copy is off.  [default: store: if the store is shared]",
    ),
    click.Option(
        ["--day-tolerance"],
        metavar="X",
        help="Tolerated delay of a copy by day, as a share, such as 0.2.  [default: formula]",
    ),
]
_GENERATE = [
    _SET,
    *_bag(),
    _ON_DEMAND,
    _MOVE,
    _MIX,
    click.Option(
        ["--trace"],
        type=click.Choice(TRACES),
        default=TRACES[0],
        help="Machines that are independent, or in class rooms with a timetable.",
    ),
    click.Option(
        ["--slots"], type=POSITIVE, help="N, number of slots.  [default: to the end of 28080; 8 with --small]"
    ),
    click.Option(["--start"], type=COUNT, default=0, help="First slot of the trace, from Monday 0:00."),
    click.Option(["--seed"], type=COUNT, default=0, help="Seed of the trace."),
    click.Option(
        ["--small"],
        is_flag=True,
        help="Generate a small random instance; uses --tasks, --checkpoints, --store, --on-demand, --slots, --seed.",
    ),
]
_IMPORT = [
    click.Option(["--slot", "slot_s"], required=True, metavar="S", help="Seconds of a slot."),
    *_bag(tasks_needed=True),
    _ON_DEMAND,
    _MOVE,
    click.Option(["--kinds"], default="D", metavar="D|ABCD...", help="Type of all machines, or of each machine."),
    click.Option(
        ["--start"], metavar="TIME", help="Begin of slot 0: UNIX seconds or an ISO date.  [default: earliest]"
    ),
    click.Option(
        ["--slots"], type=POSITIVE, help="N, number of slots.  [default: all in which every node was observed]"
    ),
    click.Option(["--nodes"], metavar="K|NAME,...", help="Number of nodes, or their names.  [default: all]"),
    *trace_options(),
    click.Option(
        ["--absent"],
        type=click.Choice(["down", "reclaimed"]),
        default="down",
        help="State of a node that is not available.",
    ),
]
_SOLVE = [
    click.Option(
        ["--store"],
        type=click.Choice([*map(str, Store), "both"]),
        help="Store to solve for.  [default: as in FILE]",
    ),
    click.Option(
        ["--on-demand"],
        type=click.Choice(["yes", "no", "both"]),
        help="Whether to allow saves on demand.  [default: as in FILE]",
    ),
]
_SCORE = [
    _SET,
    *_bag(),
    _MIX,
    click.Option(["--starts"], type=POSITIVE, default=10, help="Number of starts on weekdays, and on weekends."),
    *_RUN,
]

_REPRODUCE = [
    click.Option(
        ["--starts", "number"], type=POSITIVE, default=40, help="Number of starts on weekdays, and on weekends."
    ),
    click.Option(
        ["--time-limit", "time_limit_s"],
        type=ABOVE_ZERO,
        default=30.0,
        metavar="S",
        help="Time limit of each optimum, in seconds.",
    ),
    click.Option(["--seed"], type=COUNT, default=0, help="Seed of the substitute trace."),
    click.Option(["--real/--no-real"], default=True, help="Whether to include nine zones of real machines."),
]

#: By command.
OPTIONS: Mapping[str, Sequence[click.Option]] = {
    "generate": _GENERATE,
    "import": _IMPORT,
    "solve": _SOLVE,
    "simulate": _RUN,
    "score": _SCORE,
    "reproduce": _REPRODUCE,
}
