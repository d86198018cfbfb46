"""Results as one frame: from the rows of a campaign's journal, or from a compact table of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hindsched.bench.family import AnyFamily, family_named

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
    "Results",
    "newest_rows",
    "sorted_rows",
    "typed_frame",
]

#: Runs that agree in these are compared with each other, and with no others.
GROUP = ("family", "population", "options")
#: Of what code and machine a row is.
PROVENANCE = ("version", "code", "python", "numpy", "ortools", "machine")

OF_ANSWER = ("optimum", "optimum_bound", "optimum_status")
OF_OPTIMUM = (*OF_ANSWER, "solver")
OF_SOLVE = ("optimum_check", "optimum_runtime_s", "time_limit_s")
NUMBERS = ("value", "limit", "optimum", "optimum_bound", "runtime_s", "optimum_runtime_s", "time_limit_s")
#: Whole numbers beside the axes.
WHOLE = ("length",)
TEXTS = ("family", "sense", "setting", "instance", "fingerprint", "policy", "options", "optimum_status", "check")
_MORE = ("engine", "solver", "start", "seed", "optimum_check", "has_own_optimum", *PROVENANCE)
STATUSES = ("optimal", "feasible", "bounds", "infeasible", "unknown")
#: What names a run.
OF_RUN = ["fingerprint", "policy", "options"]
#: What rows say of a run or an optimum, and what else can tell two rows of the same one apart.
_OUTCOME = ("value", "limit", "check", *OF_ANSWER)
_CIRCUMSTANCES = ("seed", "solver", "time_limit_s", "engine", *PROVENANCE)
#: The family of rows that name none: older than the rule that they do.
FIRST_FAMILY = "coupled"


@dataclass(frozen=True)
class Results:
    """What a campaign left behind.

    Parameters
    ----------
    runs
        One row per run, sorted, so that the order in which rows were made does not show: ``family``, ``setting``,
        ``instance``, ``fingerprint`` (setting and instance where none is told); the point of the experiment where it is
        of one (the family's axes); ``policy``, the options of the run by name and together as a text (``options``:
        those that differ from their defaults), ``value`` (missing: unfinished), ``limit`` (a run without a value is
        worse than this), ``sense``; ``optimum``, ``optimum_bound``, ``optimum_status`` (missing: nobody has solved it);
        ``check``, times in seconds and the provenance. ``length`` is that of the instance in slots, where its point
        tells it. ``population`` is the setting less the parameters that ratios are told apart by, with the length
        where there are several: runs of one population are put together. ``cluster`` is what a bootstrap draws: the
        scenario, where there is one, else the instance.
    optima
        One row per instance that was solved: ``fingerprint``, ``optimum_status`` and what else is known of it.
    left_out
        Rows that a newer one of the same instance, policy and options replaces, or whose kind is not known.
    torn
        Whether the last row was cut off by an interruption; it is left out.
    mixed
        Sentences about rows that are left out although they say something else than the newer one: where several
        campaigns share a folder, or code was changed.
    """

    runs: pd.DataFrame
    optima: pd.DataFrame
    left_out: int = 0
    torn: bool = False
    mixed: tuple[str, ...] = ()


def typed_frame(rows: Sequence[dict[str, Any]] | pd.DataFrame) -> pd.DataFrame:
    """Return rows with every column of its type, the population, the cluster and the options as a text."""
    import pandas as pd

    raw = pd.DataFrame(rows)
    names = raw["family"].dropna().unique().tolist() if "family" in raw else []
    families = [family_named(str(name)) for name in names] or [family_named(FIRST_FAMILY)]
    axes = list(dict.fromkeys(axis for family in families for axis in family.axes))
    options = list(dict.fromkeys(name for family in families for name in family.run_options))
    more = [name for family in families for name in family.columns]
    columns = dict.fromkeys([*TEXTS, *options, *axes, *WHOLE, *NUMBERS, *more, *_MORE])
    frame = raw.reindex(columns=list(columns))
    for name in (*TEXTS, *options, "engine", "solver", "start", "optimum_check", *PROVENANCE):
        frame[name] = frame[name].astype(object)
    for name in (*axes, *WHOLE):
        frame[name] = pd.to_numeric(frame[name]).astype("Int64")
    for name in NUMBERS:
        frame[name] = pd.to_numeric(frame[name]).astype("float64")
    for name in ("setting", "instance", "policy"):
        texts = frame[name].dropna().unique()
        frame[name] = frame[name].map({text: _printed(str(text)) for text in texts})
    frame["setting"] = frame["setting"].astype(object).fillna("all runs")
    frame["population"], frame["options"], frame["cluster"] = frame["setting"], "", frame["fingerprint"]
    frame["has_own_optimum"] = frame["has_own_optimum"].astype(object).fillna(False).astype(bool)
    for family in families:
        _tell_apart(frame, family)
    return frame


def _tell_apart(frame: pd.DataFrame, family: AnyFamily) -> None:
    """Fill in what depends on the family: sense, options, population and cluster of its rows."""
    mine = frame["family"] == family.name
    frame.loc[mine, "sense"] = str(family.sense)
    texts = frame.loc[mine, "options"]
    for name in family.run_options:
        usual = family.default(name)
        frame.loc[mine, name] = frame.loc[mine, name].astype(object).where(frame.loc[mine, name].notna(), usual)
        told = f"{name} " + frame.loc[mine, name].astype(str)
        others = frame.loc[mine, name] != usual
        texts = texts.where(~others, texts.where(texts == "", texts + ", ") + told)
    frame.loc[mine, "options"] = texts
    if family.panels:
        pointed = mine & frame[family.panels[0]].notna()
        pattern = re.compile(rf" (?:{'|'.join(family.panels)})=\S+")
        settings = {text: pattern.sub("", text) for text in frame.loc[pointed, "setting"].unique()}
        frame.loc[pointed, "population"] = frame.loc[pointed, "setting"].map(settings)
        lengths = frame.loc[pointed].groupby("population")["length"].transform("nunique")
        several = lengths.index[(lengths > 1) & frame.loc[pointed, "length"].notna()]
        frame.loc[several, "population"] += " slots=" + frame.loc[several, "length"].astype(str)
    if family.scenario:
        drawn = mine & frame["scenario"].notna()
        place = frame.loc[drawn, "setting"].astype(str)
        for name in family.scenario:
            place = place + f" {name}=" + frame.loc[drawn, name].astype("string").fillna("none").astype(object)
        frame.loc[drawn, "cluster"] = place


def _printed(text: str) -> str:
    """Return a name as a page and a picture can hold it, whatever letters somebody put in it."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def newest_rows(
    frame: pd.DataFrame, names: list[str], one: str, many: str
) -> tuple[pd.DataFrame, int, tuple[str, ...]]:
    """Return the last row of each name, how many others there were, and a sentence if these say something else."""
    older = frame.duplicated(names, keep="last")
    other = older & ~frame.duplicated([*names, *_OUTCOME], keep="last")
    if not other.any():
        return frame[~older], int(older.sum()), ()
    again = frame.loc[other, names].drop_duplicates()
    counts = frame.merge(again, on=names).groupby(names)[list(_CIRCUMSTANCES)].nunique(dropna=False)
    differing = [name for name in _CIRCUMSTANCES if (counts[name] > 1).any()] or ["nothing else that they tell"]
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
