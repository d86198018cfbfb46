"""A plain implementation of the normal form of one iteration, with scipy's maximum flow."""

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from hindsched.instances.coupled import Instance
from hindsched.instances.states import DOWN, UP
from hindsched.offline.coupled.search.bitsets import add, has
from hindsched.offline.coupled.search.workspace import Workspace
from hindsched.offline.limits import Limits


def words_of(workers: set[int], workspace: Workspace) -> np.ndarray:
    """Return a set of workers as words of bits."""
    words = np.zeros(workspace.problem.num_words, np.uint64)
    for q in workers:
        add(words, q)
    return words


def set_of(words: np.ndarray, p: int) -> set[int]:
    """Return words of bits as a set of numbers."""
    return {q for q in range(p) if has(words, q)}


def whole(instance: Instance) -> Workspace:
    """Return a workspace in which all slots are known."""
    return Workspace(instance, Limits(), first_block=instance.slots)


class Iteration:
    """An iteration in slots s..e that starts with some holders of the program."""

    def __init__(self, instance: Instance, s: int, e: int, held: set[int], horizon: int) -> None:
        self.instance, self.s, self.e, self.held, self.horizon = instance, s, e, held, horizon
        self.p, self.m = instance.num_workers, instance.tasks
        self.is_up, self.is_down = instance.states == UP, instance.states == DOWN
        self.caps = [min(mu, self.m) for mu in instance.capacities]

    def period_start(self, q: int, e: int | None = None) -> int:
        """Return the first slot of the availability period of q that contains slot e; e + 1 if q is DOWN in it."""
        t = self.e + 1 if e is None else e + 1
        while t > 0 and not self.is_down[q, t - 1]:
            t -= 1
        return t

    def survives(self, q: int) -> bool:
        return q in self.held and self.period_start(q) <= self.s

    def program(self, q: int) -> int:
        """Return the slots of program that q needs."""
        return 0 if self.survives(q) else self.instance.t_prog

    def first(self, q: int) -> int:
        """Return the first slot from which q keeps what it receives until the end."""
        return max(self.s, self.period_start(q))

    def up_slots(self, q: int, c: int) -> int:
        """Return the number of UP slots in which q can receive before slot c."""
        return int(self.is_up[q, self.first(q) : c].sum())

    def is_useful(self, q: int) -> bool:
        """Return whether q can compute a task after the iteration with a program that it holds then."""
        left = self.instance.t_data + self.instance.w[q]
        for t in range(self.e + 1, self.horizon):
            left -= self.is_up[q, t]
            if left == 0:
                return True
            if self.is_down[q, t]:
                return False
        return False

    def program_by(self, q: int) -> int | None:
        """Return the first slot before which q can receive the whole program; None if there is none up to e."""
        return next((c for c in range(self.e + 1) if self.up_slots(q, c) >= self.instance.t_prog), None)

    def survivors(self) -> set[int]:
        if self.instance.t_prog == 0:
            return set()
        return {q for q in range(self.p) if self.survives(q) and self.is_useful(q)}

    def obtainable(self) -> set[int]:
        if self.instance.t_prog == 0:
            return set()
        return {
            q for q in range(self.p) if not self.survives(q) and self.program_by(q) is not None and self.is_useful(q)
        }

    def most(self, q: int, c: int, work: int, *, is_free: bool = False) -> int:
        """Return X_q(c), the largest number of tasks that q, alone, can hold by slot c and compute in W slots."""
        cap = min(self.caps[q], work // self.instance.w[q])
        if c < self.first(q):
            return 0
        if is_free:  # the program may be sent in all UP slots of the availability period, even before slot s
            slots = min(self.up_slots(q, c), int(self.is_up[q, self.period_start(q) : c].sum()) - self.instance.t_prog)
        else:
            slots = self.up_slots(q, c) - self.program(q)
        if slots < 0:
            return 0
        return min(cap, slots // self.instance.t_data) if self.instance.t_data else cap

    def start_of(self, members: tuple[int, ...], work: int) -> int | None:
        """Return the W-th last slot up to e in which all members are UP; None if there is none or the last is not e."""
        common = [t for t in range(self.e + 1) if self.is_up[list(members), t].all()]
        if len(common) < work or common[-1] != self.e:
            return None
        return common[-work]

    def works(self) -> list[int]:
        """Return all W within which the workers can compute m tasks."""
        values = {x * w for w, cap in zip(self.instance.w, self.caps, strict=True) for x in range(1, cap + 1)}
        return [
            work
            for work in sorted(values)
            if sum(min(cap, work // w) for w, cap in zip(self.instance.w, self.caps, strict=True)) >= self.m
        ]

    def teams(self, threshold: int, *, is_free: bool = False) -> Iterator[tuple[int, tuple[int, ...], int]]:
        """Yield all (W, S, c) with c > threshold such that the workers of S, each alone, can hold m tasks."""
        for work in self.works():
            for size in range(1, min(self.m, self.p) + 1):
                for members in combinations(range(self.p), size):
                    c = self.start_of(members, work)
                    if c is None or c <= threshold:
                        continue
                    most = [self.most(q, c, work, is_free=is_free) for q in members]
                    if min(most) >= 1 and sum(most) >= self.m:
                        yield work, members, c

    def can_serve(self, members: tuple[int, ...], work: int, c: int, stand_by: tuple[int, ...]) -> bool:
        """Return whether programs and data can be sent before slot c for some task counts."""
        most = [self.most(q, c, work) for q in members]
        for tasks in product(*(range(1, x + 1) for x in most)):
            if sum(tasks) == self.m:
                need = {q: self.program(q) + x * self.instance.t_data for q, x in zip(members, tasks, strict=True)}
                need |= {q: self.program(q) for q in stand_by}
                if self._can_send(need, c):
                    return True
        return False

    def _can_send(self, need: dict[int, int], c: int) -> bool:
        n, sink = len(need), 1 + len(need) + c - self.s
        capacity = np.zeros((sink + 1, sink + 1), np.int32)
        for j, (q, units) in enumerate(need.items()):
            capacity[0, 1 + j] = units
            for t in range(self.first(q), c):
                capacity[1 + j, 1 + n + t - self.s] = self.is_up[q, t]
        capacity[1 + n : sink, sink] = self.instance.channels
        return int(maximum_flow(csr_array(capacity), 0, sink).flow_value) == sum(need.values())

    def holder_sets(self, *, stand_by: bool) -> set[frozenset[int]]:
        """Return the maximal sets of useful holders after the iteration, with or without programs for stand-by."""
        survivors, obtainable = self.survivors(), self.obtainable()
        found: set[frozenset[int]] = set()
        for work, members, c in self.teams(self.s - 1):
            others = sorted(obtainable - set(members)) if stand_by else []
            for size in range(len(others), -1, -1):
                for chosen in combinations(others, size):
                    held = frozenset(survivors | (obtainable & set(members)) | set(chosen))
                    if not any(held <= known for known in found) and self.can_serve(members, work, c, chosen):
                        found = {known for known in found if not known <= held} | {held}
        return found
