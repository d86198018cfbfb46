"""Writers of the page on on-line optima of small instances."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from docs.studies.claims_tables import one_of
from docs.studies.coupled.online_optima import draw_ratios
from docs.studies.marked_pages import Picture, Writer
from docs.studies.rows import read_rows
from docs.studies.text_table import text_table
from hindsched.bench.report.formatting import MINUS, NOTHING, count
from hindsched.bench.results.records import records

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OnlineOptimaPage"]

_HINDSIGHT, _CHARGED, _OPTIMUM, _PLAYED = "hindsight", "charged hindsight", "on-line optimum", "its policy"
_KNOWN = (_HINDSIGHT, _CHARGED, _OPTIMUM, _PLAYED)


class OnlineOptimaPage:
    """Writers of the tables, numbers and pictures on on-line optima."""

    def writers(self) -> dict[str, Writer]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        tables = (self.online_optima, self.online_sizes, self.free_prefetch)
        numbers = (self.online_size, self.price, self.fault, self.charged_gain, self.prefetch_gap)
        return {writer.__name__: writer for writer in (*tables, *numbers)}

    def files(self) -> dict[str, Picture]:
        """Return the picture next to the pages, by name."""
        return {"online_optima.svg": Picture(_ratios, lambda path: draw_ratios(_ratios(), path))}

    def online_optima(self) -> str:
        """Return the expected values on each instance: hindsight, charged, on-line optimum, and each policy."""
        policies = [name for name in dict.fromkeys(_optima()["player"]) if name not in _KNOWN]
        headings = ["p", "m", "draw", "hindsight", "charged bound", "on-line optimum", "price", *policies]
        rows = []
        for instance, players in _cells(_optima()):
            hindsight, best = players[_HINDSIGHT], players[_OPTIMUM]
            charged = players.get(_CHARGED)
            row = [*map(str, instance), _mean(hindsight), NOTHING if charged is None else _mean(charged)]
            row += [f"{best['slots']:.2f}", f"{best['price']:.2f}"]
            row += [f"{players[name]['fault']:.2f} ({players[name]['ratio']:.2f})" for name in policies]
            rows.append(row)
        return text_table(headings, rows)

    def online_sizes(self) -> str:
        """Return the largest instance of each size: its states, and the time that its on-line optimum took."""
        frame = _optima()[_optima()["player"] == _OPTIMUM].sort_values("states")
        largest = frame.groupby(["p", "m"], sort=True).tail(1).sort_values("states")
        rows = [
            [str(row["p"]), str(row["m"]), count(row["states"]), f"{row['seconds']:,.1f} s"] for row in records(largest)
        ]
        return text_table(["p", "m", "states", "processor time"], rows)

    def online_size(self, what: str) -> str:
        """Return the states, or the seconds, of the largest instance."""
        frame = _optima()[_optima()["player"] == _OPTIMUM]
        largest = records(frame.sort_values("states").tail(1))[0]
        return {"states": count(largest["states"]), "seconds": f"{largest['seconds']:,.0f}"}[
            one_of(what, ("states", "seconds"))
        ]

    def price(self, end: str) -> str:
        """Return the least or the most price of the future on the instances of the table."""
        frame = _optima()[_optima()["player"] == _OPTIMUM]
        return f"{_end(frame['price'], end):.2f}"

    def fault(self, policy: str, end: str) -> str:
        """Return the smallest or largest fault of a policy on the instances of the table."""
        frame = _optima()
        mine = frame[frame["player"] == one_of(policy, set(frame["player"]))]
        return f"{_end(mine['fault'], end):.2f}"

    def charged_gain(self, end: str) -> str:
        """Return the least or largest amount by which the charged bound exceeds hindsight."""
        frame = _optima()
        gain = _end(frame.loc[frame["player"] == _CHARGED, "ratio"], end) - 1
        return f"{gain:.1%}".replace("-", MINUS)

    def free_prefetch(self) -> str:
        """Return the free-prefetch bound over the hindsight optimum on the paper's instances."""
        frame = _prefetch()
        frame = frame.assign(ratio=frame["bound"] / frame["optimum"])
        rows = [
            [str(n_com), str(wmin), str(len(group)), *(f"{group['ratio'].quantile(q):.2f}" for q in (0, 0.5, 1))]
            for (n_com, wmin), group in frame.groupby(["n_com", "wmin"])
        ]
        return text_table(["n_com", "wmin", "instances", "least", "median", "most"], rows)

    def prefetch_gap(self) -> str:
        """Return the median gap of the free-prefetch bound to the optimum."""
        frame = _prefetch()
        return f"{1 - float((frame['bound'] / frame['optimum']).median()):.0%}"


@cache
def _optima() -> pd.DataFrame:
    return read_rows("online_optimum")


@cache
def _prefetch() -> pd.DataFrame:
    return read_rows("free_prefetch")


def _ratios() -> pd.DataFrame:
    """Return the ratio of each policy and of the on-line optimum on each instance."""
    frame = _optima()
    shown = frame[frame["player"].eq(_OPTIMUM) | ~frame["player"].isin(_KNOWN)]
    return shown[["p", "m", "scenario", "player", "ratio", "fault", "price"]]


def _cells(frame: pd.DataFrame) -> list[tuple[tuple[int, int, int], dict[str, dict[str, Any]]]]:
    """Return for each instance p, m and the number of its draw, and the rows of its players."""
    found = [records(group) for _, group in frame.groupby(["p", "m", "scenario"])]
    return [((rows[0]["p"], rows[0]["m"], rows[0]["scenario"]), {row["player"]: row for row in rows}) for rows in found]


def _mean(row: dict[str, Any]) -> str:
    half = (row["high"] - row["low"]) / 2
    return f"{row['slots']:.2f}" + (f" ± {half:.2f}" if row["how"] == "sampled" else "")


def _end(values: pd.Series[Any], end: str) -> float:
    return float(values.min() if one_of(end, ("least", "most")) == "least" else values.max())
