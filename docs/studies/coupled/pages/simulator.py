"""Writers of the page on the speed of the simulator: time of a slot against the number of workers."""

from __future__ import annotations

from collections.abc import Callable

from docs.studies.marked_pages import DataFile
from docs.studies.rows import read_rows
from docs.studies.text_table import text_table
from hindsched.bench.report.formatting import count, number
from hindsched.bench.results.records import records
from hindsched.instances.errors import InputError

__all__ = ["SimulatorPage"]

_TIMES = ("first_us", "later_us")


class SimulatorPage:
    """Writers of the table and the numbers on growth."""

    def writers(self) -> dict[str, Callable[..., str]]:
        """Return the writers of marks (see `docs.studies.marked_pages`), by name."""
        return {
            "simulator_growth": self.table,
            "simulator_us": self.time,
            "simulator_growth_factor": self.factor,
        }

    def files(self) -> dict[str, DataFile]:
        """Return no file: the table fits a screen."""
        return {}

    def table(self) -> str:
        """Return the microseconds of a slot in later runs, by policy and number of workers."""
        policies, workers = (list(dict.fromkeys(read_rows("simulator_growth")[name])) for name in ("policy", "workers"))
        rows = [[count(p), *(self.time(policy, str(p), "later_us") for policy in policies)] for p in workers]
        return text_table(["workers", *policies], rows)

    def time(self, policy: str, workers: str, which: str) -> str:
        """Return the microseconds of a slot in a first run (``first_us``) or in a later one (``later_us``)."""
        return f"{float(f'{_time(policy, workers, which):.2g}'):,.12g}"

    def factor(self, policy: str, workers: str, more: str) -> str:
        """Return how many times as long a slot of a later run takes on more workers."""
        return number(_time(policy, more, "later_us") / _time(policy, workers, "later_us"))


def _time(policy: str, workers: str, which: str) -> float:
    for row in records(read_rows("simulator_growth")):
        if (row["policy"], str(row["workers"])) == (policy, workers) and which in _TIMES:
            return float(row[which])
    raise InputError(f"{policy} {workers} {which}, expected a policy, a number of workers and one of {_TIMES}")
