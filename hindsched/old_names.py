"""Imports by the names of release 0.1, when the packages stood beside ``hindsched`` instead of inside it.

In a checkout ``import instances`` still finds the folder. It gives the very modules of ``hindsched.instances``, with a
`DeprecationWarning`. Release 0.3 drops this.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["redirect"]


class _Redirection(MetaPathFinder, Loader):
    """Finds ``package.x`` as ``hindsched.package.x``, the same module object under both names."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname.startswith(f"{self.package}.") else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(f"hindsched.{spec.name}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own specification back, which the import system has just replaced."""
        spec = module.__spec__
        if spec is not None:
            module.__spec__ = spec.loader_state


def redirect(package: str) -> None:
    """Let a package be imported by its old name too.

    Parameters
    ----------
    package
        Name of the package without ``hindsched.``; it is being imported.
    """
    message = f"import hindsched.{package} instead of {package}: the old name goes with release 0.3"
    warnings.warn(message, DeprecationWarning, stacklevel=3)
    sys.meta_path.insert(0, _Redirection(package))
    sys.modules[package] = import_module(f"hindsched.{package}")
