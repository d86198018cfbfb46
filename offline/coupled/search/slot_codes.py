"""Numbers that kernels return in place of a slot."""

from __future__ import annotations

NEVER = 1 << 50
"""Later than every slot."""

SLOTS_UNKNOWN = -1
"""The answer depends on slots whose states are not known yet: extend the table and call again."""

EFFORT_LIMIT_MET = -2
"""The effort limit was met first: call again."""
