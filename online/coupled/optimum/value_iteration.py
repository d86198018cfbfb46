"""The on-line optimum by value iteration with a certificate (docs/online_optimum.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hindsched.instances.chains import Chain
from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.objective import Objective
from hindsched.instances.errors import InputError
from hindsched.instances.notebook import NotebookTable
from hindsched.instances.states import UP
from hindsched.online.coupled.estimates import complete
from hindsched.online.coupled.optimum.state_space import Attempt, Space, Team
from hindsched.online.coupled.visible import Problem

if TYPE_CHECKING:
    from hindsched.online.coupled.optimum.kernels.sweep_kernels import AttemptStates, Others

__all__ = ["Decisions", "OnlineOptimum", "expect_tolerance", "horizon_value", "online_optimum", "problem_of"]

Reals = npt.NDArray[np.float64]
Bits = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class SweepParameters:
    """Parameters of value iteration.

    Parameters
    ----------
    most_preparing_sweeps
        Largest number of sweeps over preparing states, which are few, after each sweep over all states.
    largest_factor
        Largest contraction factor of the error that is extrapolated; a larger one makes extrapolation unstable.
    sweeps_between
        Least number of sweeps between two extrapolations.
    rounding
        Relative change of values that is rounding only.
    """

    most_preparing_sweeps: int = 12
    largest_factor: float = 0.995
    sweeps_between: int = 3
    rounding: float = 8 * float(np.finfo(np.float64).eps)


_SWEEPS = SweepParameters()


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decisions of the best policy while k iterations are left.

    Parameters
    ----------
    actions
        For each preparing state: the workers to serve as bits, or -1 - a for a start of attempt a.
    continues
        For each computing state a bit, packed by `numpy.packbits`: whether to continue the attempt.
    """

    actions: Numbers
    continues: Bits


@dataclass(frozen=True, slots=True)
class OnlineOptimum(NotebookTable):
    """The least expected makespan of any on-line policy.

    Parameters
    ----------
    value
        Expected makespan in slots from the states in slot 0, without transfers.
    lower, upper
        Proven bounds on it, up to the rounding of floating-point numbers.
    longest
        An upper bound on the expected makespan from any states of the workers.
    states
        Number of states for each number of iterations left.
    sweeps
        Number of sweeps over all states, summed over the iterations.
    space
        The state space.
    decisions
        The best policy, by iterations left minus one; empty if it was not kept.
    """

    value: float
    lower: float
    upper: float
    longest: float
    states: int
    sweeps: int
    space: Space = field(repr=False)
    decisions: tuple[Decisions, ...] = field(repr=False)


def online_optimum(
    instance: Instance,
    *,
    tolerance: float = 1e-6,
    most_states: int | None = 500_000_000,
    keep_policy: bool = True,
    progress: Callable[[str], None] | None = None,
) -> OnlineOptimum:
    """Return the least expected makespan of a policy that knows the chains but not the future.

    Parameters
    ----------
    instance
        Its workers, chains and lengths are used, and its states in slot 0.
    tolerance
        Largest relative difference of ``lower`` and ``upper`` from ``value``, between 0 and 1.
    most_states
        Largest number of states; a state takes about 8 bytes. None: no limit.
    keep_policy
        Whether to keep the best policy: for each iteration 4 bytes per preparing state and a bit per computing state.
    progress
        A function that receives a line of text after each sweep.

    Raises
    ------
    InputError
        For too many states, a worker without chain or one that may never be UP again, and an invalid tolerance or one
        that rounding errors exceed.

    Notes
    -----
    docs/online_optimum.md has the proofs. A sweep costs O(p) for each computing state, about 5 ns each, and O(p) plus
    the number of services for each preparing state. The number of sweeps grows with the attempts per iteration.

    The certificate: if one step of dynamic programming changes no value V by more than e < 1, the true values are
    between V / (1 + e) and V / (1 - e), since every slot costs 1.

    Examples
    --------
    >>> half = Chain(((0.5, 0.5, 0.0), (0.5, 0.5, 0.0), (0.0, 0.0, 1.0)))
    >>> alone = Instance.from_letters(["u"], w=[1], tasks=3, chains=[half])
    >>> round(online_optimum(alone).value, 4)  # one slot now, then one in every other slot
    5.0
    """
    expect_tolerance(tolerance)
    problem, now = problem_of(instance)
    space = Space(problem, most_states)
    tables = _Tables(space)
    at = space.number(now, (0,) * len(now))
    report = progress or (lambda line: None)
    done = np.zeros(space.preparing)
    error, sweeps = 0.0, 0
    decisions = []
    emptied = space.emptied() if instance.iterations > 1 else None
    for left in range(1, instance.iterations + 1):
        if left > 1 and emptied is not None:
            done = tables.expectation()[emptied]
            tables.values += tables.values[at] / (left - 1)
        found, more = tables.converge(done, tolerance, partial(_report, report, left))
        error, sweeps = max(error, found), sweeps + more
        if keep_policy:
            decisions.append(tables.decisions(done))
    value = float(tables.values[at])
    upper, longest = (slots / (1 - error) for slots in (value, float(tables.values.max())))
    return OnlineOptimum(value, value / (1 + error), upper, longest, space.states, sweeps, space, tuple(decisions))


def horizon_value(
    instance: Instance, horizon: int, *, objective: str = "makespan", most_states: int | None = 500_000_000
) -> float:
    """Return the best expectation within a finite horizon, by backward induction.

    Parameters
    ----------
    instance
        As in `online_optimum`; any chains are allowed.
    horizon
        Slots, N.
    objective
        ``makespan``: the least expected min(makespan, N) for K iterations. ``iterations``: the most expected iterations
        within N slots, however large K is.
    most_states
        As in `online_optimum`, for all numbers of iterations left together.

    Examples
    --------
    >>> half = Chain(((0.5, 0.5, 0.0), (0.5, 0.5, 0.0), (0.0, 0.0, 1.0)))
    >>> alone = Instance.from_letters(["u"], w=[1], tasks=2, chains=[half])
    >>> horizon_value(alone, 3), horizon_value(alone, 4, objective="iterations")
    (2.5, 1.0)
    """
    is_makespan = Objective.parse(objective) is Objective.MAKESPAN
    if horizon < 1:
        raise InputError(f"{horizon}, expected an integer >= 1", place="horizon")
    problem, now = problem_of(instance, is_endless=False)
    layers = problem.iterations if is_makespan else 1
    space = Space(problem, None if most_states is None else most_states // layers)
    emptied = space.emptied()
    tables = [_Tables(space) for _ in range(layers)]
    for _ in range(horizon):
        for left in range(layers - 1, -1, -1):  # each uses the previous layer one slot later
            if not is_makespan:
                done = tables[0].expectation()[emptied] - 1.0
            else:
                done = tables[left - 1].expectation()[emptied] if left else np.zeros(space.preparing)
            tables[left].step(done, 1.0 if is_makespan else 0.0)
    value = float(tables[-1].values[space.number(now, (0,) * len(now))])
    return value if is_makespan else -value


def problem_of(instance: Instance, *, is_endless: bool = True) -> tuple[Problem, tuple[int, ...]]:
    """Return the problem, with chains restricted to reachable states, and the states in slot 0.

    Raises
    ------
    InputError
        For a worker without chain; if ``is_endless``, for one that may never be UP again, or never twice running.
    """
    problem = Problem.of(instance)
    now = tuple(int(state) for state in instance.prefix(1)[:, 0])
    chains = []
    for q, (chain, state) in enumerate(zip(complete(problem.chains), now, strict=True)):
        reached = _reached(chain, {state})
        rows = tuple(row if x in reached else (1.0, 0.0, 0.0) for x, row in enumerate(chain.rows))
        returning = Chain((rows[0], rows[1], rows[2]))
        returns = all(UP in _reached(returning, {x}) for x in reached) and rows[UP][UP] > 0.0
        if is_endless and problem.capacities[q] and not returns:
            raise InputError(
                "the worker may never be UP again, or never in two slots running: "
                "an expected makespan may be infinite, only a finite horizon has an answer",
                place=f"workers[{q}].markov",
            )
        chains.append(returning)
    return replace(problem, chains=tuple(chains)), now


def _reached(chain: Chain, start: set[int]) -> set[int]:
    reached = set(start)
    for _ in range(2):  # two steps lead everywhere
        reached |= {y for x in reached for y in range(3) if chain.rows[x][y]}
    return reached


def expect_tolerance(tolerance: float) -> None:
    """Raise an `InputError` for a tolerance outside (0, 1), or NaN."""
    if not 0 < tolerance < 1:
        raise InputError(f"{tolerance}, expected a number above 0 and below 1", place="tolerance")


def _report(report: Callable[[str], None], left: int, line: str) -> None:
    report(f"iterations left {left}, {line}")


class _Tables:
    """The values of all states for one number of iterations left."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.teams = space.teams()
        self.loads = np.array(space.loads, dtype=np.int64)
        self.kinds, self.first, self.steps, self.served = space.services()
        self.values: Reals = np.zeros(space.preparing)
        self.expected: Reals = np.zeros(space.preparing)
        self.starts: Reals = np.zeros(space.preparing)
        self.which: Numbers = np.zeros(space.preparing, dtype=np.int32)
        self.gains: Reals = np.zeros(space.computing)
        self._still: dict[tuple[int, ...], Reals] = {}
        self._arguments: list[tuple[AttemptStates, Others, Reals]] | None = None  # of the kernel, for each attempt
        largest = max((team.patterns.size * team.block.size for team in self.teams), default=0)
        self.room, self.spare = np.zeros(largest), np.zeros(max((team.block.size for team in self.teams), default=0))

    def expectation(self) -> Reals:
        """Return the expectation of the values over the next states without service, in a separate array."""
        from hindsched.online.coupled.optimum.kernels.sweep_kernels import expect  # noqa: PLC0415  # numba

        self.expected[:] = self.values
        expect(self.expected, 0, self.loads, self.space.chains)
        return self.expected

    def converge(self, done: Reals, tolerance: float, report: Callable[[str], None]) -> tuple[float, int]:
        """Sweep until the certificate holds; return its error and the number of sweeps."""
        from hindsched.online.coupled.optimum.kernels.sweep_kernels import CHECK, SWEEP  # noqa: PLC0415

        sweeps = 0
        before: Reals | None = None
        factor, since = 0.0, 0
        while True:
            old = self.values.copy()
            self.expectation()
            change = self._attempts(done, 1.0, SWEEP)
            moved = self._prepare(1.0, SWEEP)
            for _ in range(_SWEEPS.most_preparing_sweeps):
                if moved < tolerance / 8:
                    break
                self.expectation()
                moved = self._prepare(1.0, SWEEP)
            sweeps += 1
            step = self.values - old
            largest = max(change, float(np.abs(step).max()))
            report(f"sweep {sweeps}, change {largest:.2e}")
            if largest < tolerance:
                self.expectation()
                error = self._attempts(done, 1.0, CHECK) + self._prepare(1.0, CHECK)
                if error <= tolerance:
                    return error, sweeps
            slots = float(self.values.max())
            if largest <= _SWEEPS.rounding * slots:
                raise InputError(
                    f"{tolerance}, expected more: every sweep rounds values up to {slots:,.0f} slots", place="tolerance"
                )
            # the slowest component of the error shrinks by a constant factor per sweep: estimate it and subtract it
            if before is not None:
                ratio = float(step @ before) / max(float(before @ before), 1e-300)
                since += 1
                if (
                    since >= _SWEEPS.sweeps_between
                    and abs(ratio - factor) < 0.02
                    and 0.2 < ratio < _SWEEPS.largest_factor
                ):
                    self.values += step * (ratio / (1 - ratio))
                    before, since, factor = None, 0, 0.0
                    continue
                factor = ratio
            before = step

    def step(self, done: Reals, slot: float) -> None:
        """Take one backward step of a finite horizon."""
        from hindsched.online.coupled.optimum.kernels.sweep_kernels import STEP, settle  # noqa: PLC0415

        before = self.values.copy()
        self.expectation()
        self._attempts(done, slot, STEP)
        self._prepare(slot, STEP)
        for team, attempt, _ in self._all():
            settle(self._gains(team, attempt), attempt.offset, team.patterns, team.block, before, self.values)

    def decisions(self, done: Reals) -> Decisions:
        """Return the best decisions by the present values."""
        from hindsched.online.coupled.optimum.kernels.sweep_kernels import CHECK  # noqa: PLC0415

        self.expectation()
        self._attempts(done, 1.0, CHECK)
        chosen = np.empty(self.space.preparing, dtype=np.int32)
        self._prepare(1.0, CHECK, chosen)
        actions = np.where(chosen < 0, -1 - self.which, self.served[np.maximum(chosen, 0)]).astype(np.int32)
        return Decisions(actions, np.packbits(self.gains < 0, bitorder="little"))

    def _all(self) -> Sequence[tuple[Team, Attempt, int]]:
        pairs = [(team, attempt) for team in self.teams for attempt in team.attempts]
        return [(*pair, index) for index, pair in enumerate(pairs)]

    def _stays(self, team: Team) -> Reals:
        """Return the probability that no other worker leaves its state, for each state in the block."""
        if team.members not in self._still:
            still = np.ones(1)
            for place in team.others:
                up, taken, down = np.diag(self.space.chains[place])
                levels = self.space.loads[place] + 1
                still = np.outer(still, np.concatenate(([down], np.full(levels, up), np.full(levels, taken)))).ravel()
            self._still[team.members] = still
        return self._still[team.members]

    def _gains(self, team: Team, attempt: Attempt) -> Reals:
        size = self.space.levels(attempt) * team.patterns.size * team.block.size
        return self.gains[attempt.first : attempt.first + size]

    def _attempts(self, done: Reals, slot: float, mode: int) -> float:
        from hindsched.online.coupled.optimum.kernels import sweep_kernels  # noqa: PLC0415

        space = self.space
        if self._arguments is None:
            self._arguments = []
            for team, attempt, index in self._all():
                others, members = list(team.others), list(team.members)
                states = sweep_kernels.AttemptStates(
                    self._gains(team, attempt), space.levels(attempt), attempt.offset, team.patterns, team.block, index
                )
                chains = sweep_kernels.Others(
                    self.loads[others], space.chains[others], space.chains[members], self._stays(team)
                )
                self._arguments.append((states, chains, self.room[: team.patterns.size * team.block.size]))
        self.starts.fill(np.inf)
        preparing = sweep_kernels.Preparing(self.values, self.expected, done, slot, self.starts, self.which)
        change = 0.0
        for states, chains, room in self._arguments:
            change = max(change, sweep_kernels.attempt(states, chains, preparing, room, self.spare, mode))
        return change

    def _prepare(self, slot: float, mode: int, chosen: Numbers | None = None) -> float:
        from hindsched.online.coupled.optimum.kernels.sweep_kernels import Preparing, prepare  # noqa: PLC0415

        preparing = Preparing(self.values, self.expected, self.values, slot, self.starts, self.which)
        written = np.empty(0, dtype=np.int32) if chosen is None else chosen
        return float(prepare(preparing, self.kinds, self.first, self.steps, written, mode))
