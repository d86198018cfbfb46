"""The exact criterion: how likely an attempt succeeds, and how long it takes (docs/beyond.md).

A worker's chain is looked at as long as it has not been DOWN. With s its state now, n the slots it still has to
receive:

- g(s, n, t) = Pr(UP at t, not DOWN in 0..t, and UP in at least n of the slots 0..t-1): it has received all by slot t;
- nd(s, t) = Pr(not DOWN in 0..t).

Both follow slot by slot from the probabilities of staying out of DOWN (`tables`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hindsched.instances.chains import Chain
from hindsched.instances.errors import InputError
from hindsched.instances.states import RECLAIMED, UP
from hindsched.online.coupled.estimates import complete
from hindsched.online.coupled.visible import Problem

__all__ = ["Attempt", "Chances", "Member", "Tables", "chances_of", "tables"]

Reals = npt.NDArray[np.float64]

#: A worker that can hardly go DOWN is taken to do so once in so many slots, so that every sum is finite.
_LONGEST_LIFE = 1e8
#: Sums over slots stop where the workers' survival has decayed to this, and go on as a geometric series.
DECAYED = math.log(1e3)
#: Slots in a table, at the least; tables are cut at multiples of `STEP`.
FEWEST_SLOTS, STEP = 512, 16
#: Numbers in a table, at the most: half a gigabyte.
_MOST_NUMBERS = 1 << 26


class Tables(NamedTuple):
    """What the criterion needs of p chains.

    Parameters
    ----------
    reach
        g(s, n, t), shape (p, 2, N + 1, H), s = 0 for UP and 1 for RECLAIMED.
    stay
        nd(s, t), shape (p, 2, H).
    rate
        -log of the larger eigenvalue of M, shape (p,): what survival decays by in a slot, in the long run.
    again
        P_plus of each worker alone, shape (p,): UP now, it will be so again before it is DOWN.
    back
        Shape (p, 2): the probability of being UP now or later, before DOWN.
    life
        Shape (p, 2): expected slots until DOWN.
    """

    reach: Reals
    stay: Reals
    rate: Reals
    again: Reals
    back: Reals
    life: Reals


class Member(NamedTuple):
    """A worker that holds tasks in an attempt: who, its state now (UP or RECLAIMED) and the slots it has to receive."""

    worker: int
    state: int
    needs: int


class Attempt(NamedTuple):
    """What is expected of a configuration that is kept until it succeeds or a member goes DOWN.

    Parameters
    ----------
    success
        P, the probability that the iteration is completed.
    slots
        E[T], expected slots until it is, or until a member is DOWN.
    """

    success: float
    slots: float

    def worth(self, value: float) -> float:
        """Return J = E[T] + (1 - P) V, with V = ``value`` slots for an iteration that must begin again."""
        return self.slots + (1.0 - self.success) * value


def tables(chains: Sequence[Chain], longest: int) -> Tables:
    """Return the tables of some chains for up to ``longest`` slots to receive.

    Notes
    -----
    With G_t(n) and R_t(n) the probabilities of being UP, and RECLAIMED, at t without having been DOWN and
    after at least n UP slots: G_{t+1}(n) = G_t(n - 1) P_uu + R_t(n) P_ru and R_{t+1}(n) = G_t(n - 1) P_ur + R_t(n)
    P_rr, where n - 1 means 0 for n = 0. Then g = G and nd = G(0) + R(0). Time and memory are O(p N H).

    Examples
    --------
    >>> made = tables([Chain(((0.5, 0.25, 0.25), (0.5, 0.0, 0.5), (0.0, 0.0, 1.0)))], longest=2)
    >>> made.reach[0, UP, :, :3].tolist()
    [[1.0, 0.5, 0.375], [0.0, 0.5, 0.375], [0.0, 0.0, 0.25]]
    >>> made.stay[0, :, :2].tolist()
    [[1.0, 0.75], [1.0, 0.5]]
    """
    slots = _slots_for(longest)
    p = len(chains)
    if 2 * p * (longest + 1) * slots > _MOST_NUMBERS:
        raise InputError(
            f"{longest} slots to receive at most on {p} workers, expected few enough for a table of "
            f"{_MOST_NUMBERS:,} numbers",
            place="t_prog, t_data",
        )
    kept = np.array([_kept(chain) for chain in chains])
    uu, ur, ru, rr = (kept[:, x, y][:, None, None] for x in range(2) for y in range(2))
    up = np.zeros((p, 2, longest + 1))
    reclaimed = np.zeros_like(up)
    up[:, UP, 0] = reclaimed[:, RECLAIMED, 0] = 1.0
    before = np.maximum(np.arange(longest + 1) - 1, 0)
    reach = np.empty((slots, *up.shape))
    stay = np.empty((slots, p, 2))
    for t in range(slots):
        reach[t] = up
        stay[t] = up[:, :, 0] + reclaimed[:, :, 0]
        moved = up[:, :, before]
        up, reclaimed = moved * uu + reclaimed * ru, moved * ur + reclaimed * rr
    up_up, up_rec, rec_up, rec_rec = kept[:, 0, 0], kept[:, 0, 1], kept[:, 1, 0], kept[:, 1, 1]
    with np.errstate(divide="ignore"):
        rate = -np.log((up_up + rec_rec) / 2 + np.sqrt(((up_up - rec_rec) / 2) ** 2 + up_rec * rec_up))
    returns = rec_up / (1.0 - rec_rec)
    again = up_up + up_rec * returns
    determinant = (1.0 - up_up) * (1.0 - rec_rec) - up_rec * rec_up
    life = np.stack(((1.0 - rec_rec + up_rec) / determinant, (1.0 - up_up + rec_up) / determinant), axis=1)
    return Tables(
        np.ascontiguousarray(np.moveaxis(reach, 0, -1)),
        np.ascontiguousarray(np.moveaxis(stay, 0, -1)),
        np.minimum(rate, 700.0),
        again,
        np.stack((np.ones(p), returns), axis=1),
        life,
    )


class Chances:
    """The criterion for one problem.

    Parameters
    ----------
    problem
        With a chain for every worker.

    Raises
    ------
    InputError
        For a worker without chain, naming it, or transfers too long for a table.

    Notes
    -----
    For a set S with needs n_q in states s_q, W slots to compute: U = sum over t of prod g_q(s_q, n_q, t) is
    the expected number of slots in which all are UP, loaded and alive, D = sum of prod nd_q(s_q, t) the expected slots
    until a member is DOWN; U0 and D0 are the same for members that are all UP and need nothing. The attempt renews
    itself in every slot in which all are UP, so that U = Pr(there is such a slot) U0, and

        P = (U / U0) (1 - 1 / U0)^(W - 1),    E[T] = D - P (D0 - 1).

    Both are exact where all members that lack something are served whenever they are UP. Where more than n_com lack
    something, each of these is taken to need at least ceil(sum n / n_com) slots.

    A sum ends at the slot where the product of the long-run decays has fallen to 1e-3, for U counted from the largest
    need, and at the end of the table at the latest; the rest is taken as a geometric series of that decay. For one
    worker the sums are in closed form. An attempt costs O(|S| H).

    Examples
    --------
    >>> chain = Chain(((0.5, 0.25, 0.25), (0.5, 0.0, 0.5), (0.0, 0.0, 1.0)))
    >>> problem = Problem(1, 1, None, 1, 1, (2,), (1,), (chain,))
    >>> chances_of(problem).attempt([Member(0, UP, 0)], 2)  # 1/2 + 1/4 1/2; 1/2 2 + 1/8 3 + 1/4 1 + 1/8 2
    Attempt(success=0.625, slots=1.875)
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.longest = longest_of(problem)
        self.tables = tables(complete(problem.chains), self.longest)
        self._fresh: dict[tuple[int, ...], tuple[float, float]] = {}

    def attempt(self, members: Sequence[Member], slots: int) -> Attempt:
        """Return what is expected of a set of members with ``slots`` >= 1 of computation left to do."""
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
        """Return what is expected of a configuration.

        Parameters
        ----------
        tasks
            Of each member, at least 1.
        states
            Of all workers, now.
        needs
            What each member has to receive, in the order of ``tasks``.
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
            again = float(made.again[q])
            return float(made.back[q, s]) * again**n / (1.0 - again), float(made.life[q, s])
        decay = float(sum(made.rate[q] for q in workers))
        rest = 1.0 / math.expm1(decay)
        reach = np.ones(stop_of(max(needs), decay, made.stay.shape[2]))
        stay = np.ones(stop_of(0, decay, made.stay.shape[2]))
        for q, s, n in zip(workers, states, needs, strict=True):
            reach *= made.reach[q, s, n, : reach.size]
            stay *= made.stay[q, s, : stay.size]
        return float(reach.sum() + reach[-1] * rest), float(stay.sum() + stay[-1] * rest)


@lru_cache(maxsize=4)
def chances_of(problem: Problem) -> Chances:
    """Return the criterion for a problem, remembered for the last few."""
    return Chances(problem)


def longest_of(problem: Problem) -> int:
    """Return the most slots that a worker can have to receive."""
    return problem.t_prog + min(max(problem.capacities), problem.tasks) * problem.t_data


def stop_of(longest: int, decay: float, slots: int) -> int:
    """Return where a sum over slots ends: a multiple of `STEP`, at most ``slots``."""
    return min(slots, STEP * math.ceil((longest + 1.0 + DECAYED / decay) / STEP))


def _slots_for(longest: int) -> int:
    return max(FEWEST_SLOTS, STEP * math.ceil(2 * longest / STEP))


def _kept(chain: Chain) -> list[list[float]]:
    """Return M with a life of at most `_LONGEST_LIFE` slots in each state."""
    (uu, ur, _), (ru, rr, _), _ = chain.rows
    most = 1.0 - 1.0 / _LONGEST_LIFE
    return [
        [x * min(1.0, most / max(x + y, 1e-300)), y * min(1.0, most / max(x + y, 1e-300))]
        for x, y in ((uu, ur), (ru, rr))
    ]
