"""Write the page on the policy `booking` from its rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from docs.studies.batches.evidence import read_table
from docs.studies.marked_pages import Picture, Writer
from docs.studies.text_table import text_table
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import NOTHING, number, share
from hindsched.instances.errors import InputError

__all__ = ["BookingPage"]

_CROWDS = ("paper", "daily", "long")


class BookingPage:
    """Writers and files of the page on `booking`."""

    def writers(self) -> dict[str, Writer]:
        """Return the writers of marks, by name."""
        return {writer.__name__: writer for writer in (self.policies, self.crowds, self.compared, self.closed)}

    def files(self) -> dict[str, Picture]:
        """Return the figures next to the pages, by name."""
        return {
            "booking.svg": Picture(lambda: pd.DataFrame(self._drawn()), self._draw),
        }

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        return read_table("policies")

    def _select(self, **wanted: Any) -> list[dict[str, Any]]:
        return [row for row in self._rows if all(row[name] == value for name, value in wanted.items())]

    # ---- numbers

    def compared(
        self, what: str, policy: str, copies_lambda: str, deadline_s: str, c: str, crowd: str = "paper"
    ) -> str:
        """Return a number of the comparison: ``contacts`` and ``copies_per_task`` per task, others shares."""
        wanted = {"policy": policy, "copies_lambda": copies_lambda, "deadline_s": deadline_s, "c": c, "crowd": crowd}
        for row in self._rows:
            if all(str(row[name]) == value for name, value in wanted.items()):
                return number(row[what]) if what in ("contacts", "copies_per_task") else share(row[what])
        raise InputError(f"{' '.join(wanted.values())}, expected a run of batches_policies.csv")

    def closed(self, deadline_s: str, c: str) -> str:
        """Return the share of the gap in tasks that booking closes.

        The gap lies between the paper's best policy with requests for two copies and the hindsight optimum on its
        contacts.
        """
        mine = self._select(deadline_s=int(deadline_s), c=int(c), copies_lambda=2, crowd="paper")
        (ours,) = (row for row in mine if row["policy"] == "booking")
        best = max((row for row in mine if row is not ours), key=lambda row: row["satisfied_tasks"])
        gap = best["stream_tasks"] - best["satisfied_tasks"]
        return share((ours["satisfied_tasks"] - best["satisfied_tasks"]) / gap) if gap > 0 else NOTHING

    # ---- tables and the figure

    def policies(self, what: str) -> str:
        """Return a share by policy and setting of times on the paper's volunteers, such as ``satisfied_batches``."""
        rows = self._select(crowd="paper")
        times = list(dict.fromkeys((row["deadline_s"], row["c"]) for row in rows))
        return self._wide(rows, what, ("deadline_s", "c"), times, [f"{_hours(d)}, {_hours(c)}" for d, c in times])

    def crowds(self, what: str) -> str:
        """Return a share by policy and kind of volunteers, with batches of 4 h and tasks of 1 h."""
        rows = self._select(deadline_s=14_400, c=3600)
        return self._wide(rows, what, ("crowd",), [(crowd,) for crowd in _CROWDS], _CROWDS)

    def _wide(
        self,
        rows: Sequence[dict[str, Any]],
        what: str,
        keys: tuple[str, ...],
        values: Sequence[tuple[Any, ...]],
        names: Sequence[str],
    ) -> str:
        """Return a table with a line per policy and a column per value of the keys."""
        lines: dict[tuple[str, int], dict[tuple[Any, ...], float]] = {}
        for row in rows:
            line = lines.setdefault((row["policy"], row["copies_lambda"]), {})
            line[tuple(row[key] for key in keys)] = row[what]
        cells = [
            [policy, str(copies), *(share(line[value]) for value in values)] for (policy, copies), line in lines.items()
        ]
        return text_table(["policy", "requests per task", *names], cells)

    def _drawn(self) -> list[dict[str, Any]]:
        names = ("deadline_s", "c", "policy", "copies_lambda", "satisfied_batches")
        return [{name: row[name] for name in names} for row in self._select(crowd="paper")]

    def _draw(self, path: Path) -> None:
        """Draw the share of satisfied batches by policy, with a panel per setting of times."""
        rows = self._select(crowd="paper")
        times = list(dict.fromkeys((row["deadline_s"], row["c"]) for row in rows))
        figure, panels = canvas.new_figure(len(times), heights=(1.6,) * len(times))
        for axes, (deadline_s, c) in zip(panels, times, strict=True):
            mine = [row for row in rows if (row["deadline_s"], row["c"]) == (deadline_s, c)]
            colours = [canvas.COLOURS[1 if row["policy"] == "booking" else 0] for row in mine]
            axes.bar(range(len(mine)), [100 * row["satisfied_batches"] for row in mine], color=colours)
            axes.set_ylim(0, 105)
            axes.set_ylabel("batches, %", fontsize=8)
            axes.set_title(f"D - S = {_hours(deadline_s)}, mean C = {_hours(c)}", loc="left", fontsize=9)
            names = [f"{row['policy']}\n{row['copies_lambda']}" for row in mine]
            is_last = axes is panels[-1]
            axes.set_xticks(range(len(mine)), names if is_last else [""] * len(mine), fontsize=7)
        panels[-1].set_xlabel("policy, and requests per task", fontsize=8)
        canvas.save(figure, path)


def _hours(seconds: int) -> str:
    """Return seconds as hours or minutes.

    Examples
    --------
    >>> _hours(1800), _hours(14400)
    ('30 min', '4 h')
    """
    return f"{seconds // 3600} h" if seconds >= 3600 else f"{seconds // 60} min"
