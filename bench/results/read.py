"""Read the results of a campaign: from its folder, or from a compact table of its runs."""

from __future__ import annotations

import os
from pathlib import Path

from hindsched.bench.campaign.journal import Journal, JournalRows
from hindsched.bench.results.columns import Results
from hindsched.bench.results.compact_tables import read_table
from hindsched.bench.results.journal_rows import results_of
from hindsched.instances.errors import InputError

__all__ = ["read_results"]


def read_results(path: str | os.PathLike[str]) -> Results:
    """Read a folder with a journal, or a compact table (CSV, plain or packed, or Parquet).

    A compact table has one row per run, with at least ``policy``, the family's value (``makespan``, ..., or ``value``;
    empty: unfinished), and either ``instance`` or the point of the experiment (``m``, ``n_com``, ``wmin``,
    ``scenario``, ``trial``). It may have further columns of `Results.runs`; `Results.runs` itself is a compact table.

    Parameters
    ----------
    path
        The folder or the file. While a campaign is writing, only complete rows count.

    Raises
    ------
    InputError
        If there is no run, or a row is broken; its line is named.
    """
    found = _from_journal(Path(path)) if Path(path).is_dir() else read_table(Path(path))
    if len(found.runs) == 0:
        raise InputError("no runs, expected rows of policies on instances", file=path)
    return found


def _from_journal(folder: Path) -> Results:
    try:
        return results_of(JournalRows(folder))
    except InputError as error:
        raise error.in_file(folder / Journal.NAME) from None
