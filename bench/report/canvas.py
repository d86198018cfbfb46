"""Figures without a display, and their files.

Colours are those of Okabe and Ito, which colour-blind readers can distinguish. Pictures also use letters, hatches or
dashes for every meaning of a colour.
"""

from __future__ import annotations

import os
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
    write_bytes(path, drawn(figure, ending))


def drawn(figure: Figure, ending: str) -> bytes:
    """Return the content of a figure's file with this ending (``svg``, ``pdf`` or ``png``)."""
    from io import BytesIO

    import matplotlib as mpl

    picture = BytesIO()
    with mpl.rc_context({"svg.hashsalt": "hindsched", "svg.fonttype": "none"}):
        figure.savefig(picture, format=ending, dpi=150, metadata=_ENDINGS[ending])
    return picture.getvalue()


def new_grid(rows: int, columns: int) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure with a grid of axes, by row; it needs no display."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2 * columns, 3.4 * rows), layout="constrained")
    FigureCanvasSVG(figure)
    return figure, [list(row) for row in figure.subplots(rows, columns, squeeze=False)]
