"""Write the page on the policy `booking` from its rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from docs.studies.batches.evidence import Rows, duration, read_table, select
from docs.studies.estimates import estimate
from docs.studies.marked_pages import Picture, Writer
from docs.studies.text_table import text_table
from hindsched.bench.batches.experiment_rows import times_of
from hindsched.bench.report import canvas
from hindsched.bench.report.formatting import number, share
from hindsched.instances.errors import InputError

__all__ = ["BookingPage"]

_CROWDS = ("paper", "daily", "long")


class BookingPage:
    """Writers and files of the page on `booking`."""

    def writers(self) -> dict[str, Writer]:
        """Return the writers of marks, by name."""
        writers = (self.policies, self.crowds, self.compared, self.lead, self.num_crowds)
        return {writer.__name__: writer for writer in writers}

    def files(self) -> dict[str, Picture]:
        """Return the figures next to the pages, by name."""
        return {
            "booking.svg": Picture(lambda: pd.DataFrame(self._drawn()), self._draw),
        }

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        return read_table("policies")

    # ---- numbers

    def compared(
        self, what: str, policy: str, copies_lambda: str, deadline_s: str, c: str, crowd: str = "paper"
    ) -> str:
        """Return a mean over crowds: contacts per task, copies per satisfied task, others shares."""
        wanted = {"policy": policy, "copies_lambda": copies_lambda, "deadline_s": deadline_s, "c": c, "crowd": crowd}
        rows = [row for row in self._rows if all(str(row[name]) == value for name, value in wanted.items())]
        if not rows:
            raise InputError(f"{' '.join(wanted.values())}, expected a run of batches_policies.csv")
        mean = estimate(row[what] for row in rows).mean
        return number(mean) if what in ("contacts", "copies_per_task") else share(mean)

    def lead(self, what: str, better: str, worse: str, copies_lambda: str, c: str, crowd: str = "paper") -> str:
        """Return the lead of a policy over another in batches of 4 h, in percentage points of a share, over crowds."""
        wanted = {"copies_lambda": int(copies_lambda), "deadline_s": 14_400, "c": int(c), "crowd": crowd}
        ours, theirs = (
            {row["seed"]: row[what] for row in select(self._rows, policy=policy, **wanted)}
            for policy in (better, worse)
        )
        return estimate(100 * (ours[seed] - theirs[seed]) for seed in ours).text("+.1f")

    def num_crowds(self) -> str:
        """Return the number of crowds of each kind."""
        return str(len({row["seed"] for row in self._rows}))

    # ---- tables and the figure

    def policies(self, what: str) -> str:
        """Return a share by policy and setting of times on the paper's volunteers, such as ``satisfied_batches``."""
        rows = select(self._rows, crowd="paper")
        times = times_of(rows)
        return self._wide(rows, what, ("deadline_s", "c"), times, [f"{duration(d)}, {duration(c)}" for d, c in times])

    def crowds(self, what: str) -> str:
        """Return a share by policy and kind of volunteers, with batches of 4 h and tasks of 1 h."""
        rows = select(self._rows, deadline_s=14_400, c=3600)
        return self._wide(rows, what, ("crowd",), [(crowd,) for crowd in _CROWDS], _CROWDS)

    def _wide(
        self,
        rows: Rows,
        what: str,
        keys: tuple[str, ...],
        values: Sequence[tuple[Any, ...]],
        names: Sequence[str],
    ) -> str:
        """Return a table with a line per policy and a column per value of the keys."""
        lines: dict[tuple[str, int], dict[tuple[Any, ...], list[float]]] = {}
        for row in rows:
            line = lines.setdefault((row["policy"], row["copies_lambda"]), {})
            line.setdefault(tuple(row[key] for key in keys), []).append(row[what])
        cells = [
            [policy, str(copies), *(share(estimate(line[value]).mean) for value in values)]
            for (policy, copies), line in lines.items()
        ]
        return text_table(["policy", "requests per task", *names], cells)

    def _drawn(self) -> list[dict[str, Any]]:
        names = ("seed", "deadline_s", "c", "policy", "copies_lambda", "satisfied_batches")
        return [{name: row[name] for name in names} for row in select(self._rows, crowd="paper")]

    def _draw(self, path: Path) -> None:
        """Draw the share of satisfied batches by policy, with a panel per setting of times."""
        rows = select(self._rows, crowd="paper")
        times = times_of(rows)
        figure, panels = canvas.new_figure(len(times), heights=(1.6,) * len(times))
        for axes, (deadline_s, c) in zip(panels, times, strict=True):
            mine: dict[tuple[str, int], list[float]] = {}
            for row in rows:
                if (row["deadline_s"], row["c"]) == (deadline_s, c):
                    mine.setdefault((row["policy"], row["copies_lambda"]), []).append(100 * row["satisfied_batches"])
            colours = [canvas.COLOURS[1 if policy == "booking" else 0] for policy, _ in mine]
            axes.bar(range(len(mine)), [estimate(shares).mean for shares in mine.values()], color=colours)
            for place, shares in enumerate(mine.values()):
                axes.plot([place] * len(shares), shares, "k.", markersize=3)
            axes.set_ylim(0, 105)
            axes.set_ylabel("batches, %", fontsize=8)
            axes.set_title(f"D - S = {duration(deadline_s)}, mean C = {duration(c)}", loc="left", fontsize=9)
            names = [f"{policy}\n{copies}" for policy, copies in mine]
            is_last = axes is panels[-1]
            axes.set_xticks(range(len(mine)), names if is_last else [""] * len(mine), fontsize=7)
        panels[-1].set_xlabel("policy, and requests per task; dots are crowds", fontsize=8)
        canvas.save(figure, path)
