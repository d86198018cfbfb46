"""The instance type of the family ``deadline``: one job with a deadline, and zones with two kinds of instances."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from hindsched.instances.base_instance import BaseInstance, as_integer
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import encode, excerpt

__all__ = ["HOUR_S", "MOST", "UNITS_PER_DOLLAR", "Instance", "Price", "Zone", "spot_from_text", "spot_to_text"]

#: The largest number in an instance.
MOST = 2**31 - 1
#: Seconds of an hour: a move of one micro-dollar costs so many units.
HOUR_S = 3600
#: Units of money in a dollar. A unit is a micro-dollar-second per hour.
UNITS_PER_DOLLAR = 1_000_000 * HOUR_S

#: Micro-dollars an hour: one price, or one for each slot.
Price: TypeAlias = int | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone: where spot instances come and go, and on-demand instances can always be had.

    Parameters
    ----------
    spot
        An array of N booleans: whether a spot instance can be had throughout the slot. Read only.
    spot_price, on_demand_price
        Micro-dollars an hour: one integer, or one for each slot. Equal prices of all slots become one integer.
    name, region
        Only policies and pictures use them. Empty: ``zone<i>``, and the name.
    """

    spot: npt.NDArray[np.bool_]
    spot_price: Price
    on_demand_price: Price
    name: str = ""
    region: str = ""


@dataclass(frozen=True, eq=False, init=False)
class Instance(BaseInstance):
    """One job that needs W seconds of computing by a deadline (docs/deadline/model.md section 1).

    An instance is immutable and is validated when it is made. Equality, hash and `fingerprint` follow the content;
    names of zones and regions do not count.

    Parameters
    ----------
    slot_s
        g, seconds of a slot; slot t is [tg, (t+1)g).
    deadline_s
        D; the N = floor(D / g) slots before it count, at least one.
    work_s
        W, seconds of computing that the job needs, at least 1.
    overhead_s
        d, seconds after each launch in which nothing is computed.
    zones
        Z zones with N slots each.
    move_delay_s
        Z x Z seconds that a launch in a zone (column) takes longer if the checkpoint is in another (row); the diagonal
        is 0. None: all 0.
    move_cost
        Z x Z micro-dollars that such a launch costs. None: all 0.

    Raises
    ------
    InputError
        If a value is invalid. The message names the zone and the field.

    Examples
    --------
    >>> zone = Zone(spot_from_text("1101"), spot_price=1, on_demand_price=3)
    >>> job = Instance(slot_s=10, deadline_s=45, work_s=20, overhead_s=5, zones=[zone])
    >>> job.slots, job.zones[0].name, job.prices.tolist()
    (4, 'zone0', [[[1, 1, 1, 1], [3, 3, 3, 3]]])
    """

    family: ClassVar[str] = "deadline"

    slot_s: int
    deadline_s: int
    work_s: int
    overhead_s: int
    zones: tuple[Zone, ...]
    move_delay_s: tuple[tuple[int, ...], ...] = field(repr=False)
    move_cost: tuple[tuple[int, ...], ...] = field(repr=False)

    def __init__(
        self,
        slot_s: int,
        deadline_s: int,
        work_s: int,
        overhead_s: int,
        zones: Sequence[Zone],
        move_delay_s: Sequence[Sequence[int]] | None = None,
        move_cost: Sequence[Sequence[int]] | None = None,
    ) -> None:
        slot_s = as_integer(slot_s, 1, MOST, "slot_s")
        deadline_s = as_integer(deadline_s, 1, MOST, "deadline_s")
        slots = deadline_s // slot_s
        if slots < 1:
            raise InputError(f"{deadline_s}, expected at least one slot of {slot_s} s", place="deadline_s")
        if not zones:
            raise InputError("none, expected at least one zone", place="zones")
        checked = {
            "slot_s": slot_s,
            "deadline_s": deadline_s,
            "work_s": as_integer(work_s, 1, MOST, "work_s"),
            "overhead_s": as_integer(overhead_s, 0, MOST, "overhead_s"),
            "zones": _named([_checked_zone(zone, slots, i) for i, zone in enumerate(zones)]),
            "move_delay_s": _checked_matrix(move_delay_s, len(zones), "move_delay_s"),
            "move_cost": _checked_matrix(move_cost, len(zones), "move_cost"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def slots(self) -> int:
        """N, the number of slots before the deadline."""
        return self.deadline_s // self.slot_s

    @property
    def num_zones(self) -> int:
        """Z, the number of zones."""
        return len(self.zones)

    @cached_property
    def spot(self) -> npt.NDArray[np.bool_]:
        """Whether spot can be had; a read-only array of shape (Z, N)."""
        return _frozen(np.stack([zone.spot for zone in self.zones]))

    @cached_property
    def prices(self) -> npt.NDArray[np.int64]:
        """Micro-dollars an hour in each slot; a read-only array of shape (Z, 2, N), with spot before on-demand."""
        rows = [(zone.spot_price, zone.on_demand_price) for zone in self.zones]
        return _frozen(np.array([[np.broadcast_to(price, self.slots) for price in row] for row in rows], np.int64))

    def launch_overhead(self, home: int | None, zone: int) -> int:
        """Return the seconds that a launch in a zone takes; ``home`` has the checkpoint, None: there is none."""
        return self.overhead_s + (0 if home is None else self.move_delay_s[home][zone])

    def move_units(self, home: int | None, zone: int) -> int:
        """Return the units of money that moving the checkpoint to a zone costs."""
        return 0 if home is None else HOUR_S * self.move_cost[home][zone]

    @cached_property
    def fingerprint(self) -> str:
        """``sha256:`` and the digest of the content. It binds schedules and results to this instance."""
        digest = hashlib.sha256(b"deadline/1\0")
        zones = [[spot_to_text(zone.spot), zone.spot_price, zone.on_demand_price] for zone in self.zones]
        numbers = [self.slot_s, self.deadline_s, self.work_s, self.overhead_s]
        digest.update(encode([*numbers, zones, self.move_delay_s, self.move_cost]).encode())
        return f"sha256:{digest.hexdigest()}"


def spot_from_text(text: str, place: str = "spot") -> npt.NDArray[np.bool_]:
    """Return the availability of spot in each slot from a text of ``1`` and ``0``.

    Raises
    ------
    InputError
        For any other character. The message names the slot.

    Examples
    --------
    >>> spot_from_text("011").tolist()
    [False, True, True]
    """
    codes = np.frombuffer(text.encode("ascii", "replace"), dtype=np.uint8)
    wrong = np.flatnonzero((codes != ord("0")) & (codes != ord("1")))
    if wrong.size:
        slot = int(wrong[0])
        message = f"character {text[slot]!r} in slot {slot}, expected 1 (spot can be had) or 0 (it cannot)"
        raise InputError(message, place=place)
    return _frozen(codes == ord("1"))


def spot_to_text(spot: npt.NDArray[np.bool_]) -> str:
    """Return the availability as a text of ``1`` and ``0``, the inverse of `spot_from_text`."""
    return (spot.astype(np.uint8) + ord("0")).astype(np.uint8).tobytes().decode()


def _checked_zone(zone: Zone, slots: int, index: int) -> Zone:
    place = f"zones[{index}]"
    spot = np.asarray(zone.spot)
    if spot.dtype != np.bool_ or spot.ndim != 1:
        raise InputError("expected a one-dimensional array of booleans", place=f"{place}.spot")
    if len(spot) != slots:
        raise InputError(f"{len(spot)} slots, expected {slots}, which end by the deadline", place=f"{place}.spot")
    for name, text in (("name", zone.name), ("region", zone.region)):
        if not isinstance(text, str):
            raise InputError(f"{excerpt(text)}, expected a text", place=f"{place}.{name}")
    name = zone.name or f"zone{index}"
    return Zone(
        _frozen(np.array(spot)),
        _checked_price(zone.spot_price, slots, f"{place}.spot_price"),
        _checked_price(zone.on_demand_price, slots, f"{place}.on_demand_price"),
        name,
        zone.region or name,
    )


def _checked_price(price: object, slots: int, place: str) -> Price:
    if isinstance(price, str | bytes) or not isinstance(price, Sequence | np.ndarray):
        return as_integer(price, 0, MOST, place)
    if len(price) != slots:
        raise InputError(f"{len(price)} prices, expected one, or one for each of {slots} slots", place=place)
    listed = tuple(as_integer(number, 0, MOST, f"{place}[{t}]") for t, number in enumerate(price))
    return listed[0] if listed.count(listed[0]) == slots else listed


def _named(zones: Sequence[Zone]) -> tuple[Zone, ...]:
    names = [zone.name for zone in zones]
    for i, name in enumerate(names):
        if name in names[:i]:
            message = f"{excerpt(name)} is also the name of zones[{names.index(name)}], expected another"
            raise InputError(message, place=f"zones[{i}].name")
    return tuple(zones)


def _checked_matrix(rows: Sequence[Sequence[int]] | None, zones: int, place: str) -> tuple[tuple[int, ...], ...]:
    if rows is None:
        return ((0,) * zones,) * zones
    if len(rows) != zones:
        raise InputError(f"{len(rows)} rows, expected one for each of {zones} zones", place=place)
    checked = []
    for i, row in enumerate(rows):
        if len(row) != zones:
            raise InputError(f"{len(row)} numbers, expected one for each of {zones} zones", place=f"{place}[{i}]")
        checked.append(tuple(as_integer(number, 0, MOST, f"{place}[{i}][{j}]") for j, number in enumerate(row)))
        if checked[i][i] != 0:
            raise InputError(f"{checked[i][i]}, expected 0 on the diagonal", place=f"{place}[{i}][{i}]")
    return tuple(checked)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array
