"""Rows of a data frame as plain dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindsched.bench.shared_types import Row

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["records", "records_or_none"]


def records(frame: pd.DataFrame) -> list[Row]:
    """Return the rows of a frame as dictionaries by column."""
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False, name=None)]


def records_or_none(frame: pd.DataFrame) -> list[Row]:
    """Return the rows of a frame as dictionaries by column, with None for a missing value."""
    return records(frame.astype(object).where(frame.notna(), None))
