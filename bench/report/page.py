"""A page about the results of a campaign, with its pictures and tables beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from bench.campaign.jobs import Options
from bench.coupled.versus import in_order, versus
from bench.report import items, tables, words
from bench.report.example import Example, find_example
from bench.report.html import Figure, PageTable, render
from bench.report.items import Files
from bench.report.pictures import short_names
from bench.results.distributions import contradictions, distribution, medians, profile, with_ratios
from bench.results.frames import OPTIONS, read_results
from instances.textio import write_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Report", "write_report"]

#: Colours of pictures, and what they become on a dark screen.
DARK = {
    "000000": "#e6e7ea",
    "ffffff": "#1b1e23",
    "0072b2": "#5cb0ec",
    "d55e00": "#ff8b45",
    "009e73": "#3ccb9c",
    "cc79a7": "#e7a0c8",
    "e69f00": "#f2b632",
    "56b4e9": "#2f6f9c",
    "999999": "#9aa0a8",
    "b8b8b8": "#3a4048",
    "e4e4e4": "#2a2f36",
    "d9d9d9": "#333940",
    "a6a6a6": "#565d66",
    "595959": "#8d949d",
}


@dataclass
class _Section:
    """One combination of population and options on the page."""

    id: str
    title: str
    subtitle: str
    findings: list[str] = field(default_factory=list)
    ranges: Figure | None = None
    items: list[Figure | PageTable] = field(default_factory=list)


@dataclass(frozen=True)
class Report:
    """What was written.

    Parameters
    ----------
    page
        The page.
    files
        Everything, the page first.
    findings
        The sentences of its summary.
    contradictions
        What cannot be, if anything: the page begins with it.
    counts
        ``runs`` and ``instances``.
    """

    page: Path
    files: list[Path]
    findings: list[str]
    contradictions: list[str]
    counts: Mapping[str, int]


def write_report(results: Path, folder: Path, *, reference: str = "IE") -> Report:
    """Read results and write ``report.html``, its pictures (.svg) and its tables (.csv) to a folder.

    Runs of different populations (the paper's experiment, real machines, files of one's own) and of different options
    are never put together: each combination has a section of its own.

    Parameters
    ----------
    results
        See `bench.results.frames.read_results`.
    folder
        Made if needed; files of the same names are replaced.
    reference
        The heuristic that others are compared with; where it was not run that comparison is left out.

    Raises
    ------
    InputError
        For results that cannot be read, and a folder that cannot be written.
    """
    read = read_results(results)
    names = short_names(in_order(read.runs["policy"].unique()))
    read.runs["policy"] = read.runs["policy"].map(names)
    reference = names.get(reference, reference)
    files = Files(folder)
    wrong = contradictions(read.runs)
    ratios = with_ratios(read.runs)
    parts = _parts(read.runs)
    sections = []
    example: Example | None = None
    for number, (title, mine) in enumerate(parts, start=1):
        files.prefix = f"{number}-" if len(parts) > 1 else ""
        here = ratios[ratios.index.isin(mine.index)] if mine["optimum_status"].notna().any() else ratios.iloc[:0]
        sections.append(_section(f"section-{number}", title, mine, here, reference, files))
        example = example or (find_example(here) if not wrong else None)
    files.prefix = ""
    unfinished = None
    if read.runs["makespan"].isna().any():
        unfinished = tables.unfinished_table(read.runs, file="unfinished.csv")
        columns = ["setting", "instance", "policy", *OPTIONS, "slot_limit", "optimum", "optimum_status"]
        files.table("unfinished", read.runs.loc[read.runs["makespan"].isna(), columns])
    name = Path(results).resolve().name
    page = render(
        "report.html",
        {
            "title": "On-line heuristics against the hindsight optimum",
            "subtitle": f"Results of {name}. A ratio is a makespan over the best that any schedule reaches on the same "
            "states, all known beforehand: 1 is optimal, 2 takes twice as long.",
            "dark_colours": DARK,
            "contradictions": wrong,
            "tiles": words.tiles(read),
            "sections": sections,
            "example": None if example is None else items.drawn_example(example, files),
            "facts": words.facts(read, name, names),
            "unfinished": unfinished,
            "version": version("hindsched"),
        },
    )
    path = folder / "report.html"
    write_text(path, page)
    found = [
        f"{section.title}: {finding}" if len(sections) > 1 else finding
        for section in sections
        for finding in section.findings
    ]
    counts = {"runs": len(read.runs), "instances": int(read.runs["fingerprint"].nunique())}
    return Report(path, [path, *files.written], found, wrong, counts)


def _parts(runs: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the combinations of population and options with their runs: most runs first, then the usual options."""
    known = [name for name in OPTIONS if len(runs[name].unique()) > 1]
    usual = Options()
    parts = []
    for point, group in runs.groupby(["population", *known], dropna=False, sort=True):
        options = [f"{name} {value}" for name, value in zip(known, point[1:], strict=True)]
        changed = sum(value != getattr(usual, name) for name, value in zip(known, point[1:], strict=True))
        parts.append((-len(group), changed, ", ".join([str(point[0]), *options]), group))
    return [part[2:] for part in sorted(parts, key=lambda part: part[:2])]


def _section(
    identity: str, title: str, runs: pd.DataFrame, ratios: pd.DataFrame, reference: str, files: Files
) -> _Section:
    policies = in_order(runs["policy"].unique())
    subtitle = f"{words.plural(len(runs), 'run')} of {words.plural(len(policies), 'heuristic')}"
    subtitle += f" on {words.plural(runs['fingerprint'].nunique(), 'instance')}."
    section = _Section(identity, title, subtitle)
    overall = distribution(ratios)
    middle = medians(ratios) if len(ratios) else None
    metrics = versus(runs, reference) if reference in policies else None
    section.findings = words.findings(runs, overall, middle, metrics, reference)
    if middle is not None:
        section.ranges = items.ranges(overall, files)
        section.items += items.of_ratios(ratios, overall, middle, files)
    shares = profile(runs)
    if len(policies) > 1 and len(shares):
        section.items.append(items.curves("profile", shares, files))
    if middle is not None:
        section.items += items.by_parameter(ratios, overall, files)
    if metrics is not None and len(policies) > 1:
        section.items += items.against(runs, metrics, reference, files)
    return section
