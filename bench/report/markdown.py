"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["markdown_table"]


def markdown_table(rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> str:
    """Return rows as a table in Markdown, with numbers of three digits and a dash for a missing one.

    Examples
    --------
    >>> print(markdown_table([{"p": 20, "seconds": 0.01234}, {"p": 50, "seconds": None}], ["p", "seconds"]), end="")
    | p | seconds |
    |---|---|
    | 20 | 0.0123 |
    | 50 | - |
    """
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(_cell(row[column]) for column in columns) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)
