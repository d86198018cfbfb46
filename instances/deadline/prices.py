"""Prices of spot instances over time, read from a table with columns for time, zone and price in dollars an hour."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

from hindsched.instances.deadline.model import MOST
from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Seconds
from hindsched.instances.text_files import excerpt
from hindsched.instances.traces.delimited import Candidate, first_lines
from hindsched.instances.traces.parsing import read_lines
from hindsched.instances.traces.times import plain_name, seconds, to_text, to_times

__all__ = ["PriceTable", "micro_dollars", "read_prices"]

#: Names of the columns, as `plain_name` writes them.
_COLUMNS = {
    "time": ("time", "timestamp", "date", "datetime", "times"),
    "zone": ("zone", "availabilityzone", "availability_zone", "az", "node", "name"),
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
        for name in (node, node.partition("_")[0]):
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
        times, prices = self.times[zone], self.prices[zone]
        found = []
        for t in range(slots):
            i = bisect_right(times, start + t * slot_s)
            if i == 0:
                message = f"the first price is of {to_text(times[0])}, expected one by {to_text(start)}"
                raise InputError(message, place=f"zone {excerpt(zone)}")
            found.append(prices[i - 1])
        return found


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
    head, columns = _columns(lines)
    rows = list(head.rows(lines))
    if not rows:
        raise InputError("no price, expected at least one", place=f"line {head.number}")
    numbers = [number for number, _ in rows]
    name = head.names[columns["time"]]
    times = to_times([cells[columns["time"]] for _, cells in rows], numbers, name=name).values
    found: dict[str, dict[Seconds, int]] = {}
    for (number, cells), time in zip(rows, times, strict=True):
        zone = found.setdefault(cells[columns["zone"]], {})
        price = micro_dollars(cells[columns["price"]], f"line {number}")
        if zone.setdefault(time, price) != price:
            raise InputError(f"another price of {to_text(time)}, expected one", place=f"line {number}")
    ordered = {zone: dict(sorted(prices.items())) for zone, prices in found.items()}
    return PriceTable(
        {zone: list(prices) for zone, prices in ordered.items()},
        {zone: list(prices.values()) for zone, prices in ordered.items()},
    )


def _columns(lines: Sequence[str]) -> tuple[Candidate, dict[str, int]]:
    for head in first_lines(lines):
        names = [plain_name(name) for name in head.names]
        found = {kind: [i for i, name in enumerate(names) if name in known] for kind, known in _COLUMNS.items()}
        if all(len(columns) == 1 for columns in found.values()):
            return head, {kind: columns[0] for kind, columns in found.items()}
    wanted = "; ".join(f"{kind}: {', '.join(known[:3])}" for kind, known in _COLUMNS.items())
    raise InputError(f"no line names one column each of time, zone and price ({wanted})", place="line 1")
