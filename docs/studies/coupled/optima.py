"""Hindsight optima of the paper's whole experiment (docs/model.md section 8), with stand-by and without."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs.studies.rows import read_rows
from hindsched import offline
from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.jobs import answered, job_key, load_shared, names_of
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.coupled.paper import Paper
from hindsched.bench.run_records import Options
from hindsched.instances.text_files import write_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["distribution", "draw_distribution", "find_optima", "known_optima"]

_POINT = ["m", "n_com", "wmin"]


def find_optima(
    sources: Sequence[Paper], options: Options, folder: Path, *, stand_by: Sequence[bool], num_processes: int
) -> pd.DataFrame:
    """Find the optima of instances, resume what ``folder`` holds, and write ``optima.csv`` there.

    Returns
    -------
    pandas.DataFrame
        One row per instance: its parameters and fingerprint, and for each setting ``status``, ``makespan`` and
        ``bound`` (with the suffix ``_no_stand_by`` without stand-by). A missing makespan with the status ``infeasible``
        is proven not to exist within the slots.
    """
    import pandas as pd

    jobs = [optima_job(source, options, tuple(stand_by)) for source in sources]
    with Journal(folder) as journal:
        run_jobs("optima", jobs, journal, num_processes=num_processes)
        found = [journal[job.key] for job in jobs]
    rows = []
    for source, optima in zip(sources, found, strict=True):
        row: dict[str, Any] = {name: getattr(source, name) for name in (*_POINT, "scenario", "trial", "seed")}
        row["fingerprint"] = optima["fingerprint"]
        for setting in stand_by:
            ending = "" if setting else "_no_stand_by"
            answer = optima["stand_by" if setting else "no_stand_by"]
            row |= {
                f"status{ending}": answer["status"],
                f"makespan{ending}": answer["value"],
                f"bound{ending}": answer["bound"],
            }
        rows.append(row)
    frame = pd.DataFrame(rows).convert_dtypes()
    write_text(folder / "optima.csv", frame.to_csv(index=False))
    return frame


def optima_job(source: Paper, options: Options, settings: tuple[bool, ...]) -> Job:
    """Return the job that finds the optimum in one or both settings of ``stand_by``; the states are drawn once.

    Its row has a part for each setting, named ``stand_by`` and ``no_stand_by``.
    """
    key = job_key("coupled", "offline", "optima", source.identity, options.solver, options.time_limit_s, settings)
    return Job(key, f"optima of {source.name}", _optima, (source, options, settings), group=source.identity)


def _optima(source: Paper, options: Options, settings: tuple[bool, ...]) -> dict[str, Any]:
    instance = load_shared(source)
    answers = {}
    for setting in settings:
        result = offline.solve(
            instance, "makespan", solver=options.solver, stand_by=setting, time_limit_s=options.time_limit_s
        )
        answers["stand_by" if setting else "no_stand_by"] = answered(result, options)
    return {"kind": "optima", **names_of(source, instance), **answers}


def known_optima() -> pd.DataFrame:
    """Return the stored optima of all 6,000 instances."""
    return read_rows("paper_optima").convert_dtypes()


def distribution(optima: pd.DataFrame, ending: str = "") -> pd.DataFrame:
    """Return the distribution of optima at each point (m, n_com, wmin) of the experiment.

    Parameters
    ----------
    optima
        As returned by `find_optima` or `known_optima`.
    ending
        ``_no_stand_by`` for the optima without stand-by.

    Returns
    -------
    pandas.DataFrame
        Numbers of ``instances``, of feasible ones (``finished``) and of unproven ones (``open``); the least, quartiles,
        mean and largest optimum; ``longer`` counts optima that are longer without stand-by.
    """
    import pandas as pd

    rows = []
    for point, group in optima.groupby(_POINT):
        makespans = group[f"makespan{ending}"].dropna().astype(float)
        row: dict[str, Any] = dict(zip(_POINT, point, strict=True))
        row["instances"] = len(group)
        row["finished"] = len(makespans)
        row["open"] = int((~group[f"status{ending}"].isin(["optimal", "infeasible"])).sum())
        for name, share in (("least", 0.0), ("quartile_1", 0.25), ("median", 0.5), ("quartile_3", 0.75), ("most", 1.0)):
            row[name] = makespans.quantile(share) if len(makespans) else None
        row["mean"] = makespans.mean() if len(makespans) else None
        if {"makespan", "makespan_no_stand_by"} <= set(group):
            row["longer"] = int((group["makespan_no_stand_by"] > group["makespan"]).sum())
        rows.append(row)
    return pd.DataFrame(rows)


def draw_distribution(summary: pd.DataFrame, path: Path) -> None:
    """Draw the median optimum against wmin for each m and n_com, with the middle half of the instances."""
    from hindsched.bench.report import canvas

    figure, (axes,) = canvas.new_figure(heights=(4.5,))
    styles = zip(canvas.COLOURS, ("-", "--", ":", "-.") * 2, strict=False)
    for ((m, n_com), group), (colour, dash) in zip(summary.groupby(["m", "n_com"]), styles, strict=False):
        wmin = group["wmin"].to_numpy()
        axes.fill_between(wmin, group["quartile_1"], group["quartile_3"], color=colour, alpha=0.12, linewidth=0)
        axes.plot(wmin, group["median"], dash, color=colour, label=f"m={m}, n_com={n_com}", marker="o", markersize=3)
    axes.set_yscale("log")
    axes.set_xlabel("wmin")
    axes.set_ylabel("hindsight optimum (slots)")
    axes.set_title("Median optimum and middle half of the instances", loc="left", fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, frameon=False)
    canvas.save(figure, path)
