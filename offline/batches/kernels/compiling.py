"""What every kernel of the rungs is compiled with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from instances.compiling import kernels_of

__all__ = ["Ints", "Shorts", "kernel"]

Ints = npt.NDArray[np.int64]
Shorts = npt.NDArray[np.int32]

_kernels: Any = kernels_of(Path(__file__).parent, "rungs")
Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(**options: Any) -> Callable[[Function], Function]:
    """Compile a function at its first call; nobody counts references to the arrays it is handed."""
    made: Callable[[Function], Function] = _kernels(error_model="numpy", _nrt=False, **options)
    return made
