"""The known states, as tables that kernels read in constant time.

`StateTables` reads blocks of states from a provider when a search needs them, and keeps four tables:

``up[q, k]``
    UP slots of worker q as bits, 64 slots to a word: the common UP slots of workers are one AND per 64 slots.
``cnt[t, q]``
    Number of UP slots of q before slot t; UP slots in [a, b) are ``cnt[b, q] - cnt[a, q]``.
``pos[q, i]``
    The i-th UP slot of q, so ``pos[q, cnt[e + 1, q] - W]`` is the W-th last UP slot up to e.
``down[t, q]``
    The last DOWN slot of q up to t, -1 without one: q has received what it holds after that slot (rule R1).

Memory is 12 bytes and a bit for each worker and known slot; the search takes one more byte.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hindsched.instances.array_types import Bytes, Int32s, Words
from hindsched.instances.compiling import kernel
from hindsched.instances.states import DOWN, UP

PIECE = 128
"""Slots that are entered for one worker before the next; the rows stay in the cache."""

FIRST_BLOCK = 512
"""Slots that are read first."""

Provider = Callable[[int, int], NDArray[np.uint8]]
"""``provider(a, b)`` returns the states of slots a..b-1 as a p x (b-a) array; it is called with adjoining ranges."""


class Table(NamedTuple):
    """The tables of `StateTables` for kernels; `length` slots are known."""

    up: Words
    cnt: Int32s
    pos: Int32s
    down: Int32s
    length: int


@kernel
def _append(up: Words, cnt: Int32s, pos: Int32s, down: Int32s, start: int, block: Bytes) -> None:
    """Enter `block`, the states of the slots from `start` on."""
    p, n = block.shape
    for first in range(0, n, PIECE):
        stop = min(n, first + PIECE)
        for q in range(p):
            t = start + first
            c = cnt[t, q]
            d = down[t - 1, q] if t > 0 else np.int32(-1)
            for i in range(first, stop):
                state = block[q, i]
                if state == UP:
                    up[q, t >> 6] |= np.uint64(1) << np.uint64(t & 63)
                    pos[q, c] = t
                    c += np.int32(1)
                elif state == DOWN:
                    d = np.int32(t)
                down[t, q] = d
                t += 1
                cnt[t, q] = c


class StateTables:
    """States that are read from a provider on demand.

    Parameters
    ----------
    provider
        Source of the states.
    num_workers
        Number p of workers.
    slots
        Number N of slots of the instance.
    first
        Slots that are read first.
    """

    def __init__(self, provider: Provider, num_workers: int, slots: int, first: int = FIRST_BLOCK) -> None:
        self.slots = slots
        self.length = 0
        self._provider = provider
        self._up = np.zeros((num_workers, 0), np.uint64)
        self._cnt = np.zeros((1, num_workers), np.int32)
        self._pos = np.zeros((num_workers, 0), np.int32)
        self._down = np.zeros((0, num_workers), np.int32)
        self.grow(first)

    @property
    def num_workers(self) -> int:
        """Number p of workers."""
        return int(self._pos.shape[0])

    @property
    def capacity(self) -> int:
        """Number of slots that fit into the tables."""
        return int(self._down.shape[0])

    @property
    def table(self) -> Table:
        """The tables for the kernels; valid until the next `grow`."""
        return Table(self._up, self._cnt, self._pos, self._down, self.length)

    def bytes_for(self, length: int) -> int:
        """Return the bytes that growing to `length` slots takes, old and new tables together."""
        extra = self.capacity if length > self.capacity else 0
        return (min(length, self.slots) + extra) * self.num_workers * 14

    def grow(self, length: int) -> None:
        """Read states until the first `length` slots, or all, are known."""
        length = min(length, self.slots)
        if length <= self.length:
            return
        if length > self.capacity:
            p, old = self.num_workers, self.length
            up = np.zeros((p, (length + 63) // 64), np.uint64)
            up[:, : self._up.shape[1]] = self._up
            cnt = np.zeros((length + 1, p), np.int32)
            cnt[: old + 1] = self._cnt[: old + 1]
            pos = np.zeros((p, length), np.int32)
            pos[:, :old] = self._pos[:, :old]
            down = np.zeros((length, p), np.int32)
            down[:old] = self._down[:old]
            self._up, self._cnt, self._pos, self._down = up, cnt, pos, down
        block = np.asarray(self._provider(self.length, length), np.uint8)
        if block.shape != (self.num_workers, length - self.length):
            expected = self.num_workers, length - self.length
            raise ValueError(
                f"states of slots {self.length}..{length - 1} have shape {block.shape}, expected {expected}"
            )
        _append(self._up, self._cnt, self._pos, self._down, self.length, block)
        self.length = length
