"""The solver: limits, rounds, and the answer.

Most instances need one best-first search of a few milliseconds. What a first round does not solve
is attacked in rounds of doubling effort, each shared by searches with stores of their own:

exact
    the best-first search of module `best_first`; ends with the proof;
relaxed
    the same with n_com binding the computing workers only and stand-by allowed, which is easy
    (no choice of holders) and bounds both settings of ``stand_by``;
dive
    depth first with incomplete expansions, for good schedules; without stand-by too, which leaves
    fewer choices;
rents
    the bound of module `channel_bound`, if programs have to be sent over a channel that binds;
beam
    a beam search (module `beam`), wider in every round as long as it takes no longer than the others.

The answer is optimal when a schedule meets a bound, wherever either came from. Effort is counted,
not timed, so the answer depends on the instance alone unless a limit ends the search.
"""

from __future__ import annotations

import time
from functools import cache

from instances.coupled.model import Instance
from offline.coupled.emit import emit
from offline.coupled.native.beam import Beam
from offline.coupled.native.constants import (
    BEAM_SHARE,
    COUNT,
    DOMINATED,
    EXPANDED,
    FIRST_BLOCK,
    FIRST_ROUND,
    FIRST_WIDTH,
    NODES,
    OWN,
    PER_STEP,
    RELAXED,
    RENTS_SHARE,
    STAND_BY,
)
from offline.coupled.native.label_search import Best, Store
from offline.coupled.native.subproblems import RentBound
from offline.coupled.native.workspace import LimitError, Workspace
from offline.coupled.objectives import CoupledResult, Objective
from offline.limits import Limits
from offline.results import Result, Status

__all__ = ["Portfolio", "solve", "warm_up"]


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
    return Portfolio(instance, limits).solve(objective, stand_by)


@cache
def warm_up() -> float:
    """Load the machine code of the kernels, or compile it; return the seconds that took. Done once in a process."""
    began = time.monotonic()
    tiny = Instance.from_letters(["uuuu", "uuuu"], w=[1, 1], tasks=2, n_com=1, t_prog=1, mu=[1, 1])
    portfolio = Portfolio(tiny, Limits(), first_block=2)
    portfolio.solve(Objective.MAKESPAN, stand_by=True)
    portfolio.rehearse()
    return time.monotonic() - began


class Portfolio:
    """The searches that work on one instance in turn.

    Parameters
    ----------
    instance
        The instance.
    limits
        When to stop; the clock starts here.
    first_block
        Slots to begin with.
    first_round
        Units of work for the exact search before the others join in.
    """

    def __init__(
        self, instance: Instance, limits: Limits, first_block: int = FIRST_BLOCK, first_round: int = FIRST_ROUND
    ) -> None:
        self.instance = instance
        self.workspace = Workspace(instance, limits, first_block)
        self.workspace.bytes_beside = self._bytes_beside
        self._stores: list[Store] = []
        self._rents: RentBound | None = None
        self._first_round = first_round

    def solve(self, objective: Objective, stand_by: bool) -> Result:
        """Search in rounds until a schedule meets a bound or a limit is met."""
        workspace = self.workspace
        prob = workspace.problem
        k = self.instance.iterations if objective is Objective.MAKESPAN else 0
        easy = prob.t_prog == 0 or prob.n_com >= prob.p
        mode = OWN if not stand_by else RELAXED if easy else STAND_BY
        exact = Store(workspace, mode, k, real=True)
        self._stores = [exact]
        best = Best(workspace, k)
        proven = False
        try:
            proven = exact.work(best, self._first_round)
            if not proven:
                others = [Store(workspace, mode, k, real=True, dive=True)]
                if mode == STAND_BY:
                    others.append(Store(workspace, OWN, k, real=True, dive=True))
                if mode != RELAXED:
                    others.append(Store(workspace, RELAXED, k, real=False))
                self._stores += others
                if prob.t_prog > 0 and mode != RELAXED:
                    self._rents = RentBound(workspace, mode, k)
                steps = self._first_round
                width = FIRST_WIDTH
                seed = 0
                while not proven:
                    for store in others:  # each has its share, also after one has the proof
                        proven |= store.work(best, steps)
                    if self._rents is not None and not proven:
                        self._rents.work(best, RENTS_SHARE * steps, self.bound())
                        self._rents.advise()
                    steps *= 2
                    if not proven and self.bound() < best.worth:
                        seed += 1
                        beam = Beam(workspace, mode, k, width, seed)
                        self._stores[len(others) + 1 :] = [beam]
                        before = workspace.effort_spent()
                        beam.work(best)
                        if workspace.effort_spent() - before < BEAM_SHARE * PER_STEP * steps:
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
            schedule=None
            if best.plan is None
            else emit(self.instance, best.plan, slots=value if k else workspace.slots),
            by="native",
            runtime_s=workspace.watch.elapsed_s(),
            counts={
                "labels": sum(int(store.labels.tally[COUNT]) for store in self._stores),
                "nodes": int(workspace.space.state[NODES]),
                "expanded": sum(int(store.labels.tally[EXPANDED]) for store in self._stores),
                "dominated": sum(int(store.labels.tally[DOMINATED]) for store in self._stores),
                "slots": workspace.slots_known(),
            },
        )

    def _as_bound(self, sign: int, bound: int) -> int:
        """Return a bound in the units of the objective, trivial if the search has none."""
        return max(0, bound) if sign > 0 else min(-bound, self.workspace.slots)

    def bound(self) -> int:
        """Return the best bound known, in units of worth."""
        bound = max(store.bound for store in self._stores)
        return bound if self._rents is None else max(bound, self._rents.bound)

    def _bytes_beside(self) -> int:
        """Memory for the labels and rents of all searches."""
        labels = sum(array.nbytes for store in self._stores for array in store.labels)
        return labels if self._rents is None else labels + self._rents.bytes_held()

    def rehearse(self) -> None:
        """Call the kernels that `solve` calls for hard instances only, so that they are ready in time."""
        workspace = self.workspace
        self._rents = RentBound(workspace, STAND_BY, 1)
        self._rents.bound = 1
        self._rents.work(Best(workspace, 1), 1, self.bound())
        self._rents.advise()
        Beam(workspace, STAND_BY, 1, 1).work(Best(workspace, 1))
