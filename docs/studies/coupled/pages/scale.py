"""Writers of the page on scale: times and gaps of the exact search against size."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from docs.studies.coupled.solver_races import PROVEN, draw_scale, gap
from docs.studies.marked_pages import DataFile, Picture
from docs.studies.rows import read_rows
from docs.studies.text_table import text_table
from hindsched.bench.report.formatting import count, plural
from hindsched.bench.results.records import records_or_none
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ScalePage"]

_Row = Mapping[str, Any]
#: Tables of rows: of the current search; of a version without the program Lagrangian and local search; and of the
#: current one with ten times the time, for some of the instances that are open.
_SEARCHES = {"now": "coupled_scale", "before": "coupled_scale_before", "long": "coupled_scale_long"}
#: The search that each one is compared with.
_BESIDE = {"now": "before", "long": "now"}


class ScalePage:
    """Writers of the tables, numbers and pictures on scale."""

    def writers(self) -> dict[str, Callable[..., str]]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        return {
            "coupled_scale": self.table,
            "coupled_scale_real": self.real,
            "coupled_scale_threads": self.by_threads,
            "coupled_scale_k": self.by_iterations,
            "coupled_scale_number": self.number,
        }

    def files(self) -> dict[str, Picture | DataFile]:
        """Return the pictures and data files next to the pages, by name."""
        return {
            "scale.svg": Picture(
                lambda: read_rows("coupled_scale"), lambda path: draw_scale(_rows("coupled_scale"), path)
            ),
            "scale_k.svg": Picture(
                lambda: read_rows("coupled_scale_k"), lambda path: draw_scale(_rows("coupled_scale_k"), path)
            ),
            "scale_open.csv": DataFile(lambda: self.still_open("now")),
            "scale_long.csv": DataFile(lambda: self.still_open("long")),
        }

    def table(self) -> str:
        """Return optima and times, or bounds, by p, m, n_com and wmin."""
        rows = [row for row in _rows("coupled_scale") if row["p"] is not None]
        wmins = sorted({row["wmin"] for row in rows})
        lines: dict[tuple[int, ...], list[str]] = {}
        for row in sorted(rows, key=lambda row: (row["p"], row["m"], row["n_com"], row["wmin"])):
            point = (row["p"], row["m"], row["n_com"])
            lines.setdefault(point, [count(value) for value in point]).append(_cell(row))
        return text_table(["p", "m", "n_com", *(f"wmin = {wmin}" for wmin in wmins)], list(lines.values()))

    def by_iterations(self) -> str:
        """Return seconds by K, and the exponent of growth from the K before, over the instances with a schedule."""
        seconds: dict[int, dict[tuple[Any, ...], float]] = {}
        for row in _rows("coupled_scale_k"):
            if row["status"] != "optimal":
                continue
            point = tuple(row[name] for name in ("p", "m", "n_com", "wmin"))
            seconds.setdefault(row["iterations"], {})[point] = row["seconds"]
        lines = []
        before, past = 1, dict[tuple[Any, ...], float]()
        for k, times in sorted(seconds.items()):
            slopes = [math.log(times[at] / past[at], k / before) for at in times if at in past]
            cells = [f"{of(times.values()):.2g}" for of in (statistics.median, max)]
            cells += [f"{of(slopes):.2f}" if slopes else "" for of in (statistics.median, max)]
            lines.append([count(k), *cells])
            before, past = k, times
        return text_table(["K", "median, s", "most, s", "exponent, median", "exponent, most"], lines)

    def still_open(self, search: str) -> pd.DataFrame:
        """Return bound, value and gap of the points that are open by a search, or by the one it is compared with."""
        import pandas as pd

        other = _BESIDE[search]
        old_rows = {row["instance"]: row for row in _rows(_SEARCHES[other])}
        rows = []
        for row in _rows(_SEARCHES[search]):
            old = old_rows.get(row["instance"])
            if old is None or {row["status"], old["status"]} <= set(PROVEN):
                continue
            found = {name: row[name] for name in ("p", "m", "n_com", "wmin")}
            for name, each in ((other, old), (search, row)):
                found |= {f"bound_{name}": each["bound"], f"value_{name}": each["value"], f"gap_{name}": _gap(each)}
            rows.append(found)
        return pd.DataFrame(rows)

    def real(self) -> str:
        """Return optima and times, or bounds, on real traces."""
        rows = [[row["instance"], _cell(row)] for row in _rows("coupled_scale") if row["p"] is None]
        return text_table(["instance", "optimum"], rows)

    def by_threads(self) -> str:
        """Return optima and times, or the bounds and the gap, by the number of threads."""
        rows = _rows("coupled_scale_threads")
        lines: dict[tuple[int, ...], list[str]] = {}
        for row in rows:
            point = (row["p"], row["m"], row["n_com"], row["wmin"])
            found = None if row["status"] in PROVEN else _gap(row)
            said = _cell(row) + ("" if found is None else f" ({_percent(found, 1)})")
            lines.setdefault(point, [count(value) for value in point]).append(said)
        names = [plural(number, "thread") for number in dict.fromkeys(row["threads"] for row in rows)]
        return text_table(["p", "m", "n_com", "wmin", *names], list(lines.values()))

    def number(self, what: str, search: str = "now") -> str:
        """Return a number over the generated instances: how many, ``proven``, or the ``median`` or ``most`` of gaps.

        ``proven_by_p`` lists those that are proven for each p. A gap that is not known is more than all others. A
        search that was not for an instance has today's row for it; it was for ``tried``.
        """
        if search not in _SEARCHES:
            raise InputError(f"{search!r}, expected one of {', '.join(_SEARCHES)}")
        tried = {row["instance"]: row for row in _rows(_SEARCHES[search]) if row["p"] is not None}
        rows = [tried.get(row["instance"], row) for row in _rows(_SEARCHES["now"]) if row["p"] is not None]
        proven = [row for row in rows if row["status"] in PROVEN]
        left = [row for row in rows if row["status"] not in PROVEN]
        gaps = [math.inf if (found := _gap(row)) is None else found for row in left]
        said = {
            "instances": lambda: count(len(rows)),
            "proven": lambda: count(len(proven)),
            "proven_by_p": lambda: _by_p(proven),
            "median": lambda: _percent(statistics.median(gaps), 1),
            "most": lambda: _percent(max(gaps), 0),
            "tried": lambda: count(len(tried)),
        }
        if what not in said:
            raise InputError(f"{what!r}, expected one of {', '.join(said)}")
        return said[what]()


def _percent(share: float, digits: int) -> str:
    return f"{100 * share:.{digits}f} %" if math.isfinite(share) else "not known"


def _by_p(rows: Iterable[_Row]) -> str:
    of = [row["p"] for row in rows]
    return ", ".join(f"{of.count(p)} at {p:,}" for p in sorted(set(of)))


def _gap(row: _Row) -> float | None:
    return gap(row["value"], row["bound"])


def _cell(row: _Row) -> str:
    """Return an optimum and the seconds, or the bounds."""
    if row["status"] not in PROVEN:
        return f"**{_span(row)}**"
    return f"{_span(row)} [{row['seconds']:.2g}]"


def _span(row: _Row) -> str:
    """Return an optimum, or the bound and the value."""
    if row["status"] == "infeasible":
        return "none"
    if row["value"] is None:
        return f"at least {row['bound']:,}"
    return f"{row['value']:,}" if row["status"] in PROVEN else f"{row['bound']:,} to {row['value']:,}"


def _rows(name: str) -> list[dict[str, Any]]:
    """Return the rows, integers where they are."""
    return records_or_none(read_rows(name).convert_dtypes())
