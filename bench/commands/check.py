"""``hindsched check``: replay a schedule, or evaluate a certificate, by the family's independent checker."""

from __future__ import annotations

import sys
from typing import Any

import click

from hindsched.bench.commands.by_family import FamilyCommand, own_flags
from hindsched.bench.commands.options import as_json
from hindsched.bench.family import family_of
from hindsched.bench.output import Table


@click.command(cls=FamilyCommand, short_help="Replay a schedule against the rules of its family.")
@click.argument("file")
@click.argument("schedule")
@as_json
def check(file: str, schedule: str, as_json: bool, own: dict[str, Any]) -> None:
    """Replay SCHEDULE on the instance in FILE; exit 1 with the first place and rule that is broken.

    SCHEDULE may be any certificate of the family: a schedule, a run, rents, prices, cuts.
    """
    from hindsched import instances

    instance = instances.read(file)
    family = family_of(instance)
    text, verdict = family.commands.check_file(instance, schedule, own_flags(own, family, "check", file))
    if text is not None and not instances.is_made_for(instance, text):
        made_for = getattr(text, "instance", None)
        click.echo(
            f"hindsched: {schedule}: made for another instance, {made_for!r}; replayed on {file} all the same", err=True
        )
    if as_json:
        Table(None, as_json).add({"file": file, "schedule": schedule, **family.commands.verdict_row(verdict)})
    else:
        click.echo(f"{schedule}: {verdict}")
    sys.exit(0 if verdict.is_valid else 1)
