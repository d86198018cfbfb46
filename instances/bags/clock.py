"""Day, night and weekend at an institute (docs/bags/model.md section 3)."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["HOURS_PER_WEEK", "HOUR_MS", "WEEK_MS", "TimeOfWeek", "hour_of_week", "time_of_week"]

#: Milliseconds of an hour.
HOUR_MS = 3600 * 1000
_DAY_MS = 24 * HOUR_MS
#: Milliseconds of a week.
WEEK_MS = 7 * _DAY_MS
HOURS_PER_WEEK = 7 * 24

_MORNING = 8 * HOUR_MS  # night and weekend end
_CLOSING = 4 * HOUR_MS  # night begins
_WEEKEND = 5 * _DAY_MS + 21 * HOUR_MS


class TimeOfWeek(IntEnum):
    """Day, night or weekend."""

    DAY = 0
    NIGHT = 1
    WEEKEND = 2


def time_of_week(ms: int) -> TimeOfWeek:
    """Return whether it is day, night or weekend, at a time in milliseconds since Monday 00:00.

    The weekend is Saturday 21:00 to Monday 08:00, night is 04:00 to 08:00 on the other days, and the rest is day. Each
    of them includes its first millisecond and excludes its end.

    Examples
    --------
    >>> hour = 3600 * 1000
    >>> [time_of_week(h * hour).name for h in (0, 8, 27, 28, 32, 5 * 24 + 20, 5 * 24 + 21, 7 * 24 + 7)]
    ['WEEKEND', 'DAY', 'DAY', 'NIGHT', 'DAY', 'DAY', 'WEEKEND', 'WEEKEND']
    """
    ms %= WEEK_MS
    if ms < _MORNING or ms >= _WEEKEND:
        return TimeOfWeek.WEEKEND
    return TimeOfWeek.NIGHT if _CLOSING <= ms % _DAY_MS < _MORNING else TimeOfWeek.DAY


def hour_of_week(ms: int) -> int:
    """Return the hour of the week, 0 to 167, at a time in milliseconds since Monday 00:00.

    Examples
    --------
    >>> hour_of_week(3_599_999), hour_of_week(3_600_000), hour_of_week(WEEK_MS)
    (0, 1, 0)
    """
    return ms % WEEK_MS // HOUR_MS
