"""Arguments of the compiled simulator, in named groups."""

from __future__ import annotations

from typing import NamedTuple

from hindsched.instances.array_types import Bytes, Int32s, Ints, Reals, Words
from hindsched.online.coupled.criteria import Criterion
from hindsched.online.coupled.estimates import ESTIMATORS
from hindsched.online.coupled.kernels.application import Application
from hindsched.online.coupled.options import RunOptions, Service, Ties

__all__ = [
    "BY_AY",
    "BY_E",
    "BY_P",
    "BY_Y",
    "COMPUTED",
    "ENTRIES",
    "ITERATION",
    "ITERATION_START",
    "NUM_HOLDERS",
    "PASSIVE",
    "RANDOM",
    "RANDOM_USED",
    "SLOT",
    "Application",
    "BoundTables",
    "BuildContext",
    "BuildTrace",
    "ConfigurationTree",
    "Heuristic",
    "Record",
    "RunState",
    "States",
    "Tables",
    "heuristic_of",
]

#: Criteria by number.
BY_P, BY_E, BY_Y, BY_AY = range(4)
#: Values of ``Heuristic.switch`` that are no criterion: choose only if there is no complete configuration.
PASSIVE, RANDOM = -1, -2

#: Indices of ``RunState.at``.
SLOT, ITERATION, ITERATION_START, COMPUTED, ENTRIES, RANDOM_USED, NUM_HOLDERS = range(7)


class Heuristic(NamedTuple):
    """The heuristic and its options."""

    switch: int  # criterion of a proactive heuristic; or PASSIVE, RANDOM
    build: int  # criterion of the builder
    estimator: int  # index in ESTIMATORS
    highest: bool
    service: int  # index in SERVICES
    keeps_value: bool  # see `hindsched.online.coupled.options.Comparison`
    is_fresh: bool


def heuristic_of(switch: Criterion | None, build: Criterion | None, options: RunOptions) -> Heuristic:
    """Return the argument for a heuristic that switches and builds by criteria (`policies.criteria_of`)."""
    criteria = list(Criterion)
    return Heuristic(
        switch=criteria.index(switch) if switch else PASSIVE if build else RANDOM,
        build=criteria.index(build) if build else 0,
        estimator=ESTIMATORS.index(options.estimator),
        highest=options.ties is Ties.HIGHEST,
        service=list(Service).index(options.service),
        keeps_value=options.comparison.keeps_value and switch is not None,
        is_fresh=options.comparison.is_fresh,
    )


class Tables(NamedTuple):
    """Cached estimates for one set of chains (see `hindsched.online.coupled.kernels.estimate_kernels`)."""

    modes: Reals  # (p, 4), sorted
    ranks: Ints  # (p,): the row of each worker in it
    labels: Words  # (p, 2): random numbers, equal for workers with equal modes
    single: Reals  # (p, 4): p_plus, log_p_plus, e_c, e_given_success of each worker
    matrices: Reals  # (p, 4)
    sets: Reals  # (2^k, 5)
    keys: Words  # the same memory as words
    num_sets: Ints  # (1,)
    not_down_slots: Reals
    not_down: Reals
    stays: Reals  # exp(not_down)
    alone: Reals  # (p, n)
    bounds: BoundTables


class BoundTables(NamedTuple):
    """What the bounds on estimates need (see `hindsched.online.coupled.kernels.bound_kernels`)."""

    chances: Reals  # (p, T): p(t) of each worker for t = 1 to T
    powers: Reals  # (J, T): z^t for J numbers z, from 1 down to 0
    logs: Reals  # (J,): log z
    decays: Reals  # (p,): -log of the larger eigenvalue of each worker
    segments: Ints  # (p, 2): the numbers z on both sides of each eigenvalue of a worker: this one and the next
    shares: Reals  # (p, 2, 4): weights of G at the two, and of its derivative at the next two
    product: Reals  # scratch, (2, T)


class ConfigurationTree(NamedTuple):
    """The tree of partial configurations; row i is a node, row 0 the empty configuration."""

    num_nodes: Ints  # (1,)
    child: Int32s  # (n, p): the node with one more task on worker q, -1 if there is none yet
    success: Reals  # (n, p): P_plus^(W-1) with one more task on worker q, or an upper bound
    duration: Reals  # (n, p): E(W) with one more task on worker q; minus a lower bound; nan if neither is known yet
    key: Words  # (n, 2): the sum of the members' labels
    work: Ints  # (n,): W
    sums: Reals  # (n, 2, J): upper bounds on the generating function, lower bounds on its derivative; nan: unknown


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
    chosen: Words  # the holders as a set
    close: Words  # workers whose departure may change the result
    known_up: Words  # workers that were UP
    enrolled: Words  # workers that were enrolled when the trace was made
    workers: Ints  # scratch: free UP workers


class BuildContext(NamedTuple):
    """The arguments that every step of a build shares."""

    application: Application
    heuristic: Heuristic
    tables: Tables
    tree: ConfigurationTree
    trace: BuildTrace


class States(NamedTuple):
    """The states drawn so far, as sets of workers, slot by slot."""

    up: Words  # (slots, words)
    down: Words  # (slots, words)


class RunState(NamedTuple):
    """The state of a run between two calls."""

    at: Ints
    tasks: Ints
    program: Ints
    data: Ints
    need: Ints  # what a member still has to receive
    holders: Ints  # the workers of the configuration held, in increasing order, also those that failed since
    members: Words  # those that did not
    lacking: Words  # members that still need program or data
    received: Words  # workers that hold some of either
    waiting: Ints  # scratch
    key: Words  # (2,): the sum of the holders' labels
    kept: Reals  # (1,): the score of the configuration held when it was chosen


class Record(NamedTuple):
    """The schedule of the first slots."""

    letters: Bytes  # (p, slots)
    entries: Ints  # slot, number of enrolled workers, then worker and tasks of each
