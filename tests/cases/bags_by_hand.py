"""A plain implementation of the rules of bags, from docs/bags/model.md alone, without code of the toolkit.

States are pairs (segments, parts). Both simulators of the toolkit must make the same runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

__all__ = ["Made", "play"]

P = 10**9
State = tuple[int, int]


@dataclass
class Copy:
    task: int
    state: State
    expected: int
    deadline: int | None
    since: int | None  # start of its run in the schedule
    done: int = 0


@dataclass
class Made:
    turnaround: int | None
    completed: int
    runs: list[tuple[int, int, int, int, Fraction]]
    saves: list[tuple[int, int]]


def tolerance(clock_ms: int | None, reference_s: int, rest: Fraction, by_day: Fraction | None) -> Fraction:
    if clock_ms is not None:
        hours = Fraction(clock_ms, 3_600_000) % 168
        if hours < 8 or hours >= 5 * 24 + 21:
            return Fraction(5, 100)
        if 4 <= hours % 24 < 8:
            return Fraction(10, 100)
    return Fraction(3600 + ceil(reference_s * rest), 27000) if by_day is None else by_day


def play(
    document: Mapping[str, Any],
    policy: str,
    *,
    warns: Callable[[int, int], bool] = lambda machine, slot: False,
    max_copies: int = 3,
    is_immediate: bool = True,
    by_day: Fraction | None = None,
    is_noticed: bool | None = None,
) -> Made:
    """Run one of the paper's four schedulers or a baseline on the document of an instance."""
    one = _Play(document, policy, warns, max_copies, is_immediate, by_day, is_noticed)
    return one.run()


class _Play:
    def __init__(
        self,
        document: Mapping[str, Any],
        policy: str,
        warns: Callable[[int, int], bool],
        max_copies: int,
        is_immediate: bool,
        by_day: Fraction | None,
        is_noticed: bool | None,
    ) -> None:
        self.file, self.policy, self.warns = document, policy, warns
        self.max_copies, self.is_immediate, self.by_day = max_copies, is_immediate, by_day
        self.n, self.k, self.length = document["tasks"], document["segments"], document["slot"]
        self.g = [machine["segment"] for machine in document["machines"]]
        self.letters = [machine["states"] for machine in document["machines"]]
        self.is_shared = document["store"] == "shared"
        self.is_noticed = self.is_shared if is_noticed is None else is_noticed
        self.store: dict[tuple[int, int], State] = {}
        self.on: list[Copy | None] = [None] * len(self.g)
        self.started: set[int] = set()
        self.move = document.get("move", 0) if self.is_shared else 0
        self.own: dict[tuple[int, int], State] = {}
        speeds = [Fraction(1, g) for g in self.g]
        mean = sum(speeds) / len(speeds)
        variance = sum((speed - mean) ** 2 for speed in speeds) / len(speeds)
        self.slow = {q for q, speed in enumerate(speeds) if speed < mean and (mean - speed) ** 2 > variance}
        self.freed, self.up_since = [0] * len(self.g), [0] * len(self.g)
        self.completed: set[int] = set()
        self.endangered: set[int] = set()
        self.made = Made(None, 0, [], [])

    # -- stores and states

    def disk(self, task: int, q: int) -> tuple[int, int]:
        return (task, -1 if self.is_shared else q)

    def saved(self, task: int, q: int) -> State:
        return self.store.get(self.disk(task, q), (0, 0))

    def start(self, task: int, q: int) -> State:
        return (0, 0) if self.policy == "WQR" else self.saved(task, q)

    def save(self, task: int, q: int, state: State) -> bool:
        is_more = state > self.saved(task, q)
        if is_more:
            self.store[self.disk(task, q)] = state
            self.keep(task, q, state)
        return is_more

    def keep(self, task: int, q: int, state: State) -> None:
        self.own[task, q] = max(state, self.own.get((task, q), (0, 0)))

    def fetch(self, task: int, q: int, state: State) -> int:
        return self.move if state > self.own.get((task, q), (0, 0)) else 0

    def first(self, state: State, q: int) -> int:
        return ceil(Fraction((P - state[1]) * self.g[q], P))

    def left(self, state: State, q: int) -> int:
        return self.first(state, q) + (self.k - state[0] - 1) * self.g[q]

    def reached(self, copy: Copy, q: int) -> State:
        past = copy.done - self.first(copy.state, q)
        if past < 0:
            return copy.state[0], copy.state[1] + P * max(0, copy.done) // self.g[q]
        return copy.state[0] + 1 + past // self.g[q], P * (past % self.g[q]) // self.g[q]

    # -- copies

    def held(self, task: int) -> list[int]:
        return [q for q, copy in enumerate(self.on) if copy is not None and copy.task == task]

    def close(self, q: int, instant: int) -> None:
        copy = self.on[q]
        if copy is not None and copy.since is not None:
            origin = copy.state[0] + Fraction(copy.state[1], P)
            self.made.runs.append((q, copy.task, copy.since, instant, origin))
            copy.since = None

    def remove(self, q: int, instant: int) -> None:
        self.close(q, instant)
        self.on[q], self.freed[q] = None, instant

    def serve(self, q: int, instant: int) -> None:
        task = None if "EXCL" in self.policy and q in self.slow else self.choose()
        if task is None:
            return
        self.started.add(task)
        state = self.start(task, q)
        fetch = self.fetch(task, q, state)
        base, deadline = fetch + self.left(state, q), None
        if self.policy in ("FCFS-AT", "FCFS-TR", "FCFS-PRDCT-DMD"):
            clock_s = self.file.get("clock_s")
            clock_ms = None if clock_s is None else clock_s * 1000 + instant * self.file.get("tick_ms", 1)
            rest = (self.k - state[0] - Fraction(state[1], P)) / self.k
            late = tolerance(clock_ms, self.file.get("reference_s", 1800), rest, self.by_day)
            deadline = instant + ceil(base * (1 + late))
        self.on[q] = Copy(task, state, instant + base, deadline, instant, -fetch)
        self.endangered.discard(task)

    def choose(self) -> int | None:
        unfinished = [task for task in range(self.n) if task not in self.completed]
        for task in unfinished:
            if not self.held(task) and not (self.policy == "WQR" and task in self.started):
                return task
        if self.policy in ("FCFS", "FCFS-AT", "EXCL-S1"):
            return None
        ranks = []
        for task in unfinished:
            copies = [copy for copy in self.on if copy is not None and copy.task == task]
            if 0 < len(copies) < self.max_copies:
                end = min(copy.expected for copy in copies) if "FCFS" in self.policy else 0
                ranks.append((task not in self.endangered, len(copies), -end, task))
        return min(ranks)[-1] if ranks else None

    # -- slots

    def run(self) -> Made:
        slots = len(self.letters[0])
        for slot in range(slots):
            self.boundary(slot)
            self.work(slot)
            if len(self.completed) == self.n:
                break
        for q in range(len(self.g)):
            self.close(q, slots * self.length)
        self.made.completed = len(self.completed)
        self.made.runs.sort(key=lambda run: (run[2], run[0]))
        self.made.saves.sort(key=lambda save: (save[1], save[0]))
        return self.made

    def boundary(self, slot: int) -> None:
        b, every = slot * self.length, range(len(self.g))
        self.endangered.clear()
        for q in every:
            if self.letters[q][slot] == "u" and (slot == 0 or self.letters[q][slot - 1] != "u"):
                self.up_since[q] = b
        for q in every:  # B1
            copy = self.on[q]
            if copy is not None and self.letters[q][slot] == "d":
                if self.is_noticed:
                    self.remove(q, b)
                else:
                    self.close(q, b)
                    copy.state = self.start(copy.task, q)
                    copy.done = -self.fetch(copy.task, q, copy.state)
        for q in every:  # B2
            copy = self.on[q]
            if copy is not None and copy.deadline is not None and copy.deadline <= b:
                self.remove(q, b)
        for q in every if "PRDCT" in self.policy else ():  # B3
            copy = self.on[q]
            if copy is not None and self.letters[q][slot] == "u" and self.warns(q, slot):
                if self.save(copy.task, q, self.reached(copy, q)):
                    self.made.saves.append((q, b))
                self.endangered.add(copy.task)
        idle = [q for q in every if self.letters[q][slot] == "u" and self.on[q] is None]
        for q in sorted(idle, key=lambda q: (max(self.up_since[q], self.freed[q]), q)):  # B4
            self.serve(q, b)

    def work(self, slot: int) -> None:
        now, end = slot * self.length, (slot + 1) * self.length
        up = [q for q in range(len(self.g)) if self.letters[q][slot] == "u"]
        while now < end:
            busy = [(q, copy) for q in up if (copy := self.on[q]) is not None]
            y = min([end, *(now + self.left(copy.state, q) - copy.done for q, copy in busy)])
            for q, copy in busy:  # B5
                copy.since = now if copy.since is None else copy.since
                copy.done += y - now
                if copy.done >= self.first(copy.state, q):
                    self.keep(copy.task, q, (self.reached(copy, q)[0], 0))
                    self.save(copy.task, q, (self.reached(copy, q)[0], 0))
            now, freed = y, []
            for q, copy in busy:  # B6
                if self.on[q] is copy and copy.done == self.left(copy.state, q):
                    self.completed.add(copy.task)
                    for r in self.held(copy.task):
                        self.remove(r, now)
                        freed.append(r)
            if len(self.completed) == self.n:
                self.made.turnaround = now
                return
            if now < end and self.is_immediate:
                for q in sorted(freed):
                    if q in up:
                        self.serve(q, now)
