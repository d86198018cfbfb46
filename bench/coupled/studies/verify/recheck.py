"""Rows of a campaign drawn at random, made anew by slower and simpler means."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import instances
from bench.campaign.jobs import Options, simulate
from bench.campaign.journal import Journal
from bench.campaign.sources import Paper
from instances.errors import InputError
from instances.streams import stream
from instances.textio import convert, read_bytes

__all__ = ["recheck", "sample"]


class _Row(msgspec.Struct):
    """What a run's row must tell to be made again."""

    policy: str
    estimator: str
    service: str
    ties: str
    seed: int
    makespan: int | None
    iterations: int
    slots: int
    fingerprint: str
    point: dict[str, Any]
    instance: str


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
    order = stream("coupled", "recheck", seed).permutation(np.arange(len(lines)))
    found: list[Mapping[str, Any]] = []
    for number in order.tolist():
        try:
            row = msgspec.json.decode(lines[number], type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise InputError("broken row, expected a JSON object", place=f"line {number + 1}", file=path) from None
        if row.get("kind") == "run" and row.get("point") and row.get("slots", most_slots + 1) <= most_slots:
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
        ``instance``, ``policy``, ``makespan`` of the row, ``again`` as found now, and what ``differs`` (None: nothing).
    """
    for raw in rows:
        row = convert(dict(raw), _Row, f"row {str(raw['key'])[:16]}")
        instance = Paper(**row.point).load()
        options = Options(estimator=row.estimator, service=row.service, ties=row.ties, seed=row.seed)
        run = simulate(instance, row.policy, options, engine="plain", seed=row.seed)
        verdict = instances.check(instance, run.schedule)
        said = {
            "fingerprint": (row.fingerprint, instance.fingerprint),
            "makespan": (row.makespan, run.makespan),
            "iterations": (row.iterations, run.iterations),
            "slots": (row.slots, run.slots),
            "check": (True, verdict.is_valid),
            "makespan replayed": (row.makespan, verdict.outcome.makespan),
        }
        differing = [name for name, (before, now) in said.items() if before != now]
        yield {
            "instance": row.instance,
            "policy": row.policy,
            "makespan": row.makespan,
            "again": run.makespan,
            "differs": ", ".join(differing) or None,
        }
