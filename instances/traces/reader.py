"""The entry point for traces of all formats. The content of a file decides which reader is used."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import partial

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Seconds
from hindsched.instances.traces.delimited import significant
from hindsched.instances.traces.event_log import find_event_log, read_event_log
from hindsched.instances.traces.event_table import find_event_table, read_event_table
from hindsched.instances.traces.json_samples import read_json_samples
from hindsched.instances.traces.packaged import packaged_traces, read_packaged
from hindsched.instances.traces.parsing import TraceFile, excerpt, read_lines
from hindsched.instances.traces.samples import Meaning, find_samples, read_samples
from hindsched.instances.traces.times import TimeUnit
from hindsched.instances.traces.trace import Trace

__all__ = ["read"]


#: A table's name and the key of its first value: the beginning of a TOML file that might be JSON.
_TOML_TABLE = re.compile(r"\s*\[\[?\s*[\w.-]+\s*\]\]?[^\n]*\n\s*[\w.-]+\s*=")


class _Form(StrEnum):
    TABLE = "an event table"
    LOG = "a log of added and removed nodes"
    SAMPLES = "samples"
    JSON = "JSON samples"
    PACKAGED = "a packaged trace"


def read(
    *paths: str | os.PathLike[str],
    one_means: Meaning | str | None = None,
    gap_s: float | str | Seconds | None = None,
    columns: Mapping[str, str] | None = None,
    time_unit: TimeUnit | str | None = None,
) -> Trace:
    """Read a trace of any known format, or a packaged trace by its name.

    ============================================ ================================================================
    first line that is no comment                format and reader
    ============================================ ================================================================
    begins with ``[`` or ``{``                   JSON samples with a gap, one file per node (`read_json_samples`)
    ``number,add|remove,name``                   one log of added and removed nodes (`read_event_log`)
    names of the columns of an event             the same
    names of columns of a date and a value       samples or counts over time (`read_samples`)
    names of, or values in, nine columns         one table of the Failure Trace Archive (`read_event_table`)
    ============================================ ================================================================

    Parameters
    ----------
    *paths
        One table or log, or files of samples, or a name of `packaged_traces` (write ``./name`` for a file of that
        name).
    one_means
        Meaning of a sample of 1: ``available`` or ``preempted``. None: the file decides, otherwise available.
    gap_s
        Seconds between two samples of a JSON list. None: the file decides.
    columns
        Names of columns by their content (see `read_samples`).
    time_unit
        Unit of times that are numbers (see `TimeUnit`). None: the file decides, otherwise what is plausible.

    Raises
    ------
    InputError
        If no form fits the file, the reader refuses it, a table or log is among several files (their clocks and nodes
        may differ), or an option does not apply to the format.
    """
    if not paths:
        raise InputError("no file, expected at least one", place="trace")
    if len(paths) == 1 and paths[0] in packaged_traces():
        _refuse(_Form.PACKAGED, one_means=one_means, gap_s=gap_s, columns=columns, time_unit=time_unit)
        return read_packaged(str(paths[0]))
    files = [_open(path) for path in paths]  # a pipe can be read only once
    forms = [_form(file, columns or {}) for file in files]
    form = forms[0]
    if form is _Form.JSON and set(forms) == {form}:
        _refuse(form, columns=columns)
        return read_json_samples(*files, one_means=one_means, gap_s=gap_s, time_unit=time_unit)
    if form is _Form.SAMPLES and set(forms) == {form}:
        _refuse(form, gap_s=gap_s)
        return read_samples(*files, one_means=one_means, columns=columns, time_unit=time_unit)
    if len(paths) == 1:
        _refuse(form, one_means=one_means, gap_s=gap_s, columns=columns)
        reader = read_event_log if form is _Form.LOG else read_event_table
        return reader(files[0], time_unit=time_unit)
    alone = next((i for i, form in enumerate(forms) if form in (_Form.TABLE, _Form.LOG)), None)
    if alone is None:
        raise InputError("JSON samples and others, expected files of one form", file=paths[forms.index(_Form.JSON)])
    raise InputError(f"{forms[alone]} among several files, expected it alone", file=paths[alone])


def _refuse(form: _Form, **given: object) -> None:
    for name, value in given.items():
        if value is not None and value != {}:
            raise InputError(f"does not apply to {form}", place=name)


def _open(path: str | os.PathLike[str]) -> TraceFile:
    """Return a file that is read once; a name that is no file may be meant as that of a packaged trace."""
    try:
        return TraceFile(path)
    except InputError as error:
        if error.expected == "no such file" and os.sep not in os.fspath(path):
            known = ", ".join(packaged_traces())
            raise InputError(f"no such file, expected one or a packaged trace: {known}", file=path) from None
        raise


def _form(file: TraceFile, columns: Mapping[str, str]) -> _Form:
    """Return the form of a file, from its first line that is no comment.

    Raises
    ------
    InputError
        If no form fits. The message names the forms and why each does not fit.
    """
    if file.text.lstrip().startswith(("[", "{")) and not _TOML_TABLE.match(file.text):
        return _Form.JSON
    try:
        lines = read_lines(file)
        reasons: list[str] = []
        for form, find in (
            (_Form.LOG, find_event_log),
            (_Form.SAMPLES, partial(find_samples, columns=columns)),
            (_Form.TABLE, find_event_table),
        ):
            found = find(lines)
            if not isinstance(found, str):
                return form
            reasons.append(f"not {form}: {found}")
        if columns:
            return _Form.SAMPLES
        number, line = next(significant(lines))
        place = f"line {number}"
        if _is_toml(file.text):
            raise InputError("a TOML file, expected a trace; a campaign is run by hindsched campaign", place=place)
        job = next((text for _, text in significant(lines) if not text.startswith(";")), line)
        if len(job.split()) in (18, 29):
            raise InputError("a log of jobs, expected a trace; it is read with --family grid", place=place)
        raise InputError(f"{excerpt(line)} is in no known form; {'; '.join(reasons)}", place=place)
    except InputError as error:
        raise error.in_file(file) from None


def _is_toml(text: str) -> bool:
    try:
        return bool(tomllib.loads(text))
    except (ValueError, RecursionError):
        return False
