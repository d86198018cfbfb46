"""Options of commands that only the family `grid` has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from hindsched.bench.commands.options import ABOVE_ZERO, COUNT, NUMBERS, POSITIVE, bound_option
from hindsched.online.grid.options import CHOICES

__all__ = ["OPTIONS"]

_KINDS = ("swf", "gwf", "batsim")
_MIXES = ("wide", "narrow")
#: Of `hindsched.bench.grid.experiment`, which is not loaded for a help text.
_PARTS = ("paper", "overlay", "size", "reach", "log", "whole")

_HELP = {
    "fwd": "dgs, late: searchers a job is forwarded to.  [default: 5]",
    "degree": "dgs, late: neighbours a node knows.  [default: 20]",
    "overlay": "dgs: whether neighbours stay or are shuffled.  [default: static]",
    "every": "dgs: slots between two rounds of Cyclon.  [default: 10]",
    "swap": "dgs: entries a message of Cyclon carries.  [default: 8]",
    "messaging": "dgs: how nodes learn of schedules.  [default: push]",
    "poll_slots": "dgs: slots between two polls of a node.  [default: 2]",
    "poll_phase": "dgs: whether all nodes poll in the same slots.  [default: common]",
    "explore": "dgs, late: whether a searcher asks beyond the neighbours of its neighbours.  [default: fail]",
    "patience": "late: slots until a waiting job is promised a start.  [default: 60]",
    "rule": "queue, late: who comes first.  [default: length]",
}


def _of_runs() -> list[click.Option]:
    return [
        click.Option(
            [f"--{name.replace('_', '-')}"],
            type=click.Choice(CHOICES[name]) if name in CHOICES else COUNT if name == "patience" else POSITIVE,
            help=text,
        )
        for name, text in _HELP.items()
    ]


def _of_workload(nodes: int, jobs: int, *, name: str) -> list[click.Option]:
    return [
        click.Option(["--nodes"], type=POSITIVE, default=nodes, show_default=True, help="M, nodes."),
        click.Option(["--slot", "slot_s"], type=POSITIVE, default=60, show_default=True, help="Seconds of a slot."),
        click.Option([name, "num_jobs"], type=POSITIVE, default=jobs, show_default=True, help="Jobs."),
        click.Option(
            ["--load"], type=ABOVE_ZERO, default=0.28, show_default=True, help="Share of the grid they ask for."
        ),
        click.Option(
            ["--mix"],
            type=click.Choice(_MIXES),
            default=_MIXES[0],
            show_default=True,
            help="Widths: mean 14, some wider than a neighbourhood, or mean 3.7.",
        ),
    ]


_IMPORT = [
    click.Option(
        ["--kind"],
        type=click.Choice(_KINDS),
        default=_KINDS[0],
        show_default=True,
        help="Standard or Grid Workload Format, or a workload of Batsim.",
    ),
    click.Option(["--nodes"], type=POSITIVE, help="M, nodes.  [default: as Batsim's workload says]"),
    click.Option(["--slot", "slot_s"], type=POSITIVE, required=True, help="Seconds of a slot."),
    click.Option(["--compress"], default="1", show_default=True, metavar="A/B", help="Multiply gaps of submission."),
    click.Option(["--first"], type=COUNT, default=0, show_default=True, help="Leave out so many jobs."),
    click.Option(["--count"], type=COUNT, help="Then take so many.  [default: all]"),
    click.Option(
        ["--wide"],
        type=click.Choice(["refuse", "drop"]),
        default="refuse",
        show_default=True,
        help="What to do with jobs wider than the grid.",
    ),
]

#: By command.
OPTIONS: Mapping[str, Sequence[click.Option]] = {
    "generate": [
        *_of_workload(5000, 1000, name="--jobs"),
        click.Option(["--seed"], type=COUNT, default=0, show_default=True, help="Names the random words."),
    ],
    "import": _IMPORT,
    "solve": [bound_option()],
    "simulate": _of_runs(),
    "score": [
        *_of_workload(32, 40, name="--count"),
        click.Option(["--draws"], type=POSITIVE, default=5, show_default=True, help="Workloads to draw."),
        *_of_runs(),
    ],
    "reproduce": [
        click.Option(["--seeds"], type=NUMBERS, default="0-4", show_default=True, help="Of workloads and runs."),
        click.Option(["--scale"], type=ABOVE_ZERO, default=1.0, show_default=True, help="Share of the full length."),
        click.Option(["--log"], metavar="FILE", help="A whole log of KTH-SP2.  [default: 1,500 jobs of it]"),
        click.Option(["--narrow-seeds"], type=NUMBERS, help="Of the workloads with narrow jobs.  [default: --seeds]"),
        click.Option(
            ["--overlay-seeds"],
            type=NUMBERS,
            default="5-14",
            show_default=True,
            help="More seeds for the static overlay against the dynamic one.",
        ),
        click.Option(
            ["--part", "parts"],
            type=click.Choice(_PARTS),
            multiple=True,
            help="Run this part alone; may be repeated.  [default: all]",
        ),
    ],
}
