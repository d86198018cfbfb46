"""Commands whose options depend on the family of problems: of ``--family``, or of the files that are given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

from hindsched.bench.commands.options import flag_of
from hindsched.bench.family import AnyFamily, family_named
from hindsched.instances.errors import InputError
from hindsched.instances.families import family_of_format, names

__all__ = ["FamilyCommand", "family_option", "own_flags", "policy_options"]

_META = "hindsched.family"
#: A file's format, within so many bytes of its begin.
_FORMAT, _HEAD = re.compile(rb'"format"\s*:\s*"([^"]*)"'), 4096

family_option = click.option(
    "--family", default="coupled", show_default=True, metavar="NAME", help="The family of problems."
)


class FamilyCommand(click.Command):
    """A command with options of its own and, under the same name in `FamilyCommands.options`, those of the families.

    With a parameter ``--family`` it has the options of that family, or of that of the first of its FILEs, and their
    values are handed to the callback as ``own``. Without, it has those of all families, and ``own`` has only those that
    were given: `own_flags` tells which belong to the family of a file.
    """

    @property
    def _chooses(self) -> bool:
        return any(param.name == "family" for param in self.params)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the command's own options, then the families'."""
        known = super().get_params(ctx)
        families = [ctx.meta[_META]] if self._chooses and _META in ctx.meta else list(names())
        if self._chooses and _META not in ctx.meta:
            families = ["coupled"]
        taken = {text for param in known for text in param.opts}
        more: list[click.Parameter] = []
        for name in families:
            for option in family_named(name).commands.options.get(str(self.name), ()):
                if not taken & set(option.opts):
                    taken |= set(option.opts)
                    more.append(option)
        place = next((i for i, param in enumerate(known) if "--help" in param.opts), len(known))
        return [*known[:place], *more, *known[place:]]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the family first, since it decides which options there are."""
        if self._chooses:
            family = _asked(args)
            if family is None and any(param.name == "files" for param in self.params):
                family = next(filter(None, map(_of_file, args)), None)
            ctx.meta[_META] = family or "coupled"
            family_named(ctx.meta[_META])
        try:
            rest = super().parse_args(ctx, args)
            if self._chooses:
                ctx.params["family"] = ctx.meta[_META]
            return rest
        except click.NoSuchOption as error:
            owners = [name for name in names() if error.option_name in _options(name, str(self.name))]
            if self._chooses and owners:
                said = f"{error.option_name} is an option of {' and '.join(owners)}, not of {ctx.meta[_META]}"
                raise click.UsageError(said, ctx) from None
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Hand the options of the families over as one mapping."""
        ctx.params["own"] = self.take_own(ctx)
        return super().invoke(ctx)

    def take_own(self, ctx: click.Context) -> dict[str, Any]:
        """Take the options of the families out of what was parsed, and return them."""
        mine = {param.name for param in super().get_params(ctx)}
        given = {
            name
            for name in ctx.params
            if ctx.get_parameter_source(name) not in (ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP)
        }
        own = {name: value for name, value in ctx.params.items() if name not in mine}
        ctx.params = {name: value for name, value in ctx.params.items() if name in mine}
        ctx.meta["hindsched.given"] = given
        return own if self._chooses else {name: own[name] for name in own if name in given}


def _asked(args: Sequence[str]) -> str | None:
    """Return the family that ``--family`` names."""
    found = None
    for place, text in enumerate(args):
        if text == "--family" and place + 1 < len(args):
            found = args[place + 1]
        elif text.startswith("--family="):
            found = text.partition("=")[2]
    return found


def _of_file(text: str) -> str | None:
    """Return the family of the format that a file begins with; None of what is no such file."""
    try:
        with open(text, "rb") as file:
            match = _FORMAT.search(file.read(_HEAD))
        return None if match is None else family_of_format({"format": match[1].decode()})
    except (OSError, ValueError, InputError):
        return None


def _options(family: str, verb: str) -> set[str]:
    return {
        text
        for option in family_named(family).commands.options.get(verb, ())
        for text in (*option.opts, *option.secondary_opts)
    }


def own_flags(own: Mapping[str, Any], family: AnyFamily, verb: str, file: str) -> dict[str, Any]:
    """Return the given options of the families that belong to one family.

    Raises
    ------
    click.UsageError
        For an option of another family, in one line.
    """
    mine = {str(option.name) for option in family.commands.options.get(verb, ())}
    for name in own:
        if name not in mine:
            of = {other: family_named(other).commands.options.get(verb, ()) for other in names()}
            owners = [other for other, options in of.items() if name in {option.name for option in options}]
            flag = flag_of(name, of[owners[0]])
            raise click.UsageError(f"{flag} is an option of {' and '.join(owners)}, and {file} is of {family.name}")
    return dict(own)


def policy_options(family: AnyFamily, pairs: Sequence[str], own: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the options of a run from ``--option name=value`` and the family's flags of the same names."""
    found = {name: str(value) for name, value in own.items() if name in family.run_options and value is not None}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--option {pair!r}, expected name=value")
        found[name] = value
    return tuple(sorted(found.items()))
