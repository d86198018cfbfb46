"""``hindsched gantt``: a picture of a schedule, in the manner of the paper's Figure 1."""

from __future__ import annotations

import click


@click.command(short_help="Draw a schedule over the states of the workers.")
@click.argument("file")
@click.argument("schedule")
@click.option("-o", "--output", required=True, metavar="OUT", help="A .svg, .pdf or .png file.")
def gantt(file: str, schedule: str, output: str) -> None:
    """Draw SCHEDULE over the states of the instance in FILE."""
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
    height = min(40.0, 1.3 + 0.26 * instance.num_workers)
    width = min(24.0, max(9.0, 2.0 + 0.16 * text.slots))
    figure, (axes,) = plots.new_figure(width=width, heights=(height,))
    done = "unfinished" if verdict.outcome.makespan is None else f"makespan {verdict.outcome.makespan}"
    title = f"{verdict.outcome.iterations} iteration{'' if verdict.outcome.iterations == 1 else 's'}, {done}"
    plots.draw_gantt(axes, instance, text, ends=verdict.outcome.ends, title=title)
    plots.save(figure, output)
