"""The panel of V100s of SkyNomad with moving prices, which its artifact has: five windows of three zones.

The prices are in ``data/v100_spot_prices.json`` of github.com/andylizf/skynomad-artifact (Apache-2.0, commit 62b9aaa),
one per zone and sample of the packaged trace. Windows, work and deadline are those of its ``research/data/v100.csv``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from docs.studies.rows import read_rows
from hindsched.instances.deadline import UNITS_PER_DOLLAR, Instance, Kind, Schedule, spot_zones
from hindsched.instances.deadline.prices import micro_dollars
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import read_json
from hindsched.offline.deadline import solve
from hindsched.online.deadline import run_policy

__all__ = ["PRINTED", "STARTS", "means", "panel", "read_panel_prices", "rows"]

#: First samples of the windows, and the zones.
STARTS = (3318, 5530, 7742, 8848, 15484)
ZONES = ("us-east-1c", "us-east-2b", "us-west-2a")
#: Dollars that the paper prints, by policy here. SkyNomad, 41.73, predicts lifetimes and probes, and is not here.
PRINTED = {"free": 37.37, "up_s": 47.02, "uniform": 68.71}
_WORK_S, _SLOTS, _OVERHEAD_S, _CHECKPOINT_GB = 143_780, 1106, 720, 50
_SUFFIX = "_v100_1"

#: Micro-dollars an hour of each sample, by zone.
Prices = dict[str, list[int]]


def read_panel_prices(path: Path) -> Prices:
    """Return the prices of the zones of the panel.

    Raises
    ------
    InputError
        If a zone is missing, or does not have a price for each sample.
    """
    document = read_json(path)
    found: Prices = {}
    for zone in ZONES:
        series = document.get(f"{zone}{_SUFFIX}")
        if not isinstance(series, list) or len(series) != spot_zones.SAMPLES:
            raise InputError(f"expected a list of {spot_zones.SAMPLES} prices", file=path, place=f"{zone}{_SUFFIX}")
        found[zone] = [micro_dollars(str(price), zone) for price in series]
    return found


def panel(prices: Prices, start: int, zones: tuple[str, ...] = ZONES) -> Instance:
    """Return the job of a window: 50 GB move at a cost, but without a delay, as in the panel."""
    job = spot_zones.window(
        zones,
        start,
        work_s=_WORK_S,
        deadline_s=_SLOTS * spot_zones.SLOT_S,
        overhead_s=_OVERHEAD_S,
        checkpoint_gb=_CHECKPOINT_GB,
    )
    moving = [replace(zone, spot_price=tuple(prices[zone.name][start : start + _SLOTS])) for zone in job.zones]
    return job.replace(zones=moving, move_delay_s=None)


def rows(prices: Prices, step: Callable[[str], None]) -> Iterator[dict[str, object]]:
    """Yield the costs of each window in units of money.

    ``free`` and ``up_s`` use all zones, ``uniform`` each zone alone. The artifact does not bill the last slot of a run
    in several zones (docs/deadline/model.md section 7): ``last_free`` and ``last_up_s`` are what it costs.
    """
    for start in STARTS:
        job = panel(prices, start)
        best, run = solve(job).schedule, run_policy(job, "up_s")
        one = {zone: run_policy(panel(prices, start, (zone,)), "uniform", schedule=False).cost for zone in ZONES}
        yield {
            "start": start,
            "free": best.cost,
            "last_free": _last_slot(job, best),
            "up_s": run.cost,
            "last_up_s": _last_slot(job, run.schedule),
            **{f"uniform {zone}": cost for zone, cost in one.items()},
        }
        step(f"start={start}")


def _last_slot(job: Instance, schedule: Schedule | None) -> int:
    """Return the units of money that the last slot of a schedule costs."""
    assert schedule is not None, "the deadline is far"
    last = schedule.runs[-1]
    return job.slot_s * int(job.prices[last.zone, int(last.kind is Kind.ON_DEMAND), last.end - 1])


def means() -> dict[str, tuple[float, float]]:
    """Return the mean dollars of `PRINTED` by policy: with all slots billed, and as the artifact bills them."""
    rows = read_rows("deadline_skynomad") / UNITS_PER_DOLLAR
    found = {name: (rows[name].mean(), (rows[name] - rows[f"last_{name}"]).mean()) for name in ("free", "up_s")}
    alone = rows[[f"uniform {zone}" for zone in ZONES]].to_numpy().mean()
    return {**{name: (float(a), float(b)) for name, (a, b) in found.items()}, "uniform": (float(alone), float(alone))}
