"""Write the rows of a study to a file and print them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hindsched.bench.output import Table
from hindsched.bench.results.records import records_or_none
from hindsched.instances.text_files import write_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["write_and_print"]


def write_and_print(rows: pd.DataFrame, path: Path, title: str, *, as_json: bool) -> None:
    """Write rows as CSV to a path, and print them as a table or as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, str(rows.to_csv(index=False, lineterminator="\n")))
    table = Table({name: name for name in rows.columns}, as_json, title=title)
    table.add_all(records_or_none(rows))
    table.show()
