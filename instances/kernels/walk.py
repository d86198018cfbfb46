"""The states of a worker over many slots: the twin of the loop in `instances.chains.StateStream`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from instances.compiling import kernels_of

__all__ = ["walk"]

Function = TypeVar("Function", bound=Callable[..., Any])

_kernels = kernels_of(Path(__file__).parent, "states")


def kernel(signature: str) -> Callable[[Function], Function]:
    """Compile a function for these types when its module is imported, or load it as it was compiled before."""
    made: Callable[[Function], Function] = _kernels(signature)
    return made


@kernel("int64(float64[::1], float64[:,::1], int64[:,::1], int64, uint8[::1])")
def walk(
    numbers: npt.NDArray[np.float64],
    bounds: npt.NDArray[np.float64],
    order: npt.NDArray[np.int64],
    state: int,
    states: npt.NDArray[np.uint8],
) -> int:
    """Fill the states, one per number, and return the last.

    ``bounds[x]`` holds, for state x, below which number the worker stays and below which it goes to the second state of
    ``order[x]`` rather than the third.
    """
    stay = bounds[state, 0]
    for i in range(numbers.size):
        if numbers[i] >= stay:
            state = order[state, 1] if numbers[i] < bounds[state, 1] else order[state, 2]
            stay = bounds[state, 0]
        states[i] = state
    return state
