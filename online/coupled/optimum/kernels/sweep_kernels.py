"""Compiled sweeps over the states of the on-line optimum: expectations, attempts to compute, and choices of service.

``values`` are the expected slots to go from preparing states. The value of a computing state is stored as its gain over
preparing from the same state of the workers, a number <= 0: abandoning the attempt has gain 0, and a change of all
values by the same amount changes nothing else.
"""

from __future__ import annotations

from typing import NamedTuple

from hindsched.instances.array_types import Int32s, Ints, Reals
from hindsched.instances.compiling import kernel

__all__ = ["CHECK", "STEP", "SWEEP", "AttemptStates", "Others", "Preparing", "attempt", "expect", "prepare", "settle"]

#: Modes of a pass: update values at once, only compare, or take one step of a finite horizon.
SWEEP, CHECK, STEP = 0, 1, 2


class AttemptStates(NamedTuple):
    """The states of one attempt (see `hindsched.online.coupled.optimum.state_space`).

    Parameters
    ----------
    gains
        Gain of each state, ``levels`` x patterns x block.
    levels
        Numbers of slots left: 1 to ``levels``.
    offset, patterns, block
        The numbers of its states of the workers.
    number
        The index of the attempt.
    """

    gains: Reals
    levels: int
    offset: int
    patterns: Ints
    block: Ints
    number: int


class Others(NamedTuple):
    """The chains of the workers of an attempt.

    Parameters
    ----------
    loads, chains
        Largest loads and chains of the workers that are no members.
    members
        Chains of the members.
    stays
        For each state in the block, the probability that no other worker leaves its state. A suspended attempt is most
        often suspended again in the same state: a sweep solves for its value instead of using the old one.
    """

    loads: Ints
    chains: Reals
    members: Reals
    stays: Reals


class Preparing(NamedTuple):
    """Values of the preparing states.

    Parameters
    ----------
    values, expected
        Expected slots to go, and their expectation over the next states without service.
    done
        Expected slots to go after an iteration that ends in this slot.
    slot
        The cost of a slot.
    starts, which
        The least value of a start in each state, and the index of its attempt.
    """

    values: Reals
    expected: Reals
    done: Reals
    slot: float
    starts: Reals
    which: Int32s


@kernel
def expect(values: Reals, start: int, loads: Ints, chains: Reals) -> None:
    """Replace values of next states by their expectation from the present states.

    Parameters
    ----------
    values
        From ``start`` on, one per joint state of the workers; changed in place.
    loads
        Largest load of each worker; its states are numbered as in `hindsched.online.coupled.optimum.state_space`.
    chains
        Chains of the workers, shape (workers, 3, 3).
    """
    num = loads.size
    if num == 0:
        return
    size = 1
    for place in range(num):
        size *= 2 * loads[place] + 3
    after = 1
    for place in range(num - 1, -1, -1):
        levels = loads[place] + 1
        length = 2 * levels + 1
        uu, ur, ud = chains[place, 0, 0], chains[place, 0, 1], chains[place, 0, 2]
        ru, rr, rd = chains[place, 1, 0], chains[place, 1, 1], chains[place, 1, 2]
        du, dr, dd = chains[place, 2, 0], chains[place, 2, 1], chains[place, 2, 2]
        for before in range(size // (length * after)):
            row = start + before * length * after
            up = row + after
            taken = up + levels * after
            if after == 1:
                down = values[row]
                values[row] = du * values[up] + dr * values[taken] + dd * down
                for load in range(levels):
                    u = values[up + load]
                    r = values[taken + load]
                    values[up + load] = uu * u + ur * r + ud * down
                    values[taken + load] = ru * u + rr * r + rd * down
                continue
            for load in range(levels - 1, 0, -1):
                for i in range(after):
                    down = values[row + i]
                    u = values[up + load * after + i]
                    r = values[taken + load * after + i]
                    values[up + load * after + i] = uu * u + ur * r + ud * down
                    values[taken + load * after + i] = ru * u + rr * r + rd * down
            for i in range(after):
                down = values[row + i]
                u = values[up + i]
                r = values[taken + i]
                values[row + i] = du * u + dr * r + dd * down
                values[up + i] = uu * u + ur * r + ud * down
                values[taken + i] = ru * u + rr * r + rd * down
        after *= length


@kernel
def expect_members(values: Reals, block: int, chains: Reals) -> None:
    """Do the same for members; states in which a member is DOWN have gain 0."""
    patterns = values.size // block
    for place in range(chains.shape[0]):
        bit = 1 << place
        uu, ur = chains[place, 0, 0], chains[place, 0, 1]
        ru, rr = chains[place, 1, 0], chains[place, 1, 1]
        for pattern in range(patterns):
            if pattern & bit:
                continue
            up = pattern * block
            taken = (pattern | bit) * block
            for i in range(block):
                u = values[up + i]
                r = values[taken + i]
                values[up + i] = uu * u + ur * r
                values[taken + i] = ru * u + rr * r


@kernel
def attempt(states: AttemptStates, others: Others, preparing: Preparing, room: Reals, spare: Reals, mode: int) -> float:
    """Sweep once through the states of one attempt, from the fewest slots left to the most; return the largest change.

    Parameters
    ----------
    states, others
        The attempt.
    preparing
        ``starts`` and ``which`` are updated if a start of this attempt is better.
    room, spare
        Work arrays of patterns x block, and of block, numbers.
    mode
        `SWEEP`, `CHECK` (change nothing), or `STEP`: the gains then refer to the values before the step and may be > 0.
    """
    gains, levels, offset, patterns, block, number = states
    loads, chains, members, stays = others
    values, expected, done, slot, starts, which = preparing
    size = block.size
    whole = patterns.size * size
    change = 0.0
    for left in range(1, levels + 2):
        first = (left - 1) * whole
        for i in range(size):
            state = offset + block[i]
            if left == 1:
                going_on = slot + done[state] - values[state]
            else:
                going_on = slot + expected[state] - values[state] + room[i]
            if left == levels + 1:
                if values[state] + going_on < starts[state]:
                    starts[state] = values[state] + going_on
                    which[state] = number
            elif mode == STEP:
                spare[i] = going_on
            else:
                better = min(going_on, 0.0)
                change = max(change, abs(better - gains[first + i]))
                if mode == SWEEP:
                    gains[first + i] = better
        if left == levels + 1:
            break
        for i in range(whole):
            room[i] = gains[first + i]
        for pattern in range(patterns.size):
            expect(room, pattern * size, loads, chains)
        expect_members(room, size, members)
        for pattern in range(1, patterns.size):
            at = offset + patterns[pattern]
            stay = 1.0
            for member in range(members.shape[0]):
                x = pattern >> member & 1
                stay *= members[member, x, x]
            for i in range(size):
                state = at + block[i]
                waiting = slot + expected[state] - values[state] + room[pattern * size + i]
                j = first + pattern * size + i
                if mode == STEP:
                    gains[j] = waiting
                    continue
                if mode == SWEEP and stay * stays[i] < 1.0:
                    waiting = (waiting - stay * stays[i] * gains[j]) / (1.0 - stay * stays[i])
                better = min(waiting, 0.0)
                change = max(change, abs(better - gains[j]))
                if mode == SWEEP:
                    gains[j] = better
        if mode == STEP:
            for i in range(size):
                gains[first + i] = spare[i]
    return change


@kernel
def settle(gains: Reals, offset: int, patterns: Ints, block: Ints, before: Reals, after: Reals) -> None:
    """End a step: make gains refer to the values after it, at most 0."""
    size = block.size
    whole = patterns.size * size
    for first in range(0, gains.size, whole):
        for pattern in range(patterns.size):
            at = offset + patterns[pattern]
            for i in range(size):
                state = at + block[i]
                j = first + pattern * size + i
                gains[j] = min(gains[j] + before[state] - after[state], 0.0)


@kernel
def prepare(preparing: Preparing, kinds: Int32s, first: Ints, steps: Ints, chosen: Int32s, mode: int) -> float:
    """Set every preparing state to the least value of a start and of each service; return the largest change.

    Parameters
    ----------
    preparing
        The values; they are changed in place.
    kinds, first, steps
        The services (see `hindsched.online.coupled.optimum.state_space.Space.services`).
    chosen
        Written: the best service of each state, -1 for a start; of length 0 if it is not needed.
    mode
        `CHECK` changes no value.
    """
    values, expected, _, slot, starts, _ = preparing
    change = 0.0
    for state in range(values.size):
        least = starts[state]
        best = -1
        for j in range(first[kinds[state]], first[kinds[state] + 1]):
            value = slot + expected[state + steps[j]]
            if value < least:
                least = value
                best = j
        change = max(change, abs(least - values[state]))
        if mode != CHECK:
            values[state] = least
        if chosen.size:
            chosen[state] = best
    return change
