"""What the kernels of our own policies are handed, in groups."""

from __future__ import annotations

from typing import NamedTuple

from online.coupled.kernels.application import Application
from online.coupled.ours.kernels.compiling import Bytes, Ints, Reals, Words

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
    """A policy of ours (see `online.coupled.ours.rules.Rules`)."""

    stands_by: bool
    prefetches: bool
    exchanges: bool
    value: float


class Chances(NamedTuple):
    """Tables (see `online.coupled.ours.chances.Tables`), and sums of fresh sets that are remembered."""

    reach: Reals  # (p, 2, N + 1, H)
    stay: Reals  # (p, 2, H)
    rate: Reals  # (p,)
    again: Reals  # (p,)
    back: Reals  # (p, 2)
    life: Reals  # (p, 2)
    keys: Words  # (places, 2): members of a set, and who of them is RECLAIMED, as bits
    sums: Reals  # (places, 3): U, D and log(1 - 1 / U) of the set, lacking nothing


class Scratch(NamedTuple):
    """Room to work in."""

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
    ask: Ints  # x_q that is asked for


class Standing(NamedTuple):
    """Where a run stands between two calls."""

    at: Ints
    tasks: Ints  # x_q, -1: not enrolled
    plan: Ints  # y_q, tasks of the plan held
    program: Ints
    data: Ints


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
