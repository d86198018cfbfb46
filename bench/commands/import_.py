"""``hindsched import``: traces of real machines to instances."""

from __future__ import annotations

import click

from bench.commands.options import COUNT, N_COM, POSITIVE
from bench.targets import write_instance

_ABSENCE = click.Choice(["down", "reclaimed"])


class _OneOrMany(click.ParamType[int | tuple[int, ...] | None]):
    """An integer for all workers, or one for each, separated by commas."""

    name = "INTEGER[,...]"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | tuple[int, ...] | None:
        if value is None or isinstance(value, int | tuple):
            return value
        try:
            numbers = tuple(int(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r}, expected an integer, or one per worker with commas between", param, ctx)
        return numbers[0] if len(numbers) == 1 else numbers


@click.command("import", short_help="Turn a trace of real machines into an instance.")
@click.argument("traces", nargs=-1, required=True, metavar="TRACE...")
@click.option("--slot", "slot_s", required=True, metavar="S", help="Seconds of a slot.")
@click.option("--start", metavar="TIME", help="Where slot 0 begins: UNIX seconds, or an ISO date.  [default: earliest]")
@click.option("--slots", type=POSITIVE, help="N, slots to take.  [default: as many as all nodes were observed]")
@click.option(
    "--train",
    "train_slots",
    type=COUNT,
    default=0,
    show_default=True,
    help="Slots just before slot 0 to fit the Markov chains on; 0: no chains, so no heuristic but RANDOM can run.",
)
@click.option("--nodes", metavar="K|NAME,...", help="So many nodes, or these.  [default: all]")
@click.option("--absent", type=_ABSENCE, default="down", show_default=True, help="What 'not available' means.")
@click.option(
    "--unobserved",
    type=click.Choice(["refuse", "down", "reclaimed"]),
    default="refuse",
    show_default=True,
    help="What a node is while nobody observed it.",
)
@click.option("--m", type=POSITIVE, required=True, help="Tasks per iteration.")
@click.option("--iterations", type=POSITIVE, default=10, show_default=True, help="K, iterations to complete.")
@click.option("--n-com", type=N_COM, default=None, help="Workers served in a slot.  [default: none, unbounded]")
@click.option("--t-prog", type=COUNT, default=0, show_default=True, help="Slots to receive the program.")
@click.option("--t-data", type=COUNT, default=0, show_default=True, help="Slots to receive the data of a task.")
@click.option("--w", type=_OneOrMany(), default=1, show_default=True, help="Slots to compute a task.")
@click.option("--mu", type=_OneOrMany(), default=None, help="Most tasks a worker may hold.  [default: unbounded]")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write it.  [default: standard output]")
def import_(
    traces: tuple[str, ...],
    slot_s: str,
    start: str | None,
    slots: int | None,
    train_slots: int,
    nodes: str | None,
    absent: str,
    unobserved: str,
    m: int,
    iterations: int,
    n_com: int | None,
    t_prog: int,
    t_data: int,
    w: int | tuple[int, ...],
    mu: int | tuple[int, ...] | None,
    output: str,
) -> None:
    """Turn a trace into an instance: one Failure Trace Archive event table, or sampled CSV files, one per node.

    The name spot_aws_v100 alone stands for nine zones of real spot machines, which come with the toolkit.

    A slot is UP only if the node is available during all of it. What the reader takes for granted is said on standard
    error.
    """
    from typing import Any, cast

    from instances import traces as readers
    from instances.coupled.imported import from_trace

    is_packaged = len(traces) == 1 and traces[0] in readers.packaged_traces()
    trace = readers.read_packaged(traces[0]) if is_packaged else readers.read(*traces)
    chosen: int | list[str] | None = None
    if nodes is not None:
        is_number = nodes.isascii() and nodes.isdigit() and len(nodes) < 10
        chosen = int(nodes) if is_number and nodes not in trace.nodes else nodes.split(",")
    instance = from_trace(
        trace,
        tasks=m,
        slot_s=slot_s,
        iterations=iterations,
        n_com=n_com,
        t_prog=t_prog,
        t_data=t_data,
        w=w,
        mu=mu,
        start=start,
        slots=slots,
        nodes=chosen,
        absent=cast(Any, absent),
        unobserved=cast(Any, unobserved),
        train_slots=train_slots,
    )
    write_instance(instance, output)
    for assumption in trace.assumptions:
        click.echo(f"hindsched: assumed: {assumption}", err=True)
