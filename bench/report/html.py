"""HTML pages: plain data filled into a template; all text is escaped except markup made in this module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["Cell", "Figure", "PageTable", "render"]


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Parameters
    ----------
    text
        The text.
    small
        A remark below the text.
    heat
        Shading from 0 to 1.
    is_text
        Whether the cell is left-aligned.
    """

    text: str
    small: str = ""
    heat: float = 0.0
    is_text: bool = False


@dataclass(frozen=True)
class PageTable:
    """A table of a page. Folded tables open on a click; narrow tables stand side by side."""

    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    file: str = ""
    note: str = ""
    is_folded: bool = False
    is_narrow: bool = False
    is_dense: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure of a page: panels, each with a title, a file and an SVG element (see `bench.report.svg.inline_svg`).

    Panels stand side by side if there is room; a wide figure scrolls in its own box.
    """

    title: str
    caption: str
    panels: Sequence[tuple[str, str, str]] = field(default_factory=tuple)  # title, file, element
    is_wide: bool = False


def render(template: str, values: Mapping[str, object]) -> str:
    """Return a filled-in template of ``bench/report/templates``; an undefined name is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("hindsched.bench.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["markup"] = Markup
    environment.filters["whole"] = _whole
    return environment.get_template(template).render(**values)


def _whole(text: str) -> Markup:
    """Return text in which short words with a hyphen, such as names of policies, are not broken."""
    from markupsafe import Markup, escape

    span = Markup('<span class="whole">{}</span>')
    words = text.split(" ")
    return Markup(" ").join(span.format(word) if "-" in word and len(word) <= 12 else escape(word) for word in words)
