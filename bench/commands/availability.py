"""How often the machines of an imported instance are available, which shows traces with inverted meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindsched.bench.shared_types import Given
from hindsched.instances.intervals import Presence, join_touching
from hindsched.instances.states import UP, States
from hindsched.instances.traces.parsing import to_length
from hindsched.instances.traces.samples import Meaning, assumption_on_ones

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from hindsched.instances.traces import Trace

__all__ = ["Availability", "availability_lines", "availability_of", "availability_within", "hints"]

#: Largest number of nodes that are listed one by one; of more, the least, the median and the most available are.
_LISTED_NODES = 24
#: A smaller share of time UP than this suggests that the samples were read the wrong way round.
_SUSPICIOUS_SHARE = 0.4


class Availability(NamedTuple):
    """Share of time that a node is UP, number of changes, and longest absence."""

    share: float
    changes: int
    longest: int


def availability_of(states: States, names: Sequence[str]) -> list[str]:
    """Return lines on how often each node is UP.

    Parameters
    ----------
    states
        Shape (p, N), the window of the instance.
    names
        Names of the p nodes.

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> for line in availability_of(from_letters(["uudu", "uuuu"]), ["a", "b"]):
    ...     print(line)
    UP in the 4 slots: 87.5% of all
      a: 75.0% UP, 2 changes, longest absence 1 slot
      b: 100.0% UP, 0 changes, longest absence 0 slots
    """
    is_up = states == UP
    nodes = [_availability(row) for row in is_up]
    return availability_lines(nodes, names, f"UP in the {states.shape[1]} slots", "slot")


def _availability(is_up: npt.NDArray[np.bool_]) -> Availability:
    import numpy as np

    edges = np.flatnonzero(np.diff(is_up))
    bounds = np.concatenate(([0], edges + 1, [len(is_up)]))
    lengths = np.diff(bounds)[~is_up[bounds[:-1]]]
    return Availability(float(is_up.mean()), len(edges), int(lengths.max(initial=0)))


def availability_within(up: npt.NDArray[np.int64], since: int, until: int) -> Availability:
    """Return how often a node is UP in [since, until), given its increasing, separate intervals [a, b).

    Examples
    --------
    >>> import numpy as np
    >>> availability_within(np.array([[0, 3], [5, 6], [9, 12]]), 2, 10)
    Availability(share=0.375, changes=4, longest=3)
    """
    inside = up.clip(since, until)
    inside = inside[inside[:, 0] < inside[:, 1]]
    absent = [since, *inside.ravel().tolist(), until]
    gaps = [b - a for a, b in zip(absent[::2], absent[1::2], strict=True)]
    share = 1 - sum(gaps) / (until - since)
    return Availability(share, sum(since < edge < until for edge in absent), max(gaps))


def availability_lines(
    nodes: Sequence[Availability], names: Sequence[str], where: str, unit: str, never_up: str = ""
) -> list[str]:
    """Return lines on how often each node is UP.

    Parameters
    ----------
    nodes, names
        The nodes and their names, in the same order.
    where
        Beginning of the first line: ``UP in the 4 slots``.
    unit
        Unit of time.
    never_up
        Hint for the case that no node is ever UP, or an empty text.
    """
    mean = sum(node.share for node in nodes) / len(nodes)
    lines = [f"{where}: {mean:.1%} of all"]
    order = list(range(len(names)))
    if len(names) > _LISTED_NODES:
        by_share = sorted(order, key=lambda q: (nodes[q].share, q))
        order = [by_share[0], by_share[len(by_share) // 2], by_share[-1]]
        lines[0] += f"; the least, the median and the most available of {len(names)} nodes:"
    for q in order:
        share, changes, longest = nodes[q]
        detail = f"{changes} change{'' if changes == 1 else 's'}, longest absence {longest} {unit}"
        lines.append(f"  {names[q]}: {share:.1%} UP, {detail}{'' if longest == 1 else 's'}")
    return [*lines, never_up] if mean == 0 and never_up else lines


def hints(trace: Trace, own: Given) -> list[str]:
    """Return what may be wrong with an imported trace: samples read the wrong way round, or slots that are too long.

    Parameters
    ----------
    trace
        The trace.
    own
        The options of ``import``.
    """
    found: list[str] = []
    mean = sum(trace.shares) / len(trace.shares)
    is_read_as_written = trace.assumptions[:1] == (assumption_on_ones(Meaning.AVAILABLE),)
    if is_read_as_written and own.get("one_means") is None and mean < _SUSPICIOUS_SHARE:
        found.append(f"available {mean:.1%} of the time is little: if 1 means preempted, say --one-means preempted")
    periods = sorted(
        stop - start
        for row in trace.intervals
        for start, stop in join_touching([interval for interval in row if interval.presence is Presence.AVAILABLE])
    )
    slot_s = own.get("slot_s")
    if slot_s is not None and periods and periods[len(periods) // 2] < to_length(slot_s, "slot_s"):
        median = float(periods[len(periods) // 2])
        found.append(f"a slot of {slot_s} s is longer than most availability periods (median {median:g} s)")
    return found
