"""Options of ``import`` on how a trace is read, the same for every family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from hindsched.bench.shared_types import Given, Row
from hindsched.instances.errors import InputError
from hindsched.instances.traces.delimited import cells_of

if TYPE_CHECKING:
    from hindsched.instances.traces import Trace

__all__ = ["TRACE", "chosen_nodes", "read_traces", "trace_options"]


#: Key of the context's ``meta`` under which `read_traces` leaves the trace, for what is printed about it.
TRACE = "hindsched.trace"


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
        click.Option(
            ["--time-unit"],
            type=click.Choice(["s", "ms", "us", "ns", "min", "h", "d", "date"]),
            help="Unit of times that are numbers; date: as yyyymmdd[HH[MM[SS]]].  [default: the plausible one]",
        ),
    ]


def read_traces(traces: Sequence[str], given: Given) -> tuple[Trace, Row]:
    """Return the trace that the options describe, and the other options."""
    from hindsched.instances.traces import read

    others = dict(given)
    columns: dict[str, str] = {}
    for pair in _listed(others.pop("columns") or "", "--columns"):
        kind, equals, name = (part.strip() for part in pair.partition("="))
        if not (equals and name) or kind in columns:
            expected = f"{kind} once" if kind in columns else "kind=name"
            raise InputError(f"{pair!r}, expected {expected}", place="--columns")
        columns[kind] = name
    given_names = ("one_means", "gap_s", "time_unit")
    trace = read(*traces, columns=columns, **{name: others.pop(name) for name in given_names})
    click.get_current_context().meta[TRACE] = trace
    return trace, others


def chosen_nodes(trace: Trace, text: str | None) -> int | list[str] | None:
    """Return the meaning of ``--nodes``: a node's name, a number of nodes, names as in a line of CSV, or None, all."""
    if text is None:
        return None
    if text in trace.nodes:
        return [text]
    is_number = text.isascii() and text.isdigit() and len(text) < 10
    return int(text) if is_number else _listed(text, "--nodes")


def _listed(text: str, flag: str) -> list[str]:
    """Return the cells of a line of CSV that an option holds."""
    try:
        return cells_of(text, ",", 1) if text else []
    except InputError as error:
        raise error.at(flag) from None
