"""Cuts by job: loads and a limit that no jobs which fit together exceed, but a fractional schedule does.

In a slot of the linear program's solution job j runs to a share y_j. If y is no mixture of sets of jobs that fit
together, there are loads f >= 0 with f . z <= 1 for each such set z and f . y > 1. The most violated ones are found by
another small program, whose rows are made by need: a knapsack names the set of most load. Its vertices have small
denominators, so the loads become integers without loss; else they are rounded down, and the knapsack says the limit.
At last the jobs that do not run in the slot are *lifted*: each in turn gets the largest load that keeps the limit true.
"""

from __future__ import annotations

from collections.abc import Callable

import highspy
import numpy as np
import numpy.typing as npt

from hindsched.instances.grid import Instance
from hindsched.instances.grid.model import Ints
from hindsched.offline.grid.kernels.pricing import fill, lift, pack
from hindsched.offline.grid.kernels.subgradient_ascent import Floats

__all__ = ["Cuts"]

#: More nodes, or more jobs in a slot, are not looked at: the knapsacks would take too long.
_NODES, _JOBS = 20_000, 120
#: Largest denominator tried, the one taken if none fits, and sets named at most for a slot.
_DENOMINATORS, _COARSE, _SETS = 60, 240, 200
_ALMOST = 1e-6


class Cuts:
    """The cuts known so far.

    Parameters
    ----------
    instance
        The jobs.
    seed
        Of the order in which slots are looked at.

    Attributes
    ----------
    loads, limits
        (cuts, jobs) and (cuts,).
    """

    def __init__(self, instance: Instance, seed: int) -> None:
        self.instance = instance
        self.loads: Ints = np.zeros((0, len(instance)), dtype=np.int64)
        self.limits: Ints = np.zeros(0, dtype=np.int64)
        self._known: dict[tuple[bytes, int], int] = {}
        self._within: set[bytes] = set()
        self._random = np.random.default_rng(seed)
        self._longest_first = np.argsort(-instance.length, kind="stable")

    def exceeded(self, running: Floats, share: float, is_over: Callable[[], bool]) -> list[tuple[int, int]]:
        """Return where cuts are exceeded, as (cut, column of ``running``), most exceeded first; make new cuts.

        Parameters
        ----------
        running
            (jobs, slots): which share of a job runs in a slot.
        share
            By how much of its limit a cut must be exceeded.
        is_over
            Asked between slots: whether the time is over.

        Notes
        -----
        Only slots in which no known cut is exceeded are asked for new ones. Of neighbouring slots in which a cut is
        exceeded only those count where it is exceeded most.
        """
        found: list[tuple[float, int, int]] = []
        done = ~np.logical_or.reduce((running > _ALMOST) & (running < 1 - _ALMOST), axis=0)
        self._note(range(len(self.limits)), running, share, done, found)
        if self.instance.nodes <= _NODES:
            for i in self._random.permutation(running.shape[1]).tolist():
                if is_over():
                    break
                if done[i]:
                    continue
                cut = self._new(running[:, i], share)
                if cut is not None:
                    self._note([cut], running, share, done, found)
        return [(cut, i) for _, cut, i in sorted(found, key=lambda one: -one[0])]

    def _note(
        self,
        cuts: range | list[int],
        running: Floats,
        share: float,
        done: npt.NDArray[np.bool_],
        found: list[tuple[float, int, int]],
    ) -> None:
        for cut in cuts:
            over = (self.loads[cut] @ running - self.limits[cut]) / self.limits[cut]
            is_exceeded = over > share
            done |= is_exceeded
            before, after = np.append(-1.0, over[:-1]), np.append(over[1:], -1.0)
            peaks = np.flatnonzero(is_exceeded & (over >= before) & (over > after))
            found += [(float(over[i]), cut, int(i)) for i in peaks]

    def _new(self, share_of: Floats, share: float) -> int | None:
        """Return the number of a cut that these shares exceed, if one is found."""
        jobs = np.flatnonzero(share_of > _ALMOST)
        width = self.instance.width[jobs]
        if len(jobs) > _JOBS or width.sum() <= self.instance.nodes:
            return None
        key = np.rint(share_of[jobs] * 1e6).astype(np.int64).tobytes() + jobs.tobytes() + str(share).encode()
        if key in self._within:
            return None
        loads = self._most_violated(width, share_of[jobs], share)
        if loads is None:
            self._within.add(key)
            return None
        whole = np.zeros(len(self.instance), dtype=np.int64)
        whole[jobs] = _integers(loads)
        scratch = np.empty(self.instance.nodes + 1, dtype=np.int64)
        limit = lift(self.instance.width, whole, self._longest_first, self.instance.nodes, scratch)
        if limit == 0 or whole @ share_of <= limit * (1 + share / 2):
            return None
        name = (whole.tobytes(), limit)
        if name not in self._known:
            self._known[name] = len(self.limits)
            self.loads = np.concatenate((self.loads, whole[None, :]))
            self.limits = np.append(self.limits, limit)
        return self._known[name]

    def _most_violated(self, width: Ints, share_of: Floats, share: float) -> Floats | None:
        """Return loads with limit 1 that the shares exceed, or None."""
        count, nodes = len(width), self.instance.nodes
        highs = highspy.Highs()
        for name, value in (("output_flag", False), ("threads", 1), ("presolve", "off")):
            highs.setOptionValue(name, value)
        none = np.zeros(count, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0)
        highs.addCols(count, -share_of, np.zeros(count), np.ones(count), 0, *none)
        table, taken = np.empty((count + 1, nodes + 1)), np.zeros(count, dtype=np.int64)
        largest_first = np.argsort(-share_of, kind="stable")
        loads = share_of
        for i in range(_SETS):
            load = pack(width, loads, nodes, table, taken)
            if i and load <= 1 + _ALMOST:
                return loads
            fill(width, largest_first, nodes, taken)
            chosen = np.flatnonzero(taken).astype(np.int32)
            highs.addRow(-highspy.kHighsInf, 1.0, len(chosen), chosen, np.ones(len(chosen)))
            highs.run()
            if -highs.getObjectiveValue() <= 1 + share:
                return None
            loads = np.array(highs.getSolution().col_value)
        return None


def _integers(loads: Floats) -> Ints:
    """Return integer loads in proportion; rounded down where no small denominator fits.

    Examples
    --------
    >>> _integers(np.array([0.5, 1.0, 0.0, 0.25])).tolist()
    [2, 4, 0, 1]
    """
    for denominator in range(1, _DENOMINATORS + 1):
        scaled = loads * denominator
        if np.abs(scaled - np.rint(scaled)).max() < 1e-5:
            return np.rint(scaled).astype(np.int64)
    return np.floor(loads * _COARSE + _ALMOST).astype(np.int64)
