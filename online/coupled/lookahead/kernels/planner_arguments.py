"""What the kernels of our own policies are handed, in groups."""

from __future__ import annotations

from typing import NamedTuple

from hindsched.instances.array_types import Bytes, Ints, Reals, Words
from hindsched.online.coupled.kernels.application import Application

__all__ = [
    "CHOSEN",
    "COMPUTED",
    "HELD",
    "ITERATION",
    "KNOWN",
    "NOBODY",
    "SLOT",
    "Application",
    "Chances",
    "Futures",
    "Record",
    "Rules",
    "Scratch",
    "Standing",
]

#: Places in ``Standing.at``: the slot, iterations and computation done, whether a plan is held, whether what was built
#: last would be built again, and how often a plan was chosen.
SLOT, ITERATION, COMPUTED, HELD, KNOWN, CHOSEN = range(6)

#: In ``Standing.tasks``: not enrolled.
NOBODY = -1


class Rules(NamedTuple):
    """A policy of ours (see `hindsched.online.coupled.lookahead.parameters.Rules`)."""

    stands_by: bool
    prefetches: bool
    exchanges: bool
    value: float


class Chances(NamedTuple):
    """Tables (see `hindsched.online.coupled.lookahead.attempts.Tables`), and cached sums of sets that lack nothing.

    A set is two words of bits: its members, and who of them is RECLAIMED. ``sets`` and ``sums`` are the same memory, a
    line for each set: the two words, then U, D and log(1 - 1 / U). A row holds what becomes of one set with one more
    member q: the U, D and log(1 - 1 / U) of all UP, then U and D with q UP, and with q RECLAIMED; ``bases`` has the set
    and for which q the row was filled, UP and RECLAIMED.
    """

    reach: Reals  # (p, 2, N + 1, H)
    stay: Reals  # (p, 2, H)
    rate: Reals  # (p,)
    again: Reals  # (p,)
    back: Reals  # (p, 2)
    life: Reals  # (p, 2)
    powers: Reals  # (p, N + 1): again ** n
    sets: Words  # (places, 8)
    sums: Reals  # (places, 8)
    bases: Words  # (rows, 4)
    rows: Reals  # (rows, 7, p)


class Scratch(NamedTuple):
    """Room to work in."""

    able: Ints  # those that may hold tasks
    joins: Reals  # (p,): the chance of each of them to be UP with all that it lacks for one task, 1 for members
    longer: Ints  # (p,): slots of work with one more task
    who: Ints  # members of the set looked at
    state: Ints
    need: Ints
    guess: Ints  # (m,): who won each step of the last build
    reach: Reals  # (H,): the product of the members' g
    other: Reals
    built: Ints  # (p,): tasks of the configuration built last
    tried: Ints  # (p,)
    best: Ints  # (p,)
    worth: Reals  # (1,): its J
    now: Ints  # (p,): states
    eligible: Ints  # those of workers that may hold tasks, -1 of others
    seen: Ints  # the same when a configuration was built last
    order: Ints  # who is served
    chosen: Ints  # (p,): 1 for these
    fastest: Ints  # workers, the fastest first
    ask: Ints  # x_q that is asked for


class Standing(NamedTuple):
    """Where a run stands between two calls."""

    at: Ints
    tasks: Ints  # x_q, -1: not enrolled
    plan: Ints  # y_q, tasks of the plan held
    program: Ints
    data: Ints
    expected: (
        Reals  # (1,): iterations to be expected (see `hindsched.online.coupled.lookahead.kernels.planner_kernels.run`)
    )


class Futures(NamedTuple):
    """Sampled futures, and the plans that are compared on them."""

    total: int  # how many are drawn
    states: Bytes  # (p, H): of the future at hand
    drawn: Ints  # (1,): how many slots of it
    random: Words  # (1,): the state of its random numbers
    moves: Reals  # (p, 3, 2): P_xu and P_xu + P_xr
    factors: Reals  # of V, for which plans are built
    plans: Ints  # (1 + factors, p)
    values: Reals  # (1 + factors,)


class Record(NamedTuple):
    """The schedule of the first slots."""

    letters: Bytes  # (slots, p)
    tasks: Ints  # (slots, p): x_q of a new configuration
    is_new: Bytes  # (slots,)
