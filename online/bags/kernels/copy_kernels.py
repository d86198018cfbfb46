"""Checkpoints, copies, deadlines and choices: compiled twins of methods of the plain simulator and policies."""

from __future__ import annotations

from hindsched.instances.compiling import kernel
from hindsched.online.bags.checkpoints import PARTS
from hindsched.online.bags.kernels.arguments import LOW, NEVER, NONE, STARTED, Log, RunSettings, RunState
from hindsched.online.bags.kernels.checkpoint_kernels import fetch_ticks, first_ticks
from hindsched.online.bags.kernels.level_kernels import ahead, least_saved, paced

__all__ = ["advance", "assign", "choose", "close_run", "remove", "restart", "save", "ticks_to_go"]

_MINUTE = 60_000
_DAY = 1440 * _MINUTE
_WEEK = 7 * _DAY
_CLOSING, _MORNING = 240 * _MINUTE, 480 * _MINUTE
_WEEKEND = 5 * _DAY + 1260 * _MINUTE


@kernel
def place(settings: RunSettings, task: int, q: int) -> int:
    """Return the index of the checkpoint from which machine q can start a task."""
    return task * len(settings.ticks) + q if settings.is_private else task


@kernel
def restart(settings: RunSettings, run_state: RunState, q: int) -> None:
    """Start the copy on a machine, again or for the first time."""
    ticks = settings.ticks[q]
    origin = 0 if settings.is_from_nothing else run_state.saved[place(settings, run_state.task[q], q)]
    fetch = fetch_ticks(settings, run_state, q, run_state.task[q], origin)
    run_state.origin[q] = origin
    run_state.done[q] = -fetch
    run_state.left[q] = fetch + first_ticks(origin, ticks) + (settings.segments - origin // PARTS - 1) * ticks


@kernel
def ticks_to_go(settings: RunSettings, run_state: RunState, q: int) -> int:
    """Return the UP ticks to the end of a copy's present segment."""
    first = first_ticks(run_state.origin[q], settings.ticks[q])
    if run_state.done[q] < first:
        return int(first - run_state.done[q])
    return int(settings.ticks[q] - (run_state.done[q] - first) % settings.ticks[q])


@kernel
def _keep(settings: RunSettings, run_state: RunState, q: int, state: int) -> None:
    """Note that a machine has saved a state of its copy itself, whether or not the store already holds as much."""
    if settings.move:
        mine = run_state.task[q] * len(settings.ticks) + q
        run_state.own[mine] = max(run_state.own[mine], state)


@kernel
def save(settings: RunSettings, run_state: RunState, q: int, state: int) -> bool:
    """Save a state of the copy on a machine if it is greater than the saved one; return whether it is."""
    here = place(settings, run_state.task[q], q)
    if state <= run_state.saved[here]:
        return False
    _keep(settings, run_state, q, state)
    run_state.saved[here] = state
    if not settings.is_private:
        run_state.rest[here] = settings.segments - state // PARTS
    return True


@kernel
def advance(settings: RunSettings, run_state: RunState, ticks: int) -> None:
    """Advance every copy on an UP machine by ``ticks``, and save the ends of segments."""
    for q in range(len(settings.ticks)):
        if run_state.task[q] != NONE and run_state.is_up[q]:
            run_state.done[q] += ticks
            run_state.left[q] -= ticks
            first = first_ticks(run_state.origin[q], settings.ticks[q])
            if run_state.done[q] >= first:
                segments = run_state.origin[q] // PARTS + 1 + (run_state.done[q] - first) // settings.ticks[q]
                _keep(settings, run_state, q, segments * PARTS)
                save(settings, run_state, q, segments * PARTS)


@kernel
def _deadline(settings: RunSettings, since: int, origin: int, base: int) -> int:
    """Return the deadline of a copy."""
    if settings.clock_ms >= 0:
        clock = (settings.clock_ms + since * settings.tick_ms) % _WEEK
        if clock < _MORNING or clock >= _WEEKEND:
            return since + (base * 21 + 19) // 20
        if _CLOSING <= clock % _DAY < _MORNING:
            return since + (base * 11 + 9) // 10
    numerator, denominator = settings.by_day
    if denominator == 0:
        whole = settings.segments * PARTS
        numerator = 3600 + (settings.reference_s * (whole - origin) + whole - 1) // whole
        denominator = 27000
    return since + (base * (numerator + denominator) + denominator - 1) // denominator


@kernel
def assign(settings: RunSettings, run_state: RunState, q: int, task: int, instant: int) -> None:
    """Start a copy of a task on a machine."""
    run_state.task[q] = task
    restart(settings, run_state, q)
    run_state.expected[q] = instant + (ticks_to_go(settings, run_state, q) if settings.is_level else run_state.left[q])
    run_state.deadline[q] = NEVER
    if settings.is_timed:
        run_state.deadline[q] = _deadline(settings, instant, run_state.origin[q], run_state.left[q])
    run_state.run_start[q] = instant
    run_state.copies[task] += 1
    run_state.endangered[task] = 0
    run_state.counts[STARTED] = max(run_state.counts[STARTED], task + 1)


@kernel
def close_run(run_state: RunState, log: Log, q: int, instant: int) -> None:
    """Record the end of a run."""
    if run_state.run_start[q] == NONE:
        return
    row = log.sizes[0]
    log.sizes[0] += 1
    if row < len(log.runs):
        log.runs[row, 0] = q
        log.runs[row, 1] = run_state.task[q]
        log.runs[row, 2] = run_state.run_start[q]
        log.runs[row, 3] = instant
        log.runs[row, 4] = run_state.origin[q]
    run_state.run_start[q] = NONE


@kernel
def remove(run_state: RunState, log: Log, q: int, instant: int) -> None:
    """Remove a machine's copy."""
    close_run(run_state, log, q, instant)
    task = run_state.task[q]
    run_state.copies[task] -= 1
    if run_state.copies[task] == 0 and not run_state.is_done[task]:
        run_state.counts[LOW] = min(run_state.counts[LOW], task)
    run_state.task[q] = NONE
    run_state.freed_at[q] = instant


@kernel
def _first_waiting(settings: RunSettings, run_state: RunState) -> int:
    low = run_state.counts[LOW] if settings.is_resubmitting else run_state.counts[STARTED]
    while low < settings.tasks and (run_state.is_done[low] or run_state.copies[low] > 0):
        low += 1
    run_state.counts[LOW] = low
    return low if low < settings.tasks else NONE


@kernel
def _replicated(settings: RunSettings, run_state: RunState) -> int:
    """Return the task to replicate among those with copies."""
    for q in range(len(settings.ticks)):
        if run_state.task[q] != NONE:
            run_state.latest[run_state.task[q]] = NEVER
    for q in range(len(settings.ticks)):
        if run_state.task[q] != NONE:
            run_state.latest[run_state.task[q]] = min(run_state.latest[run_state.task[q]], run_state.expected[q])
    best = NONE
    for q in range(len(settings.ticks)):
        task = run_state.task[q]
        if task in (NONE, best) or run_state.copies[task] >= settings.max_copies:
            continue
        if best == NONE:
            best = task
        elif run_state.endangered[task] != run_state.endangered[best]:
            best = task if run_state.endangered[task] else best
        elif run_state.copies[task] != run_state.copies[best]:
            best = task if run_state.copies[task] < run_state.copies[best] else best
        elif settings.is_by_end and run_state.latest[task] != run_state.latest[best]:
            best = task if run_state.latest[task] > run_state.latest[best] else best
        elif task < best:
            best = task
    return best


@kernel
def choose(settings: RunSettings, run_state: RunState, q: int, instant: int) -> int:
    """Return the task for an idle machine, or `NONE`."""
    if settings.excluded[q]:
        return NONE
    task = _first_waiting(settings, run_state)
    if settings.is_level:
        if task == NONE:
            return ahead(settings, run_state, q, instant)
        return (
            paced(settings, run_state, q, instant, task) if settings.is_pace else least_saved(settings, run_state, task)
        )
    return _replicated(settings, run_state) if task == NONE and settings.is_replicating else task
