"""A boolean array as 64-bit words, from both sides."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hindsched.instances.array_types import Words
from hindsched.offline.kmis.kernels.bit_matrix import orient
from hindsched.offline.kmis.kernels.incumbent import beam as best_of_beam
from hindsched.offline.kmis.kernels.incumbent import shrink

__all__ = ["Matrix", "octets_of"]


class Matrix:
    """A boolean array in the two orientations that the kernels use."""

    def __init__(self, octets: npt.NDArray[np.uint8], n: int) -> None:
        self.p, self.n = octets.shape[0], n
        self.octets = octets
        self.packed: Words = octets.view(np.uint64)
        self.n_words = self.packed.shape[1]
        self.by_row: Words = np.zeros((self.n_words, ((self.p + 63) & ~63)), np.uint64)
        self.by_column: Words = np.zeros(((self.p + 63) >> 6, 64 * self.n_words), np.uint64)
        orient(self.packed, self.by_row, self.by_column)

    def beam(self, m: int, width: int, prefix: int) -> tuple[int, list[int]]:
        """Return the number of columns that a good set of m rows shares in the prefix, and the rows."""
        chosen = np.zeros(self.p, np.int64)
        w = best_of_beam(self.by_row, self.p, prefix, m, width, chosen)
        return w, chosen[:m].tolist()

    def shrink(self, m: int, w: int, width: int) -> list[int]:
        """Return m rows that share w columns in a short prefix, by the beam; empty if it finds none."""
        chosen = np.zeros(self.p, np.int64)
        prefix = shrink(self.by_row, self.by_column, self.p, self.n, m, w, width, chosen)
        return chosen[:m].tolist() if prefix <= self.n else []

    def columns(self, rows: list[int]) -> list[int]:
        """Return all columns in which the rows are True."""
        common = np.bitwise_and.reduce(self.octets[rows], axis=0)
        bits = np.unpackbits(common, bitorder="little")[: self.n]
        result: list[int] = bits.nonzero()[0].tolist()
        return result

    def rows_of(self, columns: list[int], m: int) -> list[int]:
        """Return the first m rows that are True in all the columns."""
        common = np.bitwise_and.reduce(self.by_column[:, columns], axis=1)
        bits = np.unpackbits(common.view(np.uint8), bitorder="little")
        result: list[int] = bits.nonzero()[0][:m].tolist()
        return result


def octets_of(up: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    """Return the rows as bits in octets, padded to whole 64-bit words."""
    p, n = up.shape
    octets = np.zeros((p, max(1, (n + 63) >> 6) << 3), np.uint8)
    octets[:, : (n + 7) >> 3] = np.packbits(up, axis=1, bitorder="little")
    return octets
