"""Good schedules of many jobs: a queue in which some jobs are held back, and a search over who and until when.

A queue by length serves the many short jobs well. What it cannot do is to leave nodes idle on purpose, or to keep a
long and wide job away until those that come soon have gone. So each job gets a *release*, at first its submission, and
a move changes that of one job; the queue settles all others anew. One move so does what would take an order of jobs
many, and it costs only as much as the stretch of time in which anything changes.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.grid import Instance
from hindsched.instances.grid.model import Ints
from hindsched.offline.grid.kernels.queue_replay import hold
from hindsched.offline.grid.kernels.serial_generation import queue
from hindsched.offline.limits import Stopwatch

__all__ = ["delayed_starts", "queued", "rules"]

#: Work where no time limit is set, in jobs looked at: at most, and for each job.
_WORK, _WORK_PER_JOB = 300_000_000, 300_000
#: Work after which the threshold falls, in jobs looked at, about.
_CHUNK = 1_000_000
#: The threshold at first, in mean waits.
_THRESHOLD = 2.0
#: Jobs are drawn by their area to these powers.
_POWERS = (1.0, 0.5)


def rules(instance: Instance) -> list[Ints]:
    """Return the ranks of the queues by length, area, width and file."""
    everybody = np.arange(len(instance))
    ranks = []
    for key in (instance.length, instance.width * instance.length, instance.width, everybody):
        rank = np.empty(len(instance), dtype=np.int64)
        rank[np.argsort(key, kind="stable")] = everybody
        ranks.append(rank)
    return ranks


def queued(instance: Instance, rank: Ints) -> Ints:
    """Return the starts of a queue without reservations."""
    starts, *scratch = np.zeros((4, len(instance)), dtype=np.int64)
    queue(instance.submit, instance.width, instance.length, instance.nodes, rank, starts, *scratch)
    return starts


def delayed_starts(instance: Instance, seed: int, watch: Stopwatch, until_s: float | None) -> tuple[Ints, int]:
    """Return the starts of a queue that holds jobs back, and the number of moves tried.

    Parameters
    ----------
    instance
        At least one job.
    seed
        Of the moves.
    watch, until_s
        When to stop; None: after a fixed amount of work, so that the answer depends on nothing else.

    Notes
    -----
    Threshold accepting: a move that makes the total wait longer is kept if it is by less than a random part of a
    threshold, which falls to 0. A move costs a look at all jobs, and at those that wait in each slot between the first
    and the last that differs from before.

    References
    ----------
    G. Dueck, T. Scheuer, "Threshold accepting", Journal of Computational Physics 90 (1990).
    """
    rank = min(rules(instance), key=lambda rank: int(queued(instance, rank).sum()))
    starts = queued(instance, rank)
    best = starts.copy()
    wait = int((starts - instance.submit).sum())
    area = (instance.width * instance.length).astype(float)
    shares = [np.cumsum(area**power) for power in _POWERS]
    weights = np.stack([np.maximum(1, each * (2**30 / each[-1])) for each in shares]).astype(np.int64)
    release = instance.submit.copy()
    order = np.argsort(release, kind="stable")
    state = np.array([1 + (seed * 16_807 + 54_321) % (2**31 - 2), 0], dtype=np.int64)
    scratch = np.zeros((5, len(instance)), dtype=np.int64)
    jobs = instance.submit, instance.width, instance.length, instance.nodes, rank, weights
    most = min(_WORK, _WORK_PER_JOB * len(instance))
    begun_s, work, moves, rounds = watch.elapsed_s(), 0, 0, 16
    while wait and not watch.is_over():
        spent_s = watch.elapsed_s() - begun_s
        done = work / most if until_s is None else spent_s / max(1e-9, until_s - begun_s)
        if done >= 1:
            break
        threshold = int(_THRESHOLD * (1 - done) * wait / len(instance))
        looks = hold(*jobs, rounds, threshold, state, order, release, starts, best, scratch)
        work += looks
        moves += rounds
        rounds = max(16, min(4096, round(rounds * _CHUNK / max(1, looks))))
    return best, moves
