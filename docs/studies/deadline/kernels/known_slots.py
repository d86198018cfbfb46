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
    most = work.max()
    kept = np.zeros((keep + 1, states, amounts))
    # amounts from ``left`` on cost nothing more
    later, now = np.zeros((states, amounts + most)), np.zeros((states, amounts + most))
    later[:, :amounts] = terminal
    if keep == slots:
        kept[keep] = terminal
    for t in range(slots - 1, -1, -1):
        end = min(amounts, left, t * most + 1)
        for u in range(states):
            now[u, :end] = later[after[u, 0], :end]
            for choice in range(1, 3):
                if choice == 1 and not spot[t]:
                    continue
                paid, made = units[choice - 1, t], later[after[u, choice], work[u, choice] :]
                for amount in range(end):
                    now[u, amount] = min(now[u, amount], paid + made[amount])
        later, now = now, later
        if t <= keep:
            kept[t] = later[:, :amounts]
    return kept
