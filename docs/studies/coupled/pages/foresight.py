"""Writers of the page on foresight: ratios along six axes, and whether real machines are Markov chains."""

from __future__ import annotations

from functools import cache
from math import isinf
from typing import TYPE_CHECKING, Any

from docs.studies.coupled import foresight
from docs.studies.marked_pages import Picture, Writer
from docs.studies.rows import read_rows
from docs.studies.text_table import text_table
from hindsched.bench.report.formatting import count
from hindsched.bench.results.records import records
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ForesightPage"]

_AXES = {
    "task": "task / availability period",
    "channels": "n_com / m",
    "program": "T_prog / task",
    "workers": "p / m",
    "lost": "DOWN / absences",
    "away": "absence / availability period",
}


class ForesightPage:
    """Writers of the tables, numbers and pictures on foresight."""

    def writers(self) -> dict[str, Writer]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        tables = (self.foresight_map, self.chainless, self.markov_tests, self.markov_estimates, self.markov_costs)
        numbers = (self.map_ratio, self.map_instances, self.chainless_ratio, self.leaving)
        return {writer.__name__: writer for writer in (*tables, *numbers)}

    def files(self) -> dict[str, Picture]:
        """Return the picture next to the pages, by name."""
        return {"foresight.svg": Picture(_map, lambda path: foresight.draw_map(_map(), path))}

    # ---- the map

    def foresight_map(self) -> str:
        """Return the median ratios along each axis, for each group of machines."""
        policies = list(dict.fromkeys(_map()["policy"]))
        rows = []
        for (machines, axis), group in _map().groupby(["machines", "axis"], sort=False):
            values = [f"{value:g}" for value in dict.fromkeys(group["value"])]
            medians = [group.loc[group["policy"] == name, "median"].map(_ratio) for name in policies]
            rows.append([f"{machines}: {_AXES[str(axis)]}", ", ".join(values), *(", ".join(each) for each in medians)])
        return text_table(["machines and axis", "values", *policies], rows)

    def chainless(self) -> str:
        """Return the median ratios of policies with and without chains, by machines and task length."""
        frame = _read("chainless")
        policies = list(dict.fromkeys(frame["policy"]))
        rows = []
        for machines, group in frame.groupby("machines", sort=False):
            values = [f"{value:g}" for value in dict.fromkeys(group["value"])]
            medians = [group.loc[group["policy"] == name, "median"].map(_ratio) for name in policies]
            numbers = sorted(set(group["instances"]))
            row = [str(machines), ", ".join(values), *(", ".join(each) for each in medians)]
            rows.append([*row, ", ".join(map(str, numbers))])
        return text_table(["machines", "task / period", *policies, "instances"], rows)

    def chainless_ratio(self, machines: str, value: str, policy: str) -> str:
        """Return one median ratio of the comparison of policies with and without chains."""
        return f"{_point(_read('chainless'), machines, 'task', value, policy)['median']:.2f}"

    def map_ratio(self, machines: str, axis: str, value: str, policy: str) -> str:
        """Return one median ratio of the map."""
        return f"{_point(_map(), machines, axis, value, policy)['median']:.2f}"

    def map_instances(self, machines: str, axis: str, value: str) -> str:
        """Return the number of instances or windows of one point of the map."""
        return count(_point(_map(), machines, axis, value, "E-IE")["instances"])

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
        """Return the predicted and observed probability that an attempt succeeds, by its length."""
        frame = _read("markov_estimates")
        lengths = sorted(frame["slots"].unique())
        rows = []
        for (machines, members), group in frame.groupby(["machines", "members"], sort=False):
            found = {row["slots"]: f"{row['predicted']:.3f}, {row['observed']:.3f}" for row in records(group)}
            rows.append([f"{machines}, {members}", *(found[length] for length in lengths)])
        return text_table(["machines, team size", f"W = {lengths[0]}", *map(str, lengths[1:])], rows)

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

    def leaving(self, machines: str) -> str:
        """Return how many times more often a young availability period ends in a slot than an old one."""
        frame = _read("markov_tests")
        mine = frame[frame["machines"] == machines]
        return f"{(mine['young_leaves'] / mine['old_leaves']).median():.0f}"


_TESTS = ("age", "before", "hour")
_KINDS = ("training", "own window", "drawn")


@cache
def _read(name: str) -> pd.DataFrame:
    return read_rows(name)


def _map() -> pd.DataFrame:
    return _read("foresight")


def _point(frame: pd.DataFrame, machines: str, axis: str, value: str, policy: str) -> dict[str, Any]:
    """Return the row of one point."""
    mine = frame[(frame["machines"] == machines) & (frame["axis"] == axis) & (frame["policy"] == policy)]
    chosen = mine[mine["value"] == float(value)]
    if len(chosen) != 1:
        raise InputError(f"{machines} {axis} {value} {policy}, expected a point with runs")
    return records(chosen)[0]


def _ratio(value: float) -> str:
    return "∞" if isinf(value) else f"{value:.2f}"
