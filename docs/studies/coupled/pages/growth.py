"""Writers of the page on growth: seconds and slopes of solve, simulate, score and report along each axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from docs.studies.coupled.growth import AXES, WORKS, draw_growth, medians, slope
from docs.studies.marked_pages import Picture
from docs.studies.rows import read_rows
from docs.studies.text_table import text_table
from hindsched.bench.report.formatting import count, plural
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GrowthPage"]


class GrowthPage:
    """Writers of the table, numbers and picture on growth."""

    def writers(self) -> dict[str, Callable[..., str]]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        return {
            "growth_slopes": self.slopes,
            "growth_slope": self.slope,
            "growth_time": self.time,
            "growth_ratio": self.ratio,
            "growth_open": self.open_solves,
        }

    def files(self) -> dict[str, Picture]:
        """Return the picture next to the page, by name."""
        return {"growth.svg": Picture(_rows, lambda path: draw_growth(_rows(), path))}

    def slopes(self) -> str:
        """Return the slope of each work along each axis, and the values that it is over."""
        lines = []
        for work in [work for group in WORKS.values() for work in group]:
            found = [slope(_points(work, axis)) for axis in AXES]
            cells = ["" if each is None else f"{each[0]:.2f} ({_span(*each[1:])})" for each in found]
            lines.append([f"`{work}`", *cells])
        return text_table(["work", *AXES], lines)

    def slope(self, work: str, axis: str) -> str:
        """Return one slope."""
        found = slope(_points(work, axis))
        if found is None:
            raise InputError(f"{work} along {axis}, expected two values or more")
        return f"{found[0]:.2f}"

    def time(self, work: str, axis: str, value: str) -> str:
        """Return the median time of a work at a value of an axis."""
        return _duration(_seconds(work, axis, value))

    def ratio(self, work: str, other: str, axis: str, value: str) -> str:
        """Return how many times as long as another work takes at a value of an axis, to two digits."""
        found = _seconds(work, axis, value) / _seconds(other, axis, value)
        return f"{float(f'{found:.2g}'):,.3g}" if found < 1000 else count(float(f"{found:.2g}"))

    def open_solves(self) -> str:
        """Return the number of open solves, of all solves, and their values."""
        solves = _rows().query("work == 'solve'")
        left = solves[solves["status"] == "open"]
        where = [
            f"{axis} = {', '.join(count(value) for value in sorted(set(group['value'])))}"
            for axis, group in left.groupby("axis", sort=False)
        ]
        said = f"{count(len(left))} of {plural(len(solves), 'solve')}"
        return said + (f" ({'; '.join(where)})" if where else "")


def _rows() -> pd.DataFrame:
    return read_rows("growth")


def _points(work: str, axis: str) -> pd.DataFrame:
    points = medians(_rows())
    return points[(points["work"] == work) & (points["axis"] == axis)]


def _seconds(work: str, axis: str, value: str) -> float:
    points = _points(work, axis)
    found = points.loc[points["value"] == int(value), "seconds"]
    if len(found) != 1:
        known = ", ".join(str(each) for each in points["value"])
        raise InputError(f"{work} at {axis} = {value}, expected one of {known or 'the works and axes'}")
    return float(found.iloc[0])


def _span(first: int, last: int) -> str:
    return f"{count(first)} to {count(last)}"


def _duration(seconds: float) -> str:
    """Return a time to two digits with its unit."""
    unit, scale = next((unit, scale) for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)) if seconds * scale >= 1)
    return f"{float(f'{seconds * scale:.2g}'):g} {unit}"
