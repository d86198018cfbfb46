"""Runs of the built-in masters in machine code: the arrays, and the calls of the kernels."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Int32s, Ints
from hindsched.instances.batches.model import Compute, Instance
from hindsched.instances.batches.run import NOTHING, Contacts
from hindsched.instances.batches.volunteers import WEEK
from hindsched.online.batches.booking import PARAMETERS, Booking, calls_wanted
from hindsched.online.batches.kernels import arguments
from hindsched.online.batches.kernels.simulation_kernels import run
from hindsched.online.batches.options import Options
from hindsched.online.batches.periods import period, requests_for
from hindsched.online.batches.simulate import SPREAD, WORD
from hindsched.online.batches.visible import active_before

__all__ = ["run_kernel"]

_PREDICTORS = {"copies": arguments.COPIES, "speed": arguments.SPEED, "history": arguments.HISTORY}


def run_kernel(instance: Instance, name: str, options: Options) -> tuple[Contacts, tuple[tuple[int, int], ...]] | None:
    """Run a built-in master; return its contacts and periods, or None if a number needs more bits.

    Parameters
    ----------
    instance
        An instance with margins that suit the master (see `hindsched.online.batches.algorithms.expect_margins`).
    name
        One of `hindsched.online.batches.policies.POLICIES`.
    options
        Options of the master and of the run.

    Notes
    -----
    A contact costs 1 to 3 us. Memory: 8 bytes per relevant interval of availability, 16 to 20 per contact, 40 for
    `booking`.
    """
    options = options.settled(name[:2])
    algorithm = arguments.BOOKING if name == Booking.name else int(name[1])
    predictor = _PREDICTORS[name.split("-")[1]] if algorithm == 3 else 0
    requests = requests_for(instance.tasks, options.k, options.copies_lambda)
    margins = [instance.margin(i) for i in range(instance.num_batches)]
    if max(instance.end, instance.tasks * instance.num_batches) >= arguments.NEVER - 1:
        return None
    if max(10 * requests * instance.num_workers, options.damping * instance.tasks) >= 2**62:
        return None
    if max(9, instance.tasks) * max(margins) >= 2**62:
        return None
    since = _since(instance, options, algorithm, predictor)
    instance.covering(since, instance.end)  # generated availability is drawn once, for the largest interval first
    active = active_before(instance) if isinstance(options.p0, str) else options.p0
    first = period(active, margins[0], instance.num_workers, requests)
    if first >= 2**30:
        return None
    arrays = _instance_arrays(instance, margins, since)
    master = arguments.MasterOptions(
        algorithm=algorithm,
        predictor=predictor,
        is_shifting=name.endswith("-shift"),
        drops=options.overdue == "drop",
        waits=options.busy == "wait",
        reports_at_contact=options.report == "at_contact",
        counts_connections=options.active == "connections",
        copies=options.copies,
        replays=options.replays,
        damping=options.damping,
        requests=requests,
        calls=calls_wanted(requests),
        double_mean=2.0 * (instance.sum_c / instance.num_workers),
    )
    state = _state(arrays, master)
    record = _record(master)
    ends = arguments.Ends(np.empty(1024, dtype=np.int64), np.empty(1024, dtype=np.int32))
    record = run(arrays, master, state, record, ends, _first_calls(instance, options, first), first)
    if state.at[arguments.TOO_LARGE]:
        return None
    size, periods = (int(state.at[place]) for place in (arguments.CONTACTS, arguments.PERIODS))
    pairs = zip(state.period_times[:periods].tolist(), state.period_values[:periods].tolist(), strict=True)
    return _contacts(record, size, instance.tasks), tuple(pairs)


def _since(instance: Instance, options: Options, algorithm: int, predictor: int) -> int:
    """Return the first second of availability that a run, or the past that its master uses, can need."""
    if algorithm == arguments.BOOKING:
        return max(0, instance.start - PARAMETERS.record_s)
    remembered = options.replays * WEEK if predictor == arguments.HISTORY else 0
    return min(instance.start, max(0, instance.batches[0][0] - remembered))


def _record(options: arguments.MasterOptions) -> arguments.Record:
    links = 1024 if options.algorithm >= 3 and options.reports_at_contact else 0
    copies = 1024 if options.algorithm == arguments.BOOKING else 0
    time, worker, task, end, link, sibling = (
        np.empty(size, dtype=np.int32) for size in (1024, 1024, 1024, 1024, links, copies)
    )
    need, chance = np.empty(copies, dtype=np.int64), np.empty(copies)
    return arguments.Record(time, worker, task, end, link, need, chance, sibling)


def _instance_arrays(instance: Instance, margins: list[int], since: int) -> arguments.InstanceArrays:
    """Return an instance as arrays, with its availability from ``since`` on."""
    batches = np.array(instance.batches, dtype=np.int64)
    availability = instance.covering(since, instance.end)
    ups = availability.ups
    if ups.dtype != np.int32:
        ups = np.minimum(ups, arguments.NEVER).astype(np.int32)
    low, high = availability.row_ranges(since, instance.end)
    return arguments.InstanceArrays(
        ups=ups,
        low=low,
        high=high,
        c=np.array(instance.c, dtype=np.int64),
        firsts=instance.firsts,
        submissions=batches[:, 0].copy(),
        deadlines=batches[:, 1].copy(),
        last_calls=np.array([instance.last_call(i) for i in range(instance.num_batches)], dtype=np.int64),
        margins=np.array(margins, dtype=np.int64),
        tasks=instance.tasks,
        start=instance.start,
        end=instance.end,
        is_reliable=instance.compute is Compute.RELIABLE,
    )


def _state(arrays: arguments.InstanceArrays, options: arguments.MasterOptions) -> arguments.State:
    workers = arrays.c.size
    has_keys = options.algorithm >= 3
    size = 1 << (arrays.tasks - 1).bit_length() if has_keys else 1
    remembers = options.algorithm == 3 and options.predictor == arguments.HISTORY
    replays = np.zeros((workers if remembers else 1, 2 * options.replays if remembers else 1), dtype=np.int32)
    if remembers:
        replays[:] = arrays.low[:, None]

    def ints(length: int, value: int = 0) -> Ints:
        return np.full(length, value, dtype=np.int64)

    most_periods = 2 * arrays.deadlines.size + 2
    return arguments.State(
        at=ints(arguments.NUMBERS),
        calls=ints(workers),
        place=arrays.low.copy(),
        busy=ints(workers),
        busy_place=arrays.low.copy(),
        last=ints(workers, -(2**62)),
        head=ints(workers, -1),
        tail=ints(workers, -1),
        replays=replays,
        keys=np.zeros(size),
        best=np.zeros(2 * size, dtype=np.int32),
        period_times=ints(most_periods),
        period_values=ints(most_periods),
        booking_state=_booking_state(arrays, options),
    )


def _booking_state(arrays: arguments.InstanceArrays, options: arguments.MasterOptions) -> arguments.BookingState:
    books = options.algorithm == arguments.BOOKING
    workers, tasks = (arrays.c.size, arrays.tasks) if books else (0, 0)
    batches = arrays.deadlines.size + 1

    def ints(length: int, value: int = 0) -> Ints:
        return np.full(length, value, dtype=np.int64)

    return arguments.BookingState(
        means=np.zeros(arguments.MEANS),
        booked=ints(batches),
        came=ints(batches),
        others=ints(batches),
        booking=ints(workers, -1),
        queue_ends=ints(workers),
        queue=ints(1),
        own=ints(workers),
        own_place=arrays.low[:workers].copy(),
        back=arrays.low[:workers].copy(),
        first=ints(tasks, -1),
    )


def _first_calls(instance: Instance, options: Options, first_period: int) -> Ints:
    """Return the second from which on each worker makes its first contact."""
    if options.first == "start":
        return np.full(instance.num_workers, instance.start, dtype=np.int64)
    fractions = SPREAD * np.arange(instance.num_workers, dtype=np.int64) % WORD
    return instance.start + fractions * first_period // WORD


def _contacts(record: arguments.Record, size: int, tasks: int) -> Contacts:
    sent: Int32s = record.task[:size]
    is_sent = sent >= 0
    nothing = np.int32(NOTHING)
    batch = np.where(is_sent, sent // np.int32(tasks), nothing)
    task = np.where(is_sent, sent % np.int32(tasks), nothing)
    return Contacts(record.time[:size], record.worker[:size], batch, task, record.end[:size])
