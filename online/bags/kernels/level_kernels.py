"""The choices of LEVEL and PACE: the compiled twin of `hindsched.online.bags.level`. Stores are shared."""

from __future__ import annotations

from hindsched.instances.compiling import kernel
from hindsched.online.bags.kernels.arguments import NEVER, NONE, RunSettings, RunState
from hindsched.online.bags.kernels.checkpoint_kernels import fetch_ticks, first_ticks

__all__ = ["ahead", "least_saved", "paced"]


@kernel
def _waits(run_state: RunState, task: int) -> bool:
    return not run_state.is_done[task] and run_state.copies[task] == 0


@kernel
def least_saved(settings: RunSettings, run_state: RunState, first: int) -> int:
    """Return the waiting task with the least saved state; ``first`` is the first waiting task."""
    best = first
    for task in range(first + 1, settings.tasks):
        if run_state.rest[best] == settings.segments:
            break  # no task has less than nothing saved
        if run_state.rest[task] > run_state.rest[best] and _waits(run_state, task):
            best = task
    return best


@kernel
def paced(settings: RunSettings, run_state: RunState, q: int, instant: int, first: int) -> int:
    """Return the waiting task whose rest ends closest to tau; ``first`` is the first waiting task."""
    number, total, longest = 0, 0, 0
    for task in range(settings.tasks):
        rest = run_state.rest[task]
        number += 1 if rest else 0  # completed tasks have no rest
        total += rest
        longest = max(longest, rest)
    rate, fastest = 0.0, 0
    for r in settings.by_speed:
        if run_state.is_up[r] and number:
            fastest = settings.ticks[r] if fastest == 0 else fastest
            rate += 1 / settings.ticks[r]
            number -= 1
    tau = instant + max(int(total / rate), longest * fastest)
    unmoved_left = tau - (instant + settings.ticks[q])  # checkpoints are whole segments
    best, least, fits = NONE, 0, False
    for task in range(first, settings.tasks):
        rest = run_state.rest[task] - 1
        if (not settings.move and best != NONE and rest == run_state.rest[best] - 1) or not _waits(run_state, task):
            continue  # as good as one of a lower index
        time_left = unmoved_left - fetch_ticks(settings, run_state, q, task, run_state.saved[task])
        if rest * fastest <= time_left:
            rank = abs(rest * settings.ticks[q] - time_left)
            if not fits or rank < least:
                best, least, fits = task, rank, True
        elif not fits and (best == NONE or rest < least):
            best, least = task, rest
    return best


@kernel
def ahead(settings: RunSettings, run_state: RunState, q: int, instant: int) -> int:
    """Return the task to replicate, preferably one where the machine is ahead of all copies; each has a copy."""
    for r in range(len(settings.ticks)):
        if run_state.task[r] != NONE:
            run_state.latest[run_state.task[r]] = NEVER
    for r in range(len(settings.ticks)):
        if run_state.task[r] != NONE:
            run_state.latest[run_state.task[r]] = min(run_state.latest[run_state.task[r]], run_state.expected[r])
    best, best_rank = NONE, (0, 0, 0, 0, 0)
    for r in range(len(settings.ticks)):
        task = run_state.task[r]
        if task in (NONE, best):
            continue
        end, saved, copies = run_state.latest[task], run_state.saved[task], run_state.copies[task]
        fetch = fetch_ticks(settings, run_state, q, task, saved)
        lead = end - (instant + fetch + first_ticks(saved, settings.ticks[q]))
        if lead > 0:
            rank = (0, saved, -lead, 0, task)
        elif copies < settings.max_copies:
            rank = (1, copies, saved, -end, task)
        else:
            continue
        if best == NONE or rank < best_rank:
            best, best_rank = task, rank
    return best
