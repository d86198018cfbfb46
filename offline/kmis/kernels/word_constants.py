"""Constants of 64-bit words."""

from __future__ import annotations

import numpy as np

__all__ = ["ALL", "NONE", "WORD"]


WORD = np.uint64
NONE = WORD(0)
ALL = ~WORD(0)
