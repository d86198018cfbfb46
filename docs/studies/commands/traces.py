"""Traces of machines that a study takes, by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hindsched.instances.errors import InputError
from hindsched.instances.traces import Trace, read

__all__ = ["named_traces"]


def named_traces(texts: Sequence[str]) -> dict[str, Trace]:
    """Return the traces that several ``[NAME=]FILE`` describe, by the name of their machines.

    Files of one name form one trace, one node per file. Without NAME, the name of the file is taken.

    Raises
    ------
    InputError
        For an empty name, and for ``drawn``, the name of generated machines.
    """
    files: dict[str, list[str]] = {}
    for text in texts:
        name, equals, path = text.rpartition("=")
        files.setdefault("_".join((name if equals else Path(path).stem).split()), []).append(path)
    for name in files:
        if name in ("", "drawn"):
            raise InputError(f"{name!r}, expected a name other than that of generated machines", place="--trace")
    return {name: read(*paths) for name, paths in files.items()}
