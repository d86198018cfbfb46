"""``hindsched export``: instances and schedules in the forms of other tools."""

from __future__ import annotations

import click

from hindsched.bench.family import family_of
from hindsched.bench.output import say_written


@click.command(short_help="Write an instance or a schedule for another tool.")
@click.argument("file")
@click.argument("schedule", required=False)
@click.option("-o", "--output", required=True, metavar="OUT", help="Output file.")
def export(file: str, schedule: str | None, output: str) -> None:
    """Write the instance in FILE, or SCHEDULE on it, in a format of another tool.

    For the family grid: a workload for Batsim (JSON), or a schedule as Batsim's table of jobs (CSV), for evalys.
    """
    from hindsched import instances
    from hindsched.bench.commands.valid import made_of_valid
    from hindsched.instances.text_files import write_text

    instance = instances.read(file)
    make = family_of(instance).commands.export
    text = make(instance, None) if schedule is None else made_of_valid(make, instance, schedule, "not written")
    write_text(output, text)
    say_written("workload" if schedule is None else "table of jobs", output)
