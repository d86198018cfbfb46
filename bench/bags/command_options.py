"""Options of commands that only the family `bags` has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from hindsched.bench.commands.options import ABOVE_ZERO, COUNT, POSITIVE
from hindsched.bench.commands.traces import trace_options
from hindsched.bench.shared_types import Given
from hindsched.instances.bags import Store
from hindsched.instances.bags.generate import MIXES, SETS
from hindsched.online.bags.options import HANDOVERS, MAX_COPIES
from hindsched.online.bags.predictors import PREDICTORS

__all__ = ["OPTIONS"]


def _bag(*, tasks_needed: bool = False) -> list[click.Option]:
    """Return the parameters of a bag."""
    tasks: Given = {"required": True} if tasks_needed else {"default": 25, "show_default": True}
    return [
        click.Option(["--tasks"], type=POSITIVE, help="n, tasks of the bag.", **tasks),
        click.Option(
            ["--reference", "reference_s"],
            type=POSITIVE,
            default=1800,
            show_default=True,
            help="R, CPU seconds of a task on the reference machine.",
        ),
        click.Option(
            ["--checkpoints"],
            type=COUNT,
            default=0,
            show_default=True,
            help="Of a task; k is one more. Paper: 0, 1, 9.",
        ),
        click.Option(
            ["--store"],
            type=click.Choice([str(store) for store in Store]),
            default=str(Store.SHARED),
            show_default=True,
            help="Who starts from a saved state: any machine, or the one that saved it.",
        ),
    ]


_ON_DEMAND = click.Option(["--on-demand"], is_flag=True, help="States may be saved at any moment.")
_SET = click.Option(
    ["--set", "machines"], type=click.Choice(list(SETS)), default="M01", show_default=True, help="The paper's machines."
)
_MIX = click.Option(
    ["--mix"], type=click.Choice(MIXES), default=MIXES[0], show_default=True, help="How M04 lays its types out."
)
_RUN = [
    click.Option(
        ["--predictor"],
        metavar="NAME",
        help=f"Of FCFS-PRDCT-DMD: {', '.join(PREDICTORS)}, or FILE.py:CLASS.  [default: hour, trained on a class-room "
        "trace of its own]",
    ),
    click.Option(
        ["--max-copies"],
        metavar="INTEGER",
        help=f"Tasks with fewer live copies are replicated.  [default: {MAX_COPIES}]",
    ),
    click.Option(
        ["--handover"],
        type=click.Choice([str(handover) for handover in HANDOVERS]),
        help="When a machine asks that a completion frees.  [default: immediate]",
    ),
    click.Option(
        ["--day-tolerance"],
        metavar="X",
        help="By what share a copy may be late by day, such as 0.2.  [default: formula]",
    ),
]
_GENERATE = [
    _SET,
    *_bag(),
    _ON_DEMAND,
    _MIX,
    click.Option(["--slots"], type=POSITIVE, help="N, slots to take.  [default: to the end of 28080; 8 with --small]"),
    click.Option(
        ["--start"],
        type=COUNT,
        default=0,
        show_default=True,
        help="The slot of the trace, from Monday 0:00, to begin at.",
    ),
    click.Option(["--seed"], type=COUNT, default=0, show_default=True, help="Which trace."),
    click.Option(
        ["--small"],
        is_flag=True,
        help="A small random instance instead; of --tasks, --checkpoints, --store, --on-demand, --slots, --seed.",
    ),
]
_IMPORT = [
    click.Option(["--slot", "slot_s"], required=True, metavar="S", help="Seconds of a slot."),
    *_bag(tasks_needed=True),
    _ON_DEMAND,
    click.Option(
        ["--kinds"], default="D", show_default=True, metavar="D|ABCD...", help="Type of all machines, or of each."
    ),
    click.Option(
        ["--start"], metavar="TIME", help="Where slot 0 begins: UNIX seconds, or an ISO date.  [default: earliest]"
    ),
    click.Option(["--slots"], type=POSITIVE, help="N, slots to take.  [default: as many as all nodes were observed]"),
    click.Option(["--nodes"], metavar="K|NAME,...", help="So many nodes, or these.  [default: all]"),
    *trace_options(),
    click.Option(
        ["--absent"],
        type=click.Choice(["down", "reclaimed"]),
        default="down",
        show_default=True,
        help="What 'not available' means.",
    ),
]
_SOLVE = [
    click.Option(
        ["--store"],
        type=click.Choice([*map(str, Store), "both"]),
        help="Solve for this store, or for both.  [default: the file's]",
    ),
    click.Option(
        ["--on-demand"],
        type=click.Choice(["yes", "no", "both"]),
        help="With saves on demand, without, or both.  [default: as in the file]",
    ),
]
_SCORE = [
    _SET,
    *_bag(),
    _MIX,
    click.Option(
        ["--starts"], type=POSITIVE, default=10, show_default=True, help="So many on weekdays, and as many on weekends."
    ),
    *_RUN,
]

_REPRODUCE = [
    click.Option(
        ["--starts", "number"],
        type=POSITIVE,
        default=40,
        show_default=True,
        help="So many on weekdays, and as many on weekends.",
    ),
    click.Option(
        ["--time-limit", "time_limit_s"],
        type=ABOVE_ZERO,
        default=30.0,
        show_default=True,
        metavar="S",
        help="Of each optimum.",
    ),
    click.Option(["--seed"], type=COUNT, default=0, show_default=True, help="Of the substitute trace."),
    click.Option(["--real/--no-real"], default=True, show_default=True, help="Whether to run nine real zones too."),
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
