"""Test whether the channel can ever carry what one iteration needs; if not, no schedule exists.

For a slot t < c let n(t) be the number of workers that are UP in t and not DOWN in t..c. If an iteration computes from
slot c on, the sum of min(n_com, n(t)) over t < c is at least m T_data plus T_prog for each member that had no program.
In the first iteration these are all members (docs/bounds.md, *The channel test*).
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Bytes, Int32s, Ints
from hindsched.instances.compiling import kernel
from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import DOWN, UP

__all__ = ["can_carry_iteration"]

_FIRST_SLOTS = 1 << 10


@kernel
def _can_carry(
    states: Bytes, period_start: Ints, served: Int32s, progress: Ints, n_com: int, units: int, stop: int
) -> bool:
    """Continue up to slot ``stop``; return whether the channel can carry the units before one of the slots.

    ``served[t]`` is n(t); ``progress`` holds the slot to continue from and the sum so far.
    """
    for c in range(progress[0], stop):
        if progress[1] >= units:
            return True
        for q in range(states.shape[0]):
            if states[q, c] == UP:
                served[c] += 1
            elif states[q, c] == DOWN:
                for t in range(period_start[q], c):
                    if states[q, t] == UP:
                        if served[t] <= n_com:
                            progress[1] -= 1
                        served[t] -= 1
                period_start[q] = c + 1
        progress[1] += min(n_com, served[c])
    progress[0] = stop
    return False


def can_carry_iteration(instance: Instance) -> bool:
    """Return whether the channel can carry the data and programs of one iteration before some slot.

    Slots are read until the answer is known; O(p) for each of them.

    Examples
    --------
    >>> short = ["uudu" * 5] * 4
    >>> can_carry_iteration(Instance.from_letters(short, w=[1] * 4, tasks=4, t_data=1, n_com=1))
    False
    >>> can_carry_iteration(Instance.from_letters(short, w=[1] * 4, tasks=4, t_data=1, n_com=2))
    True
    """
    capacities = np.sort(np.array(instance.capacities, np.int64))[::-1]
    members = int(np.searchsorted(np.cumsum(capacities), instance.tasks)) + 1
    units = instance.tasks * instance.t_data + members * instance.t_prog
    period_start = np.zeros(instance.num_workers, np.int64)
    progress = np.zeros(2, np.int64)
    served = np.zeros(instance.slots, np.int32)
    stop = 0
    while stop < instance.slots:
        stop = min(instance.slots, max(_FIRST_SLOTS, 2 * stop))
        if _can_carry(instance.prefix(stop), period_start, served, progress, instance.channels, units, stop):
            return True
    return False
