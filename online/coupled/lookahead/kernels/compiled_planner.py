"""A run of a policy of ours in machine code."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from hindsched.instances.array_types import Bytes, Ints
from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.schedule import NOT_ENROLLED, Configuration, Schedule
from hindsched.instances.state_sources import StateSource
from hindsched.online.coupled.estimates import complete
from hindsched.online.coupled.kernels.application import application_of
from hindsched.online.coupled.lookahead.attempts import chances_of
from hindsched.online.coupled.lookahead.kernels import planner_arguments, planner_kernels, rollout_kernels
from hindsched.online.coupled.lookahead.kernels.planner_arguments import CHOSEN, NOBODY
from hindsched.online.coupled.lookahead.parameters import Rules, Settings
from hindsched.online.coupled.lookahead.rollout import FACTORS, HORIZON
from hindsched.online.coupled.visible import Problem

__all__ = ["LEAST_EXPECTED", "Tools", "run_kernel", "slots_per_iteration", "tools_of"]

#: Of fewer iterations to be expected of a pilot run nobody can tell how many they are.
LEAST_EXPECTED = 1e-3
_BLOCK = 512
#: Sets that are remembered, and sets with what becomes of them with one more member.
_PLACES, _ROWS = 1 << 16, 1 << 11


class Tools:
    """What runs of one problem share."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.application = application_of(problem)
        made = chances_of(problem).tables
        powers = made.again[:, None] ** np.arange(made.reach.shape[2])
        sums = np.zeros((_PLACES, 8))
        bases = np.zeros((_ROWS, 4), dtype=np.uint64)
        rows = np.zeros((_ROWS, 7, problem.num_workers))
        self.chances = planner_arguments.Chances(*made, powers, sums.view(np.uint64), sums, bases, rows)
        self.scratch = self._scratch(made.stay.shape[2])
        self._other: planner_arguments.Scratch | None = None

    def _scratch(self, length: int) -> planner_arguments.Scratch:
        p, tasks = self.problem.num_workers, self.problem.tasks
        fields = planner_arguments.Scratch._fields
        sizes = {"guess": tasks, "reach": length, "other": length, "worth": 1}
        reals = ("joins", "reach", "other", "worth")
        made = [np.zeros(sizes.get(name, p), dtype=np.float64 if name in reals else np.int64) for name in fields]
        scratch = planner_arguments.Scratch(*made)  # type: ignore[arg-type]
        return scratch._replace(fastest=np.argsort(self.problem.w, kind="stable"))

    def other(self) -> planner_arguments.Scratch:
        """Return room for what is imagined."""
        if self._other is None:
            self._other = self._scratch(self.chances.stay.shape[2])
        return self._other

    def futures(self, count: int) -> planner_arguments.Futures:
        """Return room for futures, and what they are drawn from."""
        chains, p, num = complete(self.problem.chains), self.problem.num_workers, 1 + len(FACTORS)
        return planner_arguments.Futures(
            count,
            np.zeros((p, HORIZON), dtype=np.uint8),
            np.zeros(1, dtype=np.int64),
            np.zeros(1, dtype=np.uint64),
            np.array([[[row[0], row[0] + row[1]] for row in chain.rows] for chain in chains]),
            np.array(FACTORS),
            np.zeros((num, p), dtype=np.int64),
            np.zeros(num),
        )

    def standing(self) -> planner_arguments.Standing:
        """Return where a run begins."""
        p = self.problem.num_workers

        def ints(value: int = 0, size: int = p) -> Ints:
            return np.full(size, value, dtype=np.int64)

        return planner_arguments.Standing(ints(size=CHOSEN + 1), ints(NOBODY), ints(), ints(), ints(), np.zeros(1))


@lru_cache(maxsize=4)
def tools_of(problem: Problem) -> Tools:
    """Return the tools for a problem, remembered for the last few."""
    return Tools(problem)


def run_kernel(
    instance: Instance, rules: Rules, settings: Settings, *, limit: int, schedule_slots: int
) -> tuple[int, int, Schedule]:
    """Run a look-ahead policy; return slots simulated, iterations completed and the schedule of the first slots."""
    problem = Problem.of(instance)
    standing = tools_of(problem).standing()
    recorder = _Recorder(instance.num_workers, schedule_slots)
    done = _go_on(problem, rules, settings, standing, instance, limit, instance.iterations, recorder)
    return done, int(standing.at[planner_arguments.ITERATION]), recorder.schedule(instance.fingerprint, done)


def slots_per_iteration(
    problem: Problem, rules: Rules, settings: Settings, source: StateSource, iterations: int
) -> float:
    """Return the slots that an iteration takes on the average over some of them, on states of one's own.

    Where the states end before so many are complete, their number is too small to go by. Then it is the number to be
    expected of the computations that were begun, `LEAST_EXPECTED` at the least.
    """
    standing = tools_of(problem).standing()
    recorder = _Recorder(problem.num_workers, 0)
    done = _go_on(problem, rules, settings, standing, source, source.shape[1], iterations, recorder)
    if int(standing.at[planner_arguments.ITERATION]) == iterations:
        return done / iterations
    return done / max(LEAST_EXPECTED, float(standing.expected[0]))


def _go_on(
    problem: Problem,
    policy: Rules,
    settings: Settings,
    standing: planner_arguments.Standing,
    states: Instance | StateSource,
    limit: int,
    iterations: int,
    recorder: _Recorder,
) -> int:
    """Run to the end; return the slots that were simulated."""
    tools = tools_of(problem)
    rules = planner_arguments.Rules(policy.stands_by, policy.prefetches, settings.exchanges, settings.value)
    more = (tools.futures(settings.futures), tools.standing(), tools.other()) if settings.futures else None
    while True:
        until = min(limit, 2 * int(standing.at[planner_arguments.SLOT]) + _BLOCK)
        known = np.array(states.prefix(until), order="C")  # one planner_arguments, so that kernels are compiled once
        record = recorder.room(until)
        given = tools.application, rules, tools.chances, tools.scratch, known, standing, record, until, iterations
        if more is None:
            planner_kernels.run(*given)
        else:
            rollout_kernels.run_rolling(*given, *more)
        done = int(standing.at[planner_arguments.SLOT])
        if done == limit or standing.at[planner_arguments.ITERATION] == iterations:
            return done


class _Recorder:
    """The schedule of the first slots as the kernel writes it."""

    def __init__(self, p: int, slots: int) -> None:
        self._slots = slots
        self._letters: Bytes = np.empty((0, p), dtype=np.uint8)
        self._tasks: Ints = np.empty((0, p), dtype=np.int64)
        self._is_new: Bytes = np.empty(0, dtype=np.uint8)

    def room(self, until: int) -> planner_arguments.Record:
        """Return the record with room for slots before ``until``, as far as they are wanted."""
        known, p = self._letters.shape
        more = min(until, self._slots) - known
        if more > 0:
            self._letters = np.concatenate((self._letters, np.full((more, p), ord(NOT_ENROLLED), dtype=np.uint8)))
            self._tasks = np.concatenate((self._tasks, np.empty((more, p), dtype=np.int64)))
            self._is_new = np.concatenate((self._is_new, np.zeros(more, dtype=np.uint8)))
        return planner_arguments.Record(self._letters, self._tasks, self._is_new)

    def schedule(self, fingerprint: str, done: int) -> Schedule:
        """Return the schedule of a run of ``done`` slots."""
        letters = np.ascontiguousarray(self._letters[:done].T)
        entries = tuple(
            Configuration(slot, {q: x for q, x in enumerate(self._tasks[slot].tolist()) if x != NOBODY})
            for slot in np.flatnonzero(self._is_new[:done]).tolist()
        )
        return Schedule(fingerprint, tuple(row.tobytes().decode("ascii") for row in letters), entries)
