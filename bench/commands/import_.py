"""``hindsched import``: traces of real machines, and logs of real jobs, to instances."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING

import click

from hindsched.bench.commands import options
from hindsched.bench.commands.availability import hints
from hindsched.bench.commands.by_family import FamilyCommand, family_option
from hindsched.bench.commands.traces import TRACE, chosen_nodes, read_traces
from hindsched.bench.family import family_named
from hindsched.bench.output_files import expect_writable, write_instances
from hindsched.bench.shared_types import Row
from hindsched.instances.text_files import write_text

if TYPE_CHECKING:
    from hindsched.instances.traces import Trace

#: Key of the context's ``meta``: whether ``--check`` is given.
_CHECK = "hindsched.check"


class _ImportCommand(FamilyCommand):
    """The command ``import``; with ``--check`` it needs no option on the instance."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_CHECK] = "--check" in args
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        params = super().get_params(ctx)
        if not ctx.meta.get(_CHECK):
            return params
        params = [copy(param) if isinstance(param, click.Option) else param for param in params]
        for param in params:
            param.required = param.required and not isinstance(param, click.Option)
        return params


@click.command("import", cls=_ImportCommand, short_help="Make an instance from a trace of real machines.")
@click.argument("traces", nargs=-1, required=True, metavar="TRACE...")
@family_option
@options.output
@click.option("--check", "is_check", is_flag=True, help="Show what would be read, and write no instance.")
@click.option("--picture", metavar="FILE", help="With --check: write the picture of the availability as SVG.")
def import_(traces: tuple[str, ...], family: str, output: str, is_check: bool, picture: str | None, own: Row) -> None:
    """Make an instance from a trace.

    A trace is one of the following, plain or compressed: CSV files of samples, one per node, or one file with a column
    for the node, or with counts of machines (--columns); JSON lists of samples, one per node (--gap); a log with the
    columns time_ms, add or remove, node; or an event table of the Failure Trace Archive. The name spot_aws_v100 means
    nine zones of real spot machines that come with the toolkit.

    With --check, print what would be read: form, columns, units, the availability over time, and the first ten
    intervals of each node.

    A slot is UP only if the node is available during all of it. The reader's assumptions, and the availability of each
    node, are printed on standard error.
    """
    if is_check:
        _check(traces, picture, own)
        return
    if picture is not None:
        raise click.UsageError("--picture goes with --check")
    adapter = family_named(family)
    found, assumptions = adapter.commands.import_windows(traces, own)
    write_instances(found, output)
    trace: Trace | None = click.get_current_context().meta.get(TRACE)
    if trace is not None:
        click.echo(f"hindsched: read: {trace.summary}", err=True)
    for assumption in assumptions:
        click.echo(f"hindsched: assumed: {assumption}", err=True)
    for name, instance in found.items():
        for line in adapter.commands.availability(instance)[: 1 if name else None]:
            click.echo(f"{name}: {line}" if name else line, err=True)
    for hint in [] if trace is None else hints(trace, own):
        click.echo(hint, err=True)


def _check(traces: Sequence[str], picture: str | None, own: Row) -> None:
    """Print what would be read from traces, and write the picture."""
    from hindsched.bench.commands.trace_picture import explain, svg

    if "columns" not in own:
        raise click.UsageError("--check explains traces of machines, not logs of jobs")
    if picture is not None:
        expect_writable(picture)
    trace, _ = read_traces(traces, own)
    chosen = chosen_nodes(trace, own.get("nodes"))
    nodes = trace.window(slot_s=1, slots=1, nodes=chosen).nodes if isinstance(chosen, list) else trace.nodes[:chosen]
    for line in explain(trace, nodes):
        click.echo(line)
    for hint in hints(trace, own):
        click.echo(hint, err=True)
    if picture is not None:
        write_text(picture, svg(trace, nodes))
        click.echo(f"hindsched: wrote {picture}", err=True)
