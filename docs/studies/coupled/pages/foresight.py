"""What the documentation says of on-line optima and of the map of foresight, written from the published rows.

The rows are made by ``python -m docs.studies online-optima``, ``bench foresight`` and ``bench markov``, and lie in
``bench/data``; no number is written by hand.
"""

from __future__ import annotations

from functools import cache
from math import isinf
from typing import TYPE_CHECKING, Any

from docs.studies.coupled import foresight
from docs.studies.rows import read_rows
from hindsched.bench.report.formatting import MINUS, NOTHING, count, share
from hindsched.bench.report.markdown import text_table
from hindsched.bench.report.marks import Picture, Writer
from hindsched.bench.results.records import records
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ForesightPages"]

_HINDSIGHT, _CHARGED, _OPTIMUM, _PLAYED = "hindsight", "charged hindsight", "on-line optimum", "its policy"
_AXES = {
    "task": "task / availability period",
    "channels": "n_com / m",
    "program": "T_prog / task",
    "workers": "p / m",
    "lost": "DOWN / absences",
    "away": "absence / availability period",
}


class ForesightPages:
    """The writers of docs/online_optimum.md and docs/foresight.md."""

    def writers(self) -> dict[str, Writer]:
        """Return who writes the marked parts (see `hindsched.bench.report.marks`), by name."""
        tables = (self.online_optima, self.online_sizes, self.free_prefetch)
        more = (self.foresight_map, self.markov_tests, self.markov_estimates, self.markov_costs)
        numbers = (
            self.online_size,
            self.price,
            self.fault,
            self.charged_gain,
            self.prefetch_gap,
            self.map_ratio,
        )
        return {writer.__name__: writer for writer in (*tables, *more, *numbers, self.markov_share, self.leaving)}

    def pictures(self) -> dict[str, Picture]:
        """Return the pictures beside the pages, by file."""
        return {"foresight.svg": Picture(_map, lambda path: foresight.draw_map(_map(), path))}

    # ---- on-line optima

    def online_optima(self) -> str:
        """Return what is expected on each instance: of hindsight, charged, on-line at the best, and of each policy."""
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
        return {"states": count(largest["states"]), "seconds": f"{largest['seconds']:,.0f}"}[_one_of(what, _SIZES)]

    def price(self, end: str) -> str:
        """Return the least or the most price of the future on the instances of the table."""
        frame = _optima()[_optima()["player"] == _OPTIMUM]
        return f"{_end(frame['price'], end):.2f}"

    def fault(self, policy: str, end: str) -> str:
        """Return the least or the most fault of a policy on the instances of the table."""
        frame = _optima()
        mine = frame[frame["player"] == _one_of(policy, set(frame["player"]))]
        return f"{_end(mine['fault'], end):.2f}"

    def charged_gain(self, end: str) -> str:
        """Return by how much the charged bound exceeds hindsight, at least or at most."""
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
        """Return by how much the free-prefetch bound is below the optimum in the median."""
        frame = _prefetch()
        return f"{1 - float((frame['bound'] / frame['optimum']).median()):.0%}"

    # ---- the map

    def foresight_map(self) -> str:
        """Return the median ratios of the map, with the middle half of the instances."""
        policies = list(dict.fromkeys(_map()["policy"]))
        rows = []
        for (machines, axis, value), group in _map().groupby(["machines", "axis", "value"], sort=False):
            found = {row["policy"]: row for row in records(group)}
            first = next(iter(found.values()))
            row = [f"{machines}: {_AXES[str(axis)]}", f"{value:g}", str(first["instances"]), f"{first['optimum']:,.0f}"]
            rows.append(row + [_spread(found[name]) for name in policies])
        return text_table(["machines and axis", "value", "instances", "optimum", *policies], rows)

    def map_ratio(self, machines: str, axis: str, value: str, policy: str) -> str:
        """Return one median ratio of the map."""
        frame = _map()
        mine = frame[(frame["machines"] == machines) & (frame["axis"] == axis) & (frame["policy"] == policy)]
        chosen = mine[mine["value"] == float(value)]
        if len(chosen) != 1:
            raise InputError(f"{machines} {axis} {value} {policy}, expected a point of the map")
        return f"{chosen['median'].iloc[0]:.2f}"

    # ---- Markov

    def markov_tests(self) -> str:
        """Return for each group of machines how many nodes fail each test, and how large the effects are."""
        rows = []
        for machines, group in _read("markov_tests").groupby("machines", sort=False):
            row = [str(machines), str(len(group))]
            row += [f"{(group[name] < 0.01).sum()} of {group[name].notna().sum()}" for name in _TESTS]
            row += [f"{group[name].median():.3f}" for name in ("young_leaves", "old_leaves")]
            rows.append([*row, f"{group['hour_ratio'].median():.1f}", f"{group['autocorrelation'].median():.3f}"])
        headings = ["machines", "nodes", "age", "state before", "time of day", "leaves UP, young", "old"]
        return text_table([*headings, "quarters of the day", "autocorrelation"], rows)

    def markov_estimates(self) -> str:
        """Return predicted and observed attempts."""
        rows = [
            [
                f"{row['machines']}: {row['members']} members", str(row["slots"]), count(row["starts"]),
                f"{row['predicted']:.3f}", f"{row['observed']:.3f}",
                f"{row['predicted_slots']:.1f}", f"{row['observed_slots']:.1f}",
            ]
            for row in records(_read("markov_estimates"))
        ]  # fmt: skip
        return text_table(["attempts", "W", "starts", "P", "observed", "E", "observed"], rows)

    def markov_costs(self) -> str:
        """Return what chains of another window cost."""
        frame = _read("markov_costs")
        rows = []
        for (machines, policy), group in frame.groupby(["machines", "policy"], sort=False):
            by = {row["chains"]: row for row in records(group)}
            said = [f"{by[kind]['median']:.3f} ({by[kind]['most']:.2f})" for kind in _KINDS]
            rows.append([f"{machines}: {policy}", *said])
        return text_table(
            ["policy", "chains of training", "chains of the window", "states drawn from the chains"], rows
        )

    def markov_share(self, machines: str, test: str) -> str:
        """Return on what share of the nodes a test rejects."""
        frame = _read("markov_tests")
        mine = frame.loc[frame["machines"] == machines, _one_of(test, _TESTS)].dropna()
        return share(float((mine < 0.01).mean()))

    def leaving(self, machines: str) -> str:
        """Return how many times more often a young availability period ends in a slot than an old one."""
        frame = _read("markov_tests")
        mine = frame[frame["machines"] == machines]
        return f"{(mine['young_leaves'] / mine['old_leaves']).median():.0f}"


_KNOWN = (_HINDSIGHT, _CHARGED, _OPTIMUM, _PLAYED)
_SIZES = ("states", "seconds")
_TESTS = ("age", "before", "hour")
_KINDS = ("training", "own window", "drawn")


@cache
def _read(name: str) -> pd.DataFrame:
    return read_rows(name)


def _map() -> pd.DataFrame:
    return _read("foresight")


def _optima() -> pd.DataFrame:
    return _read("online_optimum")


def _prefetch() -> pd.DataFrame:
    return _read("free_prefetch")


def _cells(frame: pd.DataFrame) -> list[tuple[tuple[int, int, int], dict[str, dict[str, Any]]]]:
    """Return for each instance, by p, m and the number of its draw, the rows of its players."""
    found = [records(group) for _, group in frame.groupby(["p", "m", "scenario"])]
    return [((rows[0]["p"], rows[0]["m"], rows[0]["scenario"]), {row["player"]: row for row in rows}) for rows in found]


def _mean(row: dict[str, Any]) -> str:
    half = (row["high"] - row["low"]) / 2
    return f"{row['slots']:.2f}" + (f" ± {half:.2f}" if row["how"] == "sampled" else "")


def _spread(row: dict[str, Any]) -> str:
    low, middle, high = (row[name] for name in ("quartile_1", "median", "quartile_3"))
    return f"{_ratio(middle)} ({_ratio(low)}–{_ratio(high)})"  # noqa: RUF001


def _ratio(value: float) -> str:
    return "∞" if isinf(value) else f"{value:.2f}"


def _end(values: pd.Series[Any], end: str) -> float:
    return float(values.min() if _one_of(end, ("least", "most")) == "least" else values.max())


def _one_of(word: str, words: Any) -> str:
    known = list(words)
    if word not in known:
        raise InputError(f"{word!r}, expected one of {', '.join(map(str, known))}")
    return word
