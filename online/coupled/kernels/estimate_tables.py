"""Caches of the compiled simulator between runs: tables of estimates, and trees of partial configurations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from hindsched.instances.array_types import Reals
from hindsched.instances.chains import Chain
from hindsched.instances.random_streams import stream
from hindsched.online.coupled import estimates as plain
from hindsched.online.coupled.kernels import arguments
from hindsched.online.coupled.kernels.estimate_kernels import copy_sets
from hindsched.online.coupled.renewal_sums import modes

__all__ = ["EstimateTables", "estimate_tables_of", "no_tables", "no_tree"]

#: Initial and largest number of rows of the table of sets. Half of the rows are free when a slot begins.
_FIRST_SETS, _MOST_SETS = 1 << 14, 1 << 22
#: Number of rows of log P_ND(t).
_ROWS = 1 << 14
#: Number of partial configurations in a tree.
_NODES = 1 << 13
#: Number of slots up to which the duration of a transfer is cached.
_MOST_ALONE = 1 << 12
#: Number of entries of each of these tables at most; with many workers a table has fewer rows.
_MOST_ENTRIES = 1 << 22
#: Number of slots for which bounds know p(t); more slots are tighter for workers that are hardly ever DOWN.
_SLOTS = 128
#: The numbers 1 - z at which bounds know the generating function.
_GAPS = np.concatenate(([0.0], np.geomspace(0.002, 1.0, 15)))


class EstimateTables:
    """Tables of estimates for one set of chains, shared by all runs with these chains."""

    def __init__(self, chains: Sequence[Chain]) -> None:
        of_worker = [modes(chain) for chain in chains]
        p = len(chains)
        order = sorted(range(p), key=lambda q: of_worker[q])
        self._modes = np.array([of_worker[q] for q in order])
        self._ranks = np.argsort(order)
        kinds = {each: kind for kind, each in enumerate(dict.fromkeys(of_worker))}
        labels = stream("coupled", "labels of workers").integers(2**64, size=(len(kinds), 2), dtype=np.uint64)
        self._labels = labels[[kinds[each] for each in of_worker]]
        self._single = np.array([plain.estimate_set([each]) for each in of_worker])
        self._matrices = np.array([plain.up_or_reclaimed(chain) for chain in chains])
        self._sets = np.zeros((_FIRST_SETS, 5))
        self._num_sets = np.zeros(1, dtype=np.int64)
        rows = min(_ROWS, 1 << (_MOST_ENTRIES // p).bit_length())
        self._not_down_slots = np.full(rows, -1.0)
        self._not_down = np.empty((rows, p))
        self._stays = np.empty((rows, p))
        self._bounds = _bound_tables(np.array(of_worker))
        self._trees: dict[tuple[tuple[int, ...], int], arguments.ConfigurationTree] = {}
        self._alone: dict[int, Reals] = {}

    def tables(self, estimator: int, longest: int) -> arguments.Tables:
        """Return the tables for one estimator and transfers of up to ``longest`` slots."""
        alone = self._alone.get(estimator)
        columns = min(longest, _MOST_ALONE, _MOST_ENTRIES // len(self._ranks)) + 1
        if alone is None or alone.shape[1] < columns:
            alone = self._alone[estimator] = np.full((len(self._ranks), columns), np.nan)
        return arguments.Tables(
            self._modes,
            self._ranks,
            self._labels,
            self._single,
            self._matrices,
            self._sets,
            self._sets.view(np.uint64),
            self._num_sets,
            self._not_down_slots,
            self._not_down,
            self._stays,
            alone,
            self._bounds,
        )

    def tree(self, w: tuple[int, ...], estimator: int, tasks: int) -> arguments.ConfigurationTree:
        """Return the tree of partial configurations for workers with these speeds."""
        found = self._trees.get((w, estimator))
        nodes = max(min(_NODES, _MOST_ENTRIES // len(w)), 2 * tasks + 2)
        if found is None or len(found.work) < nodes:
            if len(self._trees) >= 2:
                self._trees.clear()
            found = self._trees[w, estimator] = _empty_tree(len(w), nodes)
        return found

    def grow(self) -> None:
        """Enlarge the table of sets; empty it if it has its largest size."""
        if len(self._sets) >= _MOST_SETS:
            self._sets[:] = 0.0
            self._num_sets[0] = 0
            return
        more = np.zeros((4 * len(self._sets), 5))
        self._num_sets[0] = copy_sets(self._sets.view(np.uint64), more.view(np.uint64))
        self._sets = more


@lru_cache(maxsize=2)
def estimate_tables_of(chains: tuple[Chain, ...]) -> EstimateTables:
    """Return the tables of these chains."""
    return EstimateTables(chains)


@lru_cache(maxsize=1)
def no_tables() -> arguments.Tables:
    """Return tables for RANDOM, which uses no estimates."""
    return EstimateTables([Chain(((1.0, 0.0, 0.0),) * 3)]).tables(0, 0)


@lru_cache(maxsize=1)
def no_tree() -> arguments.ConfigurationTree:
    """Return a tree for RANDOM, which builds no configuration."""
    return _empty_tree(1, 1)


def _empty_tree(p: int, nodes: int) -> arguments.ConfigurationTree:
    return arguments.ConfigurationTree(
        np.zeros(1, dtype=np.int64),
        np.empty((nodes, p), dtype=np.int32),
        np.empty((nodes, p)),
        np.empty((nodes, p)),
        np.empty((nodes, 2), dtype=np.uint64),
        np.empty(nodes, dtype=np.int64),
        np.zeros((nodes, 2, _GAPS.size + 1)),
    )


def _bound_tables(of_worker: Reals) -> arguments.BoundTables:
    """Return the tables of bounds for workers with these modes, shape (p, 4)."""
    slots = np.arange(1.0, _SLOTS + 1)
    weights, ratios = of_worker[:, 0::2], 1.0 - of_worker[:, 1::2]
    chances = (weights[:, :, None] * ratios[:, :, None] ** slots).sum(axis=1)
    # a worker's eigenvalue below 0 counts with its absolute value, and its derivative not at all
    gaps = 1.0 - np.abs(ratios)
    low_weights = weights * (ratios.min(axis=1, keepdims=True) >= 0.0)
    segments = np.clip(np.searchsorted(_GAPS, gaps, side="right") - 1, 0, _GAPS.size - 2)
    width = _GAPS[segments + 1] - _GAPS[segments]
    next_width = np.append(np.diff(_GAPS), 1.0)[segments + 1]
    share = (gaps - _GAPS[segments]) / width
    beyond = (_GAPS[segments + 1] - gaps) / next_width
    shares = np.stack(
        ((1.0 - share) * weights, share * weights, (1.0 + beyond) * low_weights, -beyond * low_weights), axis=2
    )
    with np.errstate(divide="ignore"):
        logs = np.log1p(-_GAPS)
        decays = -np.log1p(-np.minimum(1.0, of_worker[:, 1]))
    powers = (1.0 - _GAPS)[:, None] ** slots
    return arguments.BoundTables(
        np.ascontiguousarray(chances),
        powers,
        logs,
        decays,
        np.ascontiguousarray(segments),
        np.ascontiguousarray(shares),
        np.empty((2, _SLOTS)),
    )
