"""Compiled drawing of a worker's states: the twin of the loop in `hindsched.instances.chains.StateStream`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hindsched.instances.compiling import kernel

__all__ = ["walk_states"]


@kernel("int64(float64[::1], float64[:,::1], int64[:,::1], int64, uint8[::1])", allocates=True)
def walk_states(
    numbers: npt.NDArray[np.float64],
    bounds: npt.NDArray[np.float64],
    order: npt.NDArray[np.int64],
    state: int,
    states: npt.NDArray[np.uint8],
) -> int:
    """Draw one state per random number and return the last state.

    For state x, the worker stays if the number is below ``bounds[x, 0]``. Otherwise it goes to the state ``order[x,
    1]`` if the number is below ``bounds[x, 1]``, and to ``order[x, 2]`` if not.
    """
    stay = bounds[state, 0]
    for i in range(numbers.size):
        if numbers[i] >= stay:
            state = order[state, 1] if numbers[i] < bounds[state, 1] else order[state, 2]
            stay = bounds[state, 0]
        states[i] = state
    return state
