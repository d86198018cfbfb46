"""What ``import hindsched`` offers beside the functions of the other packages: the verbs of the command line, as calls.

The options of `generate` and `from_trace` are those of the commands, by the same names, checked by the same code.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsched import instances, offline
from hindsched.instances.errors import InputError
from hindsched.instances.verdict import Verdict
from hindsched.offline.results import Number, Result

if TYPE_CHECKING:
    import click
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["Picture", "bound", "check", "from_trace", "gantt", "generate", "report", "run", "score", "solve"]


def generate(family: str = "coupled", **options: Any) -> Any:
    """Return an instance of a family's published experiment, or a small one: ``hindsched generate``.

    Parameters
    ----------
    family
        The family of problems.
    **options
        Those of ``hindsched generate --family NAME``, by the same names: ``--n-com 5`` is ``n_com=5``.

    Raises
    ------
    InputError
        For an option that the family does not have, or a value that cannot be meant.

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
    """Return an instance made of traces of real machines, or logs of real jobs: ``hindsched import``.

    Parameters
    ----------
    *traces
        Files, or the name of a packaged trace.
    family
        The family of problems.
    **options
        Those of ``hindsched import --family NAME``, by the same names.

    Raises
    ------
    InputError
        As the command says it. What the reader takes for granted is told as a warning.

    Examples
    --------
    >>> from_trace("spot_aws_v100", slot=195, slots=100, train=500, m=4).num_workers
    9
    """
    from hindsched.bench.commands.import_ import import_ as command
    from hindsched.bench.family import family_named

    named = [os.fspath(trace) for trace in traces]
    with _context(command, family, options, *named) as ctx:
        instance, _ = family_named(family).commands.import_trace(named, command.take_own(ctx))
    return instance


def _context(command: Any, family: str, options: Mapping[str, Any], *arguments: str) -> click.Context:
    """Return the context of a command that was given these options."""
    import click

    with click.Context(command, info_name=command.name) as bare:
        bare.meta["hindsched.family"] = family
        known = {
            text.lstrip("-").replace("-", "_"): (param, text)
            for param in command.get_params(bare)
            for text in (*param.opts, *param.secondary_opts)
            if text.startswith("--")
        }
    for own in ("family", "output", "help"):
        known.pop(own, None)
    given = ["--family", family]
    for name, value in options.items():
        if name not in known:
            raise InputError(f"no such option, expected one of {', '.join(known)}", place=name)
        param, text = known[name]
        if isinstance(param, click.Option) and param.is_flag:
            given += [text] if value else [other for other in param.secondary_opts if value is False]
        elif value is not None:
            is_many = isinstance(value, Iterable) and not isinstance(value, str)
            values = [str(part) for part in value] if is_many else [str(value)]
            many = values if getattr(param, "multiple", False) else [",".join(values)]
            given += [f"{text}={part}" for part in many]
    try:
        context: click.Context = command.make_context(command.name, [*given, "--", *arguments])
    except click.UsageError as error:
        raise InputError(" ".join(error.format_message().split()), place=str(command.name)) from None
    return context


def solve(instance: Any, **options: Any) -> Result:
    """Return the hindsight optimum of an instance of any family, or of its file: `hindsched.offline.solve`."""
    return offline.solve(_instance(instance), **options)


def run(instance: Any, policy: Any, **options: Any) -> Any:
    """Run a policy, by name or as an object, on an instance of any family, or on its file: `online.run_policy`."""
    from hindsched import online

    return online.run_policy(_instance(instance), policy, **options)


def check(instance: Any, schedule: Any, **beside: Any) -> Verdict:
    """Replay a schedule by the family's independent checker: `instances.check`; files stand for what they hold."""
    if isinstance(schedule, str | os.PathLike):
        schedule = instances.read_schedule(schedule)
    return instances.check(_instance(instance), schedule, **beside)


def bound(instance: Any, *, time_limit_s: float = 10.0, **options: Any) -> Number | None:
    """Return a proven bound on the hindsight optimum: no schedule is better.

    Parameters
    ----------
    instance
        Of any family, or its file.
    time_limit_s
        Seconds to search for it; what is proven by then counts. The optimum itself, if the search ends.
    **options
        Those of `hindsched.offline.solve`.

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
    """A picture that shows itself in a notebook, and can be written to a file.

    Parameters
    ----------
    figure
        A matplotlib figure.
    """

    def __init__(self, figure: Figure) -> None:
        self.figure = figure

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it; the ending (.svg, .pdf, .png) says how."""
        from hindsched.bench.report import canvas

        canvas.save(self.figure, path)

    def _repr_svg_(self) -> str:
        from hindsched.bench.report import canvas

        return canvas.drawn(self.figure, "svg").decode()


def gantt(instance: Any, schedule: Any) -> Picture:
    """Return the picture of a schedule over the states of the machines, if it obeys the rules.

    Parameters
    ----------
    instance
        Of any family, or its file.
    schedule
        Of the same family, or its file; or what has one: a run, or the answer of a solver.

    Raises
    ------
    InputError
        When the checker refuses the schedule, and for a family that draws none.
    """
    from hindsched.bench.family import family_of

    problem = _instance(instance)
    if isinstance(schedule, str | os.PathLike):
        schedule = instances.read_schedule(schedule)
    played = schedule
    if getattr(type(schedule), "family", None) is None:  # a run or an answer
        played = getattr(schedule, "schedule", getattr(schedule, "run", None))
        played = played() if callable(played) else played
    if played is None:
        raise InputError("none was found, expected a schedule", place="schedule")
    verdict = instances.check(problem, played)
    if not verdict.is_valid:
        raise InputError(f"not drawn: {verdict}", place="schedule")
    return Picture(family_of(problem).report.draw(problem, played))


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
    """Return the ratio table of policies against the hindsight optimum: ``hindsched score``.

    Parameters
    ----------
    problems
        An instance or its file, or several of them; of one family or of different ones.
    policies
        A policy or several: names, ``path/to/file.py:ClassName``, or objects; ``all`` stands for the built-in ones.
    results
        A folder that keeps the rows, resumes, and is what `report` reads; None: nothing is kept.
    seed, solver, time_limit_s
        As of the command.
    jobs
        Processes at work at once.
    **options
        Options of the runs by name, as ``--option name=value``.

    Returns
    -------
    pandas.DataFrame
        A row per policy: `bench.results.summary.summary`. An unfinished run stays in the denominator of every quartile,
        and a statistic that falls on such runs has ends (``median_low``, ``median_high``) and no value.

    Raises
    ------
    InputError
        For a policy or an instance that cannot be used; one policy that fails does not hide the rows of the others, and
        is told as a warning.
    """
    import warnings

    from hindsched.bench.campaign import score as main_job
    from hindsched.bench.campaign.sources import Given, from_file
    from hindsched.bench.run_records import Options

    many = [problems] if isinstance(problems, str | os.PathLike) or hasattr(problems, "family") else list(problems)
    asked = list(policies) if isinstance(policies, list | tuple | set) else [policies]
    if not many:
        raise InputError("none, expected at least one", place="instances")
    sources = [
        from_file(one)
        if isinstance(one, str | os.PathLike)
        else Given(f"instance {number}", "instances", _instance(one))
        for number, one in enumerate(many)
    ]
    how = Options(
        run=tuple(sorted((name, str(value)) for name, value in options.items())),
        solver=solver,
        time_limit_s=time_limit_s,
        seed=seed,
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch if results is None else results)
        found = main_job.score(sources, asked, how, folder, num_processes=jobs)
    if found.failure is not None:
        warnings.warn(str(found.failure), stacklevel=2)
    return found.table


def report(results: str | os.PathLike[str], output: str | os.PathLike[str] | None = None, **options: Any) -> Path:
    """Write the page of a folder of results, ``hindsched report``, and return where it is.

    Parameters
    ----------
    results
        A folder of `score` or of a campaign, or a table of one run a row.
    output
        Where to write; None: ``report`` beside the rows.
    **options
        ``reference``: the policy that others are compared with.

    Raises
    ------
    InputError
        Where there is no run.
    """
    from hindsched.bench.report.page import default_output, write_report

    folder = Path(results)
    return write_report(folder, default_output(folder) if output is None else Path(output), **options).page


def _instance(thing: Any) -> Any:
    if isinstance(thing, str | os.PathLike):
        return instances.read(thing)
    if not isinstance(getattr(type(thing), "family", None), str):
        raise InputError(f"{type(thing).__name__}, expected an instance of some family, or its file", place="instance")
    return thing
