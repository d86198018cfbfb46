"""Results as one frame: from the rows of a campaign's journal, or from a compact table of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from bench.campaign.journal import Journal
from bench.family import Family, family_named
from instances.errors import InputError
from instances.textio import convert, read_bytes

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GROUP", "PROVENANCE", "Results", "in_order", "read_results", "records", "results_of", "told_records"]

#: Runs that agree in these are compared with each other, and with no others.
GROUP = ("family", "population", "options")
#: Of what code and machine a row is.
PROVENANCE = ("version", "code", "python", "numpy", "ortools", "machine")

_OF_OPTIMUM = ("optimum", "optimum_bound", "optimum_status", "solver")
_OF_SOLVE = ("optimum_check", "optimum_runtime_s", "time_limit_s")
_NUMBERS = ("value", "limit", "optimum", "optimum_bound", "runtime_s", "optimum_runtime_s", "time_limit_s")
_TEXTS = ("family", "sense", "setting", "instance", "fingerprint", "policy", "options", "optimum_status", "check")
_MORE = ("engine", "solver", "start", "seed", "optimum_check", "has_own_optimum", *PROVENANCE)
_STATUSES = ("optimal", "feasible", "bounds", "infeasible", "unknown")
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
        ``check``, times in seconds and the provenance. ``population`` is the setting less the parameters that ratios
        are told apart by: runs of one population are put together. ``cluster`` is what a bootstrap draws: the scenario,
        where there is one, else the instance.
    optima
        One row per instance that was solved: ``fingerprint``, ``optimum_status`` and what else is known of it.
    left_out
        Rows that a newer one of the same instance, policy and options replaces, or whose kind is not known.
    torn
        Whether the last row was cut off by an interruption; it is left out.
    """

    runs: pd.DataFrame
    optima: pd.DataFrame
    left_out: int = 0
    torn: bool = False


class _Row(msgspec.Struct, kw_only=True):
    kind: str
    instance: str
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

    A compact table has one row per run, with at least ``policy`` and the family's value (``makespan``, ...; empty:
    unfinished) and either ``instance`` or the point of the experiment (``m``, ``n_com``, ``wmin``, ``scenario``,
    ``trial``); further columns of `Results.runs` where they are known.

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
    path = folder / Journal.NAME
    text = read_bytes(path)
    whole = text.rfind(b"\n") + 1

    def numbered() -> Iterable[tuple[str, dict[str, Any]]]:
        for number, line in enumerate(text[:whole].splitlines(), start=1):
            try:
                yield f"line {number}", msgspec.json.decode(line, type=dict[str, Any])
            except (msgspec.MsgspecError, UnicodeDecodeError):
                raise InputError("broken row, expected one JSON object", place=f"line {number}") from None

    try:
        return results_of(numbered(), torn=whole < len(text))
    except InputError as error:
        raise error.in_file(path) from None


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
        try:
            if kind == "run":
                runs.append(_run(row))
            elif kind in ("optimum", "optima"):
                optima += _optimum(row)
            else:
                others += 1
        except InputError as error:
            place = ", ".join(part for part in (where, error.place) if part)
            raise InputError(error.expected, place=place, file=error.file) from None
    solved, older_optima = _newest(_frame(optima), ["fingerprint"])
    played, older_runs = _newest(_frame(runs), ["fingerprint", "policy", "options"])
    return Results(_sorted(_joined(played, solved)), _sorted(solved), others + older_optima + older_runs, torn=torn)


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


def _run(row: Mapping[str, Any]) -> dict[str, Any]:
    known = convert(dict(row), _Run)
    family = family_named(row.get("family", _FIRST_FAMILY))
    if family.value not in row:
        raise InputError(f"missing key {family.value}")
    value = convert(row[family.value], float | None, family.value)  # type: ignore[arg-type]
    point = known.point or {}
    limit = next((each for each in (known.limit, known.slot_limit, point.get("slots")) if each is not None), None)
    found = _common(known, family) | {
        "policy": known.policy,
        "seed": known.seed,
        "engine": known.engine,
        "check": known.check,
        "value": value,
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
    family = family_named(row.get("family", _FIRST_FAMILY))
    answer = convert(setting if row["kind"] == "optima" else dict(row), _Answer)
    return [_common(convert(dict(row), _Row), family) | _answered(answer, family)]


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
    seed, column = family.seed_axis
    return {
        "family": family.name,
        "setting": row.setting,
        "instance": row.instance,
        "fingerprint": row.fingerprint or f"{row.setting}: {row.instance}",
        **{name: point.get(seed if name == column else name) for name in family.axes},
        "start": point.get("start"),
        **{name: getattr(row, name) for name in PROVENANCE},
    }


def _from_table(path: Path) -> Results:
    import pandas as pd

    raw = _read_table(path)
    if "family" not in raw:
        raw["family"] = _FIRST_FAMILY
    families = [family_named(str(name)) for name in raw["family"].unique()]
    values = dict.fromkeys(family.value for family in families)
    for column in ("policy", *values):
        if column not in raw:
            raise InputError(f"no column {column!r}, expected one row per run", file=path)
    for old in ("slot_limit", "slots"):
        if "limit" not in raw and old in raw:
            raw = raw.rename(columns={old: "limit"})
    whole = {name for family in families for name in family.axes}
    for column in (*values, *whole, *_NUMBERS):
        if column in raw:
            raw[column] = _numbers(raw[column], path, is_whole=column in whole)
    if raw["policy"].isna().any():
        raise InputError("nothing, expected a policy", place=f"row {raw['policy'].isna().argmax() + 1}", file=path)
    for family in families:
        mine = raw["family"] == family.name
        raw.loc[mine, "value"] = raw.loc[mine, family.value]
    if "instance" not in raw:
        raw["instance"] = _names_of_points(raw, path)
    raw["instance"] = raw["instance"].astype(str)
    named = raw["setting"].astype(str) + ": " + raw["instance"] if "setting" in raw else raw["instance"]
    raw["fingerprint"] = raw["fingerprint"].fillna(named) if "fingerprint" in raw else named
    if "optimum_status" in raw:
        unknown = raw["optimum_status"].notna() & ~raw["optimum_status"].isin(_STATUSES)
        if unknown.any():
            row = int(unknown.to_numpy().argmax())
            said = f"{raw['optimum_status'].iloc[row]!r}, expected one of {', '.join(_STATUSES)}"
            raise InputError(said, place=f"row {row + 1}, optimum_status", file=path)
    elif "optimum" in raw:
        raw["optimum_status"] = raw["optimum"].notna().map({True: "optimal", False: None})
    frame = _frame(raw)
    proven = frame["optimum_status"] == "optimal"
    frame["optimum_bound"] = frame["optimum_bound"].where(frame["optimum_bound"].notna() | ~proven, frame["optimum"])
    runs, older = _newest(frame, ["fingerprint", "policy", "options"])
    optima = runs[runs["optimum_status"].notna()].drop_duplicates("fingerprint", keep="last")
    return Results(_sorted(runs), _sorted(pd.DataFrame(optima)), older)


def _numbers(column: pd.Series[Any], path: Path, *, is_whole: bool) -> pd.Series[Any]:
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce")
    broken = (numbers.isna() & column.notna()) | (numbers < 0)
    if is_whole:
        broken |= numbers % 1 > 0
    if broken.any():
        row = int(broken.to_numpy().argmax())
        place = f"row {row + 1}, {column.name}"
        raise InputError(f"{column.iloc[row]!r}, expected a number or nothing", place=place, file=path)
    return numbers


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
        return pd.read_csv(path, low_memory=False)
    except ImportError:
        raise InputError("a .parquet file needs pyarrow (pip install pyarrow), or give .csv", file=path) from None
    except (ValueError, OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        reason = str(error).strip().partition("\n")[0]
        raise InputError(f"cannot be read as a table: {reason}", file=path) from None


def _names_of_points(raw: pd.DataFrame, path: Path) -> pd.Series[Any]:
    axes = [name for family in raw["family"].unique() for name in family_named(str(family)).axes]
    known = [name for name in dict.fromkeys(axes) if name in raw and name not in ("p", "iterations")]
    if not {"scenario", "trial"} <= set(known):
        raise InputError("neither a column 'instance' nor 'scenario' and 'trial', expected to be told", file=path)
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
    columns = dict.fromkeys([*_TEXTS, *options, *axes, *_NUMBERS, *more, *_MORE])
    frame = raw.reindex(columns=list(columns))
    for name in (*_TEXTS, *options, "engine", "solver", "start", "optimum_check", *PROVENANCE):
        frame[name] = frame[name].astype(object)
    for name in axes:
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
    if family.scenario:
        drawn = mine & frame["scenario"].notna()
        place = frame.loc[drawn, "setting"].astype(str)
        for name in family.scenario:
            place = place + f" {name}=" + frame.loc[drawn, name].astype("string").fillna("none").astype(object)
        frame.loc[drawn, "cluster"] = place


def _printed(text: str) -> str:
    """Return a name as a page and a picture can hold it, whatever letters somebody put in it."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def _newest(frame: pd.DataFrame, names: list[str]) -> tuple[pd.DataFrame, int]:
    """Return the last row of each name, and how many others there were."""
    older = frame.duplicated(names, keep="last")
    return frame[~older], int(older.sum())


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    axes = [axis for name in frame["family"].dropna().unique() for axis in family_named(str(name)).axes]
    by = [*GROUP, *dict.fromkeys(axes), "instance", "fingerprint", "policy"]
    return frame.sort_values(by, kind="stable", ignore_index=True)
