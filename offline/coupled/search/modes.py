"""The modes of a search: which workers may receive the program, and whether that takes the channel."""

from __future__ import annotations

FREE_PREFETCH = 0
"""Every program is fetched in advance and takes no channel: the prefetch relaxation of docs/bounds.md."""

RELAXED = 1
"""Stand-by is allowed, and only programs of workers that compute in the same iteration take the channel.

Programs that a dominance test sends take it too. The mode is exact if n_com >= p, and a relaxation otherwise.
"""

STAND_BY = 2
"""The model with ``stand_by=True``: a worker may receive the program for a later iteration."""

NO_STAND_BY = 3
"""The model with ``stand_by=False``: a worker that receives the program computes in the same iteration."""
