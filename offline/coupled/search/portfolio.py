"""The solver: a portfolio of searches that share the effort in rounds, and the result.

Most instances need one best-first search of a few milliseconds. What a first round does not solve
is attacked in rounds of growing effort, each shared by searches with labels of their own:

exact
    the best-first search of module `best_first`; ends with the proof; where it is not enough alone, it often is with a
    schedule to compare with, so its second turn is a long one, right after the first dives;
relaxed
    the same with n_com binding the computing workers only and stand-by allowed, which is easy
    (no choice of holders) and gives a bound with stand-by and without;
    it has more of a round while that bound rises and is about the best;
dive
    depth first with incomplete expansions, for good schedules; without stand-by too, which leaves
    fewer choices; less of a round for one that found nothing better in the last;
channel
    the bounds of module `bounds`, if programs have to be sent over a channel that binds;
beam
    a beam search (module `beam`), wider in every round as long as it takes no more than its share;
improve
    walks around the best schedule (package `improve`), for the makespan.

The result is optimal when a schedule meets a bound, wherever either came from. Effort is counted,
not timed, so the result depends on the instance alone unless a limit ends the search.
"""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING

from hindsched.instances.coupled.lagrangian_certificate import Rents
from hindsched.instances.coupled.model import Instance
from hindsched.offline.coupled.bounds.dual_bounds import ChannelBounds, could_be_served
from hindsched.offline.coupled.bounds.slot_lagrangian.slot_subproblems import ChannelBound
from hindsched.offline.coupled.objectives import CoupledResult, Objective
from hindsched.offline.coupled.plans import emit
from hindsched.offline.coupled.search.beam import Beam
from hindsched.offline.coupled.search.constants import (
    BEAM_SHARE,
    COUNT,
    DOMINATED,
    DOUBLED_TO,
    EXPANDED,
    FIRST_BLOCK,
    FIRST_IMPROVE_SHARE,
    FIRST_ROUND,
    FIRST_WIDTH,
    GROWTH,
    IMPROVE_SHARE,
    LAST_BEAMS,
    LAST_SHARE,
    LEAST_WIDTH,
    MOST_PLACES,
    MOST_WIDTH,
    NEAR,
    NEAR_END,
    NEAR_SHARE,
    NODES,
    OWN,
    PER_STEP,
    RELAXED,
    SECOND_SHARE,
    SOME_VAIN,
    STAND_BY,
    TOO_MANY_PLACES,
    VAIN_DIVE,
)
from hindsched.offline.coupled.search.label_search import Incumbent, LabelSearch
from hindsched.offline.coupled.search.workspace import LimitError, Workspace
from hindsched.offline.limits import Limit, Limits
from hindsched.offline.results import Status

if TYPE_CHECKING:
    from hindsched.offline.coupled.local_search.background import Beside
    from hindsched.offline.coupled.local_search.local_search import Improver

__all__ = ["Portfolio", "solve", "warm_up"]


def solve(instance: Instance, objective: Objective, stand_by: bool, limits: Limits) -> CoupledResult:
    """Solve an instance of the general problem exactly.

    Its states are looked at block by block, as far as the search goes. The result is deterministic unless a limit ends
    the search; ``seed`` is that of the walks, which have
    a thread of their own if there are two or more. Loading the kernels' machine code, or compiling it the
    first time on a machine, is not counted in the time limit.

    Notes
    -----
    Exponential in the worst case: one iteration without communication already is OFF-LINE-COUPLED. Counts: ``labels``
    made, ``nodes`` (sets of workers looked at), iterations ``expanded``, labels ``dominated``, ``slots`` looked at.
    """
    warm_up()
    return Portfolio(instance, limits).solve(objective, stand_by)


class _Beams:
    """Beams, one a round, ever wider while they take no more than their share; narrow at first if each takes long."""

    def __init__(self, workspace: Workspace, mode: int, iterations: int) -> None:
        self._workspace, self._mode, self._iterations = workspace, mode, iterations
        places = workspace.problem.p * workspace.problem.m
        least = LEAST_WIDTH if places < TOO_MANY_PLACES else 1
        self._width = max(least, min(FIRST_WIDTH, MOST_PLACES // places))
        self._seed = self._taken = 0
        self.last: Beam | None = None
        self.was_vain = False

    def work(self, incumbent: Incumbent, steps: int) -> int:
        """Run the next beam; return the steps of a round in which it would have had its share, 0 if that is this one.

        None is run while the last one has had more than its share of two such rounds; the steps returned are its own.
        """
        if self._taken <= 2 * steps:
            self._seed += 1
            self.last = Beam(self._workspace, self._mode, self._iterations, self._width, self._seed)
            before, cost = self._workspace.effort_spent(), incumbent.cost
            self.last.work(incumbent)
            self.was_vain = incumbent.cost == cost
            self._taken = (self._workspace.effort_spent() - before) // (BEAM_SHARE * PER_STEP)
            if self._taken < steps:
                self._width = max(self._width, min(2 * self._width, MOST_WIDTH // self._workspace.problem.num_words))
            else:
                return self._taken
        return 0


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
        self._first_round = first_round
        self._searches: list[LabelSearch] = []
        self._beams: _Beams | None = None
        self._channel: ChannelBounds | None = None
        self._improver: Improver | None = None
        self._beside: Beside | None = None
        self._vain_walks = 0  # one after the other
        self._limits = limits

    def solve(self, objective: Objective, stand_by: bool) -> CoupledResult:
        """Search until a schedule meets a bound or a limit is met."""
        workspace, problem = self.workspace, self.workspace.problem
        iterations = self.instance.iterations if objective is Objective.MAKESPAN else 0
        is_channel_wide = problem.t_prog == 0 or problem.n_com >= problem.p
        mode = OWN if not stand_by else RELAXED if is_channel_wide else STAND_BY
        exact = LabelSearch(workspace, mode, iterations, real=True)
        self._searches = [exact]
        incumbent = Incumbent(workspace, iterations)
        limit: Limit | None = None
        try:
            is_proven = exact.work(incumbent, self._first_round)
            if not is_proven and (incumbent.is_found or could_be_served(workspace)):
                self._work_in_rounds(exact, incumbent)
        except LimitError as error:
            limit = error.limit
        finally:
            self._end_beside(incumbent)
        return self._result(objective, incumbent, limit)

    def _work_in_rounds(self, exact: LabelSearch, incumbent: Incumbent) -> None:
        """Let all searches work in rounds of growing effort, until the incumbent is proven optimal."""
        workspace, mode, iterations = self.workspace, exact.mode, exact.iterations
        others = [LabelSearch(workspace, mode, iterations, real=True, dive=True)]
        if mode == STAND_BY:
            others.append(LabelSearch(workspace, OWN, iterations, real=True, dive=True))
        if mode != RELAXED:
            others.append(LabelSearch(workspace, RELAXED, iterations, real=False))
        self._searches += others
        if workspace.problem.t_prog > 0 and mode != RELAXED:
            self._channel = ChannelBounds(workspace, mode, iterations)
        self._beams = _Beams(workspace, mode, iterations)
        steps = self._first_round
        vain: set[LabelSearch] = set()  # dives that found nothing better the last time; or the relaxed search, no bound
        is_proven = False
        while not is_proven:
            for search in others:  # each has its share, also after one has the proof
                cost, bound = incumbent.cost, search.bound
                is_proven |= search.work(incumbent, self._share(search, steps, search in vain))
                is_vain = incumbent.cost == cost if search.is_dive else search.bound == bound
                (vain.add if is_vain else vain.discard)(search)
            self._look_beside(incumbent)
            if steps == self._first_round:
                is_proven = is_proven or self._prove(exact, incumbent, SECOND_SHARE * steps)
            if self._channel is not None and not is_proven:
                self._channel.work(incumbent, steps, self.bound())
                self._channel.advise(incumbent)
            steps += steps if steps < DOUBLED_TO * self._first_round else steps // GROWTH
            if not is_proven and self.bound() < incumbent.cost:
                is_last = self._is_near_end(incumbent) and self._beams.was_vain
                over = self._beams.work(incumbent, steps // LAST_BEAMS if is_last else steps)
                if over and self._channel is not None:
                    self._channel.work(incumbent, over // 2, self.bound())
                self._improve(incumbent, mode, iterations, max(steps, over // 2))
            is_proven = is_proven or self._prove(exact, incumbent, steps)

    def _prove(self, exact: LabelSearch, incumbent: Incumbent, steps: int) -> bool:
        """Tell whether the incumbent is proven optimal; the exact search works for that unless it meets a bound."""
        return self.bound() >= incumbent.cost or exact.work(incumbent, steps)

    def _share(self, search: LabelSearch, steps: int, was_vain: bool) -> int:
        """Return what a dive, or the relaxed search, has of a round; ``was_vain`` tells of its last one."""
        if search.is_dive:
            return steps // VAIN_DIVE if was_vain else steps
        best = self.bound()
        is_near = search.bound + abs(best) // NEAR >= best
        return NEAR_SHARE * steps if is_near and not was_vain else steps

    def _is_near_end(self, incumbent: Incumbent) -> bool:
        """Whether little of the gap is left."""
        return incumbent.cost - self.bound() <= abs(incumbent.cost) // NEAR_END

    def _improve(self, incumbent: Incumbent, mode: int, iterations: int, steps: int) -> None:
        """Look for better schedules around the best one, now or beside; who needs no such search never loads it."""
        if mode == RELAXED or not iterations or not incumbent.plan:
            return
        workspace, share = self.workspace, IMPROVE_SHARE
        if self._improver is None:
            share = FIRST_IMPROVE_SHARE
            from hindsched.offline.coupled.local_search import local_search

            with workspace.watch.stopped():
                local_search.warm_up()
            self._improver = local_search.Improver(workspace.problem, mode, iterations, self._limits.seed)
            if self._limits.threads > 1:
                from hindsched.offline.coupled.local_search.background import Beside

                self._beside = Beside(self._improver)
        if self._beside is None:
            cost = incumbent.cost
            halvings = self._vain_walks // SOME_VAIN
            if halvings:
                share = LAST_SHARE if self._is_near_end(incumbent) else max(LAST_SHARE, share >> halvings)
            self._improver.work(workspace, incumbent, share * steps)
            self._vain_walks = self._vain_walks + 1 if incumbent.cost == cost else 0
        else:
            self._look_beside(incumbent)

    def _look_beside(self, incumbent: Incumbent) -> None:
        """Exchange schedules with what goes on beside."""
        if self._beside is not None:
            self._beside.exchange(self.workspace.table, incumbent)

    def _end_beside(self, incumbent: Incumbent) -> None:
        """Stop what goes on beside, and take over the last that it found."""
        if self._beside is not None:
            self._beside.end()
            self._look_beside(incumbent)

    def bound(self) -> int:
        """Return the best bound known, in units of cost."""
        bound = max(search.bound for search in self._searches)
        return bound if self._channel is None else max(bound, self._channel.bound)

    def _result(self, objective: Objective, incumbent: Incumbent, limit: Limit | None) -> CoupledResult:
        """Return what is known, in the units of the objective; without a limit that is a proof."""
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
        # A bound that the searches do not have yet is the trivial one.
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

    def _certificate(self) -> Rents | None:
        """Return the certificate of the best bound by rents, if there is one; other searches may have proven more."""
        return None if self._channel is None else self._channel.certificate()

    def _counts(self) -> dict[str, int]:
        """Return what all searches have counted."""
        tallies = [search.labels.tally for search in self._all_searches()]
        return {
            "labels": sum(int(tally[COUNT]) for tally in tallies),
            "nodes": int(self.workspace.scratch.counters[NODES]),
            "expanded": sum(int(tally[EXPANDED]) for tally in tallies),
            "dominated": sum(int(tally[DOMINATED]) for tally in tallies),
            "slots": self.workspace.slots_known(),
        }

    def _all_searches(self) -> list[LabelSearch]:
        """Return all searches that have labels."""
        beam = None if self._beams is None else self._beams.last
        return self._searches if beam is None else [*self._searches, beam]

    def _bytes_beside(self) -> int:
        """Memory for the labels of all searches, and for the prices."""
        labels = sum(array.nbytes for search in self._all_searches() for array in search.labels)
        if self._improver is not None:
            labels += self._improver.bytes_held()
        return labels if self._channel is None else labels + self._channel.bytes_held()

    def rehearse(self) -> None:
        """Call the kernels that `solve` calls for hard instances only, so that they are ready in time."""
        workspace = self.workspace
        channel = ChannelBound(workspace, STAND_BY, 1)
        channel.bound = 1
        channel.work(Incumbent(workspace, 1), 1, self.bound())
        channel.advise()
        Beam(workspace, STAND_BY, 1, 1).work(Incumbent(workspace, 1))
