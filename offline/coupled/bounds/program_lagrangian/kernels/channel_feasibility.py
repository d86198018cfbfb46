"""Can the channel carry the data of even one iteration? If it never can, there is no schedule.

**Claim.** Let an iteration of a valid schedule compute from slot c on (normal form of docs/model.md section 3). For
every slot t < c let n(t) be the number of workers that are UP in t and not DOWN in t..c. Then

    sum over t < c of min(n_com, n(t))  >=  m T_data + T_prog * (members that were not sent a program before),

and in the first iteration those are all members, at least as many as it takes for the bounds mu to sum up to m.

*Proof.* All that a member needs for the iteration is received in slots before c, after its last DOWN, in which it is
UP, at most one unit a slot; and in one slot at most n_com workers are served. Members receive T_data for each of m
tasks, and in the first iteration nobody has a program before. QED

So where the inequality holds for no slot c of the instance, nothing can be completed, whatever else is UP when.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Bytes, Int32s, Ints
from hindsched.instances.compiling import kernel
from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import DOWN, UP

__all__ = ["can_carry"]

_FIRST_SLOTS = 1 << 10


@kernel
def _carries(states: Bytes, born: Ints, served: Int32s, progress: Ints, n_com: int, need: int, stop: int) -> bool:
    """Go on to slot ``stop``; whether the channel can carry ``need`` units before one of the slots.

    ``born[q]`` is the first slot of q's life, ``served[t]`` is n(t), ``progress`` the slot to go on from and the sum.
    """
    for c in range(progress[0], stop):
        if progress[1] >= need:
            return True
        for q in range(states.shape[0]):
            if states[q, c] == UP:
                served[c] += 1
            elif states[q, c] == DOWN:
                for t in range(born[q], c):
                    if states[q, t] == UP:
                        if served[t] <= n_com:
                            progress[1] -= 1
                        served[t] -= 1
                born[q] = c + 1
        progress[1] += min(n_com, served[c])
    progress[0] = stop
    return False


def can_carry(instance: Instance) -> bool:
    """Whether the channel could carry what one iteration needs, before some slot: where not, no schedule exists.

    Slots are looked at as far as it takes. O(p) for each of them.

    Examples
    --------
    >>> short = ["uudu" * 5] * 4
    >>> can_carry(Instance.from_letters(short, w=[1] * 4, tasks=4, t_data=1, n_com=1))
    False
    >>> can_carry(Instance.from_letters(short, w=[1] * 4, tasks=4, t_data=1, n_com=2))
    True
    """
    most = np.sort(np.array(instance.capacities, np.int64))[::-1]
    members = int(np.searchsorted(np.cumsum(most), instance.tasks)) + 1
    need = instance.tasks * instance.t_data + members * instance.t_prog
    born = np.zeros(instance.num_workers, np.int64)
    progress = np.zeros(2, np.int64)
    served = np.zeros(instance.slots, np.int32)
    stop = 0
    while stop < instance.slots:
        stop = min(instance.slots, max(_FIRST_SLOTS, 2 * stop))
        if _carries(instance.prefix(stop), born, served, progress, instance.channels, need, stop):
            return True
    return False
