"""``hindsched report``: a page of a campaign's results."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.bench.report.sections import SHORT, Section


@click.command(short_help="Write an HTML report of results.")
@click.argument("results", type=options.FOLDER)
@click.option("-o", "--output", type=options.FOLDER, help="Output folder.  [default: RESULTS/report]")
@click.option(
    "--reference",
    metavar="NAME",
    help="The policy that others are compared with.  [default: the family's reference policy]",
)
@click.option("--latex", is_flag=True, help="Also write ratio tables as .tex (booktabs) and pictures as .pdf.")
@click.option(
    "--only",
    metavar="PART,...",
    help=f"Only these parts: {', '.join(Section)}.",
)
@click.option("--short", is_flag=True, help=f"Same as --only {','.join(SHORT)}: two sheets of paper.")
@options.pool
@options.as_json
def report(
    results: Path,
    output: Path | None,
    reference: str | None,
    latex: bool,
    only: str | None,
    short: bool,
    pool: bool,
    as_json: bool,
) -> None:
    """Write report.html on RESULTS, with pictures (SVG) and tables (CSV) in the same folder.

    RESULTS is a folder of hindsched score or campaign, which may still be running, or a table with one run per row
    (.csv, .csv.gz, .csv.xz, .parquet). The page needs no network and prints completely. A click on a heading sorts a
    table. Equal results give an equal page.
    """
    from hindsched.bench.report.page import default_output, write_report
    from hindsched.instances import SelfCheckError

    if short and only is not None:
        raise click.UsageError("--short goes without --only")
    parts = SHORT if short else tuple(Section) if only is None else [part.strip() for part in only.split(",")]
    written = write_report(
        results, output or default_output(results), reference=reference, latex=latex, only=parts, pool=pool
    )
    for line in written.mixed:
        click.echo(f"hindsched: {results}: {line}", err=True)
    table = Table({"page": "page", "runs": "runs", "instances": "instances", "files": "files"}, as_json=as_json)
    if as_json:
        table.add({**written.counts, "page": str(written.page), "files": len(written.files)})
    else:
        for line in written.findings:
            click.echo(line)
        click.echo(f"Written: {written.page} and {len(written.files) - 1} pictures and tables")
    if written.contradictions:
        raise SelfCheckError(f"{written.contradictions[0]} (written to {written.page} nevertheless)")
