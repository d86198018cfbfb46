"""The commands of the family `batches`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hindsched import instances, offline
from hindsched.bench.batches.command_options import OPTIONS
from hindsched.bench.batches.sources import Drawn
from hindsched.bench.commands.availability import availability_lines, availability_within
from hindsched.bench.commands.options import given_flags, refuse_unused
from hindsched.bench.commands.traces import read_traces
from hindsched.bench.commands.valid import warn_of_another
from hindsched.bench.family_commands import FamilyCommands
from hindsched.bench.run_records import Options, RunRecord
from hindsched.bench.shared_types import Given, Row
from hindsched.instances import InputError, Verdict
from hindsched.instances.batches import Compute, Instance, Run, Rung
from hindsched.instances.batches.check import expect_run
from hindsched.instances.batches.cut_certificate import CUT_FORMAT, read_cut_certificate
from hindsched.instances.batches.generate import back_to_back, paper, small
from hindsched.instances.batches.volunteers import DAY
from hindsched.instances.files import schedule_of
from hindsched.instances.text_files import read_json
from hindsched.offline.batches import Hindsight
from hindsched.offline.results import Result
from hindsched.online.batches import Options as PolicyOptions
from hindsched.online.batches.outcome import simulation

if TYPE_CHECKING:
    from hindsched.bench.campaign.sources import Source

__all__ = ["BatchesCommands", "as_run", "policy_options"]


class BatchesCommands(FamilyCommands[Instance, Run]):
    """The commands of the family `batches`."""

    options = OPTIONS
    only_json = ("satisfied_tasks", "format", "instance")

    def generate(self, given: Given) -> Instance:
        """Return an instance of the paper's experiment, or a small random one."""
        rest = dict(given)
        is_small, drawn, compute = (rest.pop(name) for name in ("small", "drawn", "compute"))
        if is_small:
            refuse_unused(("deadline_s", "c", "first_day", "homogeneous", "lead_s", "drawn"), "with --small")
            flags = given_flags()
            sizes = {name: rest[name] for name in ("workers", "tasks", "batches") if name in flags}
            return small(rest["seed"], compute=compute, **sizes)
        instance = paper(**rest, compute=compute or Compute.AVAILABLE)
        return instance if drawn else instance.replace(up=instance.up)

    def import_trace(self, traces: Sequence[str], given: Given) -> tuple[Instance, Sequence[str]]:
        """Return an instance whose workers are the nodes of a trace, and the reader's assumptions."""
        from hindsched.instances.batches.from_trace import from_trace

        trace, rest = read_traces(traces, given)
        deadline_s, batches, first_day, lead_s = (
            rest.pop(name) for name in ("deadline_s", "batches", "first_day", "lead_s")
        )
        first = first_day * DAY
        instance = from_trace(
            trace,
            batches=back_to_back(first, deadline_s, batches),
            start=max(0, first - lead_s),
            compute=rest.pop("compute") or Compute.AVAILABLE,
            **rest,
        )
        last = int(instance.up.ups.max(initial=0))
        if 0 < last <= first:
            days = -(-last // DAY)
            raise InputError(
                f"{first_day}, expected less than {days}: no worker is UP after the first {days} days of the trace",
                place="--first-day",
            )
        return instance, trace.assumptions

    def availability(self, instance: Instance) -> Sequence[str]:
        since, until = instance.start, instance.end
        up = instance.window(since, until)
        nodes = [availability_within(up.of_worker(j), since, until) for j in range(instance.num_workers)]
        where = f"UP in the {until - since} seconds to the last deadline"
        hint = "no worker is UP: --first-day counts from the beginning of the trace, or from --origin"
        return availability_lines(nodes, [f"worker {j}" for j in range(len(nodes))], where, "second", hint)

    def default_sources(self, given: Given) -> list[Source]:
        rest = dict(given)
        draws, seed = rest.pop("draws"), rest.pop("seed")
        return [Drawn(seed=seed + draw, **rest) for draw in range(draws)]

    def prepare_solve(self, instance: Instance, num_files: int, given: Given) -> None:
        """Refuse one run for several instances."""
        if given.get("of") is not None and num_files > 1:
            raise click.UsageError("--of goes with one FILE")
        if "rung" not in given:
            refuse_unused(("of",), "without --rung traffic or stream")
        super().prepare_solve(instance, num_files, given)

    def solve(self, instance: Instance, given: Given) -> Sequence[tuple[Row, Result]]:
        """Solve a relaxation; ``check`` can recompute the printed numbers."""
        rest = dict(given)
        if rest.pop("threads") > 1:
            raise click.UsageError("--threads: the solvers of batches use one")
        rung, of = rest.pop("rung", Rung.FREE), rest.pop("of", None)
        result = offline.solve(instance, rung, of=_read_run(instance, of), **rest)
        hindsight: Hindsight = result.certificate
        missing = (None,) * (instance.num_batches - len(hindsight.batches))
        row = {
            **self.result_row(result),
            "rung": str(hindsight.rung),
            "satisfied_tasks": result.value,
            "satisfied_batches": sum(count == instance.tasks for count in hindsight.satisfied),
            "satisfied": hindsight.satisfied + missing,
            "latency": hindsight.latency + missing,
            "cut": tuple(batch.cut for batch in hindsight.batches) + missing,
            "format": CUT_FORMAT,
            "instance": instance.fingerprint,
        }
        return [(row, result)]

    def run_row(self, instance: Instance, record: RunRecord, options: Options) -> Row:
        run: Run = record.schedule
        found = simulation(instance, record.policy, run.contacts, run.periods)
        row = {
            "satisfied_tasks": found.satisfied_tasks,
            "satisfied_batches": found.satisfied_batches(instance.tasks),
            "all_contacts": found.all_contacts,
            "satisfied": found.satisfied,
            "latency": found.latency,
            "copies": found.copies,
            "requests": found.requests,
            "distributed": found.distributed,
            "contacts": found.contacts,
        }
        changed = policy_options(self.family.run_values(options)).changed()
        return {f"option_{name}" if name in row else name: value for name, value in changed.items()} | row

    def check_file(self, instance: Instance, path: str, given: Given) -> tuple[object, Verdict]:
        """Replay a run or a certificate, or recompute the cuts in the output of ``solve --json``."""
        run = _read_run(instance, given.get("of"))
        document = read_json(path)
        try:
            schedule = read_cut_certificate(document) if "cut" in document else schedule_of(document)
            return schedule, instances.check(instance, schedule, of=run)
        except InputError as error:
            raise error.in_file(path) from None

    def reproduce(self, folder: Path, *, num_processes: int, dask: str | None, as_json: bool, given: Given) -> None:
        """Run the paper's 36 settings and rebuild its tables and figures."""
        from hindsched.bench.batches.experiment import Setup
        from hindsched.bench.batches.reproduction import reproduce

        names = ("days", "batches", "scale", "seed")
        setup = Setup(**{name: given[name] for name in names} | {"days": tuple(given["days"])})
        held = bool(given["held"])
        reproduce(folder, setup, num_processes=num_processes, dask=dask, as_json=as_json, held=held)


def policy_options(values: Given) -> PolicyOptions:
    """Return the options of a policy, given the values of all options of a run."""
    return PolicyOptions.parse({name: value for name, value in values.items() if value})


def as_run(schedule: object) -> Run:
    """Return a schedule that is a run; raise `InputError` for a certificate."""
    if not isinstance(schedule, Run):
        raise InputError("cuts, expected a run")
    return schedule


def _read_run(instance: Instance, path: str | None) -> Run | None:
    """Read the run that defines a relaxation, and make sure that it can be a run of this instance."""
    if path is None:
        return None
    try:
        run = as_run(instances.read_schedule(path))
        expect_run(instance, run)
    except InputError as error:
        raise error.in_file(path) from None
    warn_of_another(instance, run, f"{path}: made for another instance; used nevertheless")
    return run
