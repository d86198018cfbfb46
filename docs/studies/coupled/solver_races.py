"""Races of exact solvers on the same instances: their proofs and times."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, exp, log
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from docs.studies.coupled import rivals
from hindsched import offline
from hindsched.bench.campaign.engine import Job, code_digest, run_jobs, source_digest
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.campaign.sources import Source
from hindsched.bench.coupled.paper import Paper
from hindsched.instances.coupled.generate import small
from hindsched.instances.coupled.model import Instance
from hindsched.instances.errors import SelfCheckError
from hindsched.offline.limits import Limits as SolverLimits
from hindsched.offline.limits import by_processor_time
from hindsched.offline.results import Result, Status

__all__ = ["PROVEN", "SCALE_COLUMNS", "Limits", "compare", "draw_scale", "gap", "race", "scale_rows", "spread"]

#: Statuses of solved instances.
PROVEN = ("optimal", "infeasible")

#: Columns of the study ``scale``: the instance, its parameters, and the result of a solve.
SCALE_COLUMNS = (
    "instance", "p", "m", "n_com", "wmin", "iterations", "trial", "status", "value", "bound", "seconds", "time_limit_s",
    "threads",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the solves of a race.

    Parameters
    ----------
    time_limit_s
        Seconds of a solve.
    stand_by
        Whether workers may stand by.
    is_processor
        Whether limit and time are processor time of all threads, not wall-clock time.
    threads
        Numbers of threads, in turn.
    """

    time_limit_s: float
    stand_by: bool = True
    is_processor: bool = False
    threads: Sequence[int] = (1,)


def race(sources: Sequence[Source], solvers: Sequence[str], folder: Path, limits: Limits) -> list[dict[str, Any]]:
    """Solve every instance with every solver and number of threads, one solve at a time; return the rows.

    Times are ``runtime_s`` of the results. They exclude imports, compilation (a first call solves a tiny instance), the
    drawing of states, and the replay of the schedule by the checker. All solvers run on one instance before the next
    one, so a change of the machine's speed affects all alike.

    If a rival takes part, every solver has a process of its own, because libraries of solvers do not always tolerate
    each other. Then times and limits are processor time of that process, which ends with the limit. Such a solve counts
    as stopped, without value and bound. The time of short solves is a mean of several.

    Raises
    ------
    SelfCheckError
        When two solvers prove different optima, or a value or a bound contradicts a proven optimum.
    """
    is_isolated = not rivals.RIVALS.keys().isdisjoint(solvers)
    code = code_digest() + (source_digest(Path(rivals.__file__).parent)[:16] if is_isolated else "")
    key = f"{limits.time_limit_s}|{limits.stand_by}|{limits.is_processor}"
    jobs = [
        Job(
            f"race|{code}|{source.identity}|{solver}|{key}|{number}",
            f"{solver} on {source.name}" + (f", {number} threads" if number > 1 else ""),
            _time_in_child if is_isolated else _time,
            (source, solver, limits.time_limit_s, limits.stand_by, limits.is_processor, number),
        )
        for source in sources
        for solver in solvers
        for number in limits.threads
    ]
    with Journal(folder) as journal:
        run_jobs("race", jobs, journal, num_processes=1)
        rows = [journal[job.key] for job in jobs]
    _children.clear()
    for source in sources:
        _expect_agreement(source.name, [row for row in rows if row["instance"] == source.name])
    return rows


def _expect_agreement(name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise `SelfCheckError` if the answers of some solvers to one instance contradict each other."""
    proven = {(row["status"], row["value"]) for row in rows if row["status"] in PROVEN}
    optima = [value for status, value in proven if status == Status.OPTIMAL]
    values = [row["value"] for row in rows if row["value"] is not None]
    bounds = [row["bound"] for row in rows if row["bound"] is not None]
    is_infeasible = any(status == Status.INFEASIBLE for status, _ in proven)
    if (
        len(proven) > 1
        or (is_infeasible and values)
        or (optima and (min(values) < optima[0] or max(bounds) > optima[0]))
    ):
        raise SelfCheckError(f"{name}: {[(row['solver'], row['status'], row['value'], row['bound']) for row in rows]}")


def compare(rows: Sequence[dict[str, Any]], base: str) -> list[dict[str, Any]]:
    """Return one row per number of iterations K and solver: proofs, times, and ratios of times over those of ``base``.

    A stopped solve counts with its time, so its ratio is a lower bound; ``stopped`` counts such solves, and ``faster``
    those that prove the optimum in less time than ``base``.
    """
    times = {(row["instance"], row["solver"]): row["seconds"] for row in rows}
    compared = []
    for iterations in dict.fromkeys(row["iterations"] for row in rows):
        for solver in dict.fromkeys(row["solver"] for row in rows):
            mine = [row for row in rows if (row["iterations"], row["solver"]) == (iterations, solver)]
            ratios = [row["seconds"] / times[row["instance"], base] for row in mine]
            compared.append(
                {
                    "K": iterations,
                    "solver": solver,
                    "instances": len(mine),
                    "proven": sum(row["status"] in PROVEN for row in mine),
                    "stopped": sum(row["status"] in ("feasible", "unknown") for row in mine),
                    "median_ms": 1000 * statistics.median(row["seconds"] for row in mine),
                    "most_ms": 1000 * max(row["seconds"] for row in mine),
                    "median_ratio": statistics.median(ratios),
                    "mean_ratio": exp(statistics.fmean(log(ratio) for ratio in ratios)),
                    "faster": sum(
                        ratio < 1 and row["status"] in PROVEN for ratio, row in zip(ratios, mine, strict=True)
                    ),
                }
            )
    return compared


def spread(
    ms: Sequence[int], n_coms: Sequence[int], wmins: Sequence[int], iterations: Sequence[int], number: int, slots: int
) -> list[Paper]:
    """Return ``number`` instances of the paper's experiment for each K, spread evenly over the points m, n_com, wmin.

    Examples
    --------
    >>> sources = spread([5, 10], [5, 10, 20], range(1, 11), [3], 10, 1000)
    >>> [(source.m, source.n_com, source.wmin) for source in sources[:4]]
    [(5, 5, 4), (5, 5, 10), (5, 10, 6), (5, 20, 2)]
    """
    points = list(product(ms, n_coms, wmins))
    chosen = [points[(2 * i + 1) * len(points) // (2 * number) % len(points)] for i in range(number)]
    return [
        Paper(m, n_com, wmin, i // 10 % 10, i % 10, slots, 0, 20, k)
        for k in iterations
        for i, (m, n_com, wmin) in enumerate(chosen)
    ]


def draw_scale(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw the time of every solve of a paper instance against p, m, K, n_com and wmin, one panel each.

    The rows have `SCALE_COLUMNS`.
    """
    from hindsched.bench.report import canvas

    paper = [row for row in rows if row["p"] is not None]
    axes_of = {"p": "workers p", "m": "tasks m", "n_com": "n_com", "wmin": "wmin", "iterations": "iterations K"}
    varying = [name for name in axes_of if len({row[name] for row in paper}) > 1] or ["p"]
    figure, panels = canvas.new_figure(len(varying), heights=(2.6,) * len(varying))
    for axes, name in zip(panels, varying, strict=True):
        values = sorted({row[name] for row in paper})
        for proven, marker, label in ((True, "o", "proven"), (False, "x", "stopped")):
            points = [
                (values.index(row[name]) + ((i * 0.618) % 1 - 0.5) * 0.4, row["seconds"])
                for i, row in enumerate(paper)
                if (row["status"] in PROVEN) is proven
            ]
            colour = canvas.COLOURS[0 if proven else 1]
            x, y = [point[0] for point in points], [point[1] for point in points]
            axes.scatter(x, y, s=12, marker=marker, color=colour, label=label)
        medians = [statistics.median(row["seconds"] for row in paper if row[name] == value) for value in values]
        axes.plot(range(len(values)), medians, color="black", linewidth=1, label="median")
        axes.set_yscale("log")
        axes.set_xticks(range(len(values)), labels=[str(value) for value in values])
        axes.set_xlabel(axes_of[name])
        axes.set_ylabel("seconds")
        axes.grid(alpha=0.3)
    panels[0].legend(fontsize=8, frameon=False, ncols=3)
    canvas.save(figure, path)


def gap(value: int | Fraction | None, bound: int | Fraction | None) -> float | None:
    """Return the value over the bound, less 1; None where one is missing."""
    return None if value is None or bound is None else float(value / bound - 1)


def scale_rows(sources: Sequence[Source], rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of `SCALE_COLUMNS`, with None for the parameters of an instance that was not generated."""
    points = {source.name: source.point or {} for source in sources}
    return [
        {name: (points[row["instance"]] | row).get(name) for name in SCALE_COLUMNS}
        | {"seconds": float(f"{row['seconds']:.3g}")}
        for row in rows
    ]


def _time(
    source: Source, solver: str, time_limit_s: float | None, stand_by: bool, is_processor: bool, threads: int
) -> dict[str, Any]:
    instance = source.load()
    _ = instance.states
    _warm(solver)
    with by_processor_time() if is_processor else nullcontext():
        result = _solve(instance, solver, time_limit_s, stand_by, threads)
    return _row(source, solver, time_limit_s, stand_by, threads) | {
        "status": str(result.status),
        "value": result.value,
        "bound": result.bound,
        "gap": gap(result.value, result.bound),
        "counts": result.counts,
        "seconds": result.runtime_s,
    }


def _row(source: Source, solver: str, time_limit_s: float | None, stand_by: bool, threads: int) -> dict[str, Any]:
    """Return the part of a row that does not depend on the answer."""
    instance = source.load()
    return {
        "kind": "race",
        "instance": source.name,
        "iterations": instance.iterations,
        "fingerprint": instance.fingerprint,
        "solver": solver,
        "time_limit_s": time_limit_s,
        "stand_by": stand_by,
        "threads": threads,
    }


def _solve(instance: Instance, solver: str, time_limit_s: float | None, stand_by: bool, threads: int) -> Result:
    if solver in rivals.RIVALS:
        return rivals.solve(instance, solver, stand_by=stand_by, limits=SolverLimits(time_limit_s, threads=threads))
    return offline.solve(instance, solver=solver, time_limit_s=time_limit_s, stand_by=stand_by, threads=threads)


_warmed: set[str] = set()


def _warm(solver: str) -> None:
    if solver not in _warmed:
        _solve(small(0), solver, None, True, 1)
        _warmed.add(solver)


#: The process of each solver, and the memory that it may use.
_children: dict[str, ProcessPoolExecutor] = {}
_CHILD_BYTES = 4 << 30
#: Solves are repeated up to so many seconds or times, because clocks of processor time may be coarse.
_SHORT_S, _REPEATS = 0.2, 50


def _time_in_child(
    source: Source, solver: str, time_limit_s: float, stand_by: bool, is_processor: bool, threads: int
) -> dict[str, Any]:
    """Return the row of `_time` from the solver's own process, which has the limits instead of the solver."""
    if solver not in _children:
        _children[solver] = ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn"))
    row = _row(source, solver, time_limit_s, stand_by, threads)
    try:
        return (
            _children[solver].submit(_time_within_limits, source, solver, time_limit_s, stand_by, threads).result()
            | row
        )
    except (BrokenProcessPool, MemoryError):
        del _children[solver]
        stopped: dict[str, Any] = {
            "status": str(Status.UNKNOWN),
            "value": None,
            "bound": None,
            "gap": None,
            "counts": {},
        }
        return row | stopped | {"seconds": time_limit_s}


def _time_within_limits(
    source: Source, solver: str, time_limit_s: float, stand_by: bool, threads: int
) -> dict[str, Any]:
    _warm(solver)
    for kind, most in (
        (resource.RLIMIT_AS, _CHILD_BYTES),
        (resource.RLIMIT_CPU, ceil(time.process_time() + time_limit_s)),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))
    row = _time(source, solver, None, stand_by, True, threads)
    times = [row["seconds"]]
    while sum(times) < _SHORT_S and len(times) < _REPEATS:
        times.append(_time(source, solver, None, stand_by, True, threads)["seconds"])
    return row | {"seconds": statistics.fmean(times)}
