"""Growth of the cost of solve, simulate, score and report, and of a bare pass over the states, along one axis each."""

from __future__ import annotations

import lzma
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from docs.studies.rows import ROWS
from hindsched import offline, online
from hindsched.bench.campaign.score import score
from hindsched.bench.coupled.paper import Paper
from hindsched.bench.report.page import write_report
from hindsched.bench.run_records import Options
from hindsched.instances.coupled.generate import small
from hindsched.offline.limits import by_processor_time
from hindsched.offline.results import Status
from hindsched.online.coupled import POLICIES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AXES", "BASE_SLOTS", "COLUMNS", "WORKS", "Settings", "draw_growth", "measure", "medians", "slope"]

COLUMNS = ("work", "axis", "value", "scenario", "slots", "status", "seconds")
#: Groups of measurements, each with its works. ``pass`` reads the states, or the bytes of the table, once.
WORKS: Mapping[str, tuple[str, ...]] = {
    "solve": ("solve",),
    "simulate": ("IE", "E-IE", "pass"),
    "score": ("score", "score-again"),
    "report": ("report", "table-pass"),
}
#: Values of each axis. Those of p above `_MOST_SOLVED` are simulated and not solved.
AXES: Mapping[str, tuple[int, ...]] = {
    "p": (10, 20, 30, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000),
    "N": (1_000, 10_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000),
    "K": (10, 20, 30, 50, 100, 200, 300),
    "m": (2, 3, 5, 7, 10, 14, 20),
    "n_com": (1, 2, 3, 5, 7, 10, 14, 20),
    "rows": (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000),
}
_MOST_SOLVED = 500
#: N of the base point.
BASE_SLOTS = 100_000
#: N along the axis K, for runs to complete.
_SLOTS_FOR_ITERATIONS = 1_000_000
#: Largest number of states of a simulation along the axis p: with more workers the run has fewer slots.
_MOST_STATES = 10_000_000
#: Measurements are repeated up to so many times, or until they have taken so many seconds.
_REPEATS, _ENOUGH_S = 3, 0.5

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settings:
    """What is measured.

    Parameters
    ----------
    works
        Of `WORKS`.
    axes
        Values by axis.
    instances
        Scenarios at each value.
    time_limit_s
        Processor time of a solve.
    most_scored
        Largest number of rows that are scored.
    """

    works: Sequence[str] = tuple(WORKS)
    axes: Mapping[str, Sequence[int]] = field(default_factory=lambda: AXES)
    instances: int = 5
    time_limit_s: float = 2.0
    most_scored: int = 3_000


def measure(settings: Settings, step: Callable[[str], None] = lambda note: None) -> Iterator[dict[str, Any]]:
    """Yield a row per work, axis, value and scenario, with `COLUMNS`; ``step`` is called with a note per value.

    Seconds are processor time of the fastest of a few repeats, without the drawing of states and after a first run.
    The base point is the paper's generator with p = 20, m = 5, n_com = 5, wmin = 3, K = 10 and N = `BASE_SLOTS`.
    """
    for axis, values in settings.axes.items():
        for value in values:
            if axis == "rows":
                if "score" in settings.works and value <= settings.most_scored:
                    yield from _scored(value)
                if "report" in settings.works:
                    yield from _reported(value)
            else:
                for scenario in range(settings.instances):
                    place = {"axis": axis, "value": value, "scenario": scenario}
                    if "solve" in settings.works and not (axis == "p" and value > _MOST_SOLVED):
                        yield place | _solved(axis, value, scenario, settings.time_limit_s)
                    if "simulate" in settings.works:
                        yield from (place | row for row in _simulated(axis, value, scenario))
            step(f"{axis} = {value:,}")


def _source(axis: str, value: int, scenario: int, *, ends: bool) -> Paper:
    """Return the instance at a value of an axis; without ``ends`` it has more iterations than a run completes."""
    at = {"p": 20, "N": BASE_SLOTS, "K": 10, "m": 5, "n_com": 5} | {axis: value}
    slots = _SLOTS_FOR_ITERATIONS if axis == "K" else at["N"]
    if not ends:
        slots = min(slots, _MOST_STATES // at["p"]) if axis == "p" else slots
    iterations = at["K"] if ends else slots
    return Paper(at["m"], at["n_com"], 3, scenario, 0, slots, 0, at["p"], iterations)


def _solved(axis: str, value: int, scenario: int, time_limit_s: float) -> dict[str, Any]:
    instance = _source(axis, value, scenario, ends=True).load()
    instance.prefix(instance.slots)
    offline.solve(small(0))  # loads the machine code
    with by_processor_time():
        seconds, result = _fastest(lambda: offline.solve(instance, time_limit_s=time_limit_s))
    is_proven = result.status in (Status.OPTIMAL, Status.INFEASIBLE)
    slots = instance.slots if result.value is None else result.value
    return {"work": "solve", "slots": slots, "status": "proven" if is_proven else "open", "seconds": seconds}


def _simulated(axis: str, value: int, scenario: int) -> Iterator[dict[str, Any]]:
    """Yield rows of runs, and of a pass over the states that the first run reads."""
    instance = _source(axis, value, scenario, ends=axis == "K").load()
    states = instance.prefix(instance.slots)
    policies = WORKS["simulate"][:-1]
    read = 0
    for policy in policies:
        online.run_policy(instance, policy, schedule_slots=0)  # fills the tables of estimates
        seconds, run = _fastest(lambda policy=policy: online.run_policy(instance, policy, schedule_slots=0))  # type: ignore[misc]
        read = read or run.slots
        yield {"work": policy, "slots": run.slots, "seconds": seconds}
    few = np.ascontiguousarray(states[:, :read])
    yield {"work": "pass", "slots": read, "seconds": _fastest(few.max)[0]}


def _scored(rows: int) -> Iterator[dict[str, Any]]:
    """Yield the row of a score with all policies on new instances, and of a second call that finds every row."""
    number = max(1, round(rows / len(POLICIES)))
    sources = [Paper(5, 5, 3, scenario, 0, BASE_SLOTS, 0, 20, 10) for scenario in range(number)]
    options = Options(time_limit_s=60.0)
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as warm:
        score(sources[:1], ("all",), options, Path(warm))
        for work in WORKS["score"]:
            seconds, found = _timed(lambda: score(sources, ("all",), options, Path(made)))
            yield {"work": work, "axis": "rows", "value": len(found.results.runs), "seconds": seconds}


def _reported(rows: int) -> Iterator[dict[str, Any]]:
    """Yield the row of a report on the first rows of the paper's experiment, and of a pass over their bytes."""
    with lzma.open(ROWS / "paper_runs.csv.xz", "rt", encoding="utf-8") as file:
        text = "".join(islice(file, rows + 1))
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "runs.csv"
        table.write_text(text, encoding="utf-8")
        works = (lambda: write_report(table, Path(folder) / "report"), lambda: np.fromfile(table, dtype=np.uint8).max())
        for name, work in zip(WORKS["report"], works, strict=True):
            seconds, _ = _fastest(work)
            yield {"work": name, "axis": "rows", "value": rows, "seconds": seconds}


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    begun = time.process_time()
    result = work()
    return time.process_time() - begun, result


def _fastest(work: Callable[[], T]) -> tuple[float, T]:
    """Return the processor seconds of the fastest of a few repeats, and the result."""
    seconds, result = _timed(work)
    times = [seconds]
    while len(times) < _REPEATS and sum(times) < _ENOUGH_S:
        times.append(_timed(work)[0])
    return min(times), result


def medians(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the median seconds by work, axis and value, and whether a solve there is open.

    Simulations along the axis p count as `BASE_SLOTS` slots.
    """
    runs = (rows["axis"] == "p") & rows["work"].isin(WORKS["simulate"])
    scaled = rows.assign(
        seconds=rows["seconds"].where(~runs, rows["seconds"] * BASE_SLOTS / rows["slots"]),
        is_open=rows["status"] == "open",
    )
    groups = scaled.groupby(["work", "axis", "value"], sort=False)
    return groups.agg(seconds=("seconds", "median"), is_open=("is_open", "any")).reset_index()


def slope(points: pd.DataFrame) -> tuple[float, int, int] | None:
    """Return the least-squares slope of log seconds over log value, and the least and largest value that it is over.

    It is over the last decade of values without open solves; None: fewer than two of them.

    Examples
    --------
    >>> import pandas as pd
    >>> points = pd.DataFrame({"value": [1, 10, 100], "seconds": [9.0, 10.0, 1000.0], "is_open": [False] * 3})
    >>> slope(points)
    (2.0, 10, 100)
    """
    points = points[~points["is_open"]]
    points = points[points["value"] * 10 >= points["value"].max()]
    if len(points) < 2:
        return None
    found = np.polyfit(np.log(points["value"]), np.log(points["seconds"]), 1)[0]
    return round(float(found), 2) + 0.0, int(points["value"].min()), int(points["value"].max())


def draw_growth(rows: pd.DataFrame, path: Path) -> None:
    """Draw seconds against each axis, on logarithmic scales, and the slopes.

    A hollow mark is a value with an open solve.
    """
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    from hindsched.bench.report import canvas

    points = medians(rows)
    axes = list(dict.fromkeys(points["axis"]))
    figure, grid = canvas.new_grid(-(-len(axes) // 2), 2)
    works = [work for group in WORKS.values() for work in group]
    styles = dict(zip(works, zip(("-", "--", "-.", ":") * 2, canvas.COLOURS, strict=True), strict=True))
    panels = [panel for line in grid for panel in line]
    for panel, axis in zip(panels, axes, strict=False):
        for work in works:
            line = points[(points["axis"] == axis) & (points["work"] == work)].sort_values("value")
            if line.empty:
                continue
            dashes, colour = styles[work]
            found = slope(line)
            label = work if found is None else f"{work}, {found[0]:.2f}"
            panel.plot(line["value"], line["seconds"], dashes, color=colour, label=label)
            hollow = line[line["is_open"]]
            if len(hollow):
                panel.plot(hollow["value"], hollow["seconds"], "o", markerfacecolor="white", color=colour)
        panel.set_xscale("log")
        panel.set_yscale("log")
        few = points.loc[points["axis"] == axis, "value"].max() < 1_000
        panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
        panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        panel.minorticks_off()
        panel.set_xlabel(axis)
        panel.set_ylabel("seconds")
        panel.legend(fontsize=8, frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    for panel in panels[len(axes) :]:
        panel.axis("off")
    canvas.save(figure, path)
