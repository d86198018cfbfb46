"""Results as one frame: from the rows of a campaign's journal, or from a compact table of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from hindsched.bench.campaign.journal import Journal, in_row, read_rows
from hindsched.bench.family import Family, family_named
from hindsched.instances.errors import InputError
from hindsched.instances.families import BUILT_IN
from hindsched.instances.textio import convert, excerpt, read_bytes

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "GROUP",
    "PROVENANCE",
    "Results",
    "expect_run",
    "in_order",
    "read_results",
    "records",
    "results_of",
    "told_records",
]

#: Runs that agree in these are compared with each other, and with no others.
GROUP = ("family", "population", "options")
#: Of what code and machine a row is.
PROVENANCE = ("version", "code", "python", "numpy", "ortools", "machine")

_OF_ANSWER = ("optimum", "optimum_bound", "optimum_status")
_OF_OPTIMUM = (*_OF_ANSWER, "solver")
_OF_SOLVE = ("optimum_check", "optimum_runtime_s", "time_limit_s")
_NUMBERS = ("value", "limit", "optimum", "optimum_bound", "runtime_s", "optimum_runtime_s", "time_limit_s")
#: Whole numbers beside the axes.
_WHOLE = ("length",)
_TEXTS = ("family", "sense", "setting", "instance", "fingerprint", "policy", "options", "optimum_status", "check")
_MORE = ("engine", "solver", "start", "seed", "optimum_check", "has_own_optimum", *PROVENANCE)
_STATUSES = ("optimal", "feasible", "bounds", "infeasible", "unknown")
#: What names a run.
_OF_RUN = ["fingerprint", "policy", "options"]
#: What rows say of a run or an optimum, and what else can tell two rows of the same one apart.
_OUTCOME = ("value", "limit", "check", *_OF_ANSWER)
_CIRCUMSTANCES = ("seed", "solver", "time_limit_s", "engine", *PROVENANCE)
#: The family of rows that name none: older than the rule that they do.
_FIRST_FAMILY = "coupled"


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


_Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class _Row(msgspec.Struct, kw_only=True):
    kind: str
    instance: str
    family: str = _FIRST_FAMILY
    setting: str | None = None
    fingerprint: str | None = None
    point: dict[str, Any] | None = None
    check: str | None = None
    runtime_s: float | None = None
    version: str | None = None
    code: str | None = None
    python: str | None = None
    numpy: str | None = None
    ortools: str | None = None
    machine: str | None = None


class _Run(_Row, kw_only=True):
    policy: str
    seed: int | None = None
    limit: float | None = None
    slot_limit: int | None = None
    engine: str | None = None


class _Answer(msgspec.Struct, kw_only=True):
    status: Literal["optimal", "feasible", "bounds", "infeasible", "unknown"]
    value: float | None
    bound: float | None = None
    lower: float | None = None
    upper: float | None = None
    solver: str | None = None
    time_limit_s: float | None = None
    check: str | None = None
    runtime_s: float | None = None


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as plain values, by column."""
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False, name=None)]


def told_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as plain values, by column, None where nothing is."""
    return records(frame.astype(object).where(frame.notna(), None))


def in_order(policies: Iterable[str], family: str = _FIRST_FAMILY) -> list[str]:
    """Return policies in their family's order, the published before ours, those of one's own behind them by name.

    Examples
    --------
    >>> in_order(["mine", "hot", "RANDOM", "Y-IE", "IE"])
    ['IE', 'Y-IE', 'RANDOM', 'hot', 'mine']
    """
    mine = family_named(family)
    places = {policy: place for place, policy in enumerate((*mine.policies(), *mine.our_policies()))}
    return sorted(policies, key=lambda policy: (places.get(policy, len(places)), policy))


def read_results(path: str | os.PathLike[str]) -> Results:
    """Read a folder with a journal, or a compact table (.csv, .csv.gz, .csv.xz, .parquet).

    A compact table has one row per run, with at least ``policy`` and the family's value (``makespan``, ..., or
    ``value``; empty: unfinished) and either ``instance`` or the point of the experiment (``m``, ``n_com``, ``wmin``,
    ``scenario``, ``trial``); further columns of `Results.runs` where they are known. So `Results.runs` itself,
    written as a file, is one.

    Parameters
    ----------
    path
        The folder or the file. A campaign may still be writing: only whole rows count.

    Raises
    ------
    InputError
        Where there is no run, or a row is broken: its line is named.
    """
    found = _from_journal(Path(path)) if Path(path).is_dir() else _from_table(Path(path))
    if len(found.runs) == 0:
        raise InputError("no runs, expected rows of policies on instances", file=path)
    return found


def _from_journal(folder: Path) -> Results:
    rows, torn = read_rows(folder)
    try:
        return results_of(rows, torn=torn)
    except InputError as error:
        raise error.in_file(folder / Journal.NAME) from None


def results_of(rows: Iterable[tuple[str, Mapping[str, Any]]], *, torn: bool = False) -> Results:
    """Return the results that rows of a journal make.

    Parameters
    ----------
    rows
        Each with its place, for messages; the last of the same instance, policy and options counts.
    torn
        Whether a row after these was cut off.

    Raises
    ------
    InputError
        For a row that lacks what it must have; its place is named.
    """
    runs: list[dict[str, Any]] = []
    optima: list[dict[str, Any]] = []
    others = 0
    for where, row in rows:
        kind = row.get("kind")
        with in_row(where):
            if kind == "run":
                runs.append(_run(row))
            elif kind in ("optimum", "optima"):
                optima += _optimum(row)
            else:
                others += 1
    solved, older_optima, other_answers = _newest(_frame(optima), ["fingerprint"], "optimum", "optima")
    played, older_runs, other_runs = _newest(_frame(runs), _OF_RUN, "run", "runs")
    return Results(
        _sorted(_joined(played, solved)),
        _sorted(solved),
        others + older_optima + older_runs,
        torn=torn,
        mixed=(*other_runs, *other_answers),
    )


def _joined(played: pd.DataFrame, solved: pd.DataFrame) -> pd.DataFrame:
    """Give each run the optimum of its instance, unless it has one of its own."""
    columns = [*_OF_OPTIMUM, *_OF_SOLVE]
    own = played["has_own_optimum"]
    others = played[~own].drop(columns=columns).merge(solved[["fingerprint", *columns]], on="fingerprint", how="left")
    if not own.any():
        return others
    import pandas as pd

    if own.all():
        return played
    return pd.concat([played[own], others], ignore_index=True)


def expect_run(row: Mapping[str, Any]) -> Family:
    """Return the family of a run's row.

    Raises
    ------
    InputError
        Unless the row has what every run's row has; the key is named.
    """
    return _known_run(row)[0]


def _known_run(row: Mapping[str, Any]) -> tuple[Family, _Run]:
    known = convert(dict(row), _Run)
    family = family_named(known.family)
    if family.value not in row:
        raise InputError(f"missing key {family.value}")
    convert(dict(row), _shape_of_run(family))
    return family, known


def _run(row: Mapping[str, Any]) -> dict[str, Any]:
    family, known = _known_run(row)
    point = known.point or {}
    limit = next((each for each in (known.limit, known.slot_limit, point.get("slots")) if each is not None), None)
    found = _common(known, family) | {
        "policy": known.policy,
        "seed": known.seed,
        "engine": known.engine,
        "check": known.check,
        "value": row[family.value],
        "limit": limit,
        "runtime_s": known.runtime_s,
        **{name: row.get(name) for name in (*family.run_options, *family.columns)},
    }
    if row.get("optimum") is not None:
        found |= _answered(convert(row["optimum"], _Answer, "optimum"), family) | {"has_own_optimum": True}
    return found


def _optimum(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the optimum that bounds every scheduler; nothing for a row of a restricted one."""
    setting = row.get("stand_by", True)
    if not setting:
        return []
    known = convert(dict(row), _Row)
    family = family_named(known.family)
    answer = convert(setting, _Answer, "stand_by") if row["kind"] == "optima" else convert(dict(row), _Answer)
    return [_common(known, family) | _answered(answer, family)]


def _answered(answer: _Answer, family: Family) -> dict[str, Any]:
    bound = answer.lower if family.sense == "min" else answer.upper
    return {
        "optimum": answer.value,
        "optimum_bound": answer.bound if bound is None else bound,
        "optimum_status": answer.status,
        "optimum_check": answer.check,
        "solver": answer.solver,
        "optimum_runtime_s": answer.runtime_s,
        "time_limit_s": answer.time_limit_s,
    }


def _common(row: _Row, family: Family) -> dict[str, Any]:
    point = row.point or {}
    convert(point, _shape_of_point(family), "point")
    return {
        "family": family.name,
        "setting": row.setting,
        "instance": row.instance,
        "fingerprint": row.fingerprint or f"{row.setting}: {row.instance}",
        **{name: point.get(key) for name, key in _axis_keys(family).items()},
        "length": point.get("slots"),
        "start": point.get("start"),
        **{name: getattr(row, name) for name in PROVENANCE},
    }


def _axis_keys(family: Family) -> dict[str, str]:
    """Return the key of a point that holds each of a family's axes."""
    return {name: family.axis_keys.get(name, name) for name in family.axes}


@cache
def _shape_of_point(family: Family) -> type[msgspec.Struct]:
    return _shape({**dict.fromkeys((*_axis_keys(family).values(), "slots"), _Int64 | None), "start": str | None})


@cache
def _shape_of_run(family: Family) -> type[msgspec.Struct]:
    return _shape(
        {
            **dict.fromkeys(family.columns, float | int | None),
            **dict.fromkeys(family.run_options, str | None),
            family.value: Annotated[float, msgspec.Meta(ge=family.least)] | None,
        }
    )


def _shape(kinds: Mapping[str, Any]) -> type[msgspec.Struct]:
    """Return a type whose objects may have these keys, whatever letters a key has, and any others."""
    names = {f"_{i}": name for i, name in enumerate(kinds)}
    return msgspec.defstruct("Shape", [(field, kinds[name], None) for field, name in names.items()], rename=names)


def _from_table(path: Path) -> Results:
    raw = _read_table(path)
    try:
        return _of_table(raw.reset_index(drop=True))
    except InputError as error:
        raise error.in_file(path) from None


def _of_table(raw: pd.DataFrame) -> Results:
    import pandas as pd

    families = _families_of(raw)
    raw = _with_numbers(_with_texts(raw, families), families)
    if "instance" not in raw:
        raw["instance"] = _names_of_points(raw)
    named = raw["setting"].astype(str) + ": " + raw["instance"] if "setting" in raw else raw["instance"]
    raw["fingerprint"] = raw["fingerprint"].fillna(named) if "fingerprint" in raw else named
    if "optimum_status" not in raw and "optimum" in raw:
        raw["optimum_status"] = raw["optimum"].notna().map({True: "optimal", False: None})
    frame = _frame(raw)
    proven = frame["optimum_status"] == "optimal"
    _expect_all(frame["optimum"].notna() | ~proven, frame["optimum"], "a number where it is proven")
    frame["optimum_bound"] = frame["optimum_bound"].where(frame["optimum_bound"].notna() | ~proven, frame["optimum"])
    runs, older, mixed = _newest(frame, _OF_RUN, "run", "runs")
    _expect_one_optimum(runs[~runs["has_own_optimum"]])
    optima = runs[runs["optimum_status"].notna()].drop_duplicates("fingerprint", keep="last")
    return Results(_sorted(runs), _sorted(pd.DataFrame(optima)), older, mixed=mixed)


def _expect_one_optimum(runs: pd.DataFrame) -> None:
    """Raise `InputError` for a run that tells another optimum than the first one of its instance."""
    for name in _OF_ANSWER:
        told = runs[runs[name].notna()]
        first = told.groupby("fingerprint")[name].transform("first")
        _expect_all(told[name] == first, told[name], "what the rows of the instance above it tell")


def _families_of(raw: pd.DataFrame) -> list[Family]:
    """Return the families of a table's rows, which are those of the first one where no column says so."""
    if not raw.columns.is_unique:
        raise InputError("two columns of this name, expected one", place=str(raw.columns[raw.columns.duplicated()][0]))
    if "policy" not in raw:
        raise InputError("no column 'policy', expected one row per run")
    if "family" not in raw:
        raw["family"] = _FIRST_FAMILY
    for name in ("policy", "family", "instance"):
        if name in raw:
            _expect_all(raw[name].notna(), raw[name], "a name")
    return [family_named(str(name)) for name in raw["family"].unique()]


def _with_texts(raw: pd.DataFrame, families: Sequence[Family]) -> pd.DataFrame:
    """Return a table whose texts are texts, whatever they look like."""
    texts = {*_TEXTS, *(name for family in families for name in family.run_options)}
    raw = raw.assign(
        **{name: raw[name].astype(object).map(str, na_action="ignore") for name in raw.columns if name in texts}
    )
    if "optimum_status" in raw:
        status = raw["optimum_status"]
        _expect_all(status.isna() | status.isin(_STATUSES), status, f"one of {', '.join(_STATUSES)}")
    if "has_own_optimum" in raw:
        own = raw["has_own_optimum"].astype(object)
        _expect_all(own.isna() | own.isin([True, False]), own, "True, False or nothing")
    return raw


def _with_numbers(raw: pd.DataFrame, families: Sequence[Family]) -> pd.DataFrame:
    """Return a table whose numbers are numbers, the value of a run in one column, whatever its family calls it."""
    import pandas as pd

    values = []
    for family in families:
        mine = raw[raw["family"] == family.name]
        column = family.value if family.value in raw else "value"
        if column not in raw:
            raise InputError(f"no column {family.value!r}, expected one row per run")
        values.append(_numbers(mine[column], least=family.least))
        if "optimum" in raw and family.sense == "min":
            _numbers(mine["optimum"], least=family.least)
    for name in ("slot_limit", "slots"):
        if "limit" not in raw and name in raw:
            raw = raw.assign(limit=_numbers(raw[name], least=0))
    raw = raw.assign(value=pd.concat(values) if len(raw) else [])
    whole = {*_WHOLE, *(name for family in families for name in family.axes)}
    signed = {name for family in families for name in family.columns}
    numbers = {*_NUMBERS, *whole, *signed}
    return raw.assign(
        **{
            name: _numbers(raw[name], least=-inf if name in signed else 0, is_whole=name in whole)
            for name in raw.columns
            if name in numbers
        }
    )


def _numbers(column: pd.Series[Any], *, least: float, is_whole: bool = False) -> pd.Series[Any]:
    """Return a column of a table as numbers, or refuse what is neither a finite one nor nothing."""
    import pandas as pd

    try:
        numbers = pd.to_numeric(column, errors="coerce")
    except TypeError:  # lists and the like
        numbers = pd.Series(float("nan"), column.index)
    floats = numbers.astype("float64")
    good = (floats >= least) & (floats < (2.0**63 if is_whole else inf))
    if is_whole:
        good &= floats % 1 == 0
    expected = f"a {'whole' if is_whole else 'finite'} number" + (f" >= {least:g}" if least > -inf else "")
    _expect_all(good | column.isna(), column, f"{expected}, or nothing")
    return numbers


def _expect_all(good: pd.Series[bool], column: pd.Series[Any], expected: str) -> None:
    """Raise `InputError` for the first row of a column that is not good."""
    if good.all():
        return
    row = int(good.index[~good][0])
    value = column[row]
    said = excerpt(value) if isinstance(value, str) else str(value)
    said = "nothing" if column.isna()[row] else said
    raise InputError(f"{said}, expected {expected}", place=f"row {row + 1}, {column.name}")


def _read_table(path: Path) -> pd.DataFrame:
    import lzma
    import zlib

    import pandas as pd

    if not path.name.endswith((".csv", ".csv.gz", ".csv.xz", ".parquet")):
        read_bytes(path)
        raise InputError("expected a results folder, or a file .csv, .csv.gz, .csv.xz or .parquet", file=path)
    read_bytes(path)
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        # the value of an option is a text, also where it looks like a number
        texts = {name: str for family in BUILT_IN for name in family_named(family).run_options}
        return pd.read_csv(path, low_memory=False, dtype=texts)
    except ImportError:
        raise InputError("a .parquet file needs pyarrow (pip install pyarrow), or give .csv", file=path) from None
    except (ValueError, OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        reason = str(error).strip().partition("\n")[0]
        raise InputError(f"cannot be read as a table: {reason}", file=path) from None


def _names_of_points(raw: pd.DataFrame) -> pd.Series[Any]:
    axes = [name for family in raw["family"].unique() for name in family_named(str(family)).axes]
    known = [name for name in dict.fromkeys(axes) if name in raw and name not in ("p", "iterations")]
    if not {"scenario", "trial"} <= set(known):
        raise InputError("neither a column 'instance' nor 'scenario' and 'trial', expected to be told")
    parts = [name + "=" + raw[name].astype("Int64").astype("string").fillna("none") for name in known]
    names = parts[0]
    for part in parts[1:]:
        names = names + " " + part
    return names


def _frame(rows: Sequence[dict[str, Any]] | pd.DataFrame) -> pd.DataFrame:
    """Return rows with every column of its type, the population, the cluster and the options as a text."""
    import pandas as pd

    raw = pd.DataFrame(rows)
    names = raw["family"].dropna().unique().tolist() if "family" in raw else []
    families = [family_named(str(name)) for name in names] or [family_named(_FIRST_FAMILY)]
    axes = list(dict.fromkeys(axis for family in families for axis in family.axes))
    options = list(dict.fromkeys(name for family in families for name in family.run_options))
    more = [name for family in families for name in family.columns]
    columns = dict.fromkeys([*_TEXTS, *options, *axes, *_WHOLE, *_NUMBERS, *more, *_MORE])
    frame = raw.reindex(columns=list(columns))
    for name in (*_TEXTS, *options, "engine", "solver", "start", "optimum_check", *PROVENANCE):
        frame[name] = frame[name].astype(object)
    for name in (*axes, *_WHOLE):
        frame[name] = pd.to_numeric(frame[name]).astype("Int64")
    for name in _NUMBERS:
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


def _tell_apart(frame: pd.DataFrame, family: Family) -> None:
    """Fill in what depends on the family: sense, options, population and cluster of its rows."""
    mine = frame["family"] == family.name
    frame.loc[mine, "sense"] = str(family.sense)
    texts = frame.loc[mine, "options"]
    for name in family.run_options:
        usual = family.usual(name)
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


def _newest(frame: pd.DataFrame, names: list[str], one: str, many: str) -> tuple[pd.DataFrame, int, tuple[str, ...]]:
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


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    axes = [axis for name in frame["family"].dropna().unique() for axis in family_named(str(name)).axes]
    by = [*GROUP, *dict.fromkeys(axes), "instance", "fingerprint", "policy"]
    return frame.sort_values(by, kind="stable", ignore_index=True)
