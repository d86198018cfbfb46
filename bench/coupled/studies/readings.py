"""The paper's experiment under several readings and seeds: one row per instance and reading, compact and resumable.

A run that fails costs a million slots. So where the first heuristic fails on an instance, the hindsight search is asked
whether any schedule finishes: where it proves that none does, no other heuristic is run, and all have failed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

import offline
from bench.campaign.engine import Job, code_digest, run_jobs
from bench.campaign.jobs import simulate
from bench.campaign.journal import Journal
from bench.coupled.paper import Paper
from bench.family import Options, family_named
from instances.coupled import Instance
from instances.errors import SelfCheckError
from instances.textio import read_bytes
from online.coupled import POLICIES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PROACTIVE", "READINGS", "Reading", "read_runs", "run_readings"]

#: The heuristics that compare.
PROACTIVE = tuple(policy for policy in POLICIES if "-" in policy)

#: How long the hindsight search may take to prove that an instance has no schedule.
_TIME_LIMIT_S = 30.0


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading of what the paper leaves open, and whom it concerns.

    Parameters
    ----------
    name
        What tables call it.
    tells
        What it is, in a few words.
    options
        Options of the run (see `online.coupled.RunOptions`).
    policies
        The heuristics that it changes; all others run as under ``base``.
    base
        The reading it differs from only in that; empty for none.
    """

    name: str
    tells: str
    options: Mapping[str, Any]
    policies: tuple[str, ...] = POLICIES
    base: str = ""


READINGS = {
    reading.name: reading
    for reading in (
        Reading("printed", "the formula for E(W) as the paper prints it, and the model's other readings", {}),
        Reading("conditional", "E(W) as the expectation given success", {"estimator": "conditional"}),
        Reading(
            "held-frozen",
            "the configuration held keeps the value it had when it was chosen",
            {"comparison": "held-frozen"},
            PROACTIVE,
            "printed",
        ),
        Reading(
            "candidate-fresh",
            "the candidate is built and measured as if no worker had received anything",
            {"comparison": "candidate-fresh"},
            PROACTIVE,
            "printed",
        ),
        Reading("frozen", "both", {"comparison": "frozen"}, PROACTIVE, "printed"),
    )
}


def run_readings(
    sources: Sequence[Paper],
    readings: Sequence[Reading],
    folder: Path,
    *,
    policies: Sequence[str] = POLICIES,
    num_processes: int = 1,
) -> None:
    """Run the given heuristics on every instance, as far as a reading changes them, resuming what ``folder`` holds."""
    chosen = {reading.name: tuple(policy for policy in reading.policies if policy in policies) for reading in readings}
    digest = code_digest("instances", "online", family="coupled")
    jobs = [
        Job(
            hashlib.sha256(
                repr((digest, "reading", reading.name, chosen[reading.name], source.identity)).encode()
            ).hexdigest(),
            f"{reading.name} on {source.name}",
            _play,
            (source, reading.name, chosen[reading.name]),
            group=source.identity,
        )
        for source in sources
        for reading in readings
        if chosen[reading.name]
    ]
    with Journal(folder) as journal:
        run_jobs("readings", jobs, journal, num_processes=num_processes)


@dataclass(slots=True)
class _Met:
    """The instance at hand, and whether the search was asked about it."""

    identity: str = ""
    instance: Instance | None = None
    status: str | None = None


_met = _Met()


def _play(source: Paper, name: str, policies: Sequence[str]) -> dict[str, Any]:
    """Run the heuristics of a reading; all failed where no schedule finishes."""
    if _met.identity != source.identity:
        _met.identity, _met.instance, _met.status = source.identity, source.load(), None
    instance = _met.instance
    assert instance is not None
    options = Options(seed=source.seed, check_slots=0).with_run(READINGS[name].options)
    makespans: dict[str, int | None] = {}
    for policy in policies:
        if _met.status == "infeasible":
            makespans[policy] = None
            continue
        makespans[policy] = simulate(family_named("coupled"), instance, policy, options).value
        if makespans[policy] is None and _met.status is None and policy != "RANDOM":
            _met.status = str(offline.solve(instance, "makespan", time_limit_s=_TIME_LIMIT_S).status)
    if _met.status == "infeasible" and any(makespans.values()):
        raise SelfCheckError(f"{source.name}: a heuristic finishes where the search proves that nobody can")
    return {
        "kind": "reading",
        "reading": name,
        "setting": source.setting,
        "instance": source.name,
        "point": source.point,
        "status": _met.status,
        "makespans": makespans,
    }


def read_runs(folder: Path) -> pd.DataFrame:
    """Return what ``folder`` holds, a row per run.

    Returns
    -------
    pandas.DataFrame
        ``reading``, the point of the experiment (``m``, ``n_com``, ``wmin``, ``instance_seed``, ``scenario``,
        ``trial``), ``policy``, ``makespan`` (missing: it failed) and ``status``, what the search said of the instance
        (missing: it was not asked).
    """
    import pandas as pd

    frame = pd.DataFrame(_runs(folder))
    frame["makespan"] = frame["makespan"].astype("Int64")
    return frame


def _runs(folder: Path) -> Iterator[dict[str, Any]]:
    text = read_bytes(folder / Journal.NAME)
    for line in text[: text.rfind(b"\n") + 1].splitlines():  # somebody may still be writing: only whole rows count
        row = msgspec.json.decode(line)
        if row.get("kind") != "reading":
            continue
        point = {name: row["point"][name] for name in ("m", "n_com", "wmin", "scenario", "trial")}
        for policy, makespan in row["makespans"].items():
            yield {
                "reading": row["reading"],
                **point,
                "instance_seed": row["point"]["seed"],
                "policy": policy,
                "makespan": makespan,
                "status": row["status"],
            }
