"""``hindsched report``: a page of a campaign's results."""

from __future__ import annotations

from pathlib import Path

import click

from hindsched.bench.commands import options
from hindsched.bench.output import Table
from hindsched.bench.report.sections import SHORT, Section


@click.command(short_help="Write a page of results: ratios, profiles, tables.")
@click.argument("results", type=options.FOLDER)
@click.option("-o", "--output", type=options.FOLDER, help="Where to write.  [default: RESULTS/report]")
@click.option(
    "--reference", metavar="NAME", help="The policy that others are compared with.  [default: the family's usual one]"
)
@click.option(
    "--latex", is_flag=True, help="For a paper: the ratio tables as .tex (booktabs), the pictures as .pdf too."
)
@click.option(
    "--only",
    metavar="PART,...",
    help=f"These parts alone: {', '.join(Section)}.",
)
@click.option("--short", is_flag=True, help=f"For two sheets of paper: --only {','.join(SHORT)}.")
@options.as_json
def report(
    results: Path, output: Path | None, reference: str | None, latex: bool, only: str | None, short: bool, as_json: bool
) -> None:
    """Write report.html about RESULTS, with its pictures (SVG) and tables (CSV) beside it.

    RESULTS is a folder of `hindsched score`, which may still be running, or a table of one run a row (.csv, .csv.gz,
    .csv.xz, .parquet). The page holds everything: no network. Equal rows give an equal page. A click on a heading
    sorts a table; on paper the page is complete.
    """
    from hindsched.bench.report.page import default_output, write_report
    from hindsched.instances import SelfCheckError

    if short and only is not None:
        raise click.UsageError("--short goes without --only")
    parts = SHORT if short else tuple(Section) if only is None else [part.strip() for part in only.split(",")]
    written = write_report(results, output or default_output(results), reference=reference, latex=latex, only=parts)
    for line in written.mixed:
        click.echo(f"hindsched: {results}: {line}", err=True)
    table = Table({"page": "page", "runs": "runs", "instances": "instances", "files": "files"}, as_json=as_json)
    if as_json:
        table.add({**written.counts, "page": str(written.page), "files": len(written.files)})
    else:
        for line in written.findings:
            click.echo(line)
        click.echo(f"Written: {written.page} and {len(written.files) - 1} pictures and tables beside it")
    if written.contradictions:
        raise SelfCheckError(f"{written.contradictions[0]} (written to {written.page} all the same)")
