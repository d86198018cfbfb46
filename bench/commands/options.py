"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from hindsched.instances.errors import InputError

__all__ = [
    "ABOVE_ZERO",
    "CONTEXT",
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
    "expect_solver",
    "flag_of",
    "given_flags",
    "in_flags",
    "jobs",
    "kept_in",
    "output",
    "policies",
    "policy_seed",
    "policy_time_limit",
    "pool",
    "refuse_unused",
    "results",
    "retry_failed",
    "run_options",
    "solver",
    "time_limit",
]

F = TypeVar("F", bound=Callable[..., Any])

#: Settings of every group of commands: the help of an option shows its default.
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110, "show_default": True}
#: Parameters of commands whose names differ from those of the arguments that they set.
_NAMES_OF_ARGUMENTS = {"tasks": "m", "policy": "policies"}
#: The largest seed: rows hold integers of 64 bits, and generators add small numbers to a seed.
LARGEST = 2**62


def given_flags() -> set[str]:
    """Return the parameters of the current command that the user gave."""
    context = click.get_current_context()
    known = context.meta.get("hindsched.given")
    if known is not None:
        return set(known)
    return {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}


def bound_option() -> click.Option:
    """Return --bound, for families whose solvers return certificates of bounds."""
    return click.Option(["--bound"], metavar="OUT", help="Write the certificate of the bound. One FILE only.")


def expect_solver(name: str, family: str) -> None:
    """Raise `InputError` for an unavailable solver."""
    from hindsched.bench.family import family_named
    from hindsched.instances.text_files import excerpt

    available = family_named(family).solvers()
    if name not in ("auto", *available):
        raise InputError(f"{excerpt(name)}, expected auto or one of {', '.join(available)}", place="solver")


def flag_of(name: str, known: Iterable[click.Parameter]) -> str:
    """Return the flag of a parameter, from the first known option of this name."""
    return next(max(param.opts, key=len) for param in known if param.name == name)


def refuse_unused(names: Iterable[str], where: str) -> None:
    """Raise `click.UsageError` if any of some parameters, which have no effect ``where``, is given."""
    context = click.get_current_context()
    known = context.command.get_params(context)
    flags = sorted(flag_of(name, known) for name in given_flags() & set(names))
    if flags:
        raise click.UsageError(f"{', '.join(flags)}: not used {where}")


def in_flags(error: InputError) -> InputError:
    """Return an error about an option with the flags that the user types, instead of names of arguments.

    An error in a file is returned as it is.
    """
    context = click.get_current_context(silent=True)
    if context is None or error.file is not None or error.place is None:
        return error
    params = [param for param in context.command.get_params(context) if isinstance(param, click.Option)]
    flags = {str(param.name): flag_of(str(param.name), params) for param in params}
    name = error.place.rpartition(".")[2]  # of workers[0].w, all that a user can set is w
    flag = flags.get(name) or flags.get(_NAMES_OF_ARGUMENTS.get(name, ""))
    if flag is None:
        return error
    expected = re.sub(r"\w+_\w+", lambda word: flags.get(word[0], word[0]), error.expected)
    return InputError(expected, place=flag)


class _Bound(click.ParamType[int | None]):
    """A positive integer, or ``none`` for no bound."""

    name = "integer|none"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "INTEGER|none"  # capitals would not look like the literal word

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        if value is None or str(value).lower() == "none":
            return None
        try:
            number = int(str(value))
        except ValueError:
            number = 0
        if number < 1:
            self.fail(f"{value!r}, expected an integer >= 1, or none", param, ctx)
        return number


class _Numbers(click.ParamType[Sequence[int]]):
    """Integers and ranges: ``1,2,5-8``."""

    name = "N,A-B,..."

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Sequence[int]:
        if not isinstance(value, str):
            return [int(number) for number in value] if isinstance(value, Iterable) else []
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
    """An integer from a range, with a short name in the help."""

    name = "integer"


class _Count(_Integer):
    """A nonnegative integer of at most `LARGEST`; the help does not show this limit."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number = int(super().convert(value, param, ctx))
        if number > LARGEST:
            self.fail(f"{value}, expected an integer from 0 to {LARGEST}", param, ctx)
        return number


class Number(click.FloatRange):
    """A finite number from a range, with a short name in the help; unlike `click.FloatRange` it rejects NaN."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; fail for a text that is not a finite number."""
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"{value!r}, expected a finite number", param, ctx)
        return number


class _Folder(click.Path):
    """A path with the name folder in the help."""

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

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
policy_seed = click.option("--seed", type=COUNT, default=0, help="Seed of random policies.")
solver = click.option("--solver", default="auto", metavar="NAME", help="Name of a solver, or auto.")
results = click.option(
    "--results",
    type=FOLDER,
    default=None,
    help="Keep results in this folder, to resume after an interruption.",
)
run_options = click.option(
    "--option",
    "pairs",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of policies or simulator. May be given several times.",
)
policies = click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="NAME|all|ours|FILE.py:CLASS",
    help="A policy by name, all published policies, all policies of this toolkit (ours), or your own class. May be "
    "given several times.  [default: all]",
)


output = click.option(
    "-o",
    "--output",
    default="-",
    show_default=False,
    metavar="FILE",
    help="Output file.  [default: standard output]",
)
policy_time_limit = click.option(
    "--policy-time-limit",
    "policy_time_limit_s",
    type=ABOVE_ZERO,
    metavar="S",
    help="Stop a run of a policy after S seconds; its row says so.  [default: no limit]",
)
retry_failed = click.option("--retry-failed", is_flag=True, help="Compute the failed rows of the results again.")
pool = click.option("--pool", is_flag=True, help="One table for all instances of a family that are not generated.")
jobs = click.option("--jobs", type=POSITIVE, default=2, help="Number of processes.")


def kept_in(name: str) -> Callable[[F], F]:
    """Add --results with the default ``results/NAME``."""
    return click.option("--results", type=FOLDER, default=Path("results") / name, help="Folder of the results.")


def time_limit(default: float | None) -> Callable[[F], F]:
    """Add --time-limit."""
    return click.option(
        "--time-limit",
        "time_limit_s",
        type=ABOVE_ZERO,
        default=default,
        metavar="S",
        help="Stop a solve after S seconds, with the best schedule and bound so far.",
    )
