"""The commands of the family `coupled`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hindsched.bench.commands.availability import availability_of
from hindsched.bench.commands.options import given_flags, refuse_unused
from hindsched.bench.commands.trace_windows import name_of_window, spread
from hindsched.bench.commands.traces import chosen_nodes, read_traces
from hindsched.bench.coupled.command_options import OPTIONS
from hindsched.bench.coupled.paper import Paper
from hindsched.bench.coupled.task_lengths import ITERATION_SHARE, lengths_of
from hindsched.bench.family_commands import FamilyCommands
from hindsched.bench.output import say_written
from hindsched.bench.progress import working
from hindsched.bench.run_records import Options, RunRecord
from hindsched.bench.shared_types import Given, Row
from hindsched.instances.coupled import Instance, Outcome, Schedule
from hindsched.instances.errors import InputError
from hindsched.instances.traces.parsing import to_length
from hindsched.instances.traces.trace import Nodes
from hindsched.instances.verdict import Verdict
from hindsched.offline.coupled import Objective, solve, write_model
from hindsched.offline.results import Result

if TYPE_CHECKING:
    from hindsched.bench.campaign.sources import Source

__all__ = ["CoupledCommands"]


class CoupledCommands(FamilyCommands[Instance, Schedule]):
    """The commands of the family `coupled`."""

    options = OPTIONS
    only_json = ("bound", "solver")
    no_certificate = "no Lagrangian bound was found, there is nothing to write"

    def generate(self, given: Given) -> Instance:
        """Return an instance of the paper's experiment, with its Markov chains, or a small one.

        The first N states of an instance do not depend on ``slots``.
        """
        from hindsched.instances.coupled import generate

        point = dict(given)
        small, drawn, seed, slots = (point.pop(name) for name in ("small", "drawn", "seed", "slots"))
        if small and drawn:
            raise click.UsageError("--drawn goes with the paper's instances, not with --small")
        if not small:
            return generate.paper(slots=10_000 if slots is None else slots, seed=seed, drawn=drawn, **point)
        refuse_unused(("n_com", "wmin", "scenario", "trial"), "with --small")
        flags = given_flags()
        sizes = {"p": point["p"], "tasks": point["m"], "iterations": point["iterations"], "slots": slots}
        chosen = {name: value for name, value in sizes.items() if ("m" if name == "tasks" else name) in flags}
        return generate.small(seed, **chosen)

    def import_trace(self, traces: Sequence[str], given: Given) -> tuple[Instance, Sequence[str]]:
        """Return an instance made of a trace, and the reader's assumptions.

        A slot is UP only if the node is available during all of it.
        """
        found, assumptions = self.import_windows(traces, {**given, "windows": None})
        return found[""], assumptions

    def import_windows(self, traces: Sequence[str], given: Given) -> tuple[Mapping[str, Instance], Sequence[str]]:
        from hindsched.instances.coupled.from_trace import from_trace, usual_training

        trace, rest = read_traces(traces, given)
        number, tasks = rest.pop("windows"), rest.pop("m")
        nodes: Nodes = chosen_nodes(trace, rest.pop("nodes"))
        assumptions = list(trace.assumptions)
        lengths = {name: rest.pop(name) for name in ("w", "t_prog", "t_data", "task_s", "program_s", "data_s")}
        for name, other in (("w", "task_s"), ("t_prog", "program_s"), ("t_data", "data_s")):
            if lengths[name] is not None and lengths[other] is not None:
                raise click.UsageError(f"--{other.replace('_', '-')} goes without --{name.replace('_', '-')}")
        where = {name: rest[name] for name in ("slot_s", "start", "slots")}
        names = {"": rest["start"]}
        if number is not None:
            nodes, rest["train_slots"], rest["slots"], starts = spread(
                trace, number, nodes=nodes, train_slots=rest["train_slots"], **where
            )
            names = {name_of_window(place, number, start): start for place, start in enumerate(starts, start=1)}
            assumptions.append(
                f"windows of {rest['slots']} slots, each after the {rest['train_slots']} slots to which its chains are "
                "fitted (--slots, --train)"
            )
        elif rest["train_slots"] is None:
            rest["train_slots"] = usual_training(trace, nodes=nodes, **where)
            assumptions.append(f"chains are fitted on the {rest['train_slots']} slots before slot 0 (--train)")
        found = {
            name: from_trace(trace, tasks=tasks, nodes=nodes, **{**rest, "start": start})
            for name, start in names.items()
        }
        first = next(iter(found.values()))
        p, slot_s = first.num_workers, to_length(rest["slot_s"], "slot_s")
        most = ITERATION_SHARE * first.slots / first.iterations
        w, t_prog, t_data, assumption = lengths_of(trace, first.names, slot_s, most, lengths)
        assumptions += [] if assumption is None else [assumption]
        if isinstance(w, tuple) and len(w) != p:
            raise InputError(f"{len(w)} values, expected one per worker, {p}", place="w")
        values = {"w": (w,) * p if isinstance(w, int) else w, "t_prog": t_prog, "t_data": t_data}
        return {name: one.replace(**values) for name, one in found.items()}, assumptions

    def availability(self, instance: Instance) -> Sequence[str]:
        return availability_of(instance.states, [instance.name_of(q) for q in range(instance.num_workers)])

    def default_sources(self, given: Given) -> list[Source]:
        from hindsched.bench.coupled.real import spot_sources

        m, n_com, wmin, p, iterations = (given[name] for name in ("m", "n_com", "wmin", "p", "iterations"))
        sources: list[Source] = [
            Paper(m, n_com, wmin, scenario, trial, given["slots"], given["seed"], p, iterations)
            for scenario, trial in product(range(given["scenarios"]), range(given["trials"]))
        ]
        return sources + spot_sources()

    def prepare_solve(self, instance: Instance, num_files: int, given: Given) -> None:
        """Write the model, if one is requested."""
        super().prepare_solve(instance, num_files, given)
        rest = {name: value for name, value in given.items() if name not in ("bound", "model", "objective")}
        model = given.get("model")
        if model is None:
            return
        if num_files > 1 or given.get("objective", "makespan") != "makespan":
            raise click.UsageError("--write-model goes with one FILE and the objective makespan")
        with working(f"writing {model}"):
            write_model(instance, model, **rest)
        say_written("model of the makespan", model)

    def solve(self, instance: Instance, given: Given) -> Sequence[tuple[Row, Result]]:
        """Add the objective, and the older names of bound and solver, to the row of every family."""
        result = solve(instance, **{name: value for name, value in given.items() if name != "model"})
        row = self.result_row(result)
        bound = row["upper"] if result.objective is Objective.ITERATIONS else row["lower"]
        first: Row = {"status": row.pop("status"), "objective": str(result.objective)}
        return [({**first, **row, "bound": bound, "solver": result.by}, result)]

    def write_bound(self, result: Result, path: str | None) -> None:
        """Write the certificate, if a path is given; warn if another search has proved a better bound."""
        super().write_bound(result, path)
        if path is not None and result.lower is not None and result.certificate.bound < result.lower:
            click.echo(f"{path} proves {result.certificate.bound:,}; {result.lower:,} has no certificate", err=True)

    def run_row(self, instance: Instance, record: RunRecord, options: Options) -> Row:
        """Return the estimator, which decides the ranking, the outcome, other options and a seed that is not 0."""
        values = self.family.run_values(options)
        row: Row = {"estimator": values["estimator"], "makespan": record.value}
        row["iterations"] = record.facts["iterations"]
        others = {name: value for name, value in dict(options.run).items() if name != "estimator"}
        row |= {name: value for name, value in others.items() if value != self.family.default(name)}
        return row | ({"seed": options.seed} if options.seed else {})

    def verdict_row(self, verdict: Verdict) -> Row:
        """Add the slot under its own name, and the proven makespan of a Lagrangian certificate."""
        row: Row = {"valid": verdict.is_valid, "time": verdict.time, "slot": verdict.time, "rule": verdict.rule}
        row["reason"] = verdict.reason
        found = verdict.outcome
        if not isinstance(found, Outcome):
            return row | {"lower": None if found is None else found.value}
        return row | {"iterations": found.iterations, "makespan": found.makespan}

    def reproduce(self, folder: Path, *, num_processes: int, dask: str | None, as_json: bool, given: Given) -> None:
        from hindsched.bench.coupled.paper import experiment
        from hindsched.bench.coupled.reproduction import reproduce

        point = dict(given)
        options = Options(
            time_limit_s=point.pop("time_limit_s"), check_slots=point.pop("check_slots"), seed=point["seed"]
        )
        readings, figures = point.pop("readings"), point.pop("figures")
        sources = experiment(**point)
        reproduce(
            folder,
            sources,
            options,
            readings=readings,
            figures=figures,
            num_processes=num_processes,
            dask=dask,
            as_json=as_json,
        )
