"""The adapter of the family `coupled`: iterations of tightly coupled tasks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import msgspec

from hindsched.bench.commands.options import LARGEST
from hindsched.bench.coupled.commands import CoupledCommands
from hindsched.bench.coupled.paper import Paper
from hindsched.bench.family import Family
from hindsched.bench.run_records import Options, RunRecord
from hindsched.bench.shared_types import Given, Policy, Row
from hindsched.instances.coupled import Instance, Schedule
from hindsched.instances.coupled.objective import Objective
from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.instances.state_sources import STARTS
from hindsched.instances.states import UP
from hindsched.instances.text_files import convert, excerpt
from hindsched.offline.coupled import solve
from hindsched.offline.results import Result, Sense
from hindsched.online.coupled.isolated import IsolatedPolicy
from hindsched.online.coupled.options import Comparison, Estimator, RunOptions, Service, Ties
from hindsched.online.coupled.runs import run_policy

if TYPE_CHECKING:
    from hindsched.bench.campaign.sources import Source
    from hindsched.bench.coupled.report import CoupledPictures

__all__ = ["FAMILY"]

_Count = Annotated[int, msgspec.Meta(ge=1)]
_Seed = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]

#: Largest number of slots of an optimum whose schedule is kept: enough for a picture, and 6,000 fit on a small disk.
_KEPT_SLOTS = 2_000


class _Points(msgspec.Struct, forbid_unknown_fields=True):
    """Points of the paper's experiment in a campaign file."""

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


class _Coupled(Family[Instance, Schedule]):
    name = "coupled"
    legend = (
        "IP, IE, IY, IAY: choose workers by probability of success, expected duration, yield, apparent yield. P-, E-, "
        "Y- in front: also replace them in any slot in which probability, duration or yield improves. RANDOM: any "
        "worker. rr, sb, hot, auto, roll, replay: look ahead. More in docs/policies.md."
    )
    objective: ClassVar[Objective] = Objective.MAKESPAN
    value = heading = "makespan"
    unit = "slots"
    least = 1
    reference: ClassVar[str | None] = "IE"
    run_options: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "estimator": tuple(Estimator),
        "service": tuple(Service),
        "ties": tuple(Ties),
        "comparison": tuple(Comparison),
        "objective": tuple(Objective),
    }
    axes = ("m", "n_com", "wmin", "scenario", "trial", "instance_seed", "p", "iterations", "mu")
    panels = ("m", "n_com", "wmin")
    scenario = ("m", "n_com", "wmin", "instance_seed", "scenario")
    columns = ("slots", "checked_slots")

    @cached_property
    def commands(self) -> CoupledCommands:
        return CoupledCommands(self)

    @cached_property
    def report(self) -> CoupledPictures:
        from hindsched.bench.coupled.report import CoupledReport

        return CoupledReport(self)

    def with_objective(self, name: object) -> _Coupled:
        return _COMPLETED_ITERATIONS if name == Objective.ITERATIONS else FAMILY

    def from_point(self, point: Given) -> Instance:
        return convert(dict(point), Paper, "point").load()

    def sources(self, table: Given) -> list[Source]:
        from hindsched.bench.campaign.sources import expect_few

        points = convert(dict(table), _Points)
        for name in ("m", "n_com", "wmin"):
            if not getattr(points, name):
                raise InputError("missing or empty, expected a list of integers >= 1, or files", place=name)
        if points.start not in STARTS:
            raise InputError(f"{excerpt(points.start)}, expected one of {', '.join(STARTS)}", place="start")
        axes = (points.m, points.n_com, points.wmin, range(points.scenarios), range(points.trials))
        expect_few(*axes)
        fixed = (points.slots, points.seed, points.p, points.iterations, points.mu, points.start)
        return [
            Paper(m, None if n_com == "none" else n_com, wmin, scenario, trial, *fixed)
            for m, n_com, wmin, scenario, trial in product(*axes)
        ]

    def kind(self, instance: Instance) -> str:
        """Return names or number of workers, and the shape of the application; of named workers also their speeds.

        Windows of one trace have the same nodes and lengths, drawn instances the same numbers but different speeds.
        """
        p, names, w = instance.num_workers, instance.names, sorted(set(instance.w))
        workers = f"{p} worker{'' if p == 1 else 's'}"
        if names:
            workers = f"{p} nodes {names[0]} to {names[-1]}" if p > 1 else f"node {names[0]}"
        n_com = "none" if instance.n_com is None else instance.n_com
        shape = f"m={instance.tasks} K={instance.iterations} n_com={n_com} T_prog={instance.t_prog}"
        speeds = f" w={w[0]}" + (f"..{w[-1]}" if len(w) > 1 else "") if names else ""
        return f"{workers}, {shape} T_data={instance.t_data}{speeds}"

    def solve(self, instance: Instance, options: Options) -> Result:
        return solve(
            instance, self.objective, solver=options.solver, time_limit_s=options.time_limit_s, **dict(options.solve)
        )

    def why_ties(self, instance: Instance, optimum: float) -> str:
        found = _why_equal(instance, int(optimum))
        if instance.iterations == 1:
            found.append("there is one iteration")
        return ", ".join(found) or "longer tasks, a longer program or more iterations may separate them"

    def keeps(self, schedule: Schedule) -> bool:
        return schedule.slots <= _KEPT_SLOTS

    def warm_up(self) -> None:
        from hindsched.offline.coupled.bounds.program_lagrangian import program_bound
        from hindsched.offline.coupled.local_search import local_search

        local_search.warm_up()
        program_bound.warm_up()

    def make_isolated(self, text: Policy, options: Options) -> Policy:
        with IsolatedPolicy(text, RunOptions().changed(**dict(options.run))) as made:
            return made

    def run(self, instance: Instance, policy: Policy, options: Options, seed: int) -> RunRecord:
        return self._run(instance, policy, options, seed)

    def run_plainly(self, instance: Instance, policy: Policy, options: Options, seed: int) -> RunRecord:
        return self._run(instance, policy, options, seed, engine="plain")

    def _run(
        self, instance: Instance, policy: Policy, options: Options, seed: int, *, engine: str = "auto"
    ) -> RunRecord:
        values: Row = {**self.run_values(options), "isolated": options.isolated}
        run = run_policy(instance, policy, seed=seed, schedule_slots=options.check_slots, engine=engine, **values)
        facts = {"iterations": run.iterations, "slots": run.slots, "slot_limit": instance.slots}
        limit = instance.slots if self.objective is Objective.MAKESPAN else None
        return RunRecord(run.policy, getattr(run, self.value), limit, run.schedule, facts)

    def replay(self, instance: Instance, record: RunRecord, who: str) -> Row:
        """Replay the kept part of a run's schedule by the checker; return the number of slots replayed."""
        from hindsched.instances.coupled.replay import replay  # late: it loads the compiler

        verdict = replay(instance, record.schedule)
        found = verdict.outcome
        is_whole = record.schedule.slots == record.facts["slots"]
        reported = record.value, record.facts["iterations"]
        agrees = not is_whole or (getattr(found, self.value), found.iterations) == reported
        if not verdict.is_valid or not agrees:
            raise SelfCheckError(f"{who}: reports {self.value} {record.value}, the checker finds: {verdict}")
        return {"check": "valid", "checked_slots": record.schedule.slots}


class _CompletedIterations(_Coupled):
    """The same family with the objective ``iterations``: every run ends with the last slot."""

    objective = Objective.ITERATIONS
    value = "iterations"
    heading = unit = "iterations"
    sense = Sense.MAX
    least = 0
    reference = None

    @cached_property
    def report(self) -> CoupledPictures:
        from hindsched.bench.coupled.report import CoupledPictures

        return CoupledPictures(self)

    def why_ties(self, instance: Instance, optimum: float) -> str:
        return ", ".join(_why_equal(instance, instance.slots)) or "longer tasks or a longer program may separate them"


def _why_equal(instance: Instance, slots: int) -> list[str]:
    """Return why the choice of workers does not matter in the first slots."""
    found = []
    if max(instance.w) == 1:
        found.append("tasks take one slot")
    if instance.t_prog == instance.t_data == 0:
        found.append("nothing is sent to workers")
    if (instance.states[:, :slots] == UP).all():
        found.append("all workers stay UP until then")
    return found


FAMILY = _Coupled()
_COMPLETED_ITERATIONS = _CompletedIterations()
