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


@click.command("verify-reductions", short_help="Prove the reductions by machine, as far as it goes.")
@click.option(
    "--kind", "kinds", multiple=True, metavar="KIND", help="Only this kind of graphs. May be given several times."
)
@click.option(
    "--graphs", type=options.POSITIVE, default=5_000, show_default=True, help="Graphs of each generated kind."
)
@click.option("--labelled", is_flag=True, help="Every small 0/1 matrix, not only one of each isomorphism class.")
@click.option("--seed", type=options.COUNT, default=0, show_default=True, help="Seed of the generated graphs.")
@options.solver
@click.option(
    "--failures",
    type=options.FOLDER,
    default=Path("results/verify-reductions"),
    show_default=True,
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
    """Try both reductions from ENCD on every small bipartite graph, and on tens of thousands of larger ones.

    Small graphs: all with at most four nodes on a side, up to isomorphism, with every (a, b). Yes must map to yes, with
    witnesses that map both ways, and no to no; the first failure ends the command with exit code 3, and its graph is
    written to a file. Then: why non-edges must be RECLAIMED, and that the problem is easy without RECLAIMED.
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
