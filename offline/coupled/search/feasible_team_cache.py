"""Members that were found to be able to compute together: who could once can again.

Whether workers S can compute in slots s..e from slot c on is a question of the states and of which of S have to be sent
the program in s..c-1. If nobody else has to, they can again. So one such set for each s and e answers most of what
`merged.together` is asked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints, Words
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.search.bitsets import add, popcount
from hindsched.offline.coupled.search.normal_form import needs_program
from hindsched.offline.coupled.search.scratch_memory import Needs
from hindsched.offline.coupled.search.state_tables import Table

__all__ = ["FeasibleTeamCache", "make_feasible_team_cache", "recall", "remember"]

_CELLS = 1 << 12


class FeasibleTeamCache(NamedTuple):
    """In each cell the last set found for slots ``start..end``, ``end`` -1 where there is none.

    Its members can compute from slot ``c`` on, also if none of ``holders`` but all others of them have to be sent the
    program.
    """

    start: Ints
    end: Ints
    c: Ints
    holders: Words


def make_feasible_team_cache(workers: int) -> FeasibleTeamCache:
    """Room for some sets of workers."""
    start, end, c = (np.full(_CELLS, -1, np.int64) for _ in range(3))
    return FeasibleTeamCache(start, end, c, np.zeros((_CELLS, (workers + 63) // 64), np.uint64))


@kernel
def _cell(witnesses: FeasibleTeamCache, s: int, e: int) -> int:
    return (977 * s + e) % witnesses.c.size


@kernel
def recall(table: Table, needs: Needs, witnesses: FeasibleTeamCache, s: int, e: int) -> int:
    """Return a slot from which members can compute in s..e, as was found before; -1 if none is known.

    `prepare` was called.
    """
    i = _cell(witnesses, s, e)
    if witnesses.start[i] != s or witnesses.end[i] != e:
        return -1
    for k in range(witnesses.holders.shape[1]):
        bits = witnesses.holders[i, k]
        while bits:
            lowest = bits & (~bits + np.uint64(1))
            bits ^= lowest
            if needs_program(table, needs, 64 * k + popcount(lowest - np.uint64(1))):
                return -1
    return int(witnesses.c[i])


@kernel
def remember(
    table: Table, needs: Needs, witnesses: FeasibleTeamCache, s: int, e: int, c: int, members: Ints, size: int
) -> None:
    """Remember that the first ``size`` of these members can compute in s..e from slot c on; `prepare` was called."""
    i = _cell(witnesses, s, e)
    witnesses.start[i], witnesses.end[i], witnesses.c[i] = s, e, c
    witnesses.holders[i] = 0
    for j in range(size):
        if not needs_program(table, needs, members[j]):
            add(witnesses.holders[i], members[j])
