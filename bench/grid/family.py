"""The adapter of the family `grid`: parallel jobs on a grid of machines.

The objective is the sum of responses of the accepted jobs, compared with the optimum over the same jobs: waits can be
0, and a run that rejects jobs is not comparable with one that accepts them (docs/grid/model.md section 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar

from hindsched import instances, offline
from hindsched.bench.family import Family
from hindsched.bench.grid.commands import GridCommands, given_options
from hindsched.bench.run_records import OptimumBounds, Options, RunRecord
from hindsched.bench.shared_types import Given, Policy, Row
from hindsched.instances.errors import SelfCheckError
from hindsched.instances.grid import Instance, Schedule, write_schedule
from hindsched.offline.results import Result, Status
from hindsched.online.grid.isolated import IsolatedPolicy
from hindsched.online.grid.options import BUILT_IN, CHOICES
from hindsched.online.grid.policies import OPTIONS, POLICIES, make_policy, run_policy

if TYPE_CHECKING:
    import pandas as pd

    from hindsched.bench.campaign.sources import Source
    from hindsched.bench.grid.report import GridReport

__all__ = ["FAMILY"]

#: Largest numbers of jobs and nodes for the plain simulator in `run_plainly`; it would take hours for larger ones.
_PLAIN_JOBS, _PLAIN_NODES = 2_000, 500
#: Largest number of jobs of an optimum whose schedule is kept.
_KEPT_JOBS = 5_000


class _Grid(Family[Instance, Schedule]):
    name = "grid"
    legend = (
        "dgs: decentralised search; asap_pinned, asap_counted: the earliest start; queue: what fits, shortest first; "
        "fcfs: in order; easy: EASY backfilling; late: dgs that reorders. More in docs/policies.md."
    )
    value = "total_response"
    heading = "total response"
    unit = "slots"
    run_options: ClassVar[Mapping[str, tuple[str, ...]]] = {
        name: CHOICES.get(name, ()) for name in OPTIONS if name != "seed"
    }
    reference = "asap_counted"
    axes = ("nodes", "instance_seed", "first_job")
    axis_keys: ClassVar[Mapping[str, str]] = {"instance_seed": "seed", "first_job": "first"}
    columns = (
        *("jobs", "failed", "failed_percent", "total_wait", "pull", "push", "poll", "searches"),
        *("forwards", "withdrawals", "notices"),
    )
    averages = ("failed_percent", "pull", "push")

    @cached_property
    def commands(self) -> GridCommands:
        return GridCommands(self)

    @cached_property
    def report(self) -> GridReport:
        from hindsched.bench.grid.report import GridReport

        return GridReport(self)

    def make_policy(self, text: Policy, options: Options) -> Policy:
        return make_policy(text, **given_options(options))

    def make_isolated(self, text: Policy, options: Options) -> Policy:
        with IsolatedPolicy(text, given_options(options)) as made:
            return made

    def kind(self, instance: Instance) -> str:
        return f"{instance.nodes} nodes, slots of {instance.slot_s} s"

    def solve(self, instance: Instance, options: Options) -> Result:
        return _as_response(instance, _optimum(instance, options.solver, options.time_limit_s, options.solve))

    def run(self, instance: Instance, policy: Policy, options: Options, seed: int) -> RunRecord:
        return self._run(instance, policy, options, seed)

    def _run(
        self, instance: Instance, policy: Policy, options: Options, seed: int, *, engine: str = "auto"
    ) -> RunRecord:
        self.run_values(options)
        given = {"seed": seed, **given_options(options)}
        if options.isolated and policy not in POLICIES:
            with IsolatedPolicy(policy, given) as isolated:
                run = run_policy(instance, isolated)
        else:
            run = run_policy(instance, make_policy(policy, **given), engine=engine)
        metrics = asdict(run.metrics())
        value = metrics.pop("total_response")
        metrics["failed_percent"] = round(100 * metrics["failed"] / len(instance), 6) if len(instance) else None
        counters = {} if run.counters is None else asdict(run.counters)
        schedule = run.schedule()
        facts = {**metrics, **counters, "digest": sha256(write_schedule(schedule).encode()).hexdigest()[:16]}
        limit = None
        if metrics["failed"]:  # the run has an optimum of its own
            limit = OptimumBounds(Status.UNKNOWN, None, None, None, "none")
            if options.time_limit_s is not None:
                accepted = instance.subset(run.accepted)
                limit = OptimumBounds.of(self.solve(accepted, options))
        return RunRecord(run.policy, value, None, schedule, facts, limit)

    def solved_in_runs(self, options: Options) -> tuple[object, ...]:
        """Return the options of the solver that computes the optimum over the accepted jobs of a run."""
        from hindsched.bench.campaign.engine import code_digest

        if options.time_limit_s is None:
            return ()
        return code_digest("offline", family=self.name), options.solver, options.time_limit_s, *options.solve

    def replay(self, instance: Instance, record: RunRecord, who: str) -> Row:
        """Let the checker judge the schedule of a run, and compare failures and waits."""
        verdict = instances.check(instance, record.schedule)
        found = verdict.outcome
        if not verdict.is_valid or (found.failed, found.total_wait) != (
            record.facts["failed"],
            record.facts["total_wait"],
        ):
            raise SelfCheckError(
                f"{who}: reports total wait {record.facts['total_wait']}, the checker finds: {verdict}"
            )
        return {"check": "valid"}

    def keeps(self, schedule: Schedule) -> bool:
        return len(schedule) <= _KEPT_JOBS

    def from_point(self, point: Given) -> Instance:
        from hindsched.bench.grid.sources import from_point

        return from_point(dict(point))

    def run_plainly(self, instance: Instance, policy: Policy, options: Options, seed: int) -> RunRecord:
        """Run by the plain simulator, or again by machine code where that would take hours."""
        is_small = len(instance) <= _PLAIN_JOBS and instance.nodes <= _PLAIN_NODES
        engine = "plain" if is_small or policy not in BUILT_IN else "kernel"
        return self._run(instance, policy, replace(options, time_limit_s=None), seed, engine=engine)

    def sources(self, table: Given) -> list[Source]:
        from hindsched.bench.grid.sources import sources

        return sources(dict(table))

    def completed_all(self, runs: pd.DataFrame) -> pd.Series[bool]:
        """Return which runs rejected no job."""
        failed: pd.Series[bool] = runs["failed"].astype(float) > 0
        return ~failed


@lru_cache(maxsize=4)  # the runs on an instance are neighbours, and often accept the same jobs
def _optimum(instance: Instance, solver: str, time_limit_s: float | None, more: tuple[tuple[str, Any], ...]) -> Result:
    result: Result = offline.solve(instance, solver=solver, time_limit_s=time_limit_s, **dict(more))
    return result


def _as_response(instance: Instance, result: Result) -> Result:
    """Return an answer in responses: waits and lengths."""
    length = sum(instance.length.tolist())
    value, lower, upper = (
        None if number is None else number + length for number in (result.value, result.lower, result.upper)
    )
    return replace(result, value=value, lower=lower, upper=upper)


FAMILY = _Grid()
