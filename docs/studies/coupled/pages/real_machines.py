"""Writers of the page on real machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from docs.studies.claims_tables import one_of
from docs.studies.marked_pages import DataFile, Picture
from docs.studies.rows import read_rows
from docs.studies.text_table import text_table
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import NOTHING, count, number, share
from hindsched.bench.results.bootstrap import percentiles, resample, resampled_means
from hindsched.bench.results.records import records

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RealMachinesPage"]

_BASE = "E-IE"
#: Policies of the tables, and of the figure.
_SHOWN, _DRAWN = ("IE", "Y-IE", "rr", "sb", "hot", "auto", "replay"), ("hot", "auto", "replay")
#: Kinds of machines in the order of the tables.
_KINDS = ("one zone", "one node a zone", "cluster", "drawn")
#: Variants of ``hot`` by name, and what they change.
_VARIANTS = {
    "hot": "V from pilot runs on drawn chains, J of independent workers",
    "hot, joint hazard": "J with the hazard of whole sets",
    "hot, V replayed": "V from replays of the past",
    "hot, V replayed, joint hazard": "both",
    "hot, V replayed, hazard / 64": "V from replays, J that nearly ignores failures",
    "replay": "the best of E-IE and four planners in replays",
}
#: The source with most sets of one zone.
_LARGEST = "h100"
#: A run is slower by more than noise above this ratio.
_NOISE = 1.1


class RealMachinesPage:
    """Writers of the tables, numbers and the figure on real machines.

    The ratio of a run is its slots per completed iteration over those of E-IE on the same window. No completed
    iteration counts as half of one, so unfinished runs are in every mean. Means are geometric; intervals of 95 % are a
    bootstrap over sets of machines.
    """

    def writers(self) -> dict[str, Callable[..., str]]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        tables = (self.real_ratios, self.real_slower, self.real_variants, self.real_failures, self.real_optima)
        numbers = (self.real_ratio, self.real_slow, self.real_count, self.real_members, self.real_cause)
        return {writer.__name__: writer for writer in (*tables, *numbers)}

    def files(self) -> dict[str, Picture | DataFile]:
        """Return the picture and the data file next to the pages, by name."""
        return {
            "real_machines.svg": Picture(lambda: self._by_set, lambda path: _draw(self._by_set, path)),
            "real_machines.csv": DataFile(lambda: self._by_set),
        }

    @cached_property
    def _rows(self) -> pd.DataFrame:
        """Return the runs with the logarithm of their ratio."""
        frame = read_rows("real_machines")
        frame["length"] = frame["slots"] / frame["iterations"].clip(lower=0.5)
        base = frame[frame["policy"] == _BASE].set_index(["machines", "w", "window"])["length"]
        frame = frame.join(base.rename("base"), on=["machines", "w", "window"])
        return frame.assign(log=np.log(frame["length"] / frame["base"]))

    @cached_property
    def _by_set(self) -> pd.DataFrame:
        """Return the geometric mean ratio of each policy on each set of machines."""
        means = self._rows.groupby(["kind", "half", "machines", "policy"], as_index=False)["log"].mean()
        wide: pd.DataFrame = means.assign(ratio=np.exp(means["log"])).pivot_table(
            index=["kind", "half", "machines"], columns="policy", values="ratio"
        )
        order = [name for name in (*_SHOWN, *_VARIANTS) if name in wide]
        found: pd.DataFrame = wide[list(dict.fromkeys(order))].reset_index()
        return found

    def _of(self, policy: str, kind: str, half: str, sets: str = "all") -> pd.DataFrame:
        """Return the runs of a policy on machines of a kind: all, those of one source, or those of all ``but`` it."""
        frame = self._rows
        if sets != "all":
            is_source = frame["machines"].map(_source) == sets.removeprefix("but-")
            frame = frame[~is_source if sets.startswith("but-") else is_source]
        frame = frame[frame["policy"] == one_of(policy.replace("_", " "), sorted(set(frame["policy"])))]
        kinds = [one for one in _KINDS if one != "drawn"] if kind == "real" else [one_of(kind, _KINDS)]
        frame = frame[frame["kind"].isin(kinds)]
        return frame if half == "all" else frame[frame["half"] == one_of(half, ("design", "test"))]

    def _mean(self, policy: str, kind: str, half: str, sets: str = "all", unit: str = "machines") -> str:
        """Return a geometric mean ratio with its interval over sets or sources, where there is more than one."""
        frame = self._of(policy, kind, half, sets)
        frame = frame.assign(source=frame["machines"].map(_source))
        mean = number(float(np.exp(frame["log"].mean())))
        units = np.asarray(frame.groupby(one_of(unit, ("machines", "source"))).ngroup(), dtype=np.intp)
        if len(frame) == 0 or units.max() == 0:
            return mean
        low, high = percentiles(resampled_means(frame["log"].to_numpy(), units, resample(int(units.max()) + 1)))
        return f"{mean} ({number(float(np.exp(low)))} to {number(float(np.exp(high)))})"

    @cached_property
    def _groups(self) -> list[tuple[str, str, str]]:
        """Return the groups of the tables: their title, kind and half."""
        known = {(str(kind), str(half)) for kind, half in self._rows[["kind", "half"]].drop_duplicates().to_numpy()}
        halves = [(kind, half) for kind in _KINDS for half in ("test", "design") if (kind, half) in known]
        return [(f"{kind}, {half}" if kind != "drawn" else "drawn chains", kind, half) for kind, half in halves]

    def real_ratios(self) -> str:
        """Return the mean ratio to E-IE of each policy on each group of machines; nodes of one zone also by source."""
        groups: list[tuple[str, str, str, str]] = []
        for title, kind, half in self._groups:
            groups.append((title, kind, half, "all"))
            if kind == _KINDS[0]:
                groups += [
                    (f"… `{_LARGEST}`", kind, half, _LARGEST),
                    ("… other sources", kind, half, f"but-{_LARGEST}"),
                ]
        rows = []
        for title, *which in groups:
            frame = self._of(_BASE, *which)
            numbers = [count(frame["machines"].nunique()), count(len(frame))]
            rows.append([title, *numbers, *(self._mean(policy, *which) for policy in _SHOWN)])
        return text_table(["machines", "sets", "windows", *(f"`{policy}`" for policy in _SHOWN)], rows)

    def real_slower(self) -> str:
        """Return the share of windows on which each policy is slower than E-IE by more than noise."""
        rows = [
            [title, *(self._share(policy, kind, half) for policy in _SHOWN), number(self._worst(kind, half))]
            for title, kind, half in self._groups
        ]
        return text_table(["machines", *(f"`{policy}`" for policy in _SHOWN), "worst set of `replay`"], rows)

    def _share(self, policy: str, kind: str, half: str) -> str:
        return share(float((self._of(policy, kind, half)["log"] > np.log(_NOISE)).mean()))

    def _worst(self, kind: str, half: str) -> float:
        return float(np.exp(self._of("replay", kind, half).groupby("machines")["log"].mean().max()))

    def real_variants(self) -> str:
        """Return the mean ratio to E-IE of variants of ``hot``, by kind of machines."""
        kinds = [kind for kind in _KINDS if kind != "cluster"]
        rows = [
            [f"`{name}`", what, *(self._mean(name, kind, "all") for kind in kinds)] for name, what in _VARIANTS.items()
        ]
        return text_table(["variant", "what it takes", *kinds], rows, num_texts=2)

    @cached_property
    def _failures(self) -> pd.DataFrame:
        frame = read_rows("real_failures")
        frame["together"] = frame["slots_with_departures"] / frame["expected_if_independent"]
        return frame

    def real_failures(self) -> str:
        """Return joint failures, the effect of age, and predicted and observed success, by set."""
        rows = []
        for row in records(self._failures):
            cells = [count(row["nodes"]), count(row["departures"]), count(row["slots_with_departures"])]
            cells += [count(round(row["expected_if_independent"])), number(row["together"])]
            cells += [_rate(row["young_leaves"]), _rate(row["old_leaves"])]
            rows.append([row["machines"], *cells, f"{_rate(row['predicted'])}, {_rate(row['observed'])}"])
        headings = ["machines", "nodes", "departures", "slots with any", "if independent", "ratio"]
        return text_table([*headings, "leaves, young", "old", "success: predicted, observed"], rows)

    def real_cause(self, kind: str, column: str) -> str:
        """Return the median of a column of the table of failures over the sets of a kind."""
        frame = self._failures[self._failures["kind"] == one_of(_kind(kind), _KINDS)]
        values = one_of(column, ("together", "young_leaves", "old_leaves", "predicted", "observed"))
        return _rate(float(frame[values].median()))

    def real_optima(self) -> str:
        """Return median ratios to the proven optimum, by group."""
        frame = self._rows[self._rows["optimum"].notna()]
        ratios = frame.assign(ratio=frame["makespan"].fillna(np.inf) / frame["optimum"])
        tried = self._rows[self._rows["optimum_bound"].notna() & (self._rows["policy"] == _BASE)]
        rows = []
        for title, kind, half in self._groups:
            mine = ratios[(ratios["kind"] == kind) & (ratios["half"] == half)]
            of = tried[(tried["kind"] == kind) & (tried["half"] == half)]
            cells = [f"{mine['machines'].nunique()}", f"{(mine['policy'] == _BASE).sum()} of {len(of)}"]
            for policy in (_BASE, *_SHOWN):
                values = mine.loc[mine["policy"] == policy, "ratio"]
                cells.append(f"{number(values.median())} ({_most(values)})" if len(values) else NOTHING)
            rows.append([title, *cells])
        return text_table(["machines", "sets", "proven", *(f"`{policy}`" for policy in (_BASE, *_SHOWN))], rows)

    def real_ratio(self, policy: str, kind: str, half: str, sets: str = "all", unit: str = "machines") -> str:
        """Return a mean ratio to E-IE with its interval: on all sets, those of a source, or all ``but-`` these."""
        return self._mean(policy, _kind(kind), half, sets, unit)

    def real_slow(self, policy: str, kind: str, half: str) -> str:
        """Return the share of windows on which a policy is slower than E-IE by more than noise."""
        return self._share(policy, _kind(kind), half)

    def real_count(self, what: str, kind: str, half: str) -> str:
        """Return the number of sets, of windows, or of windows on which no policy completes an iteration."""
        frame = self._of(_BASE, _kind(kind), half)
        most = self._rows.groupby(["machines", "w", "window"])["iterations"].max()
        idle = frame.join(most.rename("most"), on=["machines", "w", "window"])["most"] == 0
        known = {"sets": frame["machines"].nunique(), "windows": len(frame), "idle": int(idle.sum())}
        return count(known[one_of(what, known)])

    def real_members(self, policy: str, kind: str) -> str:
        """Return the mean number of computing workers where tasks take 18 slots."""
        frame = self._of(policy, _kind(kind), "all")
        return number(float(frame.loc[frame["w"] == frame["w"].max(), "members"].mean()))


def _kind(word: str) -> str:
    """Return a kind of machines from one word of a mark."""
    return word.replace("-", " ")


def _source(machines: str) -> str:
    """Return the source of a set of machines."""
    return machines.split(maxsplit=1)[0]


def _rate(value: float) -> str:
    return NOTHING if np.isnan(value) else f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def _most(values: pd.Series[float]) -> str:
    """Return the largest value; of infinite ones, how many there are."""
    unfinished = int(np.isinf(values).sum())
    return f"∞: {unfinished}" if unfinished else number(float(values.max()))


def _draw(frame: pd.DataFrame, path: Path) -> None:
    """Draw the ratio of each policy on each set, grouped by kind."""
    figure, (axes,) = canvas.new_figure(width=7.0, heights=(0.9 + 0.17 * len(frame),))
    frame = frame.assign(order=frame["kind"].map({kind: place for place, kind in enumerate(_KINDS)}))
    frame = frame.sort_values(["order", "hot", "machines"], ascending=[False, True, False]).reset_index(drop=True)
    names: Sequence[str] = [
        f"{machines} ({half})" if kind != "drawn" else machines
        for machines, half, kind in zip(frame["machines"], frame["half"], frame["kind"], strict=True)
    ]
    for policy, colour, mark in zip(
        _DRAWN, (canvas.COLOURS[1], canvas.COLOURS[4], canvas.COLOURS[0]), "sDo", strict=True
    ):
        axes.plot(frame[policy], range(len(frame)), mark, color=colour, markersize=4, label=policy)
    axes.axvline(1.0, color=canvas.COLOURS[7], linewidth=0.8)
    for place in range(1, len(frame)):
        if frame["kind"][place] != frame["kind"][place - 1]:
            axes.axhline(place - 0.5, color=canvas.COLOURS[7], linewidth=0.6, linestyle=":")
    for kind, group in frame.groupby("kind"):
        axes.text(
            0.99, group.index.max(), str(kind), transform=axes.get_yaxis_transform(), ha="right", va="center",
            fontsize=8,
        )  # fmt: skip
    axes.set_yticks(range(len(frame)), names, fontsize=7)
    axes.set_ylim(-0.7, len(frame) - 0.1)
    axes.set_xscale("log")
    axes.set_xlim(right=7.5)
    ticks = (0.5, 0.7, 1, 1.5, 2, 3, 5)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("slots per iteration / those of E-IE, geometric mean (below 1: faster)")
    axes.legend(loc="lower right", fontsize=8)
    canvas.save(figure, path)
