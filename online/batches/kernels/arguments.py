"""What the kernels are handed, in groups; all times are integers, 32 bits where there are many."""

from __future__ import annotations

from typing import NamedTuple

from hindsched.instances.array_types import Int32s, Ints, Reals

__all__ = [
    "BATCH",
    "BOOKED",
    "BOOKING",
    "CALLS",
    "CAME",
    "CONTACTS",
    "COPIES",
    "ENDED",
    "ENDS",
    "HISTORY",
    "LEAST_CHANCE",
    "MEANS",
    "NEVER",
    "NEXT_OPEN",
    "NUMBERS",
    "OTHERS",
    "PERIOD",
    "PERIODS",
    "PLANNED",
    "REVISION",
    "SENT",
    "SHIFT",
    "SPEED",
    "TOO_LARGE",
    "UNFINISHED",
    "UNSENT",
    "USUAL",
    "Ends",
    "Ledger",
    "Record",
    "Rules",
    "State",
    "World",
]

#: Later than any second.
NEVER = 2**31 - 1
#: Calls and ends are kept as time * 2^SHIFT + worker.
SHIFT = 31

#: The master that books its calls, beside Algorithms 1, 2 and 3.
BOOKING = 4
#: Predictors by number.
COPIES, SPEED, HISTORY = range(3)

#: Places in ``State.at``; the last is how many there are.
(
    CALLS,
    ENDS,
    CONTACTS,
    PERIODS,
    BATCH,
    UNSENT,
    PLANNED,
    PERIOD,
    UNFINISHED,
    TOO_LARGE,
    REVISION,
    NEXT_OPEN,
    NUMBERS,
) = range(13)

#: Places in ``Ledger.means``; the last is how many there are.
BOOKED, CAME, OTHERS, LEAST_CHANCE, USUAL, SENT, ENDED, MEANS = range(8)


class World(NamedTuple):
    """The instance, as far as the run needs it."""

    ups: Int32s  # (n, 2)
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

    algorithm: int  # 1, 2, 3, or BOOKING
    predictor: int
    is_shifting: bool
    drops: bool
    waits: bool
    hears_at_contact: bool
    counts_connections: bool
    copies: int
    replays: int
    requests: int  # lambda
    calls: int  # that are wanted for a batch, of BOOKING
    double_mean: float  # 2.0 * mean C


class Ledger(NamedTuple):
    """What the master knows that books its calls."""

    means: Reals  # counted batch after batch, the older the less
    booked: Ints  # (M + 1,): calls booked for each batch; the last one is never full
    came: Ints  # (M + 1,): of these
    others: Ints  # (M + 1,): calls of others in a batch's time
    booking: Ints  # (W,): for which batch each worker is booked, or -1
    queue_ends: Ints  # (W,): in its own time, counted from its first row
    queue: Ints  # (1,): what the worker that calls has to compute, in its own time
    own: Ints  # (W,): a worker's available seconds before its row own_place
    own_place: Ints  # (W,)
    back: Ints  # (W,): its first row of late
    first: Ints  # (N,): the first copy of each task that has not ended, or -1


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
    replays: Int32s  # (W, 2 * replays): the interval in which each replay began last
    keys: Reals  # (size,): how much each task needs to be sent; -inf when it has ended
    best: Int32s  # (2 * size,): the neediest task below each node of a tree, 1 is its root
    period_times: Ints
    period_values: Ints
    ledger: Ledger


class Record(NamedTuple):
    """The contacts."""

    time: Int32s
    worker: Int32s
    task: Int32s  # batch * N + k, or -1
    end: Int32s
    link: Int32s  # the next task of the same worker, where the master hears at contacts
    need: Ints  # of BOOKING: what the worker had to compute up to this task's end, in its own time
    chance: Reals  # of BOOKING: that it ends in time, as it was when it was sent
    sibling: Int32s  # of BOOKING: the next copy of the same task


class Ends(NamedTuple):
    """A heap of ends to come."""

    key: Ints
    task: Int32s
