"""Options of ``import`` that say how a trace is read, the same for every family, and what is told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from hindsched.instances.errors import InputError
from hindsched.instances.states import UP, States

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from hindsched.instances.traces import Trace

__all__ = [
    "Attendance",
    "chosen_nodes",
    "named_traces",
    "presence_of",
    "presence_within",
    "read_traces",
    "told_presence",
    "trace_options",
]

#: Of more nodes only the least, the middle and the most available are told.
_TOLD_NODES = 24
#: Nodes that are there for less than this share of the time may have been read the wrong way round.
_SUSPICIOUS = 0.4
_SWAPPED = "that is little: if a sample of 1 means preempted, say --one-means preempted"


class Attendance(NamedTuple):
    """How often a node is there: its share of the time, how often that changes, its longest absence."""

    share: float
    changes: int
    longest: int


def trace_options() -> list[click.Option]:
    """Return the options."""
    return [
        click.Option(
            ["--one-means"],
            type=click.Choice(["available", "preempted"]),
            help="What a sample of 1 says.  [default: as the column or key is called, else available]",
        ),
        click.Option(["--gap", "gap_s"], metavar="S", help="Seconds between two samples of a JSON list."),
        click.Option(
            ["--columns"],
            metavar="KIND=NAME,...",
            help="Columns of samples by what they hold: date, availability, count or node.",
        ),
    ]


def read_traces(traces: Sequence[str], given: Mapping[str, Any]) -> tuple[Trace, dict[str, Any]]:
    """Return the trace that the options mean, and the other options."""
    from hindsched.instances.traces import read

    others = dict(given)
    columns: dict[str, str] = {}
    for pair in (others.pop("columns") or "").split(","):
        kind, equals, name = pair.partition("=")
        if pair and not (equals and name):
            raise InputError(f"{pair!r}, expected kind=name", place="--columns")
        columns |= {kind.strip(): name.strip()} if pair else {}
    return read(*traces, one_means=others.pop("one_means"), gap_s=others.pop("gap_s"), columns=columns), others


def named_traces(texts: Sequence[str]) -> dict[str, Trace]:
    """Return the traces that several ``[NAME=]FILE`` mean, by what their machines are called.

    Files of one name are one trace, as of a node each. Who names none means the file's own name.

    Raises
    ------
    InputError
        For an empty name, and for that of drawn machines.
    """
    from hindsched.instances.traces import read

    files: dict[str, list[str]] = {}
    for text in texts:
        name, equals, path = text.rpartition("=")
        files.setdefault("_".join((name if equals else Path(path).stem).split()), []).append(path)
    for name in files:
        if name in ("", "drawn"):
            raise InputError(f"{name!r}, expected another name than that of drawn machines, or none", place="--trace")
    return {name: read(*paths) for name, paths in files.items()}


def chosen_nodes(trace: Trace, text: str | None) -> int | list[str] | None:
    """Return what ``--nodes`` means: so many nodes, unless one bears the number as its name; these; or None, all."""
    if text is None:
        return None
    is_number = text.isascii() and text.isdigit() and len(text) < 10
    return int(text) if is_number and text not in trace.nodes else text.split(",")


def presence_of(states: States, names: Sequence[str]) -> list[str]:
    """Return lines that show how often each node is UP, so that data read the wrong way round are seen.

    Parameters
    ----------
    states
        Shape (p, N), the window of the instance.
    names
        Of the p nodes.

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> for line in presence_of(from_letters(["uudu", "uuuu"]), ["a", "b"]):
    ...     print(line)
    UP in the 4 slots: 87.5% of all
      a: 75.0% UP, 2 changes, longest absence 1 slot
      b: 100.0% UP, 0 changes, longest absence 0 slots
    """
    is_up = states == UP
    nodes = [_attendance(row) for row in is_up]
    return told_presence(nodes, names, f"UP in the {states.shape[1]} slots", "slot")


def _attendance(is_up: npt.NDArray[np.bool_]) -> Attendance:
    import numpy as np

    edges = np.flatnonzero(np.diff(is_up))
    bounds = np.concatenate(([0], edges + 1, [len(is_up)]))
    lengths = np.diff(bounds)[~is_up[bounds[:-1]]]
    return Attendance(float(is_up.mean()), len(edges), int(lengths.max(initial=0)))


def presence_within(up: npt.NDArray[np.int64], since: int, until: int) -> Attendance:
    """Return how often a node is there in [since, until), of intervals [a, b) that increase and do not touch.

    Examples
    --------
    >>> import numpy as np
    >>> presence_within(np.array([[0, 3], [5, 6], [9, 12]]), 2, 10)
    Attendance(share=0.375, changes=4, longest=3)
    """
    inside = up.clip(since, until)
    inside = inside[inside[:, 0] < inside[:, 1]]
    absent = [since, *inside.ravel().tolist(), until]
    gaps = [b - a for a, b in zip(absent[::2], absent[1::2], strict=True)]
    share = 1 - sum(gaps) / (until - since)
    return Attendance(share, sum(since < edge < until for edge in absent), max(gaps))


def told_presence(
    nodes: Sequence[Attendance], names: Sequence[str], where: str, unit: str, nobody: str = _SWAPPED
) -> list[str]:
    """Return lines that show how often each node is there.

    Parameters
    ----------
    nodes, names
        Of the same order.
    where
        Begins the first line: ``UP in the 4 slots``.
    unit
        Of the time.
    nobody
        What is to be said where none is ever there.
    """
    mean = sum(node.share for node in nodes) / len(nodes)
    lines = [f"{where}: {mean:.1%} of all"]
    order = list(range(len(names)))
    if len(names) > _TOLD_NODES:
        by_share = sorted(order, key=lambda q: (nodes[q].share, q))
        order = [by_share[0], by_share[len(by_share) // 2], by_share[-1]]
        lines[0] += f"; of {len(names)} nodes the least, the middle and the most available:"
    for q in order:
        share, changes, longest = nodes[q]
        told = f"{changes} change{'' if changes == 1 else 's'}, longest absence {longest} {unit}"
        lines.append(f"  {names[q]}: {share:.1%} UP, {told}{'' if longest == 1 else 's'}")
    if mean == 0:
        lines.append(nobody)
    elif mean < _SUSPICIOUS:
        lines.append(_SWAPPED)
    return lines
