"""What the kernels of the simulator are handed, in groups."""

from __future__ import annotations

from typing import NamedTuple

from hindsched.instances.array_types import Bytes, Ints, Reals, Words
from hindsched.online.coupled.kernels.application import Application

__all__ = [
    "BY_AY",
    "BY_E",
    "BY_P",
    "BY_Y",
    "COMPUTED",
    "ENTRIES",
    "ITERATION",
    "ITERATION_START",
    "NUMBERS",
    "PASSIVE",
    "RANDOM",
    "SLOT",
    "Application",
    "Choice",
    "Plans",
    "Record",
    "Standing",
    "States",
    "Tables",
    "Trace",
]

#: Criteria by number.
BY_P, BY_E, BY_Y, BY_AY = range(4)
#: Values of ``Choice.switch`` that are no criterion: choose only when there is no complete configuration.
PASSIVE, RANDOM = -1, -2

#: Places in ``Standing.at``.
SLOT, ITERATION, ITERATION_START, COMPUTED, ENTRIES, NUMBERS = range(6)


class Choice(NamedTuple):
    """The heuristic and its options."""

    switch: int  # criterion of a proactive heuristic; or PASSIVE, RANDOM
    build: int  # criterion of the builder
    estimator: int  # place in ESTIMATORS
    highest: bool
    service: int  # place in SERVICES
    keeps_value: bool  # see `hindsched.online.coupled.options.Comparison`
    is_fresh: bool


class Tables(NamedTuple):
    """What the estimates remember of the chains (see `hindsched.online.coupled.kernels.estimate_kernels`)."""

    modes: Reals  # (p, 4), sorted
    order: Ints  # the workers in that order
    single: Reals  # (p, 4): p_plus, log_p_plus, e_c, e_given_success of each worker
    matrices: Reals  # (p, 4)
    sets: Reals  # (2^k, 4)
    keys: Words  # the same as words
    num_sets: Ints  # (1,)
    not_down_slots: Reals
    not_down: Reals
    stays: Reals  # exp(not_down)
    alone: Reals  # (p, n)


class Plans(NamedTuple):
    """The tree of partial configurations; row i is a node, row 0 the empty configuration."""

    num_nodes: Ints  # (1,)
    child: Ints  # (n, p): the node with one more task on worker q, -1 where there is none yet
    success: Reals  # (n, p): P_plus^(W-1) with one more task on worker q
    duration: Reals  # (n, p): E(W) with it, nan where neither is known yet
    members: Words  # (n,)
    work: Ints  # (n,): W


class Trace(NamedTuple):
    """The last build, step by step: what was known before step k, who won and how."""

    worker: Ints
    clear: Reals  # what no other worker reaches and the winner exceeds, up to the horizon
    lowest: Reals  # the longest transfer of those chosen before, at the horizon, at the least
    node: Ints
    num_holders: Ints
    holders: Ints  # (p,): workers in the order in which they got their first task
    built: Ints  # (p,): tasks
    firm: Ints  # (1,): the first step of which nothing is promised
    close: Words  # (1,): workers whose leaving may change what is built
    workers: Ints  # scratch: free UP workers
    before: Ints  # scratch: what each has to receive for its tasks so far
    need: Ints  # scratch: and with one more
    alone: Reals  # scratch: how long that takes
    low: Reals  # scratch: and at the horizon, at the least


class States(NamedTuple):
    """The states as bit masks, slot by slot, as far as they are drawn."""

    up: Words
    down: Words


class Standing(NamedTuple):
    """Where a run stands between two calls."""

    at: Ints
    tasks: Ints
    program: Ints
    data: Ints
    need: Ints  # what a member still has to receive
    holders: Ints  # scratch
    kept: Reals  # (1,): what the configuration held was worth when it was chosen


class Record(NamedTuple):
    """The schedule of the first slots."""

    letters: Bytes  # (slots, p)
    entries: Ints  # slot, workers enrolled, then worker and tasks of each
