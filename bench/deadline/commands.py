"""The commands of the family `deadline`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hindsched.bench.commands.availability import availability_of
from hindsched.bench.commands.trace_windows import name_of_window, spread
from hindsched.bench.commands.traces import chosen_nodes, read_traces
from hindsched.bench.deadline.command_options import OPTIONS
from hindsched.bench.family_commands import FamilyCommands
from hindsched.bench.run_records import Options, RunRecord
from hindsched.bench.shared_types import Given, Row
from hindsched.instances.deadline import HOUR_S, UNITS_PER_DOLLAR, Instance, Schedule
from hindsched.instances.errors import InputError
from hindsched.instances.states import DOWN, UP
from hindsched.offline.results import Result

if TYPE_CHECKING:
    from hindsched.bench.campaign.sources import Source

__all__ = ["DeadlineCommands"]


class DeadlineCommands(FamilyCommands[Instance, Schedule]):
    """The commands of the family `deadline`."""

    options = OPTIONS
    no_certificate = "the solver has no certificate of its bound, expected the solver native"

    def generate(self, given: Given) -> Instance:
        """Return a random job."""
        from hindsched.instances.deadline.generate import generate

        rest = dict(given)
        return generate(rest.pop("seed"), **rest)

    def import_trace(self, traces: Sequence[str], given: Given) -> tuple[Instance, Sequence[str]]:
        """Return a job whose zones are the nodes of a trace, and the reader's assumptions."""
        found, assumptions = self.import_windows(traces, {**given, "windows": None})
        return found[""], assumptions

    def import_windows(self, traces: Sequence[str], given: Given) -> tuple[Mapping[str, Instance], Sequence[str]]:
        from hindsched.instances.deadline.from_trace import from_trace, hours_to_s
        from hindsched.instances.deadline.prices import micro_dollars, read_prices

        trace, rest = read_traces(traces, given)
        for name in ("work", "deadline", "overhead"):
            rest[f"{name}_s"] = hours_to_s(rest[f"{name}_s"], f"--{name}-h")
        table = rest.pop("prices")
        if table is not None and rest["spot_price"] is not None:
            raise InputError("one price and a table of prices, expected one of them", place="--prices")
        for name in ("spot_price", "on_demand_price"):
            dollars = rest.pop(name)
            if dollars is not None:
                rest[name] = micro_dollars(dollars, f"--{name.replace('_', '-')}")
        rest["prices"] = None if table is None else read_prices(table)
        nodes, number, assumptions = chosen_nodes(trace, rest.pop("nodes")), rest.pop("windows"), trace.assumptions
        names = {"": rest.pop("start")}
        if number is not None:
            slots = rest["deadline_s"] // rest["slot_s"]
            found = spread(
                trace,
                number,
                slot_s=rest["slot_s"],
                start=names[""],
                slots=max(1, slots),
                train_slots=0,
                nodes=nodes,
                flags="--deadline-h, --start",
            )
            nodes = list(found.nodes)
            names = {name_of_window(place, number, start): start for place, start in enumerate(found.starts, start=1)}
            assumptions = (*assumptions, f"windows of {slots} slots that do not overlap, spread evenly over the trace")
        jobs = {name: from_trace(trace, nodes=nodes, start=start, **rest) for name, start in names.items()}
        return jobs, assumptions

    def availability(self, instance: Instance) -> Sequence[str]:
        import numpy as np

        states = np.where(instance.spot, UP, DOWN).astype(np.uint8)
        return availability_of(states, [zone.name for zone in instance.zones])

    def default_sources(self, given: Given) -> list[Source]:
        """Return windows of the packaged zones."""
        from hindsched.bench.deadline.sources import Window
        from hindsched.instances.deadline import spot_zones

        work_s, deadline_s = given["work_h"] * HOUR_S, given["deadline_h"] * HOUR_S
        zones = given["zones"] or spot_zones.spot_zone_names()
        return [
            Window(zone, start, work_s, deadline_s, given["overhead_s"])
            for zone in zones
            for start in spot_zones.starts(zone.split("+"), deadline_s, given["starts"], given["seed"])
        ]

    def result_row(self, result: Result) -> Row:
        row = super().result_row(result)
        row["dollars"] = None if result.value is None else round(result.value / UNITS_PER_DOLLAR, 6)
        return row

    def run_row(self, instance: Instance, record: RunRecord, options: Options) -> Row:
        return {**dict(options.run), "cost": record.value, **record.facts}

    def table_cells(self, row: Row) -> Row:
        """Return dollars and hours in place of units and slots; a run that is late has paid too."""
        cells = {name: cell for name, cell in row.items() if name not in ("cost", "paid", "finish", "dollars")}
        if "paid" in row:
            return {
                **{name: cells.pop(name) for name in ("file", "policy")},
                "dollars": row["paid"] / UNITS_PER_DOLLAR,
                **cells,
            }
        for name in ("value", "bound"):
            if cells.get(name) is not None:
                cells[name] = self.family.shown(cells[name])
        return cells

    def reproduce(self, folder: Path, *, num_processes: int, dask: str | None, as_json: bool, given: Given) -> None:
        from hindsched.bench.deadline.reproduction import Setup, reproduce

        reproduce(folder, Setup(**given), num_processes=num_processes, dask=dask, as_json=as_json)
