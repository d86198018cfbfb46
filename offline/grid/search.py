"""Good schedules: queue rules, conservative backfilling, and a local search over orders of serial generation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from instances.grid import Instance
from instances.grid.model import Ints
from offline.grid.native.generation import generate, improve, queue
from offline.limits import Stopwatch

__all__ = ["best_of_rules", "improved", "in_order", "total_wait"]

#: Work of the local search where no time limit is set, in placements of a job: at most, and for each job.
_WORK, _WORK_PER_JOB = 2_000_000, 20_000
#: Most jobs times rounds between two looks at the clock.
_CHUNK = 200_000


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
        candidates += [in_order(instance, np.argsort(starts, kind="stable")) for starts in _queues(instance)]
    return min(candidates, key=lambda starts: total_wait(instance, starts))


def _queues(instance: Instance) -> Iterator[Ints]:
    everybody = np.arange(len(instance))
    for key in (instance.length, instance.width * instance.length, instance.width, everybody):
        rank = np.empty(len(instance), dtype=np.int64)
        rank[np.argsort(key, kind="stable")] = everybody
        starts, *scratch = np.zeros((4, len(instance)), dtype=np.int64)
        queue(instance.submit, instance.width, instance.length, instance.nodes, rank, starts, *scratch)
        yield starts


def improved(instance: Instance, starts: Ints, seed: int, watch: Stopwatch, until_s: float | None) -> tuple[Ints, int]:
    """Return starts at least as good, by random moves of jobs in the order of generation, and the number of rounds.

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
    Restarts from the best starts, each with another threshold. A round costs O(n) placements of O(log n + k) each for k
    steps of the profile that a job passes.
    """
    n = len(instance)
    best = starts.copy()
    state = np.array([1 + (seed * 48_271 + 12_345) % (2**31 - 2)], dtype=np.int64)
    rounds = max(20, min(1_000, _CHUNK // n))
    restarts = max(2, min(_WORK, _WORK_PER_JOB * n) // (rounds * n)) if until_s is None else 10**6
    orders = np.zeros((3, n), dtype=np.int64)
    profile = np.zeros((2, 2 * n + 2), dtype=np.int64)
    done = 0
    for restart in range(restarts):
        if watch.is_over() or (until_s is not None and watch.elapsed_s() >= until_s):
            break
        wait = total_wait(instance, best)
        if not wait:
            break
        threshold = (0.0, 0.03, 0.01, 0.003)[restart % 4] * wait
        improve(
            instance.submit,
            instance.width,
            instance.length,
            instance.nodes,
            0,
            best,
            rounds,
            threshold,
            state,
            *orders,
            *profile,
        )
        done += rounds
    return best, done
