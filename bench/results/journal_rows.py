"""Results from the rows of a campaign's journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from hindsched.bench.campaign.journal import JournalRows, in_row
from hindsched.bench.family import AnyFamily, family_named
from hindsched.bench.results.columns import (
    FIRST_FAMILY,
    OF_OPTIMUM,
    OF_RUN,
    OF_SOLVE,
    PROVENANCE,
    Columns,
    Results,
    newest_rows,
    sorted_rows,
)
from hindsched.bench.shared_types import Row
from hindsched.instances.errors import InputError, printable
from hindsched.instances.text_files import convert

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["contents_of", "expect_run", "results_of"]


_Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class _Row(msgspec.Struct, kw_only=True):
    kind: str
    instance: str
    family: str = FIRST_FAMILY
    setting: str | None = None
    fingerprint: str | None = None
    objective: str | None = None
    point: Row | None = None
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
    failure: str | None = None
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


def results_of(rows: Iterable[tuple[str, Mapping[str, object]]]) -> Results:
    """Return the results in the rows of a journal.

    Parameters
    ----------
    rows
        Each with its place, for messages. They are read twice if several contents share a name. The last row of the
        same instance, policy and options counts. If rows of one name have several contents, those of the last content
        count.

    Raises
    ------
    InputError
        For a row without a required key; its place is named.
    """
    rows = list(rows) if isinstance(rows, Iterator) else rows
    runs, optima, contents = Columns(), Columns(), _Contents()
    others: set[int] = set()  # places of rows that do not count
    broken: dict[int, InputError] = {}
    for place, (where, row) in enumerate(rows):
        contents.add(place, row)
        kind = row.get("kind")
        try:
            with in_row(where):
                if kind == "run":
                    runs.append(place, _run(row))
                elif kind in ("optimum", "optima"):
                    for found in _optimum(row):
                        optima.append(place, found)
                else:
                    others.add(place)
        except InputError as error:
            broken[place] = error
    replaced, sentences = contents.replaced(rows)
    others |= replaced
    for place, first in broken.items():
        if place not in replaced:
            raise first
    solved, older_optima, other_answers = newest_rows(optima.frame(replaced), ["fingerprint"], "optimum", "optima")
    simulated, older_runs, other_runs = newest_rows(runs.frame(replaced), OF_RUN, "run", "runs")
    return Results(
        sorted_rows(_joined(simulated, solved)),
        sorted_rows(solved),
        len(others) + older_optima + older_runs,
        torn=isinstance(rows, JournalRows) and rows.torn,
        mixed=(*sentences, *other_runs, *other_answers),
    )


def contents_of(row: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    """Yield what a row is about, its instance and files of users: a name for messages, a full name, and the content.

    Rows of one name and different contents are never pooled: those of the last content count.
    """
    setting = str(row.get("setting")).partition(": ")[0]  # of files it goes on with what follows from the content
    names = [row.get("family"), setting, row.get("instance"), row.get("point")]
    if isinstance(row.get("fingerprint"), str):
        yield str(row.get("instance")), repr(names), str(row["fingerprint"])
    contents = row.get("contents")
    if isinstance(contents, dict):
        for name, content in contents.items():
            yield name, repr((row.get("family"), name)), str(content)


class _Contents:
    """What rows are about: which rows are replaced by later ones.

    A row replaces a failed one of its key. If the rows of a name have several contents, those of the last one count.
    """

    def __init__(self) -> None:
        self._last: dict[str, str] = {}  # the last content of a name, but for failed rows
        self._failed: dict[str, list[tuple[int, Mapping[str, object]]]] = {}
        self._replaced: set[int] = set()
        self._differ = False

    def add(self, place: int, row: Mapping[str, object]) -> None:
        """Take in the next row."""
        key = repr(row.get("key"))
        if key in self._failed:
            self._replaced.update(earlier for earlier, _ in self._failed.pop(key))
        if row.get("failure") is not None:
            self._failed[key] = [(place, row)]
            return
        for _, name, content in contents_of(row):
            self._differ |= self._last.get(name, content) != content
            self._last[name] = content

    def replaced(self, rows: Iterable[tuple[str, Mapping[str, object]]]) -> tuple[set[int], tuple[str, ...]]:
        """Return the places of rows that later ones replace, and a sentence about replaced contents.

        Parameters
        ----------
        rows
            All rows again, which are read only if several contents share a name.
        """
        for failed in self._failed.values():
            for _, row in failed:
                for _, name, content in contents_of(row):
                    self._differ |= self._last.setdefault(name, content) != content
        if not self._differ:
            return self._replaced, ()
        last: dict[str, str] = {}
        for place, (_, row) in enumerate(rows):
            if place not in self._replaced:
                last.update((name, content) for _, name, content in contents_of(row))
        older: dict[str, tuple[int, int]] = {}  # by shown name: minus its last older place, and its number there
        left_out: set[int] = set()
        for place, (_, row) in enumerate(rows):
            if place not in self._replaced:
                for number, (shown, name, content) in enumerate(contents_of(row)):
                    if last[name] != content:
                        older[shown] = (-place, number)
                        left_out.add(place)
        latest = sorted(older, key=lambda shown: older[shown])
        names = ", ".join(latest[:3]) + (f" and {len(latest) - 3} more" if len(latest) > 3 else "")
        sentence = (
            f"{names}: rows of several contents under one name. Only the last content counts, {len(left_out):,} older "
            "rows are left out. A folder for each campaign keeps them apart."
        )
        return self._replaced | left_out, (printable(sentence),)


def _joined(runs: pd.DataFrame, solved: pd.DataFrame) -> pd.DataFrame:
    """Return runs with the optimum of their instance, unless they have their own."""
    columns = [*OF_OPTIMUM, *OF_SOLVE]
    own = runs["has_own_optimum"]
    others = runs[~own].drop(columns=columns).merge(solved[["fingerprint", *columns]], on="fingerprint", how="left")
    if not own.any():
        return others
    import pandas as pd

    if own.all():
        return runs
    return pd.concat([runs[own], others], ignore_index=True)


def expect_run(row: Mapping[str, object]) -> AnyFamily:
    """Return the family of a run's row.

    Raises
    ------
    InputError
        If the row lacks a key that every run's row has; the key is named.
    """
    return _known_run(row)[0]


def _known_run(row: Mapping[str, object]) -> tuple[AnyFamily, _Run]:
    known = convert(dict(row), _Run)
    family = family_named(known.family).with_objective(known.objective)
    if family.value not in row:
        raise InputError(f"missing key {family.value}")
    convert(dict(row), _shape_of_run(family))
    return family, known


def _run(row: Mapping[str, object]) -> Row:
    family, known = _known_run(row)
    point = known.point or {}
    limits = (known.limit, known.slot_limit, point.get("slots"))
    limit = None if known.failure is not None else next((each for each in limits if each is not None), None)
    found = _common(known, family) | {
        "policy": known.policy,
        "seed": known.seed,
        "engine": known.engine,
        "check": known.check,
        "value": row[family.value],
        "limit": limit,
        "runtime_s": known.runtime_s,
        "failure": known.failure,
        **{name: row.get(name) for name in (*family.run_options, *family.columns)},
    }
    if row.get("optimum") is not None:
        found |= _answered(convert(row["optimum"], _Answer, "optimum"), family) | {"has_own_optimum": True}
    return found


def _optimum(row: Mapping[str, object]) -> list[Row]:
    """Return the optimum over all schedules; nothing for the row of a restricted one."""
    setting = row.get("stand_by", True)
    if not setting:
        return []
    known = convert(dict(row), _Row)
    family = family_named(known.family).with_objective(known.objective)
    answer = convert(setting, _Answer, "stand_by") if row["kind"] == "optima" else convert(dict(row), _Answer)
    return [_common(known, family) | _answered(answer, family)]


def _answered(answer: _Answer, family: AnyFamily) -> Row:
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


def _common(row: _Row, family: AnyFamily) -> Row:
    point = row.point or {}
    convert(point, _shape_of_point(family), "point")
    return {
        "family": family.name,
        "setting": row.setting,
        "instance": row.instance,
        "fingerprint": row.fingerprint or f"{row.setting}: {row.instance}",
        "objective": row.objective,
        **{name: point.get(key) for name, key in _axis_keys(family).items()},
        "length": point.get("slots"),
        "start": point.get("start"),
        **{name: getattr(row, name) for name in PROVENANCE},
    }


def _axis_keys(family: AnyFamily) -> dict[str, str]:
    """Return the key in a point of each axis of a family."""
    return {name: family.axis_keys.get(name, name) for name in family.axes}


@cache
def _shape_of_point(family: AnyFamily) -> type[msgspec.Struct]:
    return _shape({**dict.fromkeys((*_axis_keys(family).values(), "slots"), _Int64 | None), "start": str | None})


@cache
def _shape_of_run(family: AnyFamily) -> type[msgspec.Struct]:
    return _shape(
        {
            **dict.fromkeys(family.columns, float | int | None),
            **dict.fromkeys(family.run_options, str | None),
            family.value: Annotated[float, msgspec.Meta(ge=family.least)] | None,
        }
    )


def _shape(kinds: Mapping[str, object]) -> type[msgspec.Struct]:
    """Return a type whose objects may have these keys, with any characters, and other keys."""
    names = {f"_{i}": name for i, name in enumerate(kinds)}
    return msgspec.defstruct("Shape", [(field, kinds[name], None) for field, name in names.items()], rename=names)
