"""What campaigns, ratio tables, reports and commands know of a family of problems: one adapter each.

The adapter of a family of the toolkit is ``FAMILY`` in ``bench.NAME``. Whoever adds a family writes a subclass of
`Family`; docs/families.md says what it must offer, and tests/bench/test_families.py has a whole one in a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from hindsched import instances, offline, online
from hindsched.instances import InputError, SelfCheckError, Verdict
from hindsched.instances.families import BUILT_IN, names, part
from hindsched.instances.text_files import excerpt
from hindsched.offline.results import Number, Result, Sense, Status

if TYPE_CHECKING:
    import click
    import pandas as pd
    from matplotlib.figure import Figure

    from hindsched.bench.campaign.sources import Source

__all__ = ["Family", "OptimumBounds", "Options", "RunRecord", "family_named", "family_of", "shown"]


@dataclass(frozen=True, slots=True)
class Options:
    """What a campaign does with every instance.

    Parameters
    ----------
    run
        Options of policies and simulator by name, as pairs in the family's order; those left out have their defaults.
    solve
        Further options of the family's ``solve``, as pairs.
    solver, time_limit_s
        As in `hindsched.offline.solve`.
    seed
        Seed of policies that draw; every run derives its own from it and the instance.
    check_slots
        How many slots of a run the checker replays, from the first, where the family can stop; None: all of them.
    """

    run: tuple[tuple[str, str], ...] = ()
    solve: tuple[tuple[str, Any], ...] = ()
    solver: str = "auto"
    time_limit_s: float | None = None
    seed: int = 0
    check_slots: int | None = None

    def with_run(self, changes: Mapping[str, str]) -> Options:
        """Return these options with some options of the run changed."""
        return replace(self, run=tuple(sorted({**dict(self.run), **changes}.items())))


@dataclass(frozen=True, slots=True)
class OptimumBounds:
    """Bounds of the optimum that a run is measured by.

    Parameters
    ----------
    status, value, lower, upper, by
        As in `hindsched.offline.Result`.
    """

    status: Status
    value: Number | None
    lower: Number | None
    upper: Number | None
    by: str

    @classmethod
    def of(cls, result: Result) -> OptimumBounds:
        """Return the bounds of a solver's answer."""
        return cls(result.status, result.value, result.lower, result.upper, result.by)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A policy's run as a campaign keeps it.

    Parameters
    ----------
    policy
        Its name.
    value
        What it is measured by (`Family.value`); None where the run did not get so far.
    limit
        A run without a value is known to be worse than this; None where nothing is known.
    schedule
        Of the family's own type.
    facts
        What else the row says, by the law's own names.
    optimum
        The optimum this very run is measured by, where it is not the instance's (a rung, the jobs it accepted).
    """

    policy: str
    value: Number | None
    limit: Number | None
    schedule: Any
    facts: Mapping[str, Any] = field(default_factory=dict)
    optimum: OptimumBounds | None = None


class Family:
    """An adapter; what stands here serves a family with one number a run and one optimum an instance."""

    #: The family's name, with which the formats of its files begin.
    name: ClassVar[str]
    #: What a run is measured by, as a row's key; how tables call it, and its unit.
    value: ClassVar[str] = "value"
    heading: ClassVar[str] = "value"
    unit: ClassVar[str] = ""
    sense: ClassVar[Sense] = Sense.MIN
    #: The least that a run can be measured by; what is not reached is None.
    least: ClassVar[int] = 0
    #: The policy that others are compared with, if the field has one.
    reference: ClassVar[str | None] = None
    #: What ``solve --bound`` says where there is nothing to write, of a family that has that flag.
    unproven: ClassVar[str] = "nothing proves the bound, there is nothing to write"
    #: Options of a run by name with the values they may have, the default first; an empty tuple: any text, default "".
    run_options: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    #: Whole-number parameters of the points of an experiment, as rows name them.
    axes: ClassVar[tuple[str, ...]] = ()
    #: Those of them by which ratios are told apart.
    panels: ClassVar[tuple[str, ...]] = ()
    #: Those that make a scenario: draws that have the machines in common. Empty: every instance stands alone.
    scenario: ClassVar[tuple[str, ...]] = ()
    #: Keys of a point by axis, where they differ: no axis is called as an option of a run, of any family.
    axis_keys: ClassVar[Mapping[str, str]] = {"instance_seed": "seed"}
    #: Keys of ``facts`` that results keep as columns: numbers.
    columns: ClassVar[tuple[str, ...]] = ()
    #: Columns whose mean over finished runs stands beside the ratios.
    averages: ClassVar[tuple[str, ...]] = ()
    #: Options of commands that only this family has, by verb (``generate``, ``import``, ``solve``, ``simulate``, ...).
    flags: ClassVar[Mapping[str, Sequence[click.Option]]] = {}

    # -- problems and answers ------------------------------------------------------------------------------------

    def policies(self) -> tuple[str, ...]:
        """Return the names of the built-in policies, in the order of tables."""
        return online.policy_names(self.name)

    def our_policies(self) -> tuple[str, ...]:
        """Return the names of policies that are ours and that ``all`` leaves out, in the order of tables."""
        return online.our_policy_names(self.name) if self.name in BUILT_IN else ()

    def make_policy(self, text: str, options: Options) -> Any:
        """Return a policy, or refuse it before any work is done."""
        return online.make_policy(text, family=self.name, **dict(options.run))

    def solve(self, instance: Any, options: Options) -> Result:
        """Return the optimum that every scheduler is measured by."""
        return offline.solve(instance, solver=options.solver, time_limit_s=options.time_limit_s, **dict(options.solve))

    def solvers(self) -> list[str]:
        """Return the names of the solvers that can run here."""
        return list(part(self.name, "offline").available_solvers())

    def refuses(self, thing: Any, policy: str, options: Options) -> str | None:
        """Return why a built-in policy cannot be run on an instance (or on what a source makes); None: it can.

        ``all`` leaves such policies out; one that is asked for by name is an error.
        """
        return None

    def run(self, instance: Any, policy: str, options: Options, seed: int) -> RunRecord:
        """Run a policy on an instance with a seed of its own."""
        raise NotImplementedError

    def solved_in_runs(self, options: Options) -> tuple[object, ...]:
        """Return what of the options for solving a run depends on: some runs are measured by optima of their own."""
        return ()

    def replay(self, instance: Any, played: RunRecord, who: str) -> Mapping[str, Any]:
        """Let the checker replay a run; return what the row says of it.

        Raises
        ------
        SelfCheckError
            When the checker refuses the schedule, or finds another value than the run claims.
        """
        verdict = instances.check(instance, played.schedule)
        found = getattr(verdict.outcome, self.value, None)
        if not verdict.is_valid or found != played.value:
            raise SelfCheckError(f"{who}: claims {self.heading} {played.value}, the checker says: {verdict}")
        return {"check": "valid"}

    def keeps(self, schedule: Any) -> bool:
        """Whether a campaign keeps the schedule of an optimum: those that a picture could show."""
        return True

    def from_point(self, point: Mapping[str, Any]) -> Any:
        """Return the instance that a row's ``point`` names."""
        raise InputError("cannot be made anew: the family draws no instances", place=self.name)

    def run_plainly(self, instance: Any, policy: str, options: Options, seed: int) -> RunRecord:
        """Run a policy by the family's plain simulator, whatever `run` takes."""
        return self.run(instance, policy, options, seed)

    # -- what commands show --------------------------------------------------------------------------------------

    def before_solve(self, instance: Any, num_files: int, *, bound: str | None = None, **flags: Any) -> None:
        """Do what flags of ``solve`` ask for before the solve: write a model, refuse what does not go together.

        Here several certificates in one place are refused.
        """
        if bound is not None and num_files > 1:
            import click

            raise click.UsageError("--bound goes with one FILE")

    def answers(self, instance: Any, **flags: Any) -> Sequence[tuple[dict[str, Any], Result]]:
        """Return the rows that ``solve`` prints for an instance, each with the answer it tells."""
        result = offline.solve(instance, **flags)
        return [(self.answer_row(result), result)]

    def write_bound(self, result: Result, place: str | None) -> None:
        """Write what proves the bound of the first answer, if a place is given.

        Raises
        ------
        InputError
            Where nothing proves it.
        """
        if place is not None:
            if result.certificate is None:
                raise InputError(self.unproven, place="--bound")
            instances.write_schedule(result.certificate, place)

    def answer_row(self, result: Result) -> dict[str, Any]:
        """Return what every family's ``solve`` prints of an answer."""
        return {
            "status": str(result.status),
            "value": shown(result.value),
            "lower": shown(result.lower),
            "upper": shown(result.upper),
            "by": result.by,
            "runtime_s": round(result.runtime_s, 6),
            "termination": {"reason": str(result.termination.reason), "limit": result.limit and str(result.limit)},
        }

    def run_row(self, instance: Any, played: RunRecord, options: Options) -> dict[str, Any]:
        """Return what ``simulate`` prints of a run: the options that differ from their defaults, and the outcome."""
        return {**dict(options.run), self.value: shown(played.value), **played.facts}

    def check_file(self, instance: Any, file: str, path: str, **flags: Any) -> tuple[Any, Verdict]:
        """Return a schedule or certificate read from a file, and what the checker says of it.

        Raises
        ------
        InputError
            Naming the file, where the text cannot be read at all.
        """
        text = instances.read_schedule(path)
        try:
            return text, instances.check(instance, text, **flags)
        except InputError as error:
            raise error.in_file(path) from None

    def verdict_row(self, verdict: Verdict) -> dict[str, Any]:
        """Return what ``check --json`` prints of a verdict."""
        found = {} if verdict.outcome is None else _fields(verdict.outcome)
        row = {"valid": verdict.is_valid, "time": shown(verdict.time), "rule": verdict.rule, "reason": verdict.reason}
        return row | found

    def warm_up(self) -> None:
        """Load the machine code that only hard instances need, or compile it: ``hindsched compile`` does so ahead."""

    # -- where instances come from -------------------------------------------------------------------------------

    def generate(self, **flags: Any) -> Any:
        """Return an instance for the flags of ``generate``."""
        raise InputError(f"the family {self.name} has no generator", place="--family")

    def import_trace(self, traces: Sequence[str], **flags: Any) -> tuple[Any, Sequence[str]]:
        """Return an instance made of traces or logs, and what the reader takes for granted."""
        raise InputError(f"the family {self.name} imports no traces", place="--family")

    def presence(self, instance: Any) -> Sequence[str]:
        """Return lines that show how often the machines of an imported instance are there."""
        return ()

    def sources(self, table: Mapping[str, Any]) -> list[Source]:
        """Return the draws that an ``[[instances]]`` table of a campaign file asks for."""
        raise InputError("expected files", place=", ".join(table))

    def usual_sources(self, **flags: Any) -> list[Source]:
        """Return what ``score`` runs where no file is given."""
        raise InputError(f"the family {self.name} needs instance files", place="score")

    def reproduce(self, folder: Path, *, num_processes: int, dask: str | None, as_json: bool, **flags: Any) -> None:
        """Run the published experiment again and rebuild its tables, resuming what the folder holds."""
        raise InputError(f"the family {self.name} has no published experiment", place="--family")

    def export(self, instance: Any, schedule: Any | None) -> str:
        """Return the text of an instance, or of a valid schedule of it, for another tool."""
        raise InputError(f"the family {self.name} has no other forms", place="export")

    # -- what a person sees --------------------------------------------------------------------------------------

    def draw(self, instance: Any, schedule: Any) -> Figure:
        """Return a Gantt picture of a schedule that the checker has accepted."""
        raise InputError(f"the family {self.name} draws no schedules", place="gantt")

    def draw_pair(self, instance: Any, best: Any, run: Any, policy: str, name: str) -> Figure:
        """Return a picture of an optimal schedule above that of a policy's run on the instance of this name."""
        raise InputError(f"the family {self.name} draws no schedules", place="gantt")

    def groups(self, policies: Sequence[str]) -> dict[str, list[str]] | None:
        """Return panels of policies that belong together, for curves; None: as many as fit, in order."""
        return None

    def did_all(self, runs: pd.DataFrame) -> pd.Series[bool]:
        """Return which runs did all that the instance asks for, if they finished: others' values cannot be compared."""
        return runs["policy"].notna()

    def findings(self, runs: pd.DataFrame, reference: str) -> list[str]:
        """Return sentences of the report that only this family has."""
        return []

    def report_items(self, runs: pd.DataFrame, reference: str, files: Any) -> list[Any]:
        """Return pictures and tables of the report that only this family has."""
        return []

    def example(self, ratios: pd.DataFrame, files: Any) -> Any:
        """Return a drawn example for the report: a run beside the optimum; None where none can be had."""
        return None

    # -- small services ------------------------------------------------------------------------------------------

    def run_values(self, options: Options) -> dict[str, str]:
        """Return every option of a run with its value, the defaults included.

        Raises
        ------
        InputError
            For an option that the family does not have, or a value that it does not know.
        """
        given = dict(options.run)
        for name, value in given.items():
            if name not in self.run_options:
                known = ", ".join(self.run_options) or "none"
                raise InputError(f"no option of {self.name}, expected one of {known}", place=name)
            values = self.run_options[name]
            if values and value not in values:
                raise InputError(f"{excerpt(str(value))}, expected one of {', '.join(values)}", place=name)
        return {name: given.get(name, self.usual(name)) for name in self.run_options}

    def usual(self, name: str) -> str:
        """Return the default of an option of a run: the first of its values, "" where any text may be given."""
        return str((self.run_options[name] or ("",))[0])


def shown(number: Number | None) -> int | str | None:
    """Return a number as JSON holds it exactly: a fraction that is not whole as a text ``a/b``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> shown(Fraction(6, 2)), shown(Fraction(1, 3)), shown(None)
    (3, '1/3', None)
    """
    if number is None or isinstance(number, int):
        return number
    return int(number) if number.denominator == 1 else str(number)


def _fields(outcome: Any) -> dict[str, Any]:
    return asdict(outcome) if is_dataclass(outcome) and not isinstance(outcome, type) else {}


def family_named(name: str) -> Family:
    """Return the adapter of a family.

    Raises
    ------
    InputError
        For a family that does not exist.
    """
    if name not in BUILT_IN and name not in names():  # to list what is installed takes long
        raise InputError(f"{excerpt(str(name))}, expected one of {', '.join(names())}", place="family")
    adapter: Family = part(name, "bench").FAMILY
    return adapter


def family_of(instance: Any) -> Family:
    """Return the adapter of an instance's family."""
    return family_named(instance.family)
