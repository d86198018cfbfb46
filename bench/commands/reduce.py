"""``hindsched reduce``: a question about a graph as an instance of OFF-LINE-COUPLED."""

from __future__ import annotations

import click

from hindsched.bench.commands import options
from hindsched.bench.output_files import write_instance


@click.command(short_help="Reduce a biclique problem to an instance.")
@click.argument("graph")
@click.option("-a", "a", type=options.POSITIVE, required=True, help="Number of nodes of V.")
@click.option("-b", "b", type=options.POSITIVE, required=True, help="Number of nodes of W.")
@click.option(
    "--to",
    "target",
    type=click.Choice(["mu1", "muinf"]),
    required=True,
    help="Workers that hold at most one task, or any number of tasks.",
)
@options.output
def reduce(graph: str, a: int, b: int, target: str, output: str) -> None:
    """Write an instance that is feasible if and only if GRAPH has a biclique with A nodes of V and B nodes of W.

    GRAPH is an edge list (.edgelist: per line a node of V and a node of W) or the rows of the 0/1 biadjacency matrix, V
    by W (.txt). Workers correspond to nodes of V, slots to nodes of W, in the order of the file.
    """
    from hindsched.reductions import REDUCTIONS, Encd, read_graph

    instance, _ = REDUCTIONS[target].apply(Encd(read_graph(graph), a, b))
    write_instance(instance, output)
