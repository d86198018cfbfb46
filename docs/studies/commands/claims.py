"""Study ``claims``: the claims of a paper, judged by its reproduction."""

from __future__ import annotations

from dataclasses import asdict
from importlib import import_module
from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("claims", short_help="Judge the claims of a paper by its reproduction.")
@click.argument("family", type=click.Choice(["coupled", "bags", "batches", "deadline", "grid"]))
@click.option(
    "--results",
    type=options.FOLDER,
    help="The folder that hindsched reproduce wrote.  [default: results/paper for coupled, results/FAMILY for others]",
)
@options.as_json
def claims(family: str, results: Path | None, as_json: bool) -> None:
    """Print each claim of the paper of FAMILY with the evidence and a verdict. Writes claims.csv into the folder."""
    import pandas as pd

    folder = results if results is not None else Path("results") / ("paper" if family == "coupled" else family)
    judged = import_module(f"docs.studies.{family}.claims").claims_of_results(folder)
    frame = pd.DataFrame([asdict(claim) for claim in judged])
    write_and_print(frame, folder / "claims.csv", "Claims of the paper", as_json=as_json)
