"""``hindsched check``: verify a schedule or a certificate with the family's independent checker."""

from __future__ import annotations

import sys

import click

from hindsched.bench.commands.by_family import FamilyCommand, own_flags
from hindsched.bench.commands.options import as_json
from hindsched.bench.family import family_of
from hindsched.bench.output import Table
from hindsched.bench.shared_types import Row


@click.command(cls=FamilyCommand, short_help="Verify a schedule or a certificate.")
@click.argument("file")
@click.argument("schedule")
@as_json
def check(file: str, schedule: str, as_json: bool, own: Row) -> None:
    """Replay SCHEDULE on the instance in FILE; exit with 1 and the first violated rule if it is invalid.

    SCHEDULE is a schedule, a run or a certificate: Lagrangian multipliers, dual prices or cuts.
    """
    from hindsched import instances
    from hindsched.bench.commands.valid import warn_of_another

    instance = instances.read(file)
    family = family_of(instance)
    text, verdict = family.commands.check_file(instance, schedule, own_flags(own, family, "check", file))
    if text is not None:
        warn_of_another(instance, text, f"{schedule}: made for another instance; replayed on {file} nevertheless")
    if as_json:
        Table(None, as_json).add({"file": file, "schedule": schedule, **family.commands.verdict_row(verdict)})
    else:
        click.echo(f"{schedule}: {verdict}")
    sys.exit(0 if verdict.is_valid else 1)
