"""Rows of a data frame as plain dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["records", "records_or_none"]


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as plain values, by column."""
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False, name=None)]


def records_or_none(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as plain values, by column, None where nothing is."""
    return records(frame.astype(object).where(frame.notna(), None))
