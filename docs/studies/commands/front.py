"""Study ``front``: the picture of the front page, and the ratios of the windows around it."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table


@click.command("front", short_help="Draw the front page's picture and measure the windows around it.")
@click.option(
    "--docs", type=options.FOLDER, default=Path("docs"), show_default=True, help="The folder of pages, of a checkout."
)
@options.as_json
def front(docs: Path, as_json: bool) -> None:
    """Draw docs/front.svg and write docs/studies/rows/front_windows.csv: 72 windows of nine AWS spot machines."""
    import pandas as pd

    from docs.studies.front import draw, ratio_rows
    from docs.studies.rows import ROWS
    from hindsched.bench.report.canvas import save
    from hindsched.instances.text_files import write_text

    save(draw(), docs / "front.svg")
    rows = list(ratio_rows())
    write_text(ROWS / "front_windows.csv", pd.DataFrame(rows).to_csv(index=False, lineterminator="\n"))
    table = Table({name: name for name in rows[0]}, as_json, title="Windows of nine AWS spot machines")
    table.add_all(rows)
    table.show()
