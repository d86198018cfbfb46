"""The search around the best schedule, as the portfolio calls it: walk after walk, each from the best known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from hindsched.instances.array_types import Ints
from hindsched.instances.states import UP
from hindsched.offline.coupled.local_search.annealing import BETTER, MOVES, WALKED, anneal, begin, make_walk
from hindsched.offline.coupled.local_search.repair import Weights, list_stays, make_windows, set_windows, start_of
from hindsched.offline.coupled.local_search.service import gather, make_crew, run_iteration
from hindsched.offline.coupled.plans import IterationPlan
from hindsched.offline.coupled.search.constants import NEVER, OWN, PAUSE_EFFORT, PER_STEP, SPENT, STAND_BY, STOP
from hindsched.offline.coupled.search.instance_arrays import Problem, make_problem
from hindsched.offline.coupled.search.state_tables import StateTables, Table

if TYPE_CHECKING:
    from hindsched.offline.coupled.search.label_search import Incumbent
    from hindsched.offline.coupled.search.workspace import Workspace

__all__ = ["Improver", "warm_up"]

#: Moves of one walk; the temperatures, in slots, that it begins and ends with; pauses that a window has room for.
_MOVES, _HOT, _COLD, _PAUSES = 40_000, 0.7, 0.07, 8
_LONGEST_STRIDE = 50  # aims at a schedule that is shorter by such a part at most
_SLOT = 50.0  # how wrong it is to end a slot late
_PROGRAM = 0.02  # how wrong a program is, as a share of its time on the channel: enough to do without idle ones
_TASK = 1.3  # how wrong a missing task is, as a multiple of the programs that the start has for a task


class Improver:
    """Walks from the best schedule known; for the makespan.

    Parameters
    ----------
    problem
        The instance, without its states.
    mode
        `constants.STAND_BY` or `constants.OWN`.
    iterations
        K.
    seed
        What is drawn depends on it.

    Notes
    -----
    ``cost`` and ``plan`` are the best schedule, of those entered and those found.
    """

    def __init__(self, problem: Problem, mode: int, iterations: int, seed: int = 0) -> None:
        self.problem, self.iterations = problem, iterations
        self.cost = NEVER
        self.plan: tuple[IterationPlan, ...] = ()
        self._is_own = mode == OWN
        self._walk = make_walk(iterations, problem.p, _PAUSES, seed)
        self._start = make_windows(iterations, problem.p, _PAUSES)
        self._weights = Weights(0.0, 0.0, 0.0, 0.0)
        self._is_walking = False
        self._stride = 1

    def work(self, workspace: Workspace, incumbent: Incumbent, steps: int) -> None:
        """Spend about `steps` units of work on the incumbent, and offer what is better; proves nothing."""
        until = workspace.effort_spent() + PER_STEP * steps
        while incumbent.plan:
            self.enter(workspace.table, incumbent.cost, incumbent.plan)
            left = until - workspace.effort_spent()
            if left <= 0:
                return
            workspace.check()
            workspace.stop_after(min(left, PAUSE_EFFORT))  # then time is looked at, and an interrupt is heard
            if self.go_on(workspace.table, workspace.scratch.effort):
                incumbent.take(self.cost, self.plan)

    def enter(self, table: Table, cost: int, plan: tuple[IterationPlan, ...]) -> None:
        """Walk around this schedule from now on, if it is better."""
        if cost < self.cost:
            self.cost, self.plan = cost, plan
            self._start_from(table, plan)
            self._is_walking = False

    def go_on(self, table: Table, effort: Ints) -> bool:
        """Walk on until the effort is spent; True if a better schedule was found before."""
        walk, problem = self._walk, self.problem
        while effort[SPENT] <= effort[STOP]:
            if not self._is_walking:  # once more from the best state
                set_windows(walk.now, self._start)
                walk.counts[MOVES] = 0
                begin(table, problem, walk, self._weights, self._aim(), self._is_own, effort)
            latest, aim = self._latest(), self._aim()
            why = anneal(table, problem, walk, self._weights, latest, aim, _MOVES, _HOT, _COLD, self._is_own, effort)
            self._is_walking = why != WALKED
            if why == BETTER:
                self.plan = self._spell_out(table, effort)
                self.cost = _span(table, problem, self.plan[-1])[1] + 1
                set_windows(self._start, walk.now)
                self._stride = min(2 * self._stride, 1 + self.cost // _LONGEST_STRIDE)
                walk.wrong[0] += _SLOT * (aim - self._aim())
                return True
            if why == WALKED:
                self._stride = 1
        return False

    def _latest(self) -> int:
        """Return the slot in which a better schedule has ended."""
        return self.cost - 2

    def _aim(self) -> int:
        """Return the slot in which the walk would have a schedule end: ever earlier while it succeeds."""
        return self._latest() - self._stride + 1

    def _start_from(self, table: Table, plan: Sequence[IterationPlan]) -> None:
        """Make a plan the state that walks start from."""
        problem = self.problem
        spans = [_span(table, problem, iteration) for iteration in plan]
        pauses = max(len(span[2]) for span in spans)
        if pauses > self._walk.now.pauses.shape[1]:
            generator = self._walk.generator
            self._walk = make_walk(self.iterations, problem.p, pauses, 0)
            self._walk.generator[:] = generator
        start = make_windows(self.iterations, problem.p, self._walk.now.pauses.shape[1])
        for k, (iteration, (first, last, paused)) in enumerate(zip(plan, spans, strict=True)):
            start.first[k], start.last[k] = first, last
            start.work[k] = np.searchsorted(problem.work, _work(problem, iteration))
            start.pauses[k, : len(paused)] = paused
            for q, served in iteration.service.items():
                if len(served) > iteration.tasks.get(q, 0) * problem.t_data:
                    start.sent[k, q] = 1
        self._start = start
        price = problem.t_prog / problem.n_com
        programs = max(1, int(start.sent.sum())) / (self.iterations * problem.m)
        self._weights = Weights(1.0, _TASK * price * programs, _PROGRAM * price, _SLOT)

    def _spell_out(self, table: Table, effort: Ints) -> tuple[IterationPlan, ...]:
        """Return the plan of the present state of the walk, with which nothing is wrong."""
        walk, problem = self._walk, self.problem
        now, fits, books = walk.now, walk.fits, walk.books
        n = list_stays(problem, now, fits, books, effort)
        plan = []
        for k in range(self.iterations):
            s, c = start_of(now, k), int(now.first[k])
            crew = make_crew(problem.p, c - s)
            run_iteration(table, problem, now, fits, books, crew, n, k, self._is_own, effort)
            size = gather(table, problem, now, fits, books, crew, n, k)
            workers, tasks = crew.worker[:size].tolist(), crew.tasks[:size].tolist()
            service = {q: tuple((crew.slots[:, j].nonzero()[0] + s).tolist()) for j, q in enumerate(workers)}
            plan.append(
                IterationPlan(
                    dict(sorted((q, x) for q, x in zip(workers, tasks, strict=True) if x)),
                    dict(sorted((q, served) for q, served in service.items() if served)),
                    c,
                )
            )
        return tuple(plan)

    def bytes_held(self) -> int:
        """Memory taken."""
        groups = (self._walk.now, self._walk.trial, self._walk.fits, self._walk.trial_fits, self._walk.books)
        return sum(array.nbytes for group in groups for array in group)


@cache
def warm_up() -> None:
    """Load the machine code of these kernels, or compile it. Done once in a process."""
    table = StateTables(lambda start, stop: np.full((2, stop - start), UP, np.uint8), 2, 6, 6).table
    effort = np.array([0, NEVER, 1])
    ones = np.ones(2, np.int64)
    problem = make_problem(ones, ones, 2, 1, 1, 1)
    plan = (IterationPlan({0: 1, 1: 1}, {0: (0, 1), 1: (2, 3)}, 4),)
    improver = Improver(problem, STAND_BY, 1)
    improver.enter(table, 5, plan)
    improver.go_on(table, effort)
    improver._spell_out(table, effort)


def _work(problem: Problem, iteration: IterationPlan) -> int:
    """Return W."""
    return max(count * int(problem.w[q]) for q, count in iteration.tasks.items())


def _span(table: Table, problem: Problem, iteration: IterationPlan) -> tuple[int, int, list[int]]:
    """Return the first and the last slot in which an iteration computes, and those between in which it does not."""
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
