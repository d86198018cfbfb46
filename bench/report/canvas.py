"""Figures without a display, and their files.

Colours are those of Okabe and Ito, which colour-blind readers can distinguish. Pictures also use letters, hatches or
dashes for every meaning of a colour.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindsched.bench.shared_types import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "drawn", "new_figure", "new_grid", "save"]

#: Colours that colour-blind readers can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
#: Metadata by ending of a file, without the date: equal figures give equal files.
_ENDINGS: dict[str, Row] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}


def new_figure(rows: int = 1, *, width: float = 9.0, heights: Sequence[float] = (4.0,)) -> tuple[Figure, list[Axes]]:
    """Return a figure with ``rows`` axes in a column; it needs no display."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, sum(heights)), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.subplots(rows, 1, squeeze=False, height_ratios=list(heights))
    return figure, [row[0] for row in axes]


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure in the format of the ending (.svg, .pdf, .png); equal figures give equal files."""
    from pathlib import Path

    from hindsched.instances.errors import InputError
    from hindsched.instances.text_files import write_bytes

    suffix = Path(path).suffix
    ending = suffix.removeprefix(".").lower()
    if ending not in _ENDINGS:
        raise InputError(f"ending {suffix!r}, expected .svg, .pdf or .png", file=path)
    write_bytes(path, drawn(figure, ending, f"{os.fspath(path)}: "))


def drawn(figure: Figure, ending: str, file: str = "") -> bytes:
    """Return the content of a figure's file with this ending (``svg``, ``pdf`` or ``png``).

    Signs that the font lacks are drawn with another font of the machine. A line on standard error, which begins with
    ``file``, says which signs no font has. In SVG they are text, for which the viewer has fonts.
    """
    from hindsched.instances.errors import printable
    from hindsched.instances.text_files import as_unicode

    content, missing = _drawn(figure, ending)
    if missing and ending != "svg" and _add_fonts(figure, missing):
        content, missing = _drawn(figure, ending)
    if missing and ending != "svg":
        signs = "".join(sorted(missing))[:40]
        said = f"{file}no font has a sign for {signs}, so boxes are drawn; an .svg file keeps the text"
        sys.stderr.write(f"hindsched: {printable(as_unicode(said))}\n")
    return content


def _drawn(figure: Figure, ending: str) -> tuple[bytes, set[str]]:
    """Return the content of a figure's file, and the signs that its fonts lack."""
    from io import BytesIO

    import matplotlib as mpl

    picture = BytesIO()
    missing: set[str] = set()

    def note(record: logging.LogRecord) -> bool:
        found = re.search(r"\[U\+(\w+)\]", record.getMessage())
        missing.update([chr(int(found[1], 16))] if found else [])
        return found is None

    formulas = logging.getLogger("matplotlib.mathtext")  # it logs where other texts warn
    formulas.addFilter(note)
    try:
        with (
            mpl.rc_context({"svg.hashsalt": "hindsched", "svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans"]}),
            warnings.catch_warnings(record=True) as said,
        ):
            warnings.simplefilter("always")
            figure.savefig(picture, format=ending, dpi=150, metadata=_ENDINGS[ending])
    finally:
        formulas.removeFilter(note)
    for one in said:
        found = re.match(r"Glyph (\d+) .*missing from", str(one.message))
        if found is None:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        else:
            missing.add(chr(int(found[1])))
    content = picture.getvalue()
    return _shortened(content) if ending == "svg" else content, missing


def _shortened(svg: bytes) -> bytes:
    """Return a picture without needless spaces and names, and with short numbers.

    Coordinates have two decimals, numbers below 1 four significant digits.
    """

    def shorten(number: re.Match[bytes]) -> bytes:
        value = float(number[0])
        return (f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) >= 1 else f"{value:.4g}").encode()

    def in_tag(tag: re.Match[bytes]) -> bytes:
        content = re.sub(rb"-?\b\d+\.\d{2,}\b(?!\.)", shorten, tag[0])
        content = re.sub(rb' transform="rotate\(-?0 [^()]*\)"', b"", content)
        return re.sub(rb' style="[^"]*"', lambda style: re.sub(rb"([:;]) ", rb"\1", style[0]), content)

    lines = re.sub(rb"\s*\n\s*", b"\n", svg)
    return re.sub(rb"<[^<>]*>", in_tag, re.sub(rb'<g id="[^"]*"', b"<g", lines))


def _add_fonts(figure: Figure, missing: set[str]) -> bool:
    """Let texts with some signs use fonts of this machine that have the signs; return whether there is such a font."""
    from matplotlib.font_manager import fontManager, get_font
    from matplotlib.text import Text

    others: list[str] = []
    for font in fontManager.ttflist:
        known = {sign for sign in missing if get_font(font.fname).get_char_index(ord(sign))}
        if known and font.style == "normal" and not font.name.startswith("Last Resort"):
            others.append(font.name)
            missing = missing - known
    for text in figure.findobj(Text):
        if isinstance(text, Text) and not text.get_text().isascii():
            text.set_fontfamily([*text.get_fontfamily(), *others])
    return bool(others)


def new_grid(rows: int, columns: int, *, width: float = 5.2, height: float = 3.4) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure with a grid of axes of this size in inches, by row; it needs no display."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    FigureCanvasSVG(figure)
    return figure, [list(row) for row in figure.subplots(rows, columns, squeeze=False)]
