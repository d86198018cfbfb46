"""What the kernels know of workers and contacts, and the availability of one worker."""

from __future__ import annotations

from typing import NamedTuple

from hindsched.instances.array_types import Int32s, Ints
from hindsched.instances.compiling import kernel

__all__ = ["NEVER", "InstanceArrays", "advance_all", "finish", "next_available"]

#: Later than any second.
NEVER = 2**31 - 1


class InstanceArrays(NamedTuple):
    """An instance and a run's contacts."""

    ups: Int32s  # (n, 2)
    place: Ints  # (W,): the first interval that ends after the submission of the batch at hand
    high: Ints  # (W,): the first row after a worker's last
    c: Ints
    order: Ints  # the workers by c
    end: int
    is_reliable: bool
    tasks: int
    times: Int32s  # the run's contacts, in order of time
    workers: Int32s
    seconds: Int32s  # the seconds with contacts
    counts: Int32s  # how many in each


@kernel
def advance_all(arrays: InstanceArrays, submission: int) -> None:
    """Move every worker on to a later submission."""
    for j in range(arrays.place.size):
        row, stop = arrays.place[j], arrays.high[j]
        while row < stop and arrays.ups[row, 1] <= submission:
            row += 1
        arrays.place[j] = row


@kernel
def next_available(arrays: InstanceArrays, j: int, row: int, earliest: int) -> tuple[int, int]:
    """Return a worker's first available second from ``earliest`` on, or ``NEVER``, and its row; search from a row."""
    stop = arrays.high[j]
    while row < stop and arrays.ups[row, 1] <= earliest:
        row += 1
    if row == stop:
        return NEVER, row
    return int(max(earliest, arrays.ups[row, 0])), row


@kernel
def finish(arrays: InstanceArrays, j: int, row: int, begin: int) -> tuple[int, int]:
    """Return when a task ends that begins in ``begin``, or ``NEVER``, and the row; search from a row."""
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
