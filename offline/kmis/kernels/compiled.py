"""What the kernels of the search are compiled with, and the names of their types."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from instances.compiling import kernels_of

__all__ = ["ALL", "NONE", "WORD", "Booleans", "Ints", "Reals", "Table", "Tables", "Words", "kernel"]

Booleans = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Table = npt.NDArray[np.float64]
Tables = npt.NDArray[np.float64]

WORD = np.uint64
NONE = WORD(0)
ALL = ~WORD(0)

Function = TypeVar("Function", bound=Callable[..., Any])

_kernels = kernels_of(Path(__file__).parent, "kmis")


def kernel(signature: str) -> Callable[[Function], Function]:
    """Compile a function for these types when its module is imported, or load it as it was compiled before."""
    made: Callable[[Function], Function] = _kernels(signature)
    return made
