"""A cache of teams that are known to be feasible, for the state-space relaxation.

Whether a team can compute in slots s..e from slot c on depends on the states and on its members that need the program.
A team that was feasible is so again if no further member needs it. So one team for each (s, e) answers most queries of
`bounds.state_space_relaxation`.
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

_CELLS = 1 << 12  # of the hash table; a later team replaces an earlier one in its cell


class FeasibleTeamCache(NamedTuple):
    """In each cell the last team found for slots ``start..end``; ``end`` is -1 in an empty cell.

    The team can compute from slot ``c`` on even if all its members except ``holders`` need the program.
    """

    start: Ints
    end: Ints
    c: Ints
    holders: Words


def make_feasible_team_cache(workers: int) -> FeasibleTeamCache:
    """Return an empty cache."""
    start, end, c = (np.full(_CELLS, -1, np.int64) for _ in range(3))
    return FeasibleTeamCache(start, end, c, np.zeros((_CELLS, (workers + 63) // 64), np.uint64))


@kernel
def _cell(witnesses: FeasibleTeamCache, s: int, e: int) -> int:
    return (977 * s + e) % witnesses.c.size


@kernel
def recall(table: Table, needs: Needs, witnesses: FeasibleTeamCache, s: int, e: int) -> int:
    """Return a slot from which a cached team can compute in s..e, -1 if no such team is cached.

    `prepare` has to be called before.
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
    """Cache the first ``size`` members, a team that can compute in s..e from slot c on.

    `prepare` has to be called before.
    """
    i = _cell(witnesses, s, e)
    witnesses.start[i], witnesses.end[i], witnesses.c[i] = s, e, c
    witnesses.holders[i] = 0
    for j in range(size):
        if not needs_program(table, needs, members[j]):
            add(witnesses.holders[i], members[j])
