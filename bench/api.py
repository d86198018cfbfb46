"""The functions of ``import hindsched`` that correspond to commands.

`generate` and `from_trace` take the options of the commands of the same purpose, by the same names.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsched import instances, offline
from hindsched.bench.shared_types import Given
from hindsched.instances.errors import InputError
from hindsched.instances.verdict import Verdict
from hindsched.offline.results import Number, Result

if TYPE_CHECKING:
    import click
    import pandas as pd
    from matplotlib.figure import Figure

    from hindsched.bench.deadline.audit import Audit

__all__ = [
    "JobAudit",
    "Picture",
    "audit",
    "bound",
    "check",
    "from_trace",
    "gantt",
    "generate",
    "report",
    "run",
    "score",
    "solve",
]


def generate(family: str = "coupled", **options: Any) -> Any:
    """Return an instance of a family's published experiment, or a small one, as ``hindsched generate`` does.

    Parameters
    ----------
    family
        The family of problems.
    **options
        The options of ``hindsched generate --family NAME``: ``--n-com 5`` is ``n_com=5``.

    Raises
    ------
    InputError
        For an unknown option, or an invalid value.

    Examples
    --------
    >>> generate(m=5, n_com=10, slots=100).num_workers
    20
    """
    from hindsched.bench.commands.generate import generate as command
    from hindsched.bench.family import family_named

    with _context(command, family, options) as ctx:
        return family_named(family).commands.generate(command.take_own(ctx))


def from_trace(*traces: str | os.PathLike[str], family: str = "coupled", **options: Any) -> Any:
    """Return an instance made from traces of machines or logs of jobs, as ``hindsched import`` does.

    With ``windows=K`` (`coupled`) it returns a list of K instances.

    Parameters
    ----------
    *traces
        Files, or the name of a packaged trace.
    family
        The family of problems.
    **options
        The options of ``hindsched import --family NAME``, by the same names.

    Raises
    ------
    InputError
        For traces or options that the command rejects.

    Examples
    --------
    >>> from_trace("spot_aws_v100", slot=195, slots=100, train=500, m=4).num_workers
    9
    """
    from hindsched.bench.commands.import_ import import_ as command
    from hindsched.bench.family import family_named

    paths = [os.fspath(trace) for trace in traces]
    with _context(command, family, options, *paths) as ctx:
        found, _ = family_named(family).commands.import_windows(paths, command.take_own(ctx))
    return found[""] if "" in found else list(found.values())


def _context(command: click.Command, family: str, options: Given, *arguments: str) -> click.Context:
    """Return the context of a command with these options."""
    import click

    with click.Context(command, info_name=command.name) as bare:
        bare.meta["hindsched.family"] = family
        known = {
            text.lstrip("-").replace("-", "_"): (param, text)
            for param in command.get_params(bare)
            for text in (*param.opts, *param.secondary_opts)
            if text.startswith("--")
        }
    given = ["--family", family] if "family" in known else []
    for own in ("family", "output", "json", "help"):
        known.pop(own, None)
    for name, value in options.items():
        if name not in known:
            raise InputError(f"no such option, expected one of {', '.join(known)}", place=name)
        param, text = known[name]
        if isinstance(param, click.Option) and param.is_flag:
            given += [text] if value else [other for other in param.secondary_opts if value is False]
        elif value is not None:
            is_many = isinstance(value, Iterable) and not isinstance(value, str)
            values = [str(part) for part in value] if is_many else [str(value)]
            texts = values if getattr(param, "multiple", False) else [",".join(values)]
            given += [f"{text}={part}" for part in texts]
    try:
        context: click.Context = command.make_context(command.name, [*given, "--", *arguments])
    except click.UsageError as error:
        raise InputError(" ".join(error.format_message().split()), place=str(command.name)) from None
    return context


def solve(instance: Any, **options: Any) -> Result:
    """Return the hindsight optimum of an instance, or of its file (see `hindsched.offline.solve`)."""
    return offline.solve(_instance(instance), **options)


def run(instance: Any, policy: Any, **options: Any) -> Any:
    """Run a policy, by name or as an object, on an instance or its file (see `hindsched.online.run_policy`)."""
    from hindsched import online

    return online.run_policy(_instance(instance), policy, **options)


def check(instance: Any, schedule: Any, **options: Any) -> Verdict:
    """Verify a schedule or its file on an instance or its file (see `hindsched.instances.check`)."""
    if isinstance(schedule, str | os.PathLike):
        schedule = instances.read_schedule(schedule)
    return instances.check(_instance(instance), schedule, **options)


def bound(instance: Any, *, time_limit_s: float = 10.0, **options: Any) -> Number | None:
    """Return a proven bound on the hindsight optimum.

    Parameters
    ----------
    instance
        An instance of any family, or its file.
    time_limit_s
        Seconds for the search. If the search ends before, the bound is the optimum.
    **options
        The options of `hindsched.offline.solve`.

    Raises
    ------
    InputError
        As `hindsched.offline.solve` does.

    Examples
    --------
    >>> bound(generate(small=True, seed=3), solver="brute") is not None
    True
    """
    return offline.solve(_instance(instance), time_limit_s=time_limit_s, **options).bound


class Picture:
    """A picture, which a notebook displays and `save` writes to a file.

    Parameters
    ----------
    figure
        A matplotlib figure.
    """

    def __init__(self, figure: Figure) -> None:
        self.figure = figure

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture in the format of the ending (.svg, .pdf, .png)."""
        from hindsched.bench.report import canvas

        canvas.save(self.figure, path)

    def _repr_svg_(self) -> str:
        from hindsched.bench.report import canvas

        return canvas.drawn(self.figure, "svg").decode()


def gantt(instance: Any, schedule: Any) -> Picture:
    """Return a Gantt chart of a valid schedule over the states of the machines.

    Parameters
    ----------
    instance
        An instance of any family, or its file.
    schedule
        A schedule of the same family, its file, a run, or the result of a solver.

    Raises
    ------
    InputError
        If the schedule is invalid, or the family draws no schedules.
    """
    from hindsched.bench.family import family_of

    problem = _instance(instance)
    if isinstance(schedule, str | os.PathLike):
        schedule = instances.read_schedule(schedule)
    drawn = schedule
    if getattr(type(schedule), "family", None) is None:  # a run or a result
        drawn = getattr(schedule, "schedule", getattr(schedule, "run", None))
        drawn = drawn() if callable(drawn) else drawn
    if drawn is None:
        found = "the solver found none" if isinstance(schedule, Result) else type(schedule).__name__
        raise InputError(f"{found}, expected a schedule", place="schedule")
    verdict = instances.check(problem, drawn)
    if not verdict.is_valid:
        raise InputError(f"not drawn: {verdict}", place="schedule")
    return Picture(family_of(problem).report.draw(problem, drawn))


class JobAudit:
    """What the job of a log has paid and could have paid, which a notebook displays.

    Attributes
    ----------
    bills
        One row for each of the log, the optimum (``foresight``), the optimum with the guard, and the policies: dollars,
        ``ratio`` to foresight, hours and launches. In ``dollars_if_there`` spot is there wherever nothing was observed,
        in ``dollars`` it is not.
    losses
        One row for each run and each wait of the log: hours ``start_h`` and ``stop_h``, zone, kind, dollars paid and
        lost.
    least
        Dollars below which no schedule stays, in slots or not.
    findings
        What the audit found, in sentences.
    assumptions
        What was assumed, rounded or not observed, in sentences.
    """

    def __init__(self, audit: Audit, name: str) -> None:
        import pandas as pd

        from hindsched.bench.commands.audit import bill_rows
        from hindsched.bench.deadline.audit_page import audit_findings

        self._audit, self._name = audit, name
        self.bills = pd.DataFrame(bill_rows(audit))
        self.losses = pd.DataFrame(audit.losses)
        self.least = audit.least
        self.findings = audit_findings(audit)
        self.assumptions = list(audit.assumptions)

    def picture(self) -> Picture:
        """Return the runs of the optimum and of the log over the availability, and the dollars lost at each place."""
        from hindsched.bench.deadline.audit_page import draw_audit

        return Picture(draw_audit(self._audit, self._name))

    def save(self, page: str | os.PathLike[str]) -> None:
        """Write the HTML page, with its picture and tables next to it, as ``hindsched audit -o`` does."""
        from hindsched.bench.deadline.audit_page import write_audit_page
        from hindsched.bench.output_files import expect_writable

        expect_writable(page)
        write_audit_page(self._audit, Path(page), self._name)

    def _repr_html_(self) -> str:
        found = "".join(f"<p>{escape(line)}</p>" for line in self.findings)
        return found + self.bills.to_html(index=False, na_rep="") + self.picture()._repr_svg_()


def audit(log: str | os.PathLike[str], *traces: str | os.PathLike[str], **options: Any) -> JobAudit:
    """Return what a real job has paid, what foresight and each policy would have paid, and where money was lost.

    Parameters
    ----------
    log
        A table with the columns ``time``, ``zone`` and ``kind``.
    *traces
        When spot was there: files, or the name of a packaged trace. None: only what the log shows.
    **options
        The options of ``hindsched audit``: ``--deadline-h 70`` is ``deadline_h=70``.

    Raises
    ------
    InputError
        For a log, traces or options that the command rejects.
    """
    from hindsched.bench.commands.audit import audit as command
    from hindsched.bench.commands.audit import audit_of
    from hindsched.bench.commands.options import in_flags

    paths = [os.fspath(path) for path in (log, *traces)]
    with _context(command, "", options, *paths) as ctx:
        given = {
            name: value for name, value in ctx.params.items() if name not in ("log", "traces", "output", "as_json")
        }
        try:
            return JobAudit(audit_of(paths[0], paths[1:], given), Path(paths[0]).name)
        except InputError as error:
            raise in_flags(error) from None


def score(
    problems: Any,
    policies: Any = "all",
    *,
    results: str | os.PathLike[str] | None = None,
    seed: int = 0,
    solver: str = "auto",
    time_limit_s: float | None = 60.0,
    jobs: int = 1,
    **options: Any,
) -> pd.DataFrame:
    """Return the table of ratios of policies to the hindsight optimum, as ``hindsched score`` does.

    Parameters
    ----------
    problems
        An instance or its file, a folder of such files, or several of them, of any families.
    policies
        One or several policies: names, ``path/to/file.py:ClassName``, or objects; ``all``: the built-in policies.
    results
        A folder that keeps the rows, for `report` and for resuming; None: nothing is kept.
    seed, solver, time_limit_s
        As for the command.
    jobs
        Number of processes.
    **options
        Options of the runs, as ``--option name=value``.

    Returns
    -------
    pandas.DataFrame
        One row per policy (see `hindsched.bench.results.summary.summary`). Unfinished runs count in every quartile; a
        statistic that falls on them has ends (``median_low``, ``median_high``) and no value.

    Raises
    ------
    InputError
        For an invalid policy or instance. If only some policies fail, a warning names them.
    """
    import warnings

    from hindsched.bench.campaign import score as scoring
    from hindsched.bench.campaign.sources import Given, from_path
    from hindsched.bench.run_records import Options

    many = [problems] if isinstance(problems, str | os.PathLike) or hasattr(problems, "family") else list(problems)
    requested = list(policies) if isinstance(policies, list | tuple | set) else [policies]
    if not many:
        raise InputError("none, expected at least one", place="instances")
    sources: list[Given] = []
    for number, one in enumerate(many):
        if isinstance(one, str | os.PathLike):
            sources += from_path(one)
        else:
            sources.append(Given(f"instance {number}", "instances", _instance(one)))
    how = Options(
        run=tuple(sorted((name, str(value)) for name, value in options.items())),
        solver=solver,
        time_limit_s=time_limit_s,
        seed=seed,
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch if results is None else results)
        found = scoring.score(sources, requested, how, folder, num_processes=jobs)
    if found.failure is not None:
        warnings.warn(str(found.failure), stacklevel=2)
    return found.table


def report(results: str | os.PathLike[str], output: str | os.PathLike[str] | None = None, **options: Any) -> Path:
    """Write the report of a folder of results, as ``hindsched report`` does, and return its path.

    Parameters
    ----------
    results
        A folder of `score` or of a campaign, or a table with one run per row.
    output
        Output folder; None: ``report`` in the folder of results.
    **options
        ``reference``: the policy that others are compared with.

    Raises
    ------
    InputError
        If there is no run.
    """
    from hindsched.bench.report.page import default_output, write_report

    folder = Path(results)
    return write_report(folder, default_output(folder) if output is None else Path(output), **options).page


def _instance(thing: Any) -> Any:
    if isinstance(thing, str | os.PathLike):
        return instances.read(thing)
    if not isinstance(getattr(type(thing), "family", None), str):
        raise InputError(f"{type(thing).__name__}, expected an instance or its file", place="instance")
    return thing
