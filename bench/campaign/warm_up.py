"""Compile all machine code ahead of its first use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.campaign.plan import Campaign
from hindsched.bench.family import family_named
from hindsched.bench.run_records import Options

__all__ = ["warm_up"]


def warm_up(families: Sequence[str], *, num_processes: int = 1) -> int:
    """Solve an instance of each family and run every policy on it, as ``score`` does; return the number of rows.

    Parameters
    ----------
    families
        Names of families.
    num_processes
        Number of processes. Optima and runs are different groups of jobs, which compile different code.

    Raises
    ------
    InputError
        For a family that does not exist.
    """
    adapters = [family_named(name) for name in dict.fromkeys(families)]
    hard = [Job(family.name, f"{family.name}, hard instances", _warm_up, (family.name,)) for family in adapters]
    optima: list[Job] = []
    runs: list[Job] = []
    with TemporaryDirectory() as folder:
        for family in adapters:
            defaults = (
                click.Command("score", params=list(family.commands.options["score"])).make_context("score", []).params
            )
            sources = family.commands.default_sources({"seed": 0, **defaults})
            ends = dict.fromkeys([sources[0], sources[-1]])  # if there are several kinds of instances, these differ
            for first, *others in Campaign(list(ends), ["all"], [Options(time_limit_s=60.0)]).jobs_by_source(
                Path(folder)
            ):
                optima.append(replace(first, group=f"{family.name}, optima"))
                runs += [replace(job, group=f"{family.name}, runs") for job in others]
        with Journal(Path(folder)) as journal:
            run_jobs("compile", [*hard, *optima, *runs], journal, num_processes=num_processes)
    return len(optima) + len(runs)


def _warm_up(family: str) -> dict[str, str]:
    family_named(family).warm_up()
    return {"family": family}
