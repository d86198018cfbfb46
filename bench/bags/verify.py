"""Tests of the theorems of docs/bags/theory.md on random small instances, by independent methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from hindsched.bench.shared_types import Row
from hindsched.bench.verification import Sample, place_of
from hindsched.instances.bags import Instance, Store, check
from hindsched.instances.bags.generate import small
from hindsched.instances.errors import SelfCheckError
from hindsched.instances.random_streams import stream
from hindsched.instances.states import DOWN, RECLAIMED, UP
from hindsched.offline.bags import solve
from hindsched.offline.bags.brute import optimum
from hindsched.offline.results import Status
from hindsched.online.bags import HANDOVERS, POLICIES, run_policy

__all__ = ["CLAIMS", "dealt", "interval_instance", "splits", "verify"]

#: The tested claims, by name.
CLAIMS: Mapping[str, str] = {
    "brute": "the optimum is that of exhaustive search, for both stores, with and without saves on demand",
    "chains": "without saves on demand it is that of a CP-SAT model of segments",
    "matching": "for two segments it is that of a matching (H6)",
    "order": "on demand <= not on demand; shared <= private <= without checkpoints",
    "dealing": "equal machines, no RECLAIMED slot, at most n UP: assigning nk positions in turn is optimal (H7)",
    "hardness": "an interval graph splits into n independent sets of k iff its machines complete all tasks (H8)",
    "timeouts": "FCFS-AT is FCFS where stores are shared and nothing is RECLAIMED",
    "twins": "both simulators return the same run",
    "ratios": "the checker accepts every run, and no run is better than its optimum",
}


def verify(sample: Sample) -> Mapping[str, int]:
    """Test every claim on random instances.

    Parameters
    ----------
    sample
        The numbers of the instances.

    Returns
    -------
    Mapping
        The number of confirmations of each of `CLAIMS`.

    Raises
    ------
    SelfCheckError
        At the first contradiction, with the claim and the instance.
    """
    done: Counter[str] = Counter(dict.fromkeys(CLAIMS, 0))
    for number in sample.numbers:
        one = _Case(number, sample, done)
        one.optima()
        one.runs()
        one.equal_machines()
        if number % 4 == 0:
            one.interval_graph()
        sample.step(f"instance {number}")
    return dict(done)


class _Case:
    """One random instance, and the counts of confirmations."""

    def __init__(self, number: int, sample: Sample, done: Counter[str]) -> None:
        self.number, self.sample, self.done = number, sample, done
        self.draw = stream("bags", "verify", sample.seed, number)
        segments = int(self.draw.choice([1, 2, 2, 3]))
        self.instance = small(
            int(self.draw.integers(1 << 30)),
            machines=int(self.draw.integers(1, 4)),
            slots=int(self.draw.integers(2, 7)),
            tasks=int(self.draw.integers(1, 4 if segments < 3 else 3)),
            segments=segments,
            slot=int(self.draw.integers(1, 4)),
            ticks=(1, int(self.draw.integers(1, 5))),
            up=float(self.draw.choice([0.6, 0.8])),
            down=float(self.draw.choice([0.1, 0.2])),
        )
        self.values: dict[tuple[Store, bool], int | None] = {}

    def expect(self, claim: str, holds: bool, instance: Instance, found: str) -> None:
        """Count a confirmation, or raise `SelfCheckError` for a contradiction."""
        if not holds:
            folder, seed = self.sample.failures, self.sample.seed
            where = place_of(instance, self.number, seed, folder=folder, name=f"{claim}.json")
            raise SelfCheckError(f"{where}: {CLAIMS[claim]}: contradicted: {found}")
        self.done[claim] += 1

    def optima(self) -> None:
        """Compare all four optima with other solvers and with each other."""
        for store in Store:
            for on_demand in (False, True):
                one = self.instance.replace(store=store, on_demand=on_demand)
                value = _value(one)
                self.values[store, on_demand] = value
                other = optimum(one)
                self.expect("brute", value == other, one, f"{value} and {other}")
                if not on_demand:
                    other = _value(one, "chains")
                    self.expect("chains", value == other, one, f"{value} and {other}")
                    if one.segments == 2 and one.is_shared:
                        other = _value(one, "matching")
                        self.expect("matching", value == other, one, f"{value} and {other}")
        whole = self.instance.replace(segments=1, ticks=[self.instance.segments * g for g in self.instance.ticks])
        least = {key: float("inf") if value is None else value for key, value in self.values.items()}
        last = _value(whole.replace(store=Store.PRIVATE))
        shared, private = Store.SHARED, Store.PRIVATE
        ordered = (
            least[shared, True] <= least[shared, False] <= least[private, False]
            and least[shared, True] <= least[private, True] <= least[private, False]
            and least[private, False] <= (float("inf") if last is None else last)
        )
        self.expect("order", ordered, self.instance, f"{least}, without checkpoints {last}")

    def runs(self) -> None:
        """Run every applicable policy in both simulators."""
        handover = HANDOVERS[self.number % 2]
        for store in Store:
            one = self.instance.replace(store=store, on_demand=True)
            found = {}
            for policy in POLICIES:
                if store is Store.PRIVATE and policy in ("LEVEL", "PACE"):
                    continue
                predictor = ("oracle", "noisy:600,100,5", "always")[self.number % 3]
                options: Row = {
                    "handover": handover,
                    "predictor": predictor,
                    "max_copies": 1 + self.number % 3,
                }
                plain, quick = (run_policy(one, policy, engine=engine, **options) for engine in ("plain", "kernel"))
                self.expect("twins", plain == quick, one, f"{policy}: {plain.turnaround} and {quick.turnaround}")
                found[policy] = plain
                assert plain.schedule is not None
                verdict = check(one, plain.schedule)
                best = self.values[store, policy == "FCFS-PRDCT-DMD"]
                is_sound = verdict.is_valid and verdict.outcome.turnaround == plain.turnaround
                beats = plain.turnaround is not None and (best is None or plain.turnaround < best)
                self.expect("ratios", is_sound and not beats, one, f"{policy}: {verdict}, the optimum is {best}")
            if one.is_shared and not (one.states == RECLAIMED).any():
                same = found["FCFS"].schedule == found["FCFS-AT"].schedule
                self.expect("timeouts", same, one, "the schedules differ")

    def equal_machines(self) -> None:
        """Deal positions in turn, and compare with the optimum."""
        one = self.instance
        states = np.where(one.states == UP, UP, DOWN).astype(np.uint8)
        tasks = max(one.tasks, int((states == UP).sum(axis=0).max()))
        equal = one.replace(states=states, ticks=[one.ticks[0]] * one.num_machines, tasks=tasks)
        value, other = _value(equal), dealt(equal)
        self.expect("dealing", value == other, equal, f"{value} and {other}")

    def interval_graph(self) -> None:
        """Ask whether an interval graph splits, and whether its machines complete all tasks."""
        segments, tasks = int(self.draw.integers(3, 5)), int(self.draw.integers(1, 4))
        intervals = []
        for _ in range(segments * tasks):
            a = int(self.draw.integers(0, 3 * segments))
            intervals.append((a, a + int(self.draw.integers(1, 4))))
        one = interval_instance(intervals, tasks)
        answer = solve(one)
        feasible = answer.status is not Status.INFEASIBLE
        detail = f"{answer.status} for {intervals}"
        self.expect("hardness", feasible == splits(intervals, tasks, segments), one, detail)


def _value(instance: Instance, solver: str = "auto") -> int | None:
    answer = solve(instance, solver=solver)
    if answer.status not in (Status.OPTIMAL, Status.INFEASIBLE):
        raise SelfCheckError(f"{solver} answers {answer.status} on an instance as small as {instance}")
    return None if answer.value is None else int(answer.value)


def dealt(instance: Instance) -> int | None:
    """Return when the n k first segments of equal machines end that run whenever they can; None if there are too few.

    The positions are counted here tick by tick and are not assigned: H7 says that their number is enough.
    """
    g, ends = instance.ticks[0], []
    for row in instance.states:
        done = 0
        for instant, state in enumerate(np.repeat(row, instance.slot).tolist(), start=1):
            done = done + 1 if state == UP else 0 if state == DOWN else done
            if state == UP and done % g == 0:
                ends.append(instant)
    needed = instance.tasks * instance.segments
    return sorted(ends)[needed - 1] if len(ends) >= needed else None


def interval_instance(intervals: Sequence[tuple[int, int]], tasks: int) -> Instance:
    """Return the machines of an interval graph (H8): each UP in its interval only, just long enough for one segment."""
    slots = max(b for _, b in intervals)
    states = np.full((len(intervals), slots), DOWN, dtype=np.uint8)
    for row, (a, b) in zip(states, intervals, strict=True):
        row[a:b] = UP
    return Instance(
        tasks=tasks,
        segments=len(intervals) // tasks,
        slot=1,
        ticks=[b - a for a, b in intervals],
        states=states,
    )


def splits(intervals: Sequence[tuple[int, int]], sets: int, size: int) -> bool:
    """Return whether intervals split into this many sets of this size without overlaps, by trying.

    Examples
    --------
    >>> splits([(0, 1), (1, 2), (0, 2), (2, 3)], 2, 2), splits([(0, 2), (1, 3)], 1, 2)
    (True, False)
    """
    ordered = sorted(intervals)
    seen: set[tuple[tuple[int, int], ...]] = set()

    def place(i: int, heaps: tuple[tuple[int, int], ...]) -> bool:
        """Place interval i and the rest; a heap is identified by its last end and its size."""
        if i == len(ordered):
            return True
        key = (*sorted(heaps), (-1, i))
        if key in seen:
            return False
        seen.add(key)
        a, b = ordered[i]
        for j, (end, held) in enumerate(heaps):
            is_new = heaps[j] not in heaps[:j]
            if is_new and held < size and end <= a and place(i + 1, (*heaps[:j], (b, held + 1), *heaps[j + 1 :])):
                return True
        return False

    return place(0, ((0, 0),) * sets)
