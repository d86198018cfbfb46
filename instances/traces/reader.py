"""One entry for every form of trace: the content tells which reader it is for."""

from __future__ import annotations

import os

from instances.errors import InputError
from instances.traces.event_table import read_event_table
from instances.traces.packaged import packaged_traces, read_packaged
from instances.traces.samples import read_samples
from instances.traces.text import read_lines
from instances.traces.trace import Trace

__all__ = ["read"]


def read(*paths: str | os.PathLike[str]) -> Trace:
    """Read a trace from one event table, from one file of samples per node, or by the name of a packaged trace.

    A first line with a comma belongs to samples (`read_samples`), any other to a table (`read_event_table`).

    Parameters
    ----------
    *paths
        One table, or files of samples, or one of `packaged_traces` (a file of that name is ``./name``).

    Raises
    ------
    InputError
        As the two readers, and for a table among other files: their clocks and nodes need not be the same.
    """
    if not paths:
        raise InputError("no file, expected at least one", place="trace")
    if len(paths) == 1 and paths[0] in packaged_traces():
        return read_packaged(str(paths[0]))
    are_samples = [_has_comma(path) for path in paths]
    if all(are_samples):
        return read_samples(*paths)
    if len(paths) == 1:
        return read_event_table(paths[0])
    table = paths[are_samples.index(False)]
    raise InputError("an event table among several files, expected it alone", file=table)


def _has_comma(path: str | os.PathLike[str]) -> bool:
    return any("," in line for line in read_lines(path)[:1])
