"""Good schedules of many jobs: a priority queue in which some jobs are delayed, and a local search over the delays.

A queue by length serves many short jobs well, but it never leaves nodes idle on purpose, nor delays a long and wide job
until imminent short ones have run. So each job gets a *release*, initially its submission. A move changes the release
of one job, and the queue places all others again. In a search over orders the same change takes many moves. A move
costs only the span of time in which the schedule changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hindsched.instances.grid import Instance
from hindsched.instances.grid.model import Ints
from hindsched.offline.grid.kernels.queue_replay import search_delays
from hindsched.offline.grid.kernels.serial_generation import queue
from hindsched.offline.limits import Stopwatch

__all__ = ["DelayParameters", "delayed_starts", "queued", "rules"]


@dataclass(frozen=True, slots=True)
class DelayParameters:
    """Parameters of the search over delays; work is counted in jobs that are visited.

    Parameters
    ----------
    most_work
        Work without a time limit.
    work_per_job
        Work for each job without a time limit; the smaller amount counts.
    chunk
        Approximate work between two decreases of the threshold.
    threshold
        Initial threshold, in mean waits. A larger one explores more and converges later.
    area_powers
        A move draws its job with a probability proportional to its area to one of these powers.
    """

    most_work: int = 300_000_000
    work_per_job: int = 300_000
    chunk: int = 1_000_000
    threshold: float = 2.0
    area_powers: tuple[float, ...] = (1.0, 0.5)


_PARAMETERS = DelayParameters()


def rules(instance: Instance) -> list[Ints]:
    """Return the ranks of jobs by length, by area, by width and by index."""
    index = np.arange(len(instance))
    ranks = []
    for key in (instance.length, instance.width * instance.length, instance.width, index):
        rank = np.empty(len(instance), dtype=np.int64)
        rank[np.argsort(key, kind="stable")] = index
        ranks.append(rank)
    return ranks


def queued(instance: Instance, rank: Ints) -> Ints:
    """Return the starts of a queue without reservations."""
    starts, *scratch = np.zeros((4, len(instance)), dtype=np.int64)
    queue(instance.submit, instance.width, instance.length, instance.nodes, rank, starts, *scratch)
    return starts


def delayed_starts(instance: Instance, seed: int, watch: Stopwatch, until_s: float | None) -> tuple[Ints, int]:
    """Return the starts of a queue with delays, and the number of moves tried.

    Parameters
    ----------
    instance
        At least one job.
    seed
        Seed of the moves.
    watch, until_s
        When to stop; None: after a fixed amount of work, so that the result depends on the seed only.

    Notes ----- Threshold accepting: a move is accepted if the total wait rises by less than a random fraction of a
    threshold, which decreases to 0. A move visits all jobs once, and the waiting jobs in each slot from the first to
    the last that changes.

    References
    ----------
    G. Dueck, T. Scheuer, "Threshold accepting", Journal of Computational Physics 90 (1990).
    """
    rank = min(rules(instance), key=lambda rank: int(queued(instance, rank).sum()))
    starts = queued(instance, rank)
    best = starts.copy()
    wait = int((starts - instance.submit).sum())
    area = (instance.width * instance.length).astype(float)
    shares = [np.cumsum(area**power) for power in _PARAMETERS.area_powers]
    weights = np.stack([np.maximum(1, each * (2**30 / each[-1])) for each in shares]).astype(np.int64)
    release = instance.submit.copy()
    order = np.argsort(release, kind="stable")
    state = np.array([1 + (seed * 16_807 + 54_321) % (2**31 - 2), 0], dtype=np.int64)
    scratch = np.zeros((5, len(instance)), dtype=np.int64)
    jobs = instance.submit, instance.width, instance.length, instance.nodes, rank, weights
    most = min(_PARAMETERS.most_work, _PARAMETERS.work_per_job * len(instance))
    begun_s, work, moves, rounds = watch.elapsed_s(), 0, 0, 16
    while wait and not watch.is_over():
        spent_s = watch.elapsed_s() - begun_s
        done = work / most if until_s is None else spent_s / max(1e-9, until_s - begun_s)
        if done >= 1:
            break
        threshold = int(_PARAMETERS.threshold * (1 - done) * wait / len(instance))
        visited = search_delays(*jobs, rounds, threshold, state, order, release, starts, best, scratch)
        work += visited
        moves += rounds
        rounds = max(16, min(4096, round(rounds * _PARAMETERS.chunk / max(1, visited))))
    return best, moves
