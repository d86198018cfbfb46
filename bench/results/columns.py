"""The columns of results: types, derived columns, and the choice among several rows of a run."""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, MutableMapping, MutableSequence
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING, Any

from hindsched.bench.family import AnyFamily, family_named
from hindsched.bench.shared_types import Row

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "FIRST_FAMILY",
    "GROUP",
    "NUMBERS",
    "OF_ANSWER",
    "OF_OPTIMUM",
    "OF_RUN",
    "OF_SOLVE",
    "PROVENANCE",
    "STATUSES",
    "TEXTS",
    "WHOLE",
    "Columns",
    "Results",
    "newest_rows",
    "pooled",
    "sorted_rows",
    "typed_frame",
]

#: Only runs that agree in these columns are compared with each other.
GROUP = ("family", "population", "options")
#: The columns that identify the code and the machine of a row.
PROVENANCE = ("version", "code", "python", "numpy", "ortools", "machine")

OF_ANSWER = ("optimum", "optimum_bound", "optimum_status")
OF_OPTIMUM = (*OF_ANSWER, "solver")
OF_SOLVE = ("optimum_check", "optimum_runtime_s", "time_limit_s")
NUMBERS = ("value", "limit", "optimum", "optimum_bound", "runtime_s", "optimum_runtime_s", "time_limit_s")
#: Integer columns, in addition to the axes of the families.
WHOLE = ("length",)
TEXTS = ("family", "sense", "setting", "instance", "fingerprint", "policy", "options", "optimum_status", "check")
_MORE = ("failure", "engine", "solver", "start", "seed", "optimum_check", "has_own_optimum", *PROVENANCE)
STATUSES = ("optimal", "feasible", "bounds", "infeasible", "unknown")
#: The columns that identify a run.
OF_RUN = ["fingerprint", "policy", "options"]
#: The outcome of a run and of its optimum, and the circumstances in which two rows of one run can differ.
_OUTCOME = ("value", "limit", "check", *OF_ANSWER)
_CIRCUMSTANCES = ("seed", "solver", "time_limit_s", "engine", *PROVENANCE)
#: The family of old rows, which do not name one.
FIRST_FAMILY = "coupled"


@dataclass(frozen=True)
class Results:
    """The results of a campaign.

    Parameters
    ----------
    runs
        One row per run, in an order that does not depend on the order of computation:

        - ``family``, ``setting``, ``instance``, ``fingerprint`` (setting and instance if unknown; with an objective
          other than the default, its name follows), and the axes of the family where the instance is a point of its
          experiment;
        - ``policy``, each option of the run, and ``options``: a text of those that differ from their defaults;
        - ``value`` (missing: unfinished), ``limit`` (an unfinished run is worse than this), ``sense``;
        - ``optimum``, ``optimum_bound``, ``optimum_status`` (missing: not solved);
        - ``failure`` (what a failed run did), ``check``, times in seconds, provenance, and ``length``: the slots of the
          instance, if its point has them;
        - ``population``: the setting without the parameters that ratios are tabulated by, with the length if there are
          several; runs of one population are pooled;
        - ``cluster``: the unit of the bootstrap, a scenario or a block of windows, or else an instance; ``parent``:
          what clusters share, such as a zone ("": nothing).
    optima
        One row per solved instance: ``fingerprint``, ``optimum_status`` and further columns.
    left_out
        Number of rows that a newer row of the same run replaces, or whose kind is unknown.
    torn
        Whether an interruption cut off the last row, which is left out.
    mixed
        Sentences about left-out rows that contradict the newer row: several campaigns share a folder, or the code
        changed.
    """

    runs: pd.DataFrame
    optima: pd.DataFrame
    left_out: int = 0
    torn: bool = False
    mixed: tuple[str, ...] = ()


class Columns:
    """Rows by column, to become a data frame: known numbers take eight bytes, and equal texts are stored once."""

    def __init__(self) -> None:
        self._columns: dict[str, MutableSequence[Any]] = {}
        self._places = array("q")
        self._texts: dict[str, str] = {}

    def append(self, place: int, row: Row) -> None:
        """Add a row that stands at a place among all rows."""
        columns = self._columns
        for name, value in row.items():
            if name not in columns:
                unknown = [nan] * len(self._places)
                columns[name] = array("d", unknown) if name in NUMBERS else unknown
            if type(value) is str:
                value = self._texts.setdefault(value, value)  # noqa: PLW2901
            columns[name].append(nan if value is None else value)
        self._places.append(place)
        if len(row) < len(columns):
            for column in columns.values():
                if len(column) < len(self._places):
                    column.append(nan)

    def frame(self, without: Collection[int] = ()) -> pd.DataFrame:
        """Return the typed frame of the rows, but for those at some places."""
        import numpy as np

        if without:
            is_kept = ~np.isin(np.array(self._places, dtype=np.int64), list(without))
            kept = np.flatnonzero(is_kept).tolist()
            return typed_frame({name: [column[i] for i in kept] for name, column in self._columns.items()})
        return typed_frame(self._columns)


def typed_frame(raw: MutableMapping[str, Any] | pd.DataFrame) -> pd.DataFrame:
    """Return rows with typed columns, and with the columns ``population``, ``cluster``, ``parent`` and ``options``.

    Columns in a mapping are removed from it, since a million rows should not be held twice.
    """
    import pandas as pd

    names = list(dict.fromkeys(pd.Series(raw["family"], dtype=object).dropna())) if "family" in raw else []
    families = [family_named(str(name)) for name in names] or [family_named(FIRST_FAMILY)]
    axes = list(dict.fromkeys(axis for family in families for axis in family.axes))
    options = list(dict.fromkeys(name for family in families for name in family.run_options))
    more = [name for family in families for name in family.columns]
    texts = {*TEXTS, *options, "failure", "engine", "solver", "start", "optimum_check", *PROVENANCE}
    columns = dict.fromkeys([*TEXTS, *options, *axes, *WHOLE, *NUMBERS, *more, *_MORE])
    if isinstance(raw, MutableMapping):
        series = {}
        for name in columns:
            if name in raw:
                series[name] = pd.Series(raw.pop(name), dtype=object if name in texts else None)
        raw = pd.DataFrame(series, copy=False)
    frame = raw.reindex(columns=list(columns))
    for name in columns:
        if name in texts:
            frame[name] = frame[name].astype(object)
    for name in (*axes, *WHOLE):
        frame[name] = pd.to_numeric(frame[name]).astype("Int64")
    for name in NUMBERS:
        frame[name] = pd.to_numeric(frame[name]).astype("float64")
    for name in ("setting", "instance", "policy"):
        shown = frame[name].dropna().unique()
        frame[name] = frame[name].map({text: _printed(str(text)) for text in shown})
    frame["setting"] = frame["setting"].astype(object).fillna("all runs")
    frame["population"], frame["options"], frame["cluster"] = frame["setting"], "", frame["fingerprint"]
    frame["parent"] = ""
    frame["has_own_optimum"] = frame["has_own_optimum"].astype(object).fillna(False).astype(bool)
    for family in families:
        _derive_columns(frame, family)
    return frame


def pooled(results: Results) -> Results:
    """Return results in which all instances of a family that are no points of its experiment are one population."""
    runs = results.runs
    is_pointed = runs["population"].isna()
    for name in runs["family"].unique():
        for panel in family_named(name).panels[:1]:
            is_pointed |= (runs["family"] == name) & runs[panel].notna()
    population = runs["population"].where(is_pointed, "all instances")
    return replace(results, runs=sorted_rows(runs.assign(population=population)))


def _derive_columns(frame: pd.DataFrame, family: AnyFamily) -> None:
    """Fill in the columns that depend on the family: sense, options, population and cluster of its rows."""
    is_own = frame["family"] == family.name
    frame.loc[is_own, "sense"] = str(family.sense)
    texts = frame.loc[is_own, "options"]
    for name in family.run_options:
        default = family.default(name)
        frame.loc[is_own, name] = frame.loc[is_own, name].astype(object).where(frame.loc[is_own, name].notna(), default)
        text = f"{name} " + frame.loc[is_own, name].astype(str)
        others = frame.loc[is_own, name] != default
        texts = texts.where(~others, texts.where(texts == "", texts + ", ") + text)
    frame.loc[is_own, "options"] = texts
    if "objective" in family.run_options:
        senses = {name: str(family.with_objective(name).sense) for name in family.run_options["objective"]}
        frame.loc[is_own, "sense"] = frame.loc[is_own, "objective"].map(senses)
        others = is_own & (frame["objective"] != family.default("objective"))  # another objective is another problem
        problems = frame.loc[others, "fingerprint"] + " " + frame.loc[others, "objective"]
        frame.loc[others, "fingerprint"] = frame.loc[others, "cluster"] = problems
    if family.panels:
        pointed = is_own & frame[family.panels[0]].notna()
        pattern = re.compile(rf" (?:{'|'.join(family.panels)})=\S+")
        settings = {text: pattern.sub("", text) for text in frame.loc[pointed, "setting"].unique()}
        frame.loc[pointed, "population"] = frame.loc[pointed, "setting"].map(settings)
        lengths = frame.loc[pointed].groupby("population")["length"].transform("nunique")
        several = lengths.index[(lengths > 1) & frame.loc[pointed, "length"].notna()]
        frame.loc[several, "population"] += " slots=" + frame.loc[several, "length"].astype(str)
    for name, found in family.clusters(frame if is_own.all() else frame[is_own]).items():
        frame.loc[found.index, name] = found


def _printed(text: str) -> str:
    """Return a name with unprintable characters escaped, for pages and pictures."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def newest_rows(
    frame: pd.DataFrame, names: list[str], one: str, many: str
) -> tuple[pd.DataFrame, int, tuple[str, ...]]:
    """Return the last row of each run or optimum, the number of others, and a sentence if the others contradict it."""
    older = frame.duplicated(names, keep="last")
    other = older & ~frame.duplicated([*names, *_OUTCOME], keep="last")
    if not other.any():
        return frame[~older], int(older.sum()), ()
    again = frame.loc[other, names].drop_duplicates()
    counts = frame.merge(again, on=names).groupby(names)[list(_CIRCUMSTANCES)].nunique(dropna=False)
    differing = [name for name in _CIRCUMSTANCES if (counts[name] > 1).any()] or ["no other column"]
    sentence = (
        f"{len(again):,} {one if len(again) == 1 else many} came out differently in rows that differ in "
        f"{', '.join(differing)}: the last row of each counts. A folder for each campaign keeps them apart."
    )
    return frame[~older], int(older.sum()), (sentence,)


def sorted_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return runs or optima in the order of groups, parameters, instances and policies."""
    axes = [axis for name in frame["family"].dropna().unique() for axis in family_named(str(name)).axes]
    by = [*GROUP, *dict.fromkeys(axes), "instance", "fingerprint", "policy"]
    return frame.sort_values(by, kind="stable", ignore_index=True)
