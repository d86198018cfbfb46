"""Study ``variants``: which part of stand-by gains, and AY as a criterion."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("variants", short_help="Run variants of stand-by and heuristics that switch by AY.")
@options.jobs
@options.kept_in("variants")
@options.as_json
def variants(jobs: int, results: Path, as_json: bool) -> None:
    """Run the variants on the first trial of each scenario of the paper's experiment.

    The parts of stand-by run where wmin = 1, the heuristics that switch by AY and by Y where m = 5. An interrupted
    study resumes. Writes variants.csv into the results folder.
    """
    import pandas as pd

    from docs.studies.coupled.variants import CRITERIA, points, run_variants

    parts = [
        run_variants(points(), results, num_processes=jobs),
        run_variants(points(range(1, 11), ms=[5]), results, policies=CRITERIA, num_processes=jobs),
    ]
    write_and_print(pd.concat(parts, ignore_index=True), results / "variants.csv", "Variants", as_json=as_json)
