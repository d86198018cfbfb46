"""Rows of the studies on bags, and relative changes with intervals over traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from docs.studies.bags.traces import BAG_COLUMNS, column
from docs.studies.estimates import Estimate, estimate
from docs.studies.rows import ROWS
from hindsched.bench.report.formatting import MINUS
from hindsched.instances.bags import Store
from hindsched.online.bags import PAPER_POLICIES, Absence

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "READINGS",
    "SETTINGS",
    "Evidence",
    "as_percent",
    "by_bag",
    "change",
    "chosen",
    "four",
    "gain_of",
    "mean_change",
    "more_checkpoints",
    "run_of",
    "setting_of",
]

#: Readings of who notices that a machine is off: for each store, whether its master notices at once.
READINGS: Mapping[str, Mapping[Store, Absence]] = {
    "shared stores only": {Store.SHARED: Absence.NOTICED, Store.PRIVATE: Absence.UNNOTICED},
    "at once": {Store.SHARED: Absence.NOTICED, Store.PRIVATE: Absence.NOTICED},
    "never": {Store.SHARED: Absence.UNNOTICED, Store.PRIVATE: Absence.UNNOTICED},
}
#: The different runs behind these readings, which share some: a store, and whether its master notices absences.
SETTINGS = tuple(product(Store, (Absence.NOTICED, Absence.UNNOTICED)))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Rows of the studies ``bags-traces`` and ``bags-sweeps``.

    Parameters
    ----------
    traces
        A row per trace, seed, part of the week and bag, with turnaround / IET and OPT / IET.
    sweeps
        A row per trace, seed, bag, store, policy, option and value, with the relative change.
    """

    traces: pd.DataFrame
    sweeps: pd.DataFrame

    @classmethod
    def stored(cls, folder: Path = ROWS) -> Evidence:
        """Return the rows that are kept with the studies, or those of a folder."""
        import pandas as pd

        return cls(*(pd.read_csv(folder / f"bags_{name}.csv.xz") for name in ("traces", "sweeps")))

    def of(self, when: str, **wanted: Any) -> pd.DataFrame:
        """Return the rows of ``traces`` of a part of the week and with these values; a tuple allows several.

        Those of weekends are on independent machines only: in ``rooms`` nothing changes at weekends.
        """
        if when == "weekend":
            wanted = {"trace": "independent", **wanted}
        return chosen(self.traces, when=when, **wanted)


def chosen(rows: pd.DataFrame, **wanted: Any) -> pd.DataFrame:
    """Return the rows with these values; a tuple allows several."""
    for name, value in wanted.items():
        rows = rows[rows[name].isin(value if isinstance(value, tuple) else (value,))]
    return rows


def setting_of(policy: str, store: Store, absence: Absence) -> str:
    """Return the column of a policy in a setting; FCFS-AT is FCFS where absences are noticed, by a theorem.

    Examples
    --------
    >>> setting_of("FCFS-AT", Store.PRIVATE, Absence.NOTICED), setting_of("FCFS-AT", Store.PRIVATE, Absence.UNNOTICED)
    ('FCFS private noticed', 'FCFS-AT private unnoticed')
    """
    return column("FCFS" if policy == "FCFS-AT" and absence is Absence.NOTICED else policy, store, absence)


def run_of(policy: str, store: Store, reading: str) -> str:
    """Return the column of a policy with a store under a reading."""
    return setting_of(policy, store, READINGS[reading][store])


def change(rows: pd.DataFrame, run: str, other: str) -> Estimate:
    """Return the mean relative change from one column to another over bags, with an interval over traces.

    Starts on a trace depend on one another, traces do not: each trace gives one value.
    """
    return mean_change(rows, [(run, other)])


def mean_change(rows: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> Estimate:
    """Return the mean relative change over bags and pairs, to the first column of a pair from its second."""
    mine, theirs = (rows[[pair[side] for pair in pairs]].to_numpy() for side in (0, 1))
    changes = rows[["trace", "seed"]].assign(change=(mine / theirs - 1).mean(axis=1))
    return estimate(changes.groupby(["trace", "seed"])["change"].mean().tolist())


def more_checkpoints(rows: pd.DataFrame, few: int, many: int, runs: Sequence[str]) -> Estimate:
    """Return the mean relative change of some columns with more checkpoints."""
    index = ["trace", "seed", "machines", "tasks", "reference_s"]
    less, more = (chosen(rows, checkpoints=k).set_index(index)[list(runs)] for k in (few, many))
    changes = (more / less - 1).mean(axis=1)
    return estimate(changes.groupby(["trace", "seed"]).mean().tolist())


def by_bag(rows: pd.DataFrame, run: str, others: Sequence[str]) -> list[Estimate]:
    """Return for each bag the excess of a column over that of the others with the least mean.

    The rows are of one part of the week, so that a bag has one row per trace.
    """
    columns = rows[list(dict.fromkeys([run, *others]))].to_numpy()
    bags = rows.groupby(list(BAG_COLUMNS), sort=True).ngroup().to_numpy()
    found = []
    for bag in range(bags.max() + 1):
        values = columns[bags == bag]
        first = 0 if run in others else 1
        best = first + int(np.argmin(values[:, first:].mean(axis=0)))
        found.append(estimate((values[:, 0] / values[:, best] - 1).tolist()))
    return found


def gain_of(rows: pd.DataFrame, policies: Sequence[str], reading: str) -> dict[str, Estimate]:
    """Return by policy how much less time shared stores take than private ones."""
    found = {}
    for policy in policies:
        shared, private = (run_of(policy, store, reading) for store in (Store.SHARED, Store.PRIVATE))
        losses = change(rows, shared, private)
        found[policy] = Estimate(-losses.mean, -losses.high, -losses.low, losses.num)
    return found


def as_percent(found: Estimate) -> str:
    """Return a relative change in percent.

    Examples
    --------
    >>> as_percent(estimate([0.1, 0.2])).replace(MINUS, "-")
    '+15.0 % (-48.5 to +78.5)'
    """
    text = f"{100 * found.mean:+z.1f} % ({100 * found.low:+z.1f} to {100 * found.high:+z.1f})"
    return text.replace("-", MINUS)


def four(store: Store, absence: Absence) -> dict[str, str]:
    """Return the columns of the paper's four schedulers in a setting."""
    return {policy: setting_of(policy, store, absence) for policy in PAPER_POLICIES}
