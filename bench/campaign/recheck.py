"""Recompute a random sample of a campaign's runs by simpler and slower code."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import numpy as np

from hindsched import instances
from hindsched.bench.campaign.journal import Journal, in_row, read_rows
from hindsched.bench.results.journal_rows import expect_run
from hindsched.bench.run_records import Options, json_number
from hindsched.bench.shared_types import Row
from hindsched.instances.errors import InputError
from hindsched.instances.random_streams import stream
from hindsched.instances.text_files import convert
from hindsched.online.loading import stdout_to_stderr

__all__ = ["recheck", "sample"]


class _Row(msgspec.Struct):
    """The keys of a row that are required to recompute its run."""

    policy: str
    seed: int
    fingerprint: str
    point: Row
    instance: str


class _Size(msgspec.Struct):
    slots: int | None = None


def sample(folder: str | os.PathLike[str], count: int, *, seed: int, most_slots: int) -> list[tuple[str, Row]]:
    """Return a random sample of a campaign's runs on generated instances: rows, each with its place.

    Parameters
    ----------
    folder
        Folder with a journal, which is not changed.
    count
        Number of rows; all if there are fewer.
    seed
        Seed of the sample.
    most_slots
        Longer runs are skipped: the plain simulator takes about a second for 5,000 slots.

    Raises
    ------
    InputError
        If there is no such run, or a row is broken; its line is named.
    """
    path = Path(folder) / Journal.NAME
    rows, _ = read_rows(folder)
    found: list[tuple[str, Row]] = []
    try:
        for number in stream("recheck", seed).permutation(np.arange(len(rows))).tolist():
            place, row = rows[number]
            with in_row(place):
                if row.get("kind") == "run" and row.get("point") and "failure" not in row and _slots(row) <= most_slots:
                    found.append((place, row))
            if len(found) == count:
                break
    except InputError as error:
        raise error.in_file(path) from None
    if not found:
        raise InputError(
            f"no run on a generated instance, expected one of at most {most_slots} slots (rows of files are not "
            "computed again)",
            file=path,
        )
    return found


def _slots(row: Row) -> int:
    return convert(dict(row), _Size).slots or 0


def recheck(folder: str | os.PathLike[str], rows: Iterable[tuple[str, Row]]) -> Iterator[Row]:
    """Recompute each row: generate the instance, run the plain simulator, replay the complete run.

    Parameters
    ----------
    folder
        Folder of the rows, for messages.
    rows
        Rows, each with its place.

    Yields
    ------
    dict
        ``instance``, ``policy``, ``value`` of the row, ``again``: the recomputed value, and the names of entries that
        ``differs`` holds (None: no difference).

    Raises
    ------
    InputError
        For a row without the keys that are required to recompute it.
    """
    for place, row in rows:
        try:
            with in_row(place):
                recomputed = _recomputed(row)
        except InputError as error:
            raise error.in_file(Path(folder) / Journal.NAME) from None
        yield recomputed


def _recomputed(row: Row) -> Row:
    family, known = expect_run(row), convert(dict(row), _Row)
    instance = family.from_point(known.point)
    given = {name: row[name] for name in family.run_options if row.get(name) is not None}
    with stdout_to_stderr():
        record = family.run_plainly(instance, known.policy, Options().with_run(given), known.seed)
    verdict = instances.check(instance, record.schedule)
    compared = {
        "fingerprint": (known.fingerprint, instance.fingerprint),
        family.value: (row[family.value], json_number(record.value)),
        **{name: (row[name], value) for name, value in record.facts.items() if name in row},
        "check": (True, verdict.is_valid),
    }
    found = getattr(verdict.outcome, family.value, None)
    if found is not None:
        compared[f"{family.value} rerecord"] = (row[family.value], json_number(found))
    differing = [name for name, (before, now) in compared.items() if before != now]
    return {
        "instance": known.instance,
        "policy": known.policy,
        "value": row[family.value],
        "again": json_number(record.value),
        "differs": ", ".join(differing) or None,
    }
