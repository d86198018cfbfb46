"""Study ``deadline-skynomad``: SkyNomad's panel of V100s at moving prices."""

from __future__ import annotations

from pathlib import Path

import click

from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options


@click.command("deadline-skynomad", short_help="Repeat SkyNomad's panel of V100s at moving prices (deadline).")
@click.argument("prices", type=click.Path(path_type=Path))
@options.kept_in("deadline")
@options.as_json
def deadline_skynomad(prices: Path, results: Path, as_json: bool) -> None:
    """Run uniform and UP(S) beside the optimum on the five windows of SkyNomad's panel of V100s.

    PRICES is data/v100_spot_prices.json of github.com/andylizf/skynomad-artifact (Apache-2.0). Writes
    deadline_skynomad.csv.
    """
    import pandas as pd

    from docs.studies.deadline import skynomad
    from hindsched.bench.progress import counting

    known = skynomad.read_panel_prices(prices)
    with counting("windows", len(skynomad.STARTS), 0) as counter:
        frame = pd.DataFrame(skynomad.rows(known, counter.step))
    write_and_print(frame, results / "deadline_skynomad.csv", "Costs in SkyNomad's panel", as_json=as_json)
