"""How the kernels of this package are compiled: a group of their own, apart from those of ``native``.

So nothing of them is compiled, or loaded, for an instance that the native search solves without them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from instances import states
from instances.compiling import kernels_of
from offline.coupled.native import kernels, payment

F = TypeVar("F", bound=Callable[..., Any])

Ints = NDArray[np.int64]
Counts = NDArray[np.int32]
Bytes = NDArray[np.uint8]

_files = (Path(str(module.__file__)) for module in (states, kernels, payment))
_kernels: Any = kernels_of(Path(__file__).parent, "rents", *_files)


def kernel(function: F) -> F:
    """Compile `function` on first use and keep the machine code on disk; a kernel makes no arrays."""
    made: F = _kernels(_nrt=False)(function)
    return made
