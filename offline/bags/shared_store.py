"""Shared disks, not on demand, any number of segments: bounds, then plays at the bound, then proofs.

The best lower bound mostly is the optimum. So the search first looks for a schedule that ends at the bound, with
heuristics of growing cost: round robin, the target greedy, annealed levels. If they find none, it raises the bound by
the composition bound, and raises the target until it finds a schedule. Then it bisects between the bounds with the same
heuristics, and `feasibility_cpsat.decide` settles whether a schedule ends one tick earlier. Beyond the limits the lower
bound is raised as far as possible, and the answer is two bounds.

Without a time limit every step has a fixed amount of work, so that the answer depends on the instance and the seed
only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hindsched.instances.states import States
from hindsched.offline.bags import closed_forms, lower_bounds
from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from hindsched.offline.bags.greedy import greedy_by
from hindsched.offline.bags.levels import chains_of, find_levels, grid_by
from hindsched.offline.bags.matching import Segment
from hindsched.offline.bags.preassignment import preassign
from hindsched.offline.bags.round_robin import assign_in_turn
from hindsched.offline.limits import Limit, Limits, Stopwatch

__all__ = ["BoundsAndChains", "lower_bound", "shared_search"]

Chains = list[list[Segment]]

_CELLS = 3
_VARIANTS = 8  # of the greedy, in small bags
_SMALL = 5_000  # most segments of a small bag
_ANNEALED = 20_000  # most positions for annealing
_DECIDED = 60_000  # most positions times segments for a proof
_EFFORT = 30.0  # CP-SAT's own deterministic seconds for a proof, where time has no limit


@dataclass(slots=True)
class BoundsAndChains:
    """What is known: a proven lower bound, and the best play.

    Parameters
    ----------
    lower
        None: no play ends within the known slots.
    chains
        None: no play found.
    by
        What found the play or, once proven optimal, what met it.
    counts
        Plays looked for, proofs asked for, cells split.
    limit
        What stopped the proof, if anything.
    """

    lower: int | None
    chains: Chains | None = None
    by: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    limit: Limit | None = None

    @property
    def upper(self) -> int | None:
        """When the best play ends."""
        return None if self.chains is None else max(chain[-1][2] for chain in self.chains)

    @property
    def is_closed(self) -> bool:
        """Whether nothing is left to find out."""
        return self.lower is None or self.lower == self.upper

    def add(self, what: str, number: int = 1) -> None:
        """Count something."""
        self.counts[what] = self.counts.get(what, 0) + number


def lower_bound(
    periods: AvailabilityPeriods, states: States, slot: int, tasks: int, segments: int
) -> tuple[int, str] | None:
    """Return the best of the bounds alone, fluid, count and area with its name, None if one of them is infinite."""
    best, by = closed_forms.alone(periods, segments), "alone"
    if best is None:
        return None
    fluid = lower_bounds.fluid(periods, states, slot, tasks, segments)
    if fluid is None:
        return None
    if fluid > best:
        best, by = fluid, "fluid"
    for name, bound in (("count", lower_bounds.count), ("area", lower_bounds.area)):
        value = bound(periods, tasks, segments, low=best)
        if value is None:
            return None
        if value > best:
            best, by = value, name
    return best, by


def shared_search(
    periods: AvailabilityPeriods,
    tasks: int,
    segments: int,
    bound: tuple[int, str],
    limits: Limits,
    watch: Stopwatch,
    *,
    is_all: bool,
) -> BoundsAndChains:
    """Return bounds on the optimum within these periods, equal ones if they can be had.

    Parameters
    ----------
    periods
        Of all machines.
    tasks, segments
        n and k.
    bound
        Their `lower_bound`.
    limits
        Threads, seed, and whether time is limited at all.
    watch
        Knows how much is left of the time limit: others may have spent a part of it.
    is_all
        Whether no more slots are known. Only then is time spent on a proof that there is no play at all in these.

    Notes
    -----
    ``lower`` None is a proof that no play ends within the periods' horizon; a number without ``chains`` is a search
    that found nothing.
    """
    search = _Search(periods, tasks, segments, limits, watch, BoundsAndChains(bound[0], by=bound[1]), is_all)
    search.go()
    return search.found


class _Search:
    def __init__(
        self,
        periods: AvailabilityPeriods,
        tasks: int,
        segments: int,
        limits: Limits,
        watch: Stopwatch,
        found: BoundsAndChains,
        is_all: bool,
    ) -> None:
        self.periods = periods
        self.tasks = tasks
        self.segments = segments
        self.limits = limits
        self.watch = watch
        self.found = found
        self.is_all = is_all

    def go(self) -> None:
        found = self.found
        if self._at_bound():
            return
        if not self._compose():
            return
        self._rise()
        if not found.is_closed:
            self._squeeze()
        if not found.is_closed and (self.is_all or found.chains is not None):
            self._prove()

    def _at_bound(self) -> bool:
        """Look for a play at the lower bound by all means; return whether that closed the case."""
        assert self.found.lower is not None
        return self._try(self.found.lower, thorough=True)

    def _try(self, tau: int, *, thorough: bool) -> bool:
        """Look for a play by tau; return whether there is one."""
        self.found.add("plays")
        chains: Chains | None = None
        preassigned = preassign(self.periods, self.tasks, self.segments, tau)
        if preassigned is not None:
            rest = self._look(preassigned.periods, self.tasks - len(preassigned.chains), tau, 1)
            chains = None if rest is None else preassigned.with_rest(rest)
        if chains is None:
            chains = self._look(self.periods, self.tasks, tau, 3 if thorough else 1)
        if chains is None:
            return False
        self.found.chains = chains
        return True

    def _look(self, periods: AvailabilityPeriods, tasks: int, tau: int, tries: int) -> Chains | None:
        """Look for chains by tau: dealt, then by the target greedy, then by annealing."""
        k, seed = self.segments, self.limits.seed
        chains = assign_in_turn(periods, tasks, k, tau)
        if chains is None:
            variants = _VARIANTS if tasks * k <= _SMALL else 1
            chains = greedy_by(periods, tasks, k, tau, tries=variants, seed=seed)
        size = int(periods.counts(tau).sum())
        if chains is not None or self.watch.is_over() or not tasks * k <= size <= _ANNEALED:
            return chains
        grid = grid_by(periods, k, tau, _CELLS)
        levels = find_levels(grid, tasks, k, tries=tries, seed=seed)
        return None if levels is None else chains_of(grid, tasks, k, *levels)

    def _compose(self) -> bool:
        """Raise the lower bound by the composition bound; return whether there is something left to look for."""
        from hindsched.offline.bags.composition_bound import composition

        found = self.found
        assert found.lower is not None
        value = composition(self.periods, self.tasks, self.segments, low=found.lower, limits=self._rest())
        if value is None:
            found.lower, found.by = None, "composition"
            return False
        if value > found.lower:
            found.lower, found.by = value, "composition"
            return not self._at_bound()
        return True

    def _rise(self) -> None:
        """Let the target rise until a play is found or the known slots are over."""
        assert self.found.lower is not None
        tau, step = self.found.lower, max(1, self.found.lower // 1000)
        while tau < self.periods.horizon and self.found.chains is None:
            tau = min(self.periods.horizon, tau + step)
            step *= 2
            self._try(tau, thorough=False)

    def _squeeze(self) -> None:
        """Look for plays between the bounds, by bisection, as if the means found what there is."""
        assert self.found.lower is not None
        if self.found.upper is None:
            return
        low, high = self.found.lower, self.found.upper
        while high - low > 1 and not self.watch.is_over():
            middle = (low + high) // 2
            if self._try(middle, thorough=False):
                assert self.found.upper is not None
                high = self.found.upper
            else:
                low = middle

    def _prove(self) -> None:
        """Decide whether a play ends earlier than the best one; if that is too hard, raise the lower bound."""
        found = self.found
        end = self.periods.horizon
        if int(self.periods.counts(found.upper or end).sum()) * self.segments > _DECIDED:
            found.limit = Limit.EFFORT  # a bag of this size is not attempted
            return
        hard: int | None = None  # an instant for which the question was too hard
        effort = _EFFORT
        while found.lower is not None and not found.is_closed:
            if hard is not None and found.lower >= hard:
                return
            target = (found.upper or end + 1) - 1 if hard is None else (found.lower + hard) // 2
            answer = self._decide(target, effort)
            if answer is None:
                found.limit = Limit.EFFORT if self.limits.time_limit_s is None else Limit.TIME
                if self.watch.is_over() or effort < _EFFORT / 50:
                    return
                hard, effort = target, effort / 2
            elif answer:
                hard = None

    def _decide(self, tau: int, effort: float) -> bool | None:
        """Ask whether a play ends by tau, and take note of the answer; None if it takes too long."""
        from hindsched.offline.bags.feasibility_cpsat import decide

        found = self.found
        if self.watch.is_over():
            return None
        found.add("proofs")
        within = effort if self.limits.time_limit_s is None else None
        answer = decide(self.periods, self.tasks, self.segments, tau, self._rest(0.5), effort=within)
        found.add("splits", answer.splits)
        if answer.exists:
            found.chains = answer.chains
        elif answer.exists is False:
            found.lower = tau + 1 if tau < self.periods.horizon else None
            found.by = "levels"
        return answer.exists

    def _rest(self, share: float = 1.0) -> Limits:
        """Return the limits, with a share of the time that is left."""
        left = self.watch.left_s()
        time = None if left is None else max(share * left, 0.01)
        return Limits(time, self.limits.memory_limit_mb, self.limits.threads, self.limits.seed)
