"""``hindsched generate``: instances of the published experiments, and random small ones."""

from __future__ import annotations

from typing import Any

import click

from hindsched.bench.commands.by_family import FamilyCommand, family_option
from hindsched.bench.family import family_named
from hindsched.bench.output_files import write_instance


@click.command(cls=FamilyCommand, short_help="Write an instance of a published experiment, or a small one.")
@family_option
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write it.  [default: standard output]")
def generate(family: str, output: str, own: dict[str, Any]) -> None:
    """Write an instance of the published experiment of a family of problems, or a small random one."""
    write_instance(family_named(family).commands.generate(own), output)
