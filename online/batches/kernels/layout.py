"""What the kernels are handed, in groups; all times are integers, 32 bits where there are many."""

from __future__ import annotations

from typing import NamedTuple

from online.batches.kernels.compiling import Ints, Reals, Shorts

__all__ = [
    "BATCH",
    "CALLS",
    "CONTACTS",
    "COPIES",
    "ENDS",
    "HISTORY",
    "NEVER",
    "NUMBERS",
    "PERIOD",
    "PERIODS",
    "PLANNED",
    "SHIFT",
    "SPEED",
    "TOO_LARGE",
    "UNFINISHED",
    "UNSENT",
    "Ends",
    "Record",
    "Rules",
    "State",
    "World",
]

#: Later than any second.
NEVER = 2**31 - 1
#: Calls and ends are kept as time * 2^SHIFT + worker.
SHIFT = 31

#: Predictors by number.
COPIES, SPEED, HISTORY = range(3)

#: Places in ``State.at``; the last is how many there are.
CALLS, ENDS, CONTACTS, PERIODS, BATCH, UNSENT, PLANNED, PERIOD, UNFINISHED, TOO_LARGE, NUMBERS = range(11)


class World(NamedTuple):
    """The instance, as far as the run needs it."""

    ups: Shorts  # (n, 2)
    low: Ints  # (W,): the first row of each worker
    high: Ints  # (W,): the first row after its last
    c: Ints
    firsts: Ints  # first available seconds
    submissions: Ints
    deadlines: Ints
    last_calls: Ints
    margins: Ints
    tasks: int
    start: int
    end: int
    is_reliable: bool


class Rules(NamedTuple):
    """The master and the readings."""

    algorithm: int  # 1, 2, 3
    predictor: int
    is_shifting: bool
    drops: bool
    waits: bool
    hears_at_contact: bool
    counts_connections: bool
    copies: int
    replays: int
    requests: int  # lambda
    double_mean: float  # 2.0 * mean C


class State(NamedTuple):
    """Where a run stands."""

    at: Ints
    calls: Ints  # a heap of next contacts
    place: Ints  # (W,): the interval of each worker's next contact
    busy: Ints  # (W,): when its queue ends
    busy_place: Ints  # (W,): in which interval
    last: Ints  # (W,): its last contact
    head: Ints  # (W,): its first task, by contact, of whose end the master has not heard; -1 if none
    tail: Ints  # (W,)
    replays: Shorts  # (W, 2 * replays): the interval in which each replay began last
    keys: Reals  # (size,): how much each task needs to be sent; -inf when it has ended
    best: Shorts  # (2 * size,): the neediest task below each node of a tree, 1 is its root
    period_times: Ints
    period_values: Ints


class Record(NamedTuple):
    """The contacts."""

    time: Shorts
    worker: Shorts
    task: Shorts  # batch * N + k, or -1
    end: Shorts
    link: Shorts  # the next task of the same worker, where the master hears at contacts


class Ends(NamedTuple):
    """A heap of ends to come."""

    key: Ints
    task: Shorts
