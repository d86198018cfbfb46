"""The adapter of the family `batches`: batches of tasks with deadlines on volunteered machines.

A run is measured by its satisfied tasks over those of the rung ``free``. Its row also has the optima of the rungs
``traffic`` and ``stream`` on the run's own contacts. For every row and batch it is asserted that each rung is at least
as good as the next one, and as the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from hindsched import instances, offline
from hindsched.bench.batches.commands import BatchesCommands, policy_options
from hindsched.bench.batches.hindsight_order import expect_ordered, mean_latency_ratio
from hindsched.bench.batches.sources import Drawn, drawn_sources
from hindsched.bench.family import Family
from hindsched.bench.run_records import Options, RunRecord
from hindsched.bench.shared_types import Given, Policy, Row
from hindsched.instances import InputError, SelfCheckError
from hindsched.instances.batches import Instance, Run, Rung
from hindsched.instances.text_files import convert
from hindsched.offline.batches import Hindsight
from hindsched.offline.results import Result, Sense
from hindsched.online.batches import Options as PolicyOptions
from hindsched.online.batches import make_policy, run_policy
from hindsched.online.batches.algorithms import expect_margins
from hindsched.online.batches.options import CHOICES
from hindsched.online.batches.outcome import Simulation
from hindsched.online.batches.policies import POLICIES

if TYPE_CHECKING:
    from hindsched.bench.batches.report import BatchesReport
    from hindsched.bench.campaign.sources import Source

__all__ = ["FAMILY"]

#: Largest number of contacts of an optimum whose certificate is kept: enough for a picture.
_KEPT_CONTACTS = 20_000


class _Batches(Family[Instance, Run]):
    name = "batches"
    legend = (
        "A1: calls planned in advance; A2: one copy each at fixed intervals; A3: unfinished tasks again, by copies, "
        "speed or history; -shift: corrected intervals. booking: this toolkit's. More in docs/policies.md."
    )
    value = "satisfied_tasks"
    heading = "satisfied tasks"
    unit = "tasks"
    sense = Sense.MAX
    least = 1
    reference = "A2"
    run_options: ClassVar[Mapping[str, tuple[str, ...]]] = {
        name: ("", *CHOICES[name]) if name == "overdue" else CHOICES.get(name, ())
        for name in PolicyOptions.__dataclass_fields__
    }
    axes = ("workers", "tasks", "deadline_s", "c", "batches", "first_day", "instance_seed")
    panels = ("tasks", "deadline_s", "c")
    columns = (
        "satisfied_batches",
        "fed",
        "copies_per_task",
        "all_contacts",
        "over_traffic",
        "over_stream",
        *(f"lateness_{rung}" for rung in Rung),
    )
    averages = ("over_traffic", "over_stream", "copies_per_task")

    @cached_property
    def commands(self) -> BatchesCommands:
        return BatchesCommands(self)

    @cached_property
    def report(self) -> BatchesReport:
        from hindsched.bench.batches.report import BatchesReport

        return BatchesReport(self)

    def make_policy(self, text: Policy, options: Options) -> Policy:
        return _named(make_policy(text, self._options(options)))

    def kind(self, instance: Instance) -> str:
        return f"{instance.num_workers} workers, N={instance.tasks} M={len(instance.batches)}"

    def solve(self, instance: Instance, options: Options) -> Result:
        """Return the optimum of the rung ``free``."""
        return offline.solve(
            instance, Rung.FREE, solver=options.solver, time_limit_s=options.time_limit_s, **dict(options.solve)
        )

    def refuses(self, source: Any, policy: str, options: Options) -> str | None:
        if policy in POLICIES and isinstance(source, Instance):
            try:
                expect_margins(policy, source)
            except InputError as error:
                return str(error)
        return None

    def run(self, instance: Instance, policy: Policy, options: Options, seed: int) -> RunRecord:
        return self._run(instance, run_policy(instance, policy, self._options(options)))

    def run_plainly(self, instance: Instance, policy: Policy, options: Options, seed: int) -> RunRecord:
        return self._run(instance, run_policy(instance, policy, self._options(options), engine="plain"))

    def _options(self, options: Options) -> PolicyOptions:
        return policy_options(self.run_values(options))

    def _run(self, instance: Instance, run: Simulation) -> RunRecord:
        tasks = run.satisfied_tasks
        facts = {
            "satisfied_batches": run.satisfied_batches(instance.tasks),
            "fed": sum(came >= instance.tasks for came in run.requests) / instance.num_batches,
            "copies_per_task": sum(run.copies) / tasks if tasks else None,
            "all_contacts": run.all_contacts,
        }
        return RunRecord(run.policy, tasks or None, None if tasks else 1, run.run, facts)

    def replay(self, instance: Instance, record: RunRecord, who: str) -> Row:
        """Let the checker replay a run, and compare it with the three rungs."""
        verdict = instances.check(instance, record.schedule)
        if not verdict.is_valid or verdict.outcome.satisfied_tasks != (record.value or 0):
            raise SelfCheckError(f"{who}: reports {record.value} satisfied tasks, the checker finds: {verdict}")
        rungs = {Rung.FREE: _free(instance)}
        for rung in (Rung.TRAFFIC, Rung.STREAM):
            rungs[rung] = offline.solve(instance, rung, of=record.schedule).certificate
        expect_ordered(who, rungs, verdict.outcome)
        found = {str(rung): sum(answer.satisfied) for rung, answer in rungs.items()}
        value = float(record.value or 0)
        return {
            "check": "valid",
            **found,
            "over_traffic": found["traffic"] / value if value else None,
            "over_stream": found["stream"] / value if value else None,
            **{
                f"lateness_{rung}": mean_latency_ratio(instance, verdict.outcome, answer)
                for rung, answer in rungs.items()
            },
        }

    def keeps(self, schedule: Run) -> bool:
        return len(schedule.contacts) <= _KEPT_CONTACTS

    def from_point(self, point: Given) -> Instance:
        return convert(dict(point), Drawn, "point").load()

    def sources(self, table: Given) -> list[Source]:
        return drawn_sources(table)


@lru_cache(maxsize=2)  # the runs on an instance are neighbours
def _free(instance: Instance) -> Hindsight:
    hindsight: Hindsight = offline.solve(instance, Rung.FREE).certificate
    return hindsight


def _named(policy: Policy) -> Policy:
    """Return a policy that has a name: its class's, if none of its own."""
    if not isinstance(getattr(policy, "name", None), str):
        policy.name = type(policy).__name__
    return policy


FAMILY = _Batches()
