"""Schedules with runs and saves, built from chains of segments or from UP time alone."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from hindsched.instances.bags import Instance, Run, Save, Schedule
from hindsched.offline.bags.availability_periods import AvailabilityPeriods, Ints
from hindsched.offline.bags.closed_forms import up_ticks
from hindsched.offline.bags.matching import Segment

__all__ = ["chains_in_turn", "schedule_of_chains", "schedule_on_private_stores"]


def schedule_of_chains(
    instance: Instance, periods: AvailabilityPeriods, chains: Sequence[Sequence[Segment]]
) -> Schedule:
    """Return the schedule in which task i runs its segments where ``chains[i]`` says, in order.

    Consecutive segments in one availability period without a pause are one run.
    """
    runs: list[Run] = []
    for task, chain in enumerate(chains):
        begin, origin = 0, 0
        for j, (period, start, end) in enumerate(chain):
            if j == 0 or (period, start) != (chain[j - 1][0], chain[j - 1][2]):
                begin, origin = start, j
            if j + 1 == len(chain) or (period, end) != chain[j + 1][:2]:
                runs.append(Run(int(periods.machine[period]), task, begin, end, origin))
    last = max(chain[-1][2] for chain in chains)
    return Schedule(instance.fingerprint, tuple(_ordered(runs)), turnaround=last)


def _ordered(runs: list[Run]) -> list[Run]:
    return sorted(runs, key=lambda run: (run.start, run.machine))


def chains_in_turn(periods: AvailabilityPeriods, segments: int, tau: int, whole: Ints) -> list[list[Segment]]:
    """Return chains of k segments by tau, each on one machine.

    Parameters
    ----------
    periods
        Of all machines.
    segments, tau
        k, and the instant.
    whole
        Shape (p,): the number of tasks that each machine runs, in its first positions; at most as many as fit.
    """
    at = periods.positions(tau)
    rank = np.arange(len(at)) - np.searchsorted(at.machine, at.machine)  # among the positions of its machine
    used = np.flatnonzero(rank < segments * whole[at.machine])
    places = (at.period[used].tolist(), at.first_start[used].tolist(), at.first_end[used].tolist())
    line = list(zip(*places, strict=True))
    return [line[i : i + segments] for i in range(0, len(line), segments)]


def schedule_on_private_stores(instance: Instance, periods: AvailabilityPeriods, tau: int) -> Schedule:
    """Return the schedule by tau in which every task is saved at the end of a period, so no UP tick is lost (H2)."""
    runs: list[Run] = []
    saves: list[Save] = []
    by_tau = up_ticks(periods, tau)
    task = 0
    for q, ticks in enumerate(instance.ticks):
        length = instance.segments * ticks
        until = task + min(int(by_tau[q]) // length, instance.tasks - task)
        done = 0
        for s, total in _periods_of(periods, q):
            work = 0
            while task < until and work < total:
                step = min(total - work, length - done)
                start, end = _instants(periods, s, work, work + step)
                runs.append(Run(q, task, start, end, _plain(Fraction(done, ticks))))
                done, work = done + step, work + step
                if done == length:
                    task, done = task + 1, 0
                else:
                    saves.append(Save(q, end))
    last = max(int(run.end) for run in runs)
    return Schedule(instance.fingerprint, tuple(_ordered(runs)), tuple(saves), last)


def _periods_of(periods: AvailabilityPeriods, machine: int) -> list[tuple[int, int]]:
    """Return the periods of a machine with their numbers of UP ticks."""
    totals = periods.caps(periods.horizon)
    return [(s, int(totals[s])) for s, q in enumerate(periods.machine.tolist()) if q == machine]


def _instants(periods: AvailabilityPeriods, period: int, begin: int, end: int) -> tuple[int, int]:
    """Return the instants at which the UP ticks [begin, end) of a period start and end."""
    where = np.array([period])
    return int(periods.start_at(where, np.array([begin]))[0]), int(periods.end_at(where, np.array([end]))[0])


def _plain(number: Fraction) -> int | Fraction:
    return number.numerator if number.denominator == 1 else number
