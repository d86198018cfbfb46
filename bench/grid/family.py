"""The adapter of the family `grid`: what campaigns, tables, reports and commands know of it.

Runs are measured by the sum of responses of the jobs that run, beside the optimum over these jobs: waits can be 0, and
a run that refuses jobs is not compared with one that runs them (docs/grid/model.md section 5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar

from hindsched import instances, offline
from hindsched.bench.family import Family, OptimumBounds, Options, RunRecord
from hindsched.bench.grid import flags
from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.instances.grid import Schedule, write_schedule
from hindsched.instances.grid.model import LATEST
from hindsched.offline.results import Result, Status
from hindsched.online.grid.options import BUILT_IN, CHOICES, differing
from hindsched.online.grid.policies import OPTIONS, make_policy, run_policy

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from hindsched.bench.campaign.sources import Source
    from hindsched.instances.grid import Instance

__all__ = ["FAMILY"]

#: Above this many jobs, or nodes, a run is made anew by machine code: the plain simulators would take hours.
_PLAIN_JOBS, _PLAIN_NODES = 2_000, 500
#: Schedules of optima are kept up to so many jobs.
_KEPT_JOBS = 5_000


class _Grid(Family):
    name = "grid"
    value = "total_response"
    heading = "total response"
    unit = "slots"
    run_options: ClassVar[Mapping[str, tuple[str, ...]]] = {
        name: CHOICES.get(name, ()) for name in OPTIONS if name != "seed"
    }
    reference = "asap_counted"
    unproven = "no prices were found, only the bound 0 holds"
    axes = ("nodes", "instance_seed", "first_job")
    axis_keys: ClassVar[Mapping[str, str]] = {"instance_seed": "seed", "first_job": "first"}
    columns = (
        *("jobs", "failed", "failed_percent", "total_wait", "pull", "push", "poll", "searches"),
        *("forwards", "withdrawals", "notices"),
    )
    averages = ("failed_percent", "pull", "push")
    flags = flags.FLAGS

    def make_policy(self, text: str, options: Options) -> Any:
        return make_policy(text, **_given(options))

    def solve(self, instance: Instance, options: Options) -> Result:
        return _as_response(instance, _optimum(instance, options.solver, options.time_limit_s, options.solve))

    def run(self, instance: Instance, policy: str, options: Options, seed: int) -> RunRecord:
        return self._played(instance, policy, options, seed)

    def _played(
        self, instance: Instance, policy: str, options: Options, seed: int, *, engine: str = "auto"
    ) -> RunRecord:
        self.run_values(options)
        made = make_policy(policy, seed=seed, **_given(options))
        run = run_policy(instance, made, engine=engine)
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
        """Return how the optimum over the accepted jobs is found, where a run that refuses some asks for it."""
        from hindsched.bench.campaign.engine import code_digest

        if options.time_limit_s is None:
            return ()
        return code_digest("offline", family=self.name), options.solver, options.time_limit_s, *options.solve

    def replay(self, instance: Instance, played: RunRecord, who: str) -> Mapping[str, Any]:
        """Let the checker judge the schedule of a run, and compare failures and waits."""
        verdict = instances.check(instance, played.schedule)
        found = verdict.outcome
        if not verdict.is_valid or (found.failed, found.total_wait) != (
            played.facts["failed"],
            played.facts["total_wait"],
        ):
            raise SelfCheckError(f"{who}: claims total wait {played.facts['total_wait']}, the checker says: {verdict}")
        return {"check": "valid"}

    def keeps(self, schedule: Any) -> bool:
        return len(schedule) <= _KEPT_JOBS

    def from_point(self, point: Mapping[str, Any]) -> Any:
        from hindsched.bench.grid.sources import from_point

        return from_point(dict(point))

    def run_plainly(self, instance: Instance, policy: str, options: Options, seed: int) -> RunRecord:
        """Run by the plain simulator, or again by machine code where that would take hours."""
        is_small = len(instance) <= _PLAIN_JOBS and instance.nodes <= _PLAIN_NODES
        engine = "plain" if is_small or policy not in BUILT_IN else "kernel"
        return self._played(instance, policy, replace(options, time_limit_s=None), seed, engine=engine)

    def run_row(self, instance: Instance, played: RunRecord, options: Options) -> dict[str, Any]:
        """Tell the options that differ from their defaults, the metrics and the counters."""
        row: dict[str, Any] = {**_given(options)}
        if played.policy in BUILT_IN:
            row = differing(make_policy(played.policy, **row, seed=options.seed))  # type: ignore[arg-type]
        facts = {name: value for name, value in played.facts.items() if name != "digest"}
        for name, value in facts.items():
            row[name] = value
            if name == "total_wait":
                row["total_response"] = played.value
        return row

    def generate(self, **given: Any) -> Any:
        return flags.generate(**given)

    def import_trace(self, traces: Sequence[str], **given: Any) -> tuple[Any, Sequence[str]]:
        return flags.import_log(traces, **given)

    def sources(self, table: Mapping[str, Any]) -> list[Source]:
        from hindsched.bench.grid.sources import sources

        return sources(dict(table))

    def usual_sources(self, **given: Any) -> list[Source]:
        """Return small random workloads, and windows of KTH-SP2."""
        from hindsched.bench.grid.sources import Generated, Window

        nodes, slot_s, jobs, load, mix = (given[name] for name in ("nodes", "slot_s", "num_jobs", "load", "mix"))
        drawn = range(given["seed"], given["seed"] + given["draws"])
        windows: list[Source] = [Window(60, first, 60) for first in (0, 300, 600, 900)]
        return [*(Generated(nodes, slot_s, jobs, load, seed, mix) for seed in drawn), *windows]

    def reproduce(self, folder: Path, *, num_processes: int, dask: str | None, as_json: bool, **given: Any) -> None:
        from hindsched.bench.grid.paper.page import reproduce

        reproduce(folder, num_processes=num_processes, dask=dask, as_json=as_json, **given)

    def export(self, instance: Instance, schedule: Any | None) -> str:
        """Return a workload for Batsim, or its table of jobs."""
        from hindsched.instances.grid.batsim import jobs_csv, to_batsim

        if schedule is None:
            return to_batsim(instance)
        return jobs_csv(instance, _schedule(schedule, "export"))

    def draw(self, instance: Instance, schedule: Any) -> Figure:
        from hindsched.bench.grid.gantt import draw

        return draw(instance, _schedule(schedule, "gantt"))

    def draw_pair(self, instance: Instance, best: Any, run: Any, policy: str, name: str) -> Figure:
        from hindsched.bench.grid.gantt import draw_pair

        return draw_pair(instance, best, run, policy, name)

    def did_all(self, runs: pd.DataFrame) -> pd.Series[bool]:
        """Return which runs refused no job."""
        failed: pd.Series[bool] = runs["failed"].astype(float) > 0
        return ~failed

    def findings(self, runs: pd.DataFrame, reference: str) -> list[str]:
        from hindsched.bench.grid.report_items import findings

        return findings(runs)

    def report_items(self, runs: pd.DataFrame, reference: str, files: Any) -> list[Any]:
        from hindsched.bench.grid.report_items import waits

        return waits(runs, files)


def _schedule(given: Any, verb: str) -> Schedule:
    """Return a schedule; refuse a certificate, and starts that no clock and no picture has."""
    if not isinstance(given, Schedule):
        raise InputError("expected a schedule", place=verb)
    for j, start in enumerate(given.starts()):
        if start is not None and start >= LATEST:
            raise InputError(f"a start of {LATEST} or later, expected an earlier one", place=f"{verb}, job {j}")
    return given


def _given(options: Options) -> dict[str, str]:
    """Return the options that were given; an empty text stands for the default."""
    return {name: value for name, value in options.run if value != ""}


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
