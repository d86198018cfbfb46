"""What every kernel of the simulator is compiled with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from numba.cpython.unsafe.numbers import trailing_zeros

from instances import states
from instances.compiling import kernels_of

__all__ = ["NONE", "ONE", "WORD", "Bytes", "Ints", "Reals", "Words", "kernel", "lowest"]

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]

WORD = np.uint64
NONE = WORD(0)
ONE = WORD(1)

_kernels: Any = kernels_of(Path(__file__).parent, "simulator", Path(states.__file__))
Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(*, allocates: bool = False, **options: Any) -> Callable[[Function], Function]:
    """Compile a function at its first call; a division by zero gives inf or nan, as in C.

    Unless it ``allocates`` arrays nobody counts references to those it is handed: counting took most of the time.
    """
    made: Callable[[Function], Function] = _kernels(error_model="numpy", _nrt=allocates, **options)
    return made


@kernel()
def lowest(word: WORD) -> int:
    """Return the place of the lowest bit of a word that has one."""
    return int(np.int64(trailing_zeros(word)))
