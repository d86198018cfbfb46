"""The main job: competitive ratios of policies on a set of instances, and what is kept of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

import msgspec

import instances
from bench.campaign.engine import Job, run_jobs
from bench.campaign.jobs import Options, schedule_path, simulate
from bench.campaign.journal import Journal
from bench.campaign.plan import Campaign
from bench.campaign.sources import Source
from bench.results.ratios import Ratio, ratios, table
from instances.errors import InputError
from instances.textio import convert, write_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Score", "score"]

#: The example drawn beside the optimum has at most this many slots, where there is such a run.
_EXAMPLE_SLOTS = 120


@dataclass(frozen=True, slots=True)
class Score:
    """What a campaign found.

    Parameters
    ----------
    optima
        The row of each instance's optimum, in the order of the instances.
    ratios
        Of every run on an instance that some schedule finishes.
    table
        One row per setting and policy (see `bench.results.ratios.table`).
    files
        What was written.
    """

    optima: Sequence[Mapping[str, Any]]
    ratios: list[Ratio]
    table: pd.DataFrame
    files: list[Path]


def score(
    sources: Sequence[Source],
    policies: Sequence[str],
    options: Options,
    folder: Path,
    *,
    num_processes: int = 1,
) -> Score:
    """Solve every instance, run every policy on the same states, check every schedule, and compare.

    Rows already in ``folder`` are not made again, so an interrupted call goes on where it stopped.

    Parameters
    ----------
    sources
        The instances, with unique names.
    policies
        As for `online.coupled.make_policy`.
    options
        What is done with each.
    folder
        Receives ``runs.jsonl``, ``table.csv``, ``ratios.svg``, ``example.svg`` and the schedules of the optima.
    num_processes
        Worker processes.

    Raises
    ------
    SelfCheckError
        When the checker refuses a schedule, or a ratio is below 1.
    """
    campaign = Campaign(sources, policies, [options])
    jobs = [campaign.jobs_of(source, folder) for source in sources]
    optimum_jobs = [mine[0] for mine in jobs]
    with Journal(folder) as journal:
        run_jobs("score", [job for mine in jobs for job in mine], journal, num_processes=num_processes)
        optima = [_row(journal, job, source, _Optimum) for job, source in zip(optimum_jobs, sources, strict=True)]
        runs = [
            _row(journal, job, source, _Run) for mine, source in zip(jobs, sources, strict=True) for job in mine[1:]
        ]
    found = ratios(optima, runs)
    frame = table(found, policies)
    files = [folder / Journal.NAME, folder / "table.csv"]
    write_text(files[1], frame.to_csv(index=False))
    if frame["solved"].sum() > 0:
        files.append(_draw_ratios(found, policies, folder / "ratios.svg"))
        pairs = zip(optima, optimum_jobs, strict=True)
        drawable = [row for row, job in pairs if schedule_path(folder, job.key).exists()]
        example = _example(found, drawable)
        if example is not None:
            place = [source.name for source in sources].index(example.instance)
            path = schedule_path(folder, optimum_jobs[place].key)
            files.append(_draw_example(sources[place], path, example, options, folder / "example.svg"))
    return Score(optima, found, frame, files)


class _Optimum(msgspec.Struct):
    """What a row of an optimum must hold to be compared with."""

    solver: str
    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    value: int | None
    bound: int | None


class _Run(msgspec.Struct):
    """What a row of a run must hold to be compared."""

    policy: str
    makespan: int | None


def _row(journal: Journal, job: Job, source: Source, kind: type[_Optimum | _Run]) -> Mapping[str, Any]:
    """Return a job's row under the present name of its instance; it may have been made under another one."""
    row = journal[job.key]
    try:
        convert(row, kind, f"row {job.key[:16]}")
    except InputError as error:
        raise error.in_file(journal.path) from None
    return {**row, "setting": source.setting, "instance": source.name}


def _draw_ratios(found: Sequence[Ratio], policies: Sequence[str], path: Path) -> Path:
    from bench.report import plots

    settings = list(dict.fromkeys(ratio.setting for ratio in found))
    figure, axes = plots.new_figure(len(settings), heights=(4.2,) * len(settings))
    for panel, setting in zip(axes, settings, strict=True):
        mine = [ratio for ratio in found if ratio.setting == setting]
        plots.draw_ecdf(panel, mine, policies, title=setting)
    plots.save(figure, path)
    return path


def _example(found: Sequence[Ratio], optima: Sequence[Mapping[str, Any]]) -> Ratio | None:
    """Choose the run to draw: where the best policy does worst, among the runs that fit the page.

    The best policy has the least median ratio. Only the given optima count, those with a schedule, proven ones before
    others; if no run fits the page, the shortest is drawn.
    """
    status = {row["instance"]: row["status"] for row in optima}
    usable = [ratio for ratio in found if ratio.low is not None and ratio.instance in status]
    if not usable:
        return None
    by_policy: dict[str, list[float]] = {}
    for ratio in usable:
        by_policy.setdefault(ratio.policy, []).append(ratio.low or 0.0)
    best = min(by_policy, key=lambda policy: (-len(by_policy[policy]), median(by_policy[policy])))
    mine = [ratio for ratio in usable if ratio.policy == best]
    fitting = [ratio for ratio in mine if (ratio.makespan or 0) <= _EXAMPLE_SLOTS]
    if not fitting:
        return min(mine, key=lambda ratio: ratio.makespan or 0)
    return max(fitting, key=lambda ratio: (status[ratio.instance] == "optimal", ratio.low or 0.0))


def _draw_example(source: Source, optimum: Path, example: Ratio, options: Options, path: Path) -> Path:
    from bench.report import plots

    instance = source.load()
    best = instances.read_schedule(optimum)
    run = simulate(instance, example.policy, options)
    slots = max(best.slots, run.schedule.slots)
    height = min(20.0, 1.0 + 0.2 * instance.num_workers)
    figure, panels = plots.new_figure(2, width=min(24.0, max(9.0, 2.0 + 0.13 * slots)), heights=(height, height))
    for panel, schedule, who in zip(panels, (best, run.schedule), ("hindsight optimum", example.policy), strict=True):
        verdict = instances.check(instance, schedule)
        title = f"{who}: makespan {verdict.outcome.makespan}  ({source.name})"
        is_last = panel is panels[-1]
        plots.draw_gantt(panel, instance, schedule, ends=verdict.outcome.ends, title=title, slots=slots, legend=is_last)
    plots.save(figure, path)
    return path
