"""Race on k-subset intersections: all sides solve the same arrays in turn, on one core."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np

from docs.studies.coupled.kmis_race.cells import Cell
from docs.studies.coupled.kmis_race.outcome import Outcome
from docs.studies.coupled.kmis_race.sides import MODELS, Side
from docs.studies.machine import machine
from hindsched.bench.campaign.engine import Job, code_digest
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.progress import counting
from hindsched.instances.errors import SelfCheckError

__all__ = ["compare", "duel", "loading_times", "mean_ratio"]

#: Solves shorter than this many seconds are repeated, at most this many times.
_SHORT_S, _REPEATS = 0.1, 5
#: A side that is stopped on this many first seeds of a cell and task skips the other seeds.
_PATIENCE = 2


def duel(
    cells: Sequence[Cell], sides: Sequence[Side], folder: Path, *, seeds: int, few_seeds: int, limit_s: float
) -> list[dict[str, Any]]:
    """Run every side on both tasks, every cell and every seed; return the rows.

    Times are processor time, including child processes, from the call with the array to the answer, after a first call
    on a tiny array. Solves of less than a tenth of a second are repeated up to five times, and the least time counts.
    All sides run on one array before the next one, on one core.

    Parameters
    ----------
    cells, sides
        The arrays and the programs. General solvers run on the small cells only.
    folder
        Of the journal; measurements in it are not repeated.
    seeds, few_seeds
        Arrays of each cell, and the number of them for slow sides: general solvers, and Eclat in growth cells.
    limit_s
        Time limit of a solve. A stopped solve counts with its time.

    Raises
    ------
    SelfCheckError
        Where two sides prove different answers.
    """
    rows: list[dict[str, Any]] = []
    total = len(cells) * seeds
    with _one_core(), Journal(folder) as journal, counting("k-subset intersections", total, 0) as counter:
        for cell in cells:
            stopped: dict[tuple[str, str], int] = {}
            for seed in range(seeds):
                for task in "AB":
                    known: dict[str, int | None] = {}
                    for side in sides:
                        if task not in side.tasks or seed >= _num_seeds(side, cell, seeds, few_seeds):
                            continue
                        if seed >= _PATIENCE and stopped.get((task, side.name), 0) >= _PATIENCE:
                            continue
                        job = Job(
                            f"duel|{machine()}|{side.identity}|{cell.identity}|{seed}|{task}|{limit_s:g}",
                            f"{side.name} on {cell.name}",
                            _measure,
                            (side, cell, seed, task, limit_s),
                        )
                        if job.key not in journal:
                            journal.append(job.run())
                        row = journal[job.key]
                        rows.append({**row, "cell": cell})
                        if row["is_proven"]:
                            known[side.name] = row["value"]
                        else:
                            stopped[task, side.name] = stopped.get((task, side.name), 0) + 1
                    if len(set(known.values())) > 1:
                        raise SelfCheckError(f"{cell.name}, seed {seed}, task {task}: sides disagree: {known}")
                counter.step(cell.name)
    return rows


def compare(rows: Sequence[dict[str, Any]], base: str = "core") -> list[dict[str, Any]]:
    """Return one row per cell, task and side: median time, and the median of its times over those of ``base``.

    Ratios are computed for each array. ``best-c`` is the faster of the two C searches on each array. A stopped solve
    makes its ratio a lower bound; ``stopped`` counts them among the ``tried``.
    """
    times: dict[tuple[Cell, str, int], dict[str, dict[str, Any]]] = {}
    for row in rows:
        times.setdefault((row["cell"], row["task"], row["seed"]), {})[row["side"]] = row
    for sides in times.values():
        of_file = [row for name, row in sides.items() if name.startswith("c-")]
        if of_file:
            sides["best-c"] = min(of_file, key=lambda row: (not row["is_proven"], row["seconds"]))
    compared = []
    for cell, task in dict.fromkeys((cell, task) for cell, task, _ in times):
        mine = [sides for (c, t, _), sides in times.items() if (c, t) == (cell, task)]
        for side in dict.fromkeys(name for sides in mine for name in sides):
            solves = [(sides[side], sides.get(base)) for sides in mine if side in sides]
            ratios = [row["seconds"] / other["seconds"] for row, other in solves if other is not None]
            compared.append(
                {
                    "group": cell.group,
                    "axis": cell.axis,
                    "p": cell.p,
                    "N": cell.slots,
                    "density": cell.density,
                    "m": cell.m,
                    "task": task,
                    "side": side,
                    "seeds": len(mine),
                    "tried": len(solves),
                    "stopped": sum(not row["is_proven"] for row, _ in solves),
                    "median_ms": 1000 * statistics.median(row["seconds"] for row, _ in solves),
                    "ratio": statistics.median(ratios) if ratios else None,
                }
            )
    return compared


def mean_ratio(ratios: Sequence[float]) -> float:
    """Return the geometric mean.

    Examples
    --------
    >>> round(mean_ratio([1.0, 4.0]), 9)
    2.0
    """
    return exp(statistics.fmean(log(ratio) for ratio in ratios))


def loading_times(folder: Path) -> dict[str, float]:
    """Return processor seconds of a first call in a new process: imports with compiled code, and compilation."""
    call = "import hindsched.offline, numpy as np; hindsched.offline.max_common_slots(np.ones((3, 4), dtype=bool), 2)"
    timed = f"import time\nbegun = time.process_time()\n{call}\nprint(time.process_time() - begun)"
    key = f"loading|{machine()}|{code_digest()}"
    with Journal(folder) as journal:
        if key not in journal:
            with tempfile.TemporaryDirectory() as empty:
                seconds = [
                    float(
                        subprocess.run(
                            [sys.executable, "-c", timed],
                            check=True,
                            capture_output=True,
                            text=True,
                            env={**os.environ, **extra},
                        ).stdout
                    )
                    for extra in ({}, {}, {"NUMBA_CACHE_DIR": empty})
                ]
            journal.append({"key": key, "import_s": seconds[1], "compile_s": seconds[2] - seconds[1]})
        row = journal[key]
    return {"import_s": row["import_s"], "compile_s": row["compile_s"]}


def _num_seeds(side: Side, cell: Cell, seeds: int, few_seeds: int) -> int:
    if side.name in MODELS:
        return min(seeds, few_seeds) if cell.group == "small" else 0
    return min(seeds, few_seeds) if side.name == "eclat" and cell.group == "growth" else seeds


def _measure(side: Side, cell: Cell, seed: int, task: str, limit_s: float) -> dict[str, Any]:
    up = cell.draw(seed)
    _warm(side)
    begun_wall = time.perf_counter()
    outcome, least_s = Outcome(False, None), float("inf")
    for _ in range(_REPEATS):
        begun = _processor_s()
        outcome = side.run(up, cell.m, task, limit_s)
        seconds = _processor_s() - begun if outcome.seconds is None else outcome.seconds
        least_s = min(least_s, seconds)
        if seconds >= _SHORT_S or outcome.seconds is not None:
            break
    return {
        "kind": "duel",
        "side": side.name,
        "seed": seed,
        "task": task,
        "is_proven": outcome.is_proven,
        "value": outcome.value,
        "seconds": least_s,
        "wall_s": time.perf_counter() - begun_wall,
    }


def _processor_s() -> float:
    """Return processor time of this process and of the children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


_warmed: set[str] = set()


def _warm(side: Side) -> None:
    if side.name not in _warmed:
        up = np.random.default_rng(0).random((6, 60)) < 0.8
        for task in side.tasks:
            side.run(up, 2, task, 60.0)
        _warmed.add(side.name)


@contextmanager
def _one_core() -> Iterator[None]:
    """Keep this process and its children on one core, where the system allows it."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
