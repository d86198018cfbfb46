"""The paper's experiment under several readings and seeds: one row per instance and reading.

A failed run costs a million slots. So where a heuristic fails, the exact search checks feasibility. If the instance is
infeasible, all other heuristics fail too and are not run.
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

#: Heuristics with a comparison of configurations; only these change with a reading of the comparison.
PROACTIVE = tuple(policy for policy in POLICIES if "-" in policy)

#: Readings whose runs of seed 0 are stored.
PUBLISHED = ("printed", "conditional")

#: Seconds for the exact search to prove that an instance is infeasible.
_TIME_LIMIT_S = 30.0

_INSTANCE = ["m", "n_com", "wmin", "instance_seed", "scenario", "trial"]


def policies_of(reading: Reading) -> tuple[str, ...]:
    """Return the heuristics that a reading changes; the others equal their runs under ``printed``."""
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
    """Run the heuristics that a reading changes on every instance; resume what ``folder`` holds."""
    jobs = []
    for source in sources:
        for reading in readings:
            drawn = replace(source, **reading.instance)
            chosen = tuple(policy for policy in policies_of(reading) if policy in policies)
            key = job_key("coupled", "online", "reading", reading.name, chosen, drawn.identity)
            arguments = (drawn, reading.name, chosen)
            jobs.append(Job(key, f"{reading.name} on {drawn.name}", _run, arguments, group=drawn.identity))
    with Journal(folder) as journal:
        run_jobs("readings", jobs, journal, num_processes=num_processes)


@dataclass(slots=True)
class _Feasibility:
    """Status of the current instance by the exact search; None: not solved."""

    identity: str = ""
    status: str | None = None


_feasibility = _Feasibility()


def _run(source: Paper, name: str, policies: Sequence[str]) -> dict[str, Any]:
    """Run the heuristics of a reading; all fail on an infeasible instance."""
    if _feasibility.identity != source.identity:
        _feasibility.identity, _feasibility.status = source.identity, None
    family = family_named("coupled")
    instance = load_shared(source)
    options = Options(seed=source.seed, check_slots=0, time_limit_s=_TIME_LIMIT_S).with_run(READINGS[name].options)
    makespans: dict[str, int | None] = {}
    for policy in policies:
        if _feasibility.status == "infeasible":
            makespans[policy] = None
            continue
        played = simulate(family, instance, policy, options)
        makespans[policy] = None if played.value is None else int(played.value)
        # RANDOM often fails on feasible instances
        if played.value is None and _feasibility.status is None and policy != "RANDOM":
            _feasibility.status = str(family.solve(instance, options).status)
    if _feasibility.status == "infeasible" and any(makespans.values()):
        raise SelfCheckError(f"{source.name}: a heuristic finishes an instance that is proven infeasible")
    return {
        "kind": "reading",
        "reading": name,
        "setting": source.setting,
        "instance": source.name,
        "point": source.point,
        "status": _feasibility.status,
        "makespans": makespans,
    }


def read_runs(folder: Path) -> pd.DataFrame:
    """Return the runs in ``folder``, one row per run.

    Returns
    -------
    pandas.DataFrame
        ``reading``, the point of the experiment (``m``, ``n_com``, ``wmin``, ``instance_seed``, ``scenario``,
        ``trial``), ``policy``, ``makespan`` (missing: failed) and ``status`` of the instance by the exact search
        (missing: not solved).

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
        found = " and ".join(map(str, lengths))
        raise InputError(f"runs over {found} slots, expected one number: use a folder for each", file=folder)
    frame["makespan"] = frame["makespan"].astype("Int64")
    frame = frame.drop(columns="slots")
    return frame.drop_duplicates(["reading", *_INSTANCE, "policy"], keep="last", ignore_index=True)


def _runs(folder: Path) -> Iterator[dict[str, Any]]:
    text = read_bytes(folder / Journal.NAME)
    for line in text[: text.rfind(b"\n") + 1].splitlines():  # another process may be writing: only whole rows count
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
    """Return the stored runs of seed 0 under ``printed`` and ``conditional``, as `read_runs` does."""
    runs = read_results(ROWS / "paper_runs.csv.xz").runs
    runs = runs.rename(columns={"value": "makespan", "estimator": "reading", "optimum_status": "status"})
    runs["makespan"] = runs["makespan"].astype("Int64")
    return runs[["reading", *_INSTANCE, "policy", "makespan", "status"]]


def metrics_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the metrics of Tables I and II under each reading and seed.

    Where a reading changes the proactive heuristics alone, the runs of the others are those under ``printed``. Readings
    of one seed are compared on their common instances.

    Parameters
    ----------
    runs
        Rows of `read_runs` and `published_runs`.

    Returns
    -------
    pandas.DataFrame
        ``reading``, ``seed``, ``sample`` (``common``: instances of all readings of the seed; ``all``: all instances of
        the reading, where these are more), the numbers of ``instances``, of ``trials`` per scenario and of
        ``impossible`` (infeasible) instances, ``table``, and the columns of `versus`.
    """
    import pandas as pd

    found = []
    for seed, of_seed in runs.groupby("instance_seed", sort=True):
        whole = {name: _whole(of_seed, READINGS[str(name)]) for name in of_seed["reading"].unique()}
        whole = {name: frame for name, frame in whole.items() if len(frame)}
        common = _common([frame[_INSTANCE].drop_duplicates() for frame in whole.values()])
        infeasible = of_seed.loc[of_seed["status"] == "infeasible", _INSTANCE].drop_duplicates()
        for name in sorted(whole, key=list(READINGS).index):
            samples = {"all": whole[name], "common": whole[name].merge(common, on=_INSTANCE)}
            for sample, frame in samples.items():
                if sample == "all" and len(frame) == len(samples["common"]):
                    continue
                for table, m in TABLES.items():
                    mine = frame[frame["m"] == m]
                    if len(mine):
                        about = {"reading": name, "seed": int(str(seed)), "sample": sample, **_size(mine, infeasible)}
                        found.append(versus(mine).assign(**about, table=table))
    metrics = pd.concat(found, ignore_index=True)
    first = ["reading", "seed", "sample", "instances", "trials", "impossible", "table"]
    return metrics[[*first, *(name for name in metrics.columns if name not in first)]]


def _whole(runs: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Return the runs under a reading on the instances with runs of all heuristics (RANDOM may be missing)."""
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


def _size(runs: pd.DataFrame, infeasible: pd.DataFrame) -> dict[str, int]:
    instances = runs[_INSTANCE].drop_duplicates()
    per_scenario = instances.groupby([name for name in _INSTANCE if name != "trial"]).size()
    return {
        "instances": len(instances),
        "trials": int(per_scenario.max()),
        "impossible": len(instances.merge(infeasible, on=_INSTANCE)),
    }


def write_metrics(metrics: pd.DataFrame, path: Path) -> None:
    """Write metrics as CSV to four decimals, the form of ``docs/studies/rows/paper_readings.csv``."""
    write_text(path, metrics.to_csv(index=False, float_format="%.4f"))


def published_metrics() -> pd.DataFrame:
    """Return the stored metrics, as `metrics_of` does."""
    return read_rows("paper_readings")
