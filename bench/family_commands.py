"""The command line of a family: options that only it has, and what commands do and print for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic

from hindsched import instances, offline
from hindsched.bench.run_records import Options, RunRecord, json_number
from hindsched.bench.shared_types import Given, ProblemT, Row, ScheduleT
from hindsched.instances import InputError, Verdict
from hindsched.offline.results import Result

if TYPE_CHECKING:
    import click

    from hindsched.bench.campaign.sources import Source
    from hindsched.bench.family import Family

__all__ = ["FamilyCommands"]


class FamilyCommands(Generic[ProblemT, ScheduleT]):
    """The commands of a family.

    Parameters
    ----------
    family
        The family itself.
    """

    #: Options that only this family has, by command (``generate``, ``import``, ``solve``, ``simulate``, ...).
    options: ClassVar[Mapping[str, Sequence[click.Option]]] = {}
    #: Message of ``solve --bound`` where the solver returns no certificate.
    no_certificate: ClassVar[str] = "the solver proved no bound, there is nothing to write"

    #: Keys of rows of ``solve`` that only JSON has, because they repeat others.
    only_json: ClassVar[Collection[str]] = ()

    def __init__(self, family: Family[ProblemT, ScheduleT]) -> None:
        self.family = family

    # -- instances -----------------------------------------------------------------------------------------------

    def generate(self, given: Given) -> ProblemT:
        """Return the instance that the options of ``generate`` describe."""
        raise InputError(f"the family {self.family.name} has no generator", place="--family")

    def import_trace(self, traces: Sequence[str], given: Given) -> tuple[ProblemT, Sequence[str]]:
        """Return an instance made from traces or logs, and the reader's assumptions."""
        raise InputError(f"the family {self.family.name} imports no traces", place="--family")

    def import_windows(self, traces: Sequence[str], given: Given) -> tuple[Mapping[str, ProblemT], Sequence[str]]:
        """Return instances made from windows of traces, by file name, and the reader's assumptions.

        Without the option ``windows`` there is one instance, and its name is empty.
        """
        instance, assumptions = self.import_trace(traces, given)
        return {"": instance}, assumptions

    def availability(self, instance: ProblemT) -> Sequence[str]:
        """Return lines on how often the machines of an imported instance are available."""
        return ()

    def default_sources(self, given: Given) -> list[Source]:
        """Return the instances that ``score`` uses without files."""
        raise InputError(f"the family {self.family.name} needs instance files", place="score")

    # -- optima --------------------------------------------------------------------------------------------------

    def prepare_solve(self, instance: ProblemT, num_files: int, given: Given) -> None:
        """Refuse incompatible options of ``solve``, and write a model where one is requested.

        ``given`` also has ``bound``, ``solver`` and ``time_limit_s``.
        """
        if given.get("bound") is not None and num_files > 1:
            import click

            raise click.UsageError("--bound goes with one FILE")

    def solve(self, instance: ProblemT, given: Given) -> Sequence[tuple[Row, Result]]:
        """Return the rows that ``solve`` prints for an instance, each with its result."""
        result = offline.solve(instance, **given)
        return [(self.result_row(result), result)]

    def write_bound(self, result: Result, path: str | None) -> None:
        """Write the certificate of a result's bound, if a path is given.

        Raises
        ------
        InputError
            If the result has no certificate.
        """
        if path is not None:
            if result.certificate is None:
                raise InputError(self.no_certificate, place="--bound")
            instances.write_schedule(result.certificate, path)

    def result_row(self, result: Result) -> Row:
        """Return what ``solve`` prints of a result in every family."""
        return {
            "status": str(result.status),
            "value": json_number(result.value),
            "lower": json_number(result.lower),
            "upper": json_number(result.upper),
            "by": result.by,
            "runtime_s": round(result.runtime_s, 6),
            "termination": {"reason": str(result.termination.reason), "limit": result.limit and str(result.limit)},
        }

    # -- runs and checks -----------------------------------------------------------------------------------------

    def run_row(self, instance: ProblemT, record: RunRecord, options: Options) -> Row:
        """Return what ``simulate`` prints of a run: the options that differ from their defaults, and the outcome."""
        return {**dict(options.run), self.family.value: json_number(record.value), **record.facts}

    def check_file(self, instance: ProblemT, path: str, given: Given) -> tuple[object, Verdict]:
        """Return a schedule or certificate read from a file, and the verdict of the checker.

        Raises
        ------
        InputError
            If the file cannot be read; it is named.
        """
        schedule = instances.read_schedule(path)
        try:
            return schedule, instances.check(instance, schedule, **given)
        except InputError as error:
            raise error.in_file(path) from None

    def verdict_row(self, verdict: Verdict) -> Row:
        """Return what ``check --json`` prints of a verdict."""
        outcome = verdict.outcome
        found = asdict(outcome) if is_dataclass(outcome) and not isinstance(outcome, type) else {}
        place = {"valid": verdict.is_valid, "time": json_number(verdict.time)}
        return {**place, "rule": verdict.rule, "reason": verdict.reason, **found}

    def table_cells(self, row: Row) -> Row:
        """Return what the tables of ``solve`` and ``simulate`` show of a row, in units that people read."""
        return row

    # -- experiments and exports ---------------------------------------------------------------------------------

    def reproduce(self, folder: Path, *, num_processes: int, dask: str | None, as_json: bool, given: Given) -> None:
        """Run the published experiment and rebuild its tables, resuming from the rows in the folder."""
        raise InputError(f"the family {self.family.name} has no published experiment", place="--family")

    def export(self, instance: ProblemT, schedule: ScheduleT | None) -> str:
        """Return the text of an instance, or of a valid schedule of it, for another tool."""
        raise InputError(f"the family {self.family.name} has no other file formats", place="export")
