"""A campaign: every policy on every instance under every combination of options, beside the hindsight optimum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindsched.bench.campaign.engine import Job, run_jobs
from hindsched.bench.campaign.jobs import label_of, optimum_job, policy_job
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.campaign.sources import Source
from hindsched.bench.family import family_named
from hindsched.bench.run_records import Options
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    from hindsched.bench.results.columns import Results

__all__ = ["Campaign", "expand_policies", "held_rows", "readings_of", "results_of_rows", "run_campaign"]


@dataclass(frozen=True, slots=True)
class Campaign:
    """What is run.

    Parameters
    ----------
    sources
        The instances, with unique names, of any families.
    policies
        As for `hindsched.online.make_policy`, names or objects; ``all`` stands for the built-in ones of each family.
    readings
        The options of the runs; all have the same solver and time limit. Of the options of a run, each family takes
        those that it has.
    """

    sources: Sequence[Source]
    policies: Sequence[Any]
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

    @property
    def families(self) -> list[str]:
        """The families of the instances, in the order in which they come."""
        return list(dict.fromkeys(source.family for source in self.sources))

    def jobs(self, folder: Path) -> list[Job]:
        """Return a job for each optimum and each run, those of an instance side by side."""
        return [job for mine in self.jobs_by_source(folder) for job in mine]

    def jobs_by_source(self, folder: Path) -> list[list[Job]]:
        """Return for each instance the job for its optimum, then those for the runs on it, by reading and policy."""
        policies = expand_policies(self.policies, self.families, self.readings[0])
        for source in self.sources:
            if not policies[source.family]:
                raise InputError(f"none is for {source.name} ({source.family}), expected one that is", place="policies")
        readings = {family: _of_family(self.readings, family, self.families) for family in self.families}
        return [
            [
                optimum_job(source, self.readings[0], folder),
                *(
                    policy_job(source, policy, reading)
                    for reading in readings[source.family]
                    for policy in policies[source.family]
                    if self._can_run(source, policy, reading)
                ),
            ]
            for source in self.sources
        ]

    def _can_run(self, source: Source, policy: Any, reading: Options) -> bool:
        """Whether a policy is run on an instance: ``all`` leaves out those that cannot be."""
        thing = getattr(source, "instance", source)
        is_asked = any(policy is asked or (isinstance(asked, str) and asked == policy) for asked in self.policies)
        return is_asked or family_named(source.family).refuses(thing, policy, reading) is None


def expand_policies(names: Iterable[Any], families: Sequence[str], options: Options) -> Mapping[str, list[Any]]:
    """Return the policies to run on the instances of each family, each once.

    Parameters
    ----------
    names
        ``all`` stands for every built-in policy of a family but ours that stand apart, ``ours`` for these; none given
        means ``all``. A built-in policy of one of the families runs on instances of that family only.
    families
        Of the instances.
    options
        Of the runs.

    Raises
    ------
    InputError
        For a policy that cannot be made: before any work is done.
    """
    given = list(names) or ["all"]
    groups = {
        family: {"all": family_named(family).policies(), "ours": family_named(family).our_policies()}
        for family in families
    }
    built_in = {family: (*mine["all"], *mine["ours"]) for family, mine in groups.items()}
    found: dict[str, list[Any]] = {}
    for family in families:
        theirs = {policy for other in families if other != family for policy in built_in[other]} - set(built_in[family])
        mine = [policy for name in given for policy in (groups[family][name] if _is_group(name) else (name,))]
        found[family] = _once(policy for policy in mine if not (isinstance(policy, str) and policy in theirs))
        (reading,) = _of_family([options], family, families)
        for policy in found[family]:
            family_named(family).make_policy(policy, reading)
    return found


def _is_group(name: Any) -> bool:
    return isinstance(name, str) and name in ("all", "ours")


def _once(policies: Iterable[Any]) -> list[Any]:
    """Return policies by name, each once; two that tables would call the same are told apart by nobody."""
    kept: dict[str, Any] = {}
    for policy in policies:
        other = kept.setdefault(label_of(policy), policy)
        if other is not policy and not (isinstance(other, str) and isinstance(policy, str)):
            raise InputError("two policies of this name, expected a name for each", place=f"policy {label_of(policy)}")
    return list(kept.values())


def readings_of(options: Options, choices: Mapping[str, Sequence[str]]) -> list[Options]:
    """Return the options of a campaign with every combination of some options of the run."""
    names = list(choices)
    return [options.with_run(dict(zip(names, values, strict=True))) for values in product(*choices.values())]


def _of_family(readings: Sequence[Options], family: str, families: Sequence[str]) -> list[Options]:
    """Return the readings with the options that a family has, each once.

    Raises
    ------
    InputError
        For an option that none of the campaign's families has, or a value that the family does not know.
    """
    mine = family_named(family)
    known = {name for other in families for name in family_named(other).run_options}
    found = []
    for reading in readings:
        kept = tuple((name, value) for name, value in reading.run if name in mine.run_options or name not in known)
        changed = replace(reading, run=kept)
        mine.run_values(changed)
        found.append(changed)
    return list(dict.fromkeys(found))


def run_campaign(
    campaign: Campaign, folder: Path, *, num_processes: int = 1, dask: str | None = None
) -> list[tuple[str, Mapping[str, Any]]]:
    """Make every row of a campaign that ``folder`` does not hold yet; return all of them, as `held_rows` does.

    Parameters
    ----------
    campaign
        What is run.
    folder
        Receives ``runs.jsonl`` and the schedules of the optima.
    num_processes, dask
        As for `hindsched.bench.campaign.engine.run_jobs`.

    Raises
    ------
    InputError
        After all other rows are made, for runs that failed on bad input.
    SelfCheckError
        When the checker refuses a schedule.
    """
    jobs = campaign.jobs_by_source(folder)
    with Journal(folder) as journal:
        flat = [job for mine in jobs for job in mine]
        run_jobs("campaign", flat, journal, num_processes=num_processes, dask=dask)
        return held_rows(jobs, campaign.sources, journal)


def held_rows(
    jobs: Sequence[Sequence[Job]], sources: Sequence[Source], journal: Journal
) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the rows of these jobs that a journal holds, each with its place, under the present names of instances.

    What else the folder holds, of other calls or of other code, is left out.
    """
    return [
        (f"row {job.key[:16]}", {**journal[job.key], "setting": source.setting, "instance": source.name})
        for mine, source in zip(jobs, sources, strict=True)
        for job in mine
        if job.key in journal
    ]


def results_of_rows(rows: Sequence[tuple[str, Mapping[str, Any]]], folder: Path) -> Results:
    """Return the results that rows of a folder make, and nothing else that it holds.

    Raises
    ------
    InputError
        For a row that somebody broke.
    """
    from hindsched.bench.results.journal_rows import results_of

    try:
        return results_of(rows)
    except InputError as error:
        raise error.in_file(folder / Journal.NAME) from None
