"""Plans compared on sampled futures."""

from __future__ import annotations

import numpy as np

from instances.states import DOWN
from online.coupled.ours.kernels.attempts import worth_of
from online.coupled.ours.kernels.building import CLEAR, build
from online.coupled.ours.kernels.compiling import Bytes, Ints, Reals, Words, kernel
from online.coupled.ours.kernels.exchanging import improve
from online.coupled.ours.kernels.layout import (
    CHOSEN,
    COMPUTED,
    HELD,
    ITERATION,
    KNOWN,
    NOBODY,
    SLOT,
    Application,
    Chances,
    Record,
    Rules,
    Scratch,
    Standing,
)
from online.coupled.ours.kernels.slots import arrange, enrol, fail, plan, work

__all__ = ["run_rolling"]


@kernel()
def draw_future(moves: Reals, now: Ints, seed: np.uint64, states: Bytes) -> None:
    """Fill states, shape (p, H): slot 0 is now, later ones are drawn. ``moves``: (p, 3, 2) cumulative."""
    p, slots = states.shape
    x = seed * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x1234567)
    for q in range(p):
        s = now[q]
        states[q, 0] = np.uint8(s)
        for t in range(1, slots):
            x ^= x << np.uint64(13)
            x ^= x >> np.uint64(7)
            x ^= x << np.uint64(17)
            u = float(x >> np.uint64(11)) * (1.0 / 9007199254740992.0)
            s = 0 if u < moves[q, s, 0] else (1 if u < moves[q, s, 1] else 2)
            states[q, t] = np.uint8(s)


@kernel()
def copy(a: Ints, b: Ints) -> None:
    for k in range(a.size):
        b[k] = a[k]


@kernel()
def copy_standing(a: Standing, b: Standing) -> None:
    copy(a.at, b.at)
    copy(a.tasks, b.tasks)
    copy(a.plan, b.plan)
    copy(a.program, b.program)
    copy(a.data, b.data)


@kernel()
def play(
    application: Application,
    rules: Rules,
    chances: Chances,
    scratch: Scratch,
    states: Bytes,
    standing: Standing,
    letters: Bytes,
    term: int,
    value: float,
) -> float:
    """Hold the plan to its end in one future; return slots to the iteration's end, estimated where not played."""
    at = standing.at
    at[SLOT] = 0
    at[KNOWN] = 0
    iteration = at[ITERATION]
    slots = states.shape[1]
    is_committed = True
    while at[SLOT] < slots:
        fail(states, at[SLOT], scratch, standing)
        if is_committed and at[HELD] == 0:
            is_committed = False
            if term == 1:
                if build(application, rules, chances, scratch, scratch.eligible, standing.program, standing.data):
                    return at[SLOT] + min(value, scratch.worth[0])
                return at[SLOT] + value
            if term == 2:
                if build(application, rules, chances, scratch, scratch.eligible, standing.program, standing.data):
                    return scratch.worth[0] - value
                return 0.0
        if not is_committed:
            plan(application, rules, chances, scratch, standing)
        num = arrange(application, rules, scratch, standing)
        enrol(application, scratch.ask, standing)
        work(application, scratch, standing, num, letters, False)
        if at[ITERATION] > iteration:
            return float(at[SLOT]) if term < 2 else 0.0
    return at[SLOT] + value if term < 2 else 0.0


@kernel()
def run_rolling(
    application: Application,
    rules: Rules,
    chances: Chances,
    scratch: Scratch,
    other: Scratch,
    states: Bytes,
    standing: Standing,
    spare: Standing,
    record: Record,
    limit: int,
    last_iteration: int,
    moves: Reals,
    future: Bytes,
    plans: Ints,
    sums: Reals,
    num_futures: int,
    term: int,
    bias: float,
    count: Ints,
) -> None:
    at = standing.at
    p = standing.tasks.size
    while at[SLOT] < limit and at[ITERATION] < last_iteration:
        slot = at[SLOT]
        fail(states, slot, scratch, standing)
        # candidates: the one held first
        num = 0
        if at[HELD] == 1:
            copy(standing.plan, plans[0])
            num = 1
        for k in range(3):
            factor = 1.0 if k == 0 else (0.45 if k == 1 else 2.0)
            those = Rules(rules.stands_by, rules.prefetches, rules.exchanges, rules.value * factor)
            if not build(application, those, chances, scratch, scratch.eligible, standing.program, standing.data):
                break
            if rules.exchanges:
                improve(
                    application, chances, scratch, scratch.eligible, scratch.built, standing.program, standing.data,
                    scratch.worth[0], those.value, 20,
                )  # fmt: skip
            is_known = False
            for j in range(num):
                same = True
                for q in range(p):
                    same = same and plans[j, q] == scratch.built[q]
                is_known = is_known or same
            if not is_known:
                copy(scratch.built, plans[num])
                num += 1
        if num == 1:
            at[HELD] = 1
            copy(plans[0], standing.plan)
        elif num > 1:
            count[0] += 1
            for j in range(num):
                sums[j] = 0.0
                if term == 2:
                    sums[j] = num_futures * worth_of(
                        application, chances, scratch, scratch.eligible, plans[j], standing.program, standing.data,
                        at[COMPUTED] if j == 0 and at[HELD] == 1 else 0, rules.value,
                    )
            for n in range(num_futures):
                draw_future(moves, scratch.now, np.uint64(slot * 64 + n + 1), future)
                for j in range(num):
                    copy_standing(standing, spare)
                    spare.at[HELD] = 1
                    # R2 by the first arrange: x changes where the plan does
                    if at[HELD] == 0 or j > 0:
                        spare.at[COMPUTED] = 0
                    copy(plans[j], spare.plan)
                    sums[j] += play(
                        application, rules, chances, other, future, spare, record.letters, term, rules.value
                    )
            best = 0
            for j in range(1, num):
                lead = bias if (best == 0 and at[HELD] == 1) else 0.0
                if sums[j] < sums[best] * (1.0 - lead):
                    best = j
            at[HELD] = 1
            copy(plans[best], standing.plan)
        count[1] += 1
        at[KNOWN] = 0
        num = arrange(application, rules, scratch, standing)
        enrol(application, scratch.ask, standing)
        work(application, scratch, standing, num, record.letters, False)
