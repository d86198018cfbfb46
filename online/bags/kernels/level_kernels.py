"""What LEVEL and PACE choose; the twin of `hindsched.online.bags.level`. Stores are shared."""

from __future__ import annotations

from hindsched.instances.compiling import kernel
from hindsched.online.bags.kernels.arguments import NEVER, NONE, Desk, Setting
from hindsched.online.bags.kernels.checkpoint_kernels import first_ticks

__all__ = ["ahead", "least_saved", "paced"]


@kernel
def _waits(desk: Desk, task: int) -> bool:
    return not desk.is_done[task] and desk.copies[task] == 0


@kernel
def least_saved(setting: Setting, desk: Desk, first: int) -> int:
    """Return the task that waits with the least saved; ``first`` is the first one that waits."""
    best = first
    for task in range(first + 1, setting.tasks):
        if desk.rest[best] == setting.segments:
            break  # nobody has less than nothing
        if desk.rest[task] > desk.rest[best] and _waits(desk, task):
            best = task
    return best


@kernel
def paced(setting: Setting, desk: Desk, q: int, instant: int, first: int) -> int:
    """Return the task that waits and whose pace the machine has; ``first`` is the first one that waits."""
    number, total, longest = 0, 0, 0
    for task in range(setting.tasks):
        rest = desk.rest[task]
        number += 1 if rest else 0  # nothing is left of those that are done
        total += rest
        longest = max(longest, rest)
    rate, fastest = 0.0, 0
    for r in setting.by_speed:
        if desk.is_up[r] and number:
            fastest = setting.ticks[r] if fastest == 0 else fastest
            rate += 1 / setting.ticks[r]
            number -= 1
    tau = instant + max(int(total / rate), longest * fastest)
    time_left = tau - (instant + setting.ticks[q])  # what is saved is whole segments
    best, least, fits = NONE, 0, False
    for task in range(first, setting.tasks):
        rest = desk.rest[task] - 1
        if (best != NONE and rest == desk.rest[best] - 1) or not _waits(desk, task):
            continue  # as good as one of a lower index
        if rest * fastest <= time_left:
            rank = abs(rest * setting.ticks[q] - time_left)
            if not fits or rank < least:
                best, least, fits = task, rank, True
        elif not fits and (best == NONE or rest < least):
            best, least = task, rest
    return best


@kernel
def ahead(setting: Setting, desk: Desk, q: int, instant: int) -> int:
    """Return the task to replicate, every unfinished one has a copy; where the machine is ahead of all copies first."""
    for r in range(len(setting.ticks)):
        if desk.task[r] != NONE:
            desk.latest[desk.task[r]] = NEVER
    for r in range(len(setting.ticks)):
        if desk.task[r] != NONE:
            desk.latest[desk.task[r]] = min(desk.latest[desk.task[r]], desk.expected[r])
    best, best_rank = NONE, (0, 0, 0, 0, 0)
    for r in range(len(setting.ticks)):
        task = desk.task[r]
        if task in (NONE, best):
            continue
        end, saved, copies = desk.latest[task], desk.saved[task], desk.copies[task]
        lead = end - (instant + first_ticks(saved, setting.ticks[q]))
        if lead > 0:
            rank = (0, saved, -lead, 0, task)
        elif copies < setting.max_copies:
            rank = (1, copies, saved, -end, task)
        else:
            continue
        if best == NONE or rank < best_rank:
            best, best_rank = task, rank
    return best
