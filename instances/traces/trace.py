"""The trace type: machines and when they were available, and the conversion of a window to states slot by slot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import UNOBSERVED, Interval, Presence, Seconds, join_touching, simplest, to_states
from hindsched.instances.states import DOWN, MOST_SLOTS, RECLAIMED, States
from hindsched.instances.traces import observed_windows
from hindsched.instances.traces.parsing import excerpt, to_length, to_moment
from hindsched.instances.traces.times import short, to_text

__all__ = ["Absence", "Nodes", "Trace", "Window"]

#: State of a worker while its node is not available: DOWN (it loses everything) or RECLAIMED (it loses nothing).
Absence: TypeAlias = Literal["down", "reclaimed"]
#: Choice of nodes: all (None), by name, or the first k that are observed over the whole window.
Nodes: TypeAlias = Sequence[str] | int | None

#: Largest number of states of a window, p * N.
MOST_STATES = 250_000_000

_ABSENCE = {"down": DOWN, "reclaimed": RECLAIMED}


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a trace: nodes and slots.

    Parameters
    ----------
    nodes
        Names, one per worker.
    start
        Start of slot 0 in UNIX seconds.
    slots
        N, the number of slots.
    slot_s
        Length of a slot in seconds.
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
        For each node its observed intervals, in order of time and without overlap. Times that no interval covers were
        not observed.
    assumptions
        Assumptions of the reader, one sentence each.
    findings
        What the reader found: form and separator, unit of time, columns, meaning of 1. Comparisons ignore them.

    Raises
    ------
    InputError
        If two nodes have the same name, or intervals overlap, are out of order or stop before they start.

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
    findings: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not self.nodes or len(self.nodes) != len(self.intervals):
            raise InputError(f"{len(self.nodes)} nodes with {len(self.intervals)} rows of intervals", place="trace")
        if len(self._index) < len(self.nodes):
            twice = next(node for q, node in enumerate(self.nodes) if node in self.nodes[:q])
            raise InputError(f"two nodes named {excerpt(twice)}, expected one of each name", place="trace")
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
        """For each node the periods ``(start, stop)`` without a gap in the observation."""
        return tuple(tuple(join_touching(row)) for row in self.intervals)

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """For each node the share of its observed time in which it was available."""
        shares: list[float] = []
        for row in self.intervals:
            observed = sum(stop - start for start, stop, _ in row)
            available = sum(stop - start for start, stop, presence in row if presence is Presence.AVAILABLE)
            shares.append(float(available / observed) if observed else 0.0)
        return tuple(shares)

    @property
    def summary(self) -> str:
        """One line on what the reader found, the span of the trace, and how often its nodes were available.

        Examples
        --------
        >>> Trace(("a",), ((Interval(0, 30, Presence.AVAILABLE), Interval(30, 40, Presence.UNAVAILABLE)),)).summary
        '1 node from 0 s to 40 s, available 75.0% of the observed time'
        """
        begin, end = min(row[0].start for row in self.intervals), max(row[-1].stop for row in self.intervals)
        low, high = (f"{share:.1%}" for share in (min(self.shares), max(self.shares)))
        count = len(self.nodes)
        nodes = f"{count} node{'' if count == 1 else 's'} from {to_text(begin)} to {to_text(end)}"
        share = low if low == high else f"{low} to {high}"
        return "; ".join(filter(None, (*self.findings, f"{nodes}, available {share} of the observed time")))

    def window(
        self,
        *,
        slot_s: float | str | Seconds,
        start: float | str | Seconds | None = None,
        slots: int | None = None,
        nodes: Nodes = None,
    ) -> Window:
        """Return the nodes and slots of a window.

        Parameters
        ----------
        slot_s
            Exact length of a slot in seconds: 0.1 means one tenth.
        start
            Start of slot 0 in UNIX seconds, or an ISO date as text. None: the earliest start that the nodes allow.
        slots
            Number of slots. None: as many as fit before the observation of one of the nodes ends.
        nodes
            None: all nodes. Names: these nodes in this order. A number k: the first k nodes of the file that are
            observed without a gap over the whole window. With k, ``start=None`` means the earliest window that has k
            such nodes, and ``slots=None`` the longest window.

        Raises
        ------
        InputError
            If a name is unknown, there are too few nodes, or the nodes have no common slot.
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
        """Return the states of the nodes in the slots of a window; shape (p, slots).

        A worker is UP in a slot only if its node is available during the whole slot. Otherwise it is RECLAIMED if the
        owner claims all the rest of the slot (event types 2 and 3), and in the state ``absent`` if not. If several
        apply, DOWN wins. A failure of length 0 counts in the slot that contains it.

        Parameters
        ----------
        slot_s, start, slots, nodes
            See `window`.
        absent
            State of an unavailable node: ``"down"`` or ``"reclaimed"``.
        unobserved
            State of a node that was not observed; ``"refuse"`` refuses such a slot.

        Raises
        ------
        InputError
            As in `window`, and if a slot is not fully observed. The message names node and time.
        """
        for name, value, known in (("absent", absent, [*_ABSENCE]), ("unobserved", unobserved, ["refuse", *_ABSENCE])):
            if value not in known:
                raise InputError(f"{value!r}, expected one of {', '.join(known)}", place=name)
        window = self.window(slot_s=slot_s, start=start, slots=slots, nodes=nodes)
        if len(window.nodes) * window.slots > MOST_STATES:
            raise InputError(
                f"{window.slots} of {len(window.nodes)} nodes, expected at most {MOST_STATES} states: longer slots, or "
                "fewer of them, or fewer nodes",
                place="slots",
            )
        self.expect_observed(window)
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
                f"not observed during all of slot {slot}, which starts at {window.start + slot * window.slot_s} s "
                f"(observed in {seen}); expected another window, other nodes, or a choice of what unobserved means",
                place=f"node {excerpt(window.nodes[q])}",
            )
        return states

    def expect_observed(self, window: Window) -> None:
        """Raise `InputError` for a window in which none of its nodes was observed."""
        begin, end = window.start, window.start + window.slots * window.slot_s
        spans = [span for node in window.nodes for span in self.spans[self._index[node]]]
        if all(stop <= begin or start >= end for start, stop in spans):
            first, last = min(start for start, _ in spans), max(stop for _, stop in spans)
            raise InputError(
                f"{to_text(begin)} to {to_text(end)}, but the nodes are observed from {to_text(first)} to "
                f"{to_text(last)}; expected a window in between",
                place="window",
            )

    def _named(self, names: Sequence[str] | None) -> list[int]:
        if names is None:
            return list(range(len(self.nodes)))
        names = [names] if isinstance(names, str) else list(names)
        for i, name in enumerate(names):
            if name not in self._index:
                raise InputError(f"{excerpt(name)} is not in the trace, expected one of {self._some()}", place="nodes")
            if name in names[:i]:
                raise InputError(f"{excerpt(name)} occurs twice, expected each node once", place="nodes")
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
            raise self._no_slot(shortest, begin, slot_s, max(ends.values()))
        return slots

    def _no_slot(self, q: int, begin: Seconds, slot_s: Seconds, end: Seconds) -> InputError:
        """Return the error for a node that is not observed for one slot from a time on; no node is after ``end``."""
        first, last = self.spans[q][0][0], self.spans[q][-1][1]
        node = f"node {excerpt(self.nodes[q])}"
        if last - first < slot_s:
            length = f"{short(last - first)} s in which the node is observed"
            return InputError(f"a slot of {short(slot_s)} s, expected at most the {length}", place=node)
        if begin >= end:
            until = f"the trace ends at {to_text(end)}"
            return InputError(f"{to_text(begin)}, expected an earlier time: {until}", place="start")
        return InputError(
            f"no slot of {short(slot_s)} s from {to_text(begin)} on: it is observed until {to_text(last)}; expected "
            "nodes that are observed together, or a number of nodes, for which a window is found",
            place=node,
        )
