"""The paper's experiment again: Tables I and II and Figure 2 under every reading of what the paper leaves open."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import online.coupled
from bench.campaign.jobs import Options
from bench.campaign.plan import Campaign, run_campaign
from bench.campaign.sources import Paper
from bench.coupled.versus import diff_by_wmin, versus
from bench.results.frames import OPTIONS, read_results
from instances.errors import InputError
from instances.textio import read_bytes, write_bytes

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "METRICS",
    "READINGS",
    "Reading",
    "closeness",
    "compare",
    "draw_figure_2",
    "printed_tables",
    "run_readings",
    "tables",
    "write_compact",
]

#: What the paper's tables print of each heuristic, against IE.
METRICS = ("fails", "diff", "wins", "wins30", "stdv")
#: The tasks per iteration that each of the paper's tables is about.
TABLES = {"I": 5, "II": 10}

#: Policies with a line in Figure 2: more would not be told apart.
_SHOWN = ("IP", "IY", "IAY", "P-IE", "E-IP", "E-IE", "E-IAY", "Y-IE", "Y-IAY")

_COMPACT = (
    *("m", "n_com", "wmin", "scenario", "trial", "instance_seed", "setting", "instance", "policy", *OPTIONS),
    *("makespan", "slot_limit", "optimum", "optimum_status"),
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read what the paper leaves open (docs/model.md section 2 and 5); all else is as in ``printed``.

    Parameters
    ----------
    name
        What tables call it.
    tells
        What it is, in a few words.
    options
        Fields of `bench.campaign.jobs.Options`.
    instance
        Fields of `bench.campaign.sources.Paper`.
    """

    name: str
    tells: str
    options: Mapping[str, Any]
    instance: Mapping[str, Any]


READINGS = {
    reading.name: reading
    for reading in (
        Reading("printed", "the formula for E(W) as the paper prints it, and the model's other readings", {}, {}),
        Reading("conditional", "E(W) as the expectation given success", {"estimator": "conditional"}, {}),
        Reading("longest", "the master serves the largest remaining need first", {"service": "longest"}, {}),
        Reading("begun", "the master ends what it has begun before it begins another", {"service": "begun"}, {}),
        Reading("highest", "ties go to the highest worker index", {"ties": "highest"}, {}),
        Reading("stationary", "workers begin in their long-run states, not all UP", {}, {"start": "stationary"}),
        Reading("mu1", "a worker may hold one task at most", {}, {"mu": 1}),
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
    """Run the paper's 17 heuristics under each reading, resuming what ``folder`` holds.

    Returns
    -------
    dict of str to pandas.DataFrame
        For each reading its runs, as in `bench.results.frames.Results.runs`.
    """
    for changes in _distinct(reading.instance for reading in readings):
        mine = [reading for reading in readings if reading.instance == changes]
        campaign = Campaign(
            [replace(source, **changes) for source in sources],
            online.coupled.POLICIES,
            [replace(options, **reading.options) for reading in mine],
        )
        run_campaign(campaign, folder, num_processes=num_processes, dask=dask)
    runs = read_results(folder).runs
    return {reading.name: _of_reading(runs, sources, reading, options) for reading in readings}


def _distinct(changes: Any) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for each in changes:
        if each not in found:
            found.append(each)
    return found


def _of_reading(runs: pd.DataFrame, sources: Sequence[Paper], reading: Reading, options: Options) -> pd.DataFrame:
    mine = replace(options, **reading.options)
    settings = {replace(source, **reading.instance).setting for source in sources}
    names = {replace(source, **reading.instance).name for source in sources}
    of = runs["setting"].isin(settings) & runs["instance"].isin(names)
    for option in OPTIONS:
        of &= runs[option] == getattr(mine, option)
    return runs[of]


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
        `bench.coupled.versus.versus`.
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
    """Say how close each reading comes to other tables.

    Parameters
    ----------
    found
        As returned by `tables`.
    other
        ``table``, ``policy`` and `METRICS`, each policy once a table.
    called
        What the other tables are called.

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


def printed_tables(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read printed figures to compare with: CSV with the columns ``table``, ``policy`` and `METRICS`.

    Raises
    ------
    InputError
        In one line, naming the file, the line and what was expected.
    """
    import pandas as pd

    read_bytes(path)
    try:
        frame = pd.read_csv(path, dtype={"table": str, "policy": str})
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as a table: {str(error).splitlines()[0]}", file=path) from None
    expected = ("table", "policy", *METRICS)
    if tuple(frame.columns) != expected:
        raise InputError(
            f"columns {', '.join(frame.columns)}, expected {', '.join(expected)}", place="line 1", file=path
        )
    for number, (table, policy) in enumerate(zip(frame["table"], frame["policy"], strict=True), start=2):
        if table not in TABLES:
            raise InputError(f"table {table!r}, expected one of {', '.join(TABLES)}", place=f"line {number}", file=path)
        if policy not in online.coupled.POLICIES:
            raise InputError(f"{policy!r}, expected a heuristic of the paper", place=f"line {number}", file=path)
    for metric in METRICS:
        numbers = pd.to_numeric(frame[metric], errors="coerce")
        if numbers.isna().any():
            line = int(numbers.isna().to_numpy().argmax()) + 2
            raise InputError(
                f"{frame[metric].iloc[line - 2]!r}, expected a number", place=f"line {line}, {metric}", file=path
            )
        frame[metric] = numbers
    if frame.duplicated(["table", "policy"]).any():
        line = int(frame.duplicated(["table", "policy"]).to_numpy().argmax()) + 2
        raise InputError("stands twice, expected each heuristic once a table", place=f"line {line}", file=path)
    return frame


def closeness(found: pd.DataFrame, printed: pd.DataFrame | None) -> pd.DataFrame:
    """Compare every reading with the first one, and with the paper's printed figures where they are at hand."""
    import pandas as pd

    first = found["reading"].iloc[0]
    others = found[found["reading"] != first]
    parts = [compare(others, found[found["reading"] == first], first)] if len(others) else []
    if printed is not None:
        parts.append(compare(found, printed, "the paper"))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def write_compact(runs: Mapping[str, pd.DataFrame], path: Path) -> None:
    """Write the runs as a compressed table, a row per run, that `bench.results.frames.read_results` reads."""
    import lzma

    import pandas as pd

    frame = pd.concat([frame[list(_COMPACT)] for frame in runs.values()], ignore_index=True)
    for name in ("makespan", "slot_limit", "optimum"):
        frame[name] = frame[name].astype("Int64")
    write_bytes(path, lzma.compress(frame.to_csv(index=False).encode()))


def draw_figure_2(runs: Mapping[str, pd.DataFrame], path: Path) -> None:
    """Draw %diff against wmin: a row of panels for each reading, a panel for each m."""
    from bench.report import pictures, plots

    figure, panels = plots.new_grid(len(runs), len(TABLES))
    for row, (name, frame) in zip(panels, runs.items(), strict=True):
        for axes, (number, m) in zip(row, TABLES.items(), strict=True):
            mine = frame[frame["m"] == m]
            title = f"m = {m} (Table {number}), reading {name}"
            if len(mine):
                pictures.draw_diff(axes, diff_by_wmin(mine, panels=()), _SHOWN, reference="IE", title=title)
            else:
                axes.set_axis_off()
    plots.save(figure, path)
