"""The arrays of an instance and a run for the kernels, and the availability of one worker."""

from __future__ import annotations

from typing import NamedTuple

from hindsched.instances.array_types import Int32s, Ints
from hindsched.instances.compiling import kernel

__all__ = ["NEVER", "InstanceArrays", "advance_all", "finish", "next_available"]

#: Later than any second.
NEVER = 2**31 - 1


class InstanceArrays(NamedTuple):
    """An instance and the contacts of a run: W workers, n availability intervals."""

    ups: Int32s  # (n, 2): availability intervals by worker
    place: Ints  # (W,): the first interval that ends after the submission of the present batch
    high: Ints  # (W,): the row after the last one of a worker
    c: Ints
    order: Ints  # workers by c
    end: int
    is_reliable: bool
    tasks: int
    times: Int32s  # the run's contacts, in order of time
    workers: Int32s
    seconds: Int32s  # the seconds with contacts
    counts: Int32s  # contacts in each of them


@kernel
def advance_all(arrays: InstanceArrays, submission: int) -> None:
    """Advance every worker to a later submission."""
    for j in range(arrays.place.size):
        row, stop = arrays.place[j], arrays.high[j]
        while row < stop and arrays.ups[row, 1] <= submission:
            row += 1
        arrays.place[j] = row


@kernel
def next_available(arrays: InstanceArrays, j: int, row: int, earliest: int) -> tuple[int, int]:
    """Return the first available second of a worker from ``earliest`` on, or ``NEVER``, and its row, from a row on."""
    stop = arrays.high[j]
    while row < stop and arrays.ups[row, 1] <= earliest:
        row += 1
    if row == stop:
        return NEVER, row
    return int(max(earliest, arrays.ups[row, 0])), row


@kernel
def finish(arrays: InstanceArrays, j: int, row: int, begin: int) -> tuple[int, int]:
    """Return the end of a task that begins in ``begin``, or ``NEVER``, and its row, from a row on."""
    left = arrays.c[j]
    if arrays.is_reliable:
        return int(begin + left), row
    stop = arrays.high[j]
    while row < stop:
        a, b = max(begin, arrays.ups[row, 0]), arrays.ups[row, 1]
        if b - a >= left:
            return int(a + left), row
        if b > a:
            left -= b - a
        row += 1
    return NEVER, row
