"""A campaign: every policy on every instance under every reading, beside the hindsight optimum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.campaign.engine import Job, run_jobs
from bench.campaign.jobs import Options, optimum_job, policy_job
from bench.campaign.journal import Journal
from bench.campaign.sources import Source
from instances.errors import InputError

__all__ = ["Campaign", "run_campaign"]


@dataclass(frozen=True, slots=True)
class Campaign:
    """What is run.

    Parameters
    ----------
    sources
        The instances, with unique names.
    policies
        As for `online.coupled.make_policy`.
    readings
        The options of the runs; all have the same solver and time limit.
    """

    sources: Sequence[Source]
    policies: Sequence[str]
    readings: Sequence[Options]

    def __post_init__(self) -> None:
        known: dict[str, str] = {}
        for source in self.sources:
            if source.identity in known:
                same = (
                    "given twice"
                    if known[source.identity] == source.name
                    else f"the same instance as {known[source.identity]}"
                )
                raise InputError(f"{same}, expected every instance once", place=source.name)
            known[source.identity] = source.name

    def jobs(self, folder: Path) -> list[Job]:
        """Return a job for each optimum and each run, those of an instance side by side."""
        return [job for source in self.sources for job in self.jobs_of(source, folder)]

    def jobs_of(self, source: Source, folder: Path) -> list[Job]:
        """Return the job for an instance's optimum, and then those for the runs on it, by reading and policy."""
        runs = [policy_job(source, policy, reading) for reading in self.readings for policy in self.policies]
        return [optimum_job(source, self.readings[0], folder), *runs]


def run_campaign(campaign: Campaign, folder: Path, *, num_processes: int = 1, dask: str | None = None) -> None:
    """Make every row of a campaign that ``folder`` does not hold yet.

    Parameters
    ----------
    campaign
        What is run.
    folder
        Receives ``runs.jsonl`` and the schedules of the optima.
    num_processes, dask
        As for `bench.campaign.engine.run_jobs`.

    Raises
    ------
    InputError
        After all other rows are made, for runs that failed on bad input.
    SelfCheckError
        When the checker refuses a schedule.
    """
    with Journal(folder) as journal:
        run_jobs("campaign", campaign.jobs(folder), journal, num_processes=num_processes, dask=dask)
