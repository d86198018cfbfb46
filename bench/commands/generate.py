"""``hindsched generate``: instances of the published experiments, and random small ones."""

from __future__ import annotations

import click

from hindsched.bench.commands import options
from hindsched.bench.commands.by_family import FamilyCommand, family_option
from hindsched.bench.family import family_named
from hindsched.bench.output_files import write_instance
from hindsched.bench.shared_types import Row


@click.command(cls=FamilyCommand, short_help="Generate an instance.")
@family_option
@options.output
def generate(family: str, output: str, own: Row) -> None:
    """Generate an instance of a family's published experiment, or a small random one."""
    write_instance(family_named(family).commands.generate(own), output)
