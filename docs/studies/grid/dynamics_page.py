"""Write the page on failures, cancellations, conflicts and bursts from its rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from docs.studies.claims_tables import one_of
from docs.studies.marked_pages import Picture, Writer
from docs.studies.rows import read_rows
from docs.studies.text_table import text_table
from hindsched.bench.grid.experiment_tables import confidence_interval
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import MINUS
from hindsched.instances.errors import InputError
from hindsched.online.grid import Dgs, differing

__all__ = ["DynamicsPage"]

_DAY_SLOTS = 1_440
_CAUSES = ("failed_reach", "failed_stale", "failed_lost")
#: Measures of a run in a table: heading, format, and the value of a row, given the row without events.
_MEASURES: dict[str, tuple[str, str, Callable[[dict[Any, Any], dict[Any, Any]], float]]] = {
    "failed": ("failed, %", ".2f", lambda row, _: 100 * sum(row[cause] for cause in _CAUSES) / row["jobs"]),
    "cancelled": ("cancelled, %", ".1f", lambda row, _: 100 * row["cancelled"] / row["jobs"]),
    "added": ("added wait, slots", ".1f", lambda row, _: (row["wait"] - row["wait_before"]) / row["common"]),
    "wait": ("wait, change in %", ".0f", lambda row, _: 100 * (row["wait"] / row["wait_before"] - 1)),
    "lost": ("lost work, %", ".1f", lambda row, _: 100 * row["lost_slots"] / row["area"]),
    "moved": ("moved per 100 jobs", ".1f", lambda row, _: 100 * row["moved"] / row["jobs"]),
    "refusals": ("refusals per 100 jobs", ".1f", lambda row, _: 100 * row["refusals"] / row["jobs"]),
    "push": ("push, change in %", ".0f", lambda row, before: 100 * (row["push"] / before["push"] - 1)),
    "pull": ("pull, change in %", ".0f", lambda row, before: 100 * (row["pull"] / before["pull"] - 1)),
}
#: Columns of each table.
_TABLES = {
    "failures": ("failed", "added", "wait", "lost", "moved", "push", "pull"),
    "cancellations": ("cancelled", "added", "wait", "push", "pull"),
    "conflicts": ("failed", "added", "wait", "refusals", "push", "pull"),
}


class DynamicsPage:
    """Writers and files of the page on failures, cancellations, conflicts and bursts."""

    def writers(self) -> dict[str, Writer]:
        """Return the writers of marks, by name."""
        return {writer.__name__: writer for writer in (self.events, self.event, self.before, self.bursts, self.burst)}

    def files(self) -> dict[str, Picture]:
        """Return the figures next to the pages, by name."""
        return {"dynamics.svg": Picture(lambda: read_rows("grid_dynamics"), self._draw)}

    @cached_property
    def _runs(self) -> dict[str, list[dict[Any, Any]]]:
        """The runs of each setting, one a seed."""
        runs: dict[str, list[dict[Any, Any]]] = {}
        for row in read_rows("grid_dynamics").to_dict("records"):
            policy = Dgs(**{name: row[name] for name in Dgs.__dataclass_fields__ if name in row and name != "seed"})
            runs.setdefault(_name(policy), []).append(row)
        return runs

    def _measure(self, setting: str, measure: str) -> tuple[float, float]:
        """Return the mean of a measure over seeds, and half its 95 % confidence interval."""
        rows = self._runs[one_of(setting, self._runs)]
        value = _MEASURES[one_of(measure, _MEASURES)][2]
        same = self._runs["cyclon" if setting.startswith("cyclon") else "static"]
        return confidence_interval([value(row, before) for row, before in zip(rows, same, strict=True)])

    def events(self, kind: str) -> str:
        """Return a table of ``failures``, ``cancellations`` or ``conflicts``, with intervals."""
        measures = _TABLES[one_of(kind, _TABLES)]
        lines = []
        for setting in self._runs:
            if _kind(setting) == kind:
                cells = [_plus_minus(*self._measure(setting, name), _MEASURES[name][1]) for name in measures]
                lines.append([_described(setting), *cells])
        return text_table(["setting", *(_MEASURES[name][0] for name in measures)], lines)

    def event(self, setting: str, measure: str, part: str = "mean") -> str:
        """Return the mean of a measure, or with ``interval`` the mean and half the width of its interval."""
        mean, half = self._measure(setting, measure)
        form = _MEASURES[measure][1]
        return (
            _plus_minus(mean, half, form) if one_of(part, ("mean", "interval")) == "interval" else _signed(mean, form)
        )

    def before(self) -> str:
        """Return the mean wait in slots without events on the static overlay."""
        rows = self._runs["static"]
        return _plus_minus(*confidence_interval([row["wait"] / row["common"] for row in rows]), ".1f")

    def bursts(self) -> str:
        """Return days with requested utilisation above 1, and waits, by mix and arrivals."""
        lines = []
        for (mix, arrivals), mine in read_rows("grid_bursts").groupby(["mix", "arrivals"], sort=False):
            above = " / ".join(str(number) for number in mine["days_above_1"])
            most = " / ".join(f"{number:.2f}" for number in mine["most_requested"])
            failed = confidence_interval((100 * mine["failed"] / mine["jobs"]).to_list())
            wait = confidence_interval(mine["mean_wait_s"].to_list())
            lines.append([f"{mix}, {arrivals}", above, most, _plus_minus(*failed, ".2f"), _plus_minus(*wait, ",.1f")])
        return text_table(["workload", "days with RU > 1, by seed", "largest RU", "failed, %", "mean wait, s"], lines)

    def burst(self, mix: str, arrivals: str) -> str:
        """Return the mean wait in seconds."""
        rows = read_rows("grid_bursts")
        mine = rows[(rows["mix"] == mix) & (rows["arrivals"] == arrivals)]
        if mine.empty:
            raise InputError(f"{mix} {arrivals}, expected a mix and a kind of arrivals of grid_bursts.csv")
        return f"{mine['mean_wait_s'].mean():,.0f}"

    def _draw(self, path: Path) -> None:
        """Draw failed jobs and added waits of all settings with events."""
        settings = [name for name in self._runs if _kind(name)]
        figure, ((left, right),) = canvas.new_grid(1, 2)
        figure.set_size_inches(10.5, 4.6)
        colours = {kind: canvas.COLOURS[i] for i, kind in enumerate(_TABLES)}
        for axes, measure, label in ((left, "failed", "failed, % of the jobs"), (right, "added", "added wait, slots")):
            means, halves = zip(*(self._measure(name, measure) for name in settings), strict=True)
            axes.barh(
                range(len(settings)), means, xerr=halves, color=[colours[_kind(name)] for name in settings], height=0.7
            )
            axes.axvline(0, color="black", linewidth=0.6)
            axes.set_ylim(len(settings) - 0.5, -0.5)
            axes.set_xlabel(f"{label} (with 95 % intervals)")
        left.set_yticks(range(len(settings)), [_described(name) for name in settings], fontsize=8)
        right.set_yticks(range(len(settings)), [""] * len(settings))
        canvas.save(figure, path)


def _name(policy: Dgs) -> str:
    """Return the name of a setting, such as ``cyclon-mtbf-30`` with days or ``latency-5-retries-3``."""
    options = differing(policy)
    overlay = "" if options.pop("overlay", "static") == "static" else "cyclon"
    words = [f"{name}-{value // _DAY_SLOTS if name == 'mtbf' else value}" for name, value in sorted(options.items())]
    return "-".join([word for word in (overlay, *words) if word]).replace("_percent", "") or "static"


def _kind(setting: str) -> str:
    kinds = {"mtbf": "failures", "cancel": "cancellations", "latency": "conflicts"}
    return next((kind for word, kind in kinds.items() if word in setting), "")


def _described(setting: str) -> str:
    """Return a setting in words."""
    words = setting.removeprefix("cyclon-").split("-")
    values = dict(zip(words[::2], words[1::2], strict=True))
    texts = {
        "mtbf": "failure every {} days",
        "restarts": "{} restarts",
        "cancel": "{} % to be cancelled",
        "latency": "latency {}",
        "retries": "{} retries",
    }
    text = ", ".join(texts[name].format(values[name]) for name in texts if name in values)
    return f"{text}, Cyclon" if setting.startswith("cyclon") else text


def _plus_minus(mean: float, half: float, form: str) -> str:
    return f"{_signed(mean, form)} ± {half:{form}}"


def _signed(number: float, form: str) -> str:
    return f"{number:{form}}".replace("-", MINUS)
