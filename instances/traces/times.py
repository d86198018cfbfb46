"""Times in trace files: dates, and numbers whose unit is decided by what is plausible.

A number of a trace is a time after 1970, a time from the beginning of the trace, or a date written as digits. Whole
columns are read at once, because a single number rarely shows its unit. What can mean two things is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from statistics import median_low
from typing import NamedTuple

from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Seconds, simplest
from hindsched.instances.text_files import excerpt

__all__ = [
    "A_DATE",
    "TimeUnit",
    "Times",
    "compact_date",
    "gap_in_seconds",
    "in_seconds",
    "is_before_2100",
    "is_date",
    "moment",
    "plain_name",
    "plausible_unit",
    "seconds",
    "short",
    "to_text",
    "to_times",
    "unit_in_name",
    "unit_named",
]


class TimeUnit(StrEnum):
    """Unit of the times of a trace; ``date`` means yyyymmdd, yyyymmddHH, yyyymmddHHMM or yyyymmddHHMMSS."""

    SECONDS = "s"
    MILLISECONDS = "ms"
    MICROSECONDS = "us"
    NANOSECONDS = "ns"
    MINUTES = "min"
    HOURS = "h"
    DAYS = "d"
    DATE = "date"

    @property
    def word(self) -> str:
        """The name of the unit in a message."""
        return _UNITS[self][1]


class Times(NamedTuple):
    """Exact UNIX seconds, or seconds from the beginning of the trace, and what their texts were taken for."""

    values: list[Seconds]
    description: str


#: Seconds of a unit, its name, and the words that name it at the end of a column's name.
_UNITS: dict[TimeUnit, tuple[Seconds, str, str]] = {
    TimeUnit.SECONDS: (1, "seconds", "s sec secs second seconds"),
    TimeUnit.MILLISECONDS: (Fraction(1, 10**3), "milliseconds", "ms msec msecs milli millis millisecond milliseconds"),
    TimeUnit.MICROSECONDS: (Fraction(1, 10**6), "microseconds", "us usec usecs micro micros microsecond microseconds"),
    TimeUnit.NANOSECONDS: (Fraction(1, 10**9), "nanoseconds", "ns nsec nsecs nano nanos nanosecond nanoseconds"),
    TimeUnit.MINUTES: (60, "minutes", "min mins minute minutes"),
    TimeUnit.HOURS: (3600, "hours", "h hr hrs hour hours"),
    TimeUnit.DAYS: (86400, "days", "d day days"),
}
_UNIT_WORDS = {word: unit for unit, (_, _, words) in _UNITS.items() for word in words.split()}
#: Units that count from 1970 in data sets, the coarsest first.
_EPOCH_UNITS = (TimeUnit.SECONDS, TimeUnit.MILLISECONDS, TimeUnit.MICROSECONDS, TimeUnit.NANOSECONDS)
#: UNIX seconds of 1990 and of 2100: a time outside these years is not plausible.
_EARLIEST, _LATEST = 631_152_000, 4_102_444_800
#: Longest plausible gap between two samples, in seconds.
_LONGEST_GAP = 86_400
#: A gap of at least this many seconds that is a multiple of 1000 may be in milliseconds.
_ROUND_GAP = 10_000

_NUMBER = re.compile(r"[+-]?[0-9]{1,19}(\.[0-9]{0,1000})?([eE][+-]?[0-9]{1,2})?", re.ASCII)
_ZONE = r"(?:[ ]?(Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)(?: UTC)?)?"
_DATE = re.compile(
    r"([0-9]{4})([-/])([0-9]{2})\2([0-9]{2})"
    rf"(?:[ T]([0-9]{{2}}):([0-9]{{2}})(?::([0-9]{{2}})(?:[.,]([0-9]{{1,1000}}))?)?{_ZONE})?",
    re.ASCII | re.IGNORECASE,
)
_BASIC = re.compile(
    rf"([0-9]{{4}})()([0-9]{{2}})([0-9]{{2}})T([0-9]{{2}})([0-9]{{2}})(?:([0-9]{{2}})(?:[.,]([0-9]{{1,1000}}))?)?{_ZONE}",
    re.ASCII | re.IGNORECASE,
)
_COMPACT = re.compile(
    r"((?:19[789]|20[0-9])[0-9])()([0-9]{2})([0-9]{2})(?:([0-9]{2})(?:([0-9]{2})(?:([0-9]{2})(?:\.([0-9]{1,1000})|([0-9]{3}))?)?)?)?",
    re.ASCII,
)
_COMPACT_FORMS = {8: "yyyymmdd", 10: "yyyymmddHH", 12: "yyyymmddHHMM", 14: "yyyymmddHHMMSS", 17: "yyyymmddHHMMSSmmm"}
_EPOCH_DAY = date(1970, 1, 1).toordinal()
#: What a date looks like, for messages.
A_DATE = "a date and time such as 2023-02-15 22:08:16"


def seconds(text: str) -> Seconds | None:
    """Return the exact number that a text represents, or None if it is not a number.

    Examples
    --------
    >>> seconds("1099755300"), seconds("0.5"), seconds("nan")
    (1099755300, Fraction(1, 2), None)
    """
    if text.isdigit() and len(text) <= 19 and text.isascii():
        return int(text)
    return simplest(Fraction(text)) if _NUMBER.fullmatch(text) else None


def moment(text: str) -> Seconds | None:
    """Return the UNIX seconds of an ISO date and time (UTC unless it has an offset), or None if it is not one.

    Examples
    --------
    >>> moment("2023-02-15 22:08:16"), moment("1970-01-01T01:00:00.5+01:00"), moment("yesterday")
    (1676498896, Fraction(1, 2), None)
    >>> moment("2023/02/15 22:08:16.000000000Z"), moment("20230215T220816")
    (1676498896, 1676498896)
    """
    found = _DATE.fullmatch(text) or _BASIC.fullmatch(text)
    if found is None:
        return None
    year, _, month, day, hour, minute, second, fraction, zone = found.groups()
    return _since_1970((year, month, day), (hour, minute, second), fraction, zone)


def compact_date(text: str) -> Seconds | None:
    """Return the UNIX seconds of a date written as digits, or None if the digits are no date of 1970 to 2099.

    Examples
    --------
    >>> compact_date("20230215220816"), compact_date("19700102"), compact_date("20230230")
    (1676498896, 86400, None)
    """
    found = _COMPACT.fullmatch(text)
    if found is None:
        return None
    year, _, month, day, hour, minute, second, fraction, milliseconds = found.groups()
    return _since_1970((year, month, day), (hour, minute, second), fraction or milliseconds, None)


def _since_1970(
    days: tuple[str, str, str], clock: tuple[str | None, str | None, str | None], fraction: str | None, zone: str | None
) -> Seconds | None:
    hour, minute, second = (int(part or 0) for part in clock)
    try:
        day = _day(*days)
    except ValueError:  # the 30th of February
        return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    whole = day * 86_400 + hour * 3600 + minute * 60 + second
    if zone is not None and zone[0] in "+-":
        hours, minutes = int(zone[1:3]), int(zone[3:].lstrip(":") or 0)
        if hours > 23 or minutes > 59:
            return None
        whole -= (hours * 3600 + minutes * 60) * (-1 if zone[0] == "-" else 1)
    digits = (fraction or "").rstrip("0")
    return whole + Fraction(int(digits), 10 ** len(digits)) if digits else whole


@lru_cache(maxsize=1024)
def _day(year: str, month: str, day: str) -> int:
    return date(int(year), int(month), int(day)).toordinal() - _EPOCH_DAY


def unit_named(unit: TimeUnit | str | None) -> TimeUnit | None:
    """Return the unit that a user names.

    Raises
    ------
    InputError
        If there is no such unit.
    """
    if unit is not None and unit not in list(TimeUnit):
        raise InputError(f"{unit!r}, expected one of {', '.join(TimeUnit)}", place="time_unit")
    return None if unit is None else TimeUnit(unit)


def unit_in_name(name: str) -> TimeUnit | None:
    """Return the unit that the last word of a name states.

    Examples
    --------
    >>> unit_in_name("time_ms"), unit_in_name("Timestamp (us)"), unit_in_name("timestamp")
    (<TimeUnit.MILLISECONDS: 'ms'>, <TimeUnit.MICROSECONDS: 'us'>, None)
    """
    words = _words(name)
    return _UNIT_WORDS.get(words[-1]) if len(words) > 1 else None


def plain_name(name: str) -> str:
    """Return a name in small letters, its words joined by ``_``, without the unit that its last word states.

    Examples
    --------
    >>> plain_name("Time (ms)"), plain_name("isAvailable")
    ('time', 'is_available')
    """
    words = _words(name)
    return "_".join(words[:-1] if unit_in_name(name) else words)


def _words(name: str) -> list[str]:
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name.replace("µ", "u"))
    return [word for word in re.split(r"[^a-z0-9]+", spaced.lower()) if word]


def plausible_unit(low: Seconds, high: Seconds, usual: TimeUnit = TimeUnit.SECONDS) -> TimeUnit | None:
    """Return the only plausible unit of times from ``low`` to ``high``; None if there is none, or several.

    Times of the years 1990 to 2099 in seconds, milliseconds, microseconds or nanoseconds after 1970 are recognised by
    their size. Smaller ones count from the beginning of the trace, in the ``usual`` unit.

    Examples
    --------
    >>> plausible_unit(0, 600), plausible_unit(1676498400000, 1676502600000), plausible_unit(0, 5 * 10**9)
    (<TimeUnit.SECONDS: 's'>, <TimeUnit.MILLISECONDS: 'ms'>, None)
    """
    for unit in _EPOCH_UNITS:
        scale = _UNITS[unit][0]
        if low * scale >= _EARLIEST and high * scale < _LATEST:
            return None if unit is TimeUnit.SECONDS and usual is not unit else unit
    longest = _EARLIEST / Fraction(_UNITS[usual][0])
    return usual if -longest < low and high < longest else None


def to_times(
    texts: Sequence[str],
    lines: Sequence[int],
    *,
    name: str = "",
    unit: TimeUnit | str | None = None,
    usual: TimeUnit = TimeUnit.SECONDS,
    what: str = "date",
) -> Times:
    """Return the times of a column.

    Parameters
    ----------
    texts
        The cells of the column; at least one.
    lines
        Their numbers of lines, for messages.
    name
        The name of the column; its last word may state the unit.
    unit
        The unit of numbers. None: the name states it, or it is the only plausible one.
    usual
        The unit of times from the beginning of a trace.
    what
        What a cell is, for messages.

    Raises
    ------
    InputError
        If a text is no time, texts are of different kinds, or their unit can be one of several. The message names the
        line.
    """
    stated = unit_named(unit) or unit_in_name(name)
    if stated is TimeUnit.DATE:
        values = _each(compact_date, texts, lines, what, "digits as yyyymmdd, yyyymmddHHMM or yyyymmddHHMMSS")
        return Times(values, "dates as digits, UTC")
    if seconds(texts[0]) is None:
        return Times(_each(moment, texts, lines, what, A_DATE), "dates, UTC unless they have an offset")
    if stated is None:
        dates = _compact_dates(texts, lines, what)
        if dates is not None:
            return dates
    word = _UNITS[stated or usual][1]
    numbers = _each(seconds, texts, lines, what, f"UNIX {word}" if usual is TimeUnit.SECONDS else word)
    if stated is None:
        stated = _only_unit(numbers, usual, what, lines[0])
    elif unit is None and min(numbers) * _UNITS[stated][0] >= _LATEST:
        raise InputError(
            f"{what} {excerpt(texts[0])}: in {word}, as {excerpt(name)} says, it is after 2099; expected its unit by "
            "--time-unit",
            place=f"line {lines[0]}",
        )
    scale, word, _ = _UNITS[stated]
    since = "since 1970" if min(numbers) * scale >= _EARLIEST else "from the beginning of the trace"
    return Times(in_seconds(numbers, stated), f"{word} {since}")


def _only_unit(numbers: Sequence[Seconds], usual: TimeUnit, what: str, line: int) -> TimeUnit:
    """Return the only plausible unit of a column."""
    low = min(numbers)
    unit = plausible_unit(low, max(numbers), usual)
    steps = [after - before for before, after in pairwise(numbers) if after > before]
    if unit is TimeUnit.SECONDS and low < _EARLIEST and steps:
        step = median_low(steps)
        if _is_long_gap(step) or (step < 1 and low > _ROUND_GAP):
            unit = None
    if unit is None:
        raise _ambiguous(f"{what} {short(numbers[0])}{f', then {short(numbers[1])}' if steps else ''}", f"line {line}")
    return unit


def _compact_dates(texts: Sequence[str], lines: Sequence[int], what: str) -> Times | None:
    """Return the dates that digits mean; None if they are numbers.

    Twelve digits and more are dates if all are, because as numbers they would be times of 1976 or earlier. Eight
    digits are dates if several are and none is not. Ten digits may be a date with an hour or UNIX seconds.
    """
    form = _form(texts[0])
    if form is None or compact_date(texts[0]) is None:
        return None
    dates = [compact_date(text) for text in texts]
    wrong = next((i for i, found in enumerate(dates) if found is None or _form(texts[i]) != form), None)
    if len(form) == 10 and wrong is not None:
        return None
    if len(form) == 10 or (len(form) == 8 and len(texts) == 1):
        raise _ambiguous(f"{what} {texts[0]}, which may be {form} or seconds", f"line {lines[0]}")
    if wrong is not None:
        raise InputError(f"{what} {excerpt(texts[wrong])}, expected {form} as before", place=f"line {lines[wrong]}")
    return Times([found for found in dates if found is not None], f"dates as {form}, UTC")


def _form(text: str) -> str | None:
    return _COMPACT_FORMS.get(len(text.partition(".")[0]))


def _ambiguous(found: str, place: str) -> InputError:
    return InputError(f"{found}: the unit of time is not certain, expected it by --time-unit", place=place)


def short(number: Seconds) -> str:
    """Return a number for a message."""
    return str(number) if isinstance(number, int) else f"{float(number):.15g}"


def to_text(time: Seconds) -> str:
    """Return a time for people: a date in UTC if it is one of 1990 to 2099, otherwise seconds.

    Examples
    --------
    >>> to_text(1676498896), to_text(Fraction(6705995585, 4)), to_text(600)
    ('2023-02-15 22:08:16', '2023-02-15 22:08:16.25', '600 s')
    """
    if is_date(time):
        fraction = f"{float(time % 1):.9f}".strip("0").rstrip(".")
        return f"{datetime.fromtimestamp(int(time), UTC):%Y-%m-%d %H:%M:%S}{fraction}"
    return f"{short(time)} s"


def is_date(time: Seconds) -> bool:
    """Return whether a time of a trace is one of 1990 to 2099; otherwise it counts from the beginning of the trace."""
    return _EARLIEST <= time < _LATEST


def is_before_2100(time: Seconds) -> bool:
    """Return whether a number, taken for UNIX seconds, is plausible."""
    return time < _LATEST


def in_seconds(numbers: Sequence[Seconds], unit: TimeUnit) -> list[Seconds]:
    """Return numbers of a unit in seconds."""
    scale = _UNITS[unit][0]
    return list(numbers) if scale == 1 else [simplest(Fraction(number * scale)) for number in numbers]


def gap_in_seconds(gap: Seconds, name: str) -> Seconds:
    """Return the gap between two samples in seconds; the name of its key may state the unit.

    Raises
    ------
    InputError
        If the name states no unit and the gap may be milliseconds.
    """
    unit = unit_in_name(name)
    if unit is None and _is_long_gap(gap):
        raise InputError(f"{short(gap)}: the unit of time is not certain, expected seconds by --gap", place=name)
    return gap if unit is None else in_seconds([gap], unit)[0]


def _is_long_gap(gap: Seconds) -> bool:
    return gap > _LONGEST_GAP or (gap >= _ROUND_GAP and gap % 1000 == 0)


def _each(
    parse: Callable[[str], Seconds | None], texts: Sequence[str], lines: Sequence[int], what: str, expected: str
) -> list[Seconds]:
    values: list[Seconds] = []
    for text, line in zip(texts, lines, strict=True):
        value = parse(text)
        if value is None:
            raise InputError(f"{what} {excerpt(text)}, expected {expected}", place=f"line {line}")
        values.append(value)
    return values
