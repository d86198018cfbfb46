"""Runs of the built-in schedulers in machine code."""

from __future__ import annotations

from typing import Any

import numpy as np

from hindsched.instances.array_types import Bytes, Ints
from hindsched.instances.bags.model import Instance
from hindsched.instances.bags.schedule import Run, Save, Schedule
from hindsched.instances.compiling import kernel
from hindsched.instances.states import DOWN, UP
from hindsched.online.bags.checkpoints import PARTS, in_segments
from hindsched.online.bags.kernels.arguments import NEVER, NONE, Desk, Log, Setting
from hindsched.online.bags.kernels.checkpoint_kernels import first_ticks, reached
from hindsched.online.bags.kernels.copy_kernels import (
    advance,
    assign,
    choose,
    close_run,
    place,
    remove,
    restart,
    save,
    ticks_to_go,
)
from hindsched.online.bags.level import Level, Pace
from hindsched.online.bags.options import Handover
from hindsched.online.bags.policies import Fcfs, FcfsAt, FcfsPrdctDmd, FcfsTr
from hindsched.online.bags.predictors import BUILT_IN
from hindsched.online.bags.simulate import PolicyRun, expect_shared, predictor_of
from hindsched.online.bags.visible import Policy, Problem

__all__ = ["can_run", "run_kernel"]

_DONE, _LOW = 0, 1
#: Answers of a predictor are computed for so many slots at first.
_SLOTS = 512
#: Whole numbers below it are the same as floats.
_EXACT = 2**53


@kernel
def _begin(setting: Setting, desk: Desk, log: Log, slot: int) -> None:
    """B1 and B2: who is UP; copies that fail, copies that are late."""
    instant = slot * setting.slot
    for q in range(len(setting.ticks)):
        is_up = setting.states[q, slot] == UP
        if is_up and not desk.is_up[q]:
            desk.up_since[q] = instant
        desk.is_up[q] = is_up
        if desk.task[q] != NONE and setting.states[q, slot] == DOWN:
            if setting.is_private:
                close_run(desk, log, q, instant)
                restart(setting, desk, q, desk.saved[place(setting, desk.task[q], q)])
            else:
                remove(desk, log, q, instant)
        if desk.task[q] != NONE and desk.deadline[q] <= instant:
            remove(desk, log, q, instant)


@kernel
def _predict(setting: Setting, desk: Desk, log: Log, slot: int) -> None:
    """B3: save where a failure is predicted, and endanger."""
    desk.endangered[:] = 0
    for q in range(len(setting.ticks)):
        if desk.task[q] != NONE and desk.is_up[q] and setting.warns[q, slot]:
            if save(setting, desk, q, reached(desk.origin[q], setting.ticks[q], desk.done[q])):
                row = log.sizes[1]
                log.sizes[1] += 1
                if row < len(log.saves):
                    log.saves[row, 0] = q
                    log.saves[row, 1] = slot * setting.slot
            desk.endangered[desk.task[q]] = 1


@kernel
def _serve(setting: Setting, desk: Desk, q: int, instant: int) -> bool:
    task = choose(setting, desk, q, instant)
    if task != NONE:
        assign(setting, desk, q, task, instant)
    return task != NONE


@kernel
def _ask(setting: Setting, desk: Desk, instant: int) -> None:
    """B4: idle machines ask, in the order of (idle since, index)."""
    number = 0
    for q in range(len(setting.ticks)):
        if desk.task[q] == NONE and desk.is_up[q]:
            idle = max(desk.up_since[q], desk.freed_at[q])
            i = number
            while i and max(desk.up_since[desk.order[i - 1]], desk.freed_at[desk.order[i - 1]]) > idle:
                desk.order[i] = desk.order[i - 1]
                i -= 1
            desk.order[i] = q
            number += 1
    for i in range(number):
        if not _serve(setting, desk, desk.order[i], instant) and not setting.is_level:
            return


@kernel
def _ends_segment(setting: Setting, desk: Desk, q: int) -> bool:
    first = first_ticks(desk.origin[q], setting.ticks[q])
    return bool(desk.is_up[q] and desk.done[q] >= first and (desk.done[q] - first) % setting.ticks[q] == 0)


@kernel
def _complete(setting: Setting, desk: Desk, log: Log, instant: int) -> None:
    """B6: copies that have reached k; marks the machines that they free."""
    p = len(setting.ticks)
    for q in range(p):
        if desk.task[q] == NONE or desk.left[q]:
            if setting.is_level and desk.task[q] != NONE and _ends_segment(setting, desk, q):
                remove(desk, log, q, instant)
                desk.marks[q] = 1
            continue
        task = desk.task[q]
        desk.is_done[task] = 1
        desk.counts[_DONE] += 1
        for r in range(p):
            if desk.task[r] == task:
                remove(desk, log, r, instant)
                desk.marks[r] = 1


@kernel
def _work(setting: Setting, desk: Desk, log: Log, start: int) -> int:
    """B5 and B6 in one slot; return the instant of the last completion in it if all is done, or its end."""
    p = len(setting.ticks)
    for q in range(p):
        if desk.task[q] != NONE and desk.is_up[q] and desk.run_start[q] == NONE:
            desk.run_start[q] = start
    instant, end = start, start + setting.slot
    while True:
        y = end
        for q in range(p):
            if desk.task[q] != NONE and desk.is_up[q]:
                y = min(y, instant + (ticks_to_go(setting, desk, q) if setting.is_level else desk.left[q]))
        advance(setting, desk, y - instant)
        instant = y
        desk.marks[:] = 0
        _complete(setting, desk, log, instant)
        if instant == end or desk.counts[_DONE] == setting.tasks:
            return instant
        if setting.is_immediate:
            for q in range(p):
                if desk.marks[q] and desk.is_up[q] and not _serve(setting, desk, q, instant) and not setting.is_level:
                    break  # what is nothing to one is nothing to the others


@kernel
def _run(setting: Setting, desk: Desk, log: Log, slots: int) -> int:
    """Play so many slots; return the turnaround, or `NONE`."""
    for slot in range(slots):
        _begin(setting, desk, log, slot)
        if setting.is_predicting:
            _predict(setting, desk, log, slot)
        _ask(setting, desk, slot * setting.slot)
        instant = _work(setting, desk, log, slot * setting.slot)
        if desk.counts[_DONE] == setting.tasks:
            return instant
    for q in range(len(setting.ticks)):
        if desk.task[q] != NONE:
            close_run(desk, log, q, slots * setting.slot)
    return NONE


def can_run(instance: Instance, policy: object) -> bool:
    """Whether the kernels know the policy, and every number of the run fits 64 bits."""
    if type(policy) not in {Fcfs, FcfsAt, FcfsTr, FcfsPrdctDmd, Level, Pace}:
        return False
    if isinstance(policy, FcfsPrdctDmd) and type(policy.predictor) not in BUILT_IN:
        return False
    by_day = getattr(policy, "day_tolerance", None)
    share = 30_600 + instance.reference_s if by_day is None else by_day.numerator + by_day.denominator
    longest = instance.segments * max(instance.ticks)
    if isinstance(policy, Pace) and instance.tasks * longest + instance.horizon >= _EXACT:
        return False
    return (
        instance.segments * PARTS * instance.reference_s < NEVER
        and longest * max(share, 21) + instance.horizon < NEVER
        and (instance.horizon + longest) * instance.tick_ms < NEVER // 2
    )


def run_kernel(instance: Instance, policy: Policy, *, handover: Handover, schedule: bool = True) -> PolicyRun:
    """Run a built-in policy that `can_run` allows; the same as `hindsched.online.bags.simulate.simulate`.

    Parameters
    ----------
    instance, policy, handover
        As there.
    schedule
        Whether the schedule is wanted.
    """
    expect_shared(instance, policy)
    predictor: Any = predictor_of(instance, policy)
    runs, saves = (4 * instance.tasks + 16 * instance.num_machines, instance.num_machines) if schedule else (0, 0)
    slots = instance.slots if predictor is None else min(_SLOTS, instance.slots)
    while True:
        setting = _setting(instance, policy, handover, predictor, slots)
        desk, log = _desk(instance), _log(runs, saves)
        turnaround = _run(setting, desk, log, slots)
        if turnaround == NONE and slots < instance.slots:
            slots = min(8 * slots, instance.slots)  # the predictor had answered for too few slots
        elif schedule and (log.sizes[0] > runs or log.sizes[1] > saves):
            runs, saves = (int(size) for size in log.sizes)
        else:
            break
    end = None if turnaround == NONE else int(turnaround)
    made = _schedule(instance, log, end) if schedule else None
    return PolicyRun(policy.name, end, int(desk.counts[_DONE]), made)


def _setting(instance: Instance, policy: Policy, handover: Handover, predictor: Any, slots: int) -> Setting:
    warns = np.zeros((1, 1), dtype=np.uint8)
    if predictor is not None:
        answers = predictor.answers(Problem.of(instance), instance.states[:, : slots + 1])
        warns = np.ascontiguousarray(answers, dtype=np.uint8)
    by_day = policy.day_tolerance if isinstance(policy, FcfsAt) else None
    return Setting(
        tasks=instance.tasks,
        segments=instance.segments,
        slot=instance.slot,
        ticks=np.array(instance.ticks, dtype=np.int64),
        by_speed=np.argsort(np.array(instance.ticks), kind="stable"),
        states=instance.states,
        warns=warns,
        is_private=not instance.is_shared,
        is_timed=isinstance(policy, FcfsAt),
        is_replicating=isinstance(policy, FcfsTr),
        is_predicting=predictor is not None,
        is_immediate=handover is Handover.IMMEDIATE,
        is_level=isinstance(policy, Level),
        is_pace=isinstance(policy, Pace),
        max_copies=policy.max_copies if isinstance(policy, FcfsTr | Level) else 0,
        by_day=(0, 0) if by_day is None else (by_day.numerator, by_day.denominator),
        clock_ms=NONE if instance.clock_s is None else instance.clock_s * 1000,
        tick_ms=instance.tick_ms,
        reference_s=instance.reference_s,
    )


def _desk(instance: Instance) -> Desk:
    p, n = instance.num_machines, instance.tasks
    machines: Ints = np.zeros((10, p), dtype=np.int64)
    machines[0] = machines[6] = NONE
    tasks: Ints = np.zeros((3, n), dtype=np.int64)
    tasks[2] = instance.segments
    flags: Bytes = np.zeros(2 * p + 2 * n, dtype=np.uint8)
    return Desk(
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
        marks=flags[p : 2 * p],
        order=machines[9],
        counts=np.zeros(2, dtype=np.int64),
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
