"""``hindsched biclique``: a biclique of exactly this size, or the largest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table, report_error

if TYPE_CHECKING:
    from hindsched.reductions import BipartiteGraph, Decision

_COLUMNS = ("file", "exists", "v", "w")


@click.command(short_help="Find a biclique of a given size, or a largest one.")
@click.argument("graphs", nargs=-1, required=True, metavar="GRAPH...")
@click.option("-a", "a", type=options.POSITIVE, default=None, help="Number of nodes of V.")
@click.option("-b", "b", type=options.POSITIVE, default=None, help="Number of nodes of W.")
@click.option(
    "--largest",
    type=click.Choice(["edges", "nodes", "balanced"]),
    default=None,
    help="Find a largest biclique instead: by edges, by nodes, or by nodes with equal sides.",
)
@click.option(
    "--via",
    type=click.Choice(["direct", "mu1", "muinf"]),
    default="direct",
    help="Search the graph directly, or through a reduction to scheduling.",
)
@options.solver
@options.time_limit(None)
@options.as_json
def biclique(
    graphs: tuple[str, ...],
    a: int | None,
    b: int | None,
    largest: str | None,
    via: str,
    solver: str,
    time_limit_s: float | None,
    as_json: bool,
) -> int:
    """Decide whether each GRAPH has a biclique with exactly A nodes of V and B nodes of W.

    GRAPH is an edge list (.edgelist) or the rows of the 0/1 biadjacency matrix, V by W (.txt). Nodes have the
    names of the edge list, or the indices of their rows and columns. At the time limit, exists is null.
    """
    from hindsched.bench.coupled.bicliques import decide, expect_way, largest_biclique
    from hindsched.bench.progress import working
    from hindsched.instances.errors import InputError
    from hindsched.offline.limits import Limits
    from hindsched.reductions import Encd, Measure, read_graph

    if (largest is None) != (a is not None and b is not None) or (largest is not None and (a or b)):
        raise click.UsageError("expected -a A and -b B together, or --largest alone")
    expect_way(via, solver)
    limits = Limits(time_limit_s)
    table = Table({key: key for key in _COLUMNS}, as_json, title="Bicliques")
    failed = 0
    for file in graphs:
        try:
            graph = read_graph(file)
            with working(f"searching {file}"):
                if a is not None and b is not None:
                    decision = decide(Encd(graph, a, b), via, solver, limits)
                else:
                    decision = largest_biclique(graph, Measure(str(largest)), via, solver, limits)
        except InputError as error:
            report_error(error.in_file(file))
            failed = 2
            continue
        table.add({"file": file, **_shown(graph, decision, as_json)})
    table.show()
    return failed


def _shown(graph: BipartiteGraph, decision: Decision, as_json: bool) -> dict[str, Any]:
    found = decision.biclique
    row: dict[str, Any] = {"exists": decision.exists, "v": None, "w": None}
    if found is not None:
        row |= {"v": graph.labels_of(found.v), "w": graph.labels_of(found.w)}
    if as_json:
        return row
    shown = {name: None if row[name] is None else " ".join(map(str, row[name])) for name in ("v", "w")}
    return {"exists": {True: "yes", False: "no", None: "unknown"}[decision.exists], **shown}
