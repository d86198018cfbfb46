"""``hindsched simulate``: on-line policies on instances, shown only the past."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Any

import click

from bench.commands import options
from bench.commands.by_family import FamilyCommand, own_flags, policy_options
from bench.family import Options, family_of
from bench.output import Table, bad_input


@click.command(cls=FamilyCommand, short_help="Run policies on each instance.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@options.policies
@options.run_options
@options.policy_seed
@click.option("--schedule", "out", metavar="OUT", help="Write the schedule; with several runs, into the folder OUT.")
@options.as_json
def simulate(
    files: tuple[str, ...],
    policies: tuple[str, ...],
    pairs: tuple[str, ...],
    seed: int,
    out: str | None,
    as_json: bool,
    own: dict[str, Any],
) -> int:
    """Run policies on each instance; an outcome is null where the run did not get so far."""
    import instances
    from bench.campaign.plan import expand_policies
    from bench.progress import working
    from bench.targets import schedule_targets

    known: dict[str, Any] = {}
    failed = 0
    for file in files:
        try:
            known[file] = instances.read(file)
        except instances.InputError as error:
            bad_input(error.in_file(file))
            failed = 2
    families = list(dict.fromkeys(instance.family for instance in known.values()))
    named: dict[str, list[str]] = {}
    asked: dict[str, Options] = {}
    for file, instance in known.items():
        family = family_of(instance)
        if family.name not in asked:
            mine = own_flags(own, family, "simulate", file)
            asked[family.name] = Options(run=policy_options(family, pairs, mine), seed=seed)
            family.run_values(asked[family.name])
    for name in families:
        named |= {name: expand_policies(policies, families, asked[name])[name]}
    made = {
        name: [family_of(i).make_policy(p, asked[name]).name for p in named[name]]
        for name, i in ((i.family, i) for i in known.values())
    }
    most = [policy for name in families for policy in made[name]]
    targets = schedule_targets(out, list(known), list(dict.fromkeys(most))) if known else {}
    table = Table(None, as_json, title="Runs")
    for file, instance in known.items():
        family, how = family_of(instance), asked[instance.family]
        try:
            for policy in named[family.name]:
                why = None if policy in policies else family.refuses(instance, policy, how)
                if why is not None:
                    click.echo(f"hindsched: {file}: {policy} is left out: {why}", err=True)
                    continue
                with working(f"{policy} on {file}"), redirect_stdout(sys.stderr):  # a policy may print
                    played = family.run(instance, policy, how, seed)
                if targets:
                    instances.write_schedule(played.schedule, targets[file, played.policy])
                table.add({"file": file, "policy": policy, **family.run_row(instance, played, how)})
        except instances.InputError as error:
            bad_input(error.in_file(file))
            failed = 2
    table.show()
    return failed
