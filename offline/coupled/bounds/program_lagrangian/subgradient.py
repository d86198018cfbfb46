"""How multipliers of the bound by rents are learnt: one subproblem, raised and divided (docs/model.md section 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hindsched.instances.array_types import Ints
from hindsched.instances.coupled.lagrangian_certificate import MOST_DIVISIONS, Division, Multipliers
from hindsched.instances.coupled.model import Instance
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.instance_facts import FAR
from hindsched.offline.coupled.bounds.program_lagrangian.multipliers import SCALE, Learner, moved
from hindsched.offline.coupled.bounds.program_lagrangian.shortest_paths import MOST_HALVINGS, Distances, Path
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import Graph, Tables

__all__ = ["Subproblem", "Usage"]

Reals = NDArray[np.float64]

#: Multiples of the multipliers that are tried: all prove the same, the larger count less for the slots after the end.
_MULTIPLES = (1, 8, 64, 512)

_STEP = 0.7
_PI_STEP = 0.06
_LITTLE = 50  # the part of the bound by which a horizon exceeds it where multipliers are learnt
_PATIENCE = 5  # evaluations of one horizon without progress
_NEW = 0.03  # what the last path counts beside those before it
_MOST_STRETCH = 1.5  # schedules over paths, where the schedule known is much longer
_FIRST_HALVINGS = 48


class _Proof(NamedTuple):
    """What proves a bound: multipliers and distances, to be multiplied too; rents of some lives, by index."""

    bound: int
    graph: Graph
    pi: Ints
    lives: Ints
    rents: Ints
    far: list[Ints]
    multiple: int


class Usage:
    """What lately found paths use of each life, and where their iterations end."""

    def __init__(self, iterations: int) -> None:
        self.by_life: Reals = np.zeros((iterations + 1, 0))
        self.ends: Reals = np.zeros(iterations + 1)
        self._paths = 0
        self._tables: Tables | None = None

    def move(self, tables: Tables) -> None:
        """Look at the lives of other tables from now on."""
        self.by_life = moved(self.by_life, self._tables, tables)
        self._tables = tables

    def add(self, path: Path) -> None:
        """Count a path."""
        self._paths += 1
        new = max(1 / self._paths, _NEW)
        self.by_life += new * (path.used - self.by_life)
        self.ends += new * (path.ends - self.ends)

    def merits(self, end: int) -> Reals | None:
        """See `RentBound.merits`."""
        tables = self._tables
        if tables is None or not self._paths:
            return None
        stretch = min(_MOST_STRETCH, end / self.ends[-1])
        slots = min(tables.slots, int(stretch * self.ends[-1]))
        later = np.cumsum(self.by_life[:0:-1], axis=0)[::-1]  # of iterations k + 1, k + 2, ..., K
        later = np.vstack([later, np.zeros((2, later.shape[1]))])
        done = np.interp(np.arange(slots), stretch * self.ends, np.arange(len(self.ends)))
        merits = np.zeros((slots, tables.instance.num_workers))
        for t, (whole, part) in enumerate(zip(done.astype(np.int64), done % 1.0, strict=True)):
            workers = np.flatnonzero(tables.facts.life[t] >= 0)
            lives = tables.facts.life[t, workers]
            merits[t, workers] = (1.0 - part) * later[whole, lives] + part * later[whole + 1, lives]
        return merits


class Subproblem:
    """The schedules whose iterations end within given slots, and what is known of them.

    Iterations 1..k are complete within ``soonest[k]`` to ``latest[k]`` slots. No such schedule has a makespan below
    ``bound``; that none has one of ``bound + stride`` is to be refuted next. ``is_stuck`` if that could not be done,
    and hardly more. ``halves`` it has once it is divided.
    """

    def __init__(self, instance: Instance, iterations: int) -> None:
        self.iterations = iterations
        self.bound, self.stride = 0, 1
        self.soonest: Ints = np.zeros(iterations + 1, np.int64)
        self.latest: Ints = np.full(iterations + 1, FAR, np.int64)
        self.is_stuck = False
        self.halves: tuple[Subproblem, Subproblem] | None = None
        self._depth = 0  # divisions that it comes from
        self._where = (0, 0)  # how it is divided: an iteration and a slot
        self._proof: _Proof | None = None
        self._excluded = 0  # a bound that needs no multipliers
        self._halvings = _FIRST_HALVINGS
        self.learner = Learner(instance, iterations)

    def move(self, tables: Tables) -> None:
        """Look at the lives of other tables from now on; what has been learnt stays."""
        self.learner.move(tables)

    def exclude(self, graph: Graph) -> None:
        """Take over what a graph without nodes proves."""
        self.bound = self._excluded = graph.excluded
        self.stride = max(1, self.bound // _LITTLE)

    def learn(self, graph: Graph, distances: Distances, usage: Usage, limit: Callable[[], int]) -> Iterator[int]:
        """Learn multipliers until a horizon is refuted, or they do not get better; yields the effort."""
        before = self.bound
        yield from self._learn(graph, distances, usage, limit)
        self.is_stuck = False
        if self.bound > graph.horizon:
            self.stride += 1 + self.stride // 2
        elif self.bound > before or self.stride > self.bound // _LITTLE:
            self.stride //= 2
        else:
            self.is_stuck = True

    def _learn(self, graph: Graph, distances: Distances, usage: Usage, limit: Callable[[], int]) -> Iterator[int]:
        learner = self.learner
        momentum = learner.begin(graph)
        best, since = -np.inf, 0
        is_near = graph.horizon - self.bound <= 1 + self.bound // _LITTLE
        turns = 0
        while since < _PATIENCE and (is_near or turns < 2) and self.bound <= graph.horizon and self.bound < limit():
            turns += 1
            pi, rents = learner.multipliers(graph)
            yield from distances.find(graph, pi, rents, self._halvings)
            length, end = self._judge(graph, distances, pi, rents)
            if end is None:
                continue
            path = distances.path(end, pi, rents)
            gap = graph.horizon + 1 - length
            if best == -np.inf or length > best + 0.02 * max(0.0, graph.horizon + 1 - best):
                best, since = max(best, length), 0
            else:
                since += 1
            learner.step(graph, path, momentum, _STEP * max(gap, 0.01 * graph.horizon), _PI_STEP)
            usage.add(path)

    def _judge(self, graph: Graph, distances: Distances, pi: Ints, rents: Ints) -> tuple[float, int | None]:
        """Take over the bound that the distances prove; return the least distance plus makespan, in slots, and its end.

        The end is None if no path ends within the horizon.
        """
        low, horizon = graph.early[-1], graph.horizon
        far = distances.of(self.iterations)[low : horizon + 1]
        ends = np.flatnonzero(far < FAR)
        if not ends.size:
            self._take(graph, distances, horizon + 1, 1, pi, rents)
            return np.inf, None
        lengths = (low + ends) * SCALE
        for multiple in _MULTIPLES:
            least = int((lengths + multiple * far[ends]).min())
            self._take(graph, distances, min(horizon + 1, -(-least // SCALE)), multiple, pi, rents)
        totals = lengths + far[ends]
        at = int(np.argmin(totals))
        return float(totals[at]) / SCALE, int(low + ends[at])

    def _take(self, graph: Graph, distances: Distances, bound: int, multiple: int, pi: Ints, rents: Ints) -> None:
        """Take over a bound, with what proves it, if it is better."""
        if bound <= self.bound:
            return
        self.bound = bound
        lives = np.flatnonzero(rents.any(axis=0))
        far = [distances.of(k)[: graph.horizon + 1].copy() for k in range(1, self.iterations + 1)]
        self._proof = _Proof(bound, graph, pi * multiple, lives, rents[:, lives] * multiple, far, multiple)

    def divide(self, graph: Graph) -> bool:
        """Divide the schedules by when an iteration ends, one whose end differs most in paths; False if none can be."""
        where = self.learner.where_ends_differ(np.array(graph.early), np.array(graph.late))
        if where is None or self._depth == MOST_DIVISIONS:
            return False
        k, t = where
        sooner, later = self._half(), self._half()
        sooner.latest[k] = t
        later.soonest[k] = t + 1
        self._where, self.halves = (k, t), (sooner, later)
        self.learner.forget()  # theirs from now on
        return True

    def _half(self) -> Subproblem:
        """Return a subproblem that knows what this one does."""
        half = copy(self)
        half.soonest, half.latest = self.soonest.copy(), self.latest.copy()
        half.learner = self.learner.copy()
        half._halvings, half.stride = _FIRST_HALVINGS, 1 + self.bound // _LITTLE
        half._proof, half._excluded, half._depth = None, 0, self._depth + 1
        return half

    def refine(self) -> bool:
        """Look at boxes of arcs in more detail from now on; False if that has been done as far as it goes."""
        self._halvings *= 2
        return self._halvings <= MOST_HALVINGS

    def proven(self) -> int:
        """Return the best bound that a claim proves."""
        own = max(self._excluded, 0 if self._proof is None else self._proof.bound)
        return own if self.halves is None else max(own, min(half.proven() for half in self.halves))

    def claim(self, bound: int) -> Multipliers | Division:
        """Return the multipliers that prove a bound, of this subproblem or of its halves."""
        proof = self._proof
        if self._excluded >= bound:
            nothing = ((0, ()),) * self.iterations
            return Multipliers(bound - 1, (0,) * self.iterations, (), nothing)
        if proof is None or proof.bound < bound:
            assert self.halves is not None
            k, t = self._where
            sooner, later = (half.claim(bound) for half in self.halves)
            return Division(k, t, sooner, later)
        graph, tables = proof.graph, proof.graph.tables
        nodes = []
        for k, far in enumerate(proof.far, start=1):
            row = far[graph.early[k] : graph.late[k] + 1].tolist()
            nodes.append((graph.early[k], tuple(None if d >= FAR else d * proof.multiple for d in row)))
        where = zip(tables.owner[proof.lives].tolist(), tables.first[proof.lives].tolist(), strict=True)
        return Multipliers(
            horizon=graph.horizon,
            programs=tuple(proof.pi[1:].tolist()),
            rents=tuple((*life, tuple(paid)) for life, paid in zip(where, proof.rents[1:].T.tolist(), strict=True)),
            nodes=tuple(nodes),
        )

    def nbytes(self) -> int:
        """Memory taken, that of the halves too."""
        proof = self._proof
        kept = 0 if proof is None else proof.rents.nbytes + proof.graph.sendable.nbytes
        halves = 0 if self.halves is None else sum(half.nbytes() for half in self.halves)
        return self.learner.nbytes() + kept + halves
