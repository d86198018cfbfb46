"""``hindsched verify-reductions``: Theorem 4.1 by machine, as far as a machine can."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.bench.output_files import expect_folder

_COLUMNS = {
    "kind": "graphs of kind",
    "graphs": "graphs",
    "yes": "yes",
    "no": "no",
    "lost_with_down": "lost were non-edges DOWN",
}


@click.command("verify-reductions", short_help="Test the reductions on small graphs.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="KIND",
    help="A kind of graphs. May be given several times.  [default: all]",
)
@click.option("--graphs", type=options.POSITIVE, default=5_000, help="Number of graphs of each generated kind.")
@click.option("--labelled", is_flag=True, help="Every small 0/1 matrix, not one per isomorphism class.")
@click.option("--seed", type=options.COUNT, default=0, help="Seed of the generated graphs.")
@options.solver
@click.option(
    "--failures",
    type=options.FOLDER,
    default=Path("results/verify-reductions"),
    help="Folder for the graph of a counter-example.",
)
@options.results
@options.as_json
def verify_reductions(
    kinds: tuple[str, ...],
    graphs: int,
    labelled: bool,
    seed: int,
    solver: str,
    failures: Path,
    results: Path | None,
    as_json: bool,
) -> None:
    """Test both reductions from ENCD on every small bipartite graph, and on many larger ones.

    The small graphs have at most four nodes on a side, up to isomorphism, with every (a, b). Yes must map to yes, with
    witnesses in both directions, and no to no. The command also tests that non-edges must be RECLAIMED, and that the
    problem is easy without RECLAIMED. It stops at the first failure with exit code 3, and writes the graph to a file.
    """
    from hindsched.bench.coupled.verify import blocks, theorem
    from hindsched.bench.progress import counting

    expect_folder(failures)
    chosen = tuple(dict.fromkeys(kinds)) or theorem.ALL_KINDS
    table = Table(_COLUMNS, as_json, title="Questions about graphs, each through both reductions, none failed")
    if results is not None:
        counts = blocks.verify_graphs(
            results, kinds=chosen, graphs=graphs, labelled=labelled, seed=seed, solver=solver, failures=failures
        )
    else:
        counts = {}
        for kind in chosen:
            total = theorem.num_graphs(kind, graphs=graphs, labelled=labelled)
            with counting("graphs", total, 0) as counter:
                counts |= theorem.verify(
                    kinds=[kind],
                    graphs=graphs,
                    labelled=labelled,
                    seed=seed,
                    solver=solver,
                    failures=failures,
                    step=counter.step,
                )
    table.add_all({"kind": kind, **asdict(count)} for kind, count in counts.items())
    table.show()
    if as_json:
        return
    for line in theorem.why_reclaimed():
        click.echo(line)
    click.echo(theorem.easy_without_reclaimed())
