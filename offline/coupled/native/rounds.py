"""The solver: limits, rounds, and the answer.

Most instances need one best-first search of a few milliseconds. What a first round does not solve
is attacked in rounds of doubling effort, each shared by searches with stores of their own:

exact
    the best-first search of module `search`; ends with the proof;
relaxed
    the same with n_com binding the computing workers only and stand-by allowed, which is easy
    (no choice of holders) and bounds both settings of ``stand_by``;
dive
    depth first with incomplete expansions, for good schedules; without stand-by too, which leaves
    fewer choices;
rents
    the bound of module `rent`, if programs have to be sent over a channel that binds;
beam
    a beam search (module `beam`), wider in every round as long as it takes no longer than the others.

The answer is optimal when a schedule meets a bound, wherever either came from. Effort is counted,
not timed, so the answer depends on the instance alone unless a limit ends the search.
"""

from __future__ import annotations

import time
from functools import cache

import numpy as np

from instances.coupled.model import Instance
from instances.states import States
from offline.coupled.emit import IterationPlan, emit
from offline.coupled.native.beam import Beam
from offline.coupled.native.iteration import (
    EFFORT_LIMIT,
    FOUND_LIMIT,
    NEVER,
    NODES,
    OWN,
    RELAXED,
    STAND_BY,
    Space,
    make_space,
)
from offline.coupled.native.kernels import SPENT, STOP, Reals
from offline.coupled.native.labels import BEST, COUNT, DOMINATED, EXPANDED
from offline.coupled.native.plan import make_plan
from offline.coupled.native.problem import Problem, make_problem
from offline.coupled.native.rent import Rents, refute
from offline.coupled.native.search import run
from offline.coupled.native.stores import PER_STEP, Best, RentBound, Store
from offline.coupled.native.windows import Table, Windows
from offline.coupled.objectives import CoupledResult, Objective
from offline.limits import Limits, Stopwatch
from offline.results import Result, Status

__all__ = ["Search", "solve", "warm_up"]

_FIRST_ROUND = 20_000
_FIRST_FOUND = 64
_FIRST_WIDTH = 20
_RENTS_SHARE = 4  # what the rents have of every round
_BEAM_SHARE = 2  # the beam becomes wider if it had less of a round, which has twice the steps of the one before
_EFFORT_PER_SECOND = 4_000_000  # until it has been measured
_MEASURABLE = 1_000_000
_PAUSE = 1 << 20  # effort between two looks at the clock


def solve(instance: Instance, objective: Objective, stand_by: bool, limits: Limits) -> Result:
    """Solve an instance of the general problem exactly.

    Its states are looked at block by block, as far as the search goes. The answer is deterministic unless a limit ends
    the search; ``threads`` and ``seed`` make no difference. Loading the kernels' machine code, or compiling it the
    first time on a machine, is not counted in the time limit.

    Notes
    -----
    Exponential in the worst case: one iteration without communication already is OFF-LINE-COUPLED. Counts: ``labels``
    made, ``nodes`` (sets of workers looked at), iterations ``expanded``, states ``dominated``, ``slots`` looked at.
    """
    warm_up()
    return Search(instance, limits).solve(objective, stand_by)


@cache
def warm_up() -> float:
    """Load the machine code of the kernels, or compile it; return the seconds that took. Done once in a process."""
    began = time.monotonic()
    tiny = Instance.from_letters(["uuuu", "uuuu"], w=[1, 1], tasks=2, n_com=1, t_prog=1, mu=[1, 1])
    search = Search(tiny, Limits(), first_block=2)
    search.solve(Objective.MAKESPAN, stand_by=True)
    search.rehearse()
    return time.monotonic() - began


class LimitError(Exception):
    """The time or the memory is used up."""


class Search:
    """One instance, ready to be searched; its states are looked at block by block, as far as the search goes.

    Parameters
    ----------
    instance
        The instance.
    limits
        When to stop; the clock starts here. Memory counts the tables of states and labels.
    first_block
        Slots to begin with.
    first_round
        Units of work for the exact search before the others join in.
    """

    def __init__(
        self, instance: Instance, limits: Limits, first_block: int = 512, first_round: int = _FIRST_ROUND
    ) -> None:
        def provide(start: int, stop: int) -> States:
            return instance.prefix(stop)[:, start:]

        self._watch = Stopwatch(limits)
        self.problem: Problem = make_problem(
            np.array(instance.w, np.int64),
            np.array(instance.capacities, np.int64),
            instance.tasks,
            instance.channels,
            instance.t_prog,
            instance.t_data,
        )
        self.instance = instance
        self.slots = instance.slots
        self._limits = limits
        self._windows = Windows(provide, instance.num_workers, self.slots, first_block)
        self.space: Space = make_space(self.problem, max(1, self._windows.capacity), _FIRST_FOUND)
        self.memo = np.zeros(self._windows.capacity + 3, np.int64)
        self.memo[-2] = -1
        self._gain = np.zeros(self._windows.capacity + 3, np.int64)
        self._wish = np.zeros(self.problem.words, np.uint64)
        self._stores: list[Store] = []
        self._first_round = first_round
        self._rents: RentBound | None = None
        self._merit = self.space.merit

    def solve(self, objective: Objective, stand_by: bool) -> Result:
        """Search in rounds until a schedule meets a bound or a limit is met."""
        prob = self.problem
        k = self.instance.iterations if objective is Objective.MAKESPAN else 0
        easy = prob.t_prog == 0 or prob.n_com >= prob.p
        mode = OWN if not stand_by else RELAXED if easy else STAND_BY
        exact = Store(self, mode, k, real=True)
        self._stores = [exact]
        best = Best(self, k)
        proven = False
        try:
            proven = exact.work(best, self._first_round)
            if not proven:
                others = [Store(self, mode, k, real=True, dive=True)]
                if mode == STAND_BY:
                    others.append(Store(self, OWN, k, real=True, dive=True))
                if mode != RELAXED:
                    others.append(Store(self, RELAXED, k, real=False))
                self._stores += others
                if prob.t_prog > 0 and mode != RELAXED:
                    self._rents = RentBound(self, mode, k)
                steps = self._first_round
                width = _FIRST_WIDTH
                seed = 0
                while not proven:
                    for store in others:  # each has its share, also after one has the proof
                        proven |= store.work(best, steps)
                    if self._rents is not None and not proven:
                        self._rents.work(best, _RENTS_SHARE * steps)
                        self._rents.advise()
                    steps *= 2
                    if not proven and self.bound() < best.worth:
                        seed += 1
                        beam = Beam(self, mode, k, width, seed)
                        self._stores[len(others) + 1 :] = [beam]
                        before = self.effort_spent()
                        beam.work(best)
                        if self.effort_spent() - before < _BEAM_SHARE * PER_STEP * steps:
                            width *= 2
                    proven = proven or self.bound() >= best.worth or exact.work(best, steps)
        except LimitError:
            proven = False
        bound = min(self.bound(), best.worth)
        if proven or bound == best.worth:
            status = Status.OPTIMAL if best.found else Status.INFEASIBLE
            bound = best.worth
        else:
            status = Status.FEASIBLE if best.found else Status.UNKNOWN
        sign = 1 if k else -1
        value = sign * best.worth if best.found else None
        return CoupledResult.of(
            status=status,
            objective=objective,
            value=value,
            bound=None if status is Status.INFEASIBLE else self._as_bound(sign, bound),
            schedule=None if best.plan is None else emit(self.instance, best.plan, slots=value if k else self.slots),
            by="native",
            runtime_s=self._watch.elapsed_s(),
            counts={
                "labels": sum(int(store.labels.tally[COUNT]) for store in self._stores),
                "nodes": int(self.space.state[NODES]),
                "expanded": sum(int(store.labels.tally[EXPANDED]) for store in self._stores),
                "dominated": sum(int(store.labels.tally[DOMINATED]) for store in self._stores),
                "slots": self._windows.length,
            },
        )

    def _as_bound(self, sign: int, bound: int) -> int:
        """Return a bound in the units of the objective, trivial if the search has none."""
        return max(0, bound) if sign > 0 else min(-bound, self.slots)

    def bound(self) -> int:
        """Return the best bound known, in units of worth."""
        bound = max(store.bound for store in self._stores)
        return bound if self._rents is None else max(bound, self._rents.bound)

    # What the stores ask for.

    def check(self) -> None:
        """Raise if the time limit is met."""
        if self._watch.is_over():
            raise LimitError

    def effort_left(self) -> int:
        """About how much effort fits into the time left."""
        left_s = self._watch.left_s()
        if left_s is None:
            return NEVER
        spent = int(self.space.effort[SPENT])
        rate = spent / self._watch.elapsed_s() if spent > _MEASURABLE else _EFFORT_PER_SECOND
        return max(1, int(left_s * rate))

    def claim(self, slots: int = 0) -> None:
        """Raise if tables for `slots` slots, and twice the labels, exceed the memory limit."""
        if self._limits.memory_limit_mb is not None:
            labels = sum(array.nbytes for store in self._stores for array in store.labels)
            if self._rents is not None and self._rents.rents is not None:
                labels += sum(array.nbytes for array in self._rents.rents) + self._rents.bytes_kept()
            tables = self._windows.bytes_for(max(slots, self._windows.length))
            if tables + 2 * labels > self._limits.memory_limit_mb * 1e6:
                raise LimitError

    def grow(self) -> None:
        """Look at twice as many slots."""
        length = min(self.slots, 2 * max(1, self._windows.length))
        self.claim(length)
        self._windows.grow(length)
        room = self._windows.capacity + 3
        memo = np.zeros(room, np.int64)
        memo[: self.memo.size - 2] = self.memo[:-2]
        memo[-2:] = self.memo[-2:]
        gain = np.zeros(room, np.int64)
        gain[: self._gain.size] = self._gain
        self.memo, self._gain = memo, gain
        self._renew(self.space.found_c.size)

    def _renew(self, found: int) -> None:
        state, effort = self.space.state, self.space.effort
        self.space = make_space(self.problem, self._windows.capacity, found)
        self.space.state[:] = state
        self.space.effort[:] = effort
        self.set_merit(self._merit)

    def call(self, store: Store, limit: int, steps: int) -> int:
        """One slice of the search."""
        self._stop_after(NEVER)
        return int(
            run(
                self._windows.table,
                self.problem,
                self.space,
                self.memo,
                self._gain,
                store.labels,
                store.mode,
                store.iterations,
                self.slots,
                limit,
                store.bonus,
                steps,
                store.dive,
                self._wish,
            )
        )

    def effort_spent(self) -> int:
        """Effort since the beginning."""
        return int(self.space.effort[SPENT])

    @property
    def table(self) -> Table:
        """The states known."""
        return self._windows.table

    def slots_known(self) -> int:
        """Return how many slots have been looked at."""
        return self._windows.length

    def rehearse(self) -> None:
        """Call the kernels that `solve` calls for hard instances only, so that they are ready in time."""
        self._rents = RentBound(self, STAND_BY, 1)
        self._rents.bound = 1
        self._rents.work(Best(self, 1), 1)
        self._rents.advise()
        Beam(self, STAND_BY, 1, 1).work(Best(self, 1))

    def allow(self, effort: int, found: int) -> None:
        """Limit a single expansion, and all work by the time left and until the next look at the clock."""
        self.set_limits(effort, found)
        self._stop_after(_PAUSE)

    def _stop_after(self, effort: int) -> None:
        """Limit all work to so much effort, and to the time left."""
        spent = self.space.effort
        spent[STOP] = min(NEVER, int(spent[SPENT]) + min(effort, self.effort_left()))

    def refute(self, rents: Rents, mode: int, iterations: int, end: int, rounds: int, steps: int) -> int:
        """Try to refute that the iterations can be completed within `end` slots, by `rents`."""
        self._stop_after(PER_STEP * steps)
        return int(
            refute(
                self._windows.table,
                self.problem,
                self.space,
                self.memo,
                rents,
                mode,
                iterations,
                end,
                self.slots,
                rounds,
            )
        )

    def set_merit(self, merit: Reals) -> None:
        """Tell whom to try first, see `iteration.arrange`."""
        self._merit = merit
        self.space = self.space._replace(merit=merit)

    def plan_of(self, store: Store) -> tuple[IterationPlan, ...]:
        """Return the best schedule of a store."""
        return make_plan(
            self._windows.table,
            self.problem,
            self.space,
            store.labels,
            int(store.labels.tally[BEST]),
            store.mode,
            self.slots,
        )

    def set_limits(self, effort: int, found: int) -> None:
        """Limit effort and number of holder sets of a single expansion."""
        if found > self.space.found_c.size:
            self._renew(found)
        self.space.state[EFFORT_LIMIT] = effort
        self.space.state[FOUND_LIMIT] = found
