"""The plain simulator: rules V1 to V6 of docs/batches/model.md section 2, event by event.

At an instant with events, V2 (ends), V3 (deadlines) and V5 (contacts) apply in this order, workers by index. The module
is written to be read; `hindsched.online.batches.kernels` has its compiled twin.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from hindsched.instances.batches.model import Compute, Instance
from hindsched.instances.batches.run import NOTHING, Contacts
from hindsched.instances.errors import InputError
from hindsched.online.batches.options import Options
from hindsched.online.batches.outcome import Simulation, simulation
from hindsched.online.batches.periods import period, requests_for
from hindsched.online.batches.visible import Policy, Problem, Visible, active_before
from hindsched.online.user_code import call_user_code

__all__ = ["SPREAD", "WORD", "first_call", "name_of", "simulate"]

#: With first contacts ``spread``, worker j calls after the fractional part of j SPREAD / WORD of a period.
SPREAD, WORD = 2_654_435_761, 2**32


def name_of(policy: Policy) -> str:
    """Return the name of a policy in reports: its ``name``, or its class."""
    name = getattr(policy, "name", None)
    return name if isinstance(name, str) else type(policy).__name__


def first_call(instance: Instance, options: Options, active: int, worker: int) -> int:
    """Return the second from which a worker makes its first contact (V5)."""
    if options.first == "start":
        return instance.start
    requests = requests_for(instance.tasks, options.k, options.copies_lambda)
    seconds = period(active, instance.margin(0), instance.num_workers, requests)
    return instance.start + (SPREAD * worker % WORD) * seconds // WORD


def simulate(instance: Instance, policy: Policy, options: Options | None = None) -> Simulation:
    """Run a master on an instance.

    Parameters
    ----------
    instance
        The instance; its availability is revealed to the policy contact by contact.
    policy
        The master.
    options
        Options of the rules; a policy's constructor receives its own.

    Raises
    ------
    InputError
        Naming policy, worker and second, for an illegal answer.

    Notes
    -----
    A contact costs about 20 us and the policy's own time.
    """
    return _Simulator(instance, policy, options or Options()).run()


class _Simulator:
    """The state of a run."""

    def __init__(self, instance: Instance, policy: Policy, options: Options) -> None:
        self.instance = instance
        self.policy = policy
        self.options = replace(options)  # the policy may hold and change the original
        self.active = active_before(instance) if isinstance(options.p0, str) else options.p0
        self.problem = Problem.of(instance, self.active)
        up = instance.window(0, instance.end)
        self.workers = [_Worker(up.of_worker(j), c, instance.compute) for j, c in enumerate(instance.c)]
        self.calls: list[tuple[int, int]] = []  # (time, worker), a heap
        self.ends: list[tuple[int, int, int, int]] = []  # (time, worker, batch, task), a heap
        self.unreported: dict[int, list[tuple[int, int, int]]] = {}  # of each worker: (end, batch, task) by end
        self.last_contacts: dict[int, int] = {}
        self.rows: list[tuple[int, int, int, int, int]] = []

    def run(self) -> Simulation:
        self._notify("begin", self.instance.start, self.problem)
        for j in range(self.instance.num_workers):
            self._call(j, first_call(self.instance, self.options, self.active, j))
        deadlines = [deadline for _, deadline in self.instance.batches]
        for batch, deadline in enumerate(deadlines):
            self._until(deadline)
            self._ends_at(deadline)
            self._notify("deadline", deadline, deadline, batch)
        table = np.array(self.rows, dtype=np.int64).reshape(-1, 5)
        contacts = Contacts(*table.T)
        return simulation(self.instance, name_of(self.policy), contacts, self._periods())

    def _until(self, deadline: int) -> None:
        """Simulate up to a deadline: at each instant first the ends, then the contacts."""
        while (now := self._next_instant()) < deadline:
            self._ends_at(now)
            for worker in self._calls_at(now):
                self._contact(now, worker)

    def _next_instant(self) -> int:
        return min((heap[0][0] for heap in (self.ends, self.calls) if heap), default=self.instance.end)

    def _ends_at(self, now: int) -> None:
        """V2: handle ends by worker index; with the option ``at_contact`` the master is notified later."""
        while self.ends and self.ends[0][0] <= now:
            end, worker, batch, task = heapq.heappop(self.ends)
            if self.options.report == "at_contact":
                self.unreported.setdefault(worker, []).append((end, batch, task))
            else:
                self._notify("completed", now, now, worker, batch, task)

    def _calls_at(self, now: int) -> Iterator[int]:
        while self.calls and self.calls[0][0] == now:
            yield heapq.heappop(self.calls)[1]

    def _contact(self, now: int, j: int) -> None:
        """V5 and V6: report ends, get the answer, compute, and schedule the next call."""
        for _, batch, task in self.unreported.pop(j, ()):
            self._notify("completed", now, now, j, batch, task)
        worker = self.workers[j]
        visible = Visible(self.problem, now, j, worker.c, worker.past(now), MappingProxyType(self.last_contacts))
        chosen, call = self._answer(visible, now, j)
        self.last_contacts[j] = now
        if chosen is None:
            self.rows.append((now, j, NOTHING, NOTHING, NOTHING))
        else:
            end = worker.compute(now)
            in_time = end is not None and end <= self.instance.end
            self.rows.append((now, j, *chosen, end if end is not None and in_time else NOTHING))
            if end is not None and in_time:
                heapq.heappush(self.ends, (end, j, *chosen))
        if call is not None:
            if self.options.busy == "wait":
                call = None if worker.busy_until is None else max(call, worker.busy_until)
            if call is not None:
                self._call(j, max(call, now + 1))

    def _call(self, j: int, earliest: int) -> None:
        """Schedule a worker's next contact: its first available second from ``earliest`` on."""
        time = self.workers[j].next_available(earliest)
        if time is not None and time < self.instance.end:
            heapq.heappush(self.calls, (time, j))

    def _notify(self, method: str, now: int, *news: Any) -> None:
        listener = getattr(self.policy, method, None)
        if listener is not None:
            call_user_code(listener, *news, place=f"policy {name_of(self.policy)}, second {now}")

    def _periods(self) -> tuple[tuple[int, int], ...]:
        """Return the optional attribute ``periods`` of the policy."""
        periods: Any = getattr(self.policy, "periods", ())
        pairs = list(periods) if isinstance(periods, list | tuple) else [periods]
        for pair in pairs:
            if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(map(_is_integer, pair)):
                place = f"policy {name_of(self.policy)}, periods"
                raise InputError(f"{pair!r}, expected pairs of a second and a period", place=place)
        return tuple((int(now), int(seconds)) for now, seconds in pairs)

    def _answer(self, visible: Visible, now: int, worker: int) -> tuple[tuple[int, int] | None, int | None]:
        """Return the policy's answer; an `InputError` if rules or protocol forbid it.

        The policy may have changed ``visible``; it is not read afterwards.
        """
        place = f"policy {name_of(self.policy)}, worker {worker} in second {now}"
        answer: Any = call_user_code(self.policy.contact, visible, place=place)
        pair = list(tuple.__iter__(answer)) if isinstance(answer, tuple) else []
        if len(pair) != 2:
            raise InputError(f"{answer!r}, expected a pair of a task (or None) and a second (or None)", place=place)
        task, call = pair
        if call is not None and not _is_integer(call):
            raise InputError(f"{call!r}, expected an integer, the second to call again, or None", place=place)
        if task is None:
            return None, None if call is None else int(call)
        numbers = list(tuple.__iter__(task)) if isinstance(task, tuple) else []
        if len(numbers) != 2 or not all(map(_is_integer, numbers)):
            raise InputError(f"{task!r}, expected a pair (batch, task) of integers, or None", place=place)
        batch, k = (int(number) for number in numbers)
        if not (0 <= batch < self.instance.num_batches and 0 <= k < self.instance.tasks):
            raise InputError(f"{task!r}, expected a batch and a task that exist", place=place)
        if now < self.instance.batches[batch][0]:
            raise InputError(f"{task!r}, expected a batch that is submitted (V4)", place=place)
        return (batch, k), None if call is None else int(call)


class _Worker:
    """One worker's availability and queue."""

    def __init__(self, ups: npt.NDArray[Any], c: int, compute: Compute) -> None:
        self.ups = ups
        self.starts: list[int] = ups[:, 0].tolist()
        self.stops: list[int] = ups[:, 1].tolist()
        self.c = c
        self.is_reliable = compute is Compute.RELIABLE
        #: End of its last task; None: never.
        self.busy_until: int | None = 0

    def next_available(self, earliest: int) -> int | None:
        """Return its first available second from ``earliest`` on (V1); None if there is none."""
        place = bisect_right(self.stops, earliest)
        return max(earliest, self.starts[place]) if place < len(self.starts) else None

    def compute(self, now: int) -> int | None:
        """Append a task to the queue and return its end (V2); None: never."""
        if self.busy_until is not None:
            self.busy_until = self._end(max(now, self.busy_until))
        return self.busy_until

    def _end(self, begin: int) -> int | None:
        if self.is_reliable:
            return begin + self.c
        left = self.c
        for place in range(bisect_right(self.stops, begin), len(self.stops)):
            begin = max(begin, self.starts[place])
            if self.stops[place] - begin >= left:
                return begin + left
            left -= self.stops[place] - begin
        return None

    def past(self, now: int) -> npt.NDArray[Any]:
        """Return a copy of its intervals before ``now``."""
        past = self.ups[: bisect_right(self.starts, now - 1)].copy()
        np.minimum(past, now, out=past)
        past.setflags(write=False)
        return past


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
