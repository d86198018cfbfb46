"""Results as one frame: from the rows of a campaign's journal, or from a compact table of them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from bench.campaign.journal import Journal
from instances.errors import InputError
from instances.textio import convert, read_bytes

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OPTIONS", "Results", "read_results"]

#: What a run is told apart by besides its instance and policy.
OPTIONS = ("estimator", "service", "ties")
#: Of what code and machine a row is.
PROVENANCE = ("version", "code", "python", "numpy", "ortools", "machine")

_INTEGERS = ("m", "n_com", "wmin", "scenario", "trial", "instance_seed", "p", "iterations", "mu")
_SLOTS = ("slots", "checked_slots")
_NUMBERS = (
    "makespan",
    *_SLOTS,
    "slot_limit",
    "optimum",
    "optimum_bound",
    "runtime_s",
    "optimum_runtime_s",
    "time_limit_s",
)
_TEXTS = (
    "setting",
    "instance",
    "fingerprint",
    "policy",
    *OPTIONS,
    "optimum_status",
    "check",
    "engine",
    "solver",
    "start",
)
_COLUMNS = (*_TEXTS, *_INTEGERS, *_NUMBERS, "seed", "optimum_check", *PROVENANCE)
_STATUSES = ("optimal", "feasible", "infeasible", "unknown")
_POINT = re.compile(r" (?:m|n_com|wmin)=\S+")


@dataclass(frozen=True)
class Results:
    """What a campaign left behind.

    Parameters
    ----------
    runs
        One row per run, sorted, so that the order in which rows were made does not show: ``setting``, ``instance``,
        ``fingerprint`` (setting and instance where none is told); the point of the experiment where it is of one
        (``p``, ``m``, ``n_com``, ``wmin``, ``iterations``, ``scenario``, ``trial``, ``instance_seed``);
        ``policy``, ``estimator``, ``service``, ``ties``, ``makespan`` (missing: unfinished), ``slot_limit``,
        ``slots`` simulated and ``checked_slots`` among them;
        ``optimum``, ``optimum_bound``, ``optimum_status`` (missing: nobody has solved it); ``check``, times in
        seconds and the provenance. ``population`` is the setting less m, n_com and wmin: runs of one population are
        put together.
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


class _Point(msgspec.Struct):
    p: int | None = None
    iterations: int | None = None
    m: int | None = None
    n_com: int | None = None
    wmin: int | None = None
    scenario: int | None = None
    trial: int | None = None
    seed: int | None = None
    slots: int | None = None
    mu: int | None = None
    start: str | None = None


class _Row(msgspec.Struct, kw_only=True):
    kind: str
    instance: str
    setting: str | None = None
    fingerprint: str | None = None
    point: _Point | None = None
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
    makespan: int | None
    estimator: str | None = None
    service: str | None = None
    ties: str | None = None
    seed: int | None = None
    slots: int | None = None
    slot_limit: int | None = None
    checked_slots: int | None = None
    engine: str | None = None


class _Answer(msgspec.Struct, kw_only=True):
    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    value: int | None
    bound: int | None
    solver: str | None = None
    time_limit_s: float | None = None
    check: str | None = None
    runtime_s: float | None = None


def read_results(path: str | os.PathLike[str]) -> Results:
    """Read a folder with a journal, or a compact table (.csv, .csv.gz, .csv.xz, .parquet).

    A compact table has one row per run, with at least ``policy`` and ``makespan`` (empty: unfinished) and either
    ``instance`` or the point of the experiment (``m``, ``n_com``, ``wmin``, ``scenario``, ``trial``); further columns
    of `Results.runs` where they are known.

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
    runs: list[dict[str, Any]] = []
    optima: list[dict[str, Any]] = []
    others = 0
    for number, line in enumerate(text[:whole].splitlines(), start=1):
        try:
            row = msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise InputError("broken row, expected one JSON object", place=f"line {number}", file=path) from None
        kind = row.get("kind")
        try:
            if kind == "run":
                runs.append(_run(convert(row, _Run)))
            elif kind in ("optimum", "optima"):
                optima += _optimum(row)
            else:
                others += 1
        except InputError as error:
            place = ", ".join(part for part in (f"line {number}", error.place) if part)
            raise InputError(error.expected, place=place, file=path) from None
    solved, older_optima = _newest(_frame(optima), ["fingerprint"])
    played, older_runs = _newest(_frame(runs), ["fingerprint", "policy", *OPTIONS])
    of_optimum = ["optimum", "optimum_bound", "optimum_status", "optimum_check", "solver", "optimum_runtime_s"]
    of_optimum.append("time_limit_s")
    played = played.drop(columns=of_optimum).merge(solved[["fingerprint", *of_optimum]], on="fingerprint", how="left")
    return Results(_sorted(played), _sorted(solved), others + older_optima + older_runs, torn=whole < len(text))


def _run(row: _Run) -> dict[str, Any]:
    limit = row.slot_limit if row.slot_limit is not None else row.point and row.point.slots
    return _common(row) | {
        **{name: getattr(row, name) for name in ("policy", "makespan", *OPTIONS, "seed", "engine", "check", *_SLOTS)},
        "slot_limit": limit,
        "runtime_s": row.runtime_s,
    }


def _optimum(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the optimum with stand-by, which bounds every scheduler; nothing for a row of the one without."""
    setting = row.get("stand_by", True)
    if not setting:
        return []
    answer = convert(setting if row["kind"] == "optima" else row, _Answer)
    return [
        _common(convert(row, _Row))
        | {
            "optimum": answer.value,
            "optimum_bound": answer.bound,
            "optimum_status": answer.status,
            "optimum_check": answer.check,
            "solver": answer.solver,
            "optimum_runtime_s": answer.runtime_s,
            "time_limit_s": answer.time_limit_s,
        }
    ]


def _common(row: _Row) -> dict[str, Any]:
    point = row.point or _Point()
    return {
        "setting": row.setting,
        "instance": row.instance,
        "fingerprint": row.fingerprint or f"{row.setting}: {row.instance}",
        **{name: getattr(point, name) for name in _INTEGERS if name != "instance_seed"},
        "instance_seed": point.seed,
        "start": point.start,
        **{name: getattr(row, name) for name in PROVENANCE},
    }


def _from_table(path: Path) -> Results:
    import pandas as pd

    raw = _read_table(path)
    for column in ("policy", "makespan"):
        if column not in raw:
            raise InputError(f"no column {column!r}, expected one row per run", file=path)
    if "slot_limit" not in raw and "slots" in raw:
        raw = raw.rename(columns={"slots": "slot_limit"})
    for column in (*_INTEGERS, *_NUMBERS):
        if column in raw:
            numbers = pd.to_numeric(raw[column], errors="coerce")
            broken = (numbers.isna() & raw[column].notna()) | (numbers < 0)
            if column in _INTEGERS:
                broken |= numbers % 1 > 0
            if broken.any():
                row = int(broken.to_numpy().argmax())
                place = f"row {row + 1}, {column}"
                raise InputError(f"{raw[column].iloc[row]!r}, expected a number or nothing", place=place, file=path)
            raw[column] = numbers
    if raw["policy"].isna().any():
        raise InputError("nothing, expected a policy", place=f"row {raw['policy'].isna().argmax() + 1}", file=path)
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
    runs, older = _newest(frame, ["fingerprint", "policy", *OPTIONS])
    optima = runs[runs["optimum_status"].notna()].drop_duplicates("fingerprint", keep="last")
    return Results(_sorted(runs), _sorted(optima), older)


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
    known = [name for name in ("m", "n_com", "wmin", "instance_seed", "scenario", "trial") if name in raw]
    if not {"scenario", "trial"} <= set(known):
        raise InputError("neither a column 'instance' nor 'scenario' and 'trial', expected to be told", file=path)
    parts = [name + "=" + raw[name].astype("Int64").astype("string").fillna("none") for name in known]
    names = parts[0]
    for part in parts[1:]:
        names = names + " " + part
    return names


def _frame(rows: Sequence[dict[str, Any]] | pd.DataFrame) -> pd.DataFrame:
    """Return rows with every column of its type, and the population."""
    import pandas as pd

    frame = pd.DataFrame(rows)
    frame = frame.reindex(columns=list(_COLUMNS))
    for name in _INTEGERS:
        frame[name] = pd.to_numeric(frame[name]).astype("Int64")
    for name in _NUMBERS:
        frame[name] = pd.to_numeric(frame[name]).astype("float64")
    for name in ("setting", "instance", "policy"):
        texts = frame[name].dropna().unique()
        frame[name] = frame[name].map({text: _printed(str(text)) for text in texts})
    frame["setting"] = frame["setting"].astype(object).fillna("all runs")
    pointed = frame["m"].notna()
    settings = {text: _POINT.sub("", text) for text in frame["setting"].unique()}
    frame["population"] = frame["setting"].where(~pointed, frame["setting"].map(settings))
    return frame


def _printed(text: str) -> str:
    """Return a name as a page and a picture can hold it, whatever letters somebody put in it."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def _newest(frame: pd.DataFrame, names: list[str]) -> tuple[pd.DataFrame, int]:
    """Return the last row of each name, and how many others there were."""
    older = frame.duplicated(names, keep="last")
    return frame[~older], int(older.sum())


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    by = ["population", *OPTIONS, "m", "n_com", "wmin", "instance_seed", "scenario", "trial", "instance", "fingerprint"]
    return frame.sort_values([*by, "policy"], kind="stable", ignore_index=True)
