"""How the kernels of the core search are compiled, and where their machine code is kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.core import config as numba_config

__all__ = ["ALL", "NONE", "WORD", "Booleans", "Ints", "Reals", "Table", "Tables", "Words", "folder_name", "kernel"]

Booleans = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Table = npt.NDArray[np.float64]
Tables = npt.NDArray[np.float64]

WORD = np.uint64
NONE = WORD(0)
ALL = ~WORD(0)

config: Any = numba_config  # its options are set at run time, out of sight of type checkers

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(signature: str) -> Callable[[Function], Function]:
    """Compile a function for these types when its module is imported, or load it as it was compiled before.

    Numba looks only at the file of a function to see whether its machine code is still good, but that code contains
    the functions it calls as well. So the folder of the machine code is named by a digest of all kernels and the
    compiler's version: after any change everything is compiled again. Where no folder can be written nothing
    is kept.
    """

    def compiled(function: Function) -> Function:
        folder = _cache_folder()
        with _cached_in(folder):
            compiler: Any = njit(signature, cache=folder is not None)
            dispatcher: Function = compiler(function)
        return dispatcher

    return compiled


def folder_name() -> str:
    """Return the name of the folder for machine code made from these sources by this compiler."""
    digest = sha256("".join(f"{package} {version(package)} " for package in ("numba", "llvmlite", "numpy")).encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return f"core-{digest.hexdigest()[:16]}"


@cache
def _cache_folder() -> Path | None:
    name = folder_name()
    user = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    for parent in (config.CACHE_DIR, Path(__file__).parent / "__pycache__", user / "hindsight"):
        if parent and _is_writable(Path(parent) / name):
            return Path(parent) / name
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
