"""The adapter of batches on volunteers: what campaigns, tables, reports and commands know of the family.

A run is measured by its satisfied tasks beside the rung ``free``; its row also says what the rungs ``traffic`` and
``stream`` allow on the run's own contacts. That each rung allows all that the next one does, and the run, is asserted
batch by batch for every row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from hindsched import instances, offline
from hindsched.bench.batches import flags
from hindsched.bench.batches.sources import Drawn, drawn_sources
from hindsched.bench.family import Family, RunRecord
from hindsched.bench.family import Options as Asked
from hindsched.instances import InputError, SelfCheckError, Verdict
from hindsched.instances.batches import Instance, Run, Rung
from hindsched.instances.batches.check import expect_run
from hindsched.instances.batches.cuts import FORMAT, read_claim
from hindsched.instances.text_files import convert, read_json
from hindsched.offline.batches import Hindsight
from hindsched.offline.results import Result, Sense
from hindsched.online.batches import Options, Policy, make_policy, run_policy
from hindsched.online.batches.algorithms import expect_margins
from hindsched.online.batches.options import CHOICES
from hindsched.online.batches.outcome import Simulation, simulation
from hindsched.online.batches.policies import POLICIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hindsched.bench.campaign.sources import Source

__all__ = ["FAMILY"]

#: Certificates of optima are kept up to so many contacts: enough to draw.
_KEPT_CONTACTS = 20_000


class _Batches(Family):
    name = "batches"
    value = "satisfied_tasks"
    heading = "satisfied tasks"
    unit = "tasks"
    sense = Sense.MAX
    least = 1
    reference = "A2"
    run_options: ClassVar[Mapping[str, tuple[str, ...]]] = {
        name: ("", *CHOICES[name]) if name == "overdue" else CHOICES.get(name, ())
        for name in Options.__dataclass_fields__
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
    flags = flags.FLAGS

    def make_policy(self, text: str, options: Asked) -> Any:
        return _named(make_policy(text, self._options(options)))

    def solve(self, instance: Instance, options: Asked) -> Result:
        """Return what the rung ``free`` allows."""
        return offline.solve(
            instance, Rung.FREE, solver=options.solver, time_limit_s=options.time_limit_s, **dict(options.solve)
        )

    def refuses(self, thing: Any, policy: str, options: Asked) -> str | None:
        if policy in POLICIES and isinstance(thing, Instance):
            try:
                expect_margins(policy, thing)
            except InputError as error:
                return str(error)
        return None

    def run(self, instance: Instance, policy: str, options: Asked, seed: int) -> RunRecord:
        return self._played(instance, run_policy(instance, policy, self._options(options)))

    def run_plainly(self, instance: Instance, policy: str, options: Asked, seed: int) -> RunRecord:
        return self._played(instance, run_policy(instance, policy, self._options(options), engine="plain"))

    def _options(self, options: Asked) -> Options:
        return Options.parse({name: value for name, value in self.run_values(options).items() if value})

    def _played(self, instance: Instance, run: Simulation) -> RunRecord:
        tasks = run.satisfied_tasks
        facts = {
            "satisfied_batches": run.satisfied_batches(instance.tasks),
            "fed": sum(came >= instance.tasks for came in run.requests) / instance.num_batches,
            "copies_per_task": sum(run.copies) / tasks if tasks else None,
            "all_contacts": run.all_contacts,
        }
        return RunRecord(run.policy, tasks or None, None if tasks else 1, run.run, facts)

    def replay(self, instance: Instance, played: RunRecord, who: str) -> Mapping[str, Any]:
        """Let the checker replay a run, and hold it against the three rungs."""
        verdict = instances.check(instance, played.schedule)
        if not verdict.is_valid or verdict.outcome.satisfied_tasks != (played.value or 0):
            raise SelfCheckError(f"{who}: claims {played.value} satisfied tasks, the checker says: {verdict}")
        rungs = {Rung.FREE: _free(instance)}
        for rung in (Rung.TRAFFIC, Rung.STREAM):
            rungs[rung] = offline.solve(instance, rung, of=played.schedule).certificate
        expect_sandwich(who, rungs, verdict.outcome)
        found = {str(rung): sum(answer.satisfied) for rung, answer in rungs.items()}
        value = float(played.value or 0)
        return {
            "check": "valid",
            **found,
            "over_traffic": found["traffic"] / value if value else None,
            "over_stream": found["stream"] / value if value else None,
            **{f"lateness_{rung}": lateness(instance, verdict.outcome, answer) for rung, answer in rungs.items()},
        }

    def keeps(self, schedule: Any) -> bool:
        return len(schedule.contacts) <= _KEPT_CONTACTS

    def from_point(self, point: Mapping[str, Any]) -> Any:
        return convert(dict(point), Drawn, "point").load()

    def run_row(self, instance: Instance, played: RunRecord, options: Asked) -> dict[str, Any]:
        run: Run = played.schedule
        told = simulation(instance, played.policy, run.contacts, run.periods)
        row = {
            "satisfied_tasks": told.satisfied_tasks,
            "satisfied_batches": told.satisfied_batches(instance.tasks),
            "all_contacts": told.all_contacts,
            "satisfied": told.satisfied,
            "latency": told.latency,
            "copies": told.copies,
            "requests": told.requests,
            "distributed": told.distributed,
            "contacts": told.contacts,
        }
        changed = self._options(options).changed()
        return {f"option_{name}" if name in row else name: value for name, value in changed.items()} | row

    def before_solve(self, instance: Any, num_files: int, *, of: str | None = None, **flags: Any) -> None:
        """Refuse one run for several instances."""
        if of is not None and num_files > 1:
            raise click.UsageError("--of goes with one FILE")
        super().before_solve(instance, num_files, **flags)

    def answers(
        self, instance: Any, *, rung: str = Rung.FREE, of: str | None = None, threads: int = 1, **given: Any
    ) -> Sequence[tuple[dict[str, Any], Result]]:
        """Solve a rung; what is printed is a claim, too, that ``check`` can recompute."""
        result = offline.solve(instance, rung, of=_run_of(instance, of), **given)
        hindsight: Hindsight = result.certificate
        left = (None,) * (instance.num_batches - len(hindsight.batches))
        row = {
            **self.answer_row(result),
            "rung": str(hindsight.rung),
            "satisfied_tasks": result.value,
            "satisfied_batches": sum(count == instance.tasks for count in hindsight.satisfied),
            "satisfied": hindsight.satisfied + left,
            "latency": hindsight.latency + left,
            "cut": tuple(batch.cut for batch in hindsight.batches) + left,
            "format": FORMAT,
            "instance": instance.fingerprint,
        }
        return [(row, result)]

    def check_file(
        self, instance: Any, file: str, path: str, *, of: str | None = None, **flags: Any
    ) -> tuple[Any, Verdict]:
        """Replay a run or a certificate, or recompute the cuts of what ``solve --json`` printed."""
        run = _run_of(instance, of)
        document = read_json(path)
        if "cut" in document:
            try:
                text: Any = read_claim(document)
            except InputError as error:
                raise error.in_file(path) from None
        else:
            text = instances.read_schedule(path)
        try:
            return text, instances.check(instance, text, of=run)
        except InputError as error:
            raise error.in_file(path) from None

    def generate(self, **given: Any) -> Any:
        return flags.generate(**given)

    def import_trace(self, traces: Sequence[str], **given: Any) -> tuple[Any, Sequence[str]]:
        return flags.import_trace(traces, **given)

    def presence(self, instance: Any) -> Sequence[str]:
        from hindsched.bench.commands.traces import presence_within, told_presence

        since, until = instance.start, instance.end
        up = instance.window(since, until)
        nodes = [presence_within(up.of_worker(j), since, until) for j in range(instance.num_workers)]
        where = f"UP in the {until - since} seconds to the last deadline"
        nobody = "nobody is there: --first-day counts from the begin of the trace, or from --origin"
        return told_presence(nodes, [f"worker {j}" for j in range(len(nodes))], where, "second", nobody)

    def sources(self, table: Mapping[str, Any]) -> list[Source]:
        return drawn_sources(table)

    def usual_sources(self, **given: Any) -> list[Source]:
        draws, seed = given.pop("draws"), given.pop("seed")
        return [Drawn(seed=seed + draw, **given) for draw in range(draws)]

    def reproduce(self, folder: Path, *, num_processes: int, dask: str | None, as_json: bool, **given: Any) -> None:
        """Run the paper's 36 settings again, and go through its claims."""
        from hindsched.bench.batches.paper.page import reproduce

        reproduce(folder, num_processes=num_processes, dask=dask, as_json=as_json, **given)

    def draw(self, instance: Any, schedule: Any) -> Figure:
        from hindsched.bench.batches.gantt import draw

        return draw(instance, _run(schedule))

    def draw_pair(self, instance: Any, best: Any, run: Any, policy: str, name: str) -> Figure:
        from hindsched.bench.batches.gantt import draw_pair

        return draw_pair(instance, best, run, policy, name)


def expect_sandwich(who: str, rungs: Mapping[Rung, Hindsight], run: Any) -> None:
    """Raise `SelfCheckError` unless each rung allows what the next does, and the last what the run did, per batch."""
    steps = [*((str(rung), answer) for rung, answer in rungs.items()), ("the run", run)]
    for (above, better), (below, worse) in pairwise(steps):
        for i, (most, least) in enumerate(zip(better.satisfied, worse.satisfied, strict=True)):
            if most < least:
                raise SelfCheckError(f"{who}: batch {i} has {least} satisfied tasks by {below}, {most} by {above}")
        for i, (fast, slow) in enumerate(zip(better.latency, worse.latency, strict=True)):
            if slow is not None and (fast is None or fast > slow):
                raise SelfCheckError(f"{who}: batch {i} has latency {slow} by {below}, {fast} by {above}")


def lateness(instance: Instance, run: Any, rung: Hindsight) -> float | None:
    """Return the mean of a run's latency over a rung's, over the batches that the run satisfied; None without one."""
    ratios = [
        latency / least
        for latency, least, satisfied in zip(run.latency, rung.latency, run.satisfied, strict=True)
        if satisfied == instance.tasks and latency is not None and least is not None
    ]
    return sum(ratios) / len(ratios) if ratios else None


@lru_cache(maxsize=2)  # the runs on an instance are neighbours
def _free(instance: Instance) -> Hindsight:
    hindsight: Hindsight = offline.solve(instance, Rung.FREE).certificate
    return hindsight


def _named(policy: Policy) -> Any:
    """Return a policy that has a name: its class's, if none of its own."""
    if not isinstance(getattr(policy, "name", None), str):
        policy.name = type(policy).__name__  # type: ignore[attr-defined]
    return policy


def _run_of(instance: Instance, path: str | None) -> Run | None:
    """Read the run that a rung is measured by, and make sure that it can be one of this instance."""
    if path is None:
        return None
    try:
        run = _run(instances.read_schedule(path))
        expect_run(instance, run)
    except InputError as error:
        raise error.in_file(path) from None
    if not instances.is_made_for(instance, run):
        click.echo(
            f"hindsched: {path}: made for another instance, {run.instance!r}; measured by all the same", err=True
        )
    return run


def _run(text: Any) -> Run:
    """Return a text that is a run."""
    if not isinstance(text, Run):
        raise InputError("cuts, expected a run")
    return text


FAMILY = _Batches()
