"""The solver for a shared store without saves on demand and any number of segments.

The best lower bound is the optimum in most cases. So the search first looks for a schedule that ends at the bound, with
heuristics of growing cost: round robin, the target greedy, annealed levels. If they find none, it raises the bound by
the composition bound, and raises the target until it finds a schedule. Then it bisects between the bounds with the same
heuristics, and `feasibility_cpsat.decide` settles whether a schedule ends one tick earlier. Beyond the limits it raises
the lower bound as far as possible and returns two bounds.

Without a time limit every step has a fixed amount of work, so that the answer depends on the instance and the seed
only.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hindsched.instances.states import States
from hindsched.offline.bags import closed_forms, lower_bounds
from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from hindsched.offline.bags.greedy import greedy_by
from hindsched.offline.bags.levels import chains_of, find_levels, grid_by
from hindsched.offline.bags.matching import Segment
from hindsched.offline.bags.preassignment import preassign
from hindsched.offline.bags.round_robin import assign_in_turn
from hindsched.offline.limits import Limit, Limits, Stopwatch

__all__ = ["BoundsAndChains", "SearchParameters", "lower_bound", "shared_search"]

Chains = list[list[Segment]]


@dataclass(frozen=True, slots=True)
class SearchParameters:
    """Parameters of the search.

    Parameters
    ----------
    cells
        Times between the leftmost and the rightmost that annealing tries for a position. More cells find more
        schedules, at more steps each.
    greedy_tries
        Runs of the target greedy in small bags, all but the first with random noise; one run in others.
    small_segments
        Largest number of segments of a small bag.
    most_annealed
        Largest number of positions for annealing.
    most_proven
        Largest product of positions and segments for which a proof is attempted.
    proof_effort
        Deterministic seconds of CP-SAT for a proof, where there is no time limit. A question that is too hard halves
        the effort of the next one.
    least_effort
        The search for a proof ends below this fraction of ``proof_effort``.
    proof_share
        Share of the time left for a proof, where there is a time limit.
    """

    cells: int = 3
    greedy_tries: int = 8
    small_segments: int = 5_000
    most_annealed: int = 20_000
    most_proven: int = 60_000
    proof_effort: float = 30.0
    least_effort: float = 1 / 50
    proof_share: float = 0.5


_PARAMETERS = SearchParameters()


@dataclass(slots=True)
class BoundsAndChains:
    """A proven lower bound and the best schedule, as the segments of each task.

    Parameters
    ----------
    lower
        None: no schedule ends within the known slots.
    chains
        None: no schedule is known.
    by
        The method behind the lower bound.
    counts
        Heuristic searches (``plays``), proofs attempted and cells split.
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
        """The end of the best schedule."""
        return None if self.chains is None else max(chain[-1][2] for chain in self.chains)

    @property
    def is_closed(self) -> bool:
        """Whether the bounds meet, or no schedule exists."""
        return self.lower is None or self.lower == self.upper

    def add(self, what: str, number: int = 1) -> None:
        """Add to a count."""
        self.counts[what] = self.counts.get(what, 0) + number


def lower_bound(
    periods: AvailabilityPeriods, states: States, slot: int, tasks: int, segments: int
) -> tuple[int, str] | None:
    """Return the best of the bounds alone, fluid, count and area, with its name; None if one of them is infinite."""
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
    """Return bounds on the optimum within these availability periods, equal where the search succeeds.

    Parameters
    ----------
    periods
        Of all machines.
    tasks, segments
        n and k.
    bound
        Their `lower_bound`.
    limits
        Threads, seed, and whether there is a time limit.
    watch
        The clock of the time limit, which other searches may have used before.
    is_all
        Whether no more slots are known. Otherwise the search does not try to prove that no schedule exists in these.

    Notes
    -----
    ``lower`` None is a proof that no schedule ends within the horizon of the periods. A number without ``chains`` means
    that the search found no schedule.
    """
    found = BoundsAndChains(bound[0], by=bound[1])
    _Search(periods, tasks, segments, limits, watch, found, is_all).run()
    return found


@dataclass(frozen=True, slots=True)
class _Search:
    """One search; `shared_search` describes the fields, and ``found`` is its result."""

    periods: AvailabilityPeriods
    tasks: int
    segments: int
    limits: Limits
    watch: Stopwatch
    found: BoundsAndChains
    is_all: bool

    def run(self) -> None:
        found = self.found
        assert found.lower is not None
        if self._find(found.lower, is_thorough=True) or not self._raise_by_composition():
            return
        self._raise_target()
        if not found.is_closed:
            self._bisect()
        if not found.is_closed and (self.is_all or found.chains is not None):
            self._prove()

    def _find(self, tau: int, *, is_thorough: bool) -> bool:
        """Look for a schedule by tau; return whether there is one."""
        self.found.add("plays")
        chains: Chains | None = None
        preassigned = preassign(self.periods, self.tasks, self.segments, tau)
        if preassigned is not None:
            others = self.tasks - len(preassigned.chains)
            rest = self._heuristic_chains(preassigned.periods, others, tau, 1)
            chains = None if rest is None else preassigned.with_rest(rest)
        if chains is None:
            chains = self._heuristic_chains(self.periods, self.tasks, tau, 3 if is_thorough else 1)
        if chains is None:
            return False
        self.found.chains = chains
        return True

    def _heuristic_chains(self, periods: AvailabilityPeriods, tasks: int, tau: int, tries: int) -> Chains | None:
        """Look for chains by tau: by round robin, by the target greedy, then by annealing."""
        k, seed = self.segments, self.limits.seed
        chains = assign_in_turn(periods, tasks, k, tau)
        if chains is None:
            greedy_tries = _PARAMETERS.greedy_tries if tasks * k <= _PARAMETERS.small_segments else 1
            chains = greedy_by(periods, tasks, k, tau, tries=greedy_tries, seed=seed)
        size = int(periods.counts(tau).sum())
        if chains is not None or self.watch.is_over() or not tasks * k <= size <= _PARAMETERS.most_annealed:
            return chains
        grid = grid_by(periods, k, tau, _PARAMETERS.cells)
        levels = find_levels(grid, tasks, k, tries=tries, seed=seed)
        return None if levels is None else chains_of(grid, tasks, k, *levels)

    def _raise_by_composition(self) -> bool:
        """Raise the lower bound by the composition bound; return whether the search has to continue."""
        from hindsched.offline.bags.composition_bound import composition

        found = self.found
        assert found.lower is not None
        value = composition(self.periods, self.tasks, self.segments, low=found.lower, limits=self._limits_left())
        if value is None:
            found.lower, found.by = None, "composition"
            return False
        if value > found.lower:
            found.lower, found.by = value, "composition"
            return not self._find(value, is_thorough=True)
        return True

    def _raise_target(self) -> None:
        """Raise the target until a schedule is found or the known slots end."""
        assert self.found.lower is not None
        tau, step = self.found.lower, max(1, self.found.lower // 1000)
        while tau < self.periods.horizon and self.found.chains is None:
            tau = min(self.periods.horizon, tau + step)
            step *= 2
            self._find(tau, is_thorough=False)

    def _bisect(self) -> None:
        """Look for schedules between the bounds by bisection, as if the heuristics were exact."""
        assert self.found.lower is not None
        if self.found.upper is None:
            return
        low, high = self.found.lower, self.found.upper
        while high - low > 1 and not self.watch.is_over():
            middle = (low + high) // 2
            if self._find(middle, is_thorough=False):
                assert self.found.upper is not None
                high = self.found.upper
            else:
                low = middle

    def _prove(self) -> None:
        """Decide whether a schedule ends before the best one; where that is too hard, raise the lower bound."""
        found = self.found
        end = self.periods.horizon
        if int(self.periods.counts(found.upper or end).sum()) * self.segments > _PARAMETERS.most_proven:
            found.limit = Limit.EFFORT
            return
        hard: int | None = None  # a target that was too hard to decide
        effort = _PARAMETERS.proof_effort
        while found.lower is not None and not found.is_closed:
            if hard is not None and found.lower >= hard:
                return
            target = (found.upper or end + 1) - 1 if hard is None else (found.lower + hard) // 2
            exists = self._decide(target, effort)
            if exists is None:
                found.limit = Limit.EFFORT if self.limits.time_limit_s is None else Limit.TIME
                if self.watch.is_over() or effort < _PARAMETERS.proof_effort * _PARAMETERS.least_effort:
                    return
                hard, effort = target, effort / 2
            elif exists:
                hard = None

    def _decide(self, tau: int, effort: float) -> bool | None:
        """Decide whether a schedule ends by tau, and record the answer; None if a limit stops the decision."""
        from hindsched.offline.bags.feasibility_cpsat import decide

        found = self.found
        if self.watch.is_over():
            return None
        found.add("proofs")
        within = effort if self.limits.time_limit_s is None else None
        limits = self._limits_left(_PARAMETERS.proof_share)
        answer = decide(self.periods, self.tasks, self.segments, tau, limits, effort=within)
        found.add("splits", answer.splits)
        if answer.exists:
            found.chains = answer.chains
        elif answer.exists is False:
            found.lower = tau + 1 if tau < self.periods.horizon else None
            found.by = "levels"
        return answer.exists

    def _limits_left(self, share: float = 1.0) -> Limits:
        """Return the limits with a share of the time that is left."""
        left_s = self.watch.left_s()
        return replace(self.limits, time_limit_s=None if left_s is None else max(share * left_s, 0.01))
