"""Study ``pages``: write numbers, tables and pictures of the documentation from the rows."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table


@click.command("pages", short_help="Write the documentation's numbers from the published rows.")
@click.option(
    "--docs", type=options.FOLDER, default=Path("docs"), show_default=True, help="The folder of pages, of a checkout."
)
@click.option("--check", "is_check", is_flag=True, help="Write nothing; end with exit code 1 where something differs.")
@options.as_json
def pages(docs: Path, is_check: bool, as_json: bool) -> None:
    """Write every marked number, table and picture of the pages in docs/ from docs/studies/rows.

    A mark names a writer and its arguments: <!-- number: ratio printed E-IE median --> or <!-- table: versus I -->, up
    to <!-- end -->. A picture is drawn again only where its numbers changed. Families without a folder are skipped.
    """
    from docs.studies.marked_pages import rebuild
    from docs.studies.published import PAGE_WRITERS, published

    changes = []
    for family in PAGE_WRITERS:
        pages = published(family)
        if (docs / pages.folder).is_dir():
            more = getattr(pages, "more_pages", ())
            changes += rebuild(docs / pages.folder, pages.writers(), pages.pictures(), more=more, is_check=is_check)
    title = "Differs from the published rows" if is_check else "Rewritten"
    table = Table({name: name for name in ("place", "part", "before", "after")}, as_json, title=title)
    table.add_all({name: _short(text) for name, text in asdict(change).items()} for change in changes)
    table.show()
    if not changes and not as_json:
        click.echo("Every part agrees with the rows.")
    if changes and is_check:
        sys.exit(1)


def _short(text: str) -> str:
    """Return a text as a cell of a table on a terminal."""
    first, _, more = text.partition("\n")
    return f"{first[:40]} ..." if more or len(first) > 60 else first
