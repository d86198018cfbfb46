"""``hindsched check``: replay a schedule against rules R1-R5."""

from __future__ import annotations

import sys

import click

from bench.commands.options import as_json
from bench.output import Table


@click.command(short_help="Replay a schedule against the rules R1-R5.")
@click.argument("file")
@click.argument("schedule")
@as_json
def check(file: str, schedule: str, as_json: bool) -> None:
    """Replay SCHEDULE on the instance in FILE; exit 1 with the first slot and rule that is broken."""
    import instances

    instance = instances.read(file)
    text = instances.read_schedule(schedule)
    try:
        verdict = instances.check(instance, text)
    except instances.InputError as error:
        raise error.in_file(schedule) from None
    if not instances.is_made_for(instance, text):
        click.echo(
            f"hindsched: {schedule}: made for another instance, {text.instance!r}; replayed on {file} all the same",
            err=True,
        )
    if as_json:
        keys = ("file", "schedule", "valid", "slot", "rule", "reason", "iterations", "makespan")
        table = Table({key: key for key in keys}, as_json)
        table.add(
            {
                "file": file,
                "schedule": schedule,
                "valid": verdict.is_valid,
                "slot": verdict.time,
                "rule": verdict.rule,
                "reason": verdict.reason,
                "iterations": verdict.outcome.iterations,
                "makespan": verdict.outcome.makespan,
            }
        )
    else:
        click.echo(f"{schedule}: {verdict}")
    sys.exit(0 if verdict.is_valid else 1)
