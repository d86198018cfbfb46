"""Options that several commands share, so that a flag means the same everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

__all__ = [
    "ABOVE_ZERO",
    "COUNT",
    "FOLDER",
    "LARGEST",
    "NUMBERS",
    "N_COM",
    "POSITIVE",
    "SEVERAL",
    "Number",
    "as_json",
    "bound_option",
    "draws",
    "expect_solver",
    "flag_of",
    "given_flags",
    "jobs",
    "kept_in",
    "points",
    "policies",
    "policy_seed",
    "results",
    "run_options",
    "say_unused",
    "solver",
    "time_limit",
]

F = TypeVar("F", bound=Callable[..., Any])

#: The largest seed: rows keep integers of 64 bits, and draws count on from a seed.
LARGEST = 2**62


def given_flags() -> set[str]:
    """Return the parameters of the present command that the user gave, rather than left to their defaults."""
    context = click.get_current_context()
    known = context.meta.get("hindsched.given")
    if known is not None:
        return set(known)
    return {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}


def bound_option() -> click.Option:
    """Return --bound, of families whose solvers hand in what proves a bound."""
    return click.Option(["--bound"], metavar="OUT", help="Write what proves the bound: rents or prices. One FILE only.")


def expect_solver(name: str, family: str) -> None:
    """Raise `InputError` for a solver that cannot run here: before any work is done."""
    from hindsched.bench.family import family_named
    from hindsched.instances import InputError
    from hindsched.instances.text_files import excerpt

    available = family_named(family).solvers()
    if name not in ("auto", *available):
        raise InputError(f"{excerpt(name)}, expected auto or one of {', '.join(available)}", place="solver")


def flag_of(name: str, known: Iterable[click.Parameter]) -> str:
    """Return how a parameter is given, as the first option of this name among those that are known says."""
    return next(max(param.opts, key=len) for param in known if param.name == name)


def say_unused(names: Iterable[str], where: str) -> None:
    """Say on standard error which of the parameters that the user gave change nothing."""
    context = click.get_current_context()
    known = context.command.get_params(context)
    names = sorted(flag_of(name, known) for name in names)
    if names:
        click.echo(f"hindsched: not used {where}: {', '.join(names)}", err=True)


class _Bound(click.ParamType[int | None]):
    """A positive integer, or ``none`` for no bound."""

    name = "integer|none"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "INTEGER|none"  # in capitals it would not look like the word to be given

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        if value is None or str(value).lower() == "none":
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
        if not numbers or max(numbers) > LARGEST:
            self.fail(f"{value!r}, expected integers and ranges such as 1,2,5-8", param, ctx)
        return numbers


class _Integer(click.IntRange):
    """An integer from a range, called as briefly in the help."""

    name = "integer"


class _Count(_Integer):
    """An integer that rows can keep; its end is no news in the help."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number = int(super().convert(value, param, ctx))
        if number > LARGEST:
            self.fail(f"{value}, expected an integer from 0 to {LARGEST}", param, ctx)
        return number


class Number(click.FloatRange):
    """A finite number from a range, called as briefly in the help: a range alone lets NaN through."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number, or refuse what is none."""
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"{value!r}, expected a finite number", param, ctx)
        return number


class _Folder(click.Path):
    """A path that the help calls a folder."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.name = "folder"


N_COM = _Bound()
NUMBERS = _Numbers()
POSITIVE = _Integer(min=1)
COUNT = _Count(min=0)
SEVERAL = _Integer(min=2)
ABOVE_ZERO = Number(min=0, min_open=True)
FOLDER = _Folder(path_type=Path)

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
policy_seed = click.option("--seed", type=COUNT, default=0, show_default=True, help="Seed of policies that draw.")
solver = click.option("--solver", default="auto", show_default=True, metavar="NAME", help="auto, or a solver by name.")
results = click.option(
    "--results",
    type=FOLDER,
    default=None,
    help="Keep what is done in this folder; interrupted, the same command resumes.",
)
run_options = click.option(
    "--option",
    "pairs",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the policies or of the simulator, by name. May be given several times.",
)
policies = click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="NAME|all|ours|FILE.py:CLASS",
    help="A policy by name, all published ones, all of ours (docs/lookahead.md), or a class of yours. May be given "
    "several times.  [default: all]",
)


jobs = click.option("--jobs", type=POSITIVE, default=2, show_default=True, help="Processes at work at once.")


def points(wmins: str = "1-10") -> Callable[[F], F]:
    """Add --m, --n-com and --wmin: points of the experiment of `coupled`, all by default."""
    return _all_of(
        click.option("--m", "ms", type=NUMBERS, default="5,10", show_default=True, help="Tasks per iteration."),
        click.option("--n-com", "n_coms", type=NUMBERS, default="5,10,20", show_default=True, help="Workers served."),
        click.option(
            "--wmin", "wmins", type=NUMBERS, default=wmins, show_default=True, help="w is in [wmin, 10 wmin]."
        ),
    )


def draws(trials: str = "0-9") -> Callable[[F], F]:
    """Add --scenarios and --trials: instances at a point of the experiment."""
    return _all_of(
        click.option("--scenarios", type=NUMBERS, default="0-9", show_default=True, help="Draws of the workers."),
        click.option("--trials", type=NUMBERS, default=trials, show_default=True, help="Draws of their states."),
    )


def _all_of(*added: Callable[[F], F]) -> Callable[[F], F]:
    """Return what adds several options, in this order."""

    def add(command: F) -> F:
        for one in reversed(added):
            command = one(command)
        return command

    return add


def kept_in(name: str) -> Callable[[F], F]:
    """Add --results with the default ``results/NAME``."""
    return click.option(
        "--results", type=FOLDER, default=Path("results") / name, show_default=True, help="Where the results go."
    )


def time_limit(default: float | None) -> Callable[[F], F]:
    """Add --time-limit."""
    return click.option(
        "--time-limit",
        "time_limit_s",
        type=ABOVE_ZERO,
        default=default,
        show_default=default is not None,
        metavar="S",
        help="Stop a solve after S seconds with the best schedule and a proven bound.",
    )
