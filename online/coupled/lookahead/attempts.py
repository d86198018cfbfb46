"""The exact criterion: success probability and expected length of an attempt (docs/lookahead.md).

An attempt holds a configuration until it succeeds or a member is DOWN. For a worker in state s now that still has to
receive n slots:

- g(s, n, t) = Pr(UP at t, not DOWN in 0..t, and UP in at least n of the slots 0..t-1): it has received all by slot t;
- nd(s, t) = Pr(not DOWN in 0..t).

`tables` and `reach_table` compute both slot by slot from the transition probabilities between UP and RECLAIMED.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hindsched.instances.chains import Chain
from hindsched.instances.errors import InputError
from hindsched.instances.states import RECLAIMED, UP
from hindsched.online.coupled.estimates import complete
from hindsched.online.coupled.visible import Problem

__all__ = ["Attempt", "AttemptModel", "Member", "Tables", "attempt_model", "reach_table", "tables", "with_hazard"]

Reals = npt.NDArray[np.float64]

#: Largest expected number of slots until DOWN; workers are changed to it, so that every sum is finite.
_MOST_SLOTS_TO_DOWN = 1e8
#: Logarithm of the decay of survival at which a sum over slots stops; the rest is a geometric series.
DECAYED = math.log(1e3)
#: Least number of slots in a table; tables end at multiples of `STEP`.
FEWEST_SLOTS, STEP = 512, 16
#: Largest number of entries of `Tables`, and of the tables of g that are kept: half a gigabyte each.
_MOST_NUMBERS = 1 << 26


class Tables(NamedTuple):
    """Probabilities of p chains that the criterion uses.

    Parameters
    ----------
    kept
        M of each worker, shape (p, 2, 2): transition probabilities between UP and RECLAIMED.
    up
        g(s, 0, t), shape (p, 2, H), s = 0 for UP and 1 for RECLAIMED.
    stay
        nd(s, t), shape (p, 2, H).
    rate
        -log of the larger eigenvalue of M, shape (p,): the long-run decay rate of survival per slot.
    p_plus
        P_plus of each worker alone, shape (p,): the probability that it is UP again before it is DOWN.
    reaches_up
        Shape (p, 2): the probability of being UP now or later, before DOWN.
    time_to_down
        Shape (p, 2): expected slots until DOWN.
    """

    kept: Reals
    up: Reals
    stay: Reals
    rate: Reals
    p_plus: Reals
    reaches_up: Reals
    time_to_down: Reals


class Member(NamedTuple):
    """A worker with tasks in an attempt: its index, its state now (UP or RECLAIMED) and the slots it has to receive."""

    worker: int
    state: int
    needs: int


class Attempt(NamedTuple):
    """Expectations for a configuration that is held until it succeeds or a member is DOWN.

    Parameters
    ----------
    success
        P, the probability that the iteration is completed.
    slots
        E[T], expected slots until the iteration is completed or a member is DOWN.
    """

    success: float
    slots: float

    def cost(self, value: float) -> float:
        """Return J = E[T] + (1 - P) V, with V = ``value`` slots for an iteration that must restart."""
        return self.slots + (1.0 - self.success) * value


def tables(chains: Sequence[Chain], longest: int) -> Tables:
    """Return the tables of chains for up to ``longest`` slots to receive.

    Notes
    -----
    With G_t and R_t the probabilities of being UP, and RECLAIMED, at t without having been DOWN, g(s, 0, t) = G_t and
    nd(s, t) = G_t + R_t. Time and memory are O(p H).

    Examples
    --------
    >>> made = tables([Chain(((0.5, 0.25, 0.25), (0.5, 0.0, 0.5), (0.0, 0.0, 1.0)))], longest=2)
    >>> made.stay[0, :, :2].tolist()
    [[1.0, 0.75], [1.0, 0.5]]
    """
    slots = _slots_for(longest)
    p = len(chains)
    kept = np.array([_kept(chain) for chain in chains])
    up_up, up_rec, rec_up, rec_rec = kept[:, 0, 0], kept[:, 0, 1], kept[:, 1, 0], kept[:, 1, 1]
    uu, ur, ru, rr = (each[:, None] for each in (up_up, up_rec, rec_up, rec_rec))
    g, r = np.zeros((p, 2)), np.zeros((p, 2))
    g[:, UP] = r[:, RECLAIMED] = 1.0
    up, stay = np.empty((p, 2, slots)), np.empty((p, 2, slots))
    for t in range(slots):
        up[:, :, t] = g
        stay[:, :, t] = g + r
        g, r = g * uu + r * ru, g * ur + r * rr
    with np.errstate(divide="ignore"):
        rate = -np.log((up_up + rec_rec) / 2 + np.sqrt(((up_up - rec_rec) / 2) ** 2 + up_rec * rec_up))
    returns = rec_up / (1.0 - rec_rec)
    p_plus = up_up + up_rec * returns
    determinant = (1.0 - up_up) * (1.0 - rec_rec) - up_rec * rec_up
    time_to_down = np.stack(((1.0 - rec_rec + up_rec) / determinant, (1.0 - up_up + rec_up) / determinant), axis=1)
    return Tables(
        kept,
        up,
        stay,
        np.minimum(rate, 700.0),
        p_plus,
        np.stack((np.ones(p), returns), axis=1),
        time_to_down,
    )


def reach_table(kept: Reals, longest: int, slots: int) -> Reals:
    """Return g(s, n, t) of one worker, shape (2, N + 1, H), for up to N = ``longest`` slots to receive.

    Parameters
    ----------
    kept
        Its row of `Tables.kept`.
    longest
        N.
    slots
        H.

    Notes
    -----
    With G_t(n) and R_t(n) the probabilities of being UP, and RECLAIMED, at t without having been DOWN and
    after at least n UP slots: G_{t+1}(n) = G_t(n - 1) P_uu + R_t(n) P_ru and R_{t+1}(n) = G_t(n - 1) P_ur + R_t(n)
    P_rr, where n - 1 means 0 for n = 0. Then g = G. Time and memory are O(N H).

    Examples
    --------
    >>> reach_table(np.array([[0.5, 0.25], [0.5, 0.0]]), longest=2, slots=3)[UP].tolist()
    [[1.0, 0.5, 0.375], [0.0, 0.5, 0.375], [0.0, 0.0, 0.25]]
    """
    (uu, ur), (ru, rr) = kept
    up, reclaimed = np.zeros((2, longest + 1)), np.zeros((2, longest + 1))
    up[UP, 0] = reclaimed[RECLAIMED, 0] = 1.0
    before = np.maximum(np.arange(longest + 1) - 1, 0)
    reach = np.empty((slots, *up.shape))
    for t in range(slots):
        reach[t] = up
        moved = up[:, before]
        up, reclaimed = moved * uu + reclaimed * ru, moved * ur + reclaimed * rr
    return np.ascontiguousarray(np.moveaxis(reach, 0, -1))


class AttemptModel:
    """Success probability and expected length of attempts, for one problem.

    Parameters
    ----------
    problem
        A problem with a chain for every worker.

    Raises
    ------
    InputError
        For a worker without chain, naming it, or transfers too long for the tables.

    Notes
    -----
    For a set S with needs n_q in states s_q and W slots to compute, U = sum over t of prod g_q(s_q, n_q, t) is the
    expected number of slots in which all are UP, loaded and not yet DOWN. D = sum of prod nd_q(s_q, t) is the expected
    slots until a member is DOWN. U0 and D0 are the same for members that are all UP and need nothing. Every slot in
    which all are UP is a renewal, so U = Pr(there is such a slot) U0, and

        P = (U / U0) (1 - 1 / U0)^(W - 1),    E[T] = D - P (D0 - 1).

    Both are exact if every member that lacks something is served whenever it is UP. If more than n_com members lack
    something, each of them is assumed to need at least ceil(sum n / n_com) slots.

    A sum stops when the product of the long-run decays has fallen to 1e-3 (for U: counted from the largest need), or at
    the end of the table. The rest is a geometric series of that decay. For one worker the sums are in closed form. An
    attempt costs O(|S| H). The table of g of a worker is computed when an attempt needs it.

    Examples
    --------
    >>> chain = Chain(((0.5, 0.25, 0.25), (0.5, 0.0, 0.5), (0.0, 0.0, 1.0)))
    >>> problem = Problem(1, 1, None, 1, 1, (2,), (1,), (chain,))
    >>> attempt_model(problem).attempt([Member(0, UP, 0)], 2)  # 1/2 + 1/4 1/2; 1/2 2 + 1/8 3 + 1/4 1 + 1/8 2
    Attempt(success=0.625, slots=1.875)
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.longest = longest_of(problem)
        p, slots = problem.num_workers, _slots_for(self.longest)
        table = 2 * (self.longest + 1) * slots
        if max(4 * p * slots, min(p, problem.tasks) * table) > _MOST_NUMBERS:
            raise InputError(
                f"up to {self.longest} slots to receive on {p} workers, expected few enough for tables of "
                f"{_MOST_NUMBERS:,} numbers",
                place="t_prog, t_data",
            )
        self.most_reach_tables = min(p, _MOST_NUMBERS // table)  # that are kept; a plan needs one for each member
        self.tables = tables(complete(problem.chains), self.longest)
        self._fresh: dict[tuple[int, ...], tuple[float, float]] = {}
        self._reach: dict[int, Reals] = {}

    def attempt(self, members: Sequence[Member], slots: int) -> Attempt:
        """Return the expectations for a set of members with ``slots`` >= 1 slots of remaining computation."""
        needs = self._with_contention([member.needs for member in members])
        workers = [member.worker for member in members]
        u, d = self._sums(workers, [member.state for member in members], needs)
        key = tuple(sorted(workers))
        fresh = self._fresh.get(key)
        if fresh is None:
            fresh = self._fresh[key] = self._sums(key, [UP] * len(key), [0] * len(key))
        u0, d0 = fresh
        success = u / u0 * math.exp((slots - 1) * math.log1p(-1.0 / u0)) if u0 > 1.0 else u * (slots == 1)
        return Attempt(success, d - success * (d0 - 1.0))

    def attempt_with(self, tasks: Mapping[int, int], states: Sequence[int], needs: Sequence[int], done: int) -> Attempt:
        """Return the expectations for a configuration.

        Parameters
        ----------
        tasks
            Tasks of each member, at least 1.
        states
            Present states of all workers.
        needs
            Slots that each member has to receive, in the order of ``tasks``.
        done
            Slots of computation already done.
        """
        work = max(x * self.problem.w[q] for q, x in tasks.items())
        return self.attempt([Member(q, states[q], n) for q, n in zip(tasks, needs, strict=True)], work - done)

    def _with_contention(self, needs: Sequence[int]) -> Sequence[int]:
        n_com = self.problem.n_com
        if n_com is None or sum(n > 0 for n in needs) <= n_com:
            return needs
        least = min(-(-sum(needs) // n_com), self.longest)
        return [max(n, least) if n else 0 for n in needs]

    def _sums(self, workers: Sequence[int], states: Sequence[int], needs: Sequence[int]) -> tuple[float, float]:
        """Return (U, D)."""
        made = self.tables
        if len(workers) == 1:
            (q,), (s,), (n,) = workers, states, needs
            p_plus = float(made.p_plus[q])
            return float(made.reaches_up[q, s]) * p_plus**n / (1.0 - p_plus), float(made.time_to_down[q, s])
        decay = float(sum(made.rate[q] for q in workers))
        rest = 1.0 / math.expm1(decay)
        reach = np.ones(stop_of(max(needs), decay, made.stay.shape[2]))
        stay = np.ones(stop_of(0, decay, made.stay.shape[2]))
        for q, s, n in zip(workers, states, needs, strict=True):
            reach *= self._reach_of(q)[s, n, : reach.size] if n else made.up[q, s, : reach.size]
            stay *= made.stay[q, s, : stay.size]
        return float(reach.sum() + reach[-1] * rest), float(stay.sum() + stay[-1] * rest)

    def _reach_of(self, q: int) -> Reals:
        """Return the table of g of a worker; all tables are discarded when there are too many."""
        if q not in self._reach:
            if len(self._reach) == self.most_reach_tables:
                self._reach.clear()
            self._reach[q] = reach_table(self.tables.kept[q], self.longest, self.tables.stay.shape[2])
        return self._reach[q]


def with_hazard(problem: Problem, hazard: float) -> Problem:
    """Return the problem with the probabilities of DOWN of all chains multiplied by a hazard ratio of at most 1.

    The other probabilities of UP and RECLAIMED grow in proportion; without any, the probability of UP takes the rest.

    Examples
    --------
    >>> chain = Chain(((0.5, 0.25, 0.25), (0.5, 0.0, 0.5), (0.0, 0.0, 1.0)))
    >>> with_hazard(Problem(1, 1, None, 1, 1, (2,), (1,), (chain,)), 0.2).chains[0].rows[0]
    (0.6333333333333333, 0.31666666666666665, 0.05)
    """
    if hazard == 1.0:
        return problem
    chains = tuple(Chain((*(_scaled(row, hazard) for row in c.rows[:2]), c.rows[2])) for c in complete(problem.chains))
    return replace(problem, chains=chains, past=None)


def _scaled(row: tuple[float, float, float], hazard: float) -> tuple[float, float, float]:
    up, reclaimed, down = row
    rest, stays = 1.0 - hazard * down, up + reclaimed
    return (up / stays * rest, reclaimed / stays * rest, hazard * down) if stays else (rest, 0.0, hazard * down)


@lru_cache(maxsize=4)
def attempt_model(problem: Problem) -> AttemptModel:
    """Return the model of a problem; the last few are cached."""
    return AttemptModel(problem)


def longest_of(problem: Problem) -> int:
    """Return the largest number of slots that a worker can have to receive."""
    return problem.t_prog + min(max(problem.capacities), problem.tasks) * problem.t_data


def stop_of(longest: int, decay: float, slots: int) -> int:
    """Return the number of slots of a sum: a multiple of `STEP`, at most ``slots``."""
    return min(slots, STEP * math.ceil((longest + 1.0 + DECAYED / decay) / STEP))


def _slots_for(longest: int) -> int:
    return max(FEWEST_SLOTS, STEP * math.ceil(2 * longest / STEP))


def _kept(chain: Chain) -> list[list[float]]:
    """Return M, changed so that at most `_MOST_SLOTS_TO_DOWN` slots are expected until DOWN."""
    (uu, ur, _), (ru, rr, _), _ = chain.rows
    most = 1.0 - 1.0 / _MOST_SLOTS_TO_DOWN
    return [
        [x * min(1.0, most / max(x + y, 1e-300)), y * min(1.0, most / max(x + y, 1e-300))]
        for x, y in ((uu, ur), (ru, rr))
    ]
