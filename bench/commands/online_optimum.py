"""``hindsched online-optimum``: how much of a policy's ratio is its own fault, and how much the unknown future's."""

from __future__ import annotations

from functools import partial

import click

from hindsched.bench.commands import options
from hindsched.bench.commands.by_family import FamilyCommand, own_flags, policy_options
from hindsched.bench.output import Refusals, Table
from hindsched.bench.shared_types import Row


@click.command(
    "online-optimum", cls=FamilyCommand, short_help="Compute the optimal expected makespan of on-line policies."
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="NAME|all|FILE.py:CLASS",
    help="A policy to compare. May be given several times.  [default: E-IE]",
)
@click.option("--paths", type=options.SEVERAL, default=300, help="Number of sampled futures.")
@click.option("--seed", type=options.COUNT, default=0, help="Seed of the futures and of random policies.")
@click.option(
    "--tolerance",
    type=options.Number(min=1e-12, max=0.1),
    default=1e-6,
    metavar="SHARE",
    help="Relative gap of the bounds on the on-line optimum.",
)
@click.option(
    "--most-states",
    type=options.POSITIVE,
    default=500_000_000,
    help="Skip the on-line optimum above this number of states; a state takes about ten bytes.",
)
@click.option("--bound", "is_charged", is_flag=True, help="Add a lower bound that needs no Markov decision process.")
@options.run_options
@options.time_limit(60.0)
@options.as_json
def online_optimum(
    files: tuple[str, ...],
    policies: tuple[str, ...],
    paths: int,
    seed: int,
    tolerance: float,
    most_states: int,
    is_charged: bool,
    pairs: tuple[str, ...],
    time_limit_s: float,
    as_json: bool,
    own: Row,
) -> int:
    """Compute the least expected makespan of any on-line policy (coupled), and compare policies with it.

    Only the Markov chains of the instance and its states in slot 0 are used. The on-line optimum is the exact solution
    of a Markov decision process. A policy's ratio to the hindsight optimum is a product of two ratios: policy to
    on-line optimum (its fault), and on-line to hindsight optimum (the price of not knowing the future).
    """
    from hindsched import instances
    from hindsched.bench.campaign.plan import expand_policies
    from hindsched.bench.coupled.online_optimum import COLUMNS, Sampling, compare, progress_printer
    from hindsched.bench.family import family_of
    from hindsched.bench.run_records import Options

    headings = {name: name.replace("_", " ") for name in COLUMNS}
    spare = ("price_low", "price_high", "paths", "states", "unfinished", "seconds", "how")
    table = Table({"file": "file", **headings}, as_json, title="Expected makespans, in slots", spare=spare)
    refusals = Refusals()
    for file in files:
        with refusals.of(file):
            instance = instances.read(file)
            if instance.family != "coupled":
                raise instances.InputError(f"an instance of {instance.family}, expected one of coupled")
            family = family_of(instance)
            run = policy_options(family, pairs, own_flags(own, family, "online-optimum", file))
            how = Options(run=run, time_limit_s=time_limit_s, seed=seed, check_slots=0)
            family.run_values(how)
            named = expand_policies(policies or ("E-IE",), ["coupled"], how)["coupled"]
            sampling = Sampling(paths, seed, tolerance, most_states, is_charged)
            rows = compare(
                instance,
                named,
                options=how,
                sampling=sampling,
                progress=progress_printer(file),
                refuse=partial(refusals.report, file=file),
            )
            table.add_all({"file": file, **row} for row in rows)
    table.show()
    return refusals.code
