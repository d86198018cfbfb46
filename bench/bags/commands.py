"""The commands of the family `bags`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from hindsched.bench.bags.command_options import OPTIONS
from hindsched.bench.bags.paper import Paper, starts
from hindsched.bench.commands.availability import availability_of
from hindsched.bench.commands.options import given_flags, refuse_unused
from hindsched.bench.commands.traces import chosen_nodes, read_traces
from hindsched.bench.family_commands import FamilyCommands
from hindsched.bench.run_records import Options, RunRecord
from hindsched.bench.shared_types import Given, Row
from hindsched.instances.bags import Instance, Schedule, Store
from hindsched.offline.bags import solve
from hindsched.offline.results import Result

if TYPE_CHECKING:
    from hindsched.bench.campaign.sources import Source

__all__ = ["BagsCommands", "minutes"]

_MS_PER_MINUTE = 60_000


class BagsCommands(FamilyCommands[Instance, Schedule]):
    """The commands of the family `bags`."""

    options = OPTIONS

    def generate(self, given: Given) -> Instance:
        """Return an instance of the paper's experiment on the substitute trace, or a small random one."""
        from hindsched.instances.bags import generate

        bag = dict(given)
        small, seed, slots, move_s = (bag.pop(name) for name in ("small", "seed", "slots", "move_s"))
        if not small:
            return _with_move(generate.paper(slots=slots, seed=seed, **bag), move_s)
        refuse_unused(("machines", "reference_s", "mix", "trace", "start", "move_s"), "with --small")
        flags = given_flags()
        chosen: Row = {name: bag[name] for name in ("tasks", "store", "on_demand") if name in flags}
        if "checkpoints" in flags:
            chosen["segments"] = bag["checkpoints"] + 1
        if slots is not None:
            chosen["slots"] = slots
        return generate.small(seed, **chosen)

    def import_trace(self, traces: Sequence[str], given: Given) -> tuple[Instance, Sequence[str]]:
        """Return an instance whose machines are the nodes of a trace, and the reader's assumptions."""
        from hindsched.instances.bags.from_trace import from_trace

        trace, rest = read_traces(traces, given)
        nodes = chosen_nodes(trace, rest.pop("nodes"))
        move_s = rest.pop("move_s")
        return _with_move(from_trace(trace, nodes=nodes, **rest), move_s), trace.assumptions

    def availability(self, instance: Instance) -> Sequence[str]:
        return availability_of(instance.states, [f"machine {q}" for q in range(len(instance.states))])

    def default_sources(self, given: Given) -> list[Source]:
        bag = {name: given[name] for name in ("machines", "tasks", "reference_s", "checkpoints", "store")}
        return [
            Paper(**bag, start_slot=start, seed=given["seed"], mix=given["mix"])
            for when in ("weekday", "weekend")
            for start in starts(when, given["starts"])
        ]

    def solve(self, instance: Instance, given: Given) -> Sequence[tuple[Row, Result]]:
        """Solve for each requested store, with and without saves on demand as requested."""
        rest = dict(given)
        store, on_demand = rest.pop("store", None), rest.pop("on_demand", None)
        stores = {None: [instance.store], "both": list(Store)}.get(store) or [Store(str(store))]
        saves = {None: [instance.on_demand], "both": [False, True]}.get(on_demand) or [on_demand == "yes"]
        found: list[tuple[Row, Result]] = []
        for place, saves_on_demand in product(stores, saves):
            result = solve(instance, store=place, on_demand=saves_on_demand, **rest)
            row = {"store": str(place), "on_demand": saves_on_demand, **self.result_row(result)}
            row["minutes"] = None if result.value is None else minutes(instance, int(result.value))
            found.append((row, result))
        return found

    def run_row(self, instance: Instance, record: RunRecord, options: Options) -> Row:
        values = self.family.run_values(options)
        row: Row = {name: value for name, value in values.items() if value != self.family.default(name)}
        if "max_copies" in row:
            row["max_copies"] = int(row["max_copies"])
        row |= {"turnaround": record.value, "completed": record.facts["completed"]}
        return row | {"minutes": None if record.value is None else minutes(instance, int(record.value))}

    def reproduce(self, folder: Path, *, num_processes: int, dask: str | None, as_json: bool, given: Given) -> None:
        from hindsched.bench.bags.reproduction import Setup, reproduce

        reproduce(folder, Setup(**given), num_processes=num_processes, dask=dask, as_json=as_json)


def _with_move(instance: Instance, move_s: int) -> Instance:
    return instance.replace(move=move_s * 1000 // instance.tick_ms)


def minutes(instance: Instance, ticks: int) -> float:
    """Return ticks of an instance in minutes."""
    return round(ticks * instance.tick_ms / _MS_PER_MINUTE, 4)
