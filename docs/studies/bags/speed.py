"""Time the runs of all schedulers and the optima of bags: medians and worst cases."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from statistics import median
from typing import Any, TypeAlias

from docs.studies.machine import machine
from hindsched.bench.bags.paper import Paper, starts
from hindsched.instances.bags import Instance, Store
from hindsched.instances.bags.generate import SLOT_S, classroom, segment_ticks
from hindsched.instances.errors import SelfCheckError
from hindsched.offline.bags import solve
from hindsched.offline.results import Status
from hindsched.online.bags import PAPER_POLICIES, POLICIES, make_policy, run_policy

__all__ = ["COLUMNS", "how_many", "large", "measure"]

COLUMNS = ("key", "what", "size", "times", "proven", "median", "worst", "machine")

#: Machines, tasks, reference seconds, checkpoints.
_Bag: TypeAlias = tuple[str, int, int, int]
_BAGS: tuple[_Bag, ...] = tuple(product(("M01", "M04"), (25, 75), (1800, 7200), (0, 1, 9)))
#: Name, store and saves on demand of the optima with a closed form, by theorem.
_CLOSED = {
    "H1": ("optimum, private stores (H1)", Store.PRIVATE, False),
    "H2": ("optimum, private stores, on demand (H2)", Store.PRIVATE, True),
    "H3": ("optimum, shared store, on demand (H3)", Store.SHARED, True),
}


class _Table:
    """Rows of times, in processor time of this process."""

    def __init__(self, step: Callable[[str], object]) -> None:
        self.rows: list[dict[str, Any]] = []
        self.step = step
        self.machine = machine()

    def add(self, key: str, what: str, size: str, times_s: Sequence[float], proven: int | None = None) -> None:
        self.rows.append(
            {
                "key": key,
                "what": what,
                "size": size,
                "times": len(times_s),
                "proven": proven,
                "median": round(1000 * median(times_s), 3),
                "worst": round(1000 * max(times_s), 3),
                "machine": self.machine,
            }
        )

    def timed(self, job: Callable[[], Any], note: str) -> tuple[float, Any]:
        """Return the seconds of a job, without garbage collection, and its result."""
        gc.disable()
        try:
            begun = time.process_time()
            result = job()
            took = time.process_time() - begun
        finally:
            gc.enable()
        self.step(note)
        return took, result


def how_many(number: int, *, is_large: bool = True) -> int:
    """Return the number of runs and optima that `measure` times."""
    both = 2 * number * len(_BAGS)
    of_policies = len(POLICIES) + len(PAPER_POLICIES)
    with_checkpoints = sum(bag[3] > 0 for bag in _BAGS)
    return both * (of_policies + len(_CLOSED)) + 2 * number * with_checkpoints + is_large * (len(POLICIES) + 2)


def measure(
    number: int, *, is_large: bool = True, step: Callable[[str], object] = lambda note: None
) -> list[dict[str, Any]]:
    """Time all schedulers and optima, and return rows with the names of `COLUMNS` and times in milliseconds.

    Parameters
    ----------
    number
        Weekday starts of each of the paper's 24 bags, and weekend starts.
    is_large
        Whether to time a bag of 10,000 tasks on 1,000 machines too.
    step
        Called with a note after every run and optimum.

    Notes
    -----
    Times are processor times of one process without garbage collection. A run includes its schedule; an optimum
    includes its schedule and the checker's replay. Loading and compilation are not included.
    """
    table = _Table(step)
    _warm_up()
    _schedulers(table, number)
    _optima(table, number)
    if is_large:
        _large(table)
    return table.rows


def _instances(number: int, store: Store, bags: Sequence[_Bag]) -> list[Instance]:
    at = [start for when in ("weekday", "weekend") for start in starts(when, number)]
    made = [Paper(*bag, str(store), start).load() for bag, start in product(bags, at)]
    for instance in made:
        assert instance.fingerprint  # computed once here, not in the timed runs
    return made


def _warm_up() -> None:
    for checkpoints, store in product((0, 1, 9), Store):
        one = Paper("M04", 25, 1800, checkpoints, str(store), 240).load()
        for policy in POLICIES if one.is_shared else PAPER_POLICIES:
            run_policy(one, policy)
        for on_demand in (False, True):
            solve(one, on_demand=on_demand)
    solve(Paper("M04", 25, 1800, 9, "shared", 2220).load(), on_demand=False)  # a case that needs annealing


def _schedulers(table: _Table, number: int) -> None:
    times: dict[str, list[float]] = {policy: [] for policy in POLICIES}
    made = {policy: make_policy(policy) for policy in POLICIES}
    for store in Store:
        for instance in _instances(number, store, _BAGS):
            for policy in POLICIES if instance.is_shared else PAPER_POLICIES:
                took, _ = table.timed(partial(run_policy, instance, made[policy]), policy)
                times[policy].append(took)
    for policy in POLICIES:
        table.add(f"run-{policy}", f"a run of {policy}", "the paper's", times[policy])
    table.add("run", "a run of any scheduler", "the paper's", [took for mine in times.values() for took in mine])


def _optima(table: _Table, number: int) -> None:
    for key, (what, store, on_demand) in _CLOSED.items():
        instances = [one.replace(on_demand=on_demand) for one in _instances(number, store, _BAGS)]
        _solved(table, key, what, "the paper's", instances)
    for checkpoints, machines, tasks in product((1, 9), ("M01", "M04"), (25, 75)):
        bags = [bag for bag in _BAGS if (bag[0], bag[1], bag[3]) == (machines, tasks, checkpoints)]
        instances = [one.replace(on_demand=False) for one in _instances(number, Store.SHARED, bags)]
        what = f"optimum, shared store, k = {checkpoints + 1}" + (" (H6)" if checkpoints == 1 else "")
        _solved(table, f"k{checkpoints + 1}-{machines}-{tasks}", what, f"{machines}, {tasks} tasks", instances)


def _solved(table: _Table, key: str, what: str, size: str, instances: Sequence[Instance]) -> None:
    times, proven = [], 0
    for instance in instances:
        took, result = table.timed(partial(solve, instance, time_limit_s=60.0), what)
        times.append(took)
        proven += result.status is Status.OPTIMAL
    table.add(key, what, size, times, proven)


def large() -> Instance:
    """Return 10,000 tasks of ten segments on 1,000 machines of four types, from a Monday at 8:00."""
    slots = 7 * 24 * 3600 // SLOT_S
    first = 8 * 3600 // SLOT_S
    return Instance(
        tasks=10_000,
        segments=10,
        slot=SLOT_S * 1000,
        ticks=[segment_ticks(kind, reference_s=1800, segments=10) for kind in "ABCD" for _ in range(250)],
        states=classroom(0, machines=1000, slots=slots)[:, first:],
        on_demand=True,
        clock_s=first * SLOT_S,
    )


def _large(table: _Table) -> None:
    size = "1,000 machines, 10,000 tasks, k = 10"
    instance = large()
    assert instance.fingerprint
    values = {}
    for policy in POLICIES:
        took, run = table.timed(partial(run_policy, instance, policy), policy)
        values[policy] = run.turnaround
        table.add(f"large-{policy}", f"a run of {policy}", size, [took])
    for key, what, on_demand in (("shared", "optimum, shared store", False), ("demand", "… on demand", True)):
        took, result = table.timed(partial(solve, instance, on_demand=on_demand, time_limit_s=60.0), what)
        if not on_demand and any(value is not None and value < result.lower for value in values.values()):
            raise SelfCheckError(f"a run of the large bag beats its bound: {values}, {result.lower}")
        table.add(f"large-{key}", what, size, [took], int(result.status is Status.OPTIMAL))
