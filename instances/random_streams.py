"""Counter-based random streams: one per purpose and worker, identified by a key and not by the order of use.

A stream is a Philox generator whose 128-bit key is the SHA-256 digest of its name. Two streams with different
names are independent for all practical purposes. A stream drawn in blocks equals the stream drawn at once. So the
first N states of a worker do not depend on the number of states that are drawn, or on other workers.
"""

from __future__ import annotations

import hashlib

import numpy as np

__all__ = ["stream"]


def stream(*name: str | int) -> np.random.Generator:
    """Return the random stream with this name.

    Parameters
    ----------
    *name
        Texts and integers, e.g. ``("states", seed, trial, worker)``. ``1`` and ``"1"`` name different streams.

    Examples
    --------
    >>> a, b = stream("states", 7, 0), stream("states", 7, 0)
    >>> whole = a.random(5)
    >>> bool((np.concatenate([b.random(2), b.random(3)]) == whole).all())
    True
    """
    digest = hashlib.sha256(repr(name).encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "little")))
