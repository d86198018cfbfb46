"""The adapter of the family `deadline`: one job on spot and on-demand instances."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from hindsched.bench.deadline.commands import DeadlineCommands
from hindsched.bench.deadline.sources import from_point, sources, times_in_words
from hindsched.bench.family import Family
from hindsched.bench.run_records import Options, RunRecord
from hindsched.bench.shared_types import Given, Policy, Row
from hindsched.instances.deadline import HOUR_S, UNITS_PER_DOLLAR, Instance, Schedule, check, spot_zones
from hindsched.instances.errors import SelfCheckError
from hindsched.online.deadline import POLICIES, RunOptions, make_policy, run_policy
from hindsched.online.deadline.isolated import IsolatedPolicy
from hindsched.online.deadline.options import Bank, RunGuard
from hindsched.online.deadline.policies import is_for_one_zone
from hindsched.online.deadline.strategy_files import is_strategy_file

if TYPE_CHECKING:
    import pandas as pd

    from hindsched.bench.campaign.sources import Source
    from hindsched.bench.deadline.report import DeadlineReport

__all__ = ["FAMILY"]


class _Deadline(Family[Instance, Schedule]):
    name = "deadline"
    legend = (
        "greedy waits for spot as long as the deadline allows; uniform keeps a uniform progress (Can't Be Late); up_s "
        "does so with several zones (SkyNomad). More in docs/policies.md."
    )
    value = heading = "cost"
    reference = "greedy"
    run_options: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "guard": tuple(map(str, RunGuard)),
        "bank": tuple(map(str, Bank)),
    }
    axes = ("deadline_s", "overhead_s", "zones", "slots", "start_sample", "instance_seed")
    panels = ("deadline_s", "overhead_s")
    clusters_name = "zones, and blocks of time in each"
    instances_name = "instances (windows of the same months depend on each other, which it does not carry)"
    columns = ("dollars", "hours", "launches", "overhead_h")
    averages = ("dollars", "hours")

    @cached_property
    def commands(self) -> DeadlineCommands:
        return DeadlineCommands(self)

    @cached_property
    def report(self) -> DeadlineReport:
        from hindsched.bench.deadline.report import DeadlineReport

        return DeadlineReport(self)

    def kind(self, instance: Instance) -> str:
        return f"{instance.num_zones} zone{'' if instance.num_zones == 1 else 's'}, {times_in_words(instance)}"

    def make_isolated(self, text: Policy, options: Options) -> Policy:
        with IsolatedPolicy(text, RunOptions().changed(**self.run_values(options))) as made:
            return made

    def shown(self, value: float) -> str:
        return f"{value / UNITS_PER_DOLLAR:.2f} $"

    def refuses(self, source: Any, policy: str, options: Options) -> str | None:
        zones = source.num_zones if isinstance(source, Instance) else getattr(source, "zones", 1)
        return f"it is for one zone, and there are {zones}" if zones > 1 and is_for_one_zone(policy) else None

    def clusters(self, runs: pd.DataFrame) -> Mapping[str, pd.Series[str]]:
        """Return the zone of each window, and its block: windows that overlap are in one block or in neighbours."""
        is_window = runs["start_sample"].notna()
        zones = runs.loc[is_window, "instance"].map(lambda name: str(name).partition(" ")[0])
        blocks = runs.loc[is_window, "start_sample"] * spot_zones.SLOT_S // runs.loc[is_window, "deadline_s"]
        return {"cluster": zones + " block " + blocks.astype(str), "parent": zones}

    def run(self, instance: Instance, policy: Policy, options: Options, seed: int) -> RunRecord:
        return self._run(instance, policy, options)

    def run_plainly(self, instance: Instance, policy: Policy, options: Options, seed: int) -> RunRecord:
        return self._run(instance, policy, options, engine="plain")

    def _run(self, instance: Instance, policy: Policy, options: Options, *, engine: str = "auto") -> RunRecord:
        chosen = RunOptions().changed(**self.run_values(options), engine=engine)
        if options.isolated and policy not in POLICIES and not is_strategy_file(policy):
            with IsolatedPolicy(policy, chosen) as isolated:
                run = run_policy(instance, isolated, chosen)
        else:
            run = run_policy(instance, make_policy(policy, chosen), chosen)
        hours = None if run.finish is None else run.finish * instance.slot_s / HOUR_S
        facts: Row = {
            "finish": run.finish,
            "paid": run.cost,
            # of late runs missing, so that means are those of finished runs
            "dollars": None if run.finish is None else run.cost / UNITS_PER_DOLLAR,
            "hours": hours,
            "work_h": run.done_s / HOUR_S,
            "launches": run.launches,
            "moves": run.moves,
            "spot_h": run.spot_slots * instance.slot_s / HOUR_S,
            "on_demand_h": run.on_demand_slots * instance.slot_s / HOUR_S,
            "overhead_h": run.overhead_s / HOUR_S,
        }
        value = None if run.finish is None else run.cost
        return RunRecord(run.policy, value, None, run.schedule, facts)

    def replay(self, instance: Instance, record: RunRecord, who: str) -> Row:
        """Let the checker judge the schedule of a run, and compare finish and bill, also of a run that is late."""
        verdict = check(instance, record.schedule)
        reported = record.facts["finish"], record.facts["paid"]
        if not verdict.is_valid or (verdict.outcome.finish, verdict.outcome.cost) != reported:
            message = f"{who}: reports finish {reported[0]} and cost {reported[1]}, the checker finds: {verdict}"
            raise SelfCheckError(message)
        return {"check": "valid"}

    def from_point(self, point: Given) -> Instance:
        return from_point(point)

    def sources(self, table: Given) -> list[Source]:
        return sources(table)


FAMILY = _Deadline()
"""The adapter, as the registry of families expects it."""
