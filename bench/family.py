"""The adapter of a family of problems: how it is solved, run, checked and compared.

An adapter has three parts: a `Family`, its commands (`hindsched.bench.family_commands`) and its report
(`hindsched.bench.family_report`). The adapter of a built-in family is ``FAMILY`` in ``hindsched.bench.NAME``.
docs/contributing.md says what a new family must offer; tests/bench/test_families.py has a complete one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias

from hindsched import instances, offline, online
from hindsched.bench.family_commands import FamilyCommands
from hindsched.bench.family_report import FamilyReport
from hindsched.bench.run_records import Options, RunRecord
from hindsched.bench.shared_types import Given, Policy, Problem, ProblemT, Row, ScheduleT
from hindsched.instances import InputError, SelfCheckError
from hindsched.instances.families import BUILT_IN, names, part
from hindsched.instances.text_files import excerpt
from hindsched.offline.results import Result, Sense

if TYPE_CHECKING:
    import pandas as pd

    from hindsched.bench.campaign.sources import Source

__all__ = ["AnyFamily", "Family", "family_named", "family_of", "family_of_runs"]


class Family(Generic[ProblemT, ScheduleT]):
    """A family of problems with one objective, one value per run and one optimum per instance."""

    #: The name, with which the formats of its files begin.
    name: ClassVar[str]
    #: The objective: its key in rows, its heading in tables, its unit, its sense and its least possible value.
    value: ClassVar[str] = "value"
    heading: ClassVar[str] = "value"
    unit: ClassVar[str] = ""
    sense: ClassVar[Sense] = Sense.MIN
    least: ClassVar[int] = 0
    #: The policy that others are compared with, if the literature has one.
    reference: ClassVar[str | None] = None
    #: Options of a run by name, with their values. The default comes first; an empty tuple: any text, default "".
    run_options: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    #: Integer parameters of the points of an experiment, as rows name them.
    axes: ClassVar[tuple[str, ...]] = ()
    #: The parameters by which ratios are tabulated.
    panels: ClassVar[tuple[str, ...]] = ()
    #: The parameters that make a scenario: draws with the same machines. Empty: every instance is independent.
    scenario: ClassVar[tuple[str, ...]] = ()
    #: What the units of intervals are called: clusters of several instances, and instances of their own.
    clusters_name: ClassVar[str] = "scenarios"
    instances_name: ClassVar[str] = "instances"
    #: Keys of a point by axis, where they differ: no axis has the name of an option of a run, of any family.
    axis_keys: ClassVar[Mapping[str, str]] = {"instance_seed": "seed"}
    #: Keys of ``facts`` that results keep as numeric columns.
    columns: ClassVar[tuple[str, ...]] = ()
    #: What the names of policies mean, in a few words, for a note below tables.
    legend: ClassVar[str] = ""
    #: Columns whose mean over finished runs is shown next to the ratios.
    averages: ClassVar[tuple[str, ...]] = ()

    @cached_property
    def commands(self) -> FamilyCommands[ProblemT, ScheduleT]:
        """The family's part of the command line."""
        return FamilyCommands(self)

    @cached_property
    def report(self) -> FamilyReport[ProblemT, ScheduleT]:
        """The family's pictures and report items."""
        return FamilyReport(self)

    # -- objectives ----------------------------------------------------------------------------------------------

    def with_objective(self, name: object) -> AnyFamily:
        """Return the adapter for a value of the option ``objective`` of runs; a missing value means the default.

        Most families have one objective, and no such option.
        """
        return self

    def under(self, options: Options) -> AnyFamily:
        """Return the adapter for the objective that the options of a run name."""
        return self.with_objective(dict(options.run).get("objective"))

    # -- instances and optima ------------------------------------------------------------------------------------

    def from_point(self, point: Given) -> ProblemT:
        """Return the instance that a row's ``point`` names."""
        raise InputError("the family has no generated instances", place=self.name)

    def sources(self, table: Given) -> list[Source]:
        """Return the generated instances that an ``[[instances]]`` table of a campaign file names."""
        raise InputError("expected files", place=", ".join(table))

    def kind(self, instance: ProblemT) -> str:
        """Return the kind of an instance from a file: files of one kind are compared together."""
        return self.name

    def shown(self, value: float) -> str:
        """Return a value of the objective as tables show it; rows and JSON hold the value itself."""
        return f"{value:,.0f}" if value % 1 == 0 else f"{value:g}"

    def solvers(self) -> list[str]:
        """Return the names of the solvers that are available."""
        return list(part(self.name, "offline").available_solvers())

    def solve(self, instance: ProblemT, options: Options) -> Result:
        """Return the hindsight optimum that every policy is compared with."""
        return offline.solve(instance, solver=options.solver, time_limit_s=options.time_limit_s, **dict(options.solve))

    def why_ties(self, instance: ProblemT, optimum: float) -> str:
        """Return why all policies reach the optimum of an instance; "" if its parameters do not show it."""
        return ""

    def keeps(self, schedule: ScheduleT) -> bool:
        """Return whether a campaign keeps the schedule of an optimum: those small enough for a picture."""
        return True

    def warm_up(self) -> None:
        """Compile or load the machine code that only hard instances need, as ``hindsched compile`` does."""

    # -- policies and runs ---------------------------------------------------------------------------------------

    def policies(self) -> tuple[str, ...]:
        """Return the names of the published policies, in the order of tables."""
        return online.policy_names(self.name)

    def our_policies(self) -> tuple[str, ...]:
        """Return the names of the toolkit's own policies, which ``all`` leaves out, in the order of tables."""
        return online.our_policy_names(self.name) if self.name in BUILT_IN else ()

    def make_policy(self, text: Policy, options: Options) -> Policy:
        """Return a policy object, or raise `InputError` before any work is done."""
        return online.make_policy(text, family=self.name, **dict(options.run))

    def expect_policy(self, text: Policy, options: Options) -> None:
        """Raise `InputError` for an invalid policy; with isolation, a user's policy is not loaded in this process."""
        is_built_in = isinstance(text, str) and text in (*self.policies(), *self.our_policies())
        if options.isolated and not is_built_in:
            self.make_isolated(text, options)
        else:
            self.make_policy(text, options)

    def make_isolated(self, text: Policy, options: Options) -> Policy:
        """Return a user's policy that was made in a process of its own; only its name is of use here."""
        raise InputError(f"users' policies of {self.name} run in this process only", place="--isolated")

    def refuses(self, source: Any, policy: str, options: Options) -> str | None:
        """Return why a built-in policy cannot run on an instance, or on the instance of a source; None: it can.

        ``all`` leaves such policies out; naming one explicitly is an error.
        """
        return None

    def run(self, instance: ProblemT, policy: Policy, options: Options, seed: int) -> RunRecord:
        """Run a policy on an instance with the given seed."""
        raise NotImplementedError

    def run_plainly(self, instance: ProblemT, policy: Policy, options: Options, seed: int) -> RunRecord:
        """Run a policy by the family's plain simulator."""
        return self.run(instance, policy, options, seed)

    def solved_in_runs(self, options: Options) -> tuple[object, ...]:
        """Return the parts of a run's key that its own optimum depends on; empty where runs have none."""
        return ()

    def replay(self, instance: ProblemT, record: RunRecord, who: str) -> Row:
        """Replay a run by the checker; return the columns of the row that report the check.

        Raises
        ------
        SelfCheckError
            If the checker rejects the schedule, or finds another value than the run reports.
        """
        verdict = instances.check(instance, record.schedule)
        found = getattr(verdict.outcome, self.value, None)
        if not verdict.is_valid or found != record.value:
            raise SelfCheckError(f"{who}: reports {self.heading} {record.value}, the checker finds: {verdict}")
        return {"check": "valid"}

    def completed_all(self, runs: pd.DataFrame) -> pd.Series[bool]:
        """Return which runs did all the work of their instance, if they finished: only their values are comparable."""
        return runs["policy"].notna()

    def clusters(self, runs: pd.DataFrame) -> Mapping[str, pd.Series[str]]:
        """Return the columns ``cluster``, and where clusters have something in common ``parent``, of dependent runs.

        The bootstrap draws clusters. By default they are scenarios; runs that are left out are on instances of their
        own.
        """
        if not self.scenario:
            return {}
        drawn = runs["scenario"].notna()
        place = runs.loc[drawn, "setting"].astype(str)
        for name in self.scenario:
            place = place + f" {name}=" + runs.loc[drawn, name].astype("string").fillna("none").astype(object)
        return {"cluster": place}

    # -- options of runs -----------------------------------------------------------------------------------------

    def run_values(self, options: Options) -> dict[str, str]:
        """Return the value of every option of a run, defaults included.

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
        return {name: given.get(name, self.default(name)) for name in self.run_options}

    def default(self, name: str) -> str:
        """Return the default of an option of a run: the first of its values, "" where any text is allowed."""
        return str((self.run_options[name] or ("",))[0])


#: A family of any kind of problem.
AnyFamily: TypeAlias = Family[Any, Any]


def family_named(name: str) -> AnyFamily:
    """Return the adapter of a family.

    Raises
    ------
    InputError
        If there is no family of this name.
    """
    if name not in BUILT_IN and name not in names():  # listing the installed families is slow
        raise InputError(f"{excerpt(str(name))}, expected one of {', '.join(names())}", place="family")
    adapter: AnyFamily = part(name, "bench").FAMILY
    return adapter


def family_of(instance: Problem) -> AnyFamily:
    """Return the adapter of an instance's family."""
    return family_named(instance.family)


def family_of_runs(runs: pd.DataFrame) -> AnyFamily:
    """Return the adapter of runs of one family with one objective."""
    first = runs.iloc[0]
    return family_named(str(first["family"])).with_objective(first.get("objective"))
