"""Pages: plain data into a template, everything escaped but what was made here to be markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["Cell", "Figure", "PageTable", "render"]


@dataclass(frozen=True)
class Cell:
    """One number or text of a table.

    Parameters
    ----------
    text
        What stands there.
    small
        A remark below it.
    heat
        How strongly it is shaded, from 0 to 1.
    is_text
        Whether it is set to the left.
    """

    text: str
    small: str = ""
    heat: float = 0.0
    is_text: bool = False


@dataclass(frozen=True)
class PageTable:
    """A table of a page; ``is_folded`` ones are opened by a click, narrow ones stand beside each other."""

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
    """A picture of a page: SVG elements (see `bench.report.svg.inline_svg`), what they show, and the files they lie in.

    Panels stand beside each other where there is room; a wide picture scrolls in a box of its own.
    """

    title: str
    caption: str
    panels: Sequence[tuple[str, str, str]] = field(default_factory=tuple)  # title, file, element
    is_wide: bool = False


def render(template: str, values: Mapping[str, Any]) -> str:
    """Return a template of ``bench/report/templates`` filled in; a name it does not find is an error."""
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
    """Return text in which short words with a hyphen, such as names of heuristics, stay on one line."""
    from markupsafe import Markup, escape

    span = Markup('<span class="whole">{}</span>')
    words = text.split(" ")
    return Markup(" ").join(span.format(word) if "-" in word and len(word) <= 12 else escape(word) for word in words)
