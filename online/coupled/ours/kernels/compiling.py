"""What every kernel of our own policies is compiled with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from instances import states
from instances.compiling import kernels_of

__all__ = ["Bytes", "Ints", "Reals", "Words", "kernel"]

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]

_HERE = Path(__file__).parent
_APPLICATION = _HERE.parents[1] / "kernels" / "application.py"
_kernels: Any = kernels_of(_HERE, "ours", Path(states.__file__), _HERE.parent / "chances.py", _APPLICATION)
Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(*, sums: bool = False, **options: Any) -> Callable[[Function], Function]:
    """Compile a function at its first call; a division by zero gives inf or nan, as in C.

    Where it ``sums``, the order of additions is the compiler's, who then adds several numbers at once.
    """
    if sums:
        options["fastmath"] = {"reassoc", "nsz", "contract"}
    made: Callable[[Function], Function] = _kernels(error_model="numpy", _nrt=False, **options)
    return made
