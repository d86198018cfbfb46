"""The program Lagrangian on small instances of all shapes: bounds against optima, certificates evaluated."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from hindsched.bench.campaign.engine import Job, code_digest, run_jobs
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.coupled.paper import Paper
from hindsched.bench.verification import place_of
from hindsched.instances import SelfCheckError, check
from hindsched.instances.coupled import Branching, Instance, LagrangianCertificate
from hindsched.instances.random_streams import stream
from hindsched.instances.states import DOWN, RECLAIMED, UP
from hindsched.offline import coupled as offline_coupled
from hindsched.offline.coupled.bounds.program_lagrangian.program_bound import ProgramLagrangianBound, warm_up

__all__ = ["CELLS", "CELL_COLUMNS", "COLUMNS", "measure", "measure_cells", "small_instance"]

#: Counts for each K: instances; infeasible ones; bounds above the optimum; bounds equal to it; equal bounds that the
#: free-prefetch windows alone give; refutations of optimum - 1; certificates; and certificates that the evaluator
#: refuses or that prove less.
COLUMNS = (
    "iterations",
    "instances",
    "infeasible",
    "above",
    "met",
    "by_windows",
    "refuted",
    "certificates",
    "refused",
)

#: Hard points of the study ``scale``: p, m, n_com, wmin.
CELLS = (
    (500, 50, 5, 4),
    (1000, 50, 5, 5),
    (500, 50, 5, 2),
    (1000, 20, 5, 4),
    (500, 20, 5, 3),
    (200, 20, 5, 3),
    (100, 50, 5, 1),
    (100, 20, 5, 1),
)
#: The point; the bound after a given processor time; the leaves of its certificate (``parts``), the value
#: that the evaluator confirms, and the seconds of the evaluation.
CELL_COLUMNS = ("p", "m", "n_com", "wmin", "bound", "seconds", "parts", "proven", "check_s")

#: Instances of a job, which takes some seconds.
_BLOCK = 50
#: Largest number of steps of the bound on a small instance.
_MAX_STEPS = 600


def small_instance(number: int, seed: int = 0) -> Instance:
    """Return a small random instance with programs; speeds, bounds mu, n_com, T_prog, T_data, K and rates are drawn.

    Examples
    --------
    >>> small_instance(4).t_prog >= 1
    True
    """
    draw = stream("rents", "small", 1, seed, number)
    p, tasks = int(draw.integers(2, 8, endpoint=True)), int(draw.integers(1, 5, endpoint=True))
    iterations = int(draw.integers(1, 5, endpoint=True))
    slots = int(draw.integers(8, 24)) + 10 * iterations
    up = draw.uniform(0.6, 0.98)
    share_down = draw.choice([0.0, 0.1, 0.3, 1.0])
    numbers = draw.random((p, slots))
    states = np.where(numbers < up, UP, np.where(numbers < up + (1 - up) * share_down, DOWN, RECLAIMED))
    mu: list[int | None] = [int(bound) or None for bound in draw.integers(0, tasks, size=p, endpoint=True)]
    mu[0] = None
    return Instance(
        tasks=tasks,
        iterations=iterations,
        n_com=int(draw.integers(1, max(1, p // 2), endpoint=True)),
        t_prog=int(draw.integers(1, 4, endpoint=True)),
        t_data=int(draw.integers(0, 2, endpoint=True)),
        w=tuple(draw.integers(1, 4, size=p).tolist()),
        mu=tuple(mu),
        states=states.astype(np.uint8),
    )


def measure(folder: Path, instances: int, seed: int) -> list[dict[str, int]]:
    """Compute bounds of many small instances: from zero multipliers, and to refute optimum - 1.

    Parameters
    ----------
    folder
        For the journal, and for an instance with a bound above its optimum or a refused certificate.
    instances, seed
        Number of instances, and their seed.

    Returns
    -------
    list of dict
        A row of `COLUMNS` for each K.

    Raises
    ------
    SelfCheckError
        For a bound above the optimum, or a certificate that is refused.
    """
    code = code_digest("instances", "offline", "bench")
    blocks = [(first, min(first + _BLOCK, instances)) for first in range(0, instances, _BLOCK)]
    jobs = [
        Job(f"rents|{code}|{first}-{stop}|{seed}", f"{first} to {stop - 1}", _measure_some, (first, stop, seed, folder))
        for first, stop in blocks
    ]
    counts: dict[int, Counter[str]] = {}
    with Journal(folder) as journal:
        run_jobs("blocks of instances", jobs, journal)
        for job in jobs:
            for row in journal[job.key]["rows"]:
                counts.setdefault(row["iterations"], Counter()).update(row)
    return [{**{name: counts[k][name] for name in COLUMNS}, "iterations": k} for k in sorted(counts)]


def _measure_some(first: int, stop: int, seed: int, folder: Path) -> dict[str, Any]:
    """Return the counts of the instances first..stop-1."""
    rows = []
    for number in range(first, stop):
        instance = small_instance(number, seed)
        found = _counts(instance)
        if found["above"] or found["refused"]:
            where = place_of(instance, number, seed, folder=folder, name=f"rents-{seed}-{number}.json")
            raise SelfCheckError(f"{where}: a bound above the optimum, or a certificate refused: {found}")
        rows.append({"iterations": instance.iterations, **found})
    return {"rows": rows}


def measure_cells(folder: Path, seconds: int) -> list[dict[str, Any]]:
    """Run the bound alone on each of `CELLS` for this many seconds of processor time.

    Returns
    -------
    list of dict
        A row of `CELL_COLUMNS` for each.

    Raises
    ------
    SelfCheckError
        For a certificate that is refused.
    """
    warm_up()
    code = code_digest("instances", "offline", "bench")
    jobs = [Job(f"rents|{code}|{cell}|{seconds}", str(cell), _measure_cell, (*cell, seconds)) for cell in CELLS]
    with Journal(folder) as journal:
        run_jobs("points", jobs, journal)
        return [{name: journal[job.key][name] for name in CELL_COLUMNS} for job in jobs]


def _measure_cell(p: int, m: int, n_com: int, wmin: int, seconds: int) -> dict[str, Any]:
    """Return the row of a point, for the first instance of the study ``scale``."""
    warm_up()
    instance = Paper(m, n_com, wmin, 0, 0, 100_000, 0, p, 10).load()
    bound = ProgramLagrangianBound(instance, instance.iterations)
    begun = process_time()
    while process_time() - begun < seconds and bound.work(0, instance.slots + 1):
        pass
    certificate = bound.certificate()
    begun, proven, parts = process_time(), None, None
    if certificate is not None:
        verdict = check(instance, certificate)
        if not verdict.is_valid:
            raise SelfCheckError(f"p={p} m={m} n_com={n_com} wmin={wmin}: {verdict}")
        proven, parts = verdict.outcome.value, certificate.proof.num_leaves()
    checked = round(process_time() - begun, 1)
    point = {"p": p, "m": m, "n_com": n_com, "wmin": wmin}
    return point | {"bound": bound.bound, "seconds": seconds, "parts": parts, "proven": proven, "check_s": checked}


def _counts(instance: Instance) -> dict[str, int]:
    """Return the counts of one instance."""
    answer = offline_coupled.solve(instance, solver="native")
    is_infeasible = answer.value is None
    optimum = instance.slots + 1 if answer.value is None else int(answer.value)
    free = ProgramLagrangianBound(instance, instance.iterations)
    _work(free, 0, instance.slots + 1)
    directed = ProgramLagrangianBound(instance, instance.iterations)
    _work(directed, optimum - 1, optimum)
    by_free = free.certificate()
    certificates = [one for one in (by_free, directed.certificate()) if one is not None]
    refused = above = 0
    for certificate in certificates:
        verdict = check(instance, certificate)
        refused += not (verdict.is_valid and verdict.outcome.value >= certificate.bound)
        above += verdict.is_valid and verdict.outcome.value > optimum
    return {
        "instances": 1,
        "infeasible": int(is_infeasible),
        "above": int(above or free.bound > optimum or directed.bound > optimum),
        "met": int(free.bound == optimum),
        "by_windows": int(free.bound == optimum and _needs_no_multipliers(by_free)),
        "refuted": int(directed.bound == optimum),
        "certificates": len(certificates),
        "refused": refused,
    }


def _needs_no_multipliers(certificate: LagrangianCertificate | None) -> bool:
    """Return whether a proof has neither branchings nor multipliers."""
    return certificate is None or not (
        isinstance(certificate.proof, Branching) or any(certificate.proof.program_values)
    )


def _work(bound: ProgramLagrangianBound, known: int, limit: int) -> None:
    for _ in range(_MAX_STEPS):
        if not bound.work(known, limit):
            return
