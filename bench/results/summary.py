"""The ratio table of a campaign, and the ratios of its single runs, as frames and as files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hindsched.bench.family import family_named
from hindsched.bench.results.columns import GROUP
from hindsched.bench.results.policy_order import policies_of
from hindsched.bench.results.ratio_statistics import COLUMNS, FEWEST, distribution
from hindsched.bench.results.ratios import contradictions, with_ratios
from hindsched.bench.results.records import records_or_none
from hindsched.bench.shared_types import Row
from hindsched.instances.errors import SelfCheckError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "NOTE",
    "NOTE_INTERVAL",
    "NOTE_UNFINISHED",
    "NOTE_UNPROVEN",
    "csv_text",
    "plain",
    "ratios_of_runs",
    "summary",
]

#: Sentences on ratios with unfinished runs, on optima that are not proven, and on intervals.
NOTE_UNFINISHED = (
    "Quartiles, medians and shares are over all runs on instances that some schedule finishes. An unfinished run "
    "counts as more than its limit over the optimum, a failed one as infinitely far. Means are over finished runs."
)
NOTE_UNPROVEN = (
    "Where the optimum is not proven, a statistic is given by both ends or as >=, and shares count proven cases."
)
NOTE_INTERVAL = "The 95% interval is a bootstrap of the mean over {clusters}; fewer than " + str(FEWEST) + " give none."
#: The note below every picture of ratios.
NOTE = f"{NOTE_UNFINISHED} {NOTE_UNPROVEN} {NOTE_INTERVAL}"


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the ratio table: the distribution for each family, population and combination of options.

    Parameters
    ----------
    runs
        As in `hindsched.bench.results.columns.Results`.

    Returns
    -------
    pandas.DataFrame
        ``family``, ``population``, ``options``, and the columns of `distribution`. Groups without any ratio have
        no row.

    Raises
    ------
    SelfCheckError
        If a run is better than a proven bound, or the checker rejected a schedule.
    """
    import pandas as pd

    wrong = contradictions(runs)
    if wrong:
        raise SelfCheckError(wrong[0])
    parts = []
    for point, group in with_ratios(runs).groupby(list(GROUP), dropna=False, sort=True):
        part = distribution(group)
        for place, (name, value) in enumerate(zip(GROUP, point, strict=True)):
            part.insert(place, name, str(value))
        parts.append(part)
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*GROUP, *COLUMNS])


def ratios_of_runs(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return the ratio of every run, one row each.

    Parameters
    ----------
    ratios
        As returned by `with_ratios`.

    Returns
    -------
    pandas.DataFrame
        ``family``, ``population``, ``options``, ``instance``, ``policy``; ``value`` (missing: unfinished), ``optimum``
        (missing: not proven), and the ratio by its ends ``low`` and ``high``, in the order of instances and policies;
        then the further columns of the families (`hindsched.bench.family.Family.columns`).
    """
    import pandas as pd

    names = [*GROUP, "instance", "policy", "value", "optimum", "low", "high"]
    parts = []
    for _, group in ratios.groupby(list(GROUP), dropna=False, sort=False):
        order = {policy: place for place, policy in enumerate(policies_of(group))}
        places = group["policy"].map(order).to_numpy()
        parts.append(group.iloc[np.lexsort((places, group["instance"].factorize()[0]))])
    if not parts:
        return pd.DataFrame(columns=names)
    found = pd.concat(parts, ignore_index=True)
    more = dict.fromkeys(name for family in found["family"].unique() for name in family_named(str(family)).columns)
    optimum = found["optimum"].where(found["optimum_status"] == "optimal")
    return found.assign(optimum=optimum)[[*names, *(name for name in more if name in found)]]


def plain(table: pd.DataFrame) -> list[Row]:
    """Return the rows of a table for JSON, with None for a missing or infinite number."""
    return records_or_none(_finite(table))


def csv_text(table: pd.DataFrame) -> str:
    """Return a table as CSV, with an empty cell for a missing or infinite number, and without formulas."""
    return str(_finite(table).map(_inert).to_csv(index=False, lineterminator="\n"))


def _inert(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula: an apostrophe goes before its first letter.

    Examples
    --------
    >>> [_inert(cell) for cell in ("=1+1", "@SUM(A1)", "-1.5", "IE", -2)]
    ["'=1+1", "'@SUM(A1)", '-1.5', 'IE', -2]
    """
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def _finite(table: pd.DataFrame) -> pd.DataFrame:
    return table.replace([np.inf, -np.inf], np.nan)
