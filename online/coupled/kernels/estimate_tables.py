"""What is remembered between runs: the tables of the estimates, and the tree of partial configurations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from hindsched.instances.array_types import Reals
from hindsched.instances.chains import Chain
from hindsched.online.coupled import estimates as plain
from hindsched.online.coupled.kernels import arguments
from hindsched.online.coupled.kernels.growing import grow_sets
from hindsched.online.coupled.renewal_sums import modes

__all__ = ["Memory", "memory_of", "no_plans", "no_tables"]

#: Rows of the table of sets. Half of it is free when a slot begins, for the at most 64 * 64 sets that one choice
#: looks at.
_FIRST_SETS, _MOST_SETS = 1 << 14, 1 << 22
#: Rows of log P_ND(t).
_ROWS = 1 << 14
#: Partial configurations.
_NODES = 1 << 13
#: Transfers of so many slots are remembered.
_MOST_ALONE = 1 << 12


class Memory:
    """What the estimates of one set of chains remember, for all runs with these chains."""

    def __init__(self, chains: Sequence[Chain]) -> None:
        of_worker = [modes(chain) for chain in chains]
        order = sorted(range(len(chains)), key=lambda q: of_worker[q])
        self._modes = np.array([of_worker[q] for q in order])
        self._order = np.array(order, dtype=np.int64)
        self._single = np.array([plain.estimate_set([each]) for each in of_worker])
        self._matrices = np.array([plain.up_or_reclaimed(chain) for chain in chains])
        self._sets = np.zeros((_FIRST_SETS, 4))
        self._num_sets = np.zeros(1, dtype=np.int64)
        self._not_down_slots = np.full(_ROWS, -1.0)
        self._not_down = np.empty((_ROWS, len(chains)))
        self._stays = np.empty((_ROWS, len(chains)))
        self._plans: dict[tuple[tuple[int, ...], int], arguments.Plans] = {}
        self._alone: dict[int, Reals] = {}

    def tables(self, estimator: int, longest: int) -> arguments.Tables:
        """Return the tables for one estimator, with transfers of up to ``longest`` slots."""
        alone = self._alone.get(estimator)
        columns = min(longest, _MOST_ALONE) + 1
        if alone is None or alone.shape[1] < columns:
            alone = self._alone[estimator] = np.full((len(self._order), columns), np.nan)
        return arguments.Tables(
            self._modes,
            self._order,
            self._single,
            self._matrices,
            self._sets,
            self._sets.view(np.uint64),
            self._num_sets,
            self._not_down_slots,
            self._not_down,
            self._stays,
            alone,
        )

    def plans(self, w: tuple[int, ...], estimator: int, tasks: int) -> arguments.Plans:
        """Return the tree of partial configurations for workers of these speeds."""
        found = self._plans.get((w, estimator))
        nodes = max(_NODES, 2 * tasks + 2)
        if found is None or len(found.work) < nodes:
            if len(self._plans) >= 2:
                self._plans.clear()
            found = self._plans[w, estimator] = _plans(len(w), nodes)
        return found

    def grow(self) -> None:
        """Make room for more sets; where there are too many, forget them all."""
        if len(self._sets) >= _MOST_SETS:
            self._sets[:] = 0.0
            self._num_sets[0] = 0
            return
        more = np.zeros((4 * len(self._sets), 4))
        grow_sets(self._sets.view(np.uint64), more.view(np.uint64))
        self._sets = more


@lru_cache(maxsize=2)
def memory_of(chains: tuple[Chain, ...]) -> Memory:
    """Return the memory of these chains."""
    return Memory(chains)


@lru_cache(maxsize=1)
def no_tables() -> arguments.Tables:
    """Return tables for who estimates nothing."""
    return Memory([Chain(((1.0, 0.0, 0.0),) * 3)]).tables(0, 0)


@lru_cache(maxsize=1)
def no_plans() -> arguments.Plans:
    """Return plans for who plans nothing."""
    return _plans(1, 1)


def _plans(p: int, nodes: int) -> arguments.Plans:
    return arguments.Plans(
        np.zeros(1, dtype=np.int64),
        np.empty((nodes, p), dtype=np.int64),
        np.empty((nodes, p)),
        np.empty((nodes, p)),
        np.empty(nodes, dtype=np.uint64),
        np.empty(nodes, dtype=np.int64),
    )
