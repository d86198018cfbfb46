"""Rows of a campaign drawn at random, made anew by slower and simpler means."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import instances
from bench.campaign.journal import Journal
from bench.family import Options, family_named, shown
from instances.errors import InputError
from instances.streams import stream
from instances.textio import convert, read_bytes

__all__ = ["recheck", "sample"]


class _Row(msgspec.Struct):
    """What a run's row must tell to be made again."""

    policy: str
    seed: int
    fingerprint: str
    point: dict[str, Any]
    instance: str
    family: str = "coupled"


def sample(folder: str | os.PathLike[str], count: int, *, seed: int, most_slots: int) -> list[Mapping[str, Any]]:
    """Return rows drawn at random from the runs of a campaign on generated instances.

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
        Where there is none to draw from.
    """
    path = Path(folder) / Journal.NAME
    lines = read_bytes(path).splitlines()
    order = stream("recheck", seed).permutation(np.arange(len(lines)))
    found: list[Mapping[str, Any]] = []
    for number in order.tolist():
        try:
            row = msgspec.json.decode(lines[number], type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise InputError("broken row, expected a JSON object", place=f"line {number + 1}", file=path) from None
        if row.get("kind") == "run" and row.get("point") and row.get("slots", 0) <= most_slots:
            found.append(row)
        if len(found) == count:
            break
    if not found:
        raise InputError(f"no run on a generated instance of at most {most_slots} slots", file=path)
    return found


def recheck(rows: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Make each row anew: the instance from its parameters, the run by the plain simulator, all of it replayed.

    Yields
    ------
    dict
        ``instance``, ``policy``, ``value`` of the row, ``again`` as found now, and what ``differs`` (None: nothing).
    """
    for raw in rows:
        row = convert(dict(raw), _Row, f"row {str(raw['key'])[:16]}")
        family = family_named(row.family)
        instance = family.from_point(row.point)
        given = {name: str(raw[name]) for name in family.run_options if raw.get(name) is not None}
        played = family.run_plainly(instance, row.policy, Options().with_run(given), row.seed)
        verdict = instances.check(instance, played.schedule)
        said = {
            "fingerprint": (row.fingerprint, instance.fingerprint),
            family.value: (raw[family.value], shown(played.value)),
            **{name: (raw[name], value) for name, value in played.facts.items() if name in raw},
            "check": (True, verdict.is_valid),
        }
        found = getattr(verdict.outcome, family.value, None)
        if found is not None:
            said[f"{family.value} replayed"] = (raw[family.value], shown(found))
        differing = [name for name, (before, now) in said.items() if before != now]
        yield {
            "instance": row.instance,
            "policy": row.policy,
            "value": raw[family.value],
            "again": shown(played.value),
            "differs": ", ".join(differing) or None,
        }
