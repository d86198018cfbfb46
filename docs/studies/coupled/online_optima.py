"""On-line optima of small instances, and the free-prefetch bound on the paper's instances."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from hindsched.bench.campaign.engine import code_digest
from hindsched.bench.coupled.online_optimum import COLUMNS, Sampling, compare, progress_printer
from hindsched.bench.run_records import Options
from hindsched.instances.coupled.generate import paper
from hindsched.instances.coupled.model import Instance
from hindsched.instances.text_files import write_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RELAXED", "STUDY", "Cell", "collect", "draw_ratios", "measured", "relaxed"]

#: Columns of the study: the instance, and the columns of the command ``online-optimum``.
STUDY = ("p", "m", "n_com", "iterations", "scenario", *COLUMNS)
#: Columns of the free-prefetch bound on the paper's instances.
RELAXED = ("m", "n_com", "wmin", "scenario", "optimum", "bound")


@dataclass(frozen=True, slots=True)
class Cell:
    """An instance of the study and its measurements.

    Parameters
    ----------
    p, m, n_com, iterations, scenario
        Parameters of the instance.
    paths
        Sampled futures.
    policies
        Names of policies.
    is_charged
        Whether to compute the charged bound.
    """

    p: int
    m: int
    n_com: int
    iterations: int
    scenario: int
    paths: int
    policies: tuple[str, ...]
    is_charged: bool

    def instance(self) -> Instance:
        """Return the instance: workers as the paper draws them, with T_prog = 2 and T_data = 1."""
        drawn = paper(
            m=self.m,
            n_com=self.n_com,
            wmin=1,
            scenario=self.scenario,
            trial=0,
            slots=1,
            p=self.p,
            iterations=self.iterations,
        )
        return drawn.replace(t_prog=2, t_data=1)


def measured(cell: Cell, folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a cell, from the folder if it has them."""
    policies = "-".join(cell.policies)
    numbers = f"p{cell.p}_m{cell.m}_c{cell.n_com}_k{cell.iterations}_s{cell.scenario}_{cell.paths}"
    file = folder / "cells" / f"{numbers}_{policies}{'_bound' if cell.is_charged else ''}_{_code()}.json"
    if file.exists():
        return list(msgspec.json.decode(file.read_bytes(), type=list[dict[str, Any]]))
    named = {name: getattr(cell, name) for name in ("p", "m", "n_com", "iterations", "scenario")}
    instance = cell.instance()
    found = compare(
        instance,
        cell.policies,
        options=Options(check_slots=0),
        sampling=Sampling(paths=cell.paths, is_charged=cell.is_charged),
        progress=progress_printer(file.stem),
    )
    rows = [named | row for row in found]
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, msgspec.json.encode(rows).decode())
    return rows


def _code() -> str:
    """Return a digest of the source that cells depend on."""
    return code_digest(family="coupled")[:8]


def collect(folder: Path) -> Path:
    """Write all rows of this code in the folder to one table; return its path."""
    rows = [
        row
        for file in sorted((folder / "cells").glob(f"*_{_code()}.json"))
        for row in msgspec.json.decode(file.read_bytes(), type=list[dict[str, Any]])
    ]
    lines = [",".join(_printed(row[key]) for key in STUDY) for row in rows]
    write_text(folder / "online_optimum.csv", "\n".join([",".join(STUDY), *lines, ""]))
    return folder / "online_optimum.csv"


def relaxed(folder: Path) -> list[dict[str, Any]]:
    """Return the free-prefetch bound and the stored optimum on instances of the paper's experiment with m = 5.

    Writes free_prefetch.csv.
    """
    from docs.studies.coupled.optima import known_optima
    from hindsched.bench.results.records import records
    from hindsched.offline.coupled.bounds.free_prefetch import free_prefetch_bound

    optima = known_optima()
    chosen = optima[(optima["m"] == 5) & optima["wmin"].isin([1, 2, 4]) & (optima["trial"] == 0)]
    rows = []
    for known in records(chosen[chosen["scenario"] < 5]):
        point = {name: int(known[name]) for name in RELAXED[:4]}
        optimum = int(known["makespan"])
        m, n_com, wmin, scenario = (point[name] for name in RELAXED[:4])
        drawn = paper(m=m, n_com=n_com, wmin=wmin, scenario=scenario, trial=0, slots=optimum)
        bound = free_prefetch_bound(drawn)
        rows.append({**point, "optimum": optimum, "bound": bound})
    folder.mkdir(parents=True, exist_ok=True)
    lines = [",".join(_printed(row[key]) for key in RELAXED) for row in rows]
    write_text(folder / "free_prefetch.csv", "\n".join([",".join(RELAXED), *lines, ""]))
    return rows


def _printed(value: Any) -> str:
    return "" if value is None else f"{value:.7g}" if isinstance(value, float) else str(value)


def draw_ratios(frame: pd.DataFrame, path: Path) -> None:
    """Draw the expected makespan over the hindsight optimum on each instance: of the on-line optimum and of policies.

    Parameters
    ----------
    frame
        Columns ``p``, ``m``, ``scenario``, ``player`` and ``ratio``.
    path
        Of the picture, an SVG.
    """
    from hindsched.bench.report import canvas

    names = [f"p={p}, m={m}, draw {draw}" for p, m, draw in frame[["p", "m", "scenario"]].drop_duplicates().to_numpy()]
    figure, (axes,) = canvas.new_figure(width=7.0, heights=(3.2,))
    for (player, group), marker, colour in zip(
        frame.groupby("player", sort=False), "D^so", canvas.COLOURS, strict=False
    ):
        axes.plot(range(len(group)), group["ratio"], marker, color=colour, label=player, markersize=5)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right", fontsize=8)
    axes.set_ylabel("makespan / hindsight optimum")
    axes.set_ylim(bottom=1)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, frameon=False)
    canvas.save(figure, path)
