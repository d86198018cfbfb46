"""Solver ``native``: a portfolio of searches that share rounds of effort, and the result.

Most instances need one best-first search of a few milliseconds. If a first round does not solve the instance, rounds of
growing effort follow. Each is shared by searches with labels of their own:

exact
    The best-first search of module `best_first`, which ends with a proof. A schedule to compare with often suffices to
    end it, so its second turn, after the first dives, is a long one.
relaxed
    The same search with a channel that binds only the computing workers, and with stand-by. It needs no choice of
    holders and gives a bound with and without stand-by. It gets more of a round while its bound rises and is near the
    best.
dive
    Depth first with incomplete expansions, for good schedules; with stand-by, a second dive without stand-by has fewer
    choices. It gets less of a round after a turn without a better schedule.
bounds
    Dual bounds (module `bounds.dual_bounds`), if programs have to be sent over a channel that binds.
beam
    A beam search (module `beam`), wider in every round while it takes no more than its share.
local search
    Simulated annealing from the best schedule (package `local_search`), for the makespan.

The result is optimal when a schedule meets a bound, from whichever searches they come. Effort is counted, not timed, so
the result depends on the instance alone unless a limit ends the search.
"""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING

from hindsched.instances.coupled.lagrangian_certificate import LagrangianCertificate
from hindsched.instances.coupled.model import Instance
from hindsched.offline.coupled.objectives import CoupledResult, Objective
from hindsched.offline.coupled.plans import emit
from hindsched.offline.coupled.search.label_search import Incumbent, LabelSearch
from hindsched.offline.coupled.search.labels import NUM_DOMINATED, NUM_EXPANDED, NUM_LABELS
from hindsched.offline.coupled.search.modes import NO_STAND_BY, RELAXED, STAND_BY
from hindsched.offline.coupled.search.parameters import PortfolioParameters
from hindsched.offline.coupled.search.scratch_memory import NUM_NODES
from hindsched.offline.coupled.search.state_tables import FIRST_BLOCK
from hindsched.offline.coupled.search.workspace import LimitError, Workspace
from hindsched.offline.limits import Limit, Limits
from hindsched.offline.results import Status

if TYPE_CHECKING:
    from hindsched.offline.coupled.bounds.dual_bounds import DualBounds
    from hindsched.offline.coupled.local_search.background import BackgroundSearch
    from hindsched.offline.coupled.local_search.local_search import LocalSearch
    from hindsched.offline.coupled.search.beam import BeamSequence

__all__ = ["Portfolio", "solve", "warm_up"]


def solve(instance: Instance, objective: Objective, stand_by: bool, limits: Limits) -> CoupledResult:
    """Solve an instance of the general problem exactly.

    States are read block by block, as far as the search needs them. The result is deterministic unless a limit ends the
    search. ``seed`` is that of the local search, which has a thread of its own if there are two or more. The time limit
    does not count the loading of the kernels' machine code, or its compilation at the first use on a machine.

    Notes
    -----
    Exponential in the worst case: one iteration without communication already is OFF-LINE-COUPLED. Counts: ``labels``
    made, ``nodes`` (teams enumerated), iterations ``expanded``, labels ``dominated``, ``slots`` read.
    """
    warm_up()
    return Portfolio(instance, limits).solve(objective, stand_by)


@cache
def warm_up() -> float:
    """Load or compile the kernels of the best-first search, once in a process; return the seconds that took."""
    start = time.monotonic()
    _tiny_portfolio().solve(Objective.MAKESPAN, stand_by=True)
    return time.monotonic() - start


@cache
def _warm_up_rounds() -> None:
    """Load or compile the kernels that only instances need which the first round does not solve."""
    portfolio = _tiny_portfolio()
    portfolio.solve(Objective.MAKESPAN, stand_by=True)
    portfolio.warm_up_bounds_and_beam()


def _tiny_portfolio() -> Portfolio:
    tiny = Instance.from_letters(["uuuu", "uuuu"], w=[1, 1], tasks=2, n_com=1, t_prog=1, mu=[1, 1])
    return Portfolio(tiny, Limits(), first_block=2)


class Portfolio:
    """The searches that work on one instance in turn.

    Parameters
    ----------
    instance
        The instance.
    limits
        Limits of time and memory; the clock starts here.
    first_block
        Slots that are read first.
    parameters
        How the searches share the rounds.
    """

    def __init__(
        self,
        instance: Instance,
        limits: Limits,
        first_block: int = FIRST_BLOCK,
        parameters: PortfolioParameters = PortfolioParameters(),  # noqa: B008 - immutable
    ) -> None:
        self.instance = instance
        self.workspace = Workspace(instance, limits, first_block)
        self.workspace.bytes_of_searches = self._bytes_of_searches
        self._parameters = parameters
        self._searches: list[LabelSearch] = []
        self._beams: BeamSequence | None = None
        self._bounds: DualBounds | None = None
        self._local_search: LocalSearch | None = None
        self._background: BackgroundSearch | None = None
        self._failed_local_searches = 0  # in succession
        self._limits = limits

    def solve(self, objective: Objective, stand_by: bool) -> CoupledResult:
        """Search until a schedule meets a bound or a limit is met."""
        workspace, problem = self.workspace, self.workspace.problem
        iterations = self.instance.iterations if objective is Objective.MAKESPAN else 0
        is_channel_wide = problem.t_prog == 0 or problem.n_com >= problem.p
        mode = NO_STAND_BY if not stand_by else RELAXED if is_channel_wide else STAND_BY
        exact = LabelSearch(workspace, mode, iterations, real=True)
        self._searches = [exact]
        incumbent = Incumbent(workspace, iterations)
        limit: Limit | None = None
        try:
            is_proven = exact.work(incumbent, self._parameters.first_round)
            if not is_proven and (incumbent.is_found or self._can_carry_iteration()):
                self._work_in_rounds(exact, incumbent)
        except LimitError as error:
            limit = error.limit
        finally:
            self._end_background(incumbent)
        return self._result(objective, incumbent, limit)

    def _can_carry_iteration(self) -> bool:
        """Return whether the channel can ever carry one iteration."""
        from hindsched.offline.coupled.bounds.dual_bounds import can_carry_iteration

        return can_carry_iteration(self.workspace)

    def _work_in_rounds(self, exact: LabelSearch, incumbent: Incumbent) -> None:
        """Let all searches work in rounds of growing effort until the incumbent is proven optimal."""
        workspace, mode, iterations, parameters = self.workspace, exact.mode, exact.iterations, self._parameters
        with workspace.watch.stopped():
            from hindsched.offline.coupled.bounds.dual_bounds import DualBounds
            from hindsched.offline.coupled.search.beam import BeamSequence

            _warm_up_rounds()
        others = [LabelSearch(workspace, mode, iterations, real=True, dive=True)]
        if mode == STAND_BY:
            others.append(LabelSearch(workspace, NO_STAND_BY, iterations, real=True, dive=True))
        if mode != RELAXED:
            others.append(LabelSearch(workspace, RELAXED, iterations, real=False))
        self._searches += others
        if workspace.problem.t_prog > 0 and mode != RELAXED:
            self._bounds = DualBounds(workspace, mode, iterations)
        self._beams = BeamSequence(workspace, mode, iterations, parameters.beam_share)
        steps = parameters.first_round
        failed: set[LabelSearch] = set()  # searches whose last turn improved neither schedule nor bound
        is_proven = False
        while not is_proven:
            for search in others:  # each has its turn, even if another has a proof
                cost, bound = incumbent.cost, search.bound
                is_proven |= search.work(incumbent, self._share(search, steps, search in failed))
                has_failed = incumbent.cost == cost if search.is_dive else search.bound == bound
                (failed.add if has_failed else failed.discard)(search)
            self._exchange(incumbent)
            if steps == parameters.first_round:
                is_proven = is_proven or self._prove(exact, incumbent, parameters.second_turn * steps)
            if self._bounds is not None and not is_proven:
                self._bounds.work(incumbent, steps, self.bound())
                self._bounds.advise(incumbent)
            doubles = steps < parameters.doubled_rounds * parameters.first_round
            steps += steps if doubles else steps // parameters.growth
            if not is_proven and self.bound() < incumbent.cost:
                is_last = self._is_near_end(incumbent) and self._beams.has_failed
                postponed = self._beams.work(incumbent, steps // parameters.last_beams if is_last else steps)
                if postponed and self._bounds is not None:
                    self._bounds.work(incumbent, postponed // 2, self.bound())
                self._improve(incumbent, mode, iterations, max(steps, postponed // 2))
            is_proven = is_proven or self._prove(exact, incumbent, steps)

    def _prove(self, exact: LabelSearch, incumbent: Incumbent, steps: int) -> bool:
        """Return whether the incumbent is proven optimal, after a turn of the exact search unless a bound meets it."""
        return self.bound() >= incumbent.cost or exact.work(incumbent, steps)

    def _share(self, search: LabelSearch, steps: int, has_failed: bool) -> int:
        """Return the steps of a dive or of the relaxed search; ``has_failed`` refers to its last turn."""
        parameters = self._parameters
        if search.is_dive:
            return steps // parameters.failed_dive if has_failed else steps
        best = self.bound()
        is_near = search.bound + abs(best) // parameters.near_bound >= best
        return parameters.near_share * steps if is_near and not has_failed else steps

    def _is_near_end(self, incumbent: Incumbent) -> bool:
        """Return whether the gap is small."""
        return incumbent.cost - self.bound() <= abs(incumbent.cost) // self._parameters.near_end

    def _improve(self, incumbent: Incumbent, mode: int, iterations: int, steps: int) -> None:
        """Run the local search from the best schedule, here or in the background; load it at its first use."""
        if mode == RELAXED or not iterations or not incumbent.plan:
            return
        workspace, parameters, share = self.workspace, self._parameters, self._parameters.local_search
        if self._local_search is None:
            share = parameters.first_local_search
            from hindsched.offline.coupled.local_search import local_search

            with workspace.watch.stopped():
                local_search.warm_up()
            self._local_search = local_search.LocalSearch(workspace.problem, mode, iterations, self._limits.seed)
            if self._limits.threads > 1:
                from hindsched.offline.coupled.local_search.background import BackgroundSearch

                self._background = BackgroundSearch(self._local_search)
        if self._background is None:
            cost = incumbent.cost
            halvings = self._failed_local_searches // parameters.failures_per_halving
            if halvings:
                least = parameters.least_local_search
                share = least if self._is_near_end(incumbent) else max(least, share >> halvings)
            self._local_search.work(workspace, incumbent, share * steps)
            self._failed_local_searches = self._failed_local_searches + 1 if incumbent.cost == cost else 0
        else:
            self._exchange(incumbent)

    def _exchange(self, incumbent: Incumbent) -> None:
        """Exchange schedules with the background search."""
        if self._background is not None:
            self._background.exchange(self.workspace.table, incumbent)

    def _end_background(self, incumbent: Incumbent) -> None:
        """Stop the background search and take its best schedule."""
        if self._background is not None:
            self._background.end()
            self._exchange(incumbent)

    def bound(self) -> int:
        """Return the best bound known, in units of cost."""
        bound = max(search.bound for search in self._searches)
        return bound if self._bounds is None else max(bound, self._bounds.bound)

    def _result(self, objective: Objective, incumbent: Incumbent, limit: Limit | None) -> CoupledResult:
        """Return the result in the units of the objective; it is proven unless a limit is given."""
        workspace = self.workspace
        bound = min(self.bound(), incumbent.cost)
        if limit is None or bound == incumbent.cost:
            status = Status.OPTIMAL if incumbent.is_found else Status.INFEASIBLE
            bound = incumbent.cost
        else:
            status = Status.FEASIBLE if incumbent.is_found else Status.UNKNOWN
        is_makespan = objective is Objective.MAKESPAN
        value = None
        if incumbent.is_found:
            value = incumbent.cost if is_makespan else -incumbent.cost
        schedule = None
        if incumbent.plan is not None:
            schedule = emit(self.instance, incumbent.plan, slots=value if is_makespan else workspace.slots)
        # Searches without a bound have the trivial one.
        proven = max(0, bound) if is_makespan else min(-bound, workspace.slots)
        return CoupledResult.of(
            status=status,
            objective=objective,
            value=value,
            bound=None if status is Status.INFEASIBLE else proven,
            schedule=schedule,
            by="native",
            runtime_s=workspace.watch.elapsed_s(),
            counts=self._counts(),
            certificate=self._certificate() if is_makespan and status is not Status.INFEASIBLE else None,
            limit=limit,
        )

    def _certificate(self) -> LagrangianCertificate | None:
        """Return the certificate of the Lagrangian bound, if there is one; other searches may have a better bound."""
        return None if self._bounds is None else self._bounds.certificate()

    def _counts(self) -> dict[str, int]:
        """Return the sums of the counts of all searches."""
        tallies = [search.labels.tally for search in self._all_searches()]
        return {
            "labels": sum(int(tally[NUM_LABELS]) for tally in tallies),
            "nodes": int(self.workspace.scratch.counters[NUM_NODES]),
            "expanded": sum(int(tally[NUM_EXPANDED]) for tally in tallies),
            "dominated": sum(int(tally[NUM_DOMINATED]) for tally in tallies),
            "slots": self.workspace.slots_known(),
        }

    def _all_searches(self) -> list[LabelSearch]:
        """Return all searches that have labels."""
        beam = None if self._beams is None else self._beams.last
        return self._searches if beam is None else [*self._searches, beam]

    def _bytes_of_searches(self) -> int:
        """Return the bytes of all labels, of the local search and of the bounds."""
        held = sum(array.nbytes for search in self._all_searches() for array in search.labels)
        if self._local_search is not None:
            held += self._local_search.bytes_held()
        return held if self._bounds is None else held + self._bounds.bytes_held()

    def warm_up_bounds_and_beam(self) -> None:
        """Call the kernels that `solve` calls for hard instances only."""
        from hindsched.offline.coupled.bounds.slot_lagrangian.slot_bound import SlotLagrangianBound
        from hindsched.offline.coupled.search.beam import Beam

        workspace = self.workspace
        bounds = SlotLagrangianBound(workspace, STAND_BY, 1)
        bounds.bound = 1
        bounds.work(Incumbent(workspace, 1), 1, self.bound())
        bounds.advise()
        Beam(workspace, STAND_BY, 1, 1).work(Incumbent(workspace, 1))
