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

_META, _FIRST = "hindsched.family", "hindsched.families"
#: The format in a file, and the number of bytes from its beginning that are searched.
_FORMAT, _HEAD = re.compile(rb'"format"\s*:\s*"([^"]*)"'), 4096
#: Number of bytes of a file that is read twice in no time.
_SMALL = 2**20

family_option = click.option("--family", default="coupled", metavar="NAME", help="Family of problems.")


class FamilyCommand(click.Command):
    """A command with its own options and those of the families, `FamilyCommands.options` under the command's name.

    If the command has a parameter ``--family``, it has the options of that family, or of the family of its first FILE.
    The callback receives their values as ``own``. Otherwise the command has the options of all families, and ``own``
    has only the given ones; `own_flags` rejects those that do not belong to the family of a file.
    """

    @property
    def _chooses(self) -> bool:
        return any(param.name == "family" for param in self.params)

    def _families(self, ctx: click.Context) -> Sequence[str]:
        """Return the families whose options the command has."""
        if self._chooses:
            return (ctx.meta.get(_META, "coupled"),)
        return ctx.meta.get(_FIRST) or names()

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
        sections: dict[str, list[tuple[str, str]]] = {"Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                owners = [name for name in self._families(ctx) if set(param.opts) & _options(name, str(self.name))]
                is_own = param in super().get_params(ctx)
                heading = "Options" if is_own else f"Options of {' and '.join(owners)}"
                sections.setdefault(heading, []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, the family first: it decides which options exist."""
        if self._chooses:
            family = _given_family(args)
            if family is None and any(param.name == "files" for param in self.params):
                family = next(filter(None, map(_family_of_file, args)), None)
            ctx.meta[_META] = family or "coupled"
            family_named(ctx.meta[_META])
        elif families := _families_of_small_files(args):
            ctx.meta[_FIRST] = families
            try:
                return super().parse_args(ctx, list(args))
            except click.UsageError:
                pass  # with the options of all families the message is better
            finally:
                del ctx.meta[_FIRST]
        try:
            rest = super().parse_args(ctx, args)
            if self._chooses:
                ctx.params["family"] = ctx.meta[_META]
            return rest
        except click.NoSuchOption as error:
            owners = [name for name in names() if error.option_name in _options(name, str(self.name))]
            if self._chooses and owners:
                message = f"{error.option_name} is an option of {' and '.join(owners)}, not of {ctx.meta[_META]}"
                raise click.UsageError(message, ctx) from None
            raise

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


def _families_of_small_files(args: Sequence[str]) -> tuple[str, ...]:
    """Return the families of given files, whose options are tried first: other families take long to load.

    Nothing is returned for help, which lists the options of all families, or where one file is large or of no family.
    """
    files = [text for text in args if os.path.isfile(text)]
    if "--help" in args or "-h" in args or any(os.path.getsize(file) > _SMALL for file in files):
        return ()
    families = [_family_of_file(file) for file in files]
    return tuple(dict.fromkeys(name for name in families if name)) if all(families) else ()


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
