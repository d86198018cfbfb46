"""Writers of the table of variants: which part of stand-by gains."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from docs.studies.claims_tables import one_of
from docs.studies.coupled.lookahead import POINT
from docs.studies.coupled.variants import BESIDE, VARIANTS, with_published
from docs.studies.marked_pages import DataFile
from docs.studies.rows import read_rows_with_gaps
from docs.studies.text_table import text_table
from hindsched.bench.report.formatting import count, number, share
from hindsched.bench.results.bootstrap import percentiles, resample, resampled_medians

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["VariantsPage"]

#: The policies of the table, and how they differ.
_SHOWN = {
    "E-IE": "the best of the paper's heuristics here",
    "E-IE+sb": "E-IE with the whole of stand-by",
    "rr": "exact criterion, no stand-by",
    "keep": "`rr`, and workers with program or data stay enrolled",
    "send": "`rr`, and spare channels send programs; a worker leaves when it has the program",
    "sb": "both: the whole of stand-by",
}


class VariantsPage:
    """Writers of the table and numbers on variants.

    Parameters
    ----------
    printed
        Returns the paper's heuristics under the reading ``printed``.
    """

    def __init__(self, printed: Callable[[], pd.DataFrame]) -> None:
        self._printed = printed

    def writers(self) -> dict[str, Callable[..., str]]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        return {
            "variants": self.table,
            "variant_ratio": self.ratio,
            "variant_instances": self.instances,
            "variant_faster": self.faster,
        }

    def files(self) -> dict[str, DataFile]:
        """Return no files: the rows are small."""
        return {}

    @cached_property
    def _ratios(self) -> pd.DataFrame:
        """Return the ratio of each policy; one row per instance."""
        frame = with_published(read_rows_with_gaps("variants"), self._printed())
        return frame.pivot_table(index=POINT, columns="policy", values="ratio")

    def table(self) -> str:
        """Return the median ratio of each policy with its interval, and the shares within 30 % and 100 %."""
        rows = []
        for policy, difference in _SHOWN.items():
            mine = self._ratios[policy]
            shares = [share(float((mine <= bar).mean())) for bar in (1.3, 2.0)]
            rows.append([f"`{policy}`", difference, self.ratio(policy), *shares])
        return text_table(["policy", "what it does", "median ratio (95 %)", "within 30%", "100%"], rows, num_texts=2)

    def ratio(self, policy: str) -> str:
        """Return the median ratio of a policy with its 95 % interval, a bootstrap over instances."""
        mine = self._ratios[one_of(policy, (*VARIANTS, *BESIDE))].to_numpy()
        low, high = percentiles(resampled_medians(mine, np.arange(len(mine)), resample(len(mine))))
        return f"{number(float(np.median(mine)))} ({number(low)} to {number(high)})"

    def instances(self) -> str:
        """Return the number of instances."""
        return count(len(self._ratios))

    def faster(self, policy: str, other: str) -> str:
        """Return the share of instances where a policy is faster than another."""
        names = (*VARIANTS, *BESIDE)
        return share(float((self._ratios[one_of(policy, names)] < self._ratios[one_of(other, names)]).mean()))
