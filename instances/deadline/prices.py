"""Prices of spot instances over time, read from a table with columns for time, zone and price in dollars an hour."""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import floor
from operator import mul

from hindsched.instances.deadline.columns import TIME_NAMES, ZONE_NAMES, timed_rows
from hindsched.instances.deadline.model import MOST
from hindsched.instances.deadline.moves import names_of_node
from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Seconds, simplest
from hindsched.instances.text_files import excerpt
from hindsched.instances.traces.parsing import read_lines
from hindsched.instances.traces.times import seconds, to_text

__all__ = ["PriceTable", "micro_dollars", "read_prices"]

#: Names of the columns, as `plain_name` writes them.
_COLUMNS = {
    "time": TIME_NAMES,
    "zone": ZONE_NAMES,
    "price": ("price", "spotprice", "spot_price", "spot", "usd", "dollars"),
}


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices of zones over time; a price holds until the next one of its zone.

    Parameters
    ----------
    times, prices
        For each zone its times in UNIX seconds, increasing, and the micro-dollars an hour from then on.
    """

    times: dict[str, list[Seconds]]
    prices: dict[str, list[int]]

    def zone_of(self, node: str) -> str:
        """Return the zone of the table that a node of a trace means: of its name, or of the part before ``_``.

        Raises
        ------
        InputError
            If there is none.

        Examples
        --------
        >>> PriceTable({"us-east-2a": [0]}, {"us-east-2a": [5]}).zone_of("us-east-2a_v100_1")
        'us-east-2a'
        """
        for name in names_of_node(node):
            if name in self.times:
                return name
        raise InputError(
            f"no price of {excerpt(node)}, expected one of {', '.join(list(self.times)[:9])}", place="zone"
        )

    def in_slots(self, node: str, start: Seconds, slot_s: int, slots: int) -> list[int]:
        """Return the price at the start of each slot, in micro-dollars an hour.

        Raises
        ------
        InputError
            If the table has no such zone, or no price of it by the first slot.
        """
        zone = self.zone_of(node)
        return [self.prices[zone][self._place(zone, start + t * slot_s)] for t in range(slots)]

    def least_in_slots(self, node: str, start: Seconds, slot_s: int, slots: int) -> list[int]:
        """Return the least price within each slot, in micro-dollars an hour.

        Raises
        ------
        InputError
            As `in_slots`.

        Examples
        --------
        >>> PriceTable({"a": [0, 15]}, {"a": [5, 3]}).least_in_slots("a", 0, 10, 3)
        [5, 3, 3]
        """
        zone = self.zone_of(node)
        times, prices = self.times[zone], self.prices[zone]
        borders = [start + t * slot_s for t in range(slots + 1)]
        return [min(prices[self._place(zone, first) : bisect_left(times, end)]) for first, end in pairwise(borders)]

    def paid(self, node: str, start: Seconds, stop: Seconds) -> Seconds:
        """Return what an instance costs from ``start`` to ``stop``, in micro-dollar-seconds per hour.

        Raises
        ------
        InputError
            As `in_slots`.

        Examples
        --------
        >>> PriceTable({"a": [0, 15]}, {"a": [5, 3]}).paid("a", 10, 20)
        40
        """
        zone = self.zone_of(node)
        first = self._place(zone, start)
        changes = [time for time in self.times[zone][first + 1 :] if time < stop]
        lengths = [after - before for before, after in pairwise([start, *changes, stop])]
        return simplest(Fraction(sum(map(mul, lengths, self.prices[zone][first:]))))

    def _place(self, zone: str, time: Seconds) -> int:
        """Return the place of the price of a zone at a time."""
        times = self.times[zone]
        if time < times[0]:
            message = f"the first price is of {to_text(times[0])}, expected one by {to_text(time)}"
            raise InputError(message, place=f"zone {excerpt(zone)}")
        return bisect_right(times, time) - 1


def micro_dollars(dollars: float | str | Fraction, place: str) -> int:
    """Return a price in dollars as micro-dollars, rounded to the nearest.

    Raises
    ------
    InputError
        If it is not a number from 0 to 2147.

    Examples
    --------
    >>> micro_dollars("0.9731", "spot_price"), micro_dollars(3.06, "on_demand_price")
    (973100, 3060000)
    """
    number = seconds(str(dollars)) if isinstance(dollars, str | float) else dollars
    if number is None or not 0 <= number * 1_000_000 <= MOST:
        raise InputError(f"{excerpt(str(dollars))}, expected dollars an hour, 0 to {MOST // 1_000_000}", place=place)
    return floor(Fraction(number) * 1_000_000 + Fraction(1, 2))


def read_prices(path: str | os.PathLike[str]) -> PriceTable:
    """Return the prices of a table, plain or compressed; its first line names the columns time, zone and price.

    Rows of a zone may be in any order of time, as exports of a price history are. Other columns are not read.

    Raises
    ------
    InputError
        If a column is missing, or a time or a price is invalid. The message names file and line.
    """
    try:
        return _table(read_lines(path))
    except InputError as error:
        raise error.in_file(path) from None


def _table(lines: Sequence[str]) -> PriceTable:
    found: dict[str, dict[Seconds, int]] = {}
    for line, time, cells in timed_rows(lines, _COLUMNS, "no price, expected at least one", "date"):
        zone = found.setdefault(cells["zone"], {})
        price = micro_dollars(cells["price"], f"line {line}")
        if zone.setdefault(time, price) != price:
            raise InputError(f"another price of {to_text(time)}, expected one", place=f"line {line}")
    ordered = {zone: dict(sorted(prices.items())) for zone, prices in found.items()}
    return PriceTable(
        {zone: list(prices) for zone, prices in ordered.items()},
        {zone: list(prices.values()) for zone, prices in ordered.items()},
    )
