"""Values that stand for "there is none" in the kernels of the bounds, and the outcomes of their searches."""

from __future__ import annotations

UNREACHABLE = 1 << 60
"""Cost of an arc or path that does not exist; more than any sum of multipliers."""

ANY_SLOT = 1 << 30
"""Latest compute start of an arc that is not limited yet; fits 32 bits."""

DROPPED = -2
"""Parent of a label that another label dominates."""

OPEN, REFUTED, STOPPED = 0, -1, -2
"""Outcomes: not refuted by these multipliers; no schedule exists; the effort or the room for labels is used up."""
