"""``hindsched reduce``: a question about a graph as an instance of OFF-LINE-COUPLED."""

from __future__ import annotations

import click

from hindsched.bench.commands import options
from hindsched.bench.output_files import write_instance


@click.command(short_help="Write the instance that a biclique question reduces to.")
@click.argument("graph")
@click.option("-a", "a", type=options.POSITIVE, required=True, help="Nodes of V the biclique has.")
@click.option("-b", "b", type=options.POSITIVE, required=True, help="Nodes of W the biclique has.")
@click.option(
    "--to",
    "target",
    type=click.Choice(["mu1", "muinf"]),
    required=True,
    help="Workers that hold one task at most, or any number.",
)
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write it.  [default: standard output]")
def reduce(graph: str, a: int, b: int, target: str, output: str) -> None:
    """Write the instance whose iteration can be completed iff GRAPH has a biclique with A nodes of V and B of W.

    GRAPH is an edge list (.edgelist: a node of V and a node of W a line) or the rows of the 0/1 biadjacency matrix, V
    by W (.txt). A worker stands for a node of V, a slot for a node of W, in the order of the file.
    """
    from hindsched.reductions import REDUCTIONS, Encd, read_graph

    instance, _ = REDUCTIONS[target].apply(Encd(read_graph(graph), a, b))
    write_instance(instance, output)
