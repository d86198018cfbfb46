"""The adapter of bags of tasks: what campaigns, tables, reports and commands know of the family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec

from hindsched.bench.bags import flags
from hindsched.bench.bags.paper import USUAL_SLOTS, Paper, starts
from hindsched.bench.bags.zones import Zone
from hindsched.bench.commands.options import LARGEST
from hindsched.bench.family import Family, OptimumBounds, Options, RunRecord
from hindsched.instances.bags import Instance, Store, ideal_time
from hindsched.instances.bags.generate import MIXES, SETS
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import convert, excerpt
from hindsched.offline.bags import solve
from hindsched.offline.results import Result
from hindsched.online.bags import make_policy, run_policy
from hindsched.online.bags.options import HANDOVERS, RunOptions
from hindsched.online.bags.policies import FcfsPrdctDmd
from hindsched.online.bags.predictors import PREDICTORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hindsched.bench.campaign.sources import Source

__all__ = ["FAMILY"]

_Count = Annotated[int, msgspec.Meta(ge=1)]
_Natural = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]

_MS_PER_MINUTE = 60_000
#: Schedules of optima are kept up to so many runs: enough to draw.
_KEPT_RUNS = 5_000


class _Points(msgspec.Struct, forbid_unknown_fields=True):
    """Instances of the paper's experiment, as a campaign file asks for them."""

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


class _Bags(Family):
    name = "bags"
    value = heading = "turnaround"
    unit = "ticks"
    least = 1
    reference = "FCFS"
    run_options: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "handover": HANDOVERS,
        "max_copies": (),
        "day_tolerance": (),
        "predictor": (),
    }
    axes = ("tasks", "reference_s", "checkpoints", "start_slot", "instance_seed")
    panels = ("tasks", "reference_s", "checkpoints")
    columns = ("iet", "slowdown", "completed", "minutes")
    averages = ("slowdown", "minutes")
    flags = flags.FLAGS

    def solve(self, instance: Any, options: Options) -> Result:
        """Return the optimum without saves on demand: it bounds every scheduler but those that predict."""
        return solve(
            instance,
            on_demand=False,
            solver=options.solver,
            time_limit_s=options.time_limit_s,
            **dict(options.solve),
        )

    def refuses(self, thing: Any, policy: str, options: Options) -> str | None:
        if policy == FcfsPrdctDmd.name:
            if not thing.on_demand:
                return "states are not saved on demand"
            if thing.clock_s is None and not self.run_values(options)["predictor"]:
                return "the usual predictor needs a clock"
        if policy in ("LEVEL", "PACE") and thing.store != Store.SHARED:
            return "stores are private"
        return None

    def run_values(self, options: Options) -> dict[str, str]:
        """Return every option of a run with its value; what is given at its default counts as not given."""
        values = super().run_values(options)
        return {
            name: "" if value and not self.run_options[name] and _is_usual(name, value) else value
            for name, value in values.items()
        }

    def run(self, instance: Any, policy: str, options: Options, seed: int) -> RunRecord:
        return self._played(instance, policy, options)

    def run_plainly(self, instance: Any, policy: str, options: Options, seed: int) -> RunRecord:
        return self._played(instance, policy, options, engine="plain")

    def _played(self, instance: Instance, policy: str, options: Options, *, engine: str = "auto") -> RunRecord:
        given: dict[str, Any] = {name: value for name, value in self.run_values(options).items() if value}
        made = make_policy(policy, **given)
        run = run_policy(instance, made, handover=given["handover"], engine=engine)
        iet = ideal_time(instance)
        facts: dict[str, Any] = {"completed": run.completed, "iet": iet}
        if run.turnaround is not None:
            facts |= {"slowdown": run.turnaround / iet, "minutes": _minutes(instance, run.turnaround)}
        optimum = None
        if getattr(made, "predictor", None) is not None:  # it may save on demand
            optimum = _on_demand(instance)
        return RunRecord(run.policy, run.turnaround, instance.horizon, run.schedule, facts, optimum)

    def keeps(self, schedule: Any) -> bool:
        return len(schedule.runs) <= _KEPT_RUNS

    def from_point(self, point: Mapping[str, Any]) -> Any:
        source: type[Zone | Paper] = Zone if "zones" in point else Paper
        return convert(dict(point), source, "point").load()

    def run_row(self, instance: Any, played: RunRecord, options: Options) -> dict[str, Any]:
        values = self.run_values(options)
        told: dict[str, Any] = {name: value for name, value in values.items() if value != self.usual(name)}
        if "max_copies" in told:
            told["max_copies"] = int(told["max_copies"])
        minutes = None if played.value is None else _minutes(instance, int(played.value))
        return {**told, "turnaround": played.value, "completed": played.facts["completed"], "minutes": minutes}

    def answers(
        self, instance: Any, *, store: str | None = None, on_demand: str | None = None, **given: Any
    ) -> Sequence[tuple[dict[str, Any], Result]]:
        """Solve for the stores and ways to save that are asked for."""
        stores = {None: [instance.store], "both": list(Store)}.get(store) or [Store(str(store))]
        ways = {None: [instance.on_demand], "both": [False, True]}.get(on_demand) or [on_demand == "yes"]
        found: list[tuple[dict[str, Any], Result]] = []
        for place, way in product(stores, ways):
            result = solve(instance, store=place, on_demand=way, **given)
            row = {"store": str(place), "on_demand": way, **self.answer_row(result)}
            row["minutes"] = None if result.value is None else _minutes(instance, int(result.value))
            found.append((row, result))
        return found

    def generate(self, **given: Any) -> Any:
        return flags.generate(**given)

    def presence(self, instance: Any) -> Sequence[str]:
        from hindsched.bench.commands.traces import presence_of

        return presence_of(instance.states, [f"machine {q}" for q in range(len(instance.states))])

    def import_trace(self, traces: Sequence[str], **given: Any) -> tuple[Any, Sequence[str]]:
        return flags.import_trace(traces, **given)

    def sources(self, table: Mapping[str, Any]) -> list[Source]:
        points = convert(dict(table), _Points)
        for name, given, known in (
            ("machines", points.machines, list(SETS)),
            ("stores", points.stores, list(Store)),
            ("when", points.when, ["weekday", "weekend"]),
            ("mix", [points.mix], list(MIXES)),
        ):
            for text in given:
                if text not in known:
                    raise InputError(f"{excerpt(text)}, expected one of {', '.join(known)}", place=name)
        return [
            Paper(machines, tasks, reference_s, checkpoints, store, start, points.slots, points.seed, points.mix)
            for machines, store, when in product(points.machines, points.stores, points.when)
            for tasks, reference_s, checkpoints in product(points.tasks, points.reference_s, points.checkpoints)
            for start in starts(when, points.starts)
        ]

    def usual_sources(self, **given: Any) -> list[Source]:
        named = ("machines", "tasks", "reference_s", "checkpoints", "store")
        bag = {name: given[name] for name in named}
        return [
            Paper(**bag, start_slot=start, seed=given["seed"], mix=given["mix"])
            for when in ("weekday", "weekend")
            for start in starts(when, given["starts"])
        ]

    def reproduce(self, folder: Path, *, num_processes: int, dask: str | None, as_json: bool, **given: Any) -> None:
        from hindsched.bench.bags.reproduction import reproduce

        reproduce(folder, num_processes=num_processes, dask=dask, as_json=as_json, **given)

    def draw(self, instance: Any, schedule: Any) -> Figure:
        from hindsched.bench.bags.gantt import draw

        return draw(instance, schedule)

    def draw_pair(self, instance: Any, best: Any, run: Any, policy: str, name: str) -> Figure:
        from hindsched.bench.bags.gantt import draw_pair

        return draw_pair(instance, best, run, policy, name)


def _is_usual(name: str, value: str) -> bool:
    """Whether a text means the default of an option of a run; one that means nothing is refused (`InputError`)."""
    if name == "predictor":
        return value == PREDICTORS[0]
    return bool(getattr(RunOptions(**{name: value}), name) == getattr(RunOptions(), name))  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def _on_demand(instance: Instance) -> OptimumBounds:
    """Return the optimum with saves on demand; it is a closed form."""
    return OptimumBounds.of(solve(instance, on_demand=True))


def _minutes(instance: Instance, ticks: int) -> float:
    return round(ticks * instance.tick_ms / _MS_PER_MINUTE, 4)


FAMILY = _Bags()
