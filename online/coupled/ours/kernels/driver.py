"""A run of a policy of ours in machine code."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from instances.coupled.model import Instance
from instances.coupled.schedule import NOT_ENROLLED, Configuration, Schedule
from instances.sources import StateSource
from online.coupled.ours.chances import chances_of
from online.coupled.ours.kernels import layout, slots
from online.coupled.ours.kernels.compiling import Bytes, Ints
from online.coupled.ours.planner import Rules
from online.coupled.visible import Problem

__all__ = ["Tools", "kernel_rules", "run_kernel", "slots_per_iteration", "tools_of"]

_BLOCK = 512
#: Places for what is remembered of sets.
_PLACES = 1 << 15


class Tools:
    """What runs of one problem share."""

    def __init__(self, problem: Problem) -> None:
        p = problem.num_workers
        self.problem = problem
        self.application = layout.Application(
            problem.tasks,
            problem.iterations,
            p + 1 if problem.n_com is None else problem.n_com,
            p if problem.n_com is None else min(problem.n_com, p),
            problem.t_prog,
            problem.t_data,
            np.array(problem.w, dtype=np.int64),
            np.array(problem.capacities, dtype=np.int64),
        )
        made = chances_of(problem).tables
        self.chances = layout.Chances(*made, np.zeros((_PLACES, 2), dtype=np.uint64), np.zeros((_PLACES, 3)))
        length = made.stay.shape[2]

        def ints() -> Ints:
            return np.zeros(p, dtype=np.int64)

        self.scratch = layout.Scratch(
            *(ints() for _ in range(3)),
            np.zeros(problem.tasks, dtype=np.int64),
            *(np.zeros(length) for _ in range(2)),
            *(ints() for _ in range(3)),
            np.zeros(1),
            *(ints() for _ in range(5)),
        )

    def standing(self) -> layout.Standing:
        """Return where a run begins."""
        p = self.problem.num_workers

        def ints(value: int = 0, size: int = p) -> Ints:
            return np.full(size, value, dtype=np.int64)

        return layout.Standing(ints(size=layout.CHOSEN + 1), ints(layout.NOBODY), ints(), ints(), ints())


@lru_cache(maxsize=4)
def tools_of(problem: Problem) -> Tools:
    """Return the tools for a problem, remembered for the last few."""
    return Tools(problem)


def run_kernel(
    instance: Instance, rules: layout.Rules, *, limit: int, schedule_slots: int
) -> tuple[int, int, Schedule]:
    """Run a policy of ours; return slots simulated, iterations completed and the schedule of the first slots."""
    tools = tools_of(Problem.of(instance))
    standing = tools.standing()
    recorder = _Recorder(instance.num_workers, schedule_slots)
    done = _go_on(tools, rules, standing, instance, limit, instance.iterations, recorder)
    return done, int(standing.at[layout.ITERATION]), recorder.schedule(instance.fingerprint, done)


def slots_per_iteration(problem: Problem, rules: layout.Rules, source: StateSource, iterations: int) -> float:
    """Return the slots that an iteration takes on the average over some of them, on states of one's own."""
    tools = tools_of(problem)
    standing = tools.standing()
    done = _go_on(tools, rules, standing, source, source.shape[1], iterations, _Recorder(problem.num_workers, 0))
    return done / max(1, int(standing.at[layout.ITERATION]))


def _go_on(
    tools: Tools,
    rules: layout.Rules,
    standing: layout.Standing,
    states: Instance | StateSource,
    limit: int,
    iterations: int,
    recorder: _Recorder,
) -> int:
    while True:
        done = int(standing.at[layout.SLOT])
        until = min(limit, 2 * done + _BLOCK)
        known = states.prefix(until)
        slots.run(
            tools.application,
            rules,
            tools.chances,
            tools.scratch,
            known,
            standing,
            recorder.room(until),
            until,
            iterations,
        )
        done = int(standing.at[layout.SLOT])
        if done == limit or standing.at[layout.ITERATION] == iterations:
            return done


class _Recorder:
    """The schedule of the first slots as the kernel writes it."""

    def __init__(self, p: int, slots: int) -> None:
        self._slots = slots
        self._letters: Bytes = np.empty((0, p), dtype=np.uint8)
        self._tasks: Ints = np.empty((0, p), dtype=np.int64)
        self._is_new: Bytes = np.empty(0, dtype=np.uint8)

    def room(self, until: int) -> layout.Record:
        """Return the record with room for slots before ``until``, as far as they are wanted."""
        known, p = self._letters.shape
        more = min(until, self._slots) - known
        if more > 0:
            self._letters = np.concatenate((self._letters, np.full((more, p), ord(NOT_ENROLLED), dtype=np.uint8)))
            self._tasks = np.concatenate((self._tasks, np.empty((more, p), dtype=np.int64)))
            self._is_new = np.concatenate((self._is_new, np.zeros(more, dtype=np.uint8)))
        return layout.Record(self._letters, self._tasks, self._is_new)

    def schedule(self, fingerprint: str, done: int) -> Schedule:
        """Return the schedule of a run of ``done`` slots."""
        letters = np.ascontiguousarray(self._letters[:done].T)
        entries = tuple(
            Configuration(slot, {q: x for q, x in enumerate(self._tasks[slot].tolist()) if x != layout.NOBODY})
            for slot in np.flatnonzero(self._is_new[:done]).tolist()
        )
        return Schedule(fingerprint, tuple(row.tobytes().decode("ascii") for row in letters), entries)


def kernel_rules(rules: Rules, value: float) -> layout.Rules:
    """Return a policy's rules as the kernel takes them."""
    return layout.Rules(rules.stands_by, rules.prefetches, value)
