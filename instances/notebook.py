"""Display of results in notebooks."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from html import escape
from typing import Any

__all__ = ["NotebookTable"]


class NotebookTable:
    """Base of dataclasses that a notebook displays as a table of their plain fields: numbers, texts and None.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Found(NotebookTable):
    ...     value: int
    ...     schedule: list
    >>> print(Found(3, [1, 2])._repr_html_())
    <table><caption>Found</caption><tr><th>value</th><td>3</td></tr></table>
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        found: list[tuple[str, Any]] = [(field.name, getattr(self, field.name)) for field in fields(self)]  # type: ignore[arg-type]
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{'' if value is None else escape(_text(value))}</td></tr>"
            for name, value in found
            if value is None or isinstance(value, str | int | float | Fraction)
        )
        return f"<table><caption>{escape(type(self).__name__)}</caption>{rows}</table>"


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
