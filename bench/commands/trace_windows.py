"""Windows of equal length, spread over a trace: the option ``--windows`` of ``import``."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from typing import NamedTuple

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Seconds, simplest
from hindsched.instances.traces import Trace
from hindsched.instances.traces.parsing import to_moment
from hindsched.instances.traces.times import is_date
from hindsched.instances.traces.trace import Nodes

__all__ = ["TraceWindows", "name_of_window", "spread"]


class TraceWindows(NamedTuple):
    """Windows of equal length over a trace: their nodes, training slots, slots, and the time of each slot 0."""

    nodes: tuple[str, ...]
    train_slots: int
    slots: int
    starts: list[Seconds]


def spread(
    trace: Trace,
    number: int,
    *,
    slot_s: float | str | Seconds,
    start: float | str | Seconds | None = None,
    slots: int | None = None,
    train_slots: int | None = None,
    nodes: Nodes = None,
    flags: str = "--slots, --train, --start",
) -> TraceWindows:
    """Return windows that do not overlap, spread evenly over a trace, each after its own training slots.

    Without ``start``, ``slots`` and ``train_slots`` the trace is cut into ``number`` + 1 equal parts: each part but the
    first is a window, and the part before it is its training.

    Parameters
    ----------
    trace
        The trace.
    number
        Number of windows.
    slot_s, start, slots, train_slots, nodes
        As in `hindsched.instances.coupled.from_trace.from_trace`, for each window; ``start`` is that of the first.
    flags
        Options that change the number of windows that fit, for the message.

    Raises
    ------
    InputError
        If there is no room for so many windows.

    Examples
    --------
    >>> from hindsched.instances.intervals import Interval, Presence
    >>> trace = Trace(("a",), ((Interval(0, 300, Presence.AVAILABLE),),))
    >>> spread(trace, 2, slot_s=10)
    TraceWindows(nodes=('a',), train_slots=10, slots=10, starts=[100, 200])
    >>> spread(trace, 3, slot_s=10, slots=4, train_slots=6).starts
    [60, 160, 260]
    """
    whole = trace.window(slot_s=slot_s, nodes=nodes)
    length = whole.slot_s
    begin, total, left = whole.start, whole.slots, None
    if start is not None:
        offset = to_moment(start, "start") - begin
        left = int(offset // length)
        if left < 0:
            raise InputError(f"{start}, expected a time from {begin} on, when the nodes are observed", place="start")
        begin = simplest(Fraction(begin + offset - left * length))
        total = int((whole.start + whole.slots * length - begin) // length)
    if train_slots is None:
        train_slots = total // (number + 1) if slots is None else min(slots, total - number * slots)
        if left is not None:
            train_slots = min(left, slots or (total - left) // number)
        train_slots = train_slots if train_slots >= 2 else 0
    first = train_slots if left is None else left
    room = total - first
    slots = max(1, room // number) if slots is None else slots
    if first < train_slots or room < number * slots:
        raise InputError(
            f"{number}, expected at most {max(0, room // slots)}: so many windows of {slots} slots follow the first "
            f"{first} of {total} slots ({flags})",
            place="--windows",
        )
    gaps = max(1, number - 1)
    places = [first + k * (room - slots) // gaps for k in range(number)]
    starts = [simplest(Fraction(begin + place * length)) for place in places]
    return TraceWindows(whole.nodes, train_slots, slots, starts)


def name_of_window(number: int, of: int, start: Seconds) -> str:
    """Return the name of a window's file: its number, and when its slot 0 starts (UTC, or seconds without a date).

    Examples
    --------
    >>> name_of_window(3, 12, 1677153600), name_of_window(1, 2, 480)
    ('window-03-of-12-2023-02-23T1200Z.json', 'window-1-of-2-480s.json')
    """
    when = f"{int(start)}s"
    if is_date(start):
        when = f"{datetime.fromtimestamp(int(start), UTC):%Y-%m-%dT%H%MZ}"
    return f"window-{number:0{len(str(of))}}-of-{of}-{when}.json"
