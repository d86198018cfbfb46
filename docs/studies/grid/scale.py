"""Measure time and memory of dgs on large grids over both overlays, each run in its own process."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from hindsched import instances
from hindsched.instances.errors import SelfCheckError
from hindsched.instances.grid import Instance
from hindsched.instances.grid.generate import generate
from hindsched.online.grid import make_policy, run_policy
from hindsched.online.grid.options import CHOICES

__all__ = ["COLUMNS", "measure"]

COLUMNS = (
    *("nodes", "overlay", "jobs", "slots", "failed", "mean_wait_s"),
    *("overlay_s", "run_s", "job_us", "shuffle_us", "peak_megabytes"),
)
_SLOT_S, _LOAD = 60, 0.28
_FIRST = Instance(nodes=2, slot_s=60, submit=[0, 11], width=[1, 1], length=[1, 1])


def measure(sizes: Sequence[int], jobs: int, seed: int) -> Iterator[dict[str, Any]]:
    """Run dgs on generated workloads at 28 % of load, and yield a row per number of nodes and overlay.

    Parameters
    ----------
    sizes
        Numbers of nodes.
    jobs
        Jobs of each workload.
    seed
        Seed of workloads, overlays and runs.

    Yields
    ------
    dict
        The names of `COLUMNS`. Times are processor seconds and microseconds: ``overlay_s`` to draw the static lists,
        with which both overlays begin, ``run_s`` for the rest. ``job_us`` is ``run_s`` per job over the static overlay,
        ``shuffle_us`` the additional time of the dynamic overlay per node and round of Cyclon.
    """
    for nodes in sizes:
        before_s = 0.0
        for overlay in CHOICES["overlay"]:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:  # the peak of memory is per process
                row = pool.submit(_row, nodes, overlay, jobs, seed).result()
            if overlay == "static":
                before_s = row["run_s"]
                row["job_us"] = round(1e6 * before_s / jobs, 1)
            else:
                turns = nodes * (row["slots"] // make_policy("dgs").every)  # type: ignore[union-attr]
                row["shuffle_us"] = round(1e6 * (row["run_s"] - before_s) / turns, 2) if turns else None
            yield row


def _row(nodes: int, overlay: str, jobs: int, seed: int) -> dict[str, Any]:
    from hindsched.online.grid.kernels.overlay_kernels import static_overlay

    instance = generate(nodes=nodes, slot_s=_SLOT_S, jobs=jobs, load=_LOAD, seed=seed)
    policy = make_policy("dgs", overlay=overlay, seed=seed)
    run_policy(_FIRST, policy, engine="kernel")  # loads the compiled code
    begun = time.process_time()
    static_overlay(nodes, policy.degree, seed)  # type: ignore[union-attr]
    drawn_s = time.process_time() - begun
    begun = time.process_time()
    run = run_policy(instance, policy, engine="kernel")
    run_s = time.process_time() - begun - drawn_s
    verdict = instances.check(instance, run.schedule())
    metrics = run.metrics()
    if not verdict.is_valid or verdict.outcome.total_wait != metrics.total_wait:
        raise SelfCheckError(f"dgs on {nodes} nodes: the checker says {verdict}")
    return {
        "nodes": nodes,
        "overlay": overlay,
        "jobs": jobs,
        "slots": int(instance.submit[-1]),
        "failed": metrics.failed,
        "mean_wait_s": round(_SLOT_S * metrics.total_wait / max(1, jobs - metrics.failed), 2),
        "overlay_s": round(drawn_s, 2),
        "run_s": round(run_s, 2),
        "job_us": None,
        "shuffle_us": None,
        "peak_megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3),
    }
