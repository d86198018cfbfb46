"""The rows that the results in the documentation are computed from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ROWS", "read_rows", "read_rows_with_gaps"]

#: The folder of the rows.
ROWS = Path(__file__).parent / "rows"


def read_rows(name: str) -> pd.DataFrame:
    """Return the table ``docs/studies/rows/NAME.csv``, with the types that pandas infers."""
    import pandas as pd

    return pd.read_csv(ROWS / f"{name}.csv")


def read_rows_with_gaps(name: str) -> pd.DataFrame:
    """Return a table as `read_rows` does, with integer columns that may have missing values."""
    return read_rows(name).convert_dtypes()
