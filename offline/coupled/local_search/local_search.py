"""The local search that the portfolio calls: one annealing run after the other, each from the best schedule known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from hindsched.instances.array_types import Ints
from hindsched.instances.states import UP
from hindsched.offline.coupled.local_search.annealing import (
    FOUND_BETTER,
    MOVES_DONE,
    NUM_MOVES,
    AnnealingSettings,
    anneal,
    make_annealing_state,
    start_annealing,
)
from hindsched.offline.coupled.local_search.parameters import LocalSearchParameters
from hindsched.offline.coupled.local_search.repair import (
    ViolationWeights,
    list_periods,
    make_windows,
    set_windows,
    start_of,
)
from hindsched.offline.coupled.local_search.service import list_participants, make_service, serve_iteration
from hindsched.offline.coupled.plans import IterationPlan
from hindsched.offline.coupled.search.effort import EFFORT_PER_CLOCK_CHECK, EFFORT_PER_STEP, SPENT, STOP
from hindsched.offline.coupled.search.instance_arrays import Problem, make_problem
from hindsched.offline.coupled.search.modes import NO_STAND_BY, STAND_BY
from hindsched.offline.coupled.search.slot_codes import NEVER
from hindsched.offline.coupled.search.state_tables import StateTables, Table

if TYPE_CHECKING:
    from hindsched.offline.coupled.search.label_search import Incumbent
    from hindsched.offline.coupled.search.workspace import Workspace

__all__ = ["LocalSearch", "warm_up"]


class LocalSearch:
    """Simulated annealing from the best schedule known, for the makespan.

    Parameters
    ----------
    problem
        The instance, without its states.
    mode
        `modes.STAND_BY` or `modes.NO_STAND_BY`.
    iterations
        K.
    seed
        Seed of the random numbers.
    parameters
        Temperatures, weights and shares of moves.

    Notes
    -----
    ``cost`` and ``plan`` are those of the best schedule, received or found.
    """

    def __init__(
        self,
        problem: Problem,
        mode: int,
        iterations: int,
        seed: int = 0,
        parameters: LocalSearchParameters = LocalSearchParameters(),  # noqa: B008 - immutable
    ) -> None:
        self.problem, self.iterations = problem, iterations
        self.cost = NEVER
        self.plan: tuple[IterationPlan, ...] = ()
        self._state = make_annealing_state(iterations, problem.p, parameters.pauses, seed)
        self._start = make_windows(iterations, problem.p, parameters.pauses)
        weights = ViolationWeights(0.0, 0.0, 0.0, 0.0)
        self._settings = AnnealingSettings(weights, parameters, mode == NO_STAND_BY)
        self._is_running = False
        self._stride = 1  # slots by which the target is below the incumbent

    def work(self, workspace: Workspace, incumbent: Incumbent, steps: int) -> None:
        """Spend about `steps` steps on the incumbent and offer better schedules; prove nothing."""
        until = workspace.effort_spent() + EFFORT_PER_STEP * steps
        while incumbent.plan:
            self.set_start(workspace.table, incumbent.cost, incumbent.plan)
            left = until - workspace.effort_spent()
            if left <= 0:
                return
            workspace.check()
            workspace.stop_after(min(left, EFFORT_PER_CLOCK_CHECK))
            if self.run(workspace.table, workspace.scratch.effort):
                incumbent.take(self.cost, self.plan)

    def set_start(self, table: Table, cost: int, plan: tuple[IterationPlan, ...]) -> None:
        """Start all further runs from this schedule if it is better."""
        if cost < self.cost:
            self.cost, self.plan = cost, plan
            self._start_from(table, plan)
            self._is_running = False

    def run(self, table: Table, effort: Ints) -> bool:
        """Anneal until the effort is spent; return True at once if a better schedule is found."""
        state, settings = self._state, self._settings
        while effort[SPENT] <= effort[STOP]:
            if not self._is_running:
                set_windows(state.now, self._start)
                state.counts[NUM_MOVES] = 0
                start_annealing(table, self.problem, state, settings, self._target(), effort)
            latest, target = self._latest(), self._target()
            reason = anneal(table, self.problem, state, settings, latest, target, effort)
            self._is_running = reason != MOVES_DONE
            if reason == FOUND_BETTER:
                self.plan = self._extract_plan(table, effort)
                self.cost = _span(table, self.problem, self.plan[-1])[1] + 1
                set_windows(self._start, state.now)
                self._stride = min(2 * self._stride, 1 + self.cost // settings.parameters.target_divisor)
                state.violation[0] += settings.parameters.slot_weight * (target - self._target())
                return True
            if reason == MOVES_DONE:
                self._stride = 1
        return False

    def _latest(self) -> int:
        """Return the last slot in which a better schedule can end."""
        return self.cost - 2

    def _target(self) -> int:
        """Return the slot in which schedules should end: earlier after each success."""
        return self._latest() - self._stride + 1

    def _start_from(self, table: Table, plan: Sequence[IterationPlan]) -> None:
        """Make a plan the start of all further runs."""
        problem, parameters = self.problem, self._settings.parameters
        spans = [_span(table, problem, iteration) for iteration in plan]
        pauses = max(len(span[2]) for span in spans)
        if pauses > self._state.now.pauses.shape[1]:
            generator = self._state.generator
            self._state = make_annealing_state(self.iterations, problem.p, pauses, 0)
            self._state.generator[:] = generator
        start = make_windows(self.iterations, problem.p, self._state.now.pauses.shape[1])
        for k, (iteration, (first, last, paused)) in enumerate(zip(plan, spans, strict=True)):
            start.first[k], start.last[k] = first, last
            start.work[k] = np.searchsorted(problem.work, _work(problem, iteration))
            start.pauses[k, : len(paused)] = paused
            for q, served in iteration.service.items():
                if len(served) > iteration.tasks.get(q, 0) * problem.t_data:
                    start.sent[k, q] = 1
        self._start = start
        slots_per_program = problem.t_prog / problem.n_com
        programs_per_task = max(1, int(start.sent.sum())) / (self.iterations * problem.m)
        weights = ViolationWeights(
            channel=1.0,
            task=parameters.task_weight * slots_per_program * programs_per_task,
            program=parameters.program_weight * slots_per_program,
            slot=parameters.slot_weight,
        )
        self._settings = self._settings._replace(weights=weights)

    def _extract_plan(self, table: Table, effort: Ints) -> tuple[IterationPlan, ...]:
        """Return the plan of the accepted state, which has to be a schedule."""
        state, problem = self._state, self.problem
        now, limits, assignment = state.now, state.limits, state.assignment
        n = list_periods(problem, now, limits, assignment, effort)
        plan = []
        for k in range(self.iterations):
            s, c = start_of(now, k), int(now.first[k])
            service = make_service(problem.p, c - s)
            no_stand_by = self._settings.no_stand_by
            serve_iteration(table, problem, now, limits, assignment, service, n, k, no_stand_by, effort)
            size = list_participants(table, problem, now, limits, assignment, service, n, k)
            workers, tasks = service.worker[:size].tolist(), service.tasks[:size].tolist()
            slots = {q: tuple((service.slots[:, j].nonzero()[0] + s).tolist()) for j, q in enumerate(workers)}
            plan.append(
                IterationPlan(
                    dict(sorted((q, x) for q, x in zip(workers, tasks, strict=True) if x)),
                    dict(sorted((q, served) for q, served in slots.items() if served)),
                    c,
                )
            )
        return tuple(plan)

    def bytes_held(self) -> int:
        """Return the bytes of all arrays."""
        state = self._state
        groups = (state.now, state.trial, state.limits, state.trial_limits, state.assignment)
        return sum(array.nbytes for group in groups for array in group)


@cache
def warm_up() -> None:
    """Load or compile the machine code of these kernels, once in a process."""
    table = StateTables(lambda start, stop: np.full((2, stop - start), UP, np.uint8), 2, 6, 6).table
    effort = np.array([0, NEVER, 1])
    ones = np.ones(2, np.int64)
    problem = make_problem(ones, ones, 2, 1, 1, 1)
    plan = (IterationPlan({0: 1, 1: 1}, {0: (0, 1), 1: (2, 3)}, 4),)
    local_search = LocalSearch(problem, STAND_BY, 1)
    local_search.set_start(table, 5, plan)
    local_search.run(table, effort)
    local_search._extract_plan(table, effort)


def _work(problem: Problem, iteration: IterationPlan) -> int:
    """Return W."""
    return max(count * int(problem.w[q]) for q, count in iteration.tasks.items())


def _span(table: Table, problem: Problem, iteration: IterationPlan) -> tuple[int, int, list[int]]:
    """Return the first and the last computing slot of an iteration, and the slots between that do not compute."""
    members = list(iteration.tasks)
    computing: list[int] = []
    pauses: list[int] = []
    t, work = iteration.start, _work(problem, iteration)
    while len(computing) < work:
        if (table.cnt[t + 1, members] > table.cnt[t, members]).all():
            computing.append(t)
        elif computing:
            pauses.append(t)
        t += 1
    return computing[0], computing[-1], pauses
