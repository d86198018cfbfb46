"""What the kernels are handed: the setting of a run, and its state in arrays."""

from __future__ import annotations

from typing import NamedTuple

from hindsched.instances.array_types import Bytes, Ints

__all__ = ["NEVER", "NONE", "Desk", "Log", "Setting"]


#: No machine, no task, no run.
NONE = -1
#: An instant that never comes.
NEVER = 2**62


class Setting(NamedTuple):
    """What does not change during a run.

    ``ticks`` are the g_q, ``by_speed`` the machines, fastest first, ``states`` the states array, ``warns`` the
    predictor's answers of the same shape, ``by_day`` the tolerance by day as a numerator and a denominator (denominator
    0: the formula). ``clock_ms`` is that of instant 0, below 0 without a clock.
    """

    tasks: int
    segments: int
    slot: int
    ticks: Ints
    by_speed: Ints
    states: Bytes
    warns: Bytes
    is_private: bool
    is_timed: bool
    is_replicating: bool
    is_predicting: bool
    is_immediate: bool
    is_level: bool
    is_pace: bool
    max_copies: int
    by_day: tuple[int, int]
    clock_ms: int
    tick_ms: int
    reference_s: int


class Desk(NamedTuple):
    """How machines, tasks and stores stand.

    Of each machine: the task of its copy or `NONE`, when it is ``expected`` to end (for LEVEL and PACE: its segment),
    its ``deadline``; the state it last started from (``origin``), UP ticks since (``done``) and to the end (``left``),
    the start of its run or `NONE`; whether it is UP, since when, and when it was last freed. Of each task: live
    ``copies``, whether it is done, whether it is ``endangered``; ``latest`` is room to work in; ``rest`` are its
    segments not saved, where stores are shared. ``saved`` has the states of the store, by task, or by task and machine.
    ``marks``: machines freed just now; ``order``: those that ask. ``counts``: tasks done, and a task before which none
    waits.
    """

    task: Ints
    expected: Ints
    deadline: Ints
    origin: Ints
    done: Ints
    left: Ints
    run_start: Ints
    is_up: Bytes
    up_since: Ints
    freed_at: Ints
    copies: Ints
    is_done: Bytes
    endangered: Bytes
    latest: Ints
    rest: Ints
    saved: Ints
    marks: Bytes
    order: Ints
    counts: Ints


class Log(NamedTuple):
    """The schedule in the making: rows of (machine, task, start, end, origin), of (machine, instant), and how many.

    What does not fit is only counted.
    """

    runs: Ints
    saves: Ints
    sizes: Ints
