"""``hindsched import``: traces of real machines, and logs of real jobs, to instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hindsched.bench.commands import options
from hindsched.bench.commands.availability import hints
from hindsched.bench.commands.by_family import FamilyCommand, family_option
from hindsched.bench.commands.traces import TRACE
from hindsched.bench.family import family_named
from hindsched.bench.output_files import write_instance
from hindsched.bench.shared_types import Row

if TYPE_CHECKING:
    from hindsched.instances.traces import Trace


@click.command("import", cls=FamilyCommand, short_help="Make an instance from a trace of real machines.")
@click.argument("traces", nargs=-1, required=True, metavar="TRACE...")
@family_option
@options.output
def import_(traces: tuple[str, ...], family: str, output: str, own: Row) -> None:
    """Make an instance from a trace.

    A trace is one of the following, plain or compressed: CSV files of samples, one per node, or one file with a column
    for the node, or with counts of machines (--columns); JSON lists of samples, one per node (--gap); a log with the
    columns time_ms, add or remove, node; or an event table of the Failure Trace Archive. The name spot_aws_v100 means
    nine zones of real spot machines that come with the toolkit.

    A slot is UP only if the node is available during all of it. The reader's assumptions, and the availability of each
    node, are printed on standard error.
    """
    adapter = family_named(family)
    instance, assumptions = adapter.commands.import_trace(traces, own)
    write_instance(instance, output)
    trace: Trace | None = click.get_current_context().meta.get(TRACE)
    if trace is not None:
        click.echo(f"hindsched: read: {trace.summary}", err=True)
    for assumption in assumptions:
        click.echo(f"hindsched: assumed: {assumption}", err=True)
    for line in adapter.commands.availability(instance):
        click.echo(line, err=True)
    for hint in [] if trace is None else hints(trace, own):
        click.echo(hint, err=True)
