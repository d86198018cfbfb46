"""Good schedules: queue rules, conservative backfilling, and a local search over orders of serial generation."""

from __future__ import annotations

import numpy as np

from hindsched.instances.grid import Instance
from hindsched.instances.grid.model import Ints
from hindsched.offline.grid.delayed_queue import queued, rules
from hindsched.offline.grid.kernels.serial_generation import generate, improve
from hindsched.offline.limits import Stopwatch

__all__ = ["best_of_rules", "improved", "in_order", "total_wait"]

#: Work of the local search where no time limit is set, in placements of a job: at most, and for each job.
_WORK, _WORK_PER_JOB = 300_000_000, 60_000
#: So many times the work is done at most where one is set.
_MORE = 10
#: Rounds after each kick, and fewer where placements are many.
_ROUNDS, _CHUNK = 500, 200_000
#: More jobs are searched stretch by stretch, so many at once, with so many kicks each; stretches overlap by half.
_STRETCH, _KICKS = 300, 8
#: Most jobs that a kick takes elsewhere.
_KICKED = 3
#: The threshold of the search after a kick, and of the first one, as a share of the wait.
_THRESHOLD, _FIRST_THRESHOLD = 0.003, 0.03


def total_wait(instance: Instance, starts: Ints) -> int:
    """Return the slots waited with these starts."""
    return int(starts.sum() - instance.submit.sum())


def in_order(instance: Instance, order: Ints) -> Ints:
    """Return the starts of serial generation: each job, in this order, at the least start at which it fits."""
    starts = np.zeros(len(instance), dtype=np.int64)
    at, busy = np.zeros((2, 2 * len(instance) + 2), dtype=np.int64)
    if len(instance):
        generate(instance.submit, instance.width, instance.length, instance.nodes, order, starts, at, busy, 2**62)
    return starts


def best_of_rules(instance: Instance) -> Ints:
    """Return the best starts of the rules: conservative backfilling, and queues by length, area, width and file.

    Each queue's schedule is generated anew in its order of start, which no job can lose by.
    """
    everybody = np.arange(len(instance))
    candidates = [in_order(instance, everybody)]
    if total_wait(instance, candidates[0]):
        waiting = (queued(instance, rank) for rank in rules(instance))
        candidates += [in_order(instance, np.argsort(starts, kind="stable")) for starts in waiting]
    return min(candidates, key=lambda starts: total_wait(instance, starts))


def improved(instance: Instance, starts: Ints, seed: int, watch: Stopwatch, until_s: float | None) -> tuple[Ints, int]:
    """Return starts at least as good, by a local search over orders of generation, and the number of its rounds.

    Parameters
    ----------
    instance
        At least two jobs.
    starts
        Where to begin.
    seed
        Of the moves.
    watch, until_s
        When to stop; None: after a fixed amount of work, so that the answer depends on nothing else.

    Notes
    -----
    An iterated local search: a *kick* takes up to three jobs, large ones rather than small ones, to another place of
    the order, then random moves make the best of it (`kernels.serial_generation.improve`), and the new order is
    kept unless it is worse. So a long job moves as a whole, and many others pass. A round costs O(n) placements of
    O(log n + k) each for k steps of the profile that a job passes. Many jobs are searched stretch by stretch of their
    starts, with all others as a background that stays.

    References
    ----------
    H. R. Lourenço, O. C. Martin, T. Stützle, "Iterated local search", Handbook of Metaheuristics (2003).
    """
    random = np.random.default_rng(seed)
    state = np.array([1 + (seed * 48_271 + 12_345) % (2**31 - 2)], dtype=np.int64)
    best = starts.copy()
    count = len(instance)
    whole = count <= _STRETCH + _STRETCH // 3
    left = min(_WORK, _WORK_PER_JOB * count) * (1 if until_s is None else _MORE)
    first, done = 0, 0

    def is_over() -> bool:
        return left <= 0 or (until_s is not None and watch.elapsed_s() >= until_s) or watch.is_over()

    while not is_over() and total_wait(instance, best):
        order = np.argsort(best, kind="stable")
        free = np.arange(count) if whole else np.sort(order[first : first + _STRETCH])
        if not whole:
            first = first + _STRETCH // 2 if first + _STRETCH < count else int(random.integers(_STRETCH // 2))
        before = total_wait(instance, best)
        stretch = _Stretch(instance, best, free, random, state)
        for kick in range(_KICKS):
            if is_over() or not stretch.wait:
                break
            stretch.search(is_first=kick == 0)
            left -= stretch.rounds * len(stretch.submit)
            done += stretch.rounds
        best[free] = stretch.starts()
        if total_wait(instance, best) < before:
            best = in_order(instance, np.argsort(best, kind="stable"))  # nobody starts later than before
    return best, done


class _Stretch:
    """Some jobs that move, and a background of others that stay where they are."""

    def __init__(self, instance: Instance, starts: Ints, free: Ints, random: np.random.Generator, state: Ints) -> None:
        low = int(instance.submit[free].min())
        others = np.ones(len(instance), dtype=bool)
        others[free] = False
        others &= starts + instance.length > low
        begin = np.maximum(starts[others], low)
        # before all others one that needs nothing: the profile begins with it
        self.submit = np.concatenate(([low], begin, instance.submit[free]))
        self.width = np.concatenate(([0], instance.width[others], instance.width[free]))
        self.length = np.concatenate(([1], starts[others] + instance.length[others] - begin, instance.length[free]))
        self.now = np.concatenate(([low], begin, starts[free]))
        self.nodes, self.fixed = instance.nodes, 1 + len(begin)
        self.random, self.state = random, state
        self.rounds = max(20, min(_ROUNDS, _CHUNK // len(self.submit)))
        self.scratch = np.zeros((3, len(self.submit)), dtype=np.int64)
        self.profile = np.zeros((2, 2 * len(self.submit) + 2), dtype=np.int64)
        self.area = (self.width * self.length)[self.fixed :].astype(float)

    @property
    def wait(self) -> int:
        """Slots waited."""
        return int(self.now.sum() - self.submit.sum())

    def starts(self) -> Ints:
        """Return the starts of the jobs that move."""
        return self.now[self.fixed :]

    def search(self, *, is_first: bool) -> None:
        """Search after a kick, the first time without one."""
        trial = self.now.copy() if is_first else self._kicked()
        threshold = (_FIRST_THRESHOLD if is_first else _THRESHOLD) * (trial.sum() - self.submit.sum())
        jobs = self.submit, self.width, self.length, self.nodes
        improve(*jobs, self.fixed, trial, self.rounds, threshold, self.state, *self.scratch, *self.profile)
        if trial.sum() <= self.now.sum():
            self.now = trial

    def _kicked(self) -> Ints:
        """Return the schedule after some jobs have changed their places in the order."""
        random, fixed = self.random, self.fixed
        now, submit = self.now[fixed:], self.submit[fixed:]
        weight = self.area * (1 + (now > submit))
        count = min(len(now), int(random.integers(1, _KICKED + 1)))
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
