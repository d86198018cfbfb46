"""Options of commands that only the family `grid` has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from hindsched.bench.commands.options import ABOVE_ZERO, COUNT, NUMBERS, POSITIVE, bound_option
from hindsched.online.grid.options import CHOICES

__all__ = ["OPTIONS"]

_KINDS = ("swf", "gwf", "batsim")
_MIXES = ("wide", "narrow")
_ARRIVALS = ("poisson", "bursts")
#: As in `hindsched.bench.grid.experiment`, which is not imported for a help text.
_PARTS = ("paper", "overlay", "size", "sweep", "reach", "log", "whole")

_HELP = {
    "fwd": "dgs, late: number of searchers of a job.  [default: 5]",
    "degree": "dgs, late: number of neighbours of a node.  [default: 20]",
    "overlay": "dgs: whether neighbours are fixed or shuffled.  [default: static]",
    "every": "dgs: slots between two rounds of Cyclon.  [default: 10]",
    "swap": "dgs: entries in a message of Cyclon.  [default: 8]",
    "messaging": "dgs: how nodes exchange schedules.  [default: push]",
    "poll_slots": "dgs: slots between two polls of a node.  [default: 2]",
    "poll_phase": "dgs: whether all nodes poll in the same slots.  [default: common]",
    "explore": "dgs, late: whether a search reaches beyond neighbours of neighbours.  [default: fail]",
    "latency": "dgs: slots until searches know an allocation.  [default: 0]",
    "retries": "dgs: number of searches again after all offers are refused.  [default: 0]",
    "mtbf": "dgs: mean slots until a node fails; 0: never.  [default: 0]",
    "mttr": "dgs: mean slots until a failed node returns.  [default: 60]",
    "restarts": "dgs: number of times that a job stopped by a failure is submitted again.  [default: 3]",
    "cancel_percent": "dgs: share of jobs that are cancelled unless they have ended.  [default: 0]",
    "cancel_slots": "dgs: mean slots until a job is cancelled.  [default: 60]",
    "patience": "late: slots until a waiting job gets a reservation.  [default: 60]",
    "rule": "queue, late: order of the jobs.  [default: length]",
}


#: Options that may be 0.
_FROM_ZERO = ("latency", "retries", "mtbf", "restarts", "cancel_percent", "patience")


def _of_runs() -> list[click.Option]:
    return [
        click.Option(
            [f"--{name.replace('_', '-')}"],
            type=click.Choice(CHOICES[name]) if name in CHOICES else COUNT if name in _FROM_ZERO else POSITIVE,
            help=text,
        )
        for name, text in _HELP.items()
    ]


def _of_workload(nodes: int, jobs: int, *, name: str) -> list[click.Option]:
    return [
        click.Option(["--nodes"], type=POSITIVE, default=nodes, help="M, number of nodes."),
        click.Option(["--slot", "slot_s"], type=POSITIVE, default=60, help="Seconds of a slot."),
        click.Option([name, "num_jobs"], type=POSITIVE, default=jobs, help="Number of jobs."),
        click.Option(["--load"], type=ABOVE_ZERO, default=0.28, help="Utilisation of the grid."),
        click.Option(
            ["--mix"],
            type=click.Choice(_MIXES),
            default=_MIXES[0],
            help="Widths of jobs: mean 14, some wider than a neighbourhood; or mean 3.7.",
        ),
    ]


_IMPORT = [
    click.Option(
        ["--kind"],
        type=click.Choice(_KINDS),
        default=_KINDS[0],
        help="Format: Standard Workload Format, Grid Workload Format, or Batsim.",
    ),
    click.Option(["--nodes"], type=POSITIVE, help="M, number of nodes.  [default: as in a workload of Batsim]"),
    click.Option(["--slot", "slot_s"], type=POSITIVE, required=True, help="Seconds of a slot."),
    click.Option(["--compress"], default="1", metavar="A/B", help="Factor of the times between submissions."),
    click.Option(["--first"], type=COUNT, default=0, help="Number of jobs to skip."),
    click.Option(["--count"], type=COUNT, help="Number of jobs to read.  [default: all]"),
    click.Option(
        ["--wide"],
        type=click.Choice(["refuse", "drop"]),
        default="refuse",
        help="How to treat jobs wider than the grid.",
    ),
]

#: By command.
OPTIONS: Mapping[str, Sequence[click.Option]] = {
    "generate": [
        *_of_workload(5000, 1000, name="--jobs"),
        click.Option(["--seed"], type=COUNT, default=0, help="Seed."),
        click.Option(
            ["--arrivals"],
            type=click.Choice(_ARRIVALS),
            default=_ARRIVALS[0],
            help="Submissions: a Poisson process; or batches of one user in a daily and weekly cycle.",
        ),
    ],
    "import": _IMPORT,
    "solve": [bound_option()],
    "simulate": _of_runs(),
    "score": [
        *_of_workload(32, 40, name="--count"),
        click.Option(["--draws"], type=POSITIVE, default=5, help="Number of random workloads."),
        *_of_runs(),
    ],
    "reproduce": [
        click.Option(["--seeds"], type=NUMBERS, default="0-4", help="Seeds of workloads and runs."),
        click.Option(["--scale"], type=ABOVE_ZERO, default=1.0, help="Share of the full length."),
        click.Option(
            ["--log"],
            metavar="FILE",
            help="The complete log of KTH-SP2 (SWF), or a trace in the Grid Workload Format (GWF), which becomes a "
            "further workload of the paper's tables.  [default: 1,500 jobs of KTH-SP2]",
        ),
        click.Option(["--narrow-seeds"], type=NUMBERS, help="Seeds of workloads with narrow jobs.  [default: --seeds]"),
        click.Option(
            ["--overlay-seeds"],
            type=NUMBERS,
            default="5-14",
            help="Further seeds for the comparison of static and dynamic overlays.",
        ),
        click.Option(
            ["--part", "parts"],
            type=click.Choice(_PARTS),
            multiple=True,
            help="A part of the experiment. May be given several times.  [default: all]",
        ),
    ],
}
