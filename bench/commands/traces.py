"""Options of ``import`` that say how a trace is read, the same for every family, and what is told of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from instances.errors import InputError
from instances.states import UP, States

if TYPE_CHECKING:
    from instances.traces import Trace

__all__ = ["chosen_nodes", "named_traces", "presence_of", "read_traces", "trace_options"]

#: Of more nodes only the least, the middle and the most available are told.
_TOLD_NODES = 24
#: Nodes that are there for less than this share of the time may have been read the wrong way round.
_SUSPICIOUS = 0.4


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
    from instances.traces import read

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
    from instances.traces import read

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
    >>> from instances.states import from_letters
    >>> for line in presence_of(from_letters(["uudu", "uuuu"]), ["a", "b"]):
    ...     print(line)
    UP in the 4 slots: 87.5% of all
      a: 75.0% UP, 2 changes, longest absence 1 slot
      b: 100.0% UP, 0 changes, longest absence 0 slots
    """
    import numpy as np

    is_up = states == UP
    shares = is_up.mean(axis=1)
    lines = [f"UP in the {states.shape[1]} slots: {is_up.mean():.1%} of all"]
    order = list(range(len(names)))
    if len(names) > _TOLD_NODES:
        by_share = sorted(order, key=lambda q: (float(shares[q]), q))
        order = [by_share[0], by_share[len(by_share) // 2], by_share[-1]]
        lines[0] += f"; of {len(names)} nodes the least, the middle and the most available:"
    for q in order:
        edges = np.flatnonzero(np.diff(is_up[q]))
        bounds = np.concatenate(([0], edges + 1, [states.shape[1]]))
        lengths = np.diff(bounds)[~is_up[q][bounds[:-1]]]
        longest = int(lengths.max(initial=0))
        slots = "slot" if longest == 1 else "slots"
        changes = f"{len(edges)} change{'' if len(edges) == 1 else 's'}"
        lines.append(f"  {names[q]}: {shares[q]:.1%} UP, {changes}, longest absence {longest} {slots}")
    if is_up.mean() < _SUSPICIOUS:
        lines.append("that is little: if a sample of 1 means preempted, say --one-means preempted")
    return lines
