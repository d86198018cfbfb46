"""Results from a compact table: a file with one row per run."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO, StringIO
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from hindsched.bench.family import AnyFamily, family_named, family_of_runs
from hindsched.bench.results.columns import (
    FIRST_FAMILY,
    NUMBERS,
    OF_ANSWER,
    OF_RUN,
    STATUSES,
    TEXTS,
    WHOLE,
    Results,
    newest_rows,
    sorted_rows,
    typed_frame,
)
from hindsched.instances.errors import InputError
from hindsched.instances.families import BUILT_IN
from hindsched.instances.text_files import decode_text, excerpt, read_bytes

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_table"]

#: Largest numbers of rows and columns of a table.
_MOST_RUNS, _MOST_COLUMNS = 500_000, 200


def read_table(path: Path) -> Results:
    """Read a file with one row per run.

    Raises
    ------
    InputError
        For a file that is no table of runs; the first wrong row is named.
    """
    raw = _raw_table(path)
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
    frame = typed_frame(raw)
    proven = frame["optimum_status"] == "optimal"
    _expect_all(frame["optimum"].notna() | ~proven, frame["optimum"], "a number where it is proven")
    frame["optimum_bound"] = frame["optimum_bound"].where(frame["optimum_bound"].notna() | ~proven, frame["optimum"])
    runs, older, mixed = newest_rows(frame, OF_RUN, "run", "runs")
    _expect_one_optimum(runs[~runs["has_own_optimum"]])
    optima = runs[runs["optimum_status"].notna()].drop_duplicates("fingerprint", keep="last")
    return Results(sorted_rows(runs), sorted_rows(pd.DataFrame(optima)), older, mixed=mixed)


def _expect_one_optimum(runs: pd.DataFrame) -> None:
    """Raise `InputError` for a run whose optimum differs from that of the first run on its instance."""
    for name in OF_ANSWER:
        known = runs[runs[name].notna()]
        first = known.groupby("fingerprint")[name].transform("first")
        _expect_all(known[name] == first, known[name], "the optimum in earlier rows of the instance")


def _families_of(raw: pd.DataFrame) -> list[AnyFamily]:
    """Return the families of a table's rows; without a column ``family`` it is the first family."""
    if not raw.columns.is_unique:
        raise InputError("two columns of this name, expected one", place=str(raw.columns[raw.columns.duplicated()][0]))
    if "policy" not in raw:
        raise InputError("no column 'policy', expected one row per run")
    if "family" not in raw:
        raw["family"] = FIRST_FAMILY
    for name in ("policy", "family", "instance"):
        if name in raw:
            _expect_all(raw[name].notna(), raw[name], "a name")
    return [family_named(str(name)) for name in raw["family"].unique()]


def _with_texts(raw: pd.DataFrame, families: Sequence[AnyFamily]) -> pd.DataFrame:
    """Return a table whose text columns hold texts, also where they look like numbers."""
    texts = {*TEXTS, *(name for family in families for name in family.run_options)}
    raw = raw.assign(
        **{name: raw[name].astype(object).map(str, na_action="ignore") for name in raw.columns if name in texts}
    )
    if "optimum_status" in raw:
        status = raw["optimum_status"]
        _expect_all(status.isna() | status.isin(STATUSES), status, f"one of {', '.join(STATUSES)}")
    if "has_own_optimum" in raw:
        own = raw["has_own_optimum"].astype(object)
        _expect_all(own.isna() | own.isin([True, False]), own, "True, False or nothing")
    return raw


def _with_numbers(raw: pd.DataFrame, families: Sequence[AnyFamily]) -> pd.DataFrame:
    """Return a table whose numeric columns hold numbers, with the value of runs in the column ``value``."""
    import pandas as pd

    values = []
    kinds = ["family", "objective"] if "objective" in raw else ["family"]
    for _, own in raw.groupby(kinds, dropna=False, sort=False):
        family = family_of_runs(own)
        column = family.value if family.value in raw and family.value not in family.axes else "value"
        if column not in raw:
            raise InputError(f"no column {family.value!r}, expected one row per run")
        values.append(_numbers(own[column], least=family.least))
        if "optimum" in raw and family.sense == "min":
            _numbers(own["optimum"], least=family.least)
    for name in ("slot_limit", "slots"):
        if "limit" not in raw and name in raw:
            raw = raw.assign(limit=_numbers(raw[name], least=0))
    raw = raw.assign(value=pd.concat(values) if len(raw) else [])
    whole = {*WHOLE, *(name for family in families for name in family.axes)}
    signed = {name for family in families for name in family.columns}
    numbers = {*NUMBERS, *whole, *signed}
    return raw.assign(
        **{
            name: _numbers(raw[name], least=-inf if name in signed else 0, is_whole=name in whole)
            for name in raw.columns
            if name in numbers
        }
    )


def _numbers(column: pd.Series, *, least: float, is_whole: bool = False) -> pd.Series:
    """Return a column as numbers; raise `InputError` for a cell that is neither empty nor a finite number."""
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


def _expect_all(good: pd.Series[bool], column: pd.Series, expected: str) -> None:
    """Raise `InputError` for the first bad cell of a column."""
    if good.all():
        return
    row = int(good.index[~good][0])
    value = column[row]
    found = excerpt(value) if isinstance(value, str) else str(value)
    found = "nothing" if column.isna()[row] else found
    raise InputError(f"{found}, expected {expected}", place=f"row {row + 1}, {column.name}")


def _raw_table(path: Path) -> pd.DataFrame:
    import pandas as pd

    raw = read_bytes(path)
    try:
        if raw.startswith(b"PAR1"):
            return _parquet(raw)
        text = decode_text(raw, "a table of runs", most_lines=_MOST_RUNS)
        # values of options are texts, also where they look like numbers
        texts = {name: str for family in BUILT_IN for name in family_named(family).run_options}
        frame = pd.read_csv(StringIO(text), low_memory=False, dtype=texts)
        if frame.shape[1] > _MOST_COLUMNS:
            raise InputError(f"{frame.shape[1]} columns, expected at most {_MOST_COLUMNS}", place="line 1")
        return frame
    except InputError as error:
        raise error.in_file(path) from None
    except ImportError:
        raise InputError("a .parquet file needs pyarrow (pip install pyarrow), or give .csv", file=path) from None
    except (ValueError, OSError, OverflowError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise InputError(f"cannot be read as a table: {reason}", file=path) from None


def _parquet(raw: bytes) -> pd.DataFrame:
    from pyarrow.parquet import ParquetFile

    file = ParquetFile(BytesIO(raw))
    rows = file.metadata.num_rows
    if rows > _MOST_RUNS or file.metadata.num_columns > _MOST_COLUMNS:
        raise InputError(f"{rows} rows of {file.metadata.num_columns} columns, expected at most {_MOST_RUNS} rows")
    frame: pd.DataFrame = file.read().to_pandas()
    return frame


def _names_of_points(raw: pd.DataFrame) -> pd.Series:
    axes = [name for family in raw["family"].unique() for name in family_named(str(family)).axes]
    known = [name for name in dict.fromkeys(axes) if name in raw and name not in ("p", "iterations")]
    if not {"scenario", "trial"} <= set(known):
        raise InputError("no column 'instance', and not both 'scenario' and 'trial', expected one or the other")
    parts = [name + "=" + raw[name].astype("Int64").astype("string").fillna("none") for name in known]
    names = parts[0]
    for part in parts[1:]:
        names = names + " " + part
    return names
