"""Write the page on baselines, predictors and owners from the rows of the study ``bags-baselines``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from docs.studies.bags.baselines import LOSSES, MOVES, POLICIES, VISITS
from docs.studies.claims_tables import one_of
from docs.studies.marked_pages import Picture, Writer
from docs.studies.rows import read_rows
from docs.studies.text_table import text_table
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import MINUS, NOTHING, count, number, share
from hindsched.bench.results.bootstrap import percentiles, resample, resampled_means

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["BaselinesPage"]

_CHECKPOINTS = (0, 1, 9)
_PREDICTORS = ("never", "hour", "past", "oracle", "always")
_OWNED = ("FCFS", "FCFS-AT", "FCFS-TR", "WQR-FT", "LEVEL", "PACE")
#: Words of marks for sets of machines: their names, and the kind of trace.
_SETS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "M01": (("M01",), "independent"),
    "M04": (("M04",), "independent"),
    "drawn": (("M01", "M04"), "independent"),
    "rooms": (("M01", "M04"), "rooms"),
    "zones": (("zones",), "zones"),
}
_MOVING = ("FCFS", "FCFS-TR", "WQR-FT", "LEVEL", "PACE")

Values = npt.NDArray[np.float64]


class BaselinesPage:
    """Writers and files of the page on baselines. Intervals are 95 % bootstraps over traces.

    Sets of machines are those of `_SETS`. The nine zones are one trace and give no interval.
    """

    def writers(self) -> dict[str, Writer]:
        """Return the writers of marks, by name."""
        tables = (self.baselines, self.owners, self.predictors, self.moves)
        numbers = (
            self.over_optimum,
            self.changed,
            self.unfinished_bags,
            self.visited,
            self.predicted,
            self.saves,
            self.num_traces,
        )
        return {writer.__name__: writer for writer in (*tables, *numbers)}

    def files(self) -> dict[str, Picture]:
        """Return the figure next to the page, by name."""
        return {"baselines.svg": Picture(self._drawn, self._draw)}

    # ---- rows

    @cached_property
    def _policies(self) -> pd.DataFrame:
        return read_rows("bags_policies")

    @cached_property
    def _predictors(self) -> pd.DataFrame:
        return read_rows("bags_predictors")

    @cached_property
    def _owners(self) -> pd.DataFrame:
        return read_rows("bags_owners")

    @cached_property
    def _moves(self) -> pd.DataFrame:
        return read_rows("bags_moves")

    # ---- numbers

    def over_optimum(self, policy: str, machines: str = "drawn", checkpoints: str = "all") -> str:
        """Return the mean of turnaround / optimum with a shared store."""
        return _mean(*self._ratio(one_of(policy, POLICIES), machines, checkpoints))

    def changed(self, policy: str, reference: str, machines: str = "drawn", checkpoints: str = "all") -> str:
        """Return the mean change of the turnaround from one policy to another, in percent."""
        rows = _of(self._policies, machines, checkpoints)
        return _change(rows[one_of(policy, POLICIES)] / rows[one_of(reference, POLICIES)], rows["trace"])

    def unfinished_bags(
        self, policy: str, machines: str = "drawn", tasks: str = "all", reference_s: str = "all"
    ) -> str:
        """Return the share of bags that a policy does not finish."""
        rows = _of(self._policies, machines, "all")
        for name, word in (("tasks", tasks), ("reference_s", reference_s)):
            if word != "all":
                rows = rows[rows[name] == int(one_of(word, rows[name].astype(str).unique().tolist()))]
        return share(float(rows[one_of(policy, POLICIES)].isna().mean()))

    def visited(self, policy: str, one: str, other: str, minutes: str, checkpoints: str = "all") -> str:
        """Return the mean change of the turnaround between what visits do, such as from ``lost`` to ``suspended``."""
        return _change(*self._visited(policy, one, other, int(one_of(minutes, [str(x) for x in VISITS])), checkpoints))

    def predicted(self, predictor: str, machines: str, checkpoints: str = "all") -> str:
        """Return the mean change of the turnaround from FCFS-TR to FCFS-PRDCT-DMD with a predictor, in percent."""
        rows = _of(self._predictors, machines, checkpoints)
        changes = rows[one_of(predictor, _PREDICTORS)] / rows["FCFS-TR"]
        return _signed(float(changes.mean()) - 1) if machines == "zones" else _change(changes, rows["trace"])

    def moved(self, policy: str, move_s: str, machines: str = "drawn") -> str:
        """Return the mean turnaround over the lower bound of the optimum, by the seconds of a move.

        ``still`` is the optimum that moves nothing.
        """
        return _mean(*self._moved(policy, int(one_of(move_s, [str(x) for x in MOVES])), machines))

    def saves(self, predictor: str, machines: str, checkpoints: str = "all") -> str:
        """Return the mean number of saves on demand for each task."""
        rows = _of(self._predictors, machines, checkpoints)
        return number(float((rows[f"{one_of(predictor, _PREDICTORS)}_saves"] / rows["tasks"]).mean()))

    def num_traces(self, part: str) -> str:
        """Return the number of drawn traces, or of starts on the zones, of a part of the study."""
        if part == "zones":
            return count(_of(self._predictors, "zones", "all")["trace"].nunique())
        rows = {"policies": self._policies, "predictors": self._predictors, "owners": self._owners}
        rows["moves"] = self._moves
        mine = rows[one_of(part, rows)]
        return count(mine.loc[mine["machines"] != "zones", "trace"].nunique())

    # ---- tables

    def baselines(self, machines: str) -> str:
        """Return turnaround / optimum by policy and checkpoints."""
        rows = []
        for policy in POLICIES:
            means = [_mean(*self._ratio(policy, machines, str(k))) for k in _CHECKPOINTS]
            rows.append([policy, self.unfinished_bags(policy, machines), *means])
        return text_table(["policy", "unfinished", *(_checkpoints(k) for k in _CHECKPOINTS)], rows)

    def owners(self, one: str, other: str) -> str:
        """Return the ratio of turnarounds under two readings of a visit, by policy, length and checkpoints."""
        settings = [(minutes, k) for minutes in VISITS for k in _CHECKPOINTS]
        rows = []
        for policy in (*_OWNED, "OPT"):
            means = [_mean(*self._visited(policy, one, other, minutes, str(k))) for minutes, k in settings]
            rows.append([policy, *means])
        return text_table(["policy", *(f"{minutes} min, {_checkpoints(k)}" for minutes, k in settings)], rows)

    def predictors(self, machines: str) -> str:
        """Return the change from FCFS-TR by predictor and checkpoints, and saves per task."""
        rows = []
        for name in _PREDICTORS:
            changes = [self.predicted(name, machines, str(k)) for k in _CHECKPOINTS]
            rows.append([f"`{name}`", *changes, self.saves(name, machines)])
        return text_table(["predictor", *(_checkpoints(k) for k in _CHECKPOINTS), "saves per task"], rows)

    def moves(self, machines: str) -> str:
        """Return turnaround / lower bound by policy and price of a move."""
        rows = [[name, *(self.moved(name, str(x), machines) for x in MOVES)] for name in (*_MOVING, "still")]
        return text_table(["policy", *(f"{x} s" for x in MOVES)], rows)

    # ---- values

    def _ratio(self, policy: str, machines: str, checkpoints: str) -> tuple[pd.Series[Any], pd.Series[Any]]:
        """Return turnaround / upper bound of the optimum of each run, and the traces."""
        rows = _of(self._policies, machines, checkpoints)
        return rows[policy] / rows["high"], rows["trace"]

    def _visited(
        self, policy: str, one: str, other: str, minutes: int, checkpoints: str
    ) -> tuple[pd.Series[Any], pd.Series[Any]]:
        """Return the ratio of the turnarounds under two readings of a visit, and the traces."""
        rows = _of(self._owners, "drawn", checkpoints)
        rows = rows[rows["visit_min"] == minutes]
        column = "high" if policy == "OPT" else one_of(policy, _OWNED)
        index = ["trace", "machines", "tasks", "reference_s", "checkpoints"]
        wide = rows.pivot_table(index=index, columns="visit", values=column).reset_index()
        return wide[one_of(one, LOSSES)] / wide[one_of(other, LOSSES)], wide["trace"]

    def _moved(self, policy: str, move_s: int, machines: str) -> tuple[pd.Series[Any], pd.Series[Any]]:
        """Return turnaround / lower bound of each run at a price, and the traces."""
        rows = _of(self._moves, machines, "all")
        if policy == "still":  # the same at every price, and stored for prices above 0
            move_s = MOVES[1]
        rows = rows[rows["move_s"] == move_s]
        column = "high" if policy == "still" else one_of(policy, _MOVING)
        return rows[column] / rows["low"], rows["trace"]

    # ---- the figure

    def _drawn(self) -> pd.DataFrame:
        import pandas as pd

        return pd.concat([self._policies, self._predictors, self._owners, self._moves])

    def _draw(self, path: Path) -> None:
        figure, ((first, second), (third, fourth)) = canvas.new_grid(2, 2)
        names = [policy for policy in POLICIES if self.unfinished_bags(policy, "drawn") == "0%"]
        groups = {_checkpoints(k): [self._ratio(name, "drawn", str(k)) for name in names] for k in _CHECKPOINTS}
        _bars(first, names, groups)
        first.set_title("turnaround / optimum", loc="left", fontsize=9)
        suspended = {
            f"visits of {minutes} min, {_checkpoints(k)}": [
                self._visited(name, "suspended", "lost", minutes, str(k)) for name in (*_OWNED, "OPT")
            ]
            for minutes in VISITS
            for k in (0, 9)
        }
        _bars(second, (*_OWNED, "OPT"), suspended)
        second.set_title("turnaround with suspended / with lost copies", loc="left", fontsize=9)
        self._draw_predictors(third)
        for place, name in enumerate((*_MOVING, "still")):
            means = [float(self._moved(name, x, "drawn")[0].mean()) for x in MOVES]
            fourth.plot(range(len(MOVES)), means, "o-", color=canvas.COLOURS[place], label=name, markersize=3)
        fourth.set_xticks(range(len(MOVES)), [str(x) for x in MOVES])
        fourth.set_xlabel("seconds of a move, nine checkpoints", fontsize=8)
        fourth.set_title("turnaround / lower bound", loc="left", fontsize=9)
        fourth.legend(fontsize=6, frameon=False)
        canvas.save(figure, path)

    def _draw_predictors(self, axes: Axes) -> None:
        for place, machines in enumerate(("drawn", "rooms", "zones")):
            rows = _of(self._predictors, machines, "all")
            for mark, name in zip("vsoDx", _PREDICTORS, strict=True):
                saves = float((rows[f"{name}_saves"] / rows["tasks"]).mean())
                change = 100 * (float((rows[name] / rows["FCFS-TR"]).mean()) - 1)
                label = f"{name}, {machines.replace('drawn', 'independent')}"
                axes.plot([saves], [change], mark, color=canvas.COLOURS[place], label=label, alpha=0.8)
        axes.axhline(0, color="#999999", linewidth=0.8)
        axes.set_xscale("symlog", linthresh=0.1)
        axes.set_xticks([0, 0.1, 1, 10], ["0", "0.1", "1", "10"])
        axes.set_xlim(-0.02, 60)
        axes.set_xlabel("saves per task", fontsize=8)
        axes.set_title("turnaround against FCFS-TR, %, by predictor", loc="left", fontsize=9)
        axes.legend(fontsize=5.5, frameon=False, ncols=3, loc="center left", columnspacing=1)


def _bars(axes: Axes, names: Sequence[str], groups: dict[str, list[tuple[pd.Series[Any], pd.Series[Any]]]]) -> None:
    """Draw a group of bars for each name, with intervals, from the height 1 on."""
    width = 0.8 / len(groups)
    for i, (label, samples) in enumerate(groups.items()):
        means = np.array([float(values.mean()) for values, _ in samples])
        ends = np.array([_interval(values, traces) for values, traces in samples])
        places = np.arange(len(names)) + (i - (len(groups) - 1) / 2) * width
        errors = np.abs(ends.T - means)
        axes.bar(
            places, means - 1, width, bottom=1, yerr=errors, color=canvas.COLOURS[i], label=label, error_kw={"lw": 0.8}
        )
    axes.axhline(1, color="#000000", linewidth=0.8)
    axes.set_xticks(range(len(names)), names, fontsize=6)
    axes.legend(fontsize=6, frameon=False)


def _of(rows: pd.DataFrame, machines: str, checkpoints: str) -> pd.DataFrame:
    """Return the rows of a set of machines and a number of checkpoints, or all numbers."""
    names, kind = _SETS[one_of(machines, _SETS)]
    rows = rows[rows["machines"].isin(names) & (rows["kind"] == kind)]
    if checkpoints == "all":
        return rows
    return rows[rows["checkpoints"] == int(one_of(checkpoints, [str(k) for k in _CHECKPOINTS]))]


def _interval(values: pd.Series[Any], traces: pd.Series[Any]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a mean, over traces."""
    _, clusters = np.unique(traces.to_numpy(), return_inverse=True)
    weights = resample(int(clusters.max()) + 1)
    return percentiles(resampled_means(values.to_numpy(dtype=np.float64), clusters.astype(np.intp), weights))


def _mean(values: pd.Series[Any], traces: pd.Series[Any]) -> str:
    """Return a mean with its interval; a dash if a run is unfinished."""
    if values.isna().any():
        return NOTHING
    low, high = _interval(values, traces)
    return f"{float(values.mean()):.2f} ({low:.2f} to {high:.2f})"


def _change(ratios: pd.Series[Any], traces: pd.Series[Any]) -> str:
    """Return the mean of ratios, less one, in percent with its interval; a dash if a run is unfinished."""
    if ratios.isna().any():
        return NOTHING
    low, high = _interval(ratios, traces)
    return f"{_signed(float(ratios.mean()) - 1)} ({_signed(low - 1)} to {_signed(high - 1)})"


def _signed(value: float) -> str:
    """Return a share in percent with its sign.

    Examples
    --------
    >>> _signed(0.0123), _signed(-0.2).replace(MINUS, "-"), _signed(0.0001)
    ('+1.2 %', '-20.0 %', '0.0 %')
    """
    rounded = round(100 * value, 1)
    return f"{rounded:+.1f} %".replace("-", MINUS) if rounded else "0.0 %"


def _checkpoints(number: int) -> str:
    return "1 checkpoint" if number == 1 else f"{number} checkpoints"
