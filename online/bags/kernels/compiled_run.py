"""Runs of the built-in schedulers in machine code: the arrays, and the calls of the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from hindsched.instances.array_types import Bytes, Ints
from hindsched.instances.bags.model import Instance
from hindsched.instances.bags.schedule import Run, Save, Schedule
from hindsched.online.bags.checkpoints import PARTS, in_segments
from hindsched.online.bags.kernels.arguments import DONE, NEVER, NONE, Log, RunSettings, RunState
from hindsched.online.bags.kernels.simulation_kernels import run
from hindsched.online.bags.level import Level, Pace
from hindsched.online.bags.options import Absence, Handover
from hindsched.online.bags.policies import Fcfs, FcfsAt, FcfsPrdctDmd, FcfsTr
from hindsched.online.bags.predictors import BUILT_IN
from hindsched.online.bags.simulate import PolicyRun, expect_shared, is_noticed, predictor_of
from hindsched.online.bags.visible import Policy, Problem
from hindsched.online.bags.work_queues import ExclS1, ExclS1Dup, Wqr, WqrFt, slow_machines

__all__ = ["can_run", "run_kernel"]

#: Number of slots for which answers of a predictor are computed at first.
_SLOTS = 512
#: Integers below it are exact as floats.
_EXACT = 2**53


def can_run(instance: Instance, policy: object) -> bool:
    """Return whether a kernel exists for the policy, and every number of the run fits 64 bits."""
    if type(policy) not in {Fcfs, FcfsAt, FcfsTr, FcfsPrdctDmd, Level, Pace, Wqr, WqrFt, ExclS1, ExclS1Dup}:
        return False
    if isinstance(policy, FcfsPrdctDmd) and type(policy.predictor) not in BUILT_IN:
        return False
    by_day = getattr(policy, "day_tolerance", None)
    share = 30_600 + instance.reference_s if by_day is None else by_day.numerator + by_day.denominator
    longest = instance.segments * max(instance.ticks) + instance.move
    if isinstance(policy, Pace) and instance.tasks * longest + instance.horizon >= _EXACT:
        return False
    return (
        instance.segments * PARTS * instance.reference_s < NEVER
        and longest * max(share, 21) + instance.horizon < NEVER
        and (instance.horizon + longest) * instance.tick_ms < NEVER // 2
    )


def run_kernel(
    instance: Instance,
    policy: Policy,
    *,
    handover: Handover,
    absence: Absence = Absence.BY_STORE,
    schedule: bool = True,
) -> PolicyRun:
    """Run a built-in policy that `can_run` allows; the result is that of `hindsched.online.bags.simulate.simulate`.

    Parameters
    ----------
    instance, policy, handover, absence
        As for `simulate`.
    schedule
        Whether to record the schedule.
    """
    expect_shared(instance, policy)
    predictor: Any = predictor_of(instance, policy)
    runs, saves = (4 * instance.tasks + 16 * instance.num_machines, instance.num_machines) if schedule else (0, 0)
    slots = instance.slots if predictor is None else min(_SLOTS, instance.slots)
    while True:
        settings = _settings(instance, policy, handover, absence, predictor, slots)
        run_state, log = _run_state(instance), _log(runs, saves)
        turnaround = run(settings, run_state, log, slots)
        if turnaround == NONE and slots < instance.slots:
            slots = min(8 * slots, instance.slots)  # the answers of the predictor covered too few slots
        elif schedule and (log.sizes[0] > runs or log.sizes[1] > saves):
            runs, saves = (int(size) for size in log.sizes)
        else:
            break
    end = None if turnaround == NONE else int(turnaround)
    made = _schedule(instance, log, end) if schedule else None
    return PolicyRun(policy.name, end, int(run_state.counts[DONE]), made)


def _settings(
    instance: Instance, policy: Policy, handover: Handover, absence: Absence, predictor: Any, slots: int
) -> RunSettings:
    warns = np.zeros((1, 1), dtype=np.uint8)
    if predictor is not None:
        answers = predictor.answers(Problem.of(instance), instance.states[:, : slots + 1])
        warns = np.ascontiguousarray(answers, dtype=np.uint8)
    by_day = policy.day_tolerance if isinstance(policy, FcfsAt) else None
    excluded: Bytes = np.zeros(instance.num_machines, dtype=np.uint8)
    if isinstance(policy, ExclS1 | ExclS1Dup):
        excluded[list(slow_machines(instance.ticks))] = 1
    return RunSettings(
        tasks=instance.tasks,
        segments=instance.segments,
        slot=instance.slot,
        move=instance.move if instance.is_move_paid else 0,
        ticks=np.array(instance.ticks, dtype=np.int64),
        by_speed=np.argsort(np.array(instance.ticks), kind="stable"),
        states=instance.states,
        warns=warns,
        is_private=not instance.is_shared,
        is_noticed=is_noticed(instance, absence),
        is_timed=isinstance(policy, FcfsAt),
        is_replicating=isinstance(policy, FcfsTr | WqrFt),
        is_predicting=predictor is not None,
        is_immediate=handover is Handover.IMMEDIATE,
        is_level=isinstance(policy, Level),
        is_pace=isinstance(policy, Pace),
        is_by_end=isinstance(policy, FcfsTr),
        is_resubmitting=not isinstance(policy, Wqr),
        is_from_nothing=isinstance(policy, Wqr),
        is_uniform=not isinstance(policy, Level) and not excluded.any(),
        excluded=excluded,
        max_copies=policy.max_copies if isinstance(policy, FcfsTr | Level | WqrFt) else 0,
        by_day=(0, 0) if by_day is None else (by_day.numerator, by_day.denominator),
        clock_ms=NONE if instance.clock_s is None else instance.clock_s * 1000,
        tick_ms=instance.tick_ms,
        reference_s=instance.reference_s,
    )


def _run_state(instance: Instance) -> RunState:
    p, n = instance.num_machines, instance.tasks
    machines: Ints = np.zeros((10, p), dtype=np.int64)
    machines[0] = machines[6] = NONE
    tasks: Ints = np.zeros((3, n), dtype=np.int64)
    tasks[2] = instance.segments
    flags: Bytes = np.zeros(2 * p + 2 * n, dtype=np.uint8)
    return RunState(
        task=machines[0],
        expected=machines[1],
        deadline=machines[2],
        origin=machines[3],
        done=machines[4],
        left=machines[5],
        run_start=machines[6],
        is_up=flags[:p],
        up_since=machines[7],
        freed_at=machines[8],
        copies=tasks[0],
        is_done=flags[2 * p : 2 * p + n],
        endangered=flags[2 * p + n :],
        latest=tasks[1],
        rest=tasks[2],
        saved=np.zeros(n if instance.is_shared else n * p, dtype=np.int64),
        own=np.zeros(n * p if instance.is_move_paid else 0, dtype=np.int64),
        marks=flags[p : 2 * p],
        order=machines[9],
        counts=np.zeros(3, dtype=np.int64),
    )


def _log(runs: int, saves: int) -> Log:
    return Log(np.empty((runs, 5), dtype=np.int64), np.empty((saves, 2), dtype=np.int64), np.zeros(2, dtype=np.int64))


def _schedule(instance: Instance, log: Log, turnaround: int | None) -> Schedule:
    runs = [
        Run(q, task, start, end, in_segments(origin))
        for q, task, start, end, origin in log.runs[: log.sizes[0]].tolist()
    ]
    runs.sort(key=lambda run: (run.start, run.machine))
    saves = [Save(q, instant) for q, instant in log.saves[: log.sizes[1]].tolist()]
    return Schedule(instance.fingerprint, tuple(runs), tuple(saves), turnaround)
