"""``hindsched gantt``: a picture of a schedule."""

from __future__ import annotations

import click

from hindsched.bench.family import family_of
from hindsched.bench.output import say_written


@click.command(short_help="Draw a Gantt chart of a schedule.")
@click.argument("file")
@click.argument("schedule")
@click.option("-o", "--output", required=True, metavar="OUT", help="Output file: .svg, .pdf or .png.")
def gantt(file: str, schedule: str, output: str) -> None:
    """Draw SCHEDULE over the machine states of the instance in FILE, if the schedule is valid."""
    from hindsched import instances
    from hindsched.bench.commands.valid import made_of_valid
    from hindsched.bench.report import canvas

    instance = instances.read(file)
    canvas.save(made_of_valid(family_of(instance).report.draw, instance, schedule, "not drawn"), output)
    say_written("picture", output)
