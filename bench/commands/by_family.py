"""Commands whose options depend on the family of problems: ``--family``, or the family of the given files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from hindsched.bench.commands.options import flag_of, in_flags
from hindsched.bench.family import AnyFamily, family_named
from hindsched.bench.shared_types import Given, Row
from hindsched.instances.compression import unpack
from hindsched.instances.errors import InputError
from hindsched.instances.families import family_of_format, names
from hindsched.instances.text_files import read_ahead

__all__ = ["FamilyCommand", "family_option", "own_flags", "policy_options"]

_META = "hindsched.family"
#: Key of the context's ``meta``: the families of the files among the arguments.
_FILES = "hindsched.families_of_files"
#: The format in a file, and the number of bytes from its beginning that are searched.
_FORMAT, _HEAD = re.compile(rb'"format"\s*:\s*"([^"]*)"'), 4096

family_option = click.option("--family", default="coupled", metavar="NAME", help="Family of problems.")


class FamilyCommand(click.Command):
    """A command with its own options and those of the families, `FamilyCommands.options` under the command's name.

    If the command has a parameter ``--family``, it has the options of that family, or of the family of its first FILE.
    The callback receives their values as ``own``. Otherwise the command has the options of the families of its files,
    or of all families if no argument is a file of a family. ``own`` then has only the given ones, and `own_flags`
    rejects those that do not belong to the family of a file.
    """

    @property
    def _chooses(self) -> bool:
        return any(param.name == "family" for param in self.params)

    def _families(self, ctx: click.Context) -> Sequence[str]:
        """Return the families whose options the command has."""
        if self._chooses:
            return (ctx.meta.get(_META, "coupled"),)
        found: Sequence[str] = ctx.meta.get(_FILES, names())
        return found

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the command's own options, then those of the families."""
        known = super().get_params(ctx)
        taken = {text for param in known for text in param.opts}
        more: list[click.Parameter] = []
        for name in self._families(ctx):
            for option in family_named(name).commands.options.get(str(self.name), ()):
                if not taken & set(option.opts):
                    taken |= set(option.opts)
                    more.append(option)
        place = next((i for i, param in enumerate(known) if "--help" in param.opts), len(known))
        return [*known[:place], *more, *known[place:]]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help of the options: the command's own, then those of each family under a heading."""
        common = [param for param in super().get_params(ctx) if isinstance(param, click.Option)]
        shown = filter(None, [option.get_help_record(ctx) for option in common])
        sections: dict[str, list[tuple[str, str]]] = {"Options": list(shown)}
        taken = {text for option in common for text in option.opts}
        owners: dict[tuple[str, str], list[str]] = {}
        for name in self._families(ctx):
            for option in family_named(name).commands.options.get(str(self.name), ()):
                record = None if taken & set(option.opts) else option.get_help_record(ctx)
                if record is not None:
                    owners.setdefault(record, []).append(name)
        for record, having in owners.items():
            sections.setdefault(f"Options of {' and '.join(having)}", []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)
        others = [name for name in names() if name not in self._families(ctx)]
        if self._chooses and others:
            formatter.write_paragraph()
            formatter.write_text(f"For the options of {', '.join(others)}: --family NAME --help.")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, the family first: it decides which options exist."""
        given = tuple(args)  # the parser takes them from the list
        if self._chooses:
            family = _given_family(args)
            if family is None and any(param.name == "files" for param in self.params):
                family = next(filter(None, map(_family_of_file, args)), None)
            ctx.meta[_META] = family or "coupled"
            family_named(ctx.meta[_META])
        else:
            found = tuple(dict.fromkeys(filter(None, map(_family_of_file, args))))
            if found:
                ctx.meta[_FILES] = found
        try:
            rest = super().parse_args(ctx, args)
            if self._chooses:
                ctx.params["family"] = ctx.meta[_META]
            return rest
        except click.NoSuchOption as error:
            owners = [name for name in names() if error.option_name in _options(name, str(self.name))]
            if not owners:
                raise
            message = f"{error.option_name} is an option of {' and '.join(owners)}"
            if self._chooses:
                raise click.UsageError(f"{message}, not of {ctx.meta[_META]}", ctx) from None
            file = next(filter(_family_of_file, given))
            raise click.UsageError(f"{message}, and {file} is of {_family_of_file(file)}", ctx) from None

    def invoke(self, ctx: click.Context) -> object:
        """Invoke the callback with the options of the families as one mapping; errors name flags."""
        ctx.params["own"] = self.take_own(ctx)
        try:
            return super().invoke(ctx)
        except InputError as error:
            raise in_flags(error) from None

    def take_own(self, ctx: click.Context) -> Row:
        """Remove the options of the families from the parsed parameters, and return them."""
        common = {param.name for param in super().get_params(ctx)}
        given = {
            name
            for name in ctx.params
            if ctx.get_parameter_source(name) not in (ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP)
        }
        own = {name: value for name, value in ctx.params.items() if name not in common}
        ctx.params = {name: value for name, value in ctx.params.items() if name in common}
        ctx.meta["hindsched.given"] = given
        return own if self._chooses else {name: own[name] for name in own if name in given}


def _given_family(args: Sequence[str]) -> str | None:
    """Return the value of ``--family``."""
    found = None
    for place, text in enumerate(args):
        if text == "--family" and place + 1 < len(args):
            found = args[place + 1]
        elif text.startswith("--family="):
            found = text.partition("=")[2]
    return found


def _family_of_file(text: str) -> str | None:
    """Return the family of a file, or of the first one in a folder, from its format; None if it is of no family."""
    try:
        text = str(min(Path(text).glob("*.json"), default=text))
        match = _FORMAT.search(unpack(read_ahead(text))[:_HEAD]) if os.path.exists(text) else None
        return None if match is None else family_of_format({"format": match[1].decode()})
    except ValueError:
        return None


def _options(family: str, verb: str) -> set[str]:
    return {
        text
        for option in family_named(family).commands.options.get(verb, ())
        for text in (*option.opts, *option.secondary_opts)
    }


def own_flags(own: Given, family: AnyFamily, verb: str, file: str) -> Row:
    """Return the given options of families, all of which must belong to one family.

    Raises
    ------
    click.UsageError
        For an option of another family.
    """
    known = {str(option.name) for option in family.commands.options.get(verb, ())}
    for name in own:
        if name not in known:
            of = {other: family_named(other).commands.options.get(verb, ()) for other in names()}
            owners = [other for other, options in of.items() if name in {option.name for option in options}]
            flag = flag_of(name, of[owners[0]])
            raise click.UsageError(f"{flag} is an option of {' and '.join(owners)}, and {file} is of {family.name}")
    return dict(own)


def policy_options(family: AnyFamily, pairs: Sequence[str], own: Given) -> tuple[tuple[str, str], ...]:
    """Return the options of a run from ``--option name=value`` and the family's flags of the same names."""
    found = {name: str(value) for name, value in own.items() if name in family.run_options and value is not None}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--option {pair!r}, expected name=value")
        found[name] = value
    return tuple(sorted(found.items()))
