"""Least costs in known slots, from the last one to the first."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Flags, Ints, Reals
from hindsched.instances.compiling import kernel

__all__ = ["least_costs"]


@kernel(allocates=True)
def least_costs(moves: tuple[Ints, Ints], spot: Flags, units: Ints, terminal: Reals, left: int, keep: int) -> Reals:
    """Return the least cost from each of the first slots on; shape (keep + 1, states, amounts).

    Parameters
    ----------
    moves
        State after a slot, and work in multiples of the unit of work, by state and choice.
    spot, units
        Whether spot can be had, and units of money of spot and on-demand, in each of n known slots; (n,) and (2, n).
    terminal
        Cost of what follows them, by state and amount of work done in them; shape (states, amounts).
    left
        Amount of work that is left before them.
    keep
        Slots whose costs are returned, and those of the slot after them.
    """
    after, work = moves
    slots, (states, amounts) = len(spot), terminal.shape
    kept = np.zeros((keep + 1, states, amounts))
    later, now = terminal.copy(), np.zeros((states, amounts))
    if keep == slots:
        kept[keep] = terminal
    most = work.max()
    for t in range(slots - 1, -1, -1):
        for u in range(states):
            for amount in range(amounts):
                if amount >= left:
                    now[u, amount] = 0.0
                    continue
                if amount > t * most:
                    break
                least = np.inf
                for choice in range(3):
                    if choice == 1 and not spot[t]:
                        continue
                    value = later[after[u, choice], min(amounts - 1, amount + work[u, choice])]
                    if choice > 0:
                        value += units[choice - 1, t]
                    least = min(least, value)
                now[u, amount] = least
        later, now = now, later
        if t <= keep:
            kept[t] = later
    return kept
