"""What a family's table of solvers is made of: solvers that are known by name and loaded when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

from hindsched.instances.errors import InputError

__all__ = ["AUTO", "Solver", "by_name", "named"]

#: The name that stands for the best available solver.
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Solver:
    """An exact solver; knowing it loads nothing. All solvers of one table have the same signature.

    Parameters
    ----------
    name
        What a user calls it.
    description
        One line: what it does and for which instances.
    module
        Where it is.
    requires
        Packages that it needs beyond numpy.
    function
        Its name there.
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
        object.__setattr__(self, "name", str(self.name))  # a plain string, for those who look at types

    def is_available(self) -> bool:
        """Whether all it requires is installed; nothing is imported to find out."""
        return all(find_spec(package) is not None for package in self.requires)

    def load(self) -> Callable[..., Any]:
        """Import the solver and return its function; InputError if it is not available."""
        if not self.is_available():
            raise InputError(f"{self.name} needs {', '.join(self.requires)} to be installed", place="solver")
        return partial(getattr(import_module(self.module), self.function), **dict(self.options))


def by_name(*solvers: Solver) -> Mapping[str, Solver]:
    """Return a table of solvers, in this order."""
    return MappingProxyType({solver.name: solver for solver in solvers})


def named(name: str, solvers: Mapping[str, Solver]) -> Solver:
    """Return the solver of this name, or raise an InputError that lists the names there are."""
    if name not in solvers:
        raise InputError(f"{name!r}, expected {AUTO} or one of {', '.join(solvers)}", place="solver")
    return solvers[name]
