"""Runs of the look-ahead policies in machine code: the arrays, and the calls of the kernels."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from hindsched.instances.array_types import Bytes, Ints
from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.schedule import NOT_ENROLLED, Configuration, Schedule
from hindsched.instances.random_streams import stream
from hindsched.instances.state_sources import StateSource
from hindsched.online.coupled.estimates import complete
from hindsched.online.coupled.kernels.application import application_of
from hindsched.online.coupled.kernels.bit_sets import num_words
from hindsched.online.coupled.lookahead.attempts import attempt_model, with_hazard
from hindsched.online.coupled.lookahead.kernels import planner_arguments, planner_kernels, rollout_kernels
from hindsched.online.coupled.lookahead.kernels.planner_arguments import ABSENT, CHOSEN
from hindsched.online.coupled.lookahead.parameters import PlannerOptions, Settings
from hindsched.online.coupled.lookahead.rollout import FACTORS, HORIZON
from hindsched.online.coupled.visible import Problem

__all__ = ["LEAST_EXPECTED", "PlannerArrays", "planner_arrays", "run_kernel", "slots_per_iteration"]

#: Least number of expected iterations of a pilot run; smaller expectations are unreliable.
LEAST_EXPECTED = 1e-3
#: Number of slots that are drawn at first.
_BLOCK = 512
#: Number of cached sets, largest number of cached sets with their values for one more member, and of all these values.
_PLACES, _ROWS, _MOST_VALUES = 1 << 16, 1 << 13, 1 << 24


class PlannerArrays:
    """Arrays that the runs of one problem share."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.application = application_of(problem)
        model, p = attempt_model(problem), problem.num_workers
        made = model.tables
        powers = made.p_plus[:, None] ** np.arange(model.longest + 1)
        length = made.stay.shape[2]
        reach = np.empty((2 * p + 2 * model.most_reach_tables * powers.shape[1], length))
        reach[: 2 * p] = made.up.reshape(2 * p, length)
        labels = stream("coupled", "labels of states").integers(2**64, size=(p, 2, 2), dtype=np.uint64)
        sums = np.zeros((_PLACES, 8))
        num_rows = min(_ROWS, 1 << (_MOST_VALUES // (7 * p)).bit_length() - 1)
        bases = np.full((num_rows, 2 + 2 * num_words(p)), 2**64 - 1, dtype=np.uint64)  # no set has this key
        self.tables = planner_arguments.AttemptTables(
            *made._replace(up=reach[: 2 * p].reshape(p, 2, length)),
            powers=powers,
            reach=reach,
            reach_places=np.full((p, 2), -1),
            reach_filled=np.zeros((p, 2), dtype=np.int64),
            num_lines=np.full(1, 2 * p),
            labels=labels,
            sets=sums.view(np.uint64),
            sums=sums,
            bases=bases,
            rows=np.empty((num_rows, 7, p)),
        )
        self.scratch = self._scratch(length)

    def _scratch(self, length: int) -> planner_arguments.Scratch:
        p, tasks = self.problem.num_workers, self.problem.tasks
        fields = planner_arguments.Scratch._fields
        words = num_words(p)
        shapes: dict[str, tuple[int, ...]] = {
            "able_set": (words,), "reclaimed_set": (words,), "base": (p + 1,), "guess": (tasks,), "reach": (length,),
            "other": (length,), "products": (4, length), "cost": (1,),
        }  # fmt: skip
        types: dict[str, type] = dict.fromkeys(("able_set", "reclaimed_set"), np.uint64)
        types |= dict.fromkeys(("joins", "reach", "other", "products", "cost"), np.float64)
        made: list[Any] = [np.zeros(shapes.get(name, (p,)), dtype=types.get(name, np.int64)) for name in fields]
        scratch = planner_arguments.Scratch(*made)
        return scratch._replace(fastest=np.argsort(self.problem.w, kind="stable"))

    def futures(self, count: int) -> planner_arguments.Futures:
        """Return arrays for ``count`` futures, their transition probabilities, and a simulated run."""
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
            self.run_state(),
            self._scratch(self.tables.stay.shape[2]),
        )

    def run_state(self) -> planner_arguments.RunState:
        """Return the state in which a run begins."""
        p = self.problem.num_workers

        def ints(value: int = 0, size: int = p) -> Ints:
            return np.full(size, value, dtype=np.int64)

        return planner_arguments.RunState(ints(size=CHOSEN + 1), ints(ABSENT), ints(), ints(), ints(), np.zeros(1))


@lru_cache(maxsize=2)
def planner_arrays(problem: Problem) -> PlannerArrays:
    """Return the arrays for a problem; the last few are cached."""
    return PlannerArrays(problem)


def run_kernel(
    instance: Instance, options: PlannerOptions, settings: Settings, *, limit: int, schedule_slots: int
) -> tuple[int, int, Schedule]:
    """Run a look-ahead policy; return slots simulated, iterations completed and the schedule of the first slots."""
    problem = with_hazard(Problem.of(instance), settings.hazard)
    run_state = planner_arrays(problem).run_state()
    recorder = _Recorder(instance.num_workers, schedule_slots)
    done = _run_to_end(problem, options, settings, run_state, instance, limit, instance.iterations, recorder)
    return done, int(run_state.at[planner_arguments.ITERATION]), recorder.schedule(instance.fingerprint, done)


def slots_per_iteration(
    problem: Problem, options: PlannerOptions, settings: Settings, source: StateSource, iterations: int
) -> float:
    """Return the mean slots of an iteration over the first ``iterations`` iterations of a run on given states.

    If the states end before these are complete, divide by the expected number of completed iterations instead (see
    `planner_kernels.run`), at least `LEAST_EXPECTED`.
    """
    run_state = planner_arrays(problem).run_state()
    recorder = _Recorder(problem.num_workers, 0)
    done = _run_to_end(problem, options, settings, run_state, source, source.shape[1], iterations, recorder)
    if int(run_state.at[planner_arguments.ITERATION]) == iterations:
        return done / iterations
    return done / max(LEAST_EXPECTED, float(run_state.expected[0]))


def _run_to_end(
    problem: Problem,
    policy: PlannerOptions,
    settings: Settings,
    run_state: planner_arguments.RunState,
    states: Instance | StateSource,
    limit: int,
    iterations: int,
    recorder: _Recorder,
) -> int:
    """Run to the end; return the number of simulated slots."""
    arrays = planner_arrays(problem)
    options = planner_arguments.PlannerArguments(
        policy.stands_by, policy.prefetches, settings.exchanges, settings.value
    )
    context = planner_arguments.PlannerContext(arrays.application, options, arrays.tables, arrays.scratch)
    futures = arrays.futures(settings.futures) if settings.futures else None
    while True:
        until = min(limit, 2 * int(run_state.at[planner_arguments.SLOT]) + _BLOCK)
        known = np.array(states.prefix(until), order="C")  # one memory layout, so that kernels are compiled once
        record = recorder.room(until)
        given = context, known, run_state, record, until, iterations
        if futures is None:
            planner_kernels.run(*given)
        else:
            rollout_kernels.run_rolling(*given, futures)
        done = int(run_state.at[planner_arguments.SLOT])
        if done == limit or run_state.at[planner_arguments.ITERATION] == iterations:
            return done


class _Recorder:
    """The schedule of the first slots, as the kernel writes it."""

    def __init__(self, p: int, slots: int) -> None:
        self._slots = slots
        self._letters: Bytes = np.empty((0, p), dtype=np.uint8)
        self._tasks: Ints = np.empty((0, p), dtype=np.int64)
        self._is_new: Bytes = np.empty(0, dtype=np.uint8)

    def room(self, until: int) -> planner_arguments.Record:
        """Return the record with room for slots before ``until``, as far as these are recorded."""
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
            Configuration(slot, {q: x for q, x in enumerate(self._tasks[slot].tolist()) if x != ABSENT})
            for slot in np.flatnonzero(self._is_new[:done]).tolist()
        )
        return Schedule(fingerprint, tuple(row.tobytes().decode("ascii") for row in letters), entries)
