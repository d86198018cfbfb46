"""``hindsched import``: traces of real machines, and logs of real jobs, to instances."""

from __future__ import annotations

from typing import Any

import click

from hindsched.bench.commands.by_family import FamilyCommand, family_option
from hindsched.bench.family import family_named
from hindsched.bench.output_files import write_instance


@click.command("import", cls=FamilyCommand, short_help="Turn a trace of real machines into an instance.")
@click.argument("traces", nargs=-1, required=True, metavar="TRACE...")
@family_option
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write it.  [default: standard output]")
def import_(traces: tuple[str, ...], family: str, output: str, own: dict[str, Any]) -> None:
    """Turn a trace into an instance.

    A trace is, plain or compressed: CSV files of samples, one per node, or one with a column for the node, or counts of
    machines over time (--columns); JSON lists of samples with a gap, one per node (--gap); one log of time_ms, add or
    remove, node; or one Failure Trace Archive event table. The name spot_aws_v100 alone stands for nine zones of real
    spot machines, which come with the toolkit.

    A slot is UP only if the node is available during all of it. What the reader takes for granted, and how often each
    node is UP, is said on standard error.
    """
    adapter = family_named(family)
    instance, assumptions = adapter.commands.import_trace(traces, own)
    write_instance(instance, output)
    for assumption in assumptions:
        click.echo(f"hindsched: assumed: {assumption}", err=True)
    for line in adapter.commands.availability(instance):
        click.echo(line, err=True)
