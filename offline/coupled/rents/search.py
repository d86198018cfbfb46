"""The bound by rents, raised step by step: multipliers are learnt from the paths that they do not yet exclude."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from instances.coupled.model import Instance
from instances.coupled.rents import Rents
from offline.coupled.rents.kernels.carry import can_carry
from offline.coupled.rents.kernels.compiling import Ints
from offline.coupled.rents.kernels.facts import FAR
from offline.coupled.rents.kernels.graph import Items, Level, cost, lay_floor, make_items, make_level, sweep
from offline.coupled.rents.tables import Graph, Tables

__all__ = ["SCALE", "RentBound", "rehearse"]

Reals = NDArray[np.float64]

#: What one slot of the makespan counts, in the integers of multipliers and distances.
SCALE = 1 << 20
#: Multiples of the multipliers that are tried: all prove the same, the larger count less for the slots after the end.
_MULTIPLES = (1, 8, 64, 512)
#: Slots times workers that are few enough for the tables.
_MOST_CELLS = 1 << 23
#: What tasks times slots times `SCALE` stay below, so that 64 bits hold every product.
_MOST_SUM = 1 << 56
#: Lives times iterations that are few enough for rents.
_MOST_RENTS = 1 << 22
#: Nodes swept between two looks at the clock.
_NODES_AT_ONCE = 16

_STEP = 0.7
_MOMENTUM = 0.7
_PI_STEP = 0.06
_PI_MOMENTUM = 0.8
_LITTLE = 50  # the part of the bound by which a horizon exceeds it where multipliers are learnt
_PATIENCE = 10  # evaluations of one horizon without progress
_NEW = 0.03  # what the last path counts beside those before it
_MOST_STRETCH = 1.5  # schedules over paths, where the schedule known is much longer
_FIRST_HALVINGS, _MOST_HALVINGS = 48, 1024


class _Path(NamedTuple):
    """The path of least distance plus makespan.

    That, in slots; by index, the shares of lives it uses, the programs it sends and the slot before which it ends.
    """

    length: float
    used: Reals
    sent: Ints
    ends: Ints


class _Proof(NamedTuple):
    """What proves a bound: multipliers and distances, to be multiplied too; rents of some lives, by index."""

    bound: int
    graph: Graph
    pi: Ints
    lives: Ints
    rents: Ints
    far: list[Ints]
    multiple: int


class RentBound:
    """The bound by rents of one instance, raised step by step (docs/model.md section 3).

    Parameters
    ----------
    instance
        With T_prog >= 1.
    iterations
        K.

    ``bound`` is in slots.
    """

    def __init__(self, instance: Instance, iterations: int) -> None:
        self.instance, self.iterations = instance, iterations
        self.bound = 0
        self._proof: _Proof | None = None
        self.is_finished = False
        self._limit = 0  # makespans of interest are smaller
        self._tables: Tables | None = None
        self._levels: list[Level] = []
        self._items: Items | None = None
        self._shares: Reals = np.zeros((0, 0))
        self._usage: Reals = np.zeros((0, 0))  # by lately found paths, as `_Path` has it
        self._ends: Reals = np.zeros(iterations + 1)
        self._paths = 0
        self._first_pi = instance.t_prog / instance.channels
        self._pi: Reals = np.full(iterations + 1, self._first_pi)
        self._halvings = _FIRST_HALVINGS
        self._going = self._raise()

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
        if spent is None:
            self.is_finished = True
            return 0
        return max(1, spent)

    def _raise(self) -> Iterator[int]:
        """Refute ever larger horizons; yields the effort of every part of the work."""
        step = max(1, self.bound // _LITTLE)
        horizon = self.bound + step
        while self.bound < self._limit:
            horizon = max(self.bound, min(horizon, self._limit - 1))
            if self._tables is None or self._tables.slots < horizon:
                slots = min(self.instance.slots, max(horizon, min(self._limit - 1, horizon + horizon // 4)))
                if slots * self.instance.num_workers > _MOST_CELLS or slots * self.instance.tasks > _MOST_SUM // SCALE:
                    return
                yield from self._tabulate(slots)
            tables = self._tables
            assert tables is not None
            graph = Graph(tables, self.iterations, horizon)
            if graph.is_empty:  # the programs need not even be sent
                self.bound = min(graph.early[-1], tables.slots + 1)
                horizon = self.bound + step
                continue
            if graph.sendable.size > _MOST_RENTS:
                return
            before = self.bound
            yield from self._learn(graph)
            if self.bound > horizon:
                step += 1 + step // 2
            elif horizon > before:
                step //= 2
            elif self._halvings >= _MOST_HALVINGS:
                return
            elif self.bound == before:
                self._halvings *= 2
            horizon = self.bound + step

    def _tabulate(self, slots: int) -> Iterator[int]:
        """Look at so many slots; what has been learnt of lives stays."""
        old = self._tables
        tables = Tables(self.instance, slots)
        yield tables.facts.before.size // 4
        yield from tables.fill()
        self._levels = [make_level(slots) for _ in range(self.iterations + 1)]
        self._items = make_items(self.instance.num_workers, self.instance.tasks, slots, _MOST_HALVINGS)
        shares, usage = np.zeros((2, self.iterations + 1, len(tables.owner)))
        if old is not None and self._shares.size:
            same = tables.facts.life[old.first, old.owner]
            shares[:, same] = self._shares
            usage[:, same] = self._usage
        self._shares, self._usage, self._tables = shares, usage, tables

    def _learn(self, graph: Graph) -> Iterator[int]:
        """Learn multipliers until a horizon is refuted, or they do not get better."""
        shares = self._shares
        fresh = shares.sum(axis=0) == 0.0
        shares[:, fresh] = graph.nearness()[:, fresh]
        pull = np.zeros_like(shares)
        lack = np.zeros(self.iterations + 1)
        best, since = -np.inf, 0
        is_near = graph.horizon - self.bound <= 1 + self.bound // _LITTLE
        turns = 0
        while since < _PATIENCE and (is_near or turns < 2) and self.bound <= graph.horizon and self.bound < self._limit:
            turns += 1
            pi = np.ceil(self._pi * SCALE).astype(np.int64)
            rents = _divide(shares, graph.caps(pi))
            yield from self._sweep(graph, pi, rents)
            found = self._judge(graph, pi, rents)
            if found is None:
                continue
            gap = graph.horizon + 1 - found.length
            if best == -np.inf or found.length > best + 0.02 * max(0.0, graph.horizon + 1 - best):
                best, since = max(best, found.length), 0
            else:
                since += 1
            self._step(graph, found, pull, lack, max(gap, 0.01 * graph.horizon))
            self._paths += 1
            new = max(1 / self._paths, _NEW)
            self._usage += new * (found.used - self._usage)
            self._ends += new * (found.ends - self._ends)

    def _step(self, graph: Graph, found: _Path, pull: Reals, lack: Reals, gap: float) -> None:
        """Move the multipliers along the subgradient that a path gives, and back to where they are valid."""
        shares, pi = self._shares, self._pi
        most = np.where(graph.sendable, pi[:, None], np.inf)
        most = np.minimum.accumulate(most, axis=0)
        used_index, used_life = np.nonzero(found.used)
        asked = np.zeros(self.iterations + 1)
        for k, life in zip(used_index.tolist(), used_life.tolist(), strict=True):
            cheap = np.flatnonzero(graph.sendable[: k + 1, life] & (pi[: k + 1] <= 1.02 * most[k, life]))
            asked[cheap] += found.used[k, life] * shares[k, life] / max(1, len(cheap))
        pull *= _MOMENTUM
        finite = np.where(np.isfinite(most[used_index, used_life]), most[used_index, used_life], 0.0)
        pull[used_index, used_life] += (1 - _MOMENTUM) * found.used[used_index, used_life] * finite
        moved = np.flatnonzero(pull.any(axis=0))
        size = float((pull[:, moved] ** 2).sum())
        if size > 0.0:
            new = shares[:, moved] + _STEP * gap / size * pull[:, moved]
            shares[1:, moved] = _on_simplex(new[1:])
        lack *= _PI_MOMENTUM
        lack += (1 - _PI_MOMENTUM) * (asked - found.sent)
        pi[1:] *= np.exp(np.clip(_PI_STEP * lack[1:] / (1.0 + found.sent[1:].mean()), -0.2, 0.2))
        np.clip(pi, 1e-3 * self._first_pi, min(1e3 * self._first_pi, float(graph.horizon)), out=pi)

    def _sweep(self, graph: Graph, pi: Ints, rents: Ints) -> Iterator[int]:
        """Find all distances."""
        assert self._tables is not None
        assert self._items is not None
        facts, items, levels = self._tables.facts, self._items, self._levels
        levels[0].far[:] = FAR
        levels[0].far[0] = 0
        early, late = graph.early, graph.late
        for k in range(1, self.iterations + 1):
            worth = int(pi[k])
            levels[k].far[:] = FAR
            spent = lay_floor(facts, items, levels[k - 1], worth, early[k - 1], late[k - 1], late[k])
            for first in range(early[k], late[k] + 1, _NODES_AT_ONCE):
                last = min(late[k], first + _NODES_AT_ONCE - 1)
                spent += sweep(
                    facts,
                    items,
                    levels[k - 1],
                    levels[k],
                    k == 1,
                    worth,
                    rents[k],
                    first,
                    last,
                    early[k - 1],
                    late[k - 1],
                    self._halvings,
                )
                if spent > 1 << 18:
                    yield spent
                    spent = 0
            yield spent

    def _judge(self, graph: Graph, pi: Ints, rents: Ints) -> _Path | None:
        """Take over the bound that the distances prove; return the path to learn from, None if there is none."""
        low, horizon = graph.early[-1], graph.horizon
        far = self._levels[-1].far[low : horizon + 1]
        ends = np.flatnonzero(far < FAR)
        if not ends.size:
            self._take(graph, horizon + 1, 1, pi, rents)
            return None
        lengths = (low + ends) * SCALE
        for multiple in _MULTIPLES:
            least = int((lengths + multiple * far[ends]).min())
            self._take(graph, min(horizon + 1, -(-least // SCALE)), multiple, pi, rents)
        totals = lengths + far[ends]
        at = int(np.argmin(totals))
        return _Path(float(totals[at]) / SCALE, *self._path(int(low + ends[at]), pi, rents))

    def _take(self, graph: Graph, bound: int, multiple: int, pi: Ints, rents: Ints) -> None:
        """Take over a bound, with what proves it, if it is better."""
        if bound <= self.bound:
            return
        self.bound = bound
        lives = np.flatnonzero(rents.any(axis=0))
        far = [level.far[: graph.horizon + 1].copy() for level in self._levels[1:]]
        self._proof = _Proof(bound, graph, pi * multiple, lives, rents[:, lives] * multiple, far, multiple)

    def certificate(self) -> Rents | None:
        """Return the proof of the best bound that was found here; None if there is none."""
        proof = self._proof
        if proof is None:
            return None
        graph, tables = proof.graph, proof.graph.tables
        nodes = []
        for k, far in enumerate(proof.far, start=1):
            row = far[graph.early[k] : graph.late[k] + 1].tolist()
            nodes.append((graph.early[k], tuple(None if d >= FAR else d * proof.multiple for d in row)))
        where = zip(tables.owner[proof.lives].tolist(), tables.first[proof.lives].tolist(), strict=True)
        return Rents(
            bound=proof.bound,
            horizon=graph.horizon,
            scale=SCALE,
            programs=tuple(proof.pi[1:].tolist()),
            rents=tuple((*life, tuple(paid)) for life, paid in zip(where, proof.rents[1:].T.tolist(), strict=True)),
            nodes=tuple(nodes),
            instance=self.instance.fingerprint,
        )

    def merits(self, end: int) -> Reals | None:
        """Return, by slot and worker, how often paths use the worker's life from then on; None before there is a path.

        A path is shorter than a schedule: its iterations are stretched, so that they end as one does that ends before
        slot ``end`` - unless that is far off.
        """
        tables = self._tables
        if tables is None or not self._paths:
            return None
        stretch = min(_MOST_STRETCH, end / self._ends[-1])
        slots = min(tables.slots, int(stretch * self._ends[-1]))
        later = np.cumsum(self._usage[:0:-1], axis=0)[::-1]  # of iterations k + 1, k + 2, ..., K
        later = np.vstack([later, np.zeros((2, later.shape[1]))])
        done = np.interp(np.arange(slots), stretch * self._ends, np.arange(self.iterations + 1))
        merits = np.zeros((slots, self.instance.num_workers))
        for t, (whole, part) in enumerate(zip(done.astype(np.int64), done % 1.0, strict=True)):
            workers = np.flatnonzero(tables.facts.life[t] >= 0)
            lives = tables.facts.life[t, workers]
            merits[t, workers] = (1.0 - part) * later[whole, lives] + part * later[whole + 1, lives]
        return merits

    def _path(self, end: int, pi: Ints, rents: Ints) -> tuple[Reals, Ints, Ints]:
        """Return what a path to an end uses, sends, and when its iterations end: see `_Path`."""
        assert self._tables is not None
        assert self._items is not None
        facts, items = self._tables.facts, self._items
        p, m, n_com, t_prog, t_data = facts.numbers.tolist()
        used = np.zeros_like(self._shares)
        sent, ends = np.zeros((2, self.iterations + 1), np.int64)
        t = end
        for k in range(self.iterations, 0, -1):
            ends[k] = t
            level, before = self._levels[k], self._levels[k - 1]
            c, e = int(level.c[t]), t - 1
            starts = int(level.first[t]) + np.flatnonzero(before.far[level.first[t] : level.last[t] + 1] < FAR)
            programs = np.minimum(p, (n_com * (c - starts) - m * t_data) // t_prog)
            at = int(np.argmin(before.far[starts] - int(pi[k]) * programs))
            sent[k] = programs[at]
            edge = -1 if k == 1 else int((starts - facts.shortest[starts]).max())
            able = np.flatnonzero(facts.before[e + 1] > facts.before[e])
            items.able[: able.size] = able
            low, high = int(level.low[t]), int(level.high[t])
            cost(facts, items, rents[k], able.size, e, int(level.soon[t]), c, int(starts[0]), edge, low, high)
            left, j = m, 0
            while left > 0:  # those who are taken stand in front
                tasks = int(items.tasks[j])
                used[k, facts.life[e, items.worker[j]]] = min(1.0, left / tasks)
                left -= min(left, tasks)
                j += 1
            t = int(starts[at])
        return used, sent, ends

    def nbytes(self) -> int:
        """Memory taken."""
        if self._tables is None:
            return 0
        return self._tables.nbytes() + 5 * self._shares.nbytes


def rehearse() -> None:
    """Call every kernel once, so that all are ready in time."""
    tiny = Instance.from_letters(["uuuuuu", "uuuuuu"], w=[1, 1], tasks=2, iterations=2, n_com=1, t_prog=1)
    bound = RentBound(tiny, tiny.iterations)
    while bound.work(4, 7):
        pass
    can_carry(tiny)


def _divide(shares: Reals, most: Ints) -> Ints:
    """Return rents by index and life: each life's shares of what they may be at most, as integers."""
    wanted = np.floor(shares * most).astype(np.int64)
    rents = np.zeros_like(wanted)
    rest = np.zeros(wanted.shape[1], np.int64)
    for k in range(len(wanted) - 1, 0, -1):
        total = np.maximum(rest, np.minimum(rest + wanted[k], most[k]))
        rents[k] = total - rest
        rest = total
    return rents


def _on_simplex(columns: Reals) -> Reals:
    """Return the nearest columns with entries >= 0 that sum up to 1 at most."""
    positive = np.maximum(columns, 0.0)
    above = positive.sum(axis=0) > 1.0
    if not above.any():
        return positive
    rows = positive[:, above]
    ordered = -np.sort(-rows, axis=0)
    sums = np.cumsum(ordered, axis=0) - 1.0
    numbers = np.arange(1, len(rows) + 1)[:, None]
    count = (ordered * numbers > sums).sum(axis=0)
    cut = sums[count - 1, np.arange(rows.shape[1])] / count
    positive[:, above] = np.maximum(rows - cut, 0.0)
    return positive
