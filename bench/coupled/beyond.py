"""Our own policies on the paper's whole experiment, beside its heuristics and the hindsight optima (docs/beyond.md)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import instances
from bench.campaign.engine import Job, run_jobs
from bench.campaign.jobs import job_key, load_shared, names_of
from bench.campaign.journal import Journal
from bench.coupled.optima import known_optima
from bench.coupled.paper import Paper
from instances.errors import SelfCheckError
from instances.textio import write_text
from online.coupled import OURS, run_policy

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["POINT", "run_ours"]

#: What names an instance of the experiment.
POINT = ["m", "n_com", "wmin", "scenario", "trial"]
#: The checker replays so many slots of each run, from the first.
CHECKED_SLOTS = 300


def run_ours(
    sources: Sequence[Paper], folder: Path, *, policies: Sequence[str] = OURS, num_processes: int = 1
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Run policies on instances of the experiment, resuming what ``folder`` holds.

    Instances of seed 0 that no schedule finishes within the slots, by the published proofs, are left out: no policy
    finishes them either. They are run trial by trial, so that what an interrupted call has done is a sample of all.

    Returns
    -------
    pandas.DataFrame
        One row per instance that was run: its parameters, and a makespan for each policy (missing: not finished).
    pandas.DataFrame
        One row per policy: ``runs``, ``slots`` simulated in all, seconds of processor time that they took (``run_s``)
        and that the pilot runs before them took (``pilot_s``), which trials of one scenario share.

    Raises
    ------
    SelfCheckError
        When the checker refuses the beginning of a run, or a run is shorter than the proven optimum.
    """
    import pandas as pd

    published = known_optima()[[*POINT, "seed", "status", "makespan"]].to_numpy().tolist()
    known = {tuple(row[:6]): row[6:] for row in published}
    jobs, run = [], []
    for source in sorted(sources, key=lambda source: source.trial):
        status, optimum = known.get(tuple(getattr(source, name) for name in (*POINT, "seed")), (None, None))
        if status == "infeasible":
            continue
        for policy in policies:
            key = job_key("coupled", "online", "beyond", source.identity, policy)
            least = int(optimum) if status == "optimal" else None
            jobs.append(Job(key, f"{policy} on {source.name}", _run, (source, policy, least), group=source.identity))
            run.append((source, policy))
    with Journal(folder) as journal:
        run_jobs("beyond", jobs, journal, num_processes=num_processes)
        found = [journal[job.key] for job in jobs]
    makespans: dict[tuple[int, ...], dict[str, Any]] = {}
    for (source, policy), row in zip(run, found, strict=True):
        point = tuple(getattr(source, name) for name in POINT)
        makespans.setdefault(point, dict(zip(POINT, point, strict=True)))[policy] = row["makespan"]
    frame = pd.DataFrame(list(makespans.values()), columns=[*POINT, *policies]).convert_dtypes()
    frame = frame.sort_values(POINT, ignore_index=True)
    costs = pd.DataFrame(found, columns=["policy", "slots", "run_s", "pilot_s"])
    costs = costs.groupby("policy", sort=False).agg(
        runs=("slots", "size"), slots=("slots", "sum"), run_s=("run_s", "sum"), pilot_s=("pilot_s", "sum")
    )
    costs = costs.reset_index().round(3)
    write_text(folder / "beyond_runs.csv", frame.to_csv(index=False))
    write_text(folder / "beyond_speed.csv", costs.to_csv(index=False))
    return frame, costs


def _run(source: Paper, policy: str, least: int | None) -> dict[str, Any]:
    from online.coupled.ours.names import own_named
    from online.coupled.visible import Problem

    instance = load_shared(source)
    begun = time.process_time()
    own_named(policy).settings_for(Problem.of(instance))
    piloted = time.process_time()
    run = run_policy(instance, policy, schedule_slots=CHECKED_SLOTS, engine="kernel")
    ended = time.process_time()
    verdict = instances.check(instance, run.schedule)
    if not verdict.is_valid or (run.makespan is not None and least is not None and run.makespan < least):
        raise SelfCheckError(f"{policy} on {source.name}: {run.makespan}, optimum {least}; the checker: {verdict}")
    return {
        "kind": "beyond",
        **names_of(source, instance),
        "policy": policy,
        "makespan": run.makespan,
        "slots": run.slots,
        "run_s": ended - piloted,
        "pilot_s": piloted - begun,
    }
