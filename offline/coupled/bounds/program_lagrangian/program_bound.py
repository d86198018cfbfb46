"""The bound by rents, raised step by step: multipliers are learnt from the paths that they do not yet exclude.

Multipliers have to do for all schedules at once, and where no multipliers refute them all, some may refute each part.
Therefore the schedules are divided, by whether an iteration ends before a slot or not (docs/model.md section 3), and
the bound is the least one of a subproblem. That one is worked on.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hindsched.instances.coupled.lagrangian_certificate import Rents
from hindsched.instances.coupled.model import Instance
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.channel_feasibility import can_carry
from hindsched.offline.coupled.bounds.program_lagrangian.multipliers import SCALE, Learner
from hindsched.offline.coupled.bounds.program_lagrangian.shortest_paths import Distances
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import Graph, Tables
from hindsched.offline.coupled.bounds.program_lagrangian.subgradient import Subproblem, Usage

__all__ = ["RentBound", "rehearse"]

Reals = NDArray[np.float64]

#: Slots times workers that are few enough for the tables.
_MOST_CELLS = 1 << 23
#: What tasks times slots times `SCALE` stay below, so that 64 bits hold every product.
_MOST_SUM = 1 << 56
#: Lives times iterations that are few enough for rents; those of all subproblems.
_MOST_RENTS, _MOST_KEPT = 1 << 22, 1 << 25


class RentBound:
    """The bound by rents of one instance, raised step by step (docs/model.md section 3).

    Parameters
    ----------
    instance
        With T_prog >= 1.
    iterations
        K.

    ``bound`` is in slots. ``usage`` counts what lately found paths use of each life.
    """

    def __init__(self, instance: Instance, iterations: int) -> None:
        self.instance, self.iterations = instance, iterations
        self.bound = 0
        self.is_finished = False
        self._limit = 0  # makespans of interest are smaller
        self._distances: Distances | None = None
        self.usage = Usage(iterations)
        self._root = Subproblem(instance, iterations)
        self._parts = [
            (0, 0, self._root)
        ]  # a heap, by bound and age; some bounds are larger by now, and some have been divided
        self._num_parts = 1  # that there have been
        self._going = self._raise()

    @property
    def tables(self) -> Tables | None:
        """What is known of the slots that have been looked at; None before there are any."""
        return None if self._distances is None else self._distances.tables

    def learnt(self) -> Learner:
        """Return a copy of the multipliers of the subproblem with the least bound, as far as they have been learnt."""
        return self._least().learner.copy()

    def work(self, known: int, limit: int) -> int:
        """Work a little; return the effort that took, 0 if nothing is left to be done.

        Parameters
        ----------
        known
            A bound that somebody has proven.
        limit
            Only makespans below it are of interest.
        """
        self.bound, self._limit = max(self.bound, known), min(limit, self.instance.slots + 1)
        if self.is_finished or self.bound >= self._limit:
            return 0
        spent = next(self._going, None)
        self.bound = max(self.bound, self._least().bound)
        if spent is None:
            self.is_finished = True
            return 0
        return max(1, spent)

    def _raise(self) -> Iterator[int]:
        """Refute ever larger horizons of the subproblem with the least bound; yields the effort of every part."""
        while (part := self._least()).bound < self._limit:
            # Of all schedules together it is learnt from below, whoever has proven a bound, before they are divided.
            if part is not self._root or part.is_stuck:
                part.bound = max(part.bound, self.bound)
            horizon = max(part.bound, min(part.bound + part.stride, self._limit - 1))
            if self._distances is None or self._distances.tables.slots < horizon:
                likely = max(horizon, self.bound)
                slots = min(self.instance.slots, max(likely, min(self._limit - 1, likely + likely // 4)))
                if slots * self.instance.num_workers > _MOST_CELLS or slots * self.instance.tasks > _MOST_SUM // SCALE:
                    return
                distances = Distances(self.instance, self.iterations, slots)
                yield from distances.fill()
                self._distances = distances
            tables = self._distances.tables
            self.usage.move(tables)
            part.move(tables)
            graph = Graph(tables, self.iterations, horizon, part.soonest, part.latest)
            if graph.is_empty:  # the programs need not even be sent
                part.exclude(graph)
            elif graph.sendable.size > _MOST_RENTS:
                return
            else:
                yield from part.learn(graph, self._distances, self.usage, lambda: self._limit)
                if not part.is_stuck or part.bound < self.bound:
                    continue
                if not self._divide(part, graph) and not part.refine():
                    return

    def _least(self) -> Subproblem:
        """Return the subproblem with the least bound, the oldest of several."""
        while True:
            bound, number, part = self._parts[0]
            if part.halves is not None:
                heapq.heappop(self._parts)
            elif part.bound > bound:
                heapq.heapreplace(self._parts, (part.bound, number, part))
            else:
                return part

    def _divide(self, part: Subproblem, graph: Graph) -> bool:
        """Divide a subproblem, by the slot before which an iteration ends, one in which its paths differ most."""
        if len(self._parts) * graph.sendable.size > _MOST_KEPT or not part.divide(graph):
            return False
        assert part.halves is not None
        for half in part.halves:
            heapq.heappush(self._parts, (half.bound, self._num_parts, half))
            self._num_parts += 1
        return True

    def certificate(self) -> Rents | None:
        """Return the proof of the best bound that was found here; None if there is none."""
        bound = self._root.proven()
        if not bound:
            return None
        return Rents(bound, SCALE, self._root.claim(bound), self.instance.fingerprint)

    def merits(self, end: int) -> Reals | None:
        """Return, by slot and worker, how often paths use the worker's life from then on; None before there is a path.

        A path is shorter than a schedule: its iterations are stretched, so that they end as one does that ends before
        slot ``end`` - unless that is far off.
        """
        return self.usage.merits(end)

    def nbytes(self) -> int:
        """Memory taken."""
        if self._distances is None:
            return 0
        return self._distances.tables.nbytes() + self._root.nbytes()


def rehearse() -> None:
    """Call every kernel once, so that all are ready in time."""
    tiny = Instance.from_letters(["uuuuuu", "uuuuuu"], w=[1, 1], tasks=2, iterations=2, n_com=1, t_prog=1)
    bound = RentBound(tiny, tiny.iterations)
    while bound.work(4, 7):
        pass
    can_carry(tiny)
