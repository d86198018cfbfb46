"""The adapter of OFF-LINE-COUPLED: what campaigns, tables, reports and commands know of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import click
import msgspec

from hindsched import instances
from hindsched.bench.commands.options import LARGEST
from hindsched.bench.coupled import flags
from hindsched.bench.coupled.paper import Paper
from hindsched.bench.family import Family, Options, RunRecord
from hindsched.bench.progress import working
from hindsched.instances.coupled import Outcome
from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.instances.state_sources import STARTS
from hindsched.instances.text_files import convert, excerpt
from hindsched.instances.verdict import Verdict
from hindsched.offline.coupled import Objective, solve, write_model
from hindsched.offline.results import Result
from hindsched.online.coupled.options import Comparison, Estimator, Service, Ties
from hindsched.online.coupled.runs import run_policy

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from hindsched.bench.campaign.sources import Source

__all__ = ["FAMILY"]

_Count = Annotated[int, msgspec.Meta(ge=1)]
_Seed = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]

#: Schedules of optima are kept up to this many slots: enough to draw, and 6,000 of them fit a small disk.
_KEPT_SLOTS = 2_000


class _Points(msgspec.Struct, forbid_unknown_fields=True):
    """Draws of the paper's generator, as a campaign file asks for them."""

    m: list[_Count] = []
    n_com: list[_Count | Literal["none"]] = []
    wmin: list[_Count] = []
    scenarios: _Count = 10
    trials: _Count = 10
    slots: _Count = 1_000_000
    p: _Count = 20
    iterations: _Count = 10
    mu: _Count | None = None
    start: str = STARTS[0]
    seed: _Seed = 0


class _Coupled(Family):
    name = "coupled"
    value = heading = "makespan"
    unit = "slots"
    least = 1
    reference = "IE"
    unproven = "no bound by rents was found, there is nothing to write"
    run_options: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "estimator": tuple(Estimator),
        "service": tuple(Service),
        "ties": tuple(Ties),
        "comparison": tuple(Comparison),
    }
    axes = ("m", "n_com", "wmin", "scenario", "trial", "instance_seed", "p", "iterations", "mu")
    panels = ("m", "n_com", "wmin")
    scenario = ("m", "n_com", "wmin", "instance_seed", "scenario")
    columns = ("slots", "checked_slots")
    flags = flags.FLAGS

    def write_bound(self, result: Result, place: str | None) -> None:
        """Write the certificate, if a place is given; say so if another search has proven more than it does."""
        super().write_bound(result, place)
        if place is not None and result.lower is not None and result.certificate.bound < result.lower:
            click.echo(f"{place} proves {result.certificate.bound:,}; {result.lower:,} has no certificate", err=True)

    def solve(self, instance: Any, options: Options) -> Result:
        return solve(
            instance, "makespan", solver=options.solver, time_limit_s=options.time_limit_s, **dict(options.solve)
        )

    def run(self, instance: Any, policy: str, options: Options, seed: int) -> RunRecord:
        return self._played(instance, policy, options, seed)

    def _played(self, instance: Any, policy: str, options: Options, seed: int, *, engine: str = "auto") -> RunRecord:
        values: dict[str, Any] = self.run_values(options)
        run = run_policy(instance, policy, seed=seed, schedule_slots=options.check_slots, engine=engine, **values)
        facts = {"iterations": run.iterations, "slots": run.slots, "slot_limit": instance.slots}
        return RunRecord(run.policy, run.makespan, instance.slots, run.schedule, facts)

    def from_point(self, point: Mapping[str, Any]) -> Any:
        return convert(dict(point), Paper, "point").load()

    def run_plainly(self, instance: Any, policy: str, options: Options, seed: int) -> RunRecord:
        return self._played(instance, policy, options, seed, engine="plain")

    def replay(self, instance: Any, played: RunRecord, who: str) -> Mapping[str, Any]:
        """Let the checker replay the schedule of a run, as far as it goes; return how many slots that is."""
        verdict = instances.check(instance, played.schedule)
        found = verdict.outcome
        is_whole = played.schedule.slots == played.facts["slots"]
        agrees = not is_whole or (found.makespan, found.iterations) == (played.value, played.facts["iterations"])
        if not verdict.is_valid or not agrees:
            raise SelfCheckError(f"{who}: claims makespan {played.value}, the checker says: {verdict}")
        return {"check": "valid", "checked_slots": played.schedule.slots}

    def keeps(self, schedule: Any) -> bool:
        return bool(schedule.slots <= _KEPT_SLOTS)

    def before_solve(
        self, instance: Any, num_files: int, *, model: str | None = None, bound: str | None = None, **given: Any
    ) -> None:
        """Write the model, if asked for."""
        super().before_solve(instance, num_files, bound=bound)
        if model is None:
            return
        if num_files > 1 or given.get("objective", "makespan") != "makespan":
            raise click.UsageError("--write-model goes with one FILE and the objective makespan")
        given.pop("objective", None)
        with working(f"writing {model}"):
            write_model(instance, model, **given)

    def answers(
        self, instance: Any, *, model: str | None = None, **given: Any
    ) -> Sequence[tuple[dict[str, Any], Result]]:
        """Tell, beside what every family tells, the objective, and the bound and the solver by their older names."""
        result = solve(instance, **given)
        row = self.answer_row(result)
        told: dict[str, Any] = {"objective": str(result.objective), "bound": row["lower"], "solver": result.by}
        if result.objective is Objective.ITERATIONS:
            told["bound"] = row["upper"]
        return [({"status": row.pop("status"), "objective": told.pop("objective"), **row, **told}, result)]

    def run_row(self, instance: Any, played: RunRecord, options: Options) -> dict[str, Any]:
        """Tell the estimator always: it decides the ranking; and a seed other than 0."""
        values = self.run_values(options)
        others = {name: value for name, value in dict(options.run).items() if name != "estimator"}
        row = {"estimator": values["estimator"], "makespan": played.value, "iterations": played.facts["iterations"]}
        row |= {name: value for name, value in others.items() if value != self.usual(name)}
        return row | ({"seed": options.seed} if options.seed else {})

    def verdict_row(self, verdict: Verdict) -> dict[str, Any]:
        """Tell the slot by its name too, and of rents the makespan that they prove."""
        row = {"valid": verdict.is_valid, "time": verdict.time, "slot": verdict.time, "rule": verdict.rule}
        if not isinstance(verdict.outcome, Outcome):
            least = None if verdict.outcome is None else verdict.outcome.value
            return row | {"reason": verdict.reason, "lower": least}
        found = verdict.outcome
        return row | {"reason": verdict.reason, "iterations": found.iterations, "makespan": found.makespan}

    def generate(self, **given: Any) -> Any:
        return flags.generate(**given)

    def import_trace(self, traces: Sequence[str], **given: Any) -> tuple[Any, Sequence[str]]:
        return flags.import_trace(traces, **given)

    def presence(self, instance: Any) -> Sequence[str]:
        from hindsched.bench.commands.traces import presence_of

        return presence_of(instance.states, [instance.name_of(q) for q in range(instance.num_workers)])

    def sources(self, table: Mapping[str, Any]) -> list[Source]:
        points = convert(dict(table), _Points)
        for name in ("m", "n_com", "wmin"):
            if not getattr(points, name):
                raise InputError("missing or empty, expected a list of integers >= 1, or files", place=name)
        if points.start not in STARTS:
            raise InputError(f"{excerpt(points.start)}, expected one of {', '.join(STARTS)}", place="start")
        drawn = product(points.m, points.n_com, points.wmin, range(points.scenarios), range(points.trials))
        return [
            Paper(
                m,
                None if n_com == "none" else n_com,
                wmin,
                scenario,
                trial,
                points.slots,
                points.seed,
                points.p,
                points.iterations,
                points.mu,
                points.start,
            )
            for m, n_com, wmin, scenario, trial in drawn
        ]

    def usual_sources(self, **given: Any) -> list[Source]:
        from hindsched.bench.coupled.real import spot_sources

        m, n_com, wmin, p, iterations = (given[name] for name in ("m", "n_com", "wmin", "p", "iterations"))
        drawn = product(range(given["scenarios"]), range(given["trials"]))
        sources: list[Source] = [
            Paper(m, n_com, wmin, scenario, trial, given["slots"], given["seed"], p, iterations)
            for scenario, trial in drawn
        ]
        return sources + spot_sources()

    def warm_up(self) -> None:
        from hindsched.offline.coupled.bounds.program_lagrangian import program_bound
        from hindsched.offline.coupled.local_search import local_search

        local_search.warm_up()
        program_bound.rehearse()

    def reproduce(self, folder: Path, *, num_processes: int, dask: str | None, as_json: bool, **given: Any) -> None:
        from hindsched.bench.coupled.reproduction import reproduce

        reproduce(folder, num_processes=num_processes, dask=dask, as_json=as_json, **given)

    def draw(self, instance: Any, schedule: Any) -> Figure:
        from hindsched.bench.coupled.gantt import draw

        return draw(instance, schedule)

    def draw_pair(self, instance: Any, best: Any, run: Any, policy: str, name: str) -> Figure:
        from hindsched.bench.coupled.gantt import draw_pair

        return draw_pair(instance, best, run, policy, name)

    def groups(self, policies: Sequence[str]) -> dict[str, list[str]] | None:
        from hindsched.bench.coupled.report_items import by_builder

        return by_builder(policies)

    def findings(self, runs: pd.DataFrame, reference: str) -> list[str]:
        from hindsched.bench.coupled.report_items import findings

        return findings(runs, reference)

    def report_items(self, runs: pd.DataFrame, reference: str, files: Any) -> list[Any]:
        from hindsched.bench.coupled.report_items import against

        return against(runs, reference, files)

    def example(self, ratios: pd.DataFrame, files: Any) -> Any:
        from hindsched.bench.coupled.example import drawn_example, find_example

        found = find_example(ratios)
        return None if found is None else drawn_example(found, files)


FAMILY = _Coupled()
