"""A campaign: every policy on every instance with every combination of options, and the hindsight optima."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from hindsched.bench.campaign.engine import FailedJobsError, Job, Runs, run_jobs
from hindsched.bench.campaign.jobs import RunPlan, files_of_policy, label_of, optimum_job
from hindsched.bench.campaign.journal import Journal
from hindsched.bench.campaign.processes import call_in_child
from hindsched.bench.campaign.sources import Source
from hindsched.bench.family import family_named
from hindsched.bench.run_records import Options
from hindsched.bench.shared_types import Policy, Row
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    from hindsched.bench.results.columns import Results

__all__ = [
    "Campaign",
    "CampaignRows",
    "expand_policies",
    "option_combinations",
    "results_of_rows",
    "run_all",
    "run_campaign",
]


@dataclass(frozen=True, slots=True)
class Campaign:
    """The runs of a campaign.

    Parameters
    ----------
    sources
        The instances, with unique names, of any families.
    policies
        Names or objects, as for `hindsched.online.make_policy`; ``all``: the built-in policies of each family.
    combinations
        The combinations of options, with the same solver and time limit. Each family uses the options of runs that it
        has.
    run_limit_s
        Seconds after which a run of a policy is stopped; None: no limit.
    """

    sources: Sequence[Source]
    policies: Sequence[Policy]
    combinations: Sequence[Options]
    run_limit_s: float | None = None

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
        """The families of the instances, in order of appearance."""
        return list(dict.fromkeys(source.family for source in self.sources))

    def jobs(self, folder: Path) -> list[Job]:
        """Return a job for each optimum and each run, grouped by instance."""
        return [job for group in self.jobs_by_source(folder) for job in group]

    def jobs_by_source(self, folder: Path) -> list[list[Job]]:
        """Return for each instance the jobs for its optima, then the jobs for its runs, by options and policy."""
        plans = self.run_plans()
        by_objective = list({dict(options.run).get("objective"): options for options in self.combinations}.values())
        return [
            [
                *_optima(source, by_objective, folder),
                *(plan.job(source) for plan in plans[source.family] if self._can_run(source, plan)),
            ]
            for source in self.sources
        ]

    def run_plans(self) -> dict[str, list[RunPlan]]:
        """Return the runs on each instance of a family, by options and policy.

        Raises
        ------
        InputError
            For an invalid option or policy, or an instance without any policy.
        """
        policies = expand_policies(self.policies, self.families, self.combinations[0])
        for source in self.sources:
            if not policies[source.family]:
                raise InputError(f"no policy for {source.name} ({source.family}), expected one", place="policies")
        combinations = {family: _for_family(self.combinations, family, self.families) for family in self.families}
        return {
            family: [
                RunPlan.of(family_named(family), policy, options)
                for options in combinations[family]
                for policy in policies[family]
            ]
            for family in self.families
        }

    def _can_run(self, source: Source, plan: RunPlan) -> bool:
        """Return whether a policy runs on an instance: ``all`` leaves out policies that cannot."""
        policy = plan.policy
        is_named = any(policy is given or (isinstance(given, str) and given == policy) for given in self.policies)
        instance = getattr(source, "instance", source)
        return is_named or plan.family.refuses(instance, policy, plan.options) is None


def _optima(source: Source, by_objective: Sequence[Options], folder: Path) -> list[Job]:
    """Return the jobs for the optima of an instance, one for each objective of its family."""
    jobs = [optimum_job(source, options, folder) for options in by_objective]
    return list({job.key: job for job in jobs}.values())


def expand_policies(names: Iterable[Policy], families: Sequence[str], options: Options) -> Mapping[str, list[Policy]]:
    """Return the policies of each family, each once.

    Parameters
    ----------
    names
        Names or objects; ``all``: every published policy of a family, ``ours``: the toolkit's own policies; none:
        ``all``. A built-in policy of one family is not used for the others.
    families
        The families.
    options
        The options of the runs.

    Raises
    ------
    InputError
        For an invalid policy.
    """
    given = list(names) or ["all"]
    groups = {
        family: {"all": family_named(family).policies(), "ours": family_named(family).our_policies()}
        for family in families
    }
    built_in = {family: (*group["all"], *group["ours"]) for family, group in groups.items()}
    found: dict[str, list[Policy]] = {}
    for family in families:
        others = {policy for other in families if other != family for policy in built_in[other]} - set(built_in[family])
        chosen = [policy for name in given for policy in (groups[family][name] if _is_group(name) else (name,))]
        found[family] = _once(policy for policy in chosen if not (isinstance(policy, str) and policy in others))
        (own_options,) = _for_family([options], family, families)
        users = [policy for policy in found[family] if isinstance(policy, str) and policy not in built_in[family]]
        if users and not own_options.isolated:  # an isolated policy is made in a process of its own
            contents = tuple(repr(sorted(files_of_policy(policy).items())) for policy in users)
            _make_in_child(family, tuple(users), own_options, contents)
        for policy in found[family]:
            family_named(family).expect_policy(policy, own_options)
    return found


@cache
def _make_in_child(family: str, policies: tuple[str, ...], options: Options, contents: tuple[str, ...]) -> None:
    """Make policies of users in a child process, which their code may end; once for each content of their files."""
    call_in_child(_make, family, policies, options, place=f"policy {', '.join(policies)}")


def _make(family: str, policies: tuple[str, ...], options: Options) -> None:
    for policy in policies:
        family_named(family).make_policy(policy, options)


def _is_group(name: Policy) -> bool:
    return isinstance(name, str) and name in ("all", "ours")


def _once(policies: Iterable[Policy]) -> list[Policy]:
    """Return policies, each once; raise `InputError` for two with the same label."""
    kept: dict[str, Policy] = {}
    for policy in policies:
        other = kept.setdefault(label_of(policy), policy)
        if other is not policy and not (isinstance(other, str) and isinstance(policy, str)):
            raise InputError(
                "two policies with this name, expected different names", place=f"policy {label_of(policy)}"
            )
    return list(kept.values())


def option_combinations(options: Options, choices: Mapping[str, Sequence[str]]) -> list[Options]:
    """Return the options of a campaign with every combination of the values of some options of the run."""
    names = list(choices)
    return [options.with_run(dict(zip(names, values, strict=True))) for values in product(*choices.values())]


def _for_family(combinations: Sequence[Options], family: str, families: Sequence[str]) -> list[Options]:
    """Return the different combinations of the options that a family has.

    Raises
    ------
    InputError
        For an option of none of the families, or an unknown value.
    """
    adapter = family_named(family)
    known = {name for other in families for name in family_named(other).run_options}
    found = []
    for options in combinations:
        kept = tuple((name, value) for name, value in options.run if name in adapter.run_options or name not in known)
        changed = replace(options, run=kept)
        adapter.run_values(changed)
        found.append(changed)
    return list(dict.fromkeys(found))


def run_campaign(
    campaign: Campaign,
    folder: Path,
    *,
    num_processes: int = 1,
    dask: str | None = None,
    retries_failed: bool = False,
) -> list[tuple[str, Row]]:
    """Compute the missing rows of a campaign in ``folder``; return all its rows, as in `CampaignRows`.

    Parameters
    ----------
    campaign
        The campaign.
    folder
        Folder of ``runs.jsonl`` and the schedules of the optima.
    num_processes, dask
        As for `hindsched.bench.campaign.engine.run_jobs`.
    retries_failed
        Whether to compute failed rows again.

    Raises
    ------
    InputError
        After all other rows are computed, for jobs that failed.
    SelfCheckError
        If the checker rejects a schedule.
    """
    rows, failure = run_all(campaign, folder, Runs(campaign.run_limit_s, retries_failed), num_processes, dask)
    if failure is not None:
        raise failure
    return list(rows)


def run_all(
    campaign: Campaign,
    folder: Path,
    runs: Runs | None,
    num_processes: int = 1,
    dask: str | None = None,
    *,
    what: str = "campaign",
) -> tuple[CampaignRows, InputError | None]:
    """Compute the missing rows of a campaign; return all its rows, and the error of the jobs that failed.

    Raises
    ------
    InputError
        If no run succeeds, or the work cannot go on.
    SelfCheckError
        If the checker rejects a schedule.
    """
    jobs = campaign.jobs_by_source(folder)
    failure = None
    with Journal(folder) as journal:
        flat = [job for group in jobs for job in group]
        try:
            run_jobs(what, flat, journal, num_processes=num_processes, dask=dask, runs=runs)
        except FailedJobsError as error:
            failure = error
        del flat
        rows = CampaignRows(jobs, campaign.sources, journal)
        del jobs  # they take more memory than the places of their rows
        journal.append_all(_hidden_rows(rows, journal))
    if failure is not None and not any(row["kind"] == "run" and row.get("failure") is None for _, row in rows):
        raise failure
    return rows, failure


def _hidden_rows(rows: CampaignRows, journal: Journal) -> list[Row]:
    """Return the rows of a campaign that a report would not show as they are, because of rows of other campaigns.

    A report takes the last row of a run, and the last content of an instance's name (docs/formats.md). Written again,
    these rows come last, under the present names of the instances.
    """
    from hindsched.bench.results.journal_rows import contents_of

    own: set[str] = set()
    families: set[str] = set()
    for _, row in rows:
        own.add(row["key"])
        families.add(row["family"])
    contents: dict[str, str] = {}
    last: dict[bytes, str] = {}
    for row in journal.rows():
        if row.get("kind") in ("run", "optimum") and row.get("family") in families:
            contents |= {name: content for _, name, content in contents_of(row)}
            last[_run_of(row)] = row["key"]
    return [
        row
        for _, row in rows
        if last[_run_of(row)] not in own
        or any(row[name] != journal[row["key"]][name] for name in ("setting", "instance"))
        or any(contents[name] != content for _, name, content in contents_of(row))
    ]


def _run_of(row: Row) -> bytes:
    """Return a digest of what makes two rows rows of the same run."""
    options = family_named(row["family"]).run_options
    text = repr([row.get(name) for name in ("kind", "fingerprint", "policy", *options)])
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()


class CampaignRows:
    """The rows of jobs that a journal holds, each with its place, with the current names of instances.

    Every iteration reads the rows from the file. Rows of other jobs, or of other code, are left out.

    Parameters
    ----------
    jobs
        The jobs on each instance.
    sources
        The instances.
    journal
        The journal, open.
    """

    def __init__(self, jobs: Sequence[Sequence[Job]], sources: Sequence[Source], journal: Journal) -> None:
        self._journal, self._sources = journal, sources
        self._offsets, self._of_source = array("q"), array("q")
        for number, group in enumerate(jobs):
            for job in group:
                if job.key in journal:
                    self._offsets.append(journal.offset(job.key))
                    self._of_source.append(number)

    def __iter__(self) -> Iterator[tuple[str, Row]]:
        for row, number in zip(self._journal.rows_at(self._offsets), self._of_source, strict=True):
            source = self._sources[number]
            yield f"row {row['key'][:16]}", {**row, "setting": source.setting, "instance": source.name}


def results_of_rows(rows: Iterable[tuple[str, Mapping[str, object]]], folder: Path) -> Results:
    """Return the results in some rows of a folder.

    Raises
    ------
    InputError
        For an invalid row.
    """
    from hindsched.bench.results.journal_rows import results_of

    try:
        return results_of(rows)
    except InputError as error:
        raise error.in_file(folder / Journal.NAME) from None
