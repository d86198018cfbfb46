"""Study ``real-machines``: policies on public traces of spot machines and of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from docs.studies.commands.gathered import gather
from docs.studies.commands.output import write_and_print
from hindsched.bench.commands import options
from hindsched.instances.text_files import write_text

_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@dataclass(frozen=True, slots=True)
class _Traces:
    """Where the traces are."""

    traces: Path | None
    probes: Path | None
    logs: Path | None
    cluster: Path | None


@click.command("real-machines", short_help="Compare policies on real machines (coupled).")
@click.option("--traces", type=_FOLDER, metavar="FOLDER", help="Checkout of github.com/skypilot-org/spot-traces.")
@click.option("--probes", type=_FOLDER, metavar="FOLDER",
              help="data/h100_16_runs of github.com/andylizf/skynomad-artifact.")  # fmt: skip
@click.option("--logs", type=_FOLDER, metavar="FOLDER", help="traces of github.com/uclasystem/bamboo.")
@click.option("--cluster", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
              help="LANL's event_trace of the Failure Trace Archive.")  # fmt: skip
@click.option("--windows", type=options.POSITIVE, default=3, show_default=True, help="Windows of each set of machines.")
@click.option("--instances", type=options.COUNT, default=6, show_default=True, help="Drawn sets of machines.")
@click.option("--seed", type=options.COUNT, default=1, show_default=True, help="Seed of drawn machines.")
@options.time_limit(3.0)
@options.kept_in("real-machines")
@options.as_json
@gather("where", _Traces)
def real_machines(
    where: _Traces,
    windows: int,
    instances: int,
    seed: int,
    time_limit_s: float,
    results: Path,
    as_json: bool,
    **_: Any,
) -> None:
    """Run heuristics, look-ahead policies and variants of one on windows of each set of machines.

    The nine packaged zones are always there. Instances whose tasks take 6 slots are solved; the time limit is processor
    time. An interrupted study resumes. Writes real_machines.csv and real_failures.csv.
    """
    from docs.studies.coupled import real_machines as study

    sets = study.spot_machines(where.traces, where.probes, where.logs, where.cluster)
    sets += study.drawn_machines(instances, seed)
    results.mkdir(parents=True, exist_ok=True)
    write_text(results / "real_failures.csv", study.failures(sets).to_csv(index=False, float_format="%.6g"))
    rows = study.run_all(sets, results, number=windows, time_limit_s=time_limit_s)
    write_and_print(rows, results / "real_machines.csv", "Runs on real machines", as_json=as_json)
