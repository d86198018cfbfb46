"""The commands of the family `grid`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hindsched.bench.commands.options import refuse_unused
from hindsched.bench.family_commands import FamilyCommands
from hindsched.bench.grid.command_options import OPTIONS
from hindsched.bench.run_records import Options, RunRecord
from hindsched.bench.shared_types import Given, Row
from hindsched.instances.errors import InputError
from hindsched.instances.grid import Instance, Schedule
from hindsched.instances.grid.model import LATEST
from hindsched.online.grid.options import BUILT_IN, differing
from hindsched.online.grid.policies import make_policy

if TYPE_CHECKING:
    from hindsched.bench.campaign.sources import Source

__all__ = ["PACKAGED", "GridCommands", "expect_schedule", "given_options"]

#: Name of the log that comes with the toolkit.
PACKAGED = "kth_sp2"


class GridCommands(FamilyCommands[Instance, Schedule]):
    """The commands of the family `grid`."""

    options = OPTIONS
    no_certificate = "no dual prices were found, only the bound 0 holds"

    def generate(self, given: Given) -> Instance:
        """Return a random workload."""
        from hindsched.instances.grid import generate

        rest = dict(given)
        mix = generate.WIDE_MIX if rest.pop("mix") == "wide" else generate.NARROW_MIX
        arrivals = generate.POISSON if rest.pop("arrivals") == "poisson" else generate.BURSTS
        return generate.generate(jobs=rest.pop("num_jobs"), mix=mix, arrivals=arrivals, **rest)

    def import_trace(self, traces: Sequence[str], given: Given) -> tuple[Instance, Sequence[str]]:
        """Return the instance in one log, or in a workload of Batsim, and a line on what was read and left out."""
        from hindsched.instances.grid.batsim import from_batsim
        from hindsched.instances.grid.packaged_log import NODES, kth_sp2
        from hindsched.instances.grid.workloads import import_log
        from hindsched.instances.text_files import read_json

        if len(traces) != 1:
            raise InputError(f"{len(traces)} files, expected one log", place="import")
        (log,) = traces
        nodes, slot_s, first, count = (given[name] for name in ("nodes", "slot_s", "first", "count"))
        if log == PACKAGED:
            refuse_unused(("kind", "compress", "wide"), f"with {PACKAGED}")
            if nodes not in (None, NODES):
                raise InputError(f"{nodes}, expected {NODES}, the nodes of {PACKAGED}", place="nodes")
            return kth_sp2(slot_s=slot_s, first=first, count=count), []
        if given["kind"] == "batsim":
            refuse_unused(("first", "count", "compress", "wide"), "with --kind batsim")
            try:
                workload = from_batsim(read_json(log), slot_s=slot_s, nodes=nodes)
            except InputError as error:
                raise error.in_file(log) from None
            stopped = f", {workload.stopped} of them until their walltime" if workload.stopped else ""
            return workload.instance, [f"jobs: {len(workload.ids)}{stopped}"]
        found = import_log(log, **given)
        return found.instance, [found.summary]

    def default_sources(self, given: Given) -> list[Source]:
        """Return small random workloads, and windows of KTH-SP2."""
        from hindsched.bench.grid.sources import Generated, Window

        nodes, slot_s, jobs, load, mix = (given[name] for name in ("nodes", "slot_s", "num_jobs", "load", "mix"))
        seeds = range(given["seed"], given["seed"] + given["draws"])
        windows: list[Source] = [Window(60, first, 60) for first in (0, 300, 600, 900)]
        return [*(Generated(nodes, slot_s, jobs, load, seed, mix) for seed in seeds), *windows]

    def run_row(self, instance: Instance, record: RunRecord, options: Options) -> Row:
        """Return the options that differ from their defaults, the metrics and the counters."""
        row: Row = {**given_options(options)}
        if record.policy in BUILT_IN:
            row = differing(make_policy(record.policy, **row, seed=options.seed))  # type: ignore[arg-type]
        for name, value in record.facts.items():
            if name != "digest":
                row[name] = value
            if name == "total_wait":
                row["total_response"] = record.value
        return row

    def reproduce(self, folder: Path, *, num_processes: int, dask: str | None, as_json: bool, given: Given) -> None:
        from hindsched.bench.grid.experiment import PARTS, Setup
        from hindsched.bench.grid.reproduction import reproduce

        setup = Setup(
            seeds=tuple(given["seeds"]),
            scale=given["scale"],
            log=given["log"],
            narrow_seeds=None if given["narrow_seeds"] is None else tuple(given["narrow_seeds"]),
            overlay_seeds=tuple(given["overlay_seeds"]),
            parts=tuple(given["parts"]) or PARTS,
        )
        reproduce(folder, setup, num_processes=num_processes, dask=dask, as_json=as_json)

    def export(self, instance: Instance, schedule: Schedule | None) -> str:
        """Return a workload for Batsim, or its table of jobs."""
        from hindsched.instances.grid.batsim import jobs_csv, to_batsim

        if schedule is None:
            return to_batsim(instance)
        return jobs_csv(instance, expect_schedule(schedule, "export"))


def expect_schedule(schedule: object, command: str) -> Schedule:
    """Return a schedule; raise `InputError` for a certificate, and for starts that no clock can show."""
    if not isinstance(schedule, Schedule):
        raise InputError("expected a schedule", place=command)
    for j, start in enumerate(schedule.starts()):
        if start is not None and start >= LATEST:
            raise InputError(f"a start of {LATEST} or later, expected an earlier one", place=f"{command}, job {j}")
    return schedule


def given_options(options: Options) -> dict[str, str]:
    """Return the options of a run that were given; an empty text means the default."""
    return {name: value for name, value in options.run if value != ""}
