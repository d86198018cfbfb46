"""``hindsched verify-...``: theorems, reductions, simulators and solvers, tested on random instances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import Any, TypeVar

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.bench.output_files import expect_folder, expect_writable
from hindsched.bench.shared_types import Given

F = TypeVar("F", bound=Callable[..., Any])

_seed = click.option("--seed", type=options.COUNT, default=0, help="Seed of the instances.")


def _instances(default: int) -> Callable[[F], F]:
    return click.option("--instances", type=options.POSITIVE, default=default, help="Number of random instances.")


def _failures(command: str, kept: str) -> Callable[[F], F]:
    folder = Path("results") / command
    return click.option("--failures", type=options.FOLDER, default=folder, help=f"Folder for {kept}.")


@click.command("verify-bags", short_help="Test the theorems on bags.")
@_instances(1_000)
@_seed
@_failures("verify-bags", "an instance that contradicts a theorem")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Output file for the counts (CSV).",
)
@options.as_json
def verify_bags(instances: int, seed: int, failures: Path, output: Path | None, as_json: bool) -> None:
    """Test the theorems of docs/bags/theory.md on small random bags.

    Optima are compared with exhaustive search, CP-SAT models, matchings, greedy assignments and interval graphs. All
    policies run in both simulators, and their schedules are checked. The command stops at the first contradiction with
    exit code 3, and writes the instance to a file.
    """
    from hindsched.bench.bags.verify import CLAIMS, verify
    from hindsched.bench.progress import counting
    from hindsched.bench.verification import Sample
    from hindsched.instances.text_files import write_text

    expect_folder(failures)
    if output is not None:
        expect_writable(output)
    with counting("instances", instances, 0) as counter:
        done = verify(Sample(instances, seed=seed, failures=failures, step=counter.step))
    table = Table({"claim": "claim", "says": "what it says", "confirmed": "times confirmed"}, as_json)
    table.add_all({"claim": name, "says": CLAIMS[name], "confirmed": times} for name, times in done.items())
    table.show()
    if output is not None:
        lines = [f"{name},{times}" for name, times in {"instances": instances, **done}.items()]
        write_text(output, "\n".join(["claim,times", *lines]) + "\n")


#: Number of graphs of each generated kind with ``--quick``.
_QUICK_GRAPHS = 100
_OF_REDUCTIONS = {
    "kind": "graphs of kind",
    "graphs": "graphs",
    "yes": "yes",
    "no": "no",
    "lost_with_down": "yes lost with DOWN",
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
@click.option(
    "--quick", is_flag=True, help=f"Small graphs of up to 3 nodes a side, {_QUICK_GRAPHS} of each generated kind."
)
@click.option("--labelled", is_flag=True, help="Every small 0/1 matrix, not one per isomorphism class.")
@click.option("--seed", type=options.COUNT, default=0, help="Seed of the generated graphs.")
@options.solver
@_failures("verify-reductions", "the graph of a counter-example")
@options.results
@options.as_json
def verify_reductions(
    kinds: tuple[str, ...],
    graphs: int,
    quick: bool,
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

    It takes about three minutes, with --quick about ten seconds. The tests are no proof: the proof is in section 7 of
    docs/model.md.
    """
    from hindsched.bench.coupled.verify import blocks, theorem
    from hindsched.bench.progress import counting

    expect_folder(failures)
    chosen = tuple(dict.fromkeys(kinds)) or theorem.ALL_KINDS
    if quick:
        options.refuse_unused(("graphs", "labelled", "results"), "with --quick")
        graphs = _QUICK_GRAPHS
    elif not options.given_flags() & {"kinds", "graphs", "labelled"}:
        click.echo("hindsched: this takes about 3 minutes on one processor, with --quick about 10 seconds", err=True)
    most = 3 if quick else 4
    title = (
        f"Tests of both reductions on questions about graphs of up to {most} nodes a side and larger ones: none failed"
    )
    table = Table(_OF_REDUCTIONS, as_json, title=title)
    how: Given = {"labelled": labelled, "seed": seed, "solver": solver, "failures": failures}
    if results is not None:
        counts = blocks.verify_graphs(results, kinds=chosen, graphs=graphs, **how)
    else:
        counts = {}
        for kind in chosen:
            total = theorem.num_graphs(kind, graphs=graphs, most=most, labelled=labelled)
            with counting("graphs", total, 0) as counter:
                counts[kind] = theorem.verify(kind, range(total), most=most, step=counter.step, **how)
    table.add_all({"kind": kind, **asdict(count)} for kind, count in counts.items())
    table.show()
    if as_json:
        return
    questions = sum(count.yes + count.no for count in counts.values())
    lines = [*theorem.why_reclaimed(), theorem.easy_without_reclaimed()]
    for line in [
        *lines,
        f"{questions:,} questions are tests, not a proof; the proof is in section 7 of docs/model.md.",
    ]:
        click.echo(fill(line, 80))


@click.command("verify-simulator", short_help="Compare the two simulators.")
@_instances(1_000)
@_seed
@_failures("verify-simulator", "an instance on which the simulators differ")
@options.as_json
def verify_simulator(instances: int, seed: int, failures: Path, as_json: bool) -> None:
    """Run all 17 heuristics on random instances in both simulators, and compare the schedules exactly.

    Every tenth instance is from the paper's experiment with 2,000 slots; the others are small and general. Estimators,
    orders of service and tie-breaking rules alternate. Every schedule is checked. The command stops at the first
    difference with exit code 3, and writes the instance to a file.
    """
    from hindsched.bench.coupled.verify.twins import agree
    from hindsched.bench.progress import counting
    from hindsched.bench.verification import Sample

    expect_folder(failures)
    with counting("instances", instances, 0) as counter:
        done = agree(Sample(instances, seed=seed, failures=failures, step=counter.step))
    table = Table({"policy": "policy", "runs": "runs alike", "slots": "slots in them"}, as_json)
    table.add_all({"policy": policy, "runs": runs, "slots": slots} for policy, (runs, slots) in done.items())
    table.show()


@click.command("verify-solvers", short_help="Compare the exact solvers.")
@click.option("--general", is_flag=True, help="Solve the general problem, with communication.")
@_instances(10_000)
@_seed
@click.option(
    "--solver", "solvers", multiple=True, metavar="NAME", help="A solver. May be given several times.  [default: all]"
)
@_failures("verify-solvers", "an instance on which solvers disagree")
@options.results
@options.as_json
def verify_solvers(
    general: bool,
    instances: int,
    seed: int,
    solvers: tuple[str, ...],
    failures: Path,
    results: Path | None,
    as_json: bool,
) -> None:
    """Compare the answers of all exact solvers on random instances.

    Without communication, the objectives alternate: decision, earliest finish, makespan, iterations, largest w and
    largest m. With --general, small instances with communication have both objectives, with and without stand-by; the
    solvers are native, native-in-rounds (whose first search is cut off), cpsat and brute, unless --solver names others.

    Every schedule is checked. The command stops at the first disagreement with exit code 3, and writes the instance to
    a file.
    """
    from hindsched.bench.coupled.verify.agreement import agree
    from hindsched.bench.coupled.verify.blocks import verify_instances
    from hindsched.bench.coupled.verify.general_agreement import agree_in_general
    from hindsched.bench.progress import counting
    from hindsched.bench.verification import Sample

    expect_folder(failures)
    chosen = solvers or None
    if results is not None:
        sample = Sample(instances, seed=seed, failures=failures)
        answered = verify_instances(results, sample, chosen, general=general)
    else:
        compare = agree_in_general if general else agree
        with counting("instances", instances, 0) as counter:
            answered = compare(Sample(instances, seed=seed, failures=failures, step=counter.step), chosen)
    table = Table({"solver": "solver", "instances": "instances answered alike"}, as_json)
    table.add_all({"solver": solver, "instances": number} for solver, number in answered.items())
    table.show()
