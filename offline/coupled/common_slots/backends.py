"""The back ends by name, none of them imported before it is asked for, and which one ``auto`` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType

from instances.errors import InputError, SelfCheckError
from offline.coupled.common_slots.problem import NO_LIMITS, Answer, CommonSlots, value_of
from offline.coupled.common_slots.windows import is_easy
from offline.limits import Limits

__all__ = ["AUTO", "BACKENDS", "Backend", "answer", "available_backends", "choose"]

#: The name that stands for the best back end for a problem.
AUTO = "auto"

Run = Callable[[CommonSlots, Limits], Answer]


@dataclass(frozen=True, slots=True)
class Backend:
    """A solver of common-slots problems; knowing it loads nothing.

    Parameters
    ----------
    name
        What a user calls it.
    description
        One line.
    module
        Where its ``solve(problem, limits) -> Answer`` is.
    requires
        Packages that it needs beyond numpy.
    options
        Further keyword arguments of its ``solve``.
    """

    name: str
    description: str
    module: str
    requires: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()

    def is_available(self) -> bool:
        """Whether all it requires is installed; nothing is imported to find out."""
        return all(find_spec(package) is not None for package in self.requires)

    def load(self) -> Run:
        """Import the back end and return its function; InputError if it is not available."""
        if not self.is_available():
            raise InputError(f"{self.name} needs {', '.join(self.requires)} to be installed", place="solver")
        run: Run = partial(import_module(self.module).solve, **dict(self.options))
        return run


_HERE = "offline.coupled.common_slots"

#: Every back end by name.
BACKENDS: Mapping[str, Backend] = MappingProxyType(
    {
        backend.name: backend
        for backend in (
            Backend("windows", "polynomial; where the UP slots of every worker come in one piece", f"{_HERE}.windows"),
            Backend("core", "core search on 64-bit words", f"{_HERE}.core.backend", ("numba",)),
            Backend("plain", "plain branch and bound over workers", f"{_HERE}.plain"),
            Backend("cpsat", "CP-SAT model, the length of the team left implicit", f"{_HERE}.cpsat", ("ortools",)),
            Backend(
                "highs",
                "integer program by levels, solved by HiGHS",
                f"{_HERE}.ilp",
                ("pulp", "highspy"),
                (("solver", "highs"),),
            ),
            Backend("cbc", "integer program by levels, solved by CBC", f"{_HERE}.ilp", ("pulp",), (("solver", "cbc"),)),
            Backend("brute", "every assignment of tasks, for tests", f"{_HERE}.brute"),
        )
    }
)


def available_backends() -> list[str]:
    """Return the names of the back ends that can run here; nothing heavy is imported."""
    return [name for name, backend in BACKENDS.items() if backend.is_available()]


def choose(problem: CommonSlots, name: str = AUTO) -> Backend:
    """Return the back end of this name; ``auto``: the polynomial one where it applies, else the core search.

    Raises
    ------
    InputError
        For an unknown name, or ``windows`` where it does not apply.
    """
    if name == AUTO:
        search = "core" if BACKENDS["core"].is_available() else "plain"
        return BACKENDS["windows" if is_easy(problem.up, problem.down) else search]
    if name not in BACKENDS:
        raise InputError(f"{name!r}, expected {AUTO} or one of {', '.join(BACKENDS)}", place="solver")
    if name == "windows" and not is_easy(problem.up, problem.down):
        raise InputError("windows applies only where no worker is RECLAIMED between two UP slots", place="solver")
    return BACKENDS[name]


def answer(problem: CommonSlots, solver: str = AUTO, limits: Limits = NO_LIMITS) -> Answer:
    """Solve a problem by a back end, and check its team.

    Raises
    ------
    InputError
        For an unknown, unavailable or unfit back end.
    SelfCheckError
        Where the team is none, or has another value than claimed: a defect of the back end.

    Examples
    --------
    >>> from offline.coupled.common_slots.problem import Aim
    >>> found = answer(CommonSlots.of_rows(["1101", "1011", "0111"], tasks=2, aim=Aim.WIDEST))
    >>> print(found.status, found.value, found.team)
    optimal 2 Team(tasks={0: 1, 1: 1}, slots=(0, 3))
    """
    found = choose(problem, solver).load()(problem, limits)
    if found.team is not None and value_of(problem, found.team) != found.value:
        raise SelfCheckError(f"{found.solver} claims {found.value}, its team has {value_of(problem, found.team)}")
    return found
