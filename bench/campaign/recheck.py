"""Rows of a campaign drawn at random, made anew by slower and simpler means."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from hindsched import instances
from hindsched.bench.campaign.journal import Journal, in_row, read_rows
from hindsched.bench.results.journal_rows import expect_run
from hindsched.bench.run_records import Options, json_number
from hindsched.instances.errors import InputError
from hindsched.instances.random_streams import stream
from hindsched.instances.text_files import convert
from hindsched.online.loading import stdout_to_stderr

__all__ = ["recheck", "sample"]


class _Row(msgspec.Struct):
    """What a run's row must tell to be made again, beside what every run's row tells."""

    policy: str
    seed: int
    fingerprint: str
    point: dict[str, Any]
    instance: str


class _Size(msgspec.Struct):
    slots: int | None = None


def sample(
    folder: str | os.PathLike[str], count: int, *, seed: int, most_slots: int
) -> list[tuple[str, Mapping[str, Any]]]:
    """Return rows, each with its place, drawn at random from the runs of a campaign on generated instances.

    Parameters
    ----------
    folder
        With a journal; only read.
    count
        How many, or all if there are fewer.
    seed
        Names the draw.
    most_slots
        Longer runs are left out: the plain simulator takes a second for 5,000 slots or so.

    Raises
    ------
    InputError
        Where there is none to draw from, or a row is broken: its line is named.
    """
    path = Path(folder) / Journal.NAME
    rows, _ = read_rows(folder)
    found: list[tuple[str, Mapping[str, Any]]] = []
    try:
        for number in stream("recheck", seed).permutation(np.arange(len(rows))).tolist():
            place, row = rows[number]
            with in_row(place):
                if row.get("kind") == "run" and row.get("point") and _slots(row) <= most_slots:
                    found.append((place, row))
            if len(found) == count:
                break
    except InputError as error:
        raise error.in_file(path) from None
    if not found:
        raise InputError(f"no run on a generated instance of at most {most_slots} slots", file=path)
    return found


def _slots(row: Mapping[str, Any]) -> int:
    return convert(dict(row), _Size).slots or 0


def recheck(folder: str | os.PathLike[str], rows: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Make each row anew: the instance from its parameters, the run by the plain simulator, all of it replayed.

    Parameters
    ----------
    folder
        Where the rows stand, for messages.
    rows
        Each with its place.

    Yields
    ------
    dict
        ``instance``, ``policy``, ``value`` of the row, ``again`` as found now, and what ``differs`` (None: nothing).

    Raises
    ------
    InputError
        For a row that does not tell what it takes to make it again.
    """
    for place, row in rows:
        try:
            with in_row(place):
                made = _made_anew(row)
        except InputError as error:
            raise error.in_file(Path(folder) / Journal.NAME) from None
        yield made


def _made_anew(row: Mapping[str, Any]) -> dict[str, Any]:
    family, known = expect_run(row), convert(dict(row), _Row)
    instance = family.from_point(known.point)
    given = {name: row[name] for name in family.run_options if row.get(name) is not None}
    with stdout_to_stderr():
        played = family.run_plainly(instance, known.policy, Options().with_run(given), known.seed)
    verdict = instances.check(instance, played.schedule)
    said = {
        "fingerprint": (known.fingerprint, instance.fingerprint),
        family.value: (row[family.value], json_number(played.value)),
        **{name: (row[name], value) for name, value in played.facts.items() if name in row},
        "check": (True, verdict.is_valid),
    }
    found = getattr(verdict.outcome, family.value, None)
    if found is not None:
        said[f"{family.value} replayed"] = (row[family.value], json_number(found))
    differing = [name for name, (before, now) in said.items() if before != now]
    return {
        "instance": known.instance,
        "policy": known.policy,
        "value": row[family.value],
        "again": json_number(played.value),
        "differs": ", ".join(differing) or None,
    }
