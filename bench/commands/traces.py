"""Options of ``import`` on how a trace is read, the same for every family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from hindsched.bench.shared_types import Given, Row
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    from hindsched.instances.traces import Trace

__all__ = ["chosen_nodes", "read_traces", "trace_options"]


def trace_options() -> list[click.Option]:
    """Return the options on how a trace is read."""
    return [
        click.Option(
            ["--one-means"],
            type=click.Choice(["available", "preempted"]),
            help="Meaning of a sample of 1.  [default: by the name of the column or key, else available]",
        ),
        click.Option(["--gap", "gap_s"], metavar="S", help="Seconds between two samples of a JSON list."),
        click.Option(
            ["--columns"],
            metavar="KIND=NAME,...",
            help="Columns of samples, by KIND: date, availability, count or node.",
        ),
    ]


def read_traces(traces: Sequence[str], given: Given) -> tuple[Trace, Row]:
    """Return the trace that the options describe, and the other options."""
    from hindsched.instances.traces import read

    others = dict(given)
    columns: dict[str, str] = {}
    for pair in (others.pop("columns") or "").split(","):
        kind, equals, name = pair.partition("=")
        if pair and not (equals and name):
            raise InputError(f"{pair!r}, expected kind=name", place="--columns")
        columns |= {kind.strip(): name.strip()} if pair else {}
    return read(*traces, one_means=others.pop("one_means"), gap_s=others.pop("gap_s"), columns=columns), others


def chosen_nodes(trace: Trace, text: str | None) -> int | list[str] | None:
    """Return the meaning of ``--nodes``: a number of nodes, unless it is the name of one; names; or None, all nodes."""
    if text is None:
        return None
    is_number = text.isascii() and text.isdigit() and len(text) < 10
    return int(text) if is_number and text not in trace.nodes else text.split(",")
