"""What the kernels of the search are compiled with, and the names of their types."""

from __future__ import annotations

import numpy as np

__all__ = ["ALL", "NONE", "WORD"]


WORD = np.uint64
NONE = WORD(0)
ALL = ~WORD(0)
