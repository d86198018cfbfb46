"""What docs/beyond.md says of our own policies, written from bench/data/beyond_runs.csv and its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bench.coupled.beyond import POINT
from bench.report.markdown import text_table
from bench.report.tables import NOTHING, count, interval, number, share
from bench.results.frames import records
from bench.results.published import published_table
from bench.results.ratios import SHARES, distribution, ends, with_ratios
from instances.errors import InputError
from online.coupled import OURS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BeyondPage", "read_data"]

#: The paper's heuristics that stand beside ours.
BESIDE = ("IE", "Y-IE", "Y-IAY", "E-IE")
_STATISTICS = ("quartile_1", "median", "quartile_3", "mean")


def read_data(name: str) -> pd.DataFrame:
    """Return a published table, in which numbers may be missing."""
    return published_table(name).convert_dtypes()


class BeyondPage:
    """The writers of the page.

    Parameters
    ----------
    printed
        The paper's heuristics on the same instances, under the reading ``printed``.
    """

    def __init__(self, printed: Callable[[], pd.DataFrame]) -> None:
        self._printed = printed

    def writers(self) -> dict[str, Callable[..., str]]:
        """Return who writes the marked parts of pages (see `bench.report.marks`), by name."""
        return {
            "beyond": self.table,
            "beyond_by": self.by,
            "beyond_ratio": self.ratio,
            "beyond_instances": self.instances,
            "beyond_faster": self.faster,
            "beyond_cost": self.cost,
            "leaderboard": self.leaderboard,
        }

    @cached_property
    def _ratios(self) -> pd.DataFrame:
        """The ratios of ours and of some of the paper's heuristics on the instances that ours were run on."""
        import pandas as pd

        mine = read_data("beyond_runs")
        printed = self._printed()
        printed = printed[printed["policy"].isin(BESIDE)].astype(dict.fromkeys(POINT, "Int64"))
        theirs = printed.merge(mine[POINT], on=POINT)
        template = theirs[theirs["policy"] == BESIDE[-1]].merge(mine, on=POINT)
        ours = [template.assign(policy=policy, value=template[policy].astype("Float64")) for policy in self._policies]
        frames = [theirs, *(frame.drop(columns=list(self._policies)) for frame in ours)]
        return with_ratios(pd.concat(frames, ignore_index=True))

    @cached_property
    def _policies(self) -> tuple[str, ...]:
        """Those of ours that were run."""
        known = read_data("beyond_runs").columns
        return tuple(policy for policy in OURS if policy in known)

    @cached_property
    def _distribution(self) -> dict[str, dict[str, Any]]:
        rows = {row["policy"]: row for row in records(distribution(self._ratios))}
        return {policy: rows[policy] for policy in (*BESIDE, *self._policies)}

    def table(self) -> str:
        """Return ratios of our policies beside the paper's best."""
        rows = []
        for policy, row in self._distribution.items():
            cells = [interval(*ends(row, name)) for name in _STATISTICS]
            cells += [share(row[name]) for name in SHARES] + [count(row["unfinished"])]
            rows.append([f"`{policy}`", *cells])
        names = ["1st quartile", "median", "3rd quartile", "mean", "within 10%", "30%", "100%", "unfinished"]
        return text_table(["policy", *names], rows)

    def by(self, axis: str) -> str:
        """Return medians of the ratio at each value of a parameter."""
        if axis not in POINT:
            raise InputError(f"{axis!r}, expected one of {', '.join(POINT)}")
        table = distribution(self._ratios, [axis])
        cells = {(row["policy"], row[axis]): interval(*ends(row, "median")) for row in records(table)}
        values = sorted({value for _, value in cells})
        rows = [
            [f"`{policy}`", *(cells.get((policy, value), NOTHING) for value in values)] for policy in self._distribution
        ]
        return text_table(["policy", *(f"{axis} = {values[0]}", *map(str, values[1:]))], rows)

    def ratio(self, policy: str, statistic: str) -> str:
        """Return a statistic of a policy's ratio."""
        if policy not in self._distribution:
            raise InputError(f"{policy!r}, expected one of {', '.join(self._distribution)}")
        row = self._distribution[policy]
        if statistic in SHARES:
            return share(row[statistic])
        if statistic == "unfinished":
            return count(row["unfinished"])
        if statistic not in _STATISTICS:
            raise InputError(f"{statistic!r}, expected one of {', '.join((*_STATISTICS, *SHARES, 'unfinished'))}")
        return interval(*ends(row, statistic))

    def instances(self) -> str:
        """Return on how many instances ours were run."""
        return count(len(read_data("beyond_runs")))

    def faster(self, policy: str, other: str) -> str:
        """Return on what share of the instances a policy is strictly faster than another."""
        values = self._ratios.assign(value=self._ratios["value"].astype(float).fillna(float("inf")))
        wide = values.pivot_table(index="fingerprint", columns="policy", values="value")
        for name in (policy, other):
            if name not in wide:
                raise InputError(f"{name!r}, expected one of {', '.join(map(str, wide.columns))}")
        return share(float((wide[policy] < wide[other]).mean()))

    def cost(self) -> str:
        """Return what our policies cost: processor time of runs and pilots."""
        rows = []
        for row in records(read_data("beyond_speed")):
            per_slot, per_run = 1e6 * row["run_s"] / row["slots"], row["pilot_s"] / row["runs"]
            rows.append(
                [f"`{row['policy']}`", count(row["runs"]), count(row["slots"]), number(per_slot), number(per_run)]
            )
        return text_table(["policy", "runs", "slots", "µs a slot", "s of pilots a run"], rows)

    def leaderboard(self) -> str:
        """Return the leaderboard of the known policies."""
        from bench.coupled.leaderboard import board

        rows = []
        for row in board({}):
            shown = [_finite(row[name]) for name in _STATISTICS]
            shares = [share(row[name]) for name in ("within30", "within100")]
            rows.append([str(row["rank"]), f"`{row['policy']}`", *shown, *shares, count(row["unfinished"])])
        names = ["1st quartile", "median", "3rd quartile", "mean", "within 30%", "100%", "unfinished"]
        return text_table(["rank", "policy", *names], rows)


def _finite(value: float | None) -> str:
    return NOTHING if value is None or value == float("inf") else number(value)
