"""The slot loop, rules B1 to B6: the compiled twin of `hindsched.online.bags.simulate`."""

from __future__ import annotations

from hindsched.instances.compiling import kernel
from hindsched.instances.states import DOWN, UP
from hindsched.online.bags.kernels.arguments import DONE, NONE, Log, RunSettings, RunState
from hindsched.online.bags.kernels.checkpoint_kernels import first_ticks, reached
from hindsched.online.bags.kernels.copy_kernels import (
    advance,
    assign,
    choose,
    close_run,
    remove,
    restart,
    save,
    ticks_to_go,
)

__all__ = ["run"]


@kernel
def _begin(settings: RunSettings, run_state: RunState, log: Log, slot: int) -> None:
    """B1 and B2: update the states of machines, remove or reset failed copies, remove late copies."""
    instant = slot * settings.slot
    for q in range(len(settings.ticks)):
        is_up = settings.states[q, slot] == UP
        if is_up and not run_state.is_up[q]:
            run_state.up_since[q] = instant
        run_state.is_up[q] = is_up
        if run_state.task[q] != NONE and settings.states[q, slot] == DOWN:
            if settings.is_noticed:
                remove(run_state, log, q, instant)
            else:
                close_run(run_state, log, q, instant)
                restart(settings, run_state, q)
        if run_state.task[q] != NONE and run_state.deadline[q] <= instant:
            remove(run_state, log, q, instant)


@kernel
def _predict(settings: RunSettings, run_state: RunState, log: Log, slot: int) -> None:
    """B3: save the states of copies with a predicted failure, and mark their tasks as endangered."""
    run_state.endangered[:] = 0
    for q in range(len(settings.ticks)):
        if run_state.task[q] != NONE and run_state.is_up[q] and settings.warns[q, slot]:
            if save(settings, run_state, q, reached(run_state.origin[q], settings.ticks[q], max(0, run_state.done[q]))):
                row = log.sizes[1]
                log.sizes[1] += 1
                if row < len(log.saves):
                    log.saves[row, 0] = q
                    log.saves[row, 1] = slot * settings.slot
            run_state.endangered[run_state.task[q]] = 1


@kernel
def _serve(settings: RunSettings, run_state: RunState, q: int, instant: int) -> bool:
    """Assign a machine a task; return False if there is none for it."""
    task = choose(settings, run_state, q, instant)
    if task != NONE:
        assign(settings, run_state, q, task, instant)
    return task != NONE


@kernel
def _serve_idle(settings: RunSettings, run_state: RunState, instant: int) -> None:
    """B4: serve idle machines in the order of (idle since, index)."""
    number = 0
    for q in range(len(settings.ticks)):
        if run_state.task[q] == NONE and run_state.is_up[q]:
            idle = max(run_state.up_since[q], run_state.freed_at[q])
            i = number
            while (
                i and max(run_state.up_since[run_state.order[i - 1]], run_state.freed_at[run_state.order[i - 1]]) > idle
            ):
                run_state.order[i] = run_state.order[i - 1]
                i -= 1
            run_state.order[i] = q
            number += 1
    for i in range(number):
        if not _serve(settings, run_state, run_state.order[i], instant) and settings.is_uniform:
            return


@kernel
def _ends_segment(settings: RunSettings, run_state: RunState, q: int) -> bool:
    first = first_ticks(run_state.origin[q], settings.ticks[q])
    return bool(
        run_state.is_up[q] and run_state.done[q] >= first and (run_state.done[q] - first) % settings.ticks[q] == 0
    )


@kernel
def _complete(settings: RunSettings, run_state: RunState, log: Log, instant: int) -> None:
    """B6: complete the tasks of copies that have reached k, and mark the machines that their removal frees."""
    p = len(settings.ticks)
    for q in range(p):
        if run_state.task[q] == NONE or run_state.left[q]:
            if settings.is_level and run_state.task[q] != NONE and _ends_segment(settings, run_state, q):
                remove(run_state, log, q, instant)
                run_state.marks[q] = 1
            continue
        task = run_state.task[q]
        run_state.is_done[task] = 1
        run_state.counts[DONE] += 1
        for r in range(p):
            if run_state.task[r] == task:
                remove(run_state, log, r, instant)
                run_state.marks[r] = 1


@kernel
def _work(settings: RunSettings, run_state: RunState, log: Log, start: int) -> int:
    """B5 and B6 in one slot; return the instant of the last completion if all tasks are done, otherwise its end."""
    p = len(settings.ticks)
    for q in range(p):
        if run_state.task[q] != NONE and run_state.is_up[q] and run_state.run_start[q] == NONE:
            run_state.run_start[q] = start
    instant, end = start, start + settings.slot
    while True:
        y = end
        for q in range(p):
            if run_state.task[q] != NONE and run_state.is_up[q]:
                y = min(y, instant + (ticks_to_go(settings, run_state, q) if settings.is_level else run_state.left[q]))
        advance(settings, run_state, y - instant)
        instant = y
        run_state.marks[:] = 0
        _complete(settings, run_state, log, instant)
        if instant == end or run_state.counts[DONE] == settings.tasks:
            return instant
        if settings.is_immediate:
            for q in range(p):
                if (
                    run_state.marks[q]
                    and run_state.is_up[q]
                    and not _serve(settings, run_state, q, instant)
                    and settings.is_uniform
                ):
                    break  # if there is no task for one machine, there is none for the others


@kernel
def run(settings: RunSettings, run_state: RunState, log: Log, slots: int) -> int:
    """Simulate ``slots`` slots; return the turnaround, or `NONE`."""
    for slot in range(slots):
        _begin(settings, run_state, log, slot)
        if settings.is_predicting:
            _predict(settings, run_state, log, slot)
        _serve_idle(settings, run_state, slot * settings.slot)
        instant = _work(settings, run_state, log, slot * settings.slot)
        if run_state.counts[DONE] == settings.tasks:
            return instant
    for q in range(len(settings.ticks)):
        if run_state.task[q] != NONE:
            close_run(run_state, log, q, slots * settings.slot)
    return NONE
