"""The paper's experiment under several readings and seeds: one row per instance and reading, compact and resumable.

A run that fails costs a million slots. So where a heuristic fails, the hindsight search is asked whether any schedule
finishes: where it proves that none does, no other heuristic is run on the instance, and all have failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from docs.studies.rows import ROWS, read_rows
from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.jobs import job_key, load_shared, simulate
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.coupled.paper import Paper
from hindsched.bench.coupled.paper_tables import TABLES
from hindsched.bench.coupled.reproduction import READINGS, Reading
from hindsched.bench.coupled.versus import versus
from hindsched.bench.family import family_named
from hindsched.bench.results.read import read_results
from hindsched.bench.run_records import Options
from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.instances.text_files import read_bytes, write_text
from hindsched.online.coupled import POLICIES

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "PROACTIVE",
    "PUBLISHED",
    "metrics_of",
    "policies_of",
    "published_metrics",
    "published_runs",
    "read_runs",
    "run_on",
    "write_metrics",
]

#: The heuristics that compare; no other is changed by a reading of the comparison.
PROACTIVE = tuple(policy for policy in POLICIES if "-" in policy)

#: The readings of which the runs of seed 0 are published with the toolkit.
PUBLISHED = ("printed", "conditional")

#: How long the hindsight search may take to prove that an instance has no schedule.
_TIME_LIMIT_S = 30.0

_INSTANCE = ["m", "n_com", "wmin", "instance_seed", "scenario", "trial"]


def policies_of(reading: Reading) -> tuple[str, ...]:
    """Return the heuristics that a reading changes; the others run as under ``printed``."""
    only_compares = set(reading.options) == {"comparison"} and not reading.instance
    return PROACTIVE if only_compares else POLICIES


def run_on(
    sources: Sequence[Paper],
    readings: Sequence[Reading],
    folder: Path,
    *,
    policies: Sequence[str] = POLICIES,
    num_processes: int = 1,
) -> None:
    """Run the given heuristics on every instance, as far as a reading changes them, resuming what ``folder`` holds."""
    jobs = []
    for source in sources:
        for reading in readings:
            drawn = replace(source, **reading.instance)
            chosen = tuple(policy for policy in policies_of(reading) if policy in policies)
            key = job_key("coupled", "online", "reading", reading.name, chosen, drawn.identity)
            arguments = (drawn, reading.name, chosen)
            jobs.append(Job(key, f"{reading.name} on {drawn.name}", _play, arguments, group=drawn.identity))
    with Journal(folder) as journal:
        run_jobs("readings", jobs, journal, num_processes=num_processes)


@dataclass(slots=True)
class _Asked:
    """What the search said of the instance at hand; None: it was not asked."""

    identity: str = ""
    status: str | None = None


_asked = _Asked()


def _play(source: Paper, name: str, policies: Sequence[str]) -> dict[str, Any]:
    """Run the heuristics of a reading; all failed where no schedule finishes."""
    if _asked.identity != source.identity:
        _asked.identity, _asked.status = source.identity, None
    family = family_named("coupled")
    instance = load_shared(source)
    options = Options(seed=source.seed, check_slots=0, time_limit_s=_TIME_LIMIT_S).with_run(READINGS[name].options)
    makespans: dict[str, int | None] = {}
    for policy in policies:
        if _asked.status == "infeasible":
            makespans[policy] = None
            continue
        played = simulate(family, instance, policy, options)
        makespans[policy] = None if played.value is None else int(played.value)
        if played.value is None and _asked.status is None and policy != "RANDOM":  # which fails often, and elsewhere
            _asked.status = str(family.solve(instance, options).status)
    if _asked.status == "infeasible" and any(makespans.values()):
        raise SelfCheckError(f"{source.name}: a heuristic finishes where the search proves that nobody can")
    return {
        "kind": "reading",
        "reading": name,
        "setting": source.setting,
        "instance": source.name,
        "point": source.point,
        "status": _asked.status,
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

    Raises
    ------
    InputError
        Where the folder holds no run.
    """
    import pandas as pd

    frame = pd.DataFrame(_runs(folder))
    if frame.empty:
        raise InputError("no runs, expected those of python -m docs.studies readings", file=folder)
    lengths = sorted(set(frame["slots"]))
    if len(lengths) > 1:
        told = " and ".join(map(str, lengths))
        raise InputError(f"runs over {told} slots, expected one number: take a folder for each", file=folder)
    frame["makespan"] = frame["makespan"].astype("Int64")
    frame = frame.drop(columns="slots")
    return frame.drop_duplicates(["reading", *_INSTANCE, "policy"], keep="last", ignore_index=True)


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
                "slots": row["point"]["slots"],
                "policy": policy,
                "makespan": makespan,
                "status": row["status"],
            }


def published_runs() -> pd.DataFrame:
    """Return the published runs of seed 0, under ``printed`` and ``conditional``, as `read_runs` does."""
    runs = read_results(ROWS / "paper_runs.csv.xz").runs
    runs = runs.rename(columns={"value": "makespan", "estimator": "reading", "optimum_status": "status"})
    runs["makespan"] = runs["makespan"].astype("Int64")
    return runs[["reading", *_INSTANCE, "policy", "makespan", "status"]]


def metrics_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the metrics of Tables I and II under each reading and seed.

    Where a reading changes the proactive heuristics alone, the others' runs are those under ``printed``. Readings of
    one seed are compared on what they have in common.

    Parameters
    ----------
    runs
        As returned by `read_runs` and `published_runs`, one after the other.

    Returns
    -------
    pandas.DataFrame
        ``reading``, ``seed``, ``sample``: the instances ``common`` to all readings of the seed, and ``all`` that were
        run under the reading where these are more; how many ``instances`` that are, how many ``trials`` a scenario they
        have at most and how many are proven ``impossible``; ``table``; and the columns of `versus`.
    """
    import pandas as pd

    found = []
    for seed, of_seed in runs.groupby("instance_seed", sort=True):
        whole = {name: _whole(of_seed, READINGS[str(name)]) for name in of_seed["reading"].unique()}
        whole = {name: frame for name, frame in whole.items() if len(frame)}
        common = _common([frame[_INSTANCE].drop_duplicates() for frame in whole.values()])
        hopeless = of_seed.loc[of_seed["status"] == "infeasible", _INSTANCE].drop_duplicates()
        for name in sorted(whole, key=list(READINGS).index):
            samples = {"all": whole[name], "common": whole[name].merge(common, on=_INSTANCE)}
            for sample, frame in samples.items():
                if sample == "all" and len(frame) == len(samples["common"]):
                    continue
                for table, m in TABLES.items():
                    mine = frame[frame["m"] == m]
                    if len(mine):
                        about = {"reading": name, "seed": int(str(seed)), "sample": sample, **_size(mine, hopeless)}
                        found.append(versus(mine).assign(**about, table=table))
    metrics = pd.concat(found, ignore_index=True)
    first = ["reading", "seed", "sample", "instances", "trials", "impossible", "table"]
    return metrics[[*first, *(name for name in metrics.columns if name not in first)]]


def _whole(runs: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Return the runs under a reading on the instances where none is missing (RANDOM may be)."""
    import pandas as pd

    mine = runs[runs["reading"] == reading.name]
    changed = policies_of(reading)
    if changed != POLICIES:
        others = runs[(runs["reading"] == "printed") & ~runs["policy"].isin(changed)]
        mine = pd.concat([mine, others.merge(mine[_INSTANCE].drop_duplicates(), on=_INSTANCE)], ignore_index=True)
    counts = mine[mine["policy"] != "RANDOM"].groupby(_INSTANCE, as_index=False)["policy"].nunique()
    full = counts.loc[counts["policy"] == len(POLICIES) - 1, _INSTANCE]
    return mine.merge(full, on=_INSTANCE)


def _common(instances: Sequence[pd.DataFrame]) -> pd.DataFrame:
    common = instances[0]
    for other in instances[1:]:
        common = common.merge(other, on=_INSTANCE)
    return common


def _size(runs: pd.DataFrame, hopeless: pd.DataFrame) -> dict[str, int]:
    instances = runs[_INSTANCE].drop_duplicates()
    per_scenario = instances.groupby([name for name in _INSTANCE if name != "trial"]).size()
    return {
        "instances": len(instances),
        "trials": int(per_scenario.max()),
        "impossible": len(instances.merge(hopeless, on=_INSTANCE)),
    }


def write_metrics(metrics: pd.DataFrame, path: Path) -> None:
    """Write metrics as CSV, numbers to four decimals: what ``docs/studies/rows/paper_readings.csv`` holds."""
    write_text(path, metrics.to_csv(index=False, float_format="%.4f"))


def published_metrics() -> pd.DataFrame:
    """Return the metrics published with the toolkit (``python -m docs.studies readings``), as `metrics_of` does."""
    return read_rows("paper_readings")
