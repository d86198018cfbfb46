"""``hindsched simulate``: run on-line policies, which see only the past."""

from __future__ import annotations

import click

from hindsched.bench.commands import options
from hindsched.bench.commands.by_family import FamilyCommand, own_flags, policy_options
from hindsched.bench.family import family_named, family_of
from hindsched.bench.output import Refusals, Table
from hindsched.bench.run_records import Options
from hindsched.bench.shared_types import Row


@click.command(cls=FamilyCommand, short_help="Run policies on each instance.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@options.policies
@options.run_options
@options.policy_seed
@click.option(
    "--schedule", "out", metavar="OUT", help="Write the schedule to a file; with several runs, write to the folder OUT."
)
@options.as_json
def simulate(
    files: tuple[str, ...],
    policies: tuple[str, ...],
    pairs: tuple[str, ...],
    seed: int,
    out: str | None,
    as_json: bool,
    own: Row,
) -> int:
    """Run on-line policies on each instance; an outcome is null if the run did not finish."""
    from hindsched import instances
    from hindsched.bench.campaign.jobs import simulate_apart
    from hindsched.bench.campaign.plan import expand_policies
    from hindsched.bench.output_files import schedule_targets
    from hindsched.bench.progress import working

    refusals = Refusals()
    known: Row = {}
    for file in files:
        with refusals.of(file):
            known[file] = instances.read(file)
    families = list(dict.fromkeys(instance.family for instance in known.values()))
    options_of: dict[str, Options] = {}
    for file, instance in known.items():
        family = family_of(instance)
        if family.name not in options_of:
            given = own_flags(own, family, "simulate", file)
            options_of[family.name] = Options(run=policy_options(family, pairs, given), seed=seed)
            family.run_values(options_of[family.name])
    named = {name: expand_policies(policies, families, options_of[name])[name] for name in families}
    made = {
        name: [family_named(name).make_policy(policy, options_of[name]).name for policy in named[name]]
        for name in families
    }
    runs = [(file, name) for file, instance in known.items() for name in made[instance.family]]
    targets = schedule_targets(out, runs, is_one=len(files) == 1 and len(runs) == 1)
    table = Table(None, as_json, title="Runs")
    for file, instance in known.items():
        how = options_of[instance.family]
        family = family_of(instance).under(how)
        with refusals.of(file):
            if not named[family.name]:
                raise instances.InputError(f"no policy of {family.name}, expected one", place="--policy")
        for policy in named[family.name]:
            with refusals.of(file):
                why = None if policy in policies else family.refuses(instance, policy, how)
                if why is not None:
                    click.echo(f"hindsched: {file}: {policy} is skipped: {why}", err=True)
                    continue
                with working(f"{policy} on {file}"):
                    record = simulate_apart(instance, policy, how)
                row = {"file": file, "policy": policy, **family.commands.run_row(instance, record, how)}
                table.add(row if as_json else family.commands.table_cells(row))
                if targets:
                    instances.write_schedule(record.schedule, targets[file, record.policy])
    table.show()
    return refusals.code
