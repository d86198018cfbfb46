"""Random draws: words of a named stream, integers from words, samples (docs/grid/model.md section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hindsched.instances.random_streams import stream

__all__ = ["WORDS_PER_JOB", "Draws", "words"]

#: Number of words in the stream of jobs for each job; entry node and searchers use at most as many.
WORDS_PER_JOB = 64


def words(count: int, *name: str | int) -> npt.NDArray[np.uint64]:
    """Return the first raw 64-bit words of a stream (see `hindsched.instances.random_streams`).

    Examples
    --------
    >>> [hex(word) for word in words(2, "grid", "job", 0)]
    ['0xdbfd90e083ae69ee', '0xf8ba93674dbffdb1']
    """
    drawn: npt.NDArray[np.uint64] = stream(*name).bit_generator.random_raw(count)
    return drawn


class Draws:
    """Integers and samples from words, used one after the other (docs/grid/model.md section 3.1).

    Parameters
    ----------
    source
        Words in order; no more can be drawn.

    Examples
    --------
    >>> draws = Draws([2**63, 0, 2**64 - 1])
    >>> draws.below(10), draws.some(5, [4, 7])
    (5, [4, 7])
    """

    def __init__(self, source: Sequence[int]) -> None:
        self._source = iter(source)

    def below(self, n: int) -> int:
        """Return a number from 0 to n - 1: floor(word x n / 2^64)."""
        return next(self._source) * n >> 64

    def some(self, k: int, pool: Sequence[int]) -> list[int]:
        """Return k members of a pool, or all if there are fewer, in the order drawn."""
        a = list(pool)
        count = min(k, len(a))
        for i in range(count):
            x = i + self.below(len(a) - i)
            a[i], a[x] = a[x], a[i]
        return a[:count]
