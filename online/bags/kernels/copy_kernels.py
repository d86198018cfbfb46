"""The pieces of a run: stores, copies, deadlines, choices. Each is the twin of a method of the plain simulator."""

from __future__ import annotations

from hindsched.instances.compiling import kernel
from hindsched.online.bags.checkpoints import PARTS
from hindsched.online.bags.kernels.arguments import NEVER, NONE, Desk, Log, Setting
from hindsched.online.bags.kernels.checkpoint_kernels import first_ticks
from hindsched.online.bags.kernels.level_kernels import ahead, least_saved, paced

__all__ = ["advance", "assign", "choose", "close_run", "place", "remove", "restart", "save", "ticks_to_go"]

_MINUTE = 60_000
_DAY = 1440 * _MINUTE
_WEEK = 7 * _DAY
_CLOSING, _MORNING = 240 * _MINUTE, 480 * _MINUTE
_WEEKEND = 5 * _DAY + 1260 * _MINUTE
_DONE, _LOW = 0, 1  # in Desk.counts


@kernel
def place(setting: Setting, task: int, q: int) -> int:
    """Return where the store has the state that machine q can start a task from."""
    return task * len(setting.ticks) + q if setting.is_private else task


@kernel
def restart(setting: Setting, desk: Desk, q: int, origin: int) -> None:
    """Let the copy on a machine start from a state."""
    ticks = setting.ticks[q]
    desk.origin[q] = origin
    desk.done[q] = 0
    desk.left[q] = first_ticks(origin, ticks) + (setting.segments - origin // PARTS - 1) * ticks


@kernel
def ticks_to_go(setting: Setting, desk: Desk, q: int) -> int:
    """Return the UP ticks to the end of the segment a copy is in."""
    first = first_ticks(desk.origin[q], setting.ticks[q])
    if desk.done[q] < first:
        return int(first - desk.done[q])
    return int(setting.ticks[q] - (desk.done[q] - first) % setting.ticks[q])


@kernel
def save(setting: Setting, desk: Desk, q: int, state: int) -> bool:
    """Save a state of the copy on a machine, if it is greater than what is there."""
    here = place(setting, desk.task[q], q)
    if state <= desk.saved[here]:
        return False
    desk.saved[here] = state
    if not setting.is_private:
        desk.rest[here] = setting.segments - state // PARTS
    return True


@kernel
def advance(setting: Setting, desk: Desk, ticks: int) -> None:
    """Let every copy on an UP machine work so many ticks, and save the ends of segments."""
    for q in range(len(setting.ticks)):
        if desk.task[q] != NONE and desk.is_up[q]:
            desk.done[q] += ticks
            desk.left[q] -= ticks
            first = first_ticks(desk.origin[q], setting.ticks[q])
            if desk.done[q] >= first:
                segments = desk.origin[q] // PARTS + 1 + (desk.done[q] - first) // setting.ticks[q]
                save(setting, desk, q, segments * PARTS)


@kernel
def _deadline(setting: Setting, since: int, origin: int, base: int) -> int:
    """Return when a copy is given up."""
    if setting.clock_ms >= 0:
        clock = (setting.clock_ms + since * setting.tick_ms) % _WEEK
        if clock < _MORNING or clock >= _WEEKEND:
            return since + (base * 21 + 19) // 20
        if _CLOSING <= clock % _DAY < _MORNING:
            return since + (base * 11 + 9) // 10
    numerator, denominator = setting.by_day
    if denominator == 0:
        whole = setting.segments * PARTS
        numerator = 3600 + (setting.reference_s * (whole - origin) + whole - 1) // whole
        denominator = 27000
    return since + (base * (numerator + denominator) + denominator - 1) // denominator


@kernel
def assign(setting: Setting, desk: Desk, q: int, task: int, instant: int) -> None:
    """Give a machine a copy of a task."""
    desk.task[q] = task
    restart(setting, desk, q, desk.saved[place(setting, task, q)])
    desk.expected[q] = instant + (ticks_to_go(setting, desk, q) if setting.is_level else desk.left[q])
    desk.deadline[q] = NEVER
    if setting.is_timed:
        desk.deadline[q] = _deadline(setting, instant, desk.origin[q], desk.left[q])
    desk.run_start[q] = instant
    desk.copies[task] += 1
    desk.endangered[task] = 0


@kernel
def close_run(desk: Desk, log: Log, q: int, instant: int) -> None:
    """Note a run that ends."""
    if desk.run_start[q] == NONE:
        return
    row = log.sizes[0]
    log.sizes[0] += 1
    if row < len(log.runs):
        log.runs[row, 0] = q
        log.runs[row, 1] = desk.task[q]
        log.runs[row, 2] = desk.run_start[q]
        log.runs[row, 3] = instant
        log.runs[row, 4] = desk.origin[q]
    desk.run_start[q] = NONE


@kernel
def remove(desk: Desk, log: Log, q: int, instant: int) -> None:
    """Take a machine's copy away."""
    close_run(desk, log, q, instant)
    task = desk.task[q]
    desk.copies[task] -= 1
    if desk.copies[task] == 0 and not desk.is_done[task]:
        desk.counts[_LOW] = min(desk.counts[_LOW], task)
    desk.task[q] = NONE
    desk.freed_at[q] = instant


@kernel
def _first_waiting(setting: Setting, desk: Desk) -> int:
    low = desk.counts[_LOW]
    while low < setting.tasks and (desk.is_done[low] or desk.copies[low] > 0):
        low += 1
    desk.counts[_LOW] = low
    return low if low < setting.tasks else NONE


@kernel
def _replicated(setting: Setting, desk: Desk) -> int:
    """Return the task to replicate; every task that is not done has a copy somewhere."""
    for q in range(len(setting.ticks)):
        if desk.task[q] != NONE:
            desk.latest[desk.task[q]] = NEVER
    for q in range(len(setting.ticks)):
        if desk.task[q] != NONE:
            desk.latest[desk.task[q]] = min(desk.latest[desk.task[q]], desk.expected[q])
    best = NONE
    for q in range(len(setting.ticks)):
        task = desk.task[q]
        if task in (NONE, best) or desk.copies[task] >= setting.max_copies:
            continue
        if best == NONE:
            best = task
        elif desk.endangered[task] != desk.endangered[best]:
            best = task if desk.endangered[task] else best
        elif desk.copies[task] != desk.copies[best]:
            best = task if desk.copies[task] < desk.copies[best] else best
        elif desk.latest[task] != desk.latest[best]:
            best = task if desk.latest[task] > desk.latest[best] else best
        elif task < best:
            best = task
    return best


@kernel
def choose(setting: Setting, desk: Desk, q: int, instant: int) -> int:
    """Return the task for a machine that asks."""
    task = _first_waiting(setting, desk)
    if setting.is_level:
        if task == NONE:
            return ahead(setting, desk, q, instant)
        return paced(setting, desk, q, instant, task) if setting.is_pace else least_saved(setting, desk, task)
    return _replicated(setting, desk) if task == NONE and setting.is_replicating else task
