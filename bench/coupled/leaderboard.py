"""The leaderboard of coupled: policies on held-out instances of the paper's experiment, with proven optima.

The seed of these instances has no other use. The package stores their fingerprints, optima, and the makespans of the
built-in policies, so only a user's own policies are run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hindsched import instances, offline
from hindsched.bench.campaign.engine import Job, code_digest, run_jobs
from hindsched.bench.campaign.jobs import job_key, label_of, load_shared
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.coupled.paper import Paper
from hindsched.bench.progress import counting
from hindsched.bench.results.ratio_statistics import distribution
from hindsched.bench.results.ratios import with_ratios
from hindsched.bench.results.records import records_or_none
from hindsched.bench.shared_types import Policy, Row
from hindsched.instances.coupled import Instance
from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.instances.text_files import write_text
from hindsched.online.coupled import OURS, POLICIES, RunOptions, make_policy, run_policy
from hindsched.online.coupled.isolated import IsolatedPolicy
from hindsched.online.loading import policies_by_name, stdout_to_stderr

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLUMNS", "POINT", "SEED", "board", "known_runs", "make", "named", "play", "rebuild", "sources"]

#: The seed of the held-out instances, which was used for nothing else.
SEED = 2013
#: Slot limit of a run.
SLOTS = 50_000
#: The parameters that identify an instance.
POINT = ("m", "n_com", "wmin", "scenario", "trial", "seed")
COLUMNS = ("rank", "policy", "quartile_1", "median", "quartile_3", "mean", "within30", "within100", "unfinished")


def known_runs() -> pd.DataFrame:
    """Return the packaged table ``bench/data/leaderboard.csv``, as `rebuild` writes it."""
    import pandas as pd

    with files("hindsched.bench").joinpath("data/leaderboard.csv").open("rb") as file:
        return pd.read_csv(file).convert_dtypes()


def sources() -> list[Paper]:
    """Return the instances: three scenarios at each of twelve points whose optima are short.

    Examples
    --------
    >>> len(sources()), sources()[0].name
    (36, 'paper p=20 m=5 n_com=5 wmin=1 K=10 scenario=0 trial=0')
    """
    return [
        Paper(m, n_com, wmin, scenario, 0, SLOTS, SEED, 20, 10)
        for m, n_com, wmin, scenario in product((5, 10), (5, 20), (1, 2, 3), range(3))
    ]


def rebuild(folder: Path, *, num_processes: int = 1) -> pd.DataFrame:
    """Compute the optima and the runs of built-in policies, resuming; write ``leaderboard.csv`` to ``folder``.

    Returns
    -------
    pandas.DataFrame
        One row per instance: `POINT`, ``fingerprint``, ``optimum`` and the makespan of each policy (missing: not
        finished).

    Raises
    ------
    SelfCheckError
        If an optimum is not proven, or a run is shorter.
    """
    import pandas as pd

    solvers = code_digest("offline", family="coupled")
    jobs = [
        Job(job_key("coupled", "online", "leaderboard", s.identity, solvers), s.name, _row, (s,)) for s in sources()
    ]
    with Journal(folder) as journal:
        run_jobs("leaderboard", jobs, journal, num_processes=num_processes)
        rows = [journal[job.key] for job in jobs]
    columns = [*POINT, "fingerprint", "optimum", *POLICIES, *OURS]
    frame = pd.DataFrame([row["row"] for row in rows], columns=columns).convert_dtypes()
    write_text(folder / "leaderboard.csv", frame.to_csv(index=False))
    return frame


def _row(source: Paper) -> Row:
    instance = load_shared(source)
    result = offline.solve(instance, "makespan")
    if result.status != "optimal" or result.value is None:
        raise SelfCheckError(f"{source.name}: {result.status}, expected a proven optimum")
    row: Row = {name: getattr(source, name) for name in POINT}
    row |= {"fingerprint": instance.fingerprint, "optimum": int(result.value)}
    for policy in (*POLICIES, *OURS):
        row[policy] = _makespan(instance, policy, int(result.value))
    return {"kind": "leaderboard", "row": row}


def _makespan(instance: Instance, policy: Policy, optimum: int, options: RunOptions | None = None) -> int | None:
    with stdout_to_stderr():
        run = run_policy(instance, policy, options)
    verdict = instances.check(instance, run.schedule)
    if not verdict.is_valid or (run.makespan is not None and run.makespan < optimum):
        raise SelfCheckError(
            f"{run.policy}: {run.makespan} slots where the optimum is {optimum}; the checker: {verdict}"
        )
    return run.makespan


def make(policy: str, *, time_limit_s: float | None = None) -> Policy:
    """Return a policy; a user's policy is made in a process of its own, and only its name is of use here.

    Parameters
    ----------
    policy
        A name, or ``path/to/file.py:ClassName``.
    time_limit_s
        Seconds that this may take; None: no limit.

    Raises
    ------
    InputError
        For an invalid policy.
    """
    if policy in (*POLICIES, *OURS):
        return make_policy(policy)
    with IsolatedPolicy(policy, RunOptions(), time_limit_s=time_limit_s) as made:
        return made


def named(made: Mapping[str, Policy]) -> dict[str, str]:
    """Return policies by name, each once, from what `make` returns for each.

    Raises
    ------
    InputError
        For two policies with the same name.
    """
    return policies_by_name(made, made.__getitem__, taken=(*POLICIES, *OURS))


def play(policy: str, *, time_limit_s: float | None = None) -> list[int | None]:
    """Run a policy on the held-out instances; return its makespans, None for unfinished runs.

    A user's policy runs in a process of its own, a new one for each instance, which does not hold the future.

    Parameters
    ----------
    policy
        A name, or ``path/to/file.py:ClassName``.
    time_limit_s
        Seconds that the policy may take in a run; None: no limit.

    Raises
    ------
    InputError
        For an invalid policy, or one that breaks a rule, ends its process, or exceeds the time limit.
    SelfCheckError
        If an instance differs from the published one.
    """
    known = known_runs()
    makespans = []
    options = RunOptions(isolated=True, policy_time_limit_s=time_limit_s)
    with counting(f"{label_of(policy)} on held-out instances", total=len(known), done=0) as counter:
        for source, fingerprint, optimum in zip(sources(), known["fingerprint"], known["optimum"], strict=True):
            instance = source.load()
            if instance.fingerprint != fingerprint:
                raise SelfCheckError(f"{source.name}: {instance.fingerprint}, published as {fingerprint}")
            try:
                makespans.append(_makespan(instance, policy, int(optimum), options))
            except InputError as error:
                raise error.in_file(source.name) from None
            counter.step(source.name, failed=False)
    return makespans


def board(mine: Mapping[str, Sequence[int | None]]) -> list[Row]:
    """Return the rows of the table: published and given policies, by the median of makespan / optimum.

    The statistics are those of `bench.results.ratio_statistics.distribution`: quartiles are over all runs, None where
    they lie among unfinished ones; the mean is over finished runs.
    """
    import pandas as pd

    known = known_runs()
    makespans = {name: known[name].to_numpy(dtype=np.float64, na_value=np.inf) for name in (*POLICIES, *OURS)}
    for name, found in mine.items():
        if name in makespans and not np.array_equal(makespans[name], _floats(found)):
            raise InputError("a published policy has this name, expected another", place=f"policy {name}")
        makespans[name] = _floats(found)
    runs = pd.concat([_runs(known, name, values) for name, values in makespans.items()], ignore_index=True)
    table = distribution(with_ratios(runs)).sort_values(["median_high", "quartile_3_high"], kind="stable")
    rows = [{name: row.get(name) for name in COLUMNS} for row in records_or_none(table.astype({"unfinished": int}))]
    return [row | {"rank": rank} for rank, row in enumerate(rows, start=1)]


def _runs(known: pd.DataFrame, policy: str, makespans: npt.NDArray[np.float64]) -> pd.DataFrame:
    """Return a policy's runs as a frame for the ratio table."""
    optimum = known["optimum"].to_numpy(dtype=np.float64)
    return known[["fingerprint"]].assign(
        family="coupled", sense="min", policy=policy, value=np.where(np.isfinite(makespans), makespans, np.nan),
        limit=SLOTS, optimum=optimum, optimum_bound=optimum, optimum_status="optimal", has_own_optimum=False,
        cluster=known["fingerprint"],
    )  # fmt: skip


def _floats(values: Sequence[int | None]) -> npt.NDArray[np.float64]:
    return np.array([np.inf if value is None else float(value) for value in values])
