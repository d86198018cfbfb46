"""Files next to a report: its tables (.csv, .tex) and its pictures (.svg, .pdf)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from hindsched.bench.family import AnyFamily
from hindsched.bench.report import canvas
from hindsched.bench.report.svg import inline_svg
from hindsched.bench.results.print_table import HEADINGS, readable
from hindsched.bench.results.ratio_statistics import in_median_order
from hindsched.bench.results.records import records
from hindsched.bench.results.summary import csv_text
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import write_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

__all__ = ["Files"]


class Files:
    """The files of a report, with the content of the page.

    Parameters
    ----------
    folder
        Created if needed.
    latex
        Whether to write LaTeX tables and PDF pictures too.
    """

    def __init__(self, folder: Path, *, latex: bool = False) -> None:
        self.latex = latex
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=folder) from None
        self.folder = folder
        self.prefix = ""
        self.written: list[Path] = []

    def table(self, name: str, frame: pd.DataFrame) -> str:
        """Write a table and return the name of its file."""
        path = self._path(f"{name}.csv")
        write_text(path, csv_text(frame))
        return path.name

    def picture(self, name: str, title: str, drawing: Drawing) -> tuple[str, str, str]:
        """Write a picture and return it as a panel of a `Figure`."""
        path = self._path(f"{name}.svg")
        canvas.save(drawing, path)
        if self.latex:
            canvas.save(drawing, self._path(f"{name}.pdf"))
        return title, path.name, inline_svg(path.read_text(encoding="utf-8"), path.stem)

    def ratio_table(self, overall: pd.DataFrame, family: AnyFamily) -> None:
        """Write the ratio table as LaTeX (booktabs), if requested, with the same cells as on a terminal."""
        import pandas as pd

        if not self.latex or not len(overall):
            return
        rows = [readable(row, family.averages) for row in records(in_median_order(overall))]
        headings = HEADINGS | {name: f"mean {name}" for name in family.averages}
        cells = pd.DataFrame(rows)[list(headings)].rename(columns=headings).fillna("--").map(_for_latex)
        text = cells.to_latex(index=False, escape=True, column_format="l" + "r" * (len(headings) - 1))
        write_text(self._path("table.tex"), "% needs \\usepackage{booktabs}\n" + text)

    def _path(self, name: str) -> Path:
        path = self.folder / (self.prefix + re.sub(r"[^\w.+-]+", "-", name))
        self.written.append(path)
        return path


def _for_latex(cell: object) -> str:
    return str(cell).replace(" - ", " to ").replace(">= ", "at least ").replace("..", " to ")
