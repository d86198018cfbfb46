"""The evaluation of a claim of rents (module `hindsched.instances.coupled.lagrangian_certificate`).

All slots, windows, arcs and costs are found again from the instance: this module shares no code with any solver
(docs/model.md sections 3 and 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from hindsched.instances.coupled.lagrangian_certificate import Division, Multipliers, Part, Rents
from hindsched.instances.coupled.model import Instance
from hindsched.instances.errors import InputError
from hindsched.instances.states import DOWN, UP
from hindsched.instances.verdict import Verdict

__all__ = ["LeastMakespan", "check_rents"]

_Array: TypeAlias = npt.NDArray[Any]

#: Farther than every node.
_NEVER = 1 << 62
#: What numbers of a certificate, times tasks and workers, stay below, so that 64 bits hold every sum.
_MOST = 1 << 60
#: Boxes evaluated in step.
_TOGETHER = 256
#: The same where the last start is sought.
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class LeastMakespan:
    """What a valid certificate proves.

    Parameters
    ----------
    value
        No schedule has a smaller makespan.
    """

    value: int

    def __str__(self) -> str:
        return f"makespan at least {self.value}"


def check_rents(instance: Instance, rents: Rents) -> Verdict:
    """Evaluate a certificate: the first broken rule, or the makespan that it proves.

    Parameters
    ----------
    instance
        The instance; its states within the horizon are looked at.
    rents
        The certificate.

    Returns
    -------
    Verdict
        B1: numbers that are not one per iteration, lives that the instance does not have or that come twice, a horizon
        beyond the slots, a division by an iteration that is none or the last. B2: rents of a life that exceed the value
        of a program it can be sent. B3: a node that is nearer than claimed, named by its slot. B4: less is proven than
        claimed. Else a `LeastMakespan` as its outcome.

    Raises
    ------
    InputError
        Where programs cost nothing, so that there is nothing to charge, and for numbers beyond 64 bits.

    Notes
    -----
    O(V^2 p) for each iteration where V slots are possible for it: all arcs that lead to a node at once, and only where
    that is not enough in parts. A second or two at p = 200, up to a quarter of a minute at p = 1,000 with 50 tasks and
    a horizon of 1,200; for every part of the schedules, of which a proof has one or some dozens.
    """
    if instance.t_prog == 0:
        raise InputError("a certificate of rents, expected an instance with t_prog >= 1", place="format")
    parts = list(_leaves(rents.proof, ()))
    horizon = max(part.horizon for part, _ in parts)
    largest = rents.scale * (horizon + 1)
    for part, _ in parts:
        largest = max([largest, *part.programs, *(x for _, _, paid in part.rents for x in paid)])
    if largest * instance.tasks * instance.num_workers >= _MOST:
        raise InputError(f"{largest}, expected numbers that 64 bits hold times tasks and workers", place="rents")
    try:
        slots = _Slots(instance, horizon)
        value = min(_Proof(slots, part, rents.scale, limits).evaluate() for part, limits in parts)
        if value < rents.bound:
            raise _BrokenRule("B4", f"proves {value}, not {rents.bound}")
    except _BrokenRule as broken:
        return Verdict(broken.slot, broken.rule, broken.reason, None)
    return Verdict(None, None, None, LeastMakespan(value))


class _Limit(NamedTuple):
    """Iterations 1..k of a part's schedules are complete within ``slot`` slots, or they are not."""

    k: int
    slot: int
    is_latest: bool


_Limits: TypeAlias = tuple[_Limit, ...]


def _leaves(part: Part, limits: _Limits) -> Iterator[tuple[Multipliers, _Limits]]:
    """Yield the parts that are not divided, each with what holds for its schedules."""
    if isinstance(part, Division):
        yield from _leaves(part.sooner, (*limits, _Limit(part.iteration, part.slot, True)))
        yield from _leaves(part.later, (*limits, _Limit(part.iteration, part.slot, False)))
    else:
        yield part, limits


class _BrokenRule(Exception):  # noqa: N818 - a finding that ends the check, not an error
    def __init__(self, rule: str, reason: str, slot: int | None = None) -> None:
        super().__init__(rule, reason)
        self.rule, self.reason, self.slot = rule, reason, slot


class _Boxes(NamedTuple):
    """Arcs that end together: each row a slot c to compute from, the starts in first..last, W in low..high."""

    c: _Array
    first: _Array
    last: _Array
    low: _Array
    high: _Array

    def of(self, rows: _Array) -> _Boxes:
        """Return some of the rows."""
        return _Boxes(*(column[rows] for column in self))

    def halves(self) -> _Boxes:
        """Return the halves of boxes that have more than one arc: by their starts, then by W."""
        by_start = self.last > self.first
        start, work = (self.first + self.last) // 2, (self.low + self.high) // 2
        left = (self.c, self.first, np.where(by_start, start, self.last), self.low)
        right = (self.c, np.where(by_start, start + 1, self.first), self.last)
        lower = _Boxes(*left, np.where(by_start, self.high, work))
        upper = _Boxes(*right, np.where(by_start, self.low, work + 1), self.high)
        return _Boxes(*(np.concatenate(pair) for pair in zip(lower, upper, strict=True)))


class _Slots:
    """The instance within a horizon: its lives, and when iterations can end."""

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
        self.born = np.maximum.accumulate(after_down, axis=0) if horizon else after_down
        self.w, self.most = np.array(instance.w, np.int64), np.array(instance.capacities, np.int64)
        self.wait = -(-self.m * self.t_data // self.n_com)  # slots that the data alone take
        self.shortest = [None, *(self._shortest(e) for e in range(horizon))]
        # The slot before which a program was sent earlier: the iteration before computes in the slots from there on.
        self.edges = np.array([-1 if least is None else t - least for t, least in enumerate(self.shortest)])
        self.first_end = self._first_end()
        self.latest = self._latest()
        self.least_work = self._least_work()

    def _computing(self, e: int, c: _Array) -> tuple[_Array, _Array]:
        """Return who is UP in slot e; and for each slot c their UP slots in c..e, 0 if not UP in c, or DOWN between."""
        able = np.flatnonzero(self.up[e])
        counts = self.before[e + 1, able] - self.before[c][:, able]
        return able, np.where(self.up[c][:, able] & (self.born[e, able] <= c[:, None]), counts, 0)

    def _shortest(self, e: int) -> int | None:
        """Return the fewest slots, up to e, in which workers can compute m tasks, if each has a W of its own."""
        stop, some = e + 1, 16
        while stop > 0:
            c = np.arange(max(0, stop - some), stop)
            able, counts = self._computing(e, c)
            enough = np.flatnonzero(np.minimum(counts // self.w[able], self.most[able]).sum(axis=1) >= self.m)
            if enough.size:
                return e + 1 - int(c[enough[-1]])
            if not (self.born[e, able] < c[0]).any():
                return None
            stop, some = int(c[0]), 2 * some
        return None

    def programs(self, sending: _Array) -> _Array:
        """Return how many programs fit beside the data into so many slots; negative where the data do not."""
        room = self.n_com * sending - self.m * self.t_data
        return np.where(sending >= self.t_prog, np.minimum(self.p, room // self.t_prog), 0)

    def tasks(self, e: int, boxes: _Boxes, edge: _Array) -> tuple[_Array, _Array]:
        """Return how many tasks those UP in slot e can hold in each box at most, and whether with an old program.

        ``edge`` is the slot before which an old program has come, for each box; -1 where none has.
        """
        able, counts = self._computing(e, boxes.c)
        born = self.born[e, able]
        # The first start for what can be received, the last one for what has been sent before.
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
        """Return for each box whether m tasks can be held: by all old ones and as many others as can be sent one."""
        programs = self.programs(boxes.c - boxes.first)
        new = -np.sort(np.where(is_old, 0, -tasks), axis=1)
        is_sent = np.arange(tasks.shape[1]) < programs[:, None]
        held = np.where(is_old, tasks, 0).sum(axis=1) + np.where(is_sent, new, 0).sum(axis=1)
        enough: _Array = held >= self.m
        return enough

    def _last_start(self, e: int, after: int, is_first: bool) -> int:
        """Return the last slot beyond ``after`` in which an iteration that ends in slot e may start; or ``after``."""
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
            some, boxes = boxes.of(np.arange(boxes.c.size) < _AT_ONCE), boxes.of(np.arange(boxes.c.size) >= _AT_ONCE)
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
        """Return the first slot after an end of the first iteration; horizon + 1: none within it."""
        ends = (e + 1 for e in range(self.horizon) if self._last_start(e, -1, True) == 0)
        return next(ends, self.horizon + 1)

    def _latest(self) -> _Array:
        """Return for each slot t the last slot in which a later iteration may start that ends before t; -1: none."""
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


class _Proof:
    """What a certificate says of the schedules of one part, and the windows of their iterations."""

    def __init__(self, slots: _Slots, multipliers: Multipliers, scale: int, limits: _Limits) -> None:
        self.slots, self.multipliers, self.scale = slots, multipliers, scale
        self.horizon, self.k = multipliers.horizon, slots.k
        self.early, self.late = self._windows(limits)
        self.paid = self._paid()
        self.far = self._distances()

    def evaluate(self) -> int:
        """Return the makespan that is proven."""
        self.check_rents()
        self.check_nodes()
        return self.value()

    def _windows(self, limits: _Limits) -> tuple[list[int], list[int]]:
        """Return the first and the last t of the nodes (k, t) that a schedule within the horizon may have."""
        soonest, latest = [0] * (self.k + 1), [self.horizon] * (self.k + 1)
        for k, slot, is_latest in limits:
            if not 1 <= k < self.k:
                raise _BrokenRule("B1", f"divided by iteration {k}, expected one of 1 to {self.k - 1}")
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

    def _paid(self) -> dict[tuple[int, int], _Array]:
        """B1: return the rents of every life named, by worker and first slot."""
        if len(self.multipliers.programs) != self.k:
            raise _BrokenRule(
                "B1", f"{len(self.multipliers.programs)} values of programs, not one per iteration, {self.k}"
            )
        if min(self.multipliers.programs) < 0:
            raise _BrokenRule("B1", "a program of negative value")
        paid: dict[tuple[int, int], _Array] = {}
        for q, first, values in self.multipliers.rents:
            if len(values) != self.k:
                raise _BrokenRule("B1", f"{len(values)} rents of worker {q}, not one per iteration, {self.k}", first)
            if min(values) < 0:
                raise _BrokenRule("B1", f"worker {q} pays a negative rent", first)
            if (q, first) in paid:
                raise _BrokenRule("B1", f"two rows for one life of worker {q}", first)
            if not (q < self.slots.p and first < self.horizon and self.slots.born[first, q] == first):
                raise _BrokenRule("B1", f"no life of worker {q} begins here", first)
            paid[q, first] = np.array(values, np.int64)
        return paid

    def _distances(self) -> list[_Array]:
        """B1: return for each k the claimed distances of its nodes by slot, `_NEVER` where none can be."""
        if len(self.multipliers.nodes) != self.k:
            raise _BrokenRule("B1", f"{len(self.multipliers.nodes)} rows of nodes, not one per iteration, {self.k}")
        far = [np.full(self.horizon + 1, _NEVER, np.int64) for _ in range(self.k + 1)]
        far[0][0] = 0
        for k, (first, values) in enumerate(self.multipliers.nodes, start=1):
            if first + len(values) > self.horizon + 1 or any(abs(d) >= _MOST for d in values if d is not None):
                raise _BrokenRule("B1", f"distances of iteration {k} beyond the horizon, or 64 bits", first)
            far[k][first : first + len(values)] = [_NEVER if d is None else d for d in values]
        return far

    def check_rents(self) -> None:
        """B2: what a life pays from iteration i on is at most what a program is worth that it can be sent in i."""
        slots = self.slots
        for (q, first), values in self.paid.items():
            stop = first
            while stop < self.horizon and slots.born[stop, q] == first:
                stop += 1
            for i in range(1, self.k + 1):
                low, high = max(first, self.early[i - 1]), min(stop, self.late[i] - slots.least_work)
                can_be_sent = high > low and slots.before[high, q] - slots.before[low, q] >= slots.t_prog
                if not (can_be_sent and stop >= self.early[i]):
                    continue
                total, worth = int(values[i - 1 :].sum()), self.multipliers.programs[i - 1]
                if total > worth:
                    reason = f"worker {q} pays {total} from iteration {i} on, a program is worth {worth}"
                    raise _BrokenRule("B2", reason, first)

    def check_nodes(self) -> None:
        """B3: no arc leads to a node nearer than claimed."""
        for k in range(1, self.k + 1):
            starts = np.flatnonzero(self.far[k - 1] < _NEVER)
            if k > 1:
                starts = starts[(starts >= self.early[k - 1]) & (starts <= self.late[k - 1])]
            if not starts.size:
                continue
            level = _Level(self, k, starts)
            for t in range(max(1, self.early[k]), min(self.late[k], self.horizon) + 1):
                found = level.nearer(t, int(self.far[k][t]))
                if found is not None:
                    s, c = found
                    reason = f"iteration {k} from slot {s}, computing from {c}, makes its end nearer than claimed"
                    raise _BrokenRule("B3", reason, t)

    def value(self) -> int:
        """Return the makespan that the distances of the last nodes prove."""
        first, last = self.early[self.k], min(self.late[self.k], self.horizon)
        ends = [(t, int(self.far[self.k][t])) for t in range(first, last + 1) if self.far[self.k][t] < _NEVER]
        least = min((t * self.scale + d for t, d in ends), default=_NEVER)
        return min(self.horizon + 1, -(-least // self.scale))


class _Level:
    """The arcs of one iteration, from the nodes that it may start in."""

    def __init__(self, proof: _Proof, k: int, starts: _Array) -> None:
        self.proof, self.slots, self.starts = proof, proof.slots, starts
        slots = proof.slots
        self.far = proof.far[k - 1][starts]
        self.worth = proof.multipliers.programs[k - 1]
        self.rent = {life: int(values[k - 1]) for life, values in proof.paid.items()}
        self.edge = slots.edges[starts] if k > 1 else np.full(len(starts), -1)
        self.computing = np.arange(int(starts[0]) + slots.wait, proof.horizon)
        self.least = self._less_programs(self.computing)[0] if self.computing.size else self.computing

    def _less_programs(self, c: _Array, first: _Array | None = None, last: _Array | None = None) -> tuple[_Array, ...]:
        """Return for each slot c the least distance of a start less what its programs are worth, and the last edge."""
        slots = self.slots
        sending = c[:, None] - self.starts
        open_ = slots.n_com * sending >= slots.m * slots.t_data
        if first is not None and last is not None:
            open_ &= (self.starts >= first[:, None]) & (self.starts <= last[:, None])
        reached = self.far - self.worth * slots.programs(sending)
        return np.where(open_, reached, _NEVER).min(axis=1), np.where(open_, self.edge, -1).max(axis=1)

    def nearer(self, t: int, claimed: int) -> tuple[int, int] | None:
        """Return start and c of an arc that makes the node (k, t) nearer than claimed; None if there is none."""
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
        rent = np.array([self.rent.get((q, int(slots.born[e, q])), 0) for q in able.tolist()], np.int64)
        while boxes.c.size:
            some = boxes.of(np.arange(boxes.c.size) < _TOGETHER)
            boxes = boxes.of(np.arange(boxes.c.size) >= _TOGETHER)
            some = some.of(self._least_distance(some, e, rent) < claimed)
            is_one = (some.first == some.last) & (some.low == some.high)
            if is_one.any():
                at = int(np.argmax(is_one))
                return int(some.first[at]), int(some.c[at])
            more = some.halves()
            boxes = _Boxes(*(np.concatenate(pair) for pair in zip(more, boxes, strict=True)))
        return None

    def _least_distance(self, boxes: _Boxes, e: int, rent: _Array) -> _Array:
        """Return what the arcs of each box make of the node's distance at least."""
        slots = self.slots
        base, edge = self._less_programs(boxes.c, boxes.first, boxes.last)
        tasks, is_old = slots.tasks(e, boxes, edge)
        result = np.full(boxes.c.size, _NEVER, np.int64)
        rows = np.flatnonzero(slots.is_enough(tasks, is_old, boxes) & (base < _NEVER))
        if rows.size:
            result[rows] = base[rows] + _least_rents(tasks[rows], rent, slots.m)
        return result


def _least_rents(tasks: _Array, rent: _Array, m: int) -> _Array:
    """Return for each row what workers with these tasks and rents pay at least, in parts, for m tasks; rounded down.

    If r and x are rent and tasks of any worker, (m r - sum of max(0, r x_q - r_q x) over all) / x is a lower bound, by
    duality; and the least itself for the worker with whom the cheapest by the task reach m.
    """
    price = np.divide(rent, tasks, out=np.full(tasks.shape, np.inf), where=tasks > 0)
    order = np.argsort(price, axis=1, kind="stable")
    reached = np.cumsum(np.take_along_axis(tasks, order, axis=1), axis=1) >= m
    last = np.take_along_axis(order, reached.argmax(axis=1)[:, None], axis=1)
    r, x = rent[last], np.take_along_axis(tasks, last, axis=1)
    saved: _Array = np.maximum(0, r * tasks - rent * x).sum(axis=1)
    result: _Array = (m * r[:, 0] - saved) // x[:, 0]
    return result
