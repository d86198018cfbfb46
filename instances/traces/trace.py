"""What a trace is: machines and when they were available; and how a window of it becomes states slot by slot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import UNOBSERVED, Interval, Seconds, observed_spans, simplest, to_states
from hindsched.instances.states import DOWN, MOST_SLOTS, RECLAIMED, States
from hindsched.instances.traces import observed_windows
from hindsched.instances.traces.parsing import excerpt, to_length, to_moment

__all__ = ["Absence", "Nodes", "Trace", "Window"]

#: What a worker is while its node is not available: DOWN (it loses all) or RECLAIMED (it loses nothing).
Absence: TypeAlias = Literal["down", "reclaimed"]
#: Which nodes: all (None), these names, or the first so many that are observed over the whole window.
Nodes: TypeAlias = Sequence[str] | int | None

_ABSENCE = {"down": DOWN, "reclaimed": RECLAIMED}


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a trace: which nodes, and which slots.

    Parameters
    ----------
    nodes
        Names, one per worker.
    start
        UNIX seconds at which slot 0 begins.
    slots
        N, the number of slots.
    slot_s
        Seconds of a slot.
    """

    nodes: tuple[str, ...]
    start: Seconds
    slots: int
    slot_s: Seconds


@dataclass(frozen=True)
class Trace:
    """When the nodes of a real system were available, in exact seconds.

    Parameters
    ----------
    nodes
        Names, in the order of the file.
    intervals
        For each node what was observed, in order of time and without overlap; what no interval covers was not
        observed.
    assumptions
        What the reader took for granted, in plain sentences.

    Raises
    ------
    InputError
        Naming the node: two of one name, intervals that overlap, are out of order or stop before they start.

    Examples
    --------
    >>> from hindsched.instances.intervals import Presence
    >>> trace = Trace(("a",), ((Interval(0, 25, Presence.AVAILABLE), Interval(25, 40, Presence.UNAVAILABLE)),))
    >>> trace.states(slot_s=10).tolist(), trace.states(slot_s=10, absent="reclaimed").tolist()
    ([[0, 0, 2, 2]], [[0, 0, 1, 1]])
    """

    nodes: tuple[str, ...]
    intervals: tuple[tuple[Interval, ...], ...]
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.nodes or len(self.nodes) != len(self.intervals):
            raise InputError(f"{len(self.nodes)} nodes with {len(self.intervals)} rows of intervals", place="trace")
        if len(self._index) < len(self.nodes):
            twice = next(node for q, node in enumerate(self.nodes) if node in self.nodes[:q])
            raise InputError(f"two nodes of this name, expected one of each name, {excerpt(twice)}", place="trace")
        for node, row in zip(self.nodes, self.intervals, strict=True):
            place = f"node {excerpt(node)}"
            if not row:
                raise InputError("no interval, expected at least one", place=place)
            if any(interval.stop < interval.start for interval in row):
                raise InputError("an interval that stops before it starts", place=place)
            if any(after.start < before.stop for before, after in pairwise(row)):
                raise InputError("intervals that overlap or are out of order", place=place)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {node: q for q, node in enumerate(self.nodes)}

    @cached_property
    def spans(self) -> tuple[tuple[tuple[Seconds, Seconds], ...], ...]:
        """For each node the stretches ``(start, stop)`` without a hole in the observation."""
        return tuple(tuple(observed_spans(row)) for row in self.intervals)

    def window(
        self,
        *,
        slot_s: float | str | Seconds,
        start: float | str | Seconds | None = None,
        slots: int | None = None,
        nodes: Nodes = None,
    ) -> Window:
        """Return which nodes and slots a choice means.

        Parameters
        ----------
        slot_s
            Seconds of a slot, exactly: 0.1 means one tenth.
        start
            UNIX seconds at which slot 0 begins, or an ISO date as text. None: as early as the nodes allow.
        slots
            Number of slots. None: as many as fit before the observation of one of the nodes ends.
        nodes
            None: all. Names: these, in this order. A number k: the first k nodes of the file that are observed
            without a hole over the whole window. With it, ``start`` None means the earliest window that has k such
            nodes, ``slots`` None the longest one.

        Raises
        ------
        InputError
            For names that the trace has not, too few nodes, or nodes without a common slot.
        """
        length = to_length(slot_s, "slot_s")
        begin = None if start is None else to_moment(start, "start")
        if slots is not None and slots < 1:
            raise InputError(f"{slots!r}, expected an integer >= 1", place="slots")
        if isinstance(nodes, int):
            begin, slots = observed_windows.place(self.spans, nodes, begin, slots, length)
            chosen = observed_windows.observed(self.spans, nodes, begin, begin + slots * length)
        else:
            chosen = self._named(nodes)
        if begin is None:
            begin = max(self.spans[q][0][0] for q in chosen)
        if slots is None:
            slots = self._slots_left(chosen, begin, length)
        if slots > MOST_SLOTS:
            raise InputError(f"{slots} of {length} s, expected at most {MOST_SLOTS}", place="slots")
        return Window(tuple(self.nodes[q] for q in chosen), simplest(Fraction(begin)), slots, length)

    def states(
        self,
        *,
        slot_s: float | str | Seconds,
        start: float | str | Seconds | None = None,
        slots: int | None = None,
        nodes: Nodes = None,
        absent: Absence = "down",
        unobserved: Absence | Literal["refuse"] = "refuse",
    ) -> States:
        """Return the states of the chosen nodes in the chosen slots; shape (p, slots).

        A worker is UP in a slot only if its node is available during the whole slot. Otherwise it is RECLAIMED if all
        the rest of the slot is claimed by the owner (event types 2 and 3), and else what ``absent`` says. Where
        several apply, DOWN wins. A failure of no length counts in the slot that contains it.

        Parameters
        ----------
        slot_s, start, slots, nodes
            See `window`.
        absent
            What an unavailable node is: ``"down"`` or ``"reclaimed"``.
        unobserved
            What a node is while nobody observed it: ``"refuse"`` refuses such a slot.

        Raises
        ------
        InputError
            As `window`, and for a slot that is not fully observed, naming node and time.
        """
        for name, value, known in (("absent", absent, [*_ABSENCE]), ("unobserved", unobserved, ["refuse", *_ABSENCE])):
            if value not in known:
                raise InputError(f"{value!r}, expected one of {', '.join(known)}", place=name)
        window = self.window(slot_s=slot_s, start=start, slots=slots, nodes=nodes)
        states = to_states(
            [self.intervals[self._index[node]] for node in window.nodes],
            slot_s=window.slot_s,
            start=window.start,
            slots=window.slots,
            unavailable=_ABSENCE[absent],
            unobserved=_ABSENCE.get(unobserved, UNOBSERVED),
        )
        if unobserved == "refuse" and states.max() == UNOBSERVED:
            q, slot = (int(i) for i in np.argwhere(states == UNOBSERVED)[0])
            seen = ", ".join(f"[{a}, {b})" for a, b in self.spans[self._index[window.nodes[q]]][:3])
            raise InputError(
                f"not observed in all of slot {slot}, from {window.start + slot * window.slot_s} s on (but in {seen}); "
                "expected another window, other nodes, or a choice of what unobserved means",
                place=f"node {excerpt(window.nodes[q])}",
            )
        return states

    def _named(self, names: Sequence[str] | None) -> list[int]:
        if names is None:
            return list(range(len(self.nodes)))
        names = [names] if isinstance(names, str) else list(names)
        for i, name in enumerate(names):
            if name not in self._index:
                raise InputError(f"{excerpt(name)} is not in the trace, expected one of {self._some()}", place="nodes")
            if name in names[:i]:
                raise InputError(f"{excerpt(name)} stands twice, expected each node once", place="nodes")
        if not names:
            raise InputError("none, expected at least one", place="nodes")
        return [self._index[name] for name in names]

    def _some(self) -> str:
        shown = ", ".join(self.nodes[:5])
        return shown if len(self.nodes) <= 5 else f"{len(self.nodes)} names such as {shown}"

    def _slots_left(self, chosen: Sequence[int], begin: Seconds, slot_s: Seconds) -> int:
        ends = {q: self.spans[q][-1][1] for q in chosen}
        shortest = min(chosen, key=ends.__getitem__)
        slots = int((ends[shortest] - begin) // slot_s)
        if slots < 1:
            raise InputError(
                f"no slot of {slot_s} s from {begin} on: it is observed until {ends[shortest]}; expected nodes "
                "that are observed together: a number of them finds the window for as many",
                place=f"node {excerpt(self.nodes[shortest])}",
            )
        return slots
