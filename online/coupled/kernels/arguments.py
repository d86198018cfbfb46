"""Arguments of the compiled simulator, in named groups."""

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
    "PASSIVE",
    "RANDOM",
    "RANDOM_USED",
    "SLOT",
    "Application",
    "BuildContext",
    "BuildTrace",
    "ConfigurationTree",
    "Heuristic",
    "Record",
    "RunState",
    "States",
    "Tables",
]

#: Criteria by number.
BY_P, BY_E, BY_Y, BY_AY = range(4)
#: Values of ``Heuristic.switch`` that are no criterion: choose only if there is no complete configuration.
PASSIVE, RANDOM = -1, -2

#: Indices of ``RunState.at``.
SLOT, ITERATION, ITERATION_START, COMPUTED, ENTRIES, RANDOM_USED = range(6)


class Heuristic(NamedTuple):
    """The heuristic and its options."""

    switch: int  # criterion of a proactive heuristic; or PASSIVE, RANDOM
    build: int  # criterion of the builder
    estimator: int  # index in ESTIMATORS
    highest: bool
    service: int  # index in SERVICES
    keeps_value: bool  # see `hindsched.online.coupled.options.Comparison`
    is_fresh: bool


class Tables(NamedTuple):
    """Cached estimates for one set of chains (see `hindsched.online.coupled.kernels.estimate_kernels`)."""

    modes: Reals  # (p, 4), sorted
    order: Ints  # the workers in that order
    single: Reals  # (p, 4): p_plus, log_p_plus, e_c, e_given_success of each worker
    matrices: Reals  # (p, 4)
    sets: Reals  # (2^k, 4)
    keys: Words  # the same memory as words
    num_sets: Ints  # (1,)
    not_down_slots: Reals
    not_down: Reals
    stays: Reals  # exp(not_down)
    alone: Reals  # (p, n)


class ConfigurationTree(NamedTuple):
    """The tree of partial configurations; row i is a node, row 0 the empty configuration."""

    num_nodes: Ints  # (1,)
    child: Ints  # (n, p): the node with one more task on worker q, -1 if there is none yet
    success: Reals  # (n, p): P_plus^(W-1) with one more task on worker q
    duration: Reals  # (n, p): E(W) with one more task on worker q, nan if neither is known yet
    members: Words  # (n,)
    work: Ints  # (n,): W


class BuildTrace(NamedTuple):
    """The steps of the last build: the state before step k, its winner and the guarantee for it."""

    worker: Ints
    clear: Reals  # a value between the winner's criterion and that of all others, up to the horizon
    lowest: Reals  # a lower bound on the longest transfer of the holders at the horizon
    node: Ints
    num_holders: Ints
    holders: Ints  # (p,): workers in the order of their first task
    built: Ints  # (p,): tasks
    guaranteed: Ints  # (1,): the number of steps that have a guarantee
    close: Words  # (1,): workers whose departure may change the result
    workers: Ints  # scratch: free UP workers
    before: Ints  # scratch: what each has to receive for its tasks so far
    need: Ints  # scratch: what each has to receive with one more task
    alone: Reals  # scratch: expected slots of that transfer
    low: Reals  # scratch: a lower bound on it at the horizon


class BuildContext(NamedTuple):
    """The arguments that every step of a build shares."""

    application: Application
    heuristic: Heuristic
    tables: Tables
    tree: ConfigurationTree
    trace: BuildTrace


class States(NamedTuple):
    """The states drawn so far, as bit sets of workers, slot by slot."""

    up: Words
    down: Words


class RunState(NamedTuple):
    """The state of a run between two calls."""

    at: Ints
    tasks: Ints
    program: Ints
    data: Ints
    need: Ints  # what a member still has to receive
    holders: Ints  # scratch
    kept: Reals  # (1,): the score of the configuration held when it was chosen


class Record(NamedTuple):
    """The schedule of the first slots."""

    letters: Bytes  # (slots, p)
    entries: Ints  # slot, number of enrolled workers, then worker and tasks of each
