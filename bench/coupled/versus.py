"""Heuristics against one of them, by the metrics of the paper's Tables I and II (docs/model.md section 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hindsched.bench.results.policy_order import in_order
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

#: What tells one instance from another, and one scenario from another, as far as a frame has it.
_INSTANCE = ("fingerprint", "setting", "instance", "m", "n_com", "wmin", "scenario", "trial")
_SCENARIO = ("setting", "m", "n_com", "wmin", "instance_seed", "scenario")


def versus(frame: pd.DataFrame, reference: str = "IE") -> pd.DataFrame:
    """Compare every policy with a reference policy: means on the scenarios that both finish, wins over all trials.

    A *scenario* is a draw of the workers; its trials are draws of their states. The paper words its metrics in one
    paragraph; these are the readings taken here:

    - A trial counts for a policy where both it and the reference finish. A policy's mean and the reference's are over
      these same trials, so an instance that only one of them finishes favours neither; it shows in ``fails``.
    - A scenario without such a trial is left out of ``diff`` and ``stdv``.
    - Wins count trials ("the fraction of trials where heuristic H obtains a makespan smaller than or equal to IE"),
      also those that one of the two does not finish: no makespan loses against one, and any wins against none. A trial
      that neither finishes is not counted, so that the reference wins all of its own, as the paper prints it.
    - An instance that belongs to no scenario (a file of one's own) is a scenario of one trial.

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

        Numbers of nothing are NaN.

    Raises
    ------
    InputError
        When the reference was not run, or a policy was run twice on an instance.

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
    mine = policies.index(reference)
    rows = []
    for column, policy in enumerate(policies):
        both_run = was_run[:, column] & was_run[:, mine]
        finished = both_run & np.isfinite(makespans[:, column])
        both = finished & np.isfinite(makespans[:, mine])
        counted = finished | (both_run & np.isfinite(makespans[:, mine]))
        means = _means(makespans[both, column], scenario[both])
        others = _means(makespans[both, mine], scenario[both])
        diff = 100 * (means - others) / np.minimum(means, others)
        row: dict[str, Any] = {
            "policy": policy,
            "runs": int(was_run[:, column].sum()),
            "fails": int((was_run[:, column] & ~np.isfinite(makespans[:, column])).sum()),
            "scenarios": len(np.unique(scenario[both_run])),
            "compared": len(diff),
            "diff": diff.mean() if len(diff) else np.nan,
            "wins": _share(finished & ~(makespans[:, mine] < makespans[:, column]), counted),
            "wins30": _share(finished & ~(13 * makespans[:, mine] < 10 * makespans[:, column]), counted),
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
        What else the runs are told apart by; nothing puts all runs of a wmin together.

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
                where: dict[str, Any] = dict(zip(by, point, strict=True))
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
    """Return a number for each row, equal where those of the columns that the frame has are equal."""
    known = [column for column in columns if column in frame]
    if not known:
        return np.zeros(len(frame), dtype=np.intp)
    return np.asarray(frame.groupby(known, dropna=False, sort=False).ngroup(), dtype=np.intp)


def _means(values: npt.NDArray[np.float64], groups: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """Return the mean of the values of each group that has any, by increasing group."""
    _, group, counts = np.unique(groups, return_inverse=True, return_counts=True)
    return np.bincount(group, weights=values, minlength=len(counts)) / counts
