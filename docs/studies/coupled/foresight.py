"""Ratios of policies along six axes, on drawn chains and on real machines.

One parameter at a time changes from a common centre. The unit of time is the mean availability period of a worker: the
success of a plan depends on how often availability changes during it, not on seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hindsched.bench.campaign import score as main_job
from hindsched.bench.campaign.sources import Given, Source
from hindsched.bench.results.quantile import quantile
from hindsched.bench.results.ratios import with_ratios
from hindsched.bench.run_records import Options
from hindsched.bench.shared_types import Policy
from hindsched.instances.chains import Chain
from hindsched.instances.coupled.from_trace import from_trace
from hindsched.instances.coupled.model import Instance
from hindsched.instances.errors import InputError
from hindsched.instances.random_streams import stream
from hindsched.instances.state_sources import DrawnStates
from hindsched.instances.states import UP, States

if TYPE_CHECKING:
    import pandas as pd

    from hindsched.instances.traces.trace import Trace

__all__ = [
    "AXES",
    "COLUMNS",
    "PERIOD",
    "PERIODS",
    "TASKS",
    "TRAIN_SLOTS",
    "Point",
    "Windows",
    "draw",
    "draw_map",
    "drawn_sources",
    "make_instance",
    "map_of",
    "ratios_of",
    "trace_sources",
]

COLUMNS = (
    *("machines", "axis", "value", "policy", "instances", "unfinished", "quartile_1", "median", "quartile_3"),
    *("optimum", "seed"),
)

#: Mean slots of an availability period on drawn chains: fine enough for the shortest tasks.
PERIOD = 60
#: Slots of a drawn instance.
_SLOTS = 200_000
#: Default number of slots of a real trace to fit chains on.
TRAIN_SLOTS = 3_000
#: Default length of a window in availability periods. It holds a hundred of the longest tasks in sequence.
PERIODS = 40


@dataclass(frozen=True, slots=True)
class Point:
    """Parameters of instances, relative to the mean availability period.

    Parameters
    ----------
    task
        Mean length of a task over the mean availability period.
    channels
        n_com over m.
    program
        T_prog over the mean length of a task; the data of a task is a fifth of it.
    workers
        p over m.
    lost
        The share of the absences in which a worker is DOWN rather than RECLAIMED.
    away
        The mean length of an absence over the mean availability period.
    """

    task: float = 0.2
    channels: float = 0.5
    program: float = 0.5
    workers: float = 3.0
    lost: float = 0.5
    away: float = 0.5


#: Values of each axis; the centre is one of them.
AXES: Mapping[str, tuple[float, ...]] = {
    "task": (0.02, 0.05, 0.1, 0.2, 0.4),
    "channels": (0.25, 0.5, 1.0),
    "program": (0.0, 0.5, 1.0, 2.0),
    "workers": (1.5, 3.0, 5.0),
    "lost": (0.0, 0.25, 0.5, 0.75, 1.0),
    "away": (0.1, 0.25, 0.5, 1.0),
}
_LABELS = {
    "task": "task length / availability period",
    "channels": "n_com / m",
    "program": "T_prog / task length",
    "workers": "p / m",
    "lost": "share of absences that are DOWN",
    "away": "absence / availability period",
}
#: m and K of all instances.
TASKS, _ITERATIONS = 4, 10


def draw(point: Point, seed: int, number: int) -> Instance:
    """Return one instance with m = 4 and K = 10; speeds differ by a factor of up to 3, availability by up to 2.

    Task lengths are uniform between half and three halves of their mean. The mean availability period of a worker is
    PERIOD slots times a factor between 2/3 and 4/3, and the same factor scales its absences.

    Examples
    --------
    >>> one = draw(Point(), 0, 0)
    >>> one.num_workers, one.n_com, one.t_prog, one.t_data
    (12, 2, 6, 1)
    """
    mean = point.task * PERIOD
    p = round(point.workers * TASKS)
    chains, w = [], []
    for q in range(p):
        generator = stream("coupled", "foresight", 1, seed, number, q)
        factor = generator.uniform(2 / 3, 4 / 3)
        leave, back = 1 / (PERIOD * factor), 1 / max(1.0, PERIOD * factor * point.away)
        up = (1 - leave, leave * (1 - point.lost), leave * point.lost)
        chains.append(Chain((up, (back, 1 - back, 0.0), (back, 0.0, 1 - back))))
        w.append(max(1, round(mean * generator.uniform(0.5, 1.5))))
    states = DrawnStates(chains, ("coupled", "foresight", 1, seed, number, "states"), _SLOTS, start="stationary")
    return make_instance(point, w, states, chains)


def make_instance(point: Point, w: Sequence[int], states: DrawnStates | States, chains: Sequence[Chain]) -> Instance:
    """Return an instance at a point on given machines."""
    mean = point.task * PERIOD
    return Instance(
        tasks=TASKS,
        iterations=_ITERATIONS,
        n_com=max(1, round(point.channels * TASKS)),
        t_prog=round(point.program * mean),
        t_data=max(1, round(point.program * mean / 5)) if point.program else 0,
        w=w,
        mu=(None,) * len(w),
        states=states,
        chains=chains,
    )


def drawn_sources(axes: Sequence[str], instances: int, seed: int) -> list[Source]:
    """Return the instances of some axes on drawn chains; the centre belongs to all axes and is drawn once."""
    found: dict[str, Source] = {}
    for axis in axes:
        for value in AXES[axis]:
            point = replace(Point(), **{axis: value})
            for number in range(instances):
                name = f"drawn {_text(point)} {number}"
                found[name] = Given(name, "foresight", draw(point, seed, number))
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows of a trace.

    Parameters
    ----------
    number
        Largest number of windows.
    train_slots
        Slots before each window to fit chains on. None: `TRAIN_SLOTS`, or a third of a shorter trace.
    slots
        Slots of a window. None: `PERIODS` mean availability periods, or the rest of a shorter trace.
    nodes
        Largest number of nodes. None: all.
    absent
        As for `hindsched.instances.coupled.from_trace.from_trace`.
    """

    number: int
    train_slots: int | None = None
    slots: int | None = None
    nodes: int | None = None
    absent: str = "down"


def trace_sources(
    name: str, trace: Trace, slot_s: float, windows: Windows, *, tasks: Sequence[float] = AXES["task"]
) -> list[Source]:
    """Return instances on real machines along the axis of task length; other parameters are those of the centre.

    The mean availability period is that of the window's training slots, and the tasks of all workers are equally long.
    Values for which slots are too long are left out: a task would take less than half a slot, or as many slots as at
    another value.

    Parameters
    ----------
    name
        Of the machines.
    trace, slot_s
        The trace, and the length of a slot in seconds.
    windows
        Which windows of the trace.
    tasks
        Values of the axis.

    Raises
    ------
    InputError
        Where the trace is too short for one window, or no worker leaves UP in training.
    """
    chosen = None if windows.nodes is None else min(windows.nodes, len(trace.nodes))
    whole = trace.window(slot_s=slot_s, nodes=chosen)
    train = min(TRAIN_SLOTS, whole.slots // 3) if windows.train_slots is None else windows.train_slots
    slots = windows.slots

    def instance_at(at: int, length: int, w: int, t_prog: int, t_data: int) -> Instance:
        return from_trace(
            trace, tasks=TASKS, slot_s=slot_s, iterations=_ITERATIONS, n_com=2, t_prog=t_prog, t_data=t_data, w=w,
            start=whole.start + at * whole.slot_s, slots=length, nodes=chosen, train_slots=train,
            absent=windows.absent,  # type: ignore[arg-type]
        )  # fmt: skip

    def period_before(at: int) -> float:
        return mean_period([chain for chain in instance_at(at, 1, 1, 0, 0).chains if chain is not None], name)

    if slots is None and whole.slots > train > 0:
        slots = min(whole.slots - train, round(PERIODS * period_before(train)))
        sys.stderr.write(
            f"{name}: {len(whole.nodes)} nodes, {whole.slots:,} slots; chains from {train:,}, windows of {slots:,}\n"
        )
    room = 0 if slots is None or train < 1 else (whole.slots - train) // slots
    if room < 1 or slots is None:
        raise InputError(
            f"{whole.slots} slots, expected {train or 1} for the chains and {slots or 1} for a window at least",
            place=name,
        )
    found: list[Source] = []
    coarse: set[float] = set()
    for window in range(min(windows.number, room)):
        at = train + window * max(1, room // windows.number) * slots
        period = period_before(at)
        nearest: dict[int, float] = {}  # for each length in slots the value that rounding changes least
        for task in sorted(tasks, key=lambda task: abs(task * period - round(task * period))):
            nearest.setdefault(round(task * period), task)
        nearest.pop(0, None)
        coarse |= set(tasks) - set(nearest.values())
        for w, task in sorted(nearest.items()):
            t_prog = round(Point().program * w)
            instance = instance_at(at, slots, w, t_prog, max(1, round(t_prog / 5)))
            found.append(Given(f"{name} task={task:g} window {window}", "foresight", instance))
    if coarse:
        values = ", ".join(f"{task:g}" for task in sorted(coarse))
        sys.stderr.write(
            f"{name}: left out in some windows: tasks of {values} periods, because slots are too long to distinguish "
            "them from other tasks or from 0 (a shorter --slot-s helps)\n"
        )
    return found


def mean_period(chains: Sequence[Chain], name: str = "trace") -> float:
    """Return the mean length of an availability period in slots, over workers that leave UP."""
    leaves = [1 - chain.rows[UP][UP] for chain in chains if 0.0 < chain.rows[UP][UP] < 1.0]
    if not leaves:
        raise InputError("no worker leaves UP in training, expected volatile machines", place=name)
    return float(np.mean([1 / leave for leave in leaves]))


def map_of(
    sources: Sequence[Source],
    policies: Sequence[Policy],
    folder: Path,
    *,
    num_processes: int,
    time_limit_s: float,
    seed: int,
) -> pd.DataFrame:
    """Make all runs that ``folder`` lacks; return the rows of the study, with the columns `COLUMNS`.

    Unfinished runs have an infinite ratio. Quartiles are over the instances with a proven optimum that no policy
    refuses.
    """
    import pandas as pd

    runs = ratios_of(sources, policies, folder, num_processes=num_processes, time_limit_s=time_limit_s, seed=seed)
    rows = []
    for machines, axis, value, chosen in _cells(sorted(set(runs["instance"]))):
        here = runs[runs["instance"].isin(chosen)]
        for policy, mine in here.groupby("policy", sort=False):
            ratios = mine["high"].to_numpy()
            row: dict[str, Any] = {"machines": machines, "axis": axis, "value": value, "policy": policy}
            row |= {"instances": len(mine), "unfinished": int(np.isinf(ratios).sum())}
            row |= {f"quartile_{n}" if n != 2 else "median": quantile(ratios, n / 4) for n in (1, 2, 3)}
            row |= {"optimum": float(mine["optimum"].astype(float).median()), "seed": seed}
            rows.append(row)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def ratios_of(
    sources: Sequence[Source],
    policies: Sequence[Policy],
    folder: Path,
    *,
    num_processes: int,
    time_limit_s: float,
    seed: int,
) -> pd.DataFrame:
    """Make all runs that ``folder`` lacks; return those with a proven optimum, with the ratio as ``high``.

    Instances with a run that a policy refuses are left out and reported on standard error, so all policies are measured
    on the same instances.
    """
    options = Options(time_limit_s=time_limit_s, seed=seed, check_slots=1_000)
    found = main_job.score(sources, policies, options, folder, num_processes=num_processes)
    if found.failure is not None:
        sys.stderr.write(f"hindsched: left out: {found.failure}\n")
    ratios = with_ratios(found.results.runs)
    _report_left_out(found.results.runs)
    proven = ratios[ratios["optimum_status"] == "optimal"]
    return proven[proven.groupby("instance")["policy"].transform("nunique") == proven["policy"].nunique()]


def _report_left_out(runs: pd.DataFrame) -> None:
    """Write how many instances have no proven optimum, and why."""
    statuses = runs.drop_duplicates("fingerprint")["optimum_status"].value_counts()
    impossible = int(statuses.get("infeasible", 0))
    if impossible:
        sys.stderr.write(f"left out: {impossible} instances without a feasible schedule within their slots\n")
    unproven = int(statuses.sum()) - impossible - int(statuses.get("optimal", 0))
    if unproven:
        sys.stderr.write(f"left out: {unproven} instances whose optimum is not proven (a longer --time-limit helps)\n")


def _cells(names: Sequence[str]) -> Iterator[tuple[str, str, float, list[str]]]:
    """Yield each point of the study with the names of its instances."""
    for axis, values in AXES.items():
        texts = {value: _text(replace(Point(), **{axis: value})) for value in values}
        found = {value: [name for name in names if name.startswith(f"drawn {text} ")] for value, text in texts.items()}
        found = {value: chosen for value, chosen in found.items() if chosen}
        if len(found) > 1:  # the centre alone belongs to another axis
            yield from (("drawn", axis, value, chosen) for value, chosen in found.items())
    real = sorted({tuple(name.split(" task=")) for name in names if not name.startswith("drawn ")})
    machines = sorted({name for name, _ in real})
    for each in machines:
        for value in sorted({float(rest.split()[0]) for name, rest in real if name == each}):
            yield each, "task", value, [n for n in names if n.startswith(f"{each} task={value:g} ")]


def _text(point: Point) -> str:
    return " ".join(f"{name}={value:g}" for name, value in asdict(point).items())


def draw_map(table: pd.DataFrame, path: Path) -> None:
    """Draw the median ratio of each policy along each axis with the middle half, and real machines."""
    from matplotlib.ticker import FixedLocator, NullLocator

    from hindsched.bench.report import canvas

    axes_shown = [axis for axis in AXES if axis in set(table["axis"])]
    figure, grid = canvas.new_grid(-(-len(axes_shown) // 3), 3)
    policies = list(dict.fromkeys(table["policy"]))
    machines = [name for name in dict.fromkeys(table["machines"]) if name != "drawn"]
    flat = [axes for row in grid for axes in row]
    for axes, axis in zip(flat, axes_shown, strict=False):
        for policy, colour in zip(policies, canvas.COLOURS, strict=False):
            mine = table[(table["policy"] == policy) & (table["axis"] == axis)]
            drawn = mine[mine["machines"] == "drawn"].sort_values("value")
            x = drawn["value"].to_numpy() if axis != "task" else np.log10(drawn["value"].to_numpy())
            low, high = (drawn[name].replace(np.inf, np.nan) for name in ("quartile_1", "quartile_3"))
            axes.fill_between(x, low, high, color=colour, alpha=0.12, linewidth=0)
            axes.plot(x, drawn["median"].replace(np.inf, np.nan), "o-", color=colour, markersize=3, label=policy)
            for name, dash in zip(machines, ("--", ":", "-."), strict=False):
                real = mine[mine["machines"] == name].sort_values("value")
                if len(real):
                    axes.plot(
                        np.log10(real["value"]), real["median"].replace(np.inf, np.nan), dash, color=colour,
                        marker="s", markersize=3, label=f"{policy}, {name}",
                    )  # fmt: skip
        ticks = AXES[axis]
        axes.xaxis.set_major_locator(FixedLocator([float(np.log10(t)) if axis == "task" else t for t in ticks]))
        axes.set_xticklabels([f"{t:g}" for t in ticks], fontsize=7)
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_xlabel(_LABELS[axis], fontsize=8)
        axes.grid(alpha=0.3)
    for axes in flat[len(axes_shown) :]:
        axes.set_visible(False)
    for row in grid:
        row[0].set_ylabel("makespan / optimum", fontsize=8)
    flat[0].legend(fontsize=6, frameon=False)
    canvas.save(figure, path)
