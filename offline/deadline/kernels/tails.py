"""Least Lagrangian costs and largest amounts of work of all tails, slot by slot from the end."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Flags, Ints
from hindsched.instances.compiling import kernel

__all__ = ["lagrangian_tails", "most_work", "work_of_minimiser"]


@kernel(allocates=True)
def lagrangian_tails(
    after: Ints, work_s: Ints, move_units: Ints, spot: Flags, units: Ints, numerator: int, denominator: int
) -> Ints:
    """Return for each slot and state the least q cost - p work of the slots from it on; shape (N + 1, states).

    Parameters
    ----------
    after, work_s, move_units
        See `hindsched.offline.deadline.state_table.StateTable`.
    spot
        Whether spot can be had; shape (Z, N).
    units
        Units of money that a slot costs; shape (Z, 2, N).
    numerator, denominator
        p and q.
    """
    slots, states, choices = spot.shape[1], after.shape[0], after.shape[1]
    phi = np.zeros((slots + 1, states), dtype=np.int64)
    for t in range(slots - 1, -1, -1):
        for u in range(states):
            least = phi[t + 1, after[u, 0]]
            for choice in range(1, choices):
                z, k = (choice - 1) >> 1, (choice - 1) & 1
                if k == 0 and not spot[z, t]:
                    continue
                value = denominator * (units[z, k, t] + move_units[u, choice])
                value += phi[t + 1, after[u, choice]] - numerator * work_s[u, choice]
                least = min(least, value)
            phi[t, u] = least
    return phi


@kernel
def work_of_minimiser(
    after: Ints, work_s: Ints, move_units: Ints, spot: Flags, units: Ints, numerator: int, denominator: int, phi: Ints
) -> int:
    """Return the work of a schedule that attains phi[0, 0]; of several choices in a slot it takes that of most work."""
    slots, choices = spot.shape[1], after.shape[1]
    u = total_s = 0
    for t in range(slots):
        best = -1
        for choice in range(choices):
            value = phi[t + 1, after[u, choice]] - numerator * work_s[u, choice]
            if choice > 0:
                z, k = (choice - 1) >> 1, (choice - 1) & 1
                if k == 0 and not spot[z, t]:
                    continue
                value += denominator * (units[z, k, t] + move_units[u, choice])
            if value == phi[t, u] and (best < 0 or work_s[u, choice] > work_s[u, best]):
                best = choice
        total_s += work_s[u, best]
        u = after[u, best]
    return total_s


@kernel(allocates=True)
def most_work(after: Ints, work_s: Ints, spot: Flags) -> Ints:
    """Return for each slot and state the most seconds of work in the slots from it on; shape (N + 1, states)."""
    slots, states, choices = spot.shape[1], after.shape[0], after.shape[1]
    most = np.zeros((slots + 1, states), dtype=np.int64)
    for t in range(slots - 1, -1, -1):
        for u in range(states):
            best = most[t + 1, after[u, 0]]
            for choice in range(1, choices):
                z, k = (choice - 1) >> 1, (choice - 1) & 1
                if k == 1 or spot[z, t]:
                    best = max(best, work_s[u, choice] + most[t + 1, after[u, choice]])
            most[t, u] = best
    return most
