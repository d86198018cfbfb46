"""Tables of texts in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["text_table"]


def text_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return texts as a table in Markdown; all columns but the first are right-aligned.

    Examples
    --------
    >>> print(text_table(["policy", "runs"], [["IE", "3,000"]]), end="")
    | policy | runs |
    |---|--:|
    | IE | 3,000 |
    """
    lines = ["| " + " | ".join(row) + " |" for row in (headings, *rows)]
    return "\n".join([lines[0], "|---|" + "--:|" * (len(headings) - 1), *lines[1:]]) + "\n"
