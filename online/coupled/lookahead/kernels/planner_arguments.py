"""Arguments of the compiled planner, in named groups."""

from __future__ import annotations

from typing import NamedTuple

from hindsched.instances.array_types import Bytes, Ints, Reals, Words
from hindsched.online.coupled.kernels.application import Application

__all__ = [
    "ABSENT",
    "CHOSEN",
    "COMPUTED",
    "HELD",
    "ITERATION",
    "KNOWN",
    "SLOT",
    "Application",
    "AttemptTables",
    "Futures",
    "PlannerArguments",
    "PlannerContext",
    "Record",
    "RunState",
    "Scratch",
]

#: Indices of ``RunState.at``: the slot, iterations and computation done, whether a plan is held, whether the plan built
#: last is still valid, and how often a plan was chosen.
SLOT, ITERATION, COMPUTED, HELD, KNOWN, CHOSEN = range(6)

#: In ``RunState.tasks``: not enrolled.
ABSENT = -1


class PlannerArguments(NamedTuple):
    """Options and settings of the planner (see `hindsched.online.coupled.lookahead.parameters`)."""

    stands_by: bool
    prefetches: bool
    exchanges: bool
    value: float


class AttemptTables(NamedTuple):
    """Tables (see `hindsched.online.coupled.lookahead.attempts.Tables`), and cached sums of sets that lack nothing.

    The key of a set is the sum of its members' labels, one for each state; so its size does not depend on p. ``sets``
    and ``sums`` are the same memory, with a line for each set: its key, then U, D and log(1 - 1 / U). A row of ``rows``
    holds the values of one set with one more member q: U, D and log(1 - 1 / U) with all UP, then U and D with q UP, and
    with q RECLAIMED. ``bases`` has the key of each row, then as bits the members q for which it is filled, UP and
    RECLAIMED.
    """

    kept: Reals  # (p, 2, 2)
    up: Reals  # (p, 2, H)
    stay: Reals  # (p, 2, H)
    rate: Reals  # (p,)
    p_plus: Reals  # (p,)
    reaches_up: Reals  # (p, 2)
    time_to_down: Reals  # (p, 2)
    powers: Reals  # (p, N + 1): p_plus ** n
    reach: Reals  # (lines, H): g(s, 0, t) of all workers, then tables of g(s, n, t) of some of them
    reach_places: Ints  # (p, 2): the first line of the table of a worker and state, -1 for none
    reach_filled: Ints  # (p, 2): the largest n for which it is filled
    num_lines: Ints  # (1,): the number of lines that are filled
    labels: Words  # (p, 2, 2): two random numbers for each worker and state
    sets: Words  # (lines, 8)
    sums: Reals  # (lines, 8)
    bases: Words  # (rows, 2 + 2 words)
    rows: Reals  # (rows, 7, p)


class Scratch(NamedTuple):
    """Work arrays."""

    able: Ints  # workers that may hold tasks
    able_set: Words  # the same as bits
    reclaimed_set: Words  # those of them that are RECLAIMED
    joins: Reals  # (p,): the probability that each of them is ever UP with all it lacks for one task; 1 for members
    longer: Ints  # (p,): slots of work with one more task
    near: Ints  # (p,): 1 for workers whose J may be the least
    base: Ints  # members of the present plan, and one that may join it
    who: Ints  # members of the present set
    state: Ints
    need: Ints
    zeros: Ints  # (p,): states and needs of members that are UP and lack nothing
    guess: Ints  # (m,): the winner of each step of the last build
    reach: Reals  # (H,): the product of the members' g
    other: Reals
    products: Reals  # (4, H): of the members' g and nd, all of them UP, then in their states
    built: Ints  # (p,): tasks of the configuration built last
    tried: Ints  # (p,)
    best: Ints  # (p,)
    cost: Reals  # (1,): its J
    now: Ints  # (p,): states
    eligible: Ints  # states of workers that may hold tasks, -1 of others
    seen: Ints  # the same when a configuration was built last
    order: Ints  # workers to serve
    chosen: Ints  # (p,): 1 for these
    fastest: Ints  # workers, the fastest first
    requested: Ints  # x_q of the configuration to enrol


class PlannerContext(NamedTuple):
    """The arguments that all kernels of the planner share."""

    application: Application
    options: PlannerArguments
    tables: AttemptTables
    scratch: Scratch


class RunState(NamedTuple):
    """The state of a run between two calls."""

    at: Ints
    tasks: Ints  # x_q, -1: not enrolled
    plan: Ints  # y_q, tasks of the plan held
    program: Ints
    data: Ints
    expected: Reals  # (1,): expected number of completed iterations (see `planner_kernels.run`)


class Futures(NamedTuple):
    """Sampled futures, the plans that are compared on them, and the simulated run."""

    total: int  # number of futures
    states: Bytes  # (p, H): of the present future
    drawn: Ints  # (1,): the number of its slots drawn so far
    random: Words  # (1,): the state of its random numbers
    moves: Reals  # (p, 3, 2): P_xu and P_xu + P_xr
    factors: Reals  # factors of V for which plans are built
    plans: Ints  # (1 + factors, p)
    values: Reals  # (1 + factors,)
    run_state: RunState
    scratch: Scratch


class Record(NamedTuple):
    """The schedule of the first slots."""

    letters: Bytes  # (slots, p)
    tasks: Ints  # (slots, p): x_q of a new configuration
    is_new: Bytes  # (slots,)
