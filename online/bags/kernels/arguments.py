"""Arguments of the compiled simulator of bags, in named groups."""

from __future__ import annotations

from typing import NamedTuple

from hindsched.instances.array_types import Bytes, Ints

__all__ = ["DONE", "LOW", "NEVER", "NONE", "STARTED", "Log", "RunSettings", "RunState"]


#: No machine, no task, no run.
NONE = -1
#: An instant after all others.
NEVER = 2**62
#: Indices of ``RunState.counts``: completed tasks, a task before which no task waits, and (for schedulers that do not
#: resubmit, which start tasks by index) the number of tasks started.
DONE, LOW, STARTED = 0, 1, 2


class RunSettings(NamedTuple):
    """The constants of a run."""

    tasks: int
    segments: int
    slot: int
    move: int  # 0 where moves are not paid
    ticks: Ints  # g_q
    by_speed: Ints  # machines, the fastest first
    states: Bytes
    warns: Bytes  # the predictor's answers, of the shape of the states
    is_private: bool
    is_noticed: bool  # whether copies on DOWN machines are removed
    is_timed: bool
    is_replicating: bool
    is_predicting: bool
    is_immediate: bool
    is_level: bool
    is_pace: bool
    is_by_end: bool  # whether the latest expected end decides between tasks with equally many copies
    is_resubmitting: bool
    is_from_nothing: bool  # whether copies ignore checkpoints
    is_uniform: bool  # whether a machine without a task means that no machine gets one
    excluded: Bytes  # (p,): machines that get no task
    max_copies: int
    by_day: tuple[int, int]  # the tolerance by day, numerator and denominator; denominator 0: the formula
    clock_ms: int  # of instant 0; negative without clock
    tick_ms: int
    reference_s: int


class RunState(NamedTuple):
    """The state of machines, tasks and checkpoints."""

    task: Ints  # (p,): the task of each machine's copy, or NONE
    expected: Ints  # (p,): the expected end of the copy (for LEVEL and PACE: of its segment)
    deadline: Ints  # (p,)
    origin: Ints  # (p,): the state of the last start
    done: Ints  # (p,): UP ticks since then, negative while the machine fetches the state
    left: Ints  # (p,): UP ticks to the end of the task
    run_start: Ints  # (p,): the start of the run, or NONE
    is_up: Bytes  # (p,)
    up_since: Ints  # (p,)
    freed_at: Ints  # (p,): when the machine's last copy was removed
    copies: Ints  # (N,): live copies of each task
    is_done: Bytes  # (N,)
    endangered: Bytes  # (N,)
    latest: Ints  # (N,): scratch
    rest: Ints  # (N,): segments not saved, with shared stores
    saved: Ints  # checkpoints by task, or by task and machine
    own: Ints  # the greatest state that each machine has saved itself, by task and machine; empty if moves are not paid
    marks: Bytes  # (p,): machines that a completion freed
    order: Ints  # (p,): idle machines in the order in which they are served
    counts: Ints  # (3,): see DONE, LOW and STARTED


class Log(NamedTuple):
    """The recorded schedule; rows that do not fit are counted only."""

    runs: Ints  # (n, 5): machine, task, start, end, origin
    saves: Ints  # (n, 2): machine, instant
    sizes: Ints  # (2,): numbers of runs and saves
