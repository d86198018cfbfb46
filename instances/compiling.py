"""How numba kernels of any package are compiled, and where their machine code is kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from numba import njit
from numba.core import config as numba_config

__all__ = ["folder_name", "kernels_of"]

config: Any = numba_config  # its options are set at run time, out of sight of type checkers

Function = TypeVar("Function", bound=Callable[..., Any])


def kernels_of(sources: Path, name: str) -> Callable[..., Callable[[Function], Function]]:
    """Return the decorator for the kernels whose sources lie in one folder.

    With a signature it compiles the function when its module is imported, without one at the first call; either way
    machine code that was made before is loaded instead.

    Parameters
    ----------
    sources
        The folder; all its Python files count as sources of each kernel.
    name
        Starts the name of the folder for the machine code.

    Notes
    -----
    Numba looks only at the file of a function to see whether its machine code is still good, but that code contains
    the functions it calls as well. So the folder of the machine code is named by a digest of all the sources and the
    compiler's version: after any change everything is compiled again. Where no folder can be written nothing is kept.
    """

    def kernel(*signature: str, **options: Any) -> Callable[[Function], Function]:
        def compiled(function: Function) -> Function:
            folder = _cache_folder(sources, name)
            with _cached_in(folder):
                compiler: Any = njit(*signature, cache=folder is not None, **options)
                dispatcher: Function = compiler(function)
            return dispatcher

        return compiled

    return kernel


def folder_name(sources: Path, name: str) -> str:
    """Return the name of the folder for machine code made from these sources by this compiler."""
    digest = sha256("".join(f"{package} {version(package)} " for package in ("numba", "llvmlite", "numpy")).encode())
    for source in sorted(sources.glob("*.py")):
        digest.update(source.read_bytes())
    return f"{name}-{digest.hexdigest()[:16]}"


@cache
def _cache_folder(sources: Path, name: str) -> Path | None:
    folder = folder_name(sources, name)
    user = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    for parent in (config.CACHE_DIR, sources / "__pycache__", user / "hindsched"):
        if parent and _is_writable(Path(parent) / folder):
            return Path(parent) / folder
    return None


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


@contextmanager
def _cached_in(folder: Path | None) -> Iterator[None]:
    before = config.CACHE_DIR
    config.CACHE_DIR = "" if folder is None else str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before
