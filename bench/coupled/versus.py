"""Comparison with a reference policy by the metrics of the paper's Tables I and II (docs/model.md section 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hindsched.bench.results.policy_order import in_order
from hindsched.bench.shared_types import Row
from hindsched.instances.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["COLUMNS", "diff_by_wmin", "versus"]

#: Columns of the table and their headings.
COLUMNS = {
    "policy": "heuristic",
    "runs": "runs",
    "fails": "#fails",
    "scenarios": "scenarios",
    "compared": "compared",
    "diff": "%diff",
    "wins": "%wins",
    "wins30": "%wins30",
    "stdv": "stdv",
}

#: Columns that identify an instance and a scenario; a frame may lack some.
_INSTANCE = ("fingerprint", "setting", "instance", "m", "n_com", "wmin", "scenario", "trial")
_SCENARIO = ("setting", "m", "n_com", "wmin", "instance_seed", "scenario")


def versus(frame: pd.DataFrame, reference: str = "IE") -> pd.DataFrame:
    """Compare every policy with a reference policy: means on the scenarios that both finish, wins over all trials.

    A *scenario* is a draw of the workers; its trials are draws of their states. The paper describes its metrics in one
    paragraph, which is interpreted as follows:

    - The means of a policy and of the reference are over the trials that both finish. A trial that only one of them
      finishes counts in ``fails``.
    - A scenario without a trial that both finish is left out of ``diff`` and ``stdv``.
    - Wins count trials ("the fraction of trials where heuristic H obtains a makespan smaller than or equal to IE"),
      also those that only one of the two finishes, and then the other loses. A trial that neither finishes does not
      count, so the reference wins all of its own trials, as in the paper.
    - An instance without a scenario, such as a file, is a scenario of one trial.

    Parameters
    ----------
    frame
        One row per run, each policy at most once on an instance, of one combination of options: ``policy``,
        ``makespan`` (missing where the run reached its slot limit), ``instance`` or the point of the experiment (``m``,
        ``n_com``, ``wmin``, ``scenario``, ``trial``); see `hindsched.bench.results.columns`.
    reference
        The policy to compare with.

    Returns
    -------
    pandas.DataFrame
        One row per policy, those of the paper first:

        - ``runs``, and ``fails`` among them that reached their slot limit;
        - ``scenarios`` in which both were run, and ``compared`` among them;
        - ``diff``: the mean over compared scenarios of (mean - reference) / min(mean, reference), in percent. Below
          zero the policy is faster. The smaller mean below the line makes it antisymmetric: swapping the two
          policies only changes the sign;
        - ``wins``, ``wins30``: the percentage of the trials that one of the two finishes in which the policy's makespan
          is at most the reference's, and at most 1.3 times it;
        - ``stdv``: the sample standard deviation of that relative difference over compared scenarios, in percent.

        A statistic of an empty sample is NaN.

    Raises
    ------
    InputError
        If the reference was not run, or a policy was run twice on an instance.

    Notes
    -----
    Linear in the number of runs times policies.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"instance": ["a", "a", "b", "b"], "policy": ["IE", "IP"] * 2, "makespan": [10, 15, 10, 8]})
    >>> versus(runs)[["policy", "compared", "diff", "wins", "wins30"]].to_dict("records")[0]
    {'policy': 'IP', 'compared': 2, 'diff': 12.5, 'wins': 50.0, 'wins30': 50.0}
    """
    import pandas as pd

    policies = in_order(frame["policy"].unique())
    if reference not in policies:
        raise InputError(f"{reference!r}, expected a policy that was run: {', '.join(policies)}", place="reference")
    makespans, was_run, scenario = _matrix(frame, policies)
    base = policies.index(reference)
    rows = []
    for column, policy in enumerate(policies):
        both_run = was_run[:, column] & was_run[:, base]
        finished = both_run & np.isfinite(makespans[:, column])
        both = finished & np.isfinite(makespans[:, base])
        counted = finished | (both_run & np.isfinite(makespans[:, base]))
        means = _means(makespans[both, column], scenario[both])
        others = _means(makespans[both, base], scenario[both])
        diff = 100 * (means - others) / np.minimum(means, others)
        row: Row = {
            "policy": policy,
            "runs": int(was_run[:, column].sum()),
            "fails": int((was_run[:, column] & ~np.isfinite(makespans[:, column])).sum()),
            "scenarios": len(np.unique(scenario[both_run])),
            "compared": len(diff),
            "diff": diff.mean() if len(diff) else np.nan,
            "wins": _share(finished & ~(makespans[:, base] < makespans[:, column]), counted),
            "wins30": _share(finished & ~(13 * makespans[:, base] < 10 * makespans[:, column]), counted),
            "stdv": diff.std(ddof=1) if len(diff) > 1 else np.nan,
        }
        rows.append(row)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def diff_by_wmin(frame: pd.DataFrame, reference: str = "IE", *, panels: Sequence[str] = ("m", "n_com")) -> pd.DataFrame:
    """Return ``diff`` (see `versus`) at each wmin, as in the paper's Figure 2.

    Parameters
    ----------
    frame, reference
        As for `versus`; runs on instances without a wmin are left out, and points where the reference was not run.
    panels
        Further parameters to group the runs by.

    Returns
    -------
    pandas.DataFrame
        ``panels``, ``wmin``, and the columns of `versus`; increasing in the former, n_com unbounded (missing) last.
    """
    import pandas as pd

    by = [*panels, "wmin"]
    tables = []
    if "wmin" in frame:
        pointed = frame[frame["wmin"].notna()]
        for point, group in pointed.groupby(by, dropna=False, sort=True):
            if (group["policy"] == reference).any():
                where: Row = dict(zip(by, point, strict=True))
                tables.append(versus(group, reference).assign(**where)[[*by, *COLUMNS]])
    if not tables:
        return pd.DataFrame(columns=[*by, *COLUMNS])
    return pd.concat(tables, ignore_index=True)


def _matrix(
    frame: pd.DataFrame, policies: Sequence[str]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.intp]]:
    """Return makespans by instance and policy (NaN: unfinished), which were run, and each instance's scenario."""
    instance = _codes(frame, _INSTANCE)
    scenario = _codes(frame, _SCENARIO)
    is_alone = frame["scenario"].isna().to_numpy() if "scenario" in frame else np.ones(len(frame), dtype=bool)
    scenario = np.where(is_alone, instance + scenario.max(initial=0) + 1, scenario)
    places = {policy: place for place, policy in enumerate(policies)}
    column = frame["policy"].map(places).to_numpy(dtype=np.intp)
    shape = (int(instance.max(initial=-1)) + 1, len(policies))
    counts = np.zeros(shape, dtype=np.intp)
    np.add.at(counts, (instance, column), 1)
    if (counts > 1).any():
        policy = policies[int(np.argwhere(counts > 1)[0][1])]
        raise InputError("was run twice on an instance, expected runs of one combination of options", place=policy)
    makespans = np.full(shape, np.nan)
    makespans[instance, column] = frame["makespan"].to_numpy(dtype=np.float64, na_value=np.nan)
    of_instance = np.zeros(shape[0], dtype=np.intp)
    of_instance[instance] = scenario
    return makespans, counts > 0, of_instance


def _share(some: npt.NDArray[np.bool_], all_of_them: npt.NDArray[np.bool_]) -> float:
    return 100 * float(some.sum()) / float(all_of_them.sum()) if all_of_them.any() else np.nan


def _codes(frame: pd.DataFrame, columns: Sequence[str]) -> npt.NDArray[np.intp]:
    """Return a number for each row, equal for rows that agree in the given columns of the frame."""
    known = [column for column in columns if column in frame]
    if not known:
        return np.zeros(len(frame), dtype=np.intp)
    return np.asarray(frame.groupby(known, dropna=False, sort=False).ngroup(), dtype=np.intp)


def _means(values: npt.NDArray[np.float64], groups: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """Return the mean of each non-empty group, by increasing group."""
    _, group, counts = np.unique(groups, return_inverse=True, return_counts=True)
    return np.bincount(group, weights=values, minlength=len(counts)) / counts
