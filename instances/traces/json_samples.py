"""Reader of JSON samples, a common format of spot data sets: a list of samples and a gap, one file per node."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Interval, Seconds, simplest
from hindsched.instances.text_files import decode_json, quoted
from hindsched.instances.traces.delimited import MOST_ROWS
from hindsched.instances.traces.parsing import excerpt, read_lines, to_length, to_moment
from hindsched.instances.traces.samples import (
    COLUMNS,
    COUNTED,
    Meaning,
    a_gap,
    add_rows,
    assumption_on_ones,
    counted,
    expect_counts_of_available,
    from_samples,
    joined,
    meaning_of,
    node_of,
    not_used,
)
from hindsched.instances.traces.times import TimeUnit, gap_in_seconds, plain_name, to_times, unit_in_name
from hindsched.instances.traces.trace import Trace

__all__ = ["read_json_samples"]

#: Known keys of the list of samples, of the gap between two samples, and of the time of the first sample, in small
#: letters. The last word of a gap or start may name its unit.
_LISTS = (*COLUMNS["availability"], *COLUMNS["count"], "data", "trace", "values", "samples")
_GAPS = ("gap", "interval", "step")
_STARTS = ("start_time", "start")
_GRID = "samples are equidistant, and each holds until the next; without a start the first is at 0 s"


class _File(NamedTuple):
    """The samples of one file, the key of their list, and the findings."""

    dates: list[Seconds]
    values: list[int]
    key: str
    findings: tuple[str, ...]


def read_json_samples(
    *paths: str | os.PathLike[str],
    one_means: Meaning | str | None = None,
    gap_s: float | str | Seconds | None = None,
    time_unit: TimeUnit | str | None = None,
) -> Trace:
    """Read equidistant samples: one JSON file per node or zone, plain, gzip or xz.

    A file contains a list of 0 and 1, or an object with such a list (``data``, ``availability``, ``preempted``, ...),
    the gap between two samples (``gap_seconds``) and optionally the time of the first sample (``start_time``). These
    keys are next to the list or in ``metadata``. Larger numbers count machines. If a file counts machines, all do, and
    the machines of all files are joined.

    Parameters
    ----------
    *paths
        The files, in the order of the nodes.
    one_means
        Meaning of a sample of 1: ``available`` or ``preempted``. None: the key of the list decides, otherwise
        available.
    gap_s
        Seconds between two samples. None: the file decides.
    time_unit
        Unit of a start that is a number. None: its key decides, otherwise what is plausible.

    Raises
    ------
    InputError
        If the text is not JSON, has no list, several lists or no gap, a sample is not a number of machines, or a count
        is one of machines that are not available. The message names the file and the sample.
    """
    files: list[_File] = []
    for path in paths:
        try:
            files.append(_samples("\n".join(read_lines(path)), gap_s, time_unit))
        except InputError as error:
            raise error.in_file(path) from None
    is_count = any(max(file.values) > 1 for file in files)
    rows: dict[str, tuple[Interval, ...]] = {}
    assumptions: list[str] = []
    findings: list[tuple[str, ...]] = []
    for path, file in zip(paths, files, strict=True):
        name = node_of(path)
        try:
            if is_count:
                expect_counts_of_available(file.key, one_means)
                assumptions.append(COUNTED)
                add_rows(rows, counted(name, file.dates, file.values))
                findings.append((*file.findings, "counts of available machines"))
            else:
                meaning = meaning_of(one_means, file.key)
                assumptions.append(assumption_on_ones(meaning))
                add_rows(
                    rows, {name: from_samples(file.dates, [v == (meaning is Meaning.AVAILABLE) for v in file.values])}
                )
                findings.append((*file.findings, assumptions[-1].partition(",")[0]))
        except InputError as error:
            raise error.in_file(path) from None
    return Trace(tuple(rows), tuple(rows.values()), (*dict.fromkeys(assumptions), _GRID), joined(findings))


def _samples(text: str, gap_s: float | str | Seconds | None, time_unit: TimeUnit | str | None) -> _File:
    """Return the samples of a file.

    Raises
    ------
    InputError
        If the text is not JSON, or a key that is needed is missing or stands for two values.
    """
    held = decode_json(text)
    facts: list[tuple[str, Any]] = []
    key = ""
    if isinstance(held, dict):
        if "format" in held:
            raise InputError(f"a file of format {excerpt(held['format'])}, expected a trace")
        metadata = held.get("metadata")
        facts = [*held.items(), *(metadata.items() if isinstance(metadata, dict) else ())]
        lists = [name for name in held if plain_name(name) in _LISTS and isinstance(held[name], list)]
        if not lists:
            raise InputError("no list of samples, expected one under availability, count, data or a name like these")
        if len(lists) > 1:
            raise InputError(f"lists under {' and '.join(map(excerpt, lists))}, expected one list of samples")
        key = lists[0]
        held = held[key]
    if not isinstance(held, list) or len(held) < 2:
        raise InputError("expected a list of at least two samples")
    if len(held) > MOST_ROWS:
        raise InputError(f"{len(held)} samples, expected at most {MOST_ROWS}")
    values: list[int] = []
    for i, value in enumerate(held):
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 and value % 1 == 0:
            values.append(int(value))
        else:
            raise InputError(f"{quoted(value)}, expected 0 or 1, or a count", place=f"sample {i}")
    gap_key = ""
    if gap_s is not None:
        step = to_length(gap_s, "gap")
    else:
        gap_key, gap = _only(facts, _GAPS)
        if gap is None:
            raise InputError("missing, expected the seconds between two samples: gap_seconds, or --gap", place="gap")
        step = gap_in_seconds(to_length(gap, gap_key), gap_key)
    start_key, start = _only(facts, _STARTS)
    begin = 0 if start is None else _begin(start, start_key, time_unit)
    dates: list[Seconds] = [begin + i * step for i in range(len(values))]
    since = "start at 0 s" if start is None else f"start {excerpt(start)}"
    used = (key, start_key, "metadata", *((gap_key,) if gap_s is None else ()))
    unused = [name for name, value in facts if name not in used and value is not None]
    return _File(
        [date if isinstance(date, int) else simplest(date) for date in dates],
        values,
        key,
        ("JSON samples", f"list {excerpt(key)}" if key else "a list", a_gap([step]), since, not_used("keys", unused)),
    )


def _begin(value: object, key: str, time_unit: TimeUnit | str | None) -> Seconds:
    """Return the time of the first sample: a date, or a number of a unit that is named or plausible."""
    text = value if isinstance(value, str) else quoted(value)
    if (time_unit or unit_in_name(key)) is None:
        return to_moment(text, key)
    try:
        return to_times([text], [1], name=key, unit=time_unit, what=key).values[0]
    except InputError as error:
        raise error.at(None) from None


def _only(facts: Sequence[tuple[str, Any]], names: tuple[str, ...]) -> tuple[str, Any]:
    """Return the only key with one of these names, and its value; without one, no name and None."""
    found = [(key, value) for key, value in facts if value is not None and plain_name(key) in names]
    if any(pair != found[0] for pair in found):
        shown = " and ".join(f"{key} {quoted(value)}" for key, value in found)
        raise InputError(f"{shown}, expected one of them")
    return found[0] if found else ("", None)
