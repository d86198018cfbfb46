"""Least costs of all states and amounts of work, slot by slot, without those that a bound rules out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Flags, Int32s, Ints
from hindsched.instances.compiling import kernel

__all__ = ["FREE", "LATCHED", "NEVER", "STEP", "STEP_OLD", "Bounds", "Layers", "Market", "Moves", "advance"]

#: The rung ``free``, and the guards.
FREE, STEP, STEP_OLD, LATCHED = 0, 1, 2, 3
#: A cost that is not reached.
NEVER = 2**62


class Moves(NamedTuple):
    """States and moves; see `hindsched.offline.deadline.state_table.StateTable`.

    Parameters
    ----------
    zone, kind, left_s, home, after, move_units
        As there.
    work
        Work of a move in multiples of the unit of work.
    """

    zone: Ints
    kind: Ints
    left_s: Ints
    home: Ints
    after: Ints
    work: Ints
    move_units: Ints


class Market(NamedTuple):
    """Spot, prices and moves between zones.

    Parameters
    ----------
    spot
        Whether spot can be had; shape (Z, N).
    units
        Units of money that a slot costs; shape (Z, 2, N).
    prices
        Micro-dollars an hour on demand; shape (Z, N).
    delay_s
        Seconds that a launch in a zone (column) takes with the checkpoint in another (row), or nowhere (last row).
    move_units
        Units of money that such a launch costs.
    """

    spot: Flags
    units: Ints
    prices: Ints
    delay_s: Ints
    move_units: Ints


class Bounds(NamedTuple):
    """What rules out a state.

    Parameters
    ----------
    phi, numerator, denominator
        See `hindsched.offline.deadline.kernels.tails.lagrangian_tails`.
    most
        See `hindsched.offline.deadline.kernels.tails.most_work`.
    """

    phi: Ints
    numerator: int
    denominator: int
    most: Ints


class Layers(NamedTuple):
    """The labels of all slots: a state before a slot, an amount of work, and the least cost of both.

    Parameters
    ----------
    first
        Before each slot, where the labels of each state begin, and in the last column where they end; (N + 1, S + 1).
    amount, cost, parent
        Of each label: work in multiples of the unit of work; cost; and state times the number of choices plus the
        choice in the slot before.
    scratch_cost, scratch_parent
        The same by state and amount of work, for the slot at hand; `NEVER` where not reached.
    best
        The cheapest complete schedule: cost, slot, state, label, and the choice; or -1 - z, on-demand in zone z from
        this slot to the end.
    """

    first: Ints
    amount: Int32s
    cost: Ints
    parent: Int32s
    scratch_cost: Ints
    scratch_parent: Int32s
    best: Ints


@kernel(allocates=True)
def advance(
    moves: Moves, market: Market, bounds: Bounds, layers: Layers, numbers: Ints, span: tuple[int, int], cutoff: int
) -> int:
    """Make the labels of the next slots; return the slot before which they end.

    The kernel stops early if there is no room for the labels of a slot.

    Parameters
    ----------
    moves, market, bounds, layers
        See the classes.
    numbers
        Guard, slot_s, work_s, overhead_s and the unit of work in seconds.
    span
        The slot whose labels are there, and the one to stop before.
    cutoff
        Costs above it are not of interest.
    """
    guard, slot_s, work_s, overhead_s, unit_s = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    slots, states, choices = market.spot.shape[1], moves.after.shape[0], moves.after.shape[1]
    enough = -(-work_s // unit_s)
    p, q = bounds.numerator, bounds.denominator
    best, scratch_cost, scratch_parent = layers.best, layers.scratch_cost, layers.scratch_parent
    low, high = np.full(states, enough), np.zeros(states, dtype=np.int64)
    for t in range(span[0], span[1]):
        for u in range(states):
            for place in range(layers.first[t, u], layers.first[t, u + 1]):
                i, paid = int(layers.amount[place]), layers.cost[place]
                forced = -1
                if guard != FREE and -(-(work_s - i * unit_s + overhead_s) // slot_s) >= slots - t:
                    if guard == LATCHED:
                        _hold(moves, market, numbers, (t, u, place, i), paid, min(cutoff, best[0] - 1), best)
                        continue
                    forced = 2
                    if moves.kind[u] == 0 and moves.left_s[u] == 0:
                        if market.spot[0, t]:
                            forced = 1
                        elif guard == STEP_OLD:
                            forced = 0
                for choice in range(choices):
                    if forced >= 0 and choice != forced:
                        continue
                    total = paid
                    if choice > 0:
                        z, k = (choice - 1) >> 1, (choice - 1) & 1
                        if k == 0 and not market.spot[z, t]:
                            continue
                        total += market.units[z, k, t] + moves.move_units[u, choice]
                    limit = min(cutoff, best[0] - 1)
                    j, v = i + moves.work[u, choice], moves.after[u, choice]
                    if total > limit:
                        continue
                    if j >= enough:
                        best[0], best[1], best[2], best[3], best[4] = total, t, u, place, choice
                        continue
                    todo_s = work_s - j * unit_s
                    if bounds.most[t + 1, v] < todo_s or q * total + p * todo_s + bounds.phi[t + 1, v] > q * limit:
                        continue
                    if total < scratch_cost[v, j]:
                        scratch_cost[v, j] = total
                        scratch_parent[v, j] = u * choices + choice
                        low[v], high[v] = min(low[v], j), max(high[v], j + 1)
        end = layers.first[t, states]
        for v in range(states):
            layers.first[t + 1, v] = end
            least = NEVER
            for j in range(high[v] - 1, low[v] - 1, -1):
                total = scratch_cost[v, j]
                scratch_cost[v, j] = NEVER
                # more work for no more cost is as good, but for a guard whose zone depends on the work left
                if total < least or (guard == LATCHED and total < NEVER):
                    least = total
                    if end < layers.amount.shape[0]:
                        layers.amount[end], layers.cost[end] = j, total
                        layers.parent[end] = scratch_parent[v, j]
                    end += 1
            low[v], high[v] = enough, 0
        layers.first[t + 1, states] = end
        if end > layers.amount.shape[0]:
            return t
    return span[1]


@kernel
def _hold(
    moves: Moves, market: Market, numbers: Ints, at: tuple[int, int, int, int], paid: int, limit: int, best: Ints
) -> None:
    """Complete a state as the guard ``latched`` does: on-demand in one zone to the end."""
    slot_s, work_s, unit_s = numbers[1], numbers[2], numbers[4]
    t, u, place, i = at
    slots = market.spot.shape[1]
    todo_s = work_s - i * unit_s
    home = moves.home[u]  # -1, without a checkpoint, is the last row
    zone, kind = moves.zone[u], moves.kind[u]
    if zone < 0 or (kind == 0 and not market.spot[zone, t]):
        zone, kind = -1, -1
        least = NEVER
        for z in range(market.spot.shape[0]):
            value = market.prices[z, t] * todo_s + market.move_units[home, z]
            if value < least:
                least, zone = value, z
    overhead_s = moves.left_s[u]
    if kind != 1:
        overhead_s = market.delay_s[home, zone]
        paid += market.move_units[home, zone]
    for s in range(t, slots):
        paid += market.units[zone, 1, s]
        if paid > limit:
            return
        todo_s -= max(0, slot_s - overhead_s)
        overhead_s = max(0, overhead_s - slot_s)
        if todo_s <= 0:
            best[0], best[1], best[2], best[3], best[4] = paid, t, u, place, -1 - zone
            return
