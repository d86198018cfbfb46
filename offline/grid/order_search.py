"""Good schedules: queue rules, conservative backfilling, and a local search over orders of serial generation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hindsched.instances.grid import Instance
from hindsched.instances.grid.model import Ints
from hindsched.offline.grid.delayed_queue import queued, rules
from hindsched.offline.grid.kernels.serial_generation import generate, improve
from hindsched.offline.limits import Stopwatch

__all__ = ["OrderParameters", "best_of_rules", "improved", "in_order", "total_wait"]


@dataclass(frozen=True, slots=True)
class OrderParameters:
    """Parameters of the iterated local search; work is counted in placements of a job.

    Parameters
    ----------
    most_work
        Work without a time limit.
    work_per_job
        Work for each job without a time limit; the smaller amount counts.
    timed_factor
        With a time limit, the largest work is multiplied by this.
    rounds
        Largest number of moves after each kick.
    chunk
        Approximate work after each kick, which makes the moves of many jobs fewer.
    segment
        Number of jobs that move at once; more jobs are searched in segments of their order, which overlap by half.
    kicks
        Kicks of each segment.
    most_kicked
        Largest number of jobs that a kick moves.
    threshold
        Initial threshold after a kick, as a fraction of the total wait.
    first_threshold
        The same before the first kick.
    """

    most_work: int = 300_000_000
    work_per_job: int = 60_000
    timed_factor: int = 10
    rounds: int = 500
    chunk: int = 200_000
    segment: int = 300
    kicks: int = 8
    most_kicked: int = 3
    threshold: float = 0.003
    first_threshold: float = 0.03


_PARAMETERS = OrderParameters()


def total_wait(instance: Instance, starts: Ints) -> int:
    """Return the total wait of these starts, in slots."""
    return int(starts.sum() - instance.submit.sum())


def in_order(instance: Instance, order: Ints) -> Ints:
    """Return the starts of serial generation: each job, in this order, at the least start at which it fits."""
    starts = np.zeros(len(instance), dtype=np.int64)
    at, busy = np.zeros((2, 2 * len(instance) + 2), dtype=np.int64)
    if len(instance):
        generate(instance.submit, instance.width, instance.length, instance.nodes, order, starts, at, busy, 2**62)
    return starts


def best_of_rules(instance: Instance) -> Ints:
    """Return the best starts of the rules: conservative backfilling, and queues by length, area, width and index.

    Serial generation in the order of the starts of a queue delays no job.
    """
    candidates = [in_order(instance, np.arange(len(instance)))]
    if total_wait(instance, candidates[0]):
        waiting = (queued(instance, rank) for rank in rules(instance))
        candidates += [in_order(instance, np.argsort(starts, kind="stable")) for starts in waiting]
    return min(candidates, key=lambda starts: total_wait(instance, starts))


def improved(instance: Instance, starts: Ints, seed: int, watch: Stopwatch, until_s: float | None) -> tuple[Ints, int]:
    """Return starts at least as good, by a local search over orders of serial generation, and the number of moves.

    Parameters
    ----------
    instance
        At least two jobs.
    starts
        Initial starts.
    seed
        Seed of the moves.
    watch, until_s
        When to stop; None: after a fixed amount of work, so that the result depends on the seed only.

    Notes
    -----
    An iterated local search. A *kick* moves up to three jobs, mostly large ones, to other places of the order. Random
    moves then improve the order (`kernels.serial_generation.improve`), which is kept unless it is worse. A round costs
    O(n) placements of O(log n + k) each, for k steps of the profile that a job passes. Many jobs are searched in
    segments of the order of their starts, with all other jobs as a fixed background.

    References
    ----------
    H. R. Lourenço, O. C. Martin, T. Stützle, "Iterated local search", Handbook of Metaheuristics (2003).
    """
    random = np.random.default_rng(seed)
    state = np.array([1 + (seed * 48_271 + 12_345) % (2**31 - 2)], dtype=np.int64)
    best = starts.copy()
    count = len(instance)
    size = _PARAMETERS.segment
    is_whole = count <= size + size // 3
    left = min(_PARAMETERS.most_work, _PARAMETERS.work_per_job * count)
    left *= 1 if until_s is None else _PARAMETERS.timed_factor
    first, done = 0, 0

    def is_over() -> bool:
        return left <= 0 or (until_s is not None and watch.elapsed_s() >= until_s) or watch.is_over()

    while not is_over() and total_wait(instance, best):
        order = np.argsort(best, kind="stable")
        free = np.arange(count) if is_whole else np.sort(order[first : first + size])
        if not is_whole:
            first = first + size // 2 if first + size < count else int(random.integers(size // 2))
        before = total_wait(instance, best)
        segment = _Segment(instance, best, free, random, state)
        for kick in range(_PARAMETERS.kicks):
            if is_over() or not segment.wait:
                break
            segment.search(is_first=kick == 0)
            left -= segment.rounds * len(segment.submit)
            done += segment.rounds
        best[free] = segment.starts()
        if total_wait(instance, best) < before:
            best = in_order(instance, np.argsort(best, kind="stable"))  # which delays no job
    return best, done


class _Segment:
    """Jobs that move, and a fixed background of other jobs."""

    def __init__(self, instance: Instance, starts: Ints, free: Ints, random: np.random.Generator, state: Ints) -> None:
        low = int(instance.submit[free].min())
        others = np.ones(len(instance), dtype=bool)
        others[free] = False
        others &= starts + instance.length > low
        begin = np.maximum(starts[others], low)
        # the first job needs no nodes and begins the profile
        self.submit = np.concatenate(([low], begin, instance.submit[free]))
        self.width = np.concatenate(([0], instance.width[others], instance.width[free]))
        self.length = np.concatenate(([1], starts[others] + instance.length[others] - begin, instance.length[free]))
        self.now = np.concatenate(([low], begin, starts[free]))
        self.nodes, self.fixed = instance.nodes, 1 + len(begin)
        self.random, self.state = random, state
        self.rounds = max(20, min(_PARAMETERS.rounds, _PARAMETERS.chunk // len(self.submit)))
        self.scratch = np.zeros((3, len(self.submit)), dtype=np.int64)
        self.profile = np.zeros((2, 2 * len(self.submit) + 2), dtype=np.int64)
        self.area = (self.width * self.length)[self.fixed :].astype(float)

    @property
    def wait(self) -> int:
        """The total wait, in slots."""
        return int(self.now.sum() - self.submit.sum())

    def starts(self) -> Ints:
        """Return the starts of the jobs that move."""
        return self.now[self.fixed :]

    def search(self, *, is_first: bool) -> None:
        """Search after a kick; the first search has no kick."""
        trial = self.now.copy() if is_first else self._kicked()
        share = _PARAMETERS.first_threshold if is_first else _PARAMETERS.threshold
        threshold = share * (trial.sum() - self.submit.sum())
        jobs = self.submit, self.width, self.length, self.nodes
        improve(*jobs, self.fixed, trial, self.rounds, threshold, self.state, *self.scratch, *self.profile)
        if trial.sum() <= self.now.sum():
            self.now = trial

    def _kicked(self) -> Ints:
        """Return the schedule after a kick."""
        random, fixed = self.random, self.fixed
        now, submit = self.now[fixed:], self.submit[fixed:]
        weight = self.area * (1 + (now > submit))
        count = min(len(now), int(random.integers(1, _PARAMETERS.most_kicked + 1)))
        place = now.astype(float)
        last = float((now + self.length[fixed:]).max())
        for j in random.choice(len(now), size=count, replace=False, p=weight / weight.sum()).tolist():
            draw = random.random()
            if draw < 0.5:
                place[j] = random.uniform(submit[j], last)
            elif draw < 0.75:
                place[j] = submit[j] - 0.5
            else:
                place[j] += random.uniform(0, (last - now[j]) / 4)
        order = np.concatenate((np.arange(fixed), fixed + np.argsort(place, kind="stable")))
        starts = np.zeros(len(self.now), dtype=np.int64)
        at, busy = self.profile
        generate(self.submit, self.width, self.length, self.nodes, order, starts, at, busy, 2**62)
        return starts
