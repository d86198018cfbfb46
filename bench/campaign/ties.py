"""Instances that do not separate policies: all policies reach the optimum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindsched.bench.campaign.sources import Source
from hindsched.bench.family import family_of_runs

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ties"]

#: Largest number of instances that are named.
_MOST_NAMED = 3


def ties(runs: pd.DataFrame, sources: Sequence[Source]) -> list[str]:
    """Return a sentence for each instance on which every policy, except random ones, reaches the proven optimum.

    Parameters
    ----------
    runs
        As in `hindsched.bench.results.columns.Results`.
    sources
        The instances of the runs. Only those that are named are loaded.
    """
    informed = runs[runs["policy"].str.upper() != "RANDOM"]
    is_best = (informed["value"] == informed["optimum"]) & (informed["optimum_status"] == "optimal")
    found = is_best.groupby(informed["instance"], sort=False).agg(["all", "size"])
    names = found.index[found["all"] & (found["size"] > 1)].tolist()
    by_name = {source.name: source for source in sources}
    lines = []
    for name in names[:_MOST_NAMED]:
        here = runs[runs["instance"] == name]
        optimum, family = here["optimum"].iloc[0], family_of_runs(here)
        who = "every policy" if (here["value"] == optimum).all() else "every policy but RANDOM"
        why = family.why_ties(by_name[name].load(), optimum) if name in by_name else ""
        text = f"{who} reaches the optimum, {family.shown(optimum)} {family.unit}".rstrip()
        lines.append(f"{name} does not tell policies apart: {text}{why and '; '}{why}")
    if len(names) > _MOST_NAMED:
        lines.append(f"{len(names) - _MOST_NAMED} more of {len(found)} instances do not tell policies apart")
    return lines
