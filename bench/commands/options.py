"""Options that several commands share, so that a flag means the same everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

__all__ = [
    "COUNT",
    "FOLDER",
    "NUMBERS",
    "N_COM",
    "POSITIVE",
    "as_json",
    "estimator",
    "expand_policies",
    "expect_solver",
    "given_flags",
    "paper_point",
    "policies",
    "policy_seed",
    "results",
    "say_unused",
    "service",
    "solver",
    "stand_by",
    "ties",
    "time_limit",
]

F = TypeVar("F", bound=Callable[..., Any])


def expand_policies(names: Sequence[str], *, estimator: str) -> list[str]:
    """Return each policy once, ``all`` as the paper's 17; none given means ``all``.

    Raises
    ------
    InputError
        For a policy that cannot be made: before any work is done.
    """
    import online.coupled

    expanded = [
        policy for name in names or ("all",) for policy in (online.coupled.POLICIES if name == "all" else (name,))
    ]
    for name in expanded:
        online.coupled.make_policy(name, estimator=estimator)
    return list(dict.fromkeys(expanded))


def expect_solver(name: str) -> None:
    """Raise `InputError` for a solver that cannot run here: before any work is done."""
    import offline.coupled
    from instances import InputError

    available = offline.coupled.available_solvers()
    if name not in ("auto", *available):
        raise InputError(f"{name!r}, expected auto or one of {', '.join(available)}", place="solver")


def given_flags() -> set[str]:
    """Return the parameters of the present command that the user gave, rather than left to their defaults."""
    context = click.get_current_context()
    return {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}


def say_unused(flags: Iterable[str], where: str) -> None:
    """Say on standard error which of the flags that the user gave change nothing."""
    names = sorted(f"--{flag.replace('_', '-')}" for flag in flags)
    if names:
        click.echo(f"hindsched: not used {where}: {', '.join(names)}", err=True)


class _Bound(click.ParamType[int | None]):
    """A positive integer, or ``none`` for no bound."""

    name = "INTEGER|none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        if value is None or value == "none":
            return None
        try:
            number = int(value)
        except ValueError:
            number = 0
        if number < 1:
            self.fail(f"{value!r}, expected an integer >= 1, or none", param, ctx)
        return number


class _Numbers(click.ParamType[Sequence[int]]):
    """Integers and ranges: ``1,2,5-8``."""

    name = "N,A-B,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Sequence[int]:
        if not isinstance(value, str):
            return list(value)
        numbers: list[int] = []
        try:
            for part in value.split(","):
                first, dash, last = part.partition("-")
                numbers += range(int(first), int(last) + 1) if dash else [int(first)]
        except ValueError:
            numbers = []
        if not numbers:
            self.fail(f"{value!r}, expected integers and ranges such as 1,2,5-8", param, ctx)
        return numbers


class _Integer(click.IntRange):
    """An integer from a range, called as briefly in the help."""

    name = "integer"


class _Folder(click.Path):
    """A path that the help calls a folder."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.name = "folder"


N_COM = _Bound()
NUMBERS = _Numbers()
POSITIVE = _Integer(min=1)
COUNT = _Integer(min=0)
FOLDER = _Folder(path_type=Path)

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
estimator = click.option(
    "--estimator",
    type=click.Choice(["printed", "conditional"]),
    default="printed",
    show_default=True,
    help="Expected duration of a computation: as the paper prints it, or the conditional expectation.",
)
service = click.option(
    "--service",
    type=click.Choice(["index", "longest", "begun"]),
    default="index",
    show_default=True,
    help="Whom the on-line master serves first: worker order, largest remaining need, or who has begun to receive.",
)
ties = click.option(
    "--ties",
    type=click.Choice(["lowest", "highest"]),
    default="lowest",
    show_default=True,
    help="Who gets a task where several workers would serve a heuristic equally well, by index.",
)
policy_seed = click.option("--seed", type=COUNT, default=0, show_default=True, help="Seed of RANDOM.")
stand_by = click.option(
    "--stand-by/--no-stand-by",
    default=True,
    help="Whether the hindsight player may send programs to workers on stand-by.  [default: may]",
)
solver = click.option("--solver", default="auto", show_default=True, metavar="NAME", help="auto, or a solver by name.")
results = click.option(
    "--results",
    type=FOLDER,
    default=None,
    help="Keep what is done in this folder; interrupted, the same command goes on where it was.",
)
policies = click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="NAME|all|FILE.py:CLASS",
    help="A heuristic by name, all 17 of the paper, or a class of yours. May be given several times.  [default: all]",
)


def paper_point(function: F) -> F:
    """Add the parameters of the paper's experiment: --m, --n-com, --wmin, --p, --iterations."""
    for option in (
        click.option("--iterations", type=POSITIVE, default=10, show_default=True, help="K, iterations to complete."),
        click.option("--p", type=POSITIVE, default=20, show_default=True, help="Workers."),
        click.option("--wmin", type=POSITIVE, default=1, show_default=True, help="w is in [wmin, 10 wmin]."),
        click.option("--n-com", type=N_COM, default=10, show_default=True, help="Workers served in a slot."),
        click.option("--m", type=POSITIVE, default=5, show_default=True, help="Tasks per iteration."),
    ):
        function = option(function)
    return function


def time_limit(default: float | None) -> Callable[[F], F]:
    """Add --time-limit."""
    return click.option(
        "--time-limit",
        "time_limit_s",
        type=click.FloatRange(min=0, min_open=True),
        default=default,
        show_default=default is not None,
        metavar="S",
        help="Stop a solve after S seconds with the best schedule and a proven bound.",
    )
