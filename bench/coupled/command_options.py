"""Options of commands that only the family `coupled` has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from hindsched.bench.commands.options import (
    ABOVE_ZERO,
    COUNT,
    N_COM,
    NUMBERS,
    POSITIVE,
    bound_option,
)
from hindsched.bench.commands.traces import trace_options
from hindsched.online.coupled.options import Comparison, Estimator, Service, Ties

__all__ = ["OPTIONS"]

_ABSENCE = click.Choice(["down", "reclaimed"])


class _OneOrMany(click.ParamType[int | tuple[int, ...] | None]):
    """An integer for all workers, or one for each, separated by commas."""

    name = "INTEGER[,...]"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | tuple[int, ...] | None:
        if value is None or isinstance(value, int | tuple):
            return value
        try:
            numbers = tuple(int(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r}, expected an integer, or one per worker with commas between", param, ctx)
        return numbers[0] if len(numbers) == 1 else numbers


def _point() -> list[click.Option]:
    """Return the parameters of the paper's experiment."""
    return [
        click.Option(["--m"], type=POSITIVE, default=5, show_default=True, help="Tasks per iteration."),
        click.Option(["--n-com"], type=N_COM, default=10, show_default=True, help="Workers served in a slot."),
        click.Option(["--wmin"], type=POSITIVE, default=1, show_default=True, help="w is in [wmin, 10 wmin]."),
        click.Option(["--p"], type=POSITIVE, default=20, show_default=True, help="Workers."),
        click.Option(["--iterations"], type=POSITIVE, default=10, show_default=True, help="K, iterations to complete."),
    ]


def _of_runs() -> list[click.Option]:
    """Return what the paper leaves open of a run."""
    return [
        click.Option(
            ["--estimator"],
            type=click.Choice([str(name) for name in Estimator]),
            help="Expected duration of a computation: as the paper prints it, or the conditional expectation.  "
            "[default: printed]",
        ),
        click.Option(
            ["--service"],
            type=click.Choice([str(name) for name in Service]),
            help="Whom the on-line master serves first: worker order, largest remaining need, or who has begun to "
            "receive.  [default: index]",
        ),
        click.Option(
            ["--ties"],
            type=click.Choice([str(name) for name in Ties]),
            help="Who gets a task where several workers would serve a heuristic equally well, by index.  "
            "[default: lowest]",
        ),
        click.Option(
            ["--comparison"],
            type=click.Choice([str(name) for name in Comparison]),
            help="What a proactive heuristic compares: both configurations as they stand, or one of them or both as if "
            "chosen from scratch.  [default: updated]",
        ),
    ]


_SCENARIO = [
    click.Option(["--scenario"], type=COUNT, default=0, show_default=True, help="Which draw of the workers."),
    click.Option(["--trial"], type=COUNT, default=0, show_default=True, help="Which draw of their states."),
    click.Option(["--slots"], type=POSITIVE, help="N, slots to generate.  [default: 10000; 12 with --small]"),
    click.Option(["--seed"], type=COUNT, default=0, show_default=True, help="Seed of the whole experiment."),
    click.Option(
        ["--small"],
        is_flag=True,
        help="A small random general instance instead; of --m, --p, --iterations, --slots, --seed.",
    ),
    click.Option(["--drawn"], is_flag=True, help="Name what the states are drawn from instead of spelling them out."),
]
_IMPORT = [
    click.Option(["--slot", "slot_s"], required=True, metavar="S", help="Seconds of a slot."),
    click.Option(
        ["--start"],
        metavar="TIME",
        help="Where slot 0 begins: UNIX seconds, or an ISO date.  [default: earliest]",
    ),
    click.Option(["--slots"], type=POSITIVE, help="N, slots to take.  [default: as many as all nodes were observed]"),
    click.Option(
        ["--train", "train_slots"],
        type=COUNT,
        help="Slots just before slot 0 to fit the Markov chains on; 0: no chains, so no heuristic but RANDOM can run.  "
        "[default: half of what the nodes were observed together, or what is left]",
    ),
    click.Option(["--nodes"], metavar="K|NAME,...", help="So many nodes, or these.  [default: all]"),
    *trace_options(),
    click.Option(["--absent"], type=_ABSENCE, default="down", show_default=True, help="What 'not available' means."),
    click.Option(
        ["--unobserved"],
        type=click.Choice(["refuse", "down", "reclaimed"]),
        default="refuse",
        show_default=True,
        help="What a node is while nobody observed it.",
    ),
    click.Option(["--m"], type=POSITIVE, required=True, help="Tasks per iteration."),
    click.Option(["--iterations"], type=POSITIVE, default=10, show_default=True, help="K, iterations to complete."),
    click.Option(["--n-com"], type=N_COM, help="Workers served in a slot.  [default: none, unbounded]"),
    click.Option(["--t-prog"], type=COUNT, default=0, show_default=True, help="Slots to receive the program."),
    click.Option(["--t-data"], type=COUNT, default=0, show_default=True, help="Slots to receive the data of a task."),
    click.Option(["--w"], type=_OneOrMany(), default=1, show_default=True, help="Slots to compute a task."),
    click.Option(["--mu"], type=_OneOrMany(), help="Most tasks a worker may hold.  [default: unbounded]"),
]
_SOLVE = [
    click.Option(
        ["--objective"],
        type=click.Choice(["makespan", "iterations"]),
        help="Fewest slots for the iterations asked for, or most iterations within the slots.  [default: makespan]",
    ),
    click.Option(
        ["--stand-by/--no-stand-by"],
        default=None,
        help="Whether the hindsight player may send programs to workers on stand-by.  [default: may]",
    ),
    click.Option(
        ["--write-model", "model"],
        metavar="OUT",
        help="Write the model of the makespan first: .lp or .mps (integer program), .pbtxt or .pb (CP-SAT). One FILE "
        "only.",
    ),
    bound_option(),
]
_SCORE = [
    *_point(),
    click.Option(["--scenarios"], type=POSITIVE, default=10, show_default=True, help="Draws of the workers."),
    click.Option(["--trials"], type=POSITIVE, default=2, show_default=True, help="Draws of the states of each."),
    click.Option(["--slots"], type=POSITIVE, default=5_000, show_default=True, help="N, slots to generate."),
    *_of_runs(),
]

_READINGS = (
    *("printed", "conditional", "undivided", "longest", "begun", "highest", "stationary", "mu1"),
    *("held-frozen", "candidate-fresh", "frozen"),
)
_REPRODUCE = [
    click.Option(["--m", "ms"], type=NUMBERS, default="5,10", show_default=True, help="Tasks per iteration."),
    click.Option(["--n-com", "n_coms"], type=NUMBERS, default="5,10,20", show_default=True, help="Workers served."),
    click.Option(["--wmin", "wmins"], type=NUMBERS, default="1-10", show_default=True, help="w is in [wmin, 10 wmin]."),
    click.Option(["--scenarios"], type=NUMBERS, default="0-9", show_default=True, help="Draws of the workers."),
    click.Option(["--trials"], type=NUMBERS, default="0-9", show_default=True, help="Draws of their states."),
    click.Option(["--slots"], type=POSITIVE, default=1_000_000, show_default=True, help="A longer run has failed."),
    click.Option(["--seed"], type=COUNT, default=0, show_default=True, help="Seed of the experiment."),
    click.Option(
        ["--reading", "readings"],
        type=click.Choice([*_READINGS, "all"]),
        metavar="NAME|all",
        multiple=True,
        default=("printed", "conditional"),
        show_default=True,
        help=f"What is taken where the paper leaves a choice: {', '.join(_READINGS)}. May be given several times.",
    ),
    click.Option(["--printed", "figures"], metavar="FILE.csv", help="Figures to compare with, instead of the paper's."),
    click.Option(
        ["--check-slots"], type=POSITIVE, default=2_000, show_default=True, help="Replay so many slots of a run."
    ),
    click.Option(
        ["--time-limit", "time_limit_s"],
        type=ABOVE_ZERO,
        default=600.0,
        show_default=True,
        metavar="S",
        help="Stop a solve after S seconds with the best schedule and a proven bound.",
    ),
]

#: By command.
OPTIONS: Mapping[str, Sequence[click.Option]] = {
    "generate": [*_point(), *_SCENARIO],
    "import": _IMPORT,
    "solve": _SOLVE,
    "simulate": _of_runs(),
    "score": _SCORE,
    "reproduce": _REPRODUCE,
}
