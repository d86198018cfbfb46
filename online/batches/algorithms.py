"""The paper's masters: Algorithms 1, 2 and 3 (docs/batches/model.md section 3), written to be read.

They keep their own log of contacts, and know of availability only what a worker's contact shows.
`hindsched.online.batches.kernels.algorithm_kernels` is the compiled twin.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import TypeAlias

from hindsched.instances.batches.model import Instance
from hindsched.instances.errors import InputError
from hindsched.online.batches.options import Options
from hindsched.online.batches.periods import period, requests_for
from hindsched.online.batches.visible import Answer, Problem, Visible

__all__ = ["Copying", "OneBurst", "Periodic", "Predicting", "Predictor", "expect_margins", "history", "speed"]

_DAY, _WEEK = 86_400, 604_800


def expect_margins(name: str, problem: Problem | Instance) -> None:
    """Raise an `InputError` for a batch without time for an algorithm to send its tasks."""
    least = 0 if name == "A1" else 1
    for i in range(len(problem.batches)):
        if problem.margin(i) < least:
            raise InputError(
                f"the deadline leaves no time after the mean computing time, expected a later one for {name}",
                place=f"batches[{i}]",
            )


class _Master:
    """The common part of the three: the present batch, the period and the log of contacts."""

    def __init__(self, name: str, options: Options) -> None:
        self.name = name
        self.options = options.settled(name[:2])
        self.is_shifting = name.endswith("-shift")

    def begin(self, problem: Problem) -> None:
        """Reset for a new run."""
        expect_margins(self.name, problem)
        self.problem = problem
        self.requests = requests_for(problem.tasks, self.options.k, self.options.copies_lambda)
        self.batch = 0
        self.times: list[int] = []  # of all contacts
        self.last: dict[int, int] = {}  # of each worker
        self.periods: list[tuple[int, int]] = []
        self._set_period(problem.start, self._period_for(problem.active))

    def completed(self, now: int, worker: int, batch: int, task: int) -> None:
        """Handle the end of a copy."""

    def deadline(self, now: int, batch: int) -> None:
        """Handle a deadline: first close the batch, then shift the period."""
        if self.options.overdue == "drop" and self.batch == batch:
            self._next_batch(now)
        if self.is_shifting:
            self._shift(now, batch)

    def _log(self, now: int, worker: int) -> None:
        if self.last.get(worker) != now:
            self.last[worker] = now
            self.times.append(now)

    def _period_for(self, active: int) -> int:
        problem = self.problem
        margin = problem.margin(min(self.batch, len(problem.batches) - 1))
        return period(active, margin, problem.num_workers, self.requests)

    def _set_period(self, now: int, seconds: int) -> None:
        self.period = seconds
        self.periods.append((now, seconds))

    def _next_batch(self, now: int) -> None:
        self.batch += 1
        if not self.is_shifting:
            self._set_period(now, self._period_for(self._active(now)))

    def _active(self, now: int) -> int:
        """Return P_active, the number of workers (or contacts) in (now - 2T, now]."""
        since = now - 2 * self.period
        if self.options.active == "connections":
            return len(self.times) - bisect_right(self.times, since)
        return sum(1 for time in self.last.values() if time > since)

    def _shift(self, now: int, batch: int) -> None:
        tasks = self.problem.tasks
        since, until = self.problem.batches[batch][0], self.problem.last_call(batch)
        came = bisect_right(self.times, until) - bisect_left(self.times, since)
        if came < tasks or 10 * came > 11 * tasks:
            change = self.period * (max(came, 1) - tasks) // (self.options.damping * tasks)
            self._set_period(now, max(1, self.period + change))


class _InOrder(_Master):
    """Send every task once, batch after batch."""

    def begin(self, problem: Problem) -> None:
        """Reset for a new run."""
        super().begin(problem)
        self.unsent = 0

    def _next_batch(self, now: int) -> None:
        super()._next_batch(now)
        self.unsent = 0

    def _send(self, now: int) -> tuple[int, int] | None:
        if self.batch == len(self.problem.batches) or now < self.problem.batches[self.batch][0]:
            return None
        self.unsent += 1
        return self.batch, self.unsent - 1


class OneBurst(_InOrder):
    """Algorithm 1: plan one call for each task, evenly over the time in which tasks can be sent."""

    def begin(self, problem: Problem) -> None:
        """Reset for a new run."""
        super().begin(problem)
        self.planned = 0

    def contact(self, visible: Visible) -> Answer:
        """Send the next task; give the worker the next planned call."""
        task = self._send(visible.now)
        if self.unsent == self.problem.tasks:
            self._next_batch(visible.now)
        return task, self._next_call()

    def _next_batch(self, now: int) -> None:
        self.batch += 1  # the period does not change
        self.unsent = 0

    def _next_call(self) -> int | None:
        problem = self.problem
        i, k = divmod(self.planned, problem.tasks)
        if i == len(problem.batches):
            return None
        self.planned += 1
        submission = problem.batches[i][0]
        if problem.tasks == 1:
            return submission
        return submission - (-k * problem.margin(i) // ((problem.tasks - 1) * problem.num_workers))


class Periodic(_InOrder):
    """Algorithm 2: every worker calls once per period; the period follows the number of active workers."""

    def contact(self, visible: Visible) -> Answer:
        """Send the next task."""
        self._log(visible.now, visible.worker)
        task = self._send(visible.now)
        call = visible.now + self.period
        if self.unsent == self.problem.tasks:
            self._next_batch(visible.now)
        return task, call


#: A function that estimates at a contact the probability that the worker ends a task by a deadline.
Predictor: TypeAlias = Callable[[Visible, int, Options], float]


def speed(visible: Visible, deadline: int, options: Options) -> float:
    """Return Pr^Success by the worker's speed: twice the mean computing time over its own, at most 0.99."""
    if visible.c > deadline - visible.now:
        return 0.0
    mean = visible.problem.sum_c / visible.problem.num_workers
    return min(0.99, 2.0 * mean / visible.c)


def history(visible: Visible, deadline: int, options: Options) -> float:
    """Return Pr^Success by speed; 0 if the worker would have missed most such intervals of past days and weeks."""
    chance = speed(visible, deadline, options)
    if chance == 0.0 or len(visible.up) == 0:
        return chance
    first = int(visible.up[0, 0])
    seen = missed = 0
    for unit in (_DAY, _WEEK):
        for x in range(1, options.replays + 1):
            since, until = visible.now - x * unit, deadline - x * unit
            if since >= first and until <= visible.now:
                seen += 1
                missed += visible.available(since, until) < visible.c
    return 0.0 if 2 * missed > seen else chance


class Replicating(_Master):
    """Algorithm 3: send tasks repeatedly until one of their copies ends."""

    def begin(self, problem: Problem) -> None:
        """Reset for a new run."""
        super().begin(problem)
        self._reset_batch()

    def completed(self, now: int, worker: int, batch: int, task: int) -> None:
        """Handle the end of a copy; the last task of the present batch closes the batch."""
        if self.options.report == "at_contact":
            self._log(now, worker)  # the contact counts before the master chooses
        if batch == self.batch:
            self.unfinished.discard(task)
            if not self.unfinished:
                self._next_batch(now)

    def contact(self, visible: Visible) -> Answer:
        """Send the unfinished task with the greatest need, if the worker is suitable."""
        self._log(visible.now, visible.worker)
        task = None
        if self.batch < len(self.problem.batches) and visible.now >= self.problem.batches[self.batch][0]:
            task = self._choose(visible)
        return None if task is None else (self.batch, task), visible.now + self.period

    def _next_batch(self, now: int) -> None:
        super()._next_batch(now)
        self._reset_batch()

    def _reset_batch(self) -> None:
        self.unfinished = set(range(self.problem.tasks))

    def _choose(self, visible: Visible) -> int | None:
        raise NotImplementedError


class Copying(Replicating):
    """Algorithm 3 without information on workers: every task is sent equally often."""

    def _reset_batch(self) -> None:
        super()._reset_batch()
        self.sent = [0] * self.problem.tasks  # n_k

    def _choose(self, visible: Visible) -> int | None:
        task = min(self.unfinished, key=lambda k: (self.sent[k], k))
        if self.sent[task] >= self.options.copies:
            return None
        self.sent[task] += 1
        return task


class Predicting(Replicating):
    """Algorithm 3 with a predictor: the task least likely to end goes to a worker that is likely to end it in time."""

    def __init__(self, name: str, options: Options, predictor: Predictor) -> None:
        super().__init__(name, options)
        self.predictor = predictor

    def _reset_batch(self) -> None:
        super()._reset_batch()
        self.open = [1.0] * self.problem.tasks  # p_k: the probability that no copy ends

    def _choose(self, visible: Visible) -> int | None:
        chance = self.predictor(visible, self.problem.batches[self.batch][1], self.options)
        if chance <= 0:
            return None
        task = min(self.unfinished, key=lambda k: (-self.open[k], k))
        self.open[task] *= 1 - chance
        return task
