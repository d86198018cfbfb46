"""Effort: the work that kernels count instead of time, so that answers are reproducible.

One unit is about a quarter of a microsecond. Every kernel adds its units to ``effort[SPENT]`` of a shared array and
returns when that passes ``effort[LIMIT]`` or ``effort[STOP]``.
"""

from __future__ import annotations

SPENT, LIMIT, STOP = range(3)
"""Cells of an ``effort`` array: the units spent so far, the limit of the present query, and the limit of all work."""

EFFORT_PER_STEP = 64
"""Units in one step, the unit in which the portfolio gives out work."""

EFFORT_PER_CLOCK_CHECK = 1 << 20
"""Units between two checks of the clock, about a quarter of a second."""

EFFORT_PER_SECOND = 4_000_000
"""Units per second that are assumed until the speed has been measured."""

MEASURED_FROM = 1_000_000
"""Units from which the measured speed replaces `EFFORT_PER_SECOND`."""
