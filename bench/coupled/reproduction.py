"""The paper's experiment: Tables I and II and Figure 2 for every reading of the paper's open points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsched.bench.campaign.plan import Campaign, results_of_rows, run_campaign
from hindsched.bench.coupled.paper import Paper
from hindsched.bench.coupled.paper_tables import METRICS, TABLES
from hindsched.bench.coupled.versus import diff_by_wmin, versus
from hindsched.bench.family import family_named
from hindsched.bench.results.records import records
from hindsched.bench.run_records import Options
from hindsched.bench.shared_types import Given
from hindsched.instances.text_files import write_bytes, write_text
from hindsched.online.coupled import POLICIES

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "READINGS",
    "Reading",
    "closeness",
    "compare",
    "draw_figure_2",
    "run_readings",
    "tables",
    "write_compact",
]

#: Policies with a line in Figure 2.
_SHOWN = ("IP", "IY", "IAY", "P-IE", "E-IP", "E-IE", "E-IY", "E-IAY", "Y-IE", "Y-IAY")

_COMPACT = (
    *("m", "n_com", "wmin", "scenario", "trial", "instance_seed", "setting", "instance", "policy"),
    *("estimator", "service", "ties", "comparison", "makespan", "limit", "optimum", "optimum_status"),
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One interpretation of the paper's open points (docs/model.md sections 2, 5 and 6).

    Parameters
    ----------
    name
        The name in tables.
    description
        A short description of the difference to ``printed``.
    options
        Options of the run (see `hindsched.online.coupled.RunOptions`).
    instance
        Fields of `hindsched.bench.coupled.paper.Paper`.
    """

    name: str
    description: str
    options: Given
    instance: Given


READINGS = {
    reading.name: reading
    for reading in (
        Reading("printed", "the formula for E(W) as printed in the paper, and the defaults of the model", {}, {}),
        Reading("conditional", "E(W) as the expectation given success", {"estimator": "conditional"}, {}),
        Reading(
            "undivided",
            "E_c = A / (1 + E_u), as if the paper's simulator missed a division",
            {"estimator": "undivided"},
            {},
        ),
        Reading("longest", "the master serves the largest remaining need first", {"service": "longest"}, {}),
        Reading("begun", "the master completes a transfer before it begins another", {"service": "begun"}, {}),
        Reading("highest", "ties go to the highest worker index", {"ties": "highest"}, {}),
        Reading("stationary", "workers begin in their stationary states, not all UP", {}, {"start": "stationary"}),
        Reading("mu1", "a worker holds at most one task", {}, {"mu": 1}),
        Reading(
            "held-frozen",
            "the current configuration keeps the criterion value of the slot in which it was chosen",
            {"comparison": "held-frozen"},
            {},
        ),
        Reading(
            "candidate-fresh",
            "the candidate is built and evaluated as if no worker had received data",
            {"comparison": "candidate-fresh"},
            {},
        ),
        Reading("frozen", "held-frozen and candidate-fresh together", {"comparison": "frozen"}, {}),
    )
}


def run_readings(
    sources: Sequence[Paper],
    readings: Sequence[Reading],
    options: Options,
    folder: Path,
    *,
    num_processes: int = 1,
    dask: str | None = None,
) -> dict[str, pd.DataFrame]:
    """Run the paper's 17 heuristics for each reading, resuming from the rows in ``folder``.

    Returns
    -------
    dict of str to pandas.DataFrame
        The runs of each reading, as in `bench.results.columns.Results.runs`, with the column ``makespan``.
    """
    found = {}
    for changes in _distinct(reading.instance for reading in readings):
        mine = [reading for reading in readings if reading.instance == changes]
        campaign = Campaign(
            [replace(source, **changes) for source in sources],
            POLICIES,
            [options.with_run(reading.options) for reading in mine],
        )
        rows = run_campaign(campaign, folder, num_processes=num_processes, dask=dask)
        runs = results_of_rows(rows, folder).runs
        found.update({reading.name: _of_reading(runs, reading, options) for reading in mine})
    return {reading.name: found[reading.name] for reading in readings}


def _distinct(changes: Any) -> list[Given]:
    found: list[Given] = []
    for each in changes:
        if each not in found:
            found.append(each)
    return found


def _of_reading(runs: pd.DataFrame, reading: Reading, options: Options) -> pd.DataFrame:
    values = family_named("coupled").run_values(options.with_run(reading.options))
    of = runs["policy"].notna()
    for option, value in values.items():
        of &= runs[option] == value
    return runs[of].rename(columns={"value": "makespan"})


def tables(runs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the metrics of Tables I and II under each reading.

    Parameters
    ----------
    runs
        As returned by `run_readings`.

    Returns
    -------
    pandas.DataFrame
        One row per reading, table and policy: ``reading``, ``table`` (I: m = 5, II: m = 10) and the columns of
        `hindsched.bench.coupled.versus.versus`.
    """
    import pandas as pd

    found = []
    for name, frame in runs.items():
        for table, m in TABLES.items():
            mine = frame[frame["m"] == m]
            if len(mine):
                metrics = versus(mine)
                metrics.insert(0, "table", table)
                metrics.insert(0, "reading", name)
                found.append(metrics)
    return pd.concat(found, ignore_index=True)


def compare(found: pd.DataFrame, other: pd.DataFrame, called: str) -> pd.DataFrame:
    """Compare each reading with other tables.

    Parameters
    ----------
    found
        As returned by `tables`.
    other
        ``table``, ``policy`` and `hindsched.bench.coupled.paper_tables.METRICS`, each policy once per table.
    called
        The name of the other tables.

    Returns
    -------
    pandas.DataFrame
        One row per reading and table: ``spearman`` and ``kendall`` rank correlations of %diff over the policies other
        than IE, the largest difference of %diff in points and the policy it belongs to, the largest difference of
        #fails, and ``best``, the policies with the three least %diff.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"table": "I", "policy": ["IP", "Y-IE", "P-IE"], "fails": 0, "diff": [9.0, -3.0, 1.0]})
    >>> row = compare(table.assign(reading="mine"), table.assign(diff=[8.0, 2.0, 3.0]), "theirs").iloc[0]
    >>> float(row.spearman), float(row.largest), row.where_largest, row.best
    (1.0, 5.0, 'Y-IE', 'Y-IE P-IE IP')
    """
    import pandas as pd
    from scipy import stats

    rows = []
    for (reading, table), mine in found.groupby(["reading", "table"], sort=False):
        both = mine.merge(other[other["table"] == table], on="policy", suffixes=("", "_other"))
        both = both[(both["policy"] != "IE") & both["diff"].notna() & both["diff_other"].notna()]
        if len(both) < 2:
            continue
        distance = (both["diff"] - both["diff_other"]).abs()
        rows.append(
            {
                "reading": reading,
                "table": table,
                "against": called,
                "spearman": float(stats.spearmanr(both["diff"], both["diff_other"]).statistic),
                "kendall": float(stats.kendalltau(both["diff"], both["diff_other"]).statistic),
                "largest": float(distance.max()),
                "where_largest": both["policy"].iloc[int(distance.to_numpy().argmax())],
                "largest_fails": int((both["fails"] - both["fails_other"]).abs().max()),
                "best": " ".join(both.sort_values("diff", kind="stable")["policy"].head(3)),
            }
        )
    return pd.DataFrame(rows)


def _beside(found: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Return the tables with the figures to compare with: ``printed_fails`` and so on, missing where there is none."""
    return found.merge(other, how="left", on=["table", "policy"], suffixes=("", "_printed")).rename(
        columns={f"{name}_printed": f"printed_{name}" for name in METRICS}
    )


def closeness(found: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Compare every reading with the first one, and with the paper's printed figures."""
    import pandas as pd

    first = found["reading"].iloc[0]
    others = found[found["reading"] != first]
    parts = [compare(others, found[found["reading"] == first], first)] if len(others) else []
    return pd.concat([*parts, compare(found, printed, "the paper")], ignore_index=True)


def write_compact(runs: Mapping[str, pd.DataFrame], path: Path) -> None:
    """Write the runs as a compact table for `hindsched.bench.results.read.read_results`."""
    import lzma

    import pandas as pd

    frame = pd.concat([frame[list(_COMPACT)] for frame in runs.values()], ignore_index=True)
    for name in ("makespan", "limit", "optimum"):
        frame[name] = frame[name].astype("Int64")
    write_bytes(path, lzma.compress(frame.to_csv(index=False).encode()))


def draw_figure_2(runs: Mapping[str, pd.DataFrame], path: Path) -> None:
    """Draw %diff against wmin, with a row of panels for each reading and a panel for each m."""
    from hindsched.bench.report import canvas, ratio_plots

    figure, panels = canvas.new_grid(len(runs), len(TABLES))
    for row, (name, frame) in zip(panels, runs.items(), strict=True):
        for axes, (number, m) in zip(row, TABLES.items(), strict=True):
            mine = frame[frame["m"] == m]
            title = f"m = {m} (Table {number}), reading {name}"
            if len(mine):
                ratio_plots.draw_diff(axes, diff_by_wmin(mine, panels=()), _SHOWN, reference="IE", title=title)
            else:
                axes.set_axis_off()
    canvas.save(figure, path)


def reproduce(
    folder: Path,
    sources: Sequence[Paper],
    options: Options,
    *,
    readings: Sequence[str],
    figures: str | None = None,
    num_processes: int = 1,
    dask: str | None = None,
    as_json: bool = False,
) -> None:
    """Run the readings, compare them with each other and the printed tables, and write and print all tables.

    The tables have the printed figures in columns that begin with ``printed_``.

    Parameters
    ----------
    folder
        Folder of the rows and tables; rows in it are reused.
    sources, options
        The instances, and the options for all of them.
    readings
        Names in `READINGS`; ``all``: all of them.
    figures
        A file of figures to compare with; None: the paper's.
    num_processes, dask
        As for `hindsched.bench.campaign.engine.run_jobs`.
    as_json
        Whether to print JSON.
    """
    from hindsched.bench.coupled import paper_tables
    from hindsched.bench.output import Table
    from hindsched.bench.report.markdown import markdown_table

    other = paper_tables.printed_tables() if figures is None else paper_tables.read_tables(figures)
    names = list(dict.fromkeys(READINGS if "all" in readings else readings))
    chosen = [READINGS[name] for name in names]
    runs = run_readings(sources, chosen, options, folder, num_processes=num_processes, dask=dask)
    found = tables(runs)
    close = closeness(found, other)
    beside = _beside(found, other)
    write_compact(runs, folder / "runs.csv.xz")
    draw_figure_2(runs, folder / "figure2.svg")
    metrics = paper_tables.compare_metrics(found, other)
    for frame, name in ((beside, "tables"), (close, "closeness"), (metrics, "metrics")):
        write_text(folder / f"{name}.csv", frame.to_csv(index=False))
        write_text(folder / f"{name}.md", markdown_table(records(frame), list(frame.columns)))
    for (reading, number), frame in beside.groupby(["reading", "table"], sort=False):
        shown = [name for name in frame.columns if name not in ("table", "reading")]
        kept = list(frame.columns) if as_json else shown
        table = Table({name: name for name in kept}, as_json, title=f"Table {number}, reading {reading}")
        table.add_all(records(frame[kept]))
        table.show()
    if not as_json and len(close):
        table = Table({name: name for name in close.columns}, as_json, title="Comparison of the readings")
        table.add_all(records(close))
        table.show()
