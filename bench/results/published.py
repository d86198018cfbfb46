"""The rows that the documentation rests on, as they come with the toolkit."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["published_table"]


def published_table(name: str) -> pd.DataFrame:
    """Return the table ``bench/data/NAME.csv``, with the types that pandas finds."""
    import pandas as pd

    with files("hindsched.bench").joinpath(f"data/{name}.csv").open("rb") as file:
        return pd.read_csv(file)
