"""Tables of texts in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["text_table"]


def text_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, num_texts: int = 1) -> str:
    """Return texts as a table in Markdown; all columns but the first ``num_texts`` are right-aligned.

    Examples
    --------
    >>> print(text_table(["policy", "runs"], [["IE", "3,000"]]), end="")
    | policy | runs |
    |---|--:|
    | IE | 3,000 |
    """
    lines = ["| " + " | ".join(row) + " |" for row in (headings, *rows)]
    return "\n".join([lines[0], "|" + "---|" * num_texts + "--:|" * (len(headings) - num_texts), *lines[1:]]) + "\n"
