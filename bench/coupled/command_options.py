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
from hindsched.bench.coupled.task_lengths import LengthOption
from hindsched.instances.coupled.objective import Objective
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
    """Return the options for a point of the paper's experiment."""
    return [
        click.Option(["--m"], type=POSITIVE, default=5, help="Tasks per iteration."),
        click.Option(["--n-com"], type=N_COM, default=10, help="Workers served in a slot."),
        click.Option(["--wmin"], type=POSITIVE, default=1, help="w is in [wmin, 10 wmin]."),
        click.Option(["--p"], type=POSITIVE, default=20, help="Workers."),
        click.Option(["--iterations"], type=POSITIVE, default=10, help="K, number of iterations."),
    ]


def _objective() -> click.Option:
    return click.Option(
        ["--objective"],
        type=click.Choice([str(name) for name in Objective]),
        help="Fewest slots for K iterations, or most iterations within N slots.  [default: makespan]",
    )


def _of_runs() -> list[click.Option]:
    """Return the options of a run that the paper leaves open."""
    return [
        click.Option(
            ["--estimator"],
            type=click.Choice([str(name) for name in Estimator]),
            help="Formula for the expected duration of a computation: as printed in the paper, or conditional on "
            "success.  [default: printed]",
        ),
        click.Option(
            ["--service"],
            type=click.Choice([str(name) for name in Service]),
            help="Order in which the master serves workers: by index, by longest remaining need, or partly served ones "
            "first.  [default: index]",
        ),
        click.Option(
            ["--ties"],
            type=click.Choice([str(name) for name in Ties]),
            help="Worker that gets a task among equally good ones, by index.  [default: lowest]",
        ),
        click.Option(
            ["--comparison"],
            type=click.Choice([str(name) for name in Comparison]),
            help="Configurations that a proactive heuristic compares: both as they are, or one or both as if built "
            "from scratch.  [default: updated]",
        ),
        _objective(),
    ]


_SCENARIO = [
    click.Option(["--scenario"], type=COUNT, default=0, help="Number of the draw of workers."),
    click.Option(["--trial"], type=COUNT, default=0, help="Number of the draw of their states."),
    click.Option(["--slots"], type=POSITIVE, help="N, number of slots.  [default: 10000; 12 with --small]"),
    click.Option(["--seed"], type=COUNT, default=0, help="Seed of the whole experiment."),
    click.Option(
        ["--small"],
        is_flag=True,
        help="Generate a small random instance; uses --m, --p, --iterations, --slots, --seed.",
    ),
    click.Option(["--drawn"], is_flag=True, help="Write the seed of the states instead of the states."),
]
_IMPORT = [
    click.Option(["--slot", "slot_s"], required=True, metavar="S", help="Seconds of a slot."),
    click.Option(
        ["--start"],
        metavar="TIME",
        help="Begin of slot 0: UNIX seconds or an ISO date.  [default: earliest]",
    ),
    click.Option(
        ["--slots"], type=POSITIVE, help="N, number of slots.  [default: all in which every node was observed]"
    ),
    click.Option(
        ["--train", "train_slots"],
        type=COUNT,
        help="Number of slots before slot 0 to which Markov chains are fitted; 0: no chains, and only RANDOM can run.  "
        "[default: half of the observed slots, or the remaining ones]",
    ),
    click.Option(
        ["--keep-past"], is_flag=True, help="Keep the states of the training slots too: the policy replay uses them."
    ),
    click.Option(
        ["--windows"],
        type=POSITIVE,
        metavar="K",
        help="Number of windows, spread evenly over the trace, each after its own training slots: a file each in the "
        "folder -o. By default K + 1 parts of the trace: each but the first is a window, the part before it the "
        "training.  [default: one window, in one file]",
    ),
    click.Option(["--nodes"], metavar="K|NAME,...", help="Number of nodes, or their names.  [default: all]"),
    *trace_options(),
    click.Option(["--absent"], type=_ABSENCE, default="down", help="State of a node that is not available."),
    click.Option(
        ["--unobserved"],
        type=click.Choice(["refuse", "down", "reclaimed"]),
        default="refuse",
        help="State of a node while it is not observed.",
    ),
    click.Option(["--m"], type=POSITIVE, required=True, help="Tasks per iteration."),
    click.Option(["--iterations"], type=POSITIVE, default=10, help="K, number of iterations."),
    click.Option(["--n-com"], type=N_COM, help="Workers served in a slot.  [default: none, unbounded]"),
    click.Option(
        ["--w"],
        type=_OneOrMany(),
        help="Slots to compute a task.  [default: a fifth of the mean availability period]",
    ),
    click.Option(["--t-prog"], type=COUNT, help="Slots to receive the program.  [default: half a task]"),
    click.Option(["--t-data"], type=COUNT, help="Slots to receive data of a task.  [default: a fifth of the program]"),
    click.Option(["--task-s"], type=LengthOption(), help="Like --w, in seconds, or with a unit: 90s, 10min, 2h, 1d."),
    click.Option(["--program-s"], type=LengthOption(), help="Like --t-prog, in seconds or with a unit."),
    click.Option(["--data-s"], type=LengthOption(), help="Like --t-data, in seconds or with a unit."),
    click.Option(["--mu"], type=_OneOrMany(), help="Largest number of tasks of a worker.  [default: unbounded]"),
]
_SOLVE = [
    _objective(),
    click.Option(
        ["--stand-by/--no-stand-by"],
        default=None,
        help="Whether schedules may send programs to workers before they have tasks.  [default: --stand-by]",
    ),
    click.Option(
        ["--write-model", "model"],
        metavar="OUT",
        help="Also write the model of the makespan: .lp or .mps (integer program), .pbtxt or .pb (CP-SAT). One FILE "
        "only.",
    ),
    bound_option(),
]
_SCORE = [
    *_point(),
    click.Option(["--scenarios"], type=POSITIVE, default=10, help="Number of scenarios: draws of the workers."),
    click.Option(["--trials"], type=POSITIVE, default=2, help="Number of trials: draws of the states per scenario."),
    click.Option(["--slots"], type=POSITIVE, default=5_000, help="N, number of slots."),
    *_of_runs(),
]

_READINGS = (
    *("printed", "conditional", "undivided", "longest", "begun", "highest", "stationary", "mu1"),
    *("held-frozen", "candidate-fresh", "frozen"),
)
_REPRODUCE = [
    click.Option(["--m", "ms"], type=NUMBERS, default="5,10", help="Tasks per iteration."),
    click.Option(["--n-com", "n_coms"], type=NUMBERS, default="5,10,20", help="Workers served."),
    click.Option(["--wmin", "wmins"], type=NUMBERS, default="1-10", help="w is in [wmin, 10 wmin]."),
    click.Option(["--scenarios"], type=NUMBERS, default="0-9", help="Number of scenarios: draws of the workers."),
    click.Option(["--trials"], type=NUMBERS, default="0-9", help="Trials: draws of the states of a scenario."),
    click.Option(["--slots"], type=POSITIVE, default=1_000_000, help="Slot limit of a run."),
    click.Option(["--seed"], type=COUNT, default=0, help="Seed of the experiment."),
    click.Option(
        ["--reading", "readings"],
        type=click.Choice([*_READINGS, "all"]),
        metavar="NAME|all",
        multiple=True,
        default=("printed", "conditional"),
        help=f"Interpretation of the paper: {', '.join(_READINGS)}. May be given several times.",
    ),
    click.Option(
        ["--printed", "figures"], metavar="FILE.csv", help="Published figures to compare with.  [default: the paper's]"
    ),
    click.Option(
        ["--check-slots"], type=POSITIVE, default=2_000, help="Number of slots of a run that the checker replays."
    ),
    click.Option(
        ["--time-limit", "time_limit_s"],
        type=ABOVE_ZERO,
        default=600.0,
        metavar="S",
        help="Stop a solve after S seconds, with the best schedule and bound so far.",
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
