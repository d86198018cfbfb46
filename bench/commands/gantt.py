"""``hindsched gantt``: a picture of a schedule."""

from __future__ import annotations

import click

from bench.family import family_of


@click.command(short_help="Draw a schedule over the states of the machines.")
@click.argument("file")
@click.argument("schedule")
@click.option("-o", "--output", required=True, metavar="OUT", help="A .svg, .pdf or .png file.")
def gantt(file: str, schedule: str, output: str) -> None:
    """Draw SCHEDULE on the instance in FILE, if it obeys the rules."""
    import instances
    from bench.report import plots

    instance = instances.read(file)
    text = instances.read_schedule(schedule)
    try:
        verdict = instances.check(instance, text)
    except instances.InputError as error:
        raise error.in_file(schedule) from None
    if not verdict.is_valid:
        raise instances.InputError(f"not drawn: {verdict}", file=schedule)
    try:
        figure = family_of(instance).draw(instance, text)
    except instances.InputError as error:
        raise error.in_file(schedule) from None
    plots.save(figure, output)
