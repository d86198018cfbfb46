"""The search around the best schedule, as the portfolio calls it: walks one after the other, each from the best known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from instances.coupled.model import Instance
from instances.states import UP
from offline.coupled.emit import IterationPlan, end_of
from offline.coupled.native.constants import OWN, PER_STEP, STAND_BY
from offline.coupled.native.improve.annealing import BETTER, MOVES, WALKED, anneal, begin, make_walk
from offline.coupled.native.improve.fitting import Weights, Windows, list_stays, start_of
from offline.coupled.native.improve.serving import gather, make_crew, run_iteration
from offline.limits import Limits

if TYPE_CHECKING:
    from offline.coupled.native.label_search import Incumbent
    from offline.coupled.native.workspace import Workspace

__all__ = ["Improver", "warm_up"]

#: Moves of one walk; the temperatures, in slots, that it begins and ends with; pauses that a window has room for.
_MOVES, _HOT, _COLD, _PAUSES = 40_000, 0.7, 0.07, 8
_LONGEST_STRIDE = 50  # aims at a schedule that is shorter by such a part at most
_SLOT = 50.0  # how wrong it is to end a slot late
_PROGRAM = 0.02  # how wrong a program is, as a share of its time on the channel: enough to do without idle ones
_TASK = 1.3  # how wrong a missing task is, as a multiple of the programs that the start has for a task


class Improver:
    """Walks from the best schedule known; for the makespan."""

    def __init__(self, workspace: Workspace, mode: int, iterations: int, seed: int = 0) -> None:
        self.workspace, self.iterations = workspace, iterations
        self._is_own = mode == OWN
        self._cost = workspace.slots + 1
        self._walk = make_walk(iterations, workspace.problem.p, _PAUSES, seed)
        self._start = self._walk.now
        self._weights = Weights(0.0, 0.0, 0.0, 0.0)
        self._is_walking = False
        self._stride = 1

    def work(self, incumbent: Incumbent, steps: int) -> None:
        """Spend about `steps` units of work, and offer what is better; proves nothing."""
        workspace = self.workspace
        until = workspace.effort_spent() + PER_STEP * steps
        while incumbent.plan is not None:
            if incumbent.cost < self._cost:
                self._cost = incumbent.cost
                self._enter(incumbent.plan)
                self._is_walking = False
            left = until - workspace.effort_spent()
            if left <= 0:
                return
            workspace.check()
            workspace.stop_after(left)
            why = self._go_on()
            if why == BETTER:
                plan = self._plan()
                before = self._aim()
                self._stride = min(2 * self._stride, 1 + self._cost // _LONGEST_STRIDE)
                self._cost = _end_of(workspace.instance, plan[-1])
                incumbent.take(self._cost, plan)
                self._start = _copy(self._walk.now)
                self._walk.wrong[0] += _SLOT * (before - self._aim())
            elif why == WALKED:
                self._stride = 1
            self._is_walking = why != WALKED

    def _latest(self) -> int:
        """Return the slot in which a better schedule has ended."""
        return self._cost - 2

    def _aim(self) -> int:
        """Return the slot in which the walk would have a schedule end: ever earlier while it succeeds."""
        return self._latest() - self._stride + 1

    def _go_on(self) -> int:
        """Walk on, or begin the next walk from the best state; return why it stopped."""
        workspace, walk = self.workspace, self._walk
        table, problem, effort = workspace.table, workspace.problem, workspace.scratch.effort
        if not self._is_walking:
            for now, first in zip(walk.now, self._start, strict=True):
                now[:] = first
            walk.count[MOVES] = 0
            begin(table, problem, walk, self._weights, self._aim(), self._is_own, effort)
        return int(
            anneal(
                table, problem, walk, self._weights, self._latest(), self._aim(), _MOVES, _HOT, _COLD, self._is_own, effort
            )
        )

    def _enter(self, plan: Sequence[IterationPlan]) -> None:
        """Make a plan the state that walks start from."""
        instance, problem = self.workspace.instance, self.workspace.problem
        spans = [_span(instance, iteration) for iteration in plan]
        pauses = max(len(span[2]) for span in spans)
        if pauses > self._walk.now.pauses.shape[1]:
            generator = self._walk.generator
            self._walk = make_walk(self.iterations, problem.p, pauses, 0)
            self._walk.generator[:] = generator
        start = _copy(self._walk.now)
        start.pauses[:] = -1
        start.sent[:] = 0
        for k, (iteration, (first, last, paused)) in enumerate(zip(plan, spans, strict=True)):
            w = max(count * instance.w[q] for q, count in iteration.tasks.items())
            start.first[k], start.last[k] = first, last
            start.work[k] = np.searchsorted(problem.work, w)
            start.pauses[k, : len(paused)] = paused
            for q, served in iteration.service.items():
                if len(served) > iteration.tasks.get(q, 0) * instance.t_data:
                    start.sent[k, q] = 1
        self._start = start
        price = problem.t_prog / problem.n_com
        programs = max(1, int(start.sent.sum())) / (self.iterations * problem.m)
        self._weights = Weights(1.0, _TASK * price * programs, _PROGRAM * price, _SLOT)

    def _plan(self) -> tuple[IterationPlan, ...]:
        """Spell out the present state of the walk, with which nothing is wrong."""
        workspace, walk = self.workspace, self._walk
        table, problem, effort = workspace.table, workspace.problem, workspace.scratch.effort
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
    from offline.coupled.native.label_search import Incumbent
    from offline.coupled.native.workspace import Workspace

    tiny = Instance.from_letters(["uuuuuu", "uuuuuu"], w=[1, 2], tasks=2, n_com=1, t_prog=1, t_data=1, mu=[1, 1])
    workspace = Workspace(tiny, Limits(), first_block=6)
    incumbent = Incumbent(workspace, 1)
    incumbent.take(6, (IterationPlan({0: 1, 1: 1}, {0: (0, 1), 1: (2, 3)}, 4),))
    Improver(workspace, STAND_BY, 1).work(incumbent, 1)


def _copy(windows: Windows) -> Windows:
    return Windows(*(array.copy() for array in windows))


def _end_of(instance: Instance, iteration: IterationPlan) -> int:
    """Return the slot after an iteration's end."""
    end = end_of(instance, iteration)
    assert end is not None
    return end + 1


def _span(instance: Instance, iteration: IterationPlan) -> tuple[int, int, list[int]]:
    """Return the first and the last slot in which an iteration computes, and those between in which it does not."""
    last = _end_of(instance, iteration) - 1
    states = instance.prefix(last + 1)[list(iteration.tasks), iteration.start :]
    is_up = (states == UP).all(axis=0)
    computing = is_up.nonzero()[0] + iteration.start
    first = int(computing[0])
    pauses = [t for t in range(first, last) if not is_up[t - iteration.start]]
    return first, last, pauses
