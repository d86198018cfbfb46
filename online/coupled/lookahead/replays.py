"""The policy ``replay``: choose a complete policy by replaying it on the states before slot 0 (docs/lookahead.md).

Chains that are fitted worker by worker know neither that workers of one zone fail together nor that a period that has
lasted long is likely to last longer. Both make plans safer than J says, so J prefers few workers and long computations.
A replay of the past needs no model of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import States
from hindsched.online.coupled.criteria import Criterion
from hindsched.online.coupled.lookahead.parameters import PlannerOptions, Settings
from hindsched.online.coupled.lookahead.planner import Planner
from hindsched.online.coupled.options import RunOptions
from hindsched.online.coupled.proactive import Proactive
from hindsched.online.coupled.visible import Decision, Policy, Problem, Visible

__all__ = ["REPLAYS", "Replay", "ReplayParameters", "mean_replay_length", "settings_from_past"]


@dataclass(frozen=True, slots=True)
class ReplayParameters:
    """Parameters of replays.

    Parameters
    ----------
    hazards
        Hazard ratios (`Settings.hazard`) that are tried: 1 trusts the chains, and 1/64 nearly ignores failures.
    starts
        Number of replays of each candidate; they start at equal distances in the past.
    iterations
        Largest number of iterations of a replay.
    most_slots
        Largest number of slots of a replay.
    """

    hazards: tuple[float, ...] = (1.0, 1 / 64)
    starts: int = 12
    iterations: int = 10
    most_slots: int = 8_000


REPLAYS = ReplayParameters()


class Replay:
    """Run E-IE or a planner, whichever needs the fewest slots per iteration on the states before slot 0.

    The planners stand by and prefetch as ``hot`` does. They differ in the hazard ratio and in exchanges; V is the mean
    length of an iteration of E-IE in the replays. Ties go to E-IE. Without a past the policy equals ``auto``.

    Parameters
    ----------
    options
        Options of E-IE and of its replays.
    without_past
        Options of the planner for a problem without a past.
    """

    name = "replay"

    def __init__(self, options: RunOptions, without_past: PlannerOptions) -> None:
        self._options = replace(options, slots=None, schedule_slots=None)
        self._without_past = without_past
        self._policy: Policy | None = None

    def choose(self, visible: Visible) -> Mapping[int, int] | Decision | None:
        """Return the choice of the policy that was chosen in slot 0."""
        if visible.slot == 0 or self._policy is None:
            self._policy = self.policy_for(visible.problem)
        return self._policy.choose(visible)

    def policy_for(self, problem: Problem) -> Planner | Proactive:
        """Return the policy for a problem, by what is known before the start."""
        if problem.past is None:
            return Planner(self.name, self._without_past)
        settings = settings_from_past(problem, self._options)
        if settings is None:
            return Proactive(Criterion.E, Criterion.E, self._options)
        return Planner(self.name, PlannerOptions(), settings)


@lru_cache(maxsize=64)
def settings_from_past(problem: Problem, options: RunOptions) -> Settings | None:
    """Return the settings of the best planner in the replays; None if E-IE is at least as good.

    Notes
    -----
    There are ``2 len(hazards) + 1`` candidates, and each takes the time of ``starts`` runs. The replays are a function
    of the problem, so both simulators choose alike.
    """
    from hindsched.online.coupled.lookahead.kernels.compiled_planner import run_kernel  # noqa: PLC0415  # loads numba

    segments = _segments(problem)
    value = least = mean_replay_length(problem, options)
    best = None
    for exchanges, hazard in product((False, True), REPLAYS.hazards):
        settings = Settings(value, exchanges, hazard=hazard)
        tried = [run_kernel(each, PlannerOptions(), settings, limit=each.slots, schedule_slots=0) for each in segments]
        if _mean_length(tried) < least:
            least, best = _mean_length(tried), settings
    return best


def mean_replay_length(problem: Problem, options: RunOptions) -> float:
    """Return the mean slots of an iteration of E-IE in the replays."""
    from hindsched.online.coupled.kernels.arguments import heuristic_of  # noqa: PLC0415  # loads numba
    from hindsched.online.coupled.kernels.compiled_run import run_kernel  # noqa: PLC0415

    heuristic = heuristic_of(Criterion.E, Criterion.E, options)
    segments = _segments(problem)
    return _mean_length([run_kernel(each, heuristic, seed=0, limit=each.slots, schedule_slots=0) for each in segments])


def _segments(problem: Problem) -> list[Instance]:
    """Return the instances of the replays: parts of the past from equidistant slots on."""
    assert problem.past is not None
    slots = problem.past.shape[1]
    past = problem.past.prefix(slots)
    starts = sorted({slots * number // REPLAYS.starts for number in range(REPLAYS.starts)})
    return [_instance(problem, past[:, start : start + REPLAYS.most_slots]) for start in starts]


def _instance(problem: Problem, states: States) -> Instance:
    return Instance(
        tasks=problem.tasks,
        iterations=min(problem.iterations, REPLAYS.iterations),
        n_com=problem.n_com,
        t_prog=problem.t_prog,
        t_data=problem.t_data,
        w=problem.w,
        mu=problem.capacities,
        states=states,
        chains=problem.chains,
    )


def _mean_length(runs: Sequence[tuple[int, int, object]]) -> float:
    """Return the slots of all runs over their completed iterations; no iteration counts as half of one."""
    return sum(slots for slots, _, _ in runs) / max(0.5, sum(iterations for _, iterations, _ in runs))
