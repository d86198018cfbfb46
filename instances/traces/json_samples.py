"""Reader of JSON samples, a common format of spot data sets: a list of samples and a gap, one file per node."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Interval, Seconds, simplest
from hindsched.instances.text_files import decode_json, quoted
from hindsched.instances.traces.parsing import excerpt, read_lines, to_length, to_moment
from hindsched.instances.traces.samples import (
    COUNTED,
    Meaning,
    assumption_on_ones,
    counted,
    from_samples,
    meaning_of,
    node_of,
)
from hindsched.instances.traces.trace import Trace

__all__ = ["read_json_samples"]

#: Known keys of the list of samples, of the seconds between two samples, and of the time of the first sample.
_LISTS = ("availability", "available", "preempted", "counts", "count", "data", "trace", "values", "samples")
_GAPS = ("gap_seconds", "gap_s", "gap", "interval_seconds", "step_s")
_STARTS = ("start_time", "start")


def read_json_samples(
    *paths: str | os.PathLike[str], one_means: Meaning | str | None = None, gap_s: float | str | Seconds | None = None
) -> Trace:
    """Read equidistant samples: one JSON file per node, plain, gzip or xz.

    A file contains a list of 0 and 1, or an object with such a list (``data``, ``availability``, ``preempted``, ...),
    the seconds between two samples (``gap_seconds``) and optionally the time of the first sample (``start_time``).
    These keys are beside the list or in ``metadata``. A list with larger numbers counts machines and must be the only
    file.

    Parameters
    ----------
    *paths
        The files, in the order of the nodes.
    one_means
        Meaning of a sample of 1: ``available`` or ``preempted``. None: the key of the list decides, otherwise
        available.
    gap_s
        Seconds between two samples. None: the file decides.

    Raises
    ------
    InputError
        If the text is not JSON, has no list or no gap, a sample is not a number of machines, or one of several files
        counts machines. The message names the file and the sample.
    """
    rows: dict[str, tuple[Interval, ...]] = {}
    assumption = ""
    for path in paths:
        try:
            dates, values, meaning = _samples("\n".join(read_lines(path)), one_means, gap_s)
            name = node_of(path)
            if name in rows:
                raise InputError(f"a second file of node {excerpt(name)}, expected one per node")
            if max(values) > 1:
                if len(paths) > 1:
                    raise InputError("counts of machines in one of several files, expected a single file")
                rows = counted(name, dates, values)
                assumption = COUNTED
                break
            rows[name] = from_samples(dates, [value == (meaning is Meaning.AVAILABLE) for value in values])
            assumption = assumption_on_ones(meaning)
        except InputError as error:
            raise error.in_file(path) from None
    return Trace(
        tuple(rows),
        tuple(rows.values()),
        (assumption, "samples are equidistant, and each holds until the next; without a start the first is at 0 s"),
    )


def _samples(
    text: str, one_means: Meaning | str | None, gap_s: float | str | Seconds | None
) -> tuple[list[Seconds], list[int], Meaning]:
    held = decode_json(text)
    key, start = "", None
    if isinstance(held, dict):
        facts = {**held, **(held["metadata"] if isinstance(held.get("metadata"), dict) else {})}
        key = next((name for name in _LISTS if isinstance(held.get(name), list)), "")
        if not key:
            raise InputError(f"no list of samples, expected one under {', '.join(_LISTS)}")
        gap_s = _first(facts, _GAPS) if gap_s is None else gap_s
        start = _first(facts, _STARTS)
        held = held[key]
    if not isinstance(held, list) or len(held) < 2:
        raise InputError("expected a list of at least two samples")
    if gap_s is None:
        raise InputError("missing, expected the seconds between two samples: gap_seconds, or --gap", place="gap")
    step, begin = to_length(gap_s, "gap"), 0 if start is None else to_moment(start, "start")
    values: list[int] = []
    for i, value in enumerate(held):
        if isinstance(value, int | float) and value >= 0 and value % 1 == 0:
            values.append(int(value))
        else:
            raise InputError(f"{excerpt(quoted(value))}, expected 0 or 1, or a count", place=f"sample {i}")
    dates: list[Seconds] = [begin + i * step for i in range(len(values))]
    return [date if isinstance(date, int) else simplest(date) for date in dates], values, meaning_of(one_means, key)


def _first(facts: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((facts[name] for name in names if facts.get(name) is not None), None)
