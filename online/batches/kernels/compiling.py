"""What every kernel of the simulator is compiled with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from instances.compiling import kernels_of

__all__ = ["Ints", "Reals", "Shorts", "kernel"]

Ints = npt.NDArray[np.int64]
Shorts = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]

_HERE = Path(__file__).parent
_kernels: Any = kernels_of(_HERE, "batches", _HERE.parent / "booking.py")
Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(*, allocates: bool = False, **options: Any) -> Callable[[Function], Function]:
    """Compile a function at its first call.

    Unless it ``allocates`` arrays nobody counts references to those it is handed.
    """
    made: Callable[[Function], Function] = _kernels(error_model="numpy", _nrt=allocates, **options)
    return made
