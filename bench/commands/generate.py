"""``hindsched generate``: the paper's instances, and random small ones."""

from __future__ import annotations

from typing import Any

import click

from bench.commands.options import COUNT, POSITIVE, given_flags, paper_point, say_unused
from bench.targets import write_instance


@click.command(short_help="Write an instance of the paper's experiment, or a small one.")
@paper_point
@click.option("--scenario", type=COUNT, default=0, show_default=True, help="Which draw of the workers.")
@click.option("--trial", type=COUNT, default=0, show_default=True, help="Which draw of their states.")
@click.option("--slots", type=POSITIVE, default=None, help="N, slots to generate.  [default: 10000; 12 with --small]")
@click.option("--seed", type=COUNT, default=0, show_default=True, help="Seed of the whole experiment.")
@click.option(
    "--small", is_flag=True, help="A small random general instance instead; of --m, --p, --iterations, --slots, --seed."
)
@click.option("--drawn", is_flag=True, help="Name what the states are drawn from instead of spelling them out.")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write it.  [default: standard output]")
def generate(
    m: int,
    n_com: int | None,
    wmin: int,
    p: int,
    iterations: int,
    scenario: int,
    trial: int,
    slots: int | None,
    seed: int,
    small: bool,
    drawn: bool,
    output: str,
) -> None:
    """Write an instance of the paper's experiment, with its Markov chains.

    The first N states of an instance do not depend on --slots.
    """
    from instances.coupled import generate as make

    if small and drawn:
        raise click.UsageError("--drawn goes with the paper's instances, not with --small")
    if small:
        given = given_flags()
        say_unused(given & {"n_com", "wmin", "scenario", "trial"}, "with --small")
        sizes = {"p": p, "m": m, "iterations": iterations, "slots": slots}
        chosen: dict[str, Any] = {"tasks" if flag == "m" else flag: sizes[flag] for flag in sizes if flag in given}
        instance = make.small(seed, **chosen)
    else:
        instance = make.paper(
            m=m,
            n_com=n_com,
            wmin=wmin,
            scenario=scenario,
            trial=trial,
            slots=10_000 if slots is None else slots,
            seed=seed,
            p=p,
            iterations=iterations,
            drawn=drawn,
        )
    write_instance(instance, output)
