"""What the kernels know of workers and contacts, and the availability of one worker."""

from __future__ import annotations

from typing import NamedTuple

from offline.batches.kernels.compiling import Ints, Shorts, kernel

__all__ = ["NEVER", "Field", "advance_all", "finish", "latest", "next_available", "own_time", "row_at"]

#: Later than any second.
NEVER = 2**31 - 1


class Field(NamedTuple):
    """An instance and a run's contacts."""

    ups: Shorts  # (n, 2)
    place: Ints  # (W,): the first interval that ends after the submission of the batch at hand
    high: Ints  # (W,): the first row after a worker's last
    c: Ints
    order: Ints  # the workers by c
    end: int
    is_reliable: bool
    tasks: int
    times: Shorts  # the run's contacts, in order of time
    workers: Shorts
    seconds: Shorts  # the seconds with contacts
    counts: Shorts  # how many in each


@kernel()
def advance_all(field: Field, submission: int) -> None:
    """Move every worker on to a later submission."""
    for j in range(field.place.size):
        row, stop = field.place[j], field.high[j]
        while row < stop and field.ups[row, 1] <= submission:
            row += 1
        field.place[j] = row


@kernel()
def next_available(field: Field, j: int, row: int, earliest: int) -> tuple[int, int]:
    """Return a worker's first available second from ``earliest`` on, or ``NEVER``, and its row; search from a row."""
    stop = field.high[j]
    while row < stop and field.ups[row, 1] <= earliest:
        row += 1
    if row == stop:
        return NEVER, row
    return int(max(earliest, field.ups[row, 0])), row


@kernel()
def finish(field: Field, j: int, row: int, begin: int) -> tuple[int, int]:
    """Return when a task ends that begins in ``begin``, or ``NEVER``, and the row; search from a row."""
    left = field.c[j]
    if field.is_reliable:
        return int(begin + left), row
    stop = field.high[j]
    while row < stop:
        a, b = max(begin, field.ups[row, 0]), field.ups[row, 1]
        if b - a >= left:
            return int(a + left), row
        if b > a:
            left -= b - a
        row += 1
    return NEVER, row


@kernel()
def row_at(field: Field, j: int, time: int) -> int:
    """Return the last row of a worker that begins by ``time``, or one before its first."""
    low, high = field.place[j], field.high[j]
    while low < high:
        middle = (low + high) // 2
        if field.ups[middle, 0] <= time:
            low = middle + 1
        else:
            high = middle
    return int(low - 1)


@kernel()
def own_time(field: Field, j: int, row: int, time: int, deadline: int) -> int:
    """Return the seconds of [time, deadline) in which a task advances; ``row`` is that of ``time``."""
    if field.is_reliable:
        return deadline - time
    total = 0
    while row < field.high[j] and field.ups[row, 0] < deadline:
        total += min(deadline, field.ups[row, 1]) - max(time, field.ups[row, 0])
        row += 1
    return int(total)


@kernel()
def latest(field: Field, j: int, need: int, submission: int, deadline: int) -> int:
    """Return a worker's latest available second from which ``need`` seconds of computing fit, or -1."""
    first = field.place[j]
    if field.is_reliable:
        time = deadline - need
        if time < submission:
            return -1
        row = row_at(field, j, time)
        if row < first:
            return -1
        return int(min(time, field.ups[row, 1] - 1))
    row = row_at(field, j, deadline - 1)
    while row >= first:
        a, b = max(submission, field.ups[row, 0]), min(deadline, field.ups[row, 1])
        if b - a >= need:
            return int(b - need)
        need -= b - a
        row -= 1
    return -1
