"""Competitive ratios of policies on a set of instances, with a table, pictures and rows in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hindsched import instances
from hindsched.bench.campaign.engine import Runs
from hindsched.bench.campaign.jobs import label_of, optimum_job, schedule_path, simulate_apart
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.campaign.plan import Campaign, results_of_rows, run_all
from hindsched.bench.campaign.sources import Source
from hindsched.bench.campaign.ties import ties
from hindsched.bench.family import family_named, family_of_runs
from hindsched.bench.results.columns import GROUP, Results, pooled
from hindsched.bench.results.policy_order import in_order
from hindsched.bench.results.quantile import quantile
from hindsched.bench.results.ratios import with_ratios
from hindsched.bench.results.records import records
from hindsched.bench.results.summary import csv_text, ratios_of_runs, summary
from hindsched.bench.run_records import Options
from hindsched.bench.shared_types import Policy, Row
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import write_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Score", "score"]

#: Largest value of the run that is drawn as an example, if there is such a run.
_LARGEST_EXAMPLE = 120


@dataclass(frozen=True, slots=True)
class Score:
    """The result of `score`.

    Parameters
    ----------
    results
        The runs and optima of this call.
    table
        The ratio table (see `hindsched.bench.results.summary.summary`).
    files
        The written files.
    failure
        The error because of which runs are missing; None: all jobs succeeded.
    ties
        Sentences on instances that do not tell policies apart (see `hindsched.bench.campaign.ties.ties`).
    """

    results: Results
    table: pd.DataFrame
    files: list[Path]
    failure: InputError | None = None
    ties: Sequence[str] = ()


def score(
    sources: Sequence[Source],
    policies: Sequence[Policy],
    options: Options,
    folder: Path,
    *,
    num_processes: int = 1,
    dask: str | None = None,
    runs: Runs | None = None,
    pool: bool = False,
) -> Score:
    """Solve every instance, run every policy on the same states, check every schedule, and compute ratios.

    Rows in ``folder`` are reused, so an interrupted call resumes.

    Parameters
    ----------
    sources
        The instances, with unique names.
    policies
        Names or objects, as for `hindsched.online.make_policy`, or ``all``.
    options
        The options for all instances.
    folder
        Folder of ``runs.jsonl``, ``table.csv``, ``ratios.csv``, ``ratios.svg``, ``example.svg`` and the schedules of
        the optima.
    num_processes, dask, runs
        As for `hindsched.bench.campaign.engine.run_jobs`.
    pool
        Whether instances of different settings share a table (see `hindsched.bench.results.columns.pooled`).

    Raises
    ------
    InputError
        If no run succeeds; if only some fail, `Score.failure` has the error.
    SelfCheckError
        If the checker rejects a schedule, or a ratio is below 1.
    """
    campaign = Campaign(sources, policies, [options])
    rows, failure = run_all(campaign, folder, runs, num_processes, dask, what="score")
    results = results_of_rows(rows, folder)
    results = pooled(results) if pool else results
    frame = summary(results.runs)
    files = [folder / Journal.NAME, folder / "table.csv"]
    write_text(files[1], csv_text(frame))
    ratios = with_ratios(results.runs)
    files.append(folder / "ratios.csv")
    write_text(files[2], csv_text(ratios_of_runs(ratios)))
    if ratios["value"].notna().any():
        files.append(_draw_ratios(ratios, folder / "ratios.svg"))
        kept = {source.name: schedule_path(folder, optimum_job(source, options, folder).key) for source in sources}
        example = _example(ratios, {name for name, path in kept.items() if path.exists()})
        if example is not None:
            source = next(source for source in sources if source.name == example["instance"])
            objects = {label_of(policy): policy for policy in policies}
            policy = objects.get(example["policy"], example["policy"])
            drawn = _draw_example(
                source,
                kept[source.name],
                policy,
                options,
                folder / "example.svg",
                None if runs is None else runs.limit_s,
            )
            files += [drawn] if drawn is not None else []
    return Score(results, frame, files, failure, ties(results.runs, sources))


def _draw_ratios(ratios: pd.DataFrame, path: Path) -> Path:
    from hindsched.bench.report import canvas
    from hindsched.bench.report.ecdf import draw_ecdf
    from hindsched.bench.report.figures import ratio_label

    parts = list(ratios.groupby(list(GROUP), sort=True))
    figure, axes = canvas.new_figure(len(parts), heights=(4.2,) * len(parts))
    for panel, (point, group) in zip(axes, parts, strict=True):
        family, population, options = map(str, point)
        title = f"{population}, {options}" if options else population
        policies = in_order(group["policy"].unique(), family)
        draw_ecdf(panel, group, policies, title=title, xlabel=ratio_label(family_of_runs(group), "hindsight optimum"))
    canvas.save(figure, path)
    return path


def _example(ratios: pd.DataFrame, usable: set[str]) -> Row | None:
    """Return the run to draw: the worst run of the best policy among runs that fit the page.

    The best policy has the least median ratio. Only instances with a kept schedule of the optimum count, proven ones
    first. If no run fits the page, the shortest is drawn.
    """
    first = ratios[ratios["family"] == ratios["family"].iloc[0]]
    known = first[first["value"].notna() & first["instance"].isin(usable)]
    if len(known) == 0:
        return None
    middle = {policy: quantile(group["high"], 0.5) for policy, group in first.groupby("policy", sort=False)}
    best = min(in_order(known["policy"].unique(), first["family"].iloc[0]), key=lambda policy: middle[policy])
    own = known[known["policy"] == best]
    fitting = own[own["value"] <= _LARGEST_EXAMPLE]
    if len(fitting) == 0:
        return records(own.sort_values(["value", "instance"], kind="stable").head(1))[0]
    proven = fitting.assign(proven=fitting["optimum_status"] == "optimal")
    order = proven.sort_values(["proven", "low", "instance"], ascending=[False, False, True], kind="stable")
    return records(order.head(1))[0]


def _draw_example(
    source: Source, optimum: Path, policy: Policy, options: Options, path: Path, limit_s: float | None
) -> Path | None:
    """Draw the run below the optimum's schedule; return None if the family draws no schedules, or the run fails."""
    from hindsched.bench.report import canvas

    instance = source.load()
    best = instances.read_schedule(optimum)
    try:
        record = simulate_apart(instance, policy, options, limit_s=limit_s)
        figure = family_named(source.family).report.draw_pair(
            instance, best, record.schedule, label_of(policy), source.name
        )
    except InputError:
        return None
    canvas.save(figure, path)
    return path
