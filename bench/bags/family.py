"""The adapter of the family `bags`: independent tasks with checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec

from hindsched.bench.bags.commands import BagsCommands, minutes
from hindsched.bench.bags.paper import USUAL_SLOTS, Paper, starts
from hindsched.bench.bags.spot_zones import SpotZones
from hindsched.bench.commands.options import LARGEST
from hindsched.bench.family import Family
from hindsched.bench.run_records import OptimumBounds, Options, RunRecord
from hindsched.bench.shared_types import Given, Policy, Row
from hindsched.instances.bags import Instance, Schedule, Store, ideal_time
from hindsched.instances.bags.generate import MIXES, SETS, TRACES
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import convert, excerpt
from hindsched.offline.bags import solve
from hindsched.offline.results import Result
from hindsched.online.bags import make_policy, run_policy
from hindsched.online.bags.options import ABSENCES, HANDOVERS, RunOptions
from hindsched.online.bags.policies import FcfsPrdctDmd
from hindsched.online.bags.predictors import PREDICTORS

if TYPE_CHECKING:
    from hindsched.bench.bags.report import BagsReport
    from hindsched.bench.campaign.sources import Source

__all__ = ["FAMILY"]

_Count = Annotated[int, msgspec.Meta(ge=1)]
_Natural = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]

#: Largest number of task runs of an optimum whose schedule is kept: enough for a picture.
_KEPT_RUNS = 5_000


class _Points(msgspec.Struct, forbid_unknown_fields=True):
    """Points of the paper's experiment in a campaign file."""

    machines: list[str]
    tasks: list[_Count]
    reference_s: list[_Count]
    checkpoints: list[_Natural]
    stores: list[str]
    when: list[str] = msgspec.field(default_factory=lambda: ["weekday"])
    starts: _Count = 10
    slots: _Count = USUAL_SLOTS
    seed: _Natural = 0
    mix: str = MIXES[0]
    trace: str = TRACES[0]


class _Bags(Family[Instance, Schedule]):
    name = "bags"
    legend = (
        "FCFS: first come, first served; -AT: with timeouts; -TR: with copies; -PRDCT-DMD: with predictions, copies "
        "and saves on demand. LEVEL, PACE: this toolkit's. WQR, EXCL-S1: baselines; -FT: with resubmission and "
        "checkpoints, -DUP: with copies. More in docs/policies.md."
    )
    value = heading = "turnaround"
    unit = "ticks"
    least = 1
    reference = "FCFS"
    run_options: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "handover": HANDOVERS,
        "absence": ABSENCES,
        "max_copies": (),
        "day_tolerance": (),
        "predictor": (),
    }
    axes = ("tasks", "reference_s", "checkpoints", "start_slot", "instance_seed")
    panels = ("tasks", "reference_s", "checkpoints")
    columns = ("iet", "slowdown", "completed", "minutes")
    averages = ("slowdown", "minutes")

    @cached_property
    def commands(self) -> BagsCommands:
        return BagsCommands(self)

    @cached_property
    def report(self) -> BagsReport:
        from hindsched.bench.bags.report import BagsReport

        return BagsReport(self)

    def kind(self, instance: Instance) -> str:
        return f"{instance.num_machines} machines, n={instance.tasks} k={instance.segments} {instance.store}"

    def solve(self, instance: Instance, options: Options) -> Result:
        """Return the optimum without saves on demand, which bounds every policy but those that save on demand."""
        return solve(
            instance,
            on_demand=False,
            solver=options.solver,
            time_limit_s=options.time_limit_s,
            **dict(options.solve),
        )

    def refuses(self, source: Any, policy: str, options: Options) -> str | None:
        if policy == FcfsPrdctDmd.name:
            if not source.on_demand:
                return "states are not saved on demand"
            if source.clock_s is None and not self.run_values(options)["predictor"]:
                return "the default predictor needs a clock"
        if policy in ("LEVEL", "PACE") and source.store != Store.SHARED:
            return "stores are private"
        return None

    def run_values(self, options: Options) -> dict[str, str]:
        """Return the value of every option of a run; a value equal to the default counts as not given."""
        values = super().run_values(options)
        return {
            name: "" if value and not self.run_options[name] and _is_default(name, value) else value
            for name, value in values.items()
        }

    def run(self, instance: Instance, policy: Policy, options: Options, seed: int) -> RunRecord:
        return self._run(instance, policy, options)

    def run_plainly(self, instance: Instance, policy: Policy, options: Options, seed: int) -> RunRecord:
        return self._run(instance, policy, options, engine="plain")

    def _run(self, instance: Instance, policy: Policy, options: Options, *, engine: str = "auto") -> RunRecord:
        given: Given = {name: value for name, value in self.run_values(options).items() if value}
        made = make_policy(policy, **given)
        run = run_policy(instance, made, handover=given["handover"], absence=given["absence"], engine=engine)
        iet = ideal_time(instance)
        facts: Row = {"completed": run.completed, "iet": iet}
        if run.turnaround is not None:
            facts |= {"slowdown": run.turnaround / iet, "minutes": minutes(instance, run.turnaround)}
        optimum = None
        if getattr(made, "predictor", None) is not None:  # it may save on demand
            optimum = _on_demand(instance)
        return RunRecord(run.policy, run.turnaround, instance.horizon, run.schedule, facts, optimum)

    def keeps(self, schedule: Schedule) -> bool:
        return len(schedule.runs) <= _KEPT_RUNS

    def from_point(self, point: Given) -> Instance:
        source: type[SpotZones | Paper] = SpotZones if "zones" in point else Paper
        return convert(dict(point), source, "point").load()

    def sources(self, table: Given) -> list[Source]:
        from hindsched.bench.campaign.sources import expect_few

        points = convert(dict(table), _Points)
        for name, given, known in (
            ("machines", points.machines, list(SETS)),
            ("stores", points.stores, list(Store)),
            ("when", points.when, ["weekday", "weekend"]),
            ("mix", [points.mix], list(MIXES)),
            ("trace", [points.trace], list(TRACES)),
        ):
            for text in given:
                if text not in known:
                    raise InputError(f"{excerpt(text)}, expected one of {', '.join(known)}", place=name)
        axes = (points.machines, points.stores, points.when, points.tasks, points.reference_s, points.checkpoints)
        expect_few(*axes, range(points.starts))
        return [
            Paper(*bag, start, points.slots, points.seed, points.mix, points.trace)
            for machines, store, when in product(points.machines, points.stores, points.when)
            for bag in product([machines], points.tasks, points.reference_s, points.checkpoints, [store])
            for start in starts(when, points.starts)
        ]


def _is_default(name: str, value: str) -> bool:
    """Return whether a text means the default of an option of a run; raise `InputError` for an invalid text."""
    if name == "predictor":
        return value == PREDICTORS[0]
    return bool(getattr(RunOptions(**{name: value}), name) == getattr(RunOptions(), name))  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def _on_demand(instance: Instance) -> OptimumBounds:
    """Return the optimum with saves on demand, which has a closed form."""
    return OptimumBounds.of(solve(instance, on_demand=True))


FAMILY = _Bags()
