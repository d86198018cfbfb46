"""Evaluate a Lagrangian certificate of a lower bound (docs/bounds.md, docs/model.md section 4).

Slots, windows, arcs and costs are recomputed from the instance; this module shares no code with a solver.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from hindsched.instances.coupled.lagrangian_certificate import (
    Branching,
    LagrangianCertificate,
    Multipliers,
    Proof,
)
from hindsched.instances.coupled.model import Instance
from hindsched.instances.errors import InputError
from hindsched.instances.states import DOWN, UP
from hindsched.instances.verdict import Verdict

__all__ = ["LeastMakespan", "check_certificate"]

_Array: TypeAlias = npt.NDArray[Any]

#: Distance of a node that no path reaches.
_UNREACHABLE = 1 << 62
#: Limit of a certificate's numbers times tasks and workers, so that 64 bits hold every sum.
_MAX_SUM = 1 << 60
#: Boxes of arcs evaluated in one vectorised step, for distances and for the last start.
_DISTANCE_BATCH, _START_BATCH = 256, 64


@dataclass(frozen=True, slots=True)
class LeastMakespan:
    """The lower bound that a valid certificate proves.

    Parameters
    ----------
    value
        No schedule has a smaller makespan.
    """

    value: int

    def __str__(self) -> str:
        return f"makespan at least {self.value}"


def check_certificate(instance: Instance, certificate: LagrangianCertificate) -> Verdict:
    """Return the makespan that a certificate proves, or the first rule that it breaks.

    Parameters
    ----------
    instance
        The instance; only its states within the horizon are used.
    certificate
        The certificate.

    Returns
    -------
    Verdict
        With a `LeastMakespan` as outcome, or with a broken rule. B1: a list without one number per iteration, a
        period that the instance does not have or that is listed twice, a horizon beyond the slots, a branching by an
        iteration outside 1..K-1. B2: multipliers of a period that exceed the value of a program it can receive. B3: a
        node nearer than claimed; the slot is the node's. B4: a smaller bound than claimed.

    Raises
    ------
    InputError
        If ``t_prog`` of the instance is 0, or numbers are too large for 64 bits.

    Notes
    -----
    O(V^2 p) for each iteration and leaf, where V is the number of slots in its window. A second or two at p = 200; up
    to 15 seconds per leaf at p = 1,000 with 50 tasks and a horizon of 1,200. A proof has from one to some dozens of
    leaves.
    """
    if instance.t_prog == 0:
        raise InputError("a Lagrangian certificate, expected an instance with t_prog >= 1", place="format")
    leaves = list(_leaves(certificate.proof, ()))
    horizon = max(leaf.horizon for leaf, _ in leaves)
    largest = certificate.scale * (horizon + 1)
    for leaf, _ in leaves:
        largest = max([largest, *leaf.program_values, *(x for _, _, values in leaf.periods for x in values)])
    if largest * instance.tasks * instance.num_workers >= _MAX_SUM:
        raise InputError(f"{largest}, expected numbers that 64 bits hold times tasks and workers", place="rents")
    try:
        slots = _Slots(instance, horizon)
        value = min(_LeafProof(slots, leaf, certificate.scale, limits).evaluate() for leaf, limits in leaves)
        if value < certificate.bound:
            raise _BrokenRule("B4", f"proves {value}, claimed {certificate.bound}")
    except _BrokenRule as broken:
        return Verdict(broken.slot, broken.rule, broken.reason, None)
    return Verdict(None, None, None, LeastMakespan(value))


class _Limit(NamedTuple):
    """Whether the schedules of a leaf complete iterations 1..k within ``slot`` slots (``is_latest``) or later."""

    k: int
    slot: int
    is_latest: bool


_Limits: TypeAlias = tuple[_Limit, ...]


def _leaves(proof: Proof, limits: _Limits) -> Iterator[tuple[Multipliers, _Limits]]:
    """Yield the multipliers of each leaf with the limits of its schedules."""
    if isinstance(proof, Branching):
        yield from _leaves(proof.sooner, (*limits, _Limit(proof.iteration, proof.slot, True)))
        yield from _leaves(proof.later, (*limits, _Limit(proof.iteration, proof.slot, False)))
    else:
        yield proof, limits


class _BrokenRule(Exception):  # noqa: N818 - a finding that ends the check, not an error
    def __init__(self, rule: str, reason: str, slot: int | None = None) -> None:
        super().__init__(rule, reason)
        self.rule, self.reason, self.slot = rule, reason, slot


class _Boxes(NamedTuple):
    """Sets of arcs to one node: a row has a compute start c, starts in first..last and W in low..high."""

    c: _Array
    first: _Array
    last: _Array
    low: _Array
    high: _Array

    def of(self, rows: _Array) -> _Boxes:
        """Return the boxes of these rows."""
        return _Boxes(*(column[rows] for column in self))

    def split(self, count: int) -> tuple[_Boxes, _Boxes]:
        """Return the first ``count`` boxes and the others."""
        is_first = np.arange(self.c.size) < count
        return self.of(is_first), self.of(~is_first)

    def halves(self) -> _Boxes:
        """Return the halves of boxes with several arcs: split by starts if there are several, else by W."""
        by_start = self.last > self.first
        start, work = (self.first + self.last) // 2, (self.low + self.high) // 2
        left = (self.c, self.first, np.where(by_start, start, self.last), self.low)
        right = (self.c, np.where(by_start, start + 1, self.first), self.last)
        lower = _Boxes(*left, np.where(by_start, self.high, work))
        upper = _Boxes(*right, np.where(by_start, self.low, work + 1), self.high)
        return _Boxes(*(np.concatenate(pair) for pair in zip(lower, upper, strict=True)))


class _Slots:
    """The slots of an instance within a horizon.

    ``before[t, q]`` are the UP slots of worker q before t, ``period_start[t, q]`` the first slot of the availability
    period that contains t. ``shortest[t]`` is the least number of slots that an iteration ending before t computes in;
    ``latest[t]`` the last start of a later iteration that ends before t, -1 if there is none.
    """

    def __init__(self, instance: Instance, horizon: int) -> None:
        self.horizon = horizon
        self.p, self.m, self.n_com = instance.num_workers, instance.tasks, instance.channels
        self.t_prog, self.t_data, self.k = instance.t_prog, instance.t_data, instance.iterations
        if horizon > instance.slots:
            raise _BrokenRule("B1", f"a horizon of {horizon}, the instance has {instance.slots} slots")
        states = instance.prefix(horizon)
        self.up = np.ascontiguousarray((states == UP).T)
        self.before = np.concatenate([np.zeros((1, self.p), np.int64), np.cumsum(self.up, axis=0, dtype=np.int64)])
        after_down = np.where((states == DOWN).T, np.arange(1, horizon + 1)[:, None], 0)
        self.period_start = np.maximum.accumulate(after_down, axis=0) if horizon else after_down
        self.w, self.most = np.array(instance.w, np.int64), np.array(instance.capacities, np.int64)
        self.wait = -(-self.m * self.t_data // self.n_com)  # slots that the data alone take
        self.shortest = [None, *(self._shortest(e) for e in range(horizon))]
        # A program sent before this slot is an old one: from this slot on, the previous iteration computes.
        self.edges = np.array([-1 if least is None else t - least for t, least in enumerate(self.shortest)])
        self.first_end = self._first_end()
        self.latest = self._latest()
        self.least_work = self._least_work()

    def _computing(self, e: int, c: _Array) -> tuple[_Array, _Array]:
        """Return the workers that are UP in slot e, and their UP slots in c..e for each c; 0 if they cannot compute."""
        able = np.flatnonzero(self.up[e])
        counts = self.before[e + 1, able] - self.before[c][:, able]
        return able, np.where(self.up[c][:, able] & (self.period_start[e, able] <= c[:, None]), counts, 0)

    def _shortest(self, e: int) -> int | None:
        """Return the fewest slots up to e in which workers can compute m tasks if each worker may have another W."""
        stop, some = e + 1, 16
        while stop > 0:
            c = np.arange(max(0, stop - some), stop)
            able, counts = self._computing(e, c)
            enough = np.flatnonzero(np.minimum(counts // self.w[able], self.most[able]).sum(axis=1) >= self.m)
            if enough.size:
                return e + 1 - int(c[enough[-1]])
            if not (self.period_start[e, able] < c[0]).any():
                return None
            stop, some = int(c[0]), 2 * some
        return None

    def programs(self, sending: _Array) -> _Array:
        """Return how many programs fit into this many slots with the data; negative where the data do not fit."""
        room = self.n_com * sending - self.m * self.t_data
        return np.where(sending >= self.t_prog, np.minimum(self.p, room // self.t_prog), 0)

    def tasks(self, e: int, boxes: _Boxes, edge: _Array) -> tuple[_Array, _Array]:
        """Return the most tasks of each worker that is UP in slot e, by box, and whether its program is an old one.

        ``edge`` is for each box the slot before which old programs were sent; -1 if there are none.
        """
        able, counts = self._computing(e, boxes.c)
        born = self.period_start[e, able]
        # The first start bounds the data received, the last one the programs sent before.
        arrived = np.maximum(boxes.first[:, None], born)
        room = self.before[boxes.c][:, able] - self.before[np.minimum(arrived, self.horizon), able]
        until = np.maximum(edge[:, None], born)
        is_old = self.before[np.minimum(until, self.horizon), able] - self.before[born, able] >= self.t_prog
        room = np.where(is_old, room, room - self.t_prog)
        tasks = np.minimum(np.minimum(counts, boxes.high[:, None]) // self.w[able], self.most[able])
        tasks[(room < 0) | (counts < boxes.low[:, None])] = 0
        if self.t_data:
            tasks = np.minimum(tasks, np.maximum(room, 0) // self.t_data)
        return tasks, is_old

    def is_enough(self, tasks: _Array, is_old: _Array, boxes: _Boxes) -> _Array:
        """Return for each box whether workers with old programs and those that can be sent one hold m tasks."""
        programs = self.programs(boxes.c - boxes.first)
        new = -np.sort(np.where(is_old, 0, -tasks), axis=1)
        is_sent = np.arange(tasks.shape[1]) < programs[:, None]
        held = np.where(is_old, tasks, 0).sum(axis=1) + np.where(is_sent, new, 0).sum(axis=1)
        enough: _Array = held >= self.m
        return enough

    def _last_start(self, e: int, after: int, is_first: bool) -> int:
        """Return the last slot beyond ``after`` in which an iteration that ends in slot e can start, else ``after``."""
        least = self.shortest[e + 1]
        if least is None:
            return after
        c = np.arange(after + 1 + self.wait, e + 2 - least)[::-1]
        last = np.zeros_like(c) if is_first else c - self.wait
        boxes = _Boxes(c, np.full(c.size, after + 1), last, np.ones_like(c), e + 1 - c)
        best = after
        while boxes.c.size:
            boxes = boxes._replace(first=np.maximum(boxes.first, best + 1))
            boxes = boxes.of(boxes.first <= boxes.last)
            some, boxes = boxes.split(_START_BATCH)
            edge = np.full(some.c.size, -1)
            for i in range(0 if is_first else some.c.size):
                edge[i] = self.edges[some.first[i] : some.last[i] + 1].max()
            tasks, is_old = self.tasks(e, some, edge)
            some = some.of(self.is_enough(tasks, is_old, some) & (is_first | (edge >= 0)))
            is_one = some.first == some.last
            best = max([best, *some.first[is_one].tolist()])
            some = some.of(~is_one)
            middle = (some.first + some.last) // 2
            upper, lower = some._replace(first=middle + 1), some._replace(last=middle)
            boxes = _Boxes(*(np.concatenate(three) for three in zip(upper, lower, boxes, strict=True)))
        return best

    def _first_end(self) -> int:
        """Return the least slot after an end of the first iteration; horizon + 1 if it cannot end."""
        ends = (e + 1 for e in range(self.horizon) if self._last_start(e, -1, True) == 0)
        return next(ends, self.horizon + 1)

    def _latest(self) -> _Array:
        """Return for each slot t the last start of a later iteration that ends before t; -1 if there is none."""
        latest = [-1]
        for e in range(self.horizon):
            latest.append(self._last_start(e, latest[-1], False))
        return np.array(latest)

    def _least_work(self) -> int:
        """Return the least W within which all workers together compute m tasks."""
        low, high = 0, int((self.w * self.most).max())
        while low + 1 < high:
            work = (low + high) // 2
            if np.minimum(work // self.w, self.most).sum() < self.m:
                low = work
            else:
                high = work
        return high


class _LeafProof:
    """The multipliers and distances of one leaf, and the windows of its iterations."""

    def __init__(self, slots: _Slots, multipliers: Multipliers, scale: int, limits: _Limits) -> None:
        self.slots, self.multipliers, self.scale = slots, multipliers, scale
        self.horizon, self.k = multipliers.horizon, slots.k
        self.early, self.late = self._windows(limits)
        self.periods = self._periods()
        self.distances = self._distances()

    def evaluate(self) -> int:
        """Return the makespan that this leaf proves."""
        self.check_multipliers()
        self.check_nodes()
        return self.value()

    def _windows(self, limits: _Limits) -> tuple[list[int], list[int]]:
        """Return the first and the last t of the nodes (k, t) that schedules of the leaf within the horizon have."""
        soonest, latest = [0] * (self.k + 1), [self.horizon] * (self.k + 1)
        for k, slot, is_latest in limits:
            if not 1 <= k < self.k:
                raise _BrokenRule("B1", f"a branching by iteration {k}, expected one of 1 to {self.k - 1}")
            if is_latest:
                latest[k] = min(latest[k], slot)
            else:
                soonest[k] = max(soonest[k], slot + 1)
        slots = self.slots
        early, late = [0], [self.horizon]
        for k in range(1, self.k + 1):
            ends = np.flatnonzero(slots.latest[: self.horizon + 1] >= early[-1])
            end = slots.first_end if k == 1 else int(ends[0]) if ends.size else self.horizon + 1
            early.append(max(soonest[k], end))
            late.append(min(latest[self.k - k], int(slots.latest[max(0, late[-1])])))
        late.reverse()
        late[0] = 0
        return early, late

    def _periods(self) -> dict[tuple[int, int], _Array]:
        """B1: return the multipliers of every period named, by worker and first slot."""
        values_given = len(self.multipliers.program_values)
        if values_given != self.k:
            raise _BrokenRule("B1", f"{values_given} program values, expected one per iteration, {self.k}")
        if min(self.multipliers.program_values) < 0:
            raise _BrokenRule("B1", "a negative program value, expected 0 or more")
        periods: dict[tuple[int, int], _Array] = {}
        for q, first, values in self.multipliers.periods:
            if len(values) != self.k:
                reason = f"{len(values)} multipliers of worker {q}, expected one per iteration, {self.k}"
                raise _BrokenRule("B1", reason, first)
            if min(values) < 0:
                raise _BrokenRule("B1", f"a negative multiplier of worker {q}, expected 0 or more", first)
            if (q, first) in periods:
                raise _BrokenRule("B1", f"two rows for one availability period of worker {q}, expected one", first)
            if not (q < self.slots.p and first < self.horizon and self.slots.period_start[first, q] == first):
                raise _BrokenRule("B1", f"no availability period of worker {q} begins in this slot", first)
            periods[q, first] = np.array(values, np.int64)
        return periods

    def _distances(self) -> list[_Array]:
        """B1: return for each k the claimed distances of its nodes by slot, `_UNREACHABLE` where there is no node."""
        rows = len(self.multipliers.nodes)
        if rows != self.k:
            raise _BrokenRule("B1", f"{rows} rows of nodes, expected one per iteration, {self.k}")
        distances = [np.full(self.horizon + 1, _UNREACHABLE, np.int64) for _ in range(self.k + 1)]
        distances[0][0] = 0
        for k, (first, values) in enumerate(self.multipliers.nodes, start=1):
            if first + len(values) > self.horizon + 1 or any(abs(d) >= _MAX_SUM for d in values if d is not None):
                raise _BrokenRule("B1", f"distances of iteration {k} beyond the horizon or 64 bits", first)
            distances[k][first : first + len(values)] = [_UNREACHABLE if d is None else d for d in values]
        return distances

    def check_multipliers(self) -> None:
        """B2: a period's multipliers from iteration i on sum to at most the value of a program it can receive in i."""
        slots = self.slots
        for (q, first), values in self.periods.items():
            stop = first
            while stop < self.horizon and slots.period_start[stop, q] == first:
                stop += 1
            for i in range(1, self.k + 1):
                low, high = max(first, self.early[i - 1]), min(stop, self.late[i] - slots.least_work)
                can_receive = high > low and slots.before[high, q] - slots.before[low, q] >= slots.t_prog
                if not (can_receive and stop >= self.early[i]):
                    continue
                total, value = int(values[i - 1 :].sum()), self.multipliers.program_values[i - 1]
                if total > value:
                    reason = f"multipliers of worker {q} from iteration {i} on sum to {total}, expected at most {value}"
                    raise _BrokenRule("B2", reason, first)

    def check_nodes(self) -> None:
        """B3: no arc leads to a node nearer than claimed."""
        for k in range(1, self.k + 1):
            starts = np.flatnonzero(self.distances[k - 1] < _UNREACHABLE)
            if k > 1:
                starts = starts[(starts >= self.early[k - 1]) & (starts <= self.late[k - 1])]
            if not starts.size:
                continue
            level = _Level(self, k, starts)
            for t in range(max(1, self.early[k]), min(self.late[k], self.horizon) + 1):
                arc = level.nearer(t, int(self.distances[k][t]))
                if arc is not None:
                    s, c = arc
                    reason = f"iteration {k} from slot {s}, computing from {c}, makes its end nearer than claimed"
                    raise _BrokenRule("B3", reason, t)

    def value(self) -> int:
        """Return the makespan that the distances of the last nodes prove."""
        first, last = self.early[self.k], min(self.late[self.k], self.horizon)
        distance = self.distances[self.k]
        reached = [t for t in range(first, last + 1) if distance[t] < _UNREACHABLE]
        least = min((t * self.scale + int(distance[t]) for t in reached), default=_UNREACHABLE)
        return min(self.horizon + 1, -(-least // self.scale))


class _Level:
    """The arcs of iteration k from the nodes in which it can start."""

    def __init__(self, proof: _LeafProof, k: int, starts: _Array) -> None:
        self.proof, self.slots, self.starts = proof, proof.slots, starts
        slots = proof.slots
        self.distance = proof.distances[k - 1][starts]
        self.program_value = proof.multipliers.program_values[k - 1]
        self.multiplier = {period: int(values[k - 1]) for period, values in proof.periods.items()}
        self.edge = slots.edges[starts] if k > 1 else np.full(len(starts), -1)
        self.computing = np.arange(int(starts[0]) + slots.wait, proof.horizon)
        self.least = self._less_programs(self.computing)[0] if self.computing.size else self.computing

    def _less_programs(self, c: _Array, first: _Array | None = None, last: _Array | None = None) -> tuple[_Array, ...]:
        """Return for each slot c the least distance of a start minus the value of its programs, and the last edge."""
        slots = self.slots
        sending = c[:, None] - self.starts
        open_ = slots.n_com * sending >= slots.m * slots.t_data
        if first is not None and last is not None:
            open_ &= (self.starts >= first[:, None]) & (self.starts <= last[:, None])
        reached = self.distance - self.program_value * slots.programs(sending)
        return np.where(open_, reached, _UNREACHABLE).min(axis=1), np.where(open_, self.edge, -1).max(axis=1)

    def nearer(self, t: int, claimed: int) -> tuple[int, int] | None:
        """Return start and compute start of an arc by which node (k, t) is nearer than claimed; None if none is."""
        slots, e = self.slots, t - 1
        shortest = slots.shortest[t]
        if shortest is None:
            return None
        c = (
            self.computing[: max(0, e + 2 - shortest - int(self.computing[0]))]
            if self.computing.size
            else self.computing
        )
        c = c[self.least[: c.size] < claimed]
        first = np.full(c.size, self.starts[0])
        boxes = _Boxes(c, first, np.minimum(self.starts[-1], c - slots.wait), np.ones_like(c), e + 1 - c)
        able = np.flatnonzero(slots.up[e])
        periods = [(q, int(slots.period_start[e, q])) for q in able.tolist()]
        multipliers = np.array([self.multiplier.get(period, 0) for period in periods], np.int64)
        while boxes.c.size:
            some, boxes = boxes.split(_DISTANCE_BATCH)
            some = some.of(self._least_distance(some, e, multipliers) < claimed)
            is_one = (some.first == some.last) & (some.low == some.high)
            if is_one.any():
                at = int(np.argmax(is_one))
                return int(some.first[at]), int(some.c[at])
            more = some.halves()
            boxes = _Boxes(*(np.concatenate(pair) for pair in zip(more, boxes, strict=True)))
        return None

    def _least_distance(self, boxes: _Boxes, e: int, multipliers: _Array) -> _Array:
        """Return a lower bound on the distance of the node by the arcs of each box."""
        slots = self.slots
        base, edge = self._less_programs(boxes.c, boxes.first, boxes.last)
        tasks, is_old = slots.tasks(e, boxes, edge)
        result = np.full(boxes.c.size, _UNREACHABLE, np.int64)
        rows = np.flatnonzero(slots.is_enough(tasks, is_old, boxes) & (base < _UNREACHABLE))
        if rows.size:
            result[rows] = base[rows] + _least_cost(tasks[rows], multipliers, slots.m)
        return result


def _least_cost(tasks: _Array, costs: _Array, m: int) -> _Array:
    """Return for each row the fractional knapsack: the least cost of m tasks by workers who hold these, rounded down.

    For cost r and tasks x of any worker, (m r - sum of max(0, r x_q - r_q x)) / x is a lower bound by duality. It is
    the least cost for the worker with whom the cheapest by the task reach m.
    """
    price = np.divide(costs, tasks, out=np.full(tasks.shape, np.inf), where=tasks > 0)
    order = np.argsort(price, axis=1, kind="stable")
    reached = np.cumsum(np.take_along_axis(tasks, order, axis=1), axis=1) >= m
    last = np.take_along_axis(order, reached.argmax(axis=1)[:, None], axis=1)
    r, x = costs[last], np.take_along_axis(tasks, last, axis=1)
    saved: _Array = np.maximum(0, r * tasks - costs * x).sum(axis=1)
    result: _Array = (m * r[:, 0] - saved) // x[:, 0]
    return result
