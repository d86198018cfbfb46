"""The entry point for traces of all formats. The content of a file decides which reader is used."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Seconds
from hindsched.instances.traces.event_log import FIRST_LINE, read_event_log
from hindsched.instances.traces.event_table import read_event_table
from hindsched.instances.traces.json_samples import read_json_samples
from hindsched.instances.traces.packaged import packaged_traces, read_packaged
from hindsched.instances.traces.parsing import TraceFile
from hindsched.instances.traces.samples import Meaning, read_samples
from hindsched.instances.traces.trace import Trace

__all__ = ["read"]


class _Form(StrEnum):
    TABLE = "an event table"
    LOG = "a log of added and removed nodes"
    SAMPLES = "samples"
    JSON = "JSON samples"


def read(
    *paths: str | os.PathLike[str],
    one_means: Meaning | str | None = None,
    gap_s: float | str | Seconds | None = None,
    columns: Mapping[str, str] | None = None,
) -> Trace:
    """Read a trace of any known format, or a packaged trace by its name.

    ==================================== ================================================================
    first line                           format and reader
    ==================================== ================================================================
    begins with ``[`` or ``{``           JSON samples with a gap, one file per node (`read_json_samples`)
    ``number,add|remove,name``           one log of added and removed nodes (`read_event_log`)
    names of columns with commas         samples or counts over time (`read_samples`)
    anything else                        one table of the Failure Trace Archive (`read_event_table`)
    ==================================== ================================================================

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

    Raises
    ------
    InputError
        If the reader refuses the file, a table or log is among several files (their clocks and nodes may differ), or an
        option does not apply to the format.
    """
    if not paths:
        raise InputError("no file, expected at least one", place="trace")
    if len(paths) == 1 and paths[0] in packaged_traces():
        _refuse(_Form.LOG, one_means=one_means, gap_s=gap_s, columns=columns)
        return read_packaged(str(paths[0]))
    files = [TraceFile(path) for path in paths]  # a pipe can be read only once
    forms = [_form(file) for file in files]
    form = forms[0]
    if form is _Form.JSON and set(forms) == {form}:
        _refuse(form, columns=columns)
        return read_json_samples(*files, one_means=one_means, gap_s=gap_s)
    if form is _Form.SAMPLES and set(forms) == {form}:
        _refuse(form, gap_s=gap_s)
        return read_samples(*files, one_means=one_means, columns=columns)
    if len(paths) == 1:
        _refuse(form, one_means=one_means, gap_s=gap_s, columns=columns)
        return read_event_log(files[0]) if form is _Form.LOG else read_event_table(files[0])
    alone = next((i for i, form in enumerate(forms) if form in (_Form.TABLE, _Form.LOG)), None)
    if alone is None:
        raise InputError("JSON samples and others, expected files of one form", file=paths[forms.index(_Form.JSON)])
    raise InputError(f"{forms[alone]} among several files, expected it alone", file=paths[alone])


def _refuse(form: _Form, **given: object) -> None:
    for name, value in given.items():
        if value is not None and value != {}:
            raise InputError(f"does not apply to {form}", place=name)


def _form(file: TraceFile) -> _Form:
    first = file.text.partition("\n")[0]
    if first.lstrip().startswith(("[", "{")):
        return _Form.JSON
    if FIRST_LINE.fullmatch(first):
        return _Form.LOG
    return _Form.SAMPLES if "," in first else _Form.TABLE
