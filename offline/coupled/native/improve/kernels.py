"""The decorator of this group of kernels; of the other groups they use constants, tables and pieces only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from instances.compiling import kernels_of
from offline.coupled.native import constants, parameters, slack, state_tables
from offline.coupled.native.kernels import F

_files = (Path(str(module.__file__)) for module in (constants, parameters, slack, state_tables))
_kernels: Any = kernels_of(Path(__file__).parent, "improve", *_files)


def kernel(function: F) -> F:
    """Compile `function` on first use and keep its machine code on disk; it makes no arrays and lets threads run."""
    made: F = _kernels(_nrt=False, nogil=True)(function)
    return made
