"""Write a report: an HTML page on the results of a campaign, with its pictures and tables as files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from hindsched.bench.family import AnyFamily, family_named, family_of_runs
from hindsched.bench.report import figures, tables
from hindsched.bench.report.findings import findings
from hindsched.bench.report.formatting import plural
from hindsched.bench.report.html import Figure, PageTable, render
from hindsched.bench.report.ratio_plots import short_names
from hindsched.bench.report.report_files import Files
from hindsched.bench.report.run_facts import key_numbers, run_facts
from hindsched.bench.report.sections import SHORT, Section
from hindsched.bench.results.columns import GROUP, pooled
from hindsched.bench.results.policy_order import in_order
from hindsched.bench.results.ratio_statistics import distribution, medians
from hindsched.bench.results.ratios import contradictions, profile, with_ratios
from hindsched.bench.results.read import read_results
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import write_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Report", "default_output", "write_report"]

#: Colours of pictures, and their replacements on a dark screen.
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
class _GroupSection:
    """One combination of population and options on the page."""

    id: str
    title: str
    subtitle: str
    findings: list[str] = field(default_factory=list)
    ranges: Figure | None = None
    items: list[Figure | PageTable] = field(default_factory=list)


@dataclass(frozen=True)
class Report:
    """A report that was written.

    Parameters
    ----------
    page
        The page.
    files
        All files; the page comes first.
    findings
        The sentences of the summary.
    contradictions
        Contradictions in the results; the page begins with them.
    mixed
        Rows that contradict each other (see `bench.results.columns.Results.mixed`); they come next on the page.
    counts
        Numbers of ``runs`` and ``instances``.
    """

    page: Path
    files: list[Path]
    findings: list[str]
    contradictions: list[str]
    mixed: Sequence[str]
    counts: Mapping[str, int]


def default_output(results: Path) -> Path:
    """Return the default folder of a report: inside a folder of results, or next to a file of results."""
    return results / "report" if results.is_dir() else results.with_name(f"{results.name.partition('.')[0]}-report")


def write_report(
    results: Path,
    folder: Path,
    *,
    reference: str | None = None,
    latex: bool = False,
    only: Collection[str] = tuple(Section),
    pool: bool = False,
) -> Report:
    """Read results and write ``report.html``, its pictures (.svg) and its tables (.csv) to a folder.

    Each combination of a population (the paper's experiment, real machines, files of one kind) and options has its own
    section; runs of different combinations are pooled only on request.

    Parameters
    ----------
    results
        See `hindsched.bench.results.read.read_results`.
    folder
        Created if needed; files of the same names are replaced.
    reference
        The policy that others are compared with; None: the family's reference policy, and no comparison if it was not
        run.
    latex
        Whether to write the ratio tables also as LaTeX (.tex, booktabs) and the pictures also as PDF.
    only
        The parts of the page; `SHORT` fits two sheets of paper.
    pool
        Whether instances of different settings share a section (see `hindsched.bench.results.columns.pooled`).

    Raises
    ------
    InputError
        For a reference that was not run, an unknown part, unreadable results, and a folder that cannot be written.
    """
    for part in only:
        if part not in tuple(Section):
            raise InputError(f"{part!r}, expected one of {', '.join(Section)}", place="--only")
    read = pooled(read_results(results)) if pool else read_results(results)
    families = [family_named(str(name)) for name in read.runs["family"].unique()]
    built_in = [policy for family in families for policy in (*family.policies(), *family.our_policies())]
    names = short_names(list(dict.fromkeys(read.runs["policy"])), built_in)
    if reference is not None and reference not in {*names, *names.values()}:
        raise InputError(f"{reference!r}, expected a policy that was run: {', '.join(names)}", place="--reference")
    read.runs["policy"] = read.runs["policy"].map(names)
    reference = None if reference is None else names.get(reference, reference)
    files = Files(folder, latex=latex)
    wrong = contradictions(read.runs)
    ratios = with_ratios(read.runs)
    parts = _parts(read.runs)
    sections = []
    example: Figure | None = None
    for number, (family, title, runs) in enumerate(parts, start=1):
        files.prefix = f"{number}-" if len(parts) > 1 else ""
        here = ratios[ratios.index.isin(runs.index)] if runs["optimum_status"].notna().any() else ratios.iloc[:0]
        sections.append(_section(f"section-{number}", title, runs, here, family, reference, files, only))
        if Section.EXAMPLE in only and example is None and not wrong and len(here):
            prefix, files.prefix = files.prefix, ""
            example = family.report.example(here, files)
            files.prefix = prefix
    files.prefix = ""
    unfinished = None
    missing = read.runs["value"].isna()
    if missing.any() and Section.UNFINISHED in only:
        unfinished = tables.unfinished_table(read.runs, parts[0][0], file="unfinished.csv")
        columns = ["family", "setting", "instance", "policy", "options", "limit", "optimum", "optimum_status"]
        columns += ["failure"] if read.runs["failure"].notna().any() else []
        files.table("unfinished", read.runs.loc[missing, columns])
    name = Path(results).resolve().name
    words = ", or ".join(dict.fromkeys(_ratio_in_words(part[0]) for part in parts))
    page = render(
        "report.html",
        {
            "title": "On-line schedulers compared with the hindsight optimum",
            "subtitle": f"Results of {name}. A ratio is {words}: 1 is optimal.",
            "dark_colours": DARK,
            "is_short": tuple(only) == SHORT,
            "contradictions": wrong,
            "mixed": read.mixed,
            "tiles": key_numbers(read) if Section.SUMMARY in only else [],
            "sections": sections,
            "example": example,
            "facts": run_facts(read, name, names) if Section.FACTS in only else [],
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
    counts = {"runs": len(read.runs), "instances": len(read.runs.groupby(["family", "setting", "instance"]))}
    return Report(path, [path, *files.written], found, wrong, read.mixed, counts)


def _ratio_in_words(family: AnyFamily) -> str:
    best = "the optimum of the same instance in hindsight"
    return (
        f"the {family.heading} of a run divided by {best}"
        if family.sense == "min"
        else f"{best} divided by the {family.heading} of a run"
    )


def _parts(runs: pd.DataFrame) -> list[tuple[AnyFamily, str, pd.DataFrame]]:
    """Return each combination of family, population and options with its runs, in decreasing number of runs."""
    has_options = len(runs["options"].unique()) > 1
    parts = []
    for (_, population, options), group in runs.groupby(list(GROUP), dropna=False, sort=True):
        title = f"{population}, {options or 'default options'}" if has_options else str(population)
        parts.append((-len(group), bool(options), family_of_runs(group), title, group))
    return [part[2:] for part in sorted(parts, key=lambda part: part[:2])]


def _section(
    identity: str,
    title: str,
    runs: pd.DataFrame,
    ratios: pd.DataFrame,
    family: AnyFamily,
    reference: str | None,
    files: Files,
    only: Collection[str],
) -> _GroupSection:
    policies = in_order(runs["policy"].unique(), family.name)
    subtitle = f"{plural(len(runs), 'run')} of {len(policies)} {'policy' if len(policies) == 1 else 'policies'}"
    subtitle += f" on {plural(runs['fingerprint'].nunique(), 'instance')}."
    section = _GroupSection(identity, title, subtitle)
    overall = distribution(ratios)
    files.ratio_table(overall, family)
    middle = medians(ratios) if len(ratios) else None
    compared_with = reference or family.reference
    is_compared = compared_with in policies
    if Section.SUMMARY in only:
        section.findings = findings(runs, overall, middle, family)
        if is_compared:
            section.findings += family.report.findings(runs, str(compared_with))
        if middle is not None:
            section.ranges = figures.ranges(overall, family, files)
    if middle is not None and Section.RATIOS in only:
        section.items.append(figures.ratios_of(ratios, overall, middle, files))
    if middle is not None and Section.CURVES in only:
        section.items.append(figures.curves_of(ratios, family, files))
    if len(policies) > 1 and Section.PROFILE in only:
        shares = profile(runs)
        if len(shares):
            section.items.append(figures.curves("profile", shares, family, files))
    if middle is not None and Section.PARAMETERS in only:
        section.items += figures.by_parameter(ratios, overall, family, files)
    if is_compared and len(policies) > 1 and Section.COMPARISON in only:
        section.items += family.report.items(runs, str(compared_with), files)
    return section
