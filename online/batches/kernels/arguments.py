"""Arguments of the compiled simulator of batches, in named groups; large arrays of times have 32 bits."""

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
    "BookingState",
    "Ends",
    "InstanceArrays",
    "MasterOptions",
    "Record",
    "State",
]

#: A second after all others.
NEVER = 2**31 - 1
#: Calls and ends are stored as time * 2^SHIFT + worker.
SHIFT = 31

#: The number of the master ``booking``; Algorithms 1, 2 and 3 have their own.
BOOKING = 4
#: Predictors by number.
COPIES, SPEED, HISTORY = range(3)

#: Indices of ``State.at``; the last is their number.
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

#: Indices of ``BookingState.means``; the last is their number.
BOOKED, CAME, OTHERS, LEAST_CHANCE, USUAL, SENT, ENDED, MEANS = range(8)


class InstanceArrays(NamedTuple):
    """The instance as arrays."""

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


class MasterOptions(NamedTuple):
    """The master and its options."""

    algorithm: int  # 1, 2, 3, or BOOKING
    predictor: int
    is_shifting: bool
    drops: bool
    waits: bool
    reports_at_contact: bool
    counts_connections: bool
    copies: int
    replays: int
    damping: int  # of shifting
    requests: int  # lambda
    calls: int  # Z, calls to book for a batch, of BOOKING
    double_mean: float  # 2.0 * mean C


class BookingState(NamedTuple):
    """The state of the master ``booking``."""

    means: Reals  # decaying counts over batches
    booked: Ints  # (M + 1,): calls booked for each batch; the last entry is never full
    came: Ints  # (M + 1,): booked calls that came
    others: Ints  # (M + 1,): calls of workers that were not booked
    booking: Ints  # (W,): for which batch each worker is booked, or -1
    queue_ends: Ints  # (W,): in its own time, counted from its first row
    queue: Ints  # (1,): the queue of the worker that calls, in its own time
    own: Ints  # (W,): a worker's available seconds before its row own_place
    own_place: Ints  # (W,)
    back: Ints  # (W,): its first row of the last two weeks
    first: Ints  # (N,): the first copy of each task that has not ended, or -1


class State(NamedTuple):
    """The state of a run."""

    at: Ints
    calls: Ints  # a heap of next contacts
    place: Ints  # (W,): the interval of each worker's next contact
    busy: Ints  # (W,): when its queue ends
    busy_place: Ints  # (W,): in which interval
    last: Ints  # (W,): its last contact
    head: Ints  # (W,): its first task, by contact, whose end is not reported; -1 if none
    tail: Ints  # (W,)
    replays: Int32s  # (W, 2 * replays): the interval in which each replay last began
    keys: Reals  # (size,): the need of each task to be sent; -inf when it has ended
    best: Int32s  # (2 * size,): the task of greatest need below each node of a tree with root 1
    period_times: Ints
    period_values: Ints
    booking_state: BookingState


class Record(NamedTuple):
    """The contacts."""

    time: Int32s
    worker: Int32s
    task: Int32s  # batch * N + k, or -1
    end: Int32s
    link: Int32s  # the next task of the same worker, if ends are reported at contacts
    need: Ints  # of BOOKING: the worker's queue up to the end of this task, in its own time
    chance: Reals  # of BOOKING: the probability of its end in time, when it was sent
    sibling: Int32s  # of BOOKING: the next copy of the same task


class Ends(NamedTuple):
    """A heap of ends to come."""

    key: Ints
    task: Int32s
