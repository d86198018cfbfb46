"""Exhaustive search over all schedules of tiny instances: every choice in every second, for all batches at once.

It implements rules V1-V6 and the rungs directly and uses no theorem.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import product

from hindsched.instances.batches import Compute, Instance, Run, Rung
from hindsched.instances.errors import InputError

__all__ = ["best_satisfied", "least_latency"]

_MOST_STATES = 200_000  # largest number of visited states


def best_satisfied(instance: Instance, rung: Rung, of: Run | None = None, *, whole_batches: bool = False) -> int:
    """Return the largest number of satisfied tasks, or batches.

    Parameters
    ----------
    instance
        Tiny.
    rung
        The rung.
    of
        The run that defines the rung.
    whole_batches
        Whether batches count instead of tasks.

    Raises
    ------
    InputError
        If there are too many states.
    """
    choices = _Choices(instance, rung, of)
    tasks = instance.tasks

    def worth(done: tuple[int, ...]) -> int:
        return sum(count == tasks for count in done) if whole_batches else sum(done)

    @cache
    def best(now: int, busy: tuple[int, ...], done: tuple[int, ...]) -> int:
        choices.count()
        if now == instance.end:
            return worth(done)
        most = 0
        for choice in choices.in_second(now):
            queue, counts = list(busy), list(done)
            for j, batch in choice:
                queue[j] = choices.finish(j, max(now, queue[j]))
                if queue[j] <= instance.batches[batch][1] and counts[batch] < tasks:
                    counts[batch] += 1
            most = max(most, best(now + 1, tuple(max(end, now + 1) for end in queue), tuple(counts)))
        return most

    return best(instance.start, (instance.start,) * instance.num_workers, (0,) * instance.num_batches)


def least_latency(instance: Instance, rung: Rung, batch: int, of: Run | None = None) -> int | None:
    """Return the least latency of one batch alone; None if its tasks cannot all end by the end of the run.

    Parameters
    ----------
    instance
        Tiny.
    rung
        The rung.
    batch
        Index of the batch.
    of
        The run that defines the rung.

    Raises
    ------
    InputError
        As in `best_satisfied`.
    """
    choices = _Choices(instance, rung, of)
    submission = instance.batches[batch][0]
    never = instance.end + 1

    @cache
    def best(now: int, busy: tuple[int, ...], sent: int) -> int:
        """Return the last end of the tasks still to be sent."""
        choices.count()
        if sent == instance.tasks:
            return 0
        if now == instance.end:
            return never
        least = never
        for choice in choices.in_second(now, only=batch):
            queue, last = list(busy), 0
            for j, _ in choice[: instance.tasks - sent]:
                queue[j] = choices.finish(j, max(now, queue[j]))
                last = max(last, queue[j])
            rest = best(now + 1, tuple(max(end, now + 1) for end in queue), min(instance.tasks, sent + len(choice)))
            least = min(least, max(last, rest))
        return least

    end = best(submission, (submission,) * instance.num_workers, 0)
    return end - submission if end < never else None


class _Choices:
    """The choices in a second, and the ends of tasks."""

    def __init__(self, instance: Instance, rung: Rung, of: Run | None) -> None:
        if rung is not Rung.FREE and of is None:
            raise InputError(f'"{rung}", expected the run that defines it as well', place="rung")
        self.instance = instance
        self.rung = rung
        times = [] if of is None else of.contacts.time.tolist()
        self.traffic = Counter(times)
        self.stream = set() if of is None else set(zip(times, of.contacts.worker.tolist(), strict=True))
        up = instance.window(0, instance.end)
        self.up = [
            {second for a, b in up.of_worker(j).tolist() for second in range(a, b)} for j in range(instance.num_workers)
        ]
        self.states = 0

    def count(self) -> None:
        self.states += 1
        if self.states > _MOST_STATES:
            raise InputError(f"more than {_MOST_STATES} states, too many for exhaustive search", place="solver")

    def finish(self, j: int, begin: int) -> int:
        """Return the end of a task; E + 1 if it is after the run."""
        left = self.instance.c[j]
        now = begin
        while left and now <= self.instance.end:
            left -= self.instance.compute is Compute.RELIABLE or now in self.up[j]
            now += 1
        return min(now, self.instance.end + 1) if not left else self.instance.end + 1

    def in_second(self, now: int, only: int | None = None) -> list[list[tuple[int, int]]]:
        """Return all ways to send tasks in a second, as lists of (worker, batch)."""
        submitted = [i for i, (submission, _) in enumerate(self.instance.batches) if submission <= now]
        offers: list[list[int | None]] = []
        for j in range(self.instance.num_workers):
            may_call = now in self.up[j] and (self.rung is not Rung.STREAM or (now, j) in self.stream)
            batches = submitted if only is None else [only]
            offers.append([None, *batches] if may_call else [None])
        most = self.traffic[now] if self.rung is Rung.TRAFFIC else self.instance.num_workers
        found = ([(j, i) for j, i in enumerate(choice) if i is not None] for choice in product(*offers))
        return [choice for choice in found if len(choice) <= most]
