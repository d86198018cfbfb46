"""The nine packaged zones sample by sample, as the public simulator reads them: a sample is a slot of 195 s."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import as_file, files
from math import floor

import numpy as np
import numpy.typing as npt

from hindsched.instances.deadline.generate import ON_DEMAND_PRICE, SPOT_PRICE
from hindsched.instances.deadline.model import Instance, Zone
from hindsched.instances.deadline.moves import moves_of_checkpoint, region_of
from hindsched.instances.errors import InputError
from hindsched.instances.random_streams import stream
from hindsched.instances.text_files import excerpt, read_text

__all__ = ["SAMPLES", "SLOT_S", "spot_zone_names", "starts", "window"]

#: Seconds that a sample stands for, and samples of each zone.
SLOT_S, SAMPLES = 195, 20_158
_SUFFIX = "_v100_1.csv.xz"


@cache
def _samples() -> dict[str, npt.NDArray[np.bool_]]:
    found: dict[str, npt.NDArray[np.bool_]] = {}
    folder = files("hindsched.instances") / "data" / "spot_aws_v100"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(_SUFFIX):
            with as_file(file) as path:
                rows = read_text(path, "samples").split("\n")[1:]
            values = np.array([row.rpartition(",")[2] == "1" for row in rows if row])
            values.setflags(write=False)
            found[file.name.removesuffix(_SUFFIX)] = values
    return found


def spot_zone_names() -> tuple[str, ...]:
    """Return the names of the zones in alphabetical order.

    Examples
    --------
    >>> len(spot_zone_names()), spot_zone_names()[4]
    (9, 'us-east-2a')
    """
    return tuple(_samples())


def starts(zones: Sequence[str], deadline_s: int, number: int, seed: int = 0) -> list[int]:
    """Return the first samples of windows: drawn by zone and deadline, common to several zones.

    Parameters
    ----------
    zones
        Names.
    deadline_s
        D, which decides the length of a window.
    number
        Number of windows; more windows begin with the same ones.
    seed
        Seed of the draws.

    Examples
    --------
    >>> starts(["us-east-2a"], 187_200, 3) == starts(["us-east-2a"], 187_200, 40)[:3]
    True
    """
    numbers = stream("deadline", "+".join(zones), deadline_s, seed).random(number)
    return [floor(u * (SAMPLES + 1 - deadline_s // SLOT_S)) for u in numbers]


def window(
    zones: Sequence[str],
    start: int,
    *,
    work_s: int,
    deadline_s: int,
    overhead_s: int,
    checkpoint_gb: float = 0,
) -> Instance:
    """Return the instance of a window of the packaged zones, at the prices of the public simulator.

    Parameters
    ----------
    zones
        Names.
    start
        First sample.
    work_s, deadline_s, overhead_s
        See `Instance`.
    checkpoint_gb
        Size of the checkpoint; see `moves_of_checkpoint`.

    Raises
    ------
    InputError
        For an unknown zone, or a window that the samples do not have.

    Examples
    --------
    >>> job = window(["us-east-2a"], 100, work_s=172_800, deadline_s=187_200, overhead_s=180)
    >>> job.slots, round(float(job.spot.mean()), 3)
    (960, 0.182)
    """
    known = _samples()
    for zone in zones:
        if zone not in known:
            raise InputError(f"{excerpt(zone)}, expected one of {', '.join(known)}", place="zone")
    slots = deadline_s // SLOT_S
    if not 0 <= start <= SAMPLES - slots:
        message = f"samples {start} to {start + slots}, expected a window of the {SAMPLES} samples"
        raise InputError(message, place="start")
    regions = [region_of(zone) for zone in zones]
    delays, costs = moves_of_checkpoint(regions, checkpoint_gb)
    return Instance(
        slot_s=SLOT_S,
        deadline_s=deadline_s,
        work_s=work_s,
        overhead_s=overhead_s,
        zones=[
            Zone(known[zone][start : start + slots], SPOT_PRICE, ON_DEMAND_PRICE, zone, region)
            for zone, region in zip(zones, regions, strict=True)
        ],
        move_delay_s=delays,
        move_cost=costs,
    )
