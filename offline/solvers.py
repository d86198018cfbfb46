"""Tables of solvers: each family knows its solvers by name and loads one when it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

from hindsched.instances.errors import InputError

__all__ = ["AUTO", "Solver", "available", "by_name", "named"]

#: The name that stands for the best available solver.
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Solver:
    """An exact solver, described without loading it. All solvers of one table have the same signature.

    Parameters
    ----------
    name
        The name that users give.
    description
        One line: the method, and the instances that it is for.
    module, function
        Where the solver is, and its name there.
    requires
        Packages that the solver needs beyond numpy.
    options
        Further keyword arguments of the function.
    """

    name: str
    description: str
    module: str
    requires: tuple[str, ...] = ()
    function: str = "solve"
    options: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", str(self.name))  # rows hold plain strings

    def is_available(self) -> bool:
        """Return whether all required packages are installed, without importing them."""
        return all(find_spec(package) is not None for package in self.requires)

    def load(self) -> Callable[..., Any]:
        """Import the solver and return its function.

        Raises
        ------
        InputError
            If a required package is missing.
        """
        if not self.is_available():
            raise InputError(f"{self.name} needs {', '.join(self.requires)} to be installed", place="solver")
        return partial(getattr(import_module(self.module), self.function), **dict(self.options))


def by_name(*solvers: Solver) -> Mapping[str, Solver]:
    """Return a table of solvers, in this order."""
    return MappingProxyType({solver.name: solver for solver in solvers})


def available(solvers: Mapping[str, Solver]) -> list[str]:
    """Return the names of the solvers whose packages are installed, in the order of the table."""
    return [name for name, solver in solvers.items() if solver.is_available()]


def named(name: str, solvers: Mapping[str, Solver]) -> Solver:
    """Return the solver of this name; InputError, with a list of the names, if there is none."""
    if name not in solvers:
        raise InputError(f"{name!r}, expected {AUTO} or one of {', '.join(solvers)}", place="solver")
    return solvers[name]
