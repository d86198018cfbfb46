"""Estimates of the duration and the success probability of an iteration (docs/model.md section 5).

Section V of the paper. Sets of workers are bit masks: worker q is bit ``1 << q``. Values that depend on a set and its
chains only are cached, for all policies, estimators and trials.

Written to be read; `hindsched.online.coupled.kernels.estimate_kernels` is the compiled twin.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from hindsched.instances.chains import Chain
from hindsched.instances.errors import InputError
from hindsched.online.coupled.options import Estimator
from hindsched.online.coupled.renewal_sums import Modes, modes, sums
from hindsched.online.options import member

__all__ = ["ESTIMATORS", "Estimate", "Estimates", "SetEstimate"]

#: The names of `Estimator`; the first is the default.
ESTIMATORS = tuple(Estimator)

#: Slots subtracted before a duration is rounded up, so that an integer with a rounding error stays that integer.
_CEIL_SLACK = 1e-9
#: Number of slots that represents a duration beyond the range of floats.
_ENDLESS = 1 << 1024
#: Exponent above which ``exp`` is close to overflow; sums are then formed from logarithms.
_LARGE_LOG = 700.0
#: Number of sets in the cache; a full cache is emptied.
_MOST_SETS = 100_000
#: Number of slots from which on an estimate is not cached.
_LONGEST_TABLE = 100_000


class SetEstimate(NamedTuple):
    """The return probability and time of a set S of workers that are all UP now.

    Parameters
    ----------
    p_plus
        Probability that all are UP in one slot again before any of them is DOWN.
    log_p_plus
        Natural logarithm of it, accurate where ``p_plus`` rounds to 1; -inf where the probability is 0.
    e_c
        E_c: expected slots until then, counted as 0 where it never happens.
    e_given_success
        E_c / P_plus: expected slots until then, given that it happens; inf where it cannot happen.
    """

    p_plus: float
    log_p_plus: float
    e_c: float
    e_given_success: float


class Estimate(NamedTuple):
    """The two measures of a configuration, as natural logarithms to avoid underflow and overflow.

    Parameters
    ----------
    log_probability
        log of P, the probability that the iteration succeeds.
    log_duration
        log of E, its expected duration in slots given success.
    """

    log_probability: float
    log_duration: float


class Estimates:
    """Estimates for the workers of one problem under one estimator.

    Parameters
    ----------
    chains
        One chain per worker.
    n_com
        Number of workers to which the master can send in one slot; None: unbounded.
    estimator
        One of `Estimator`, or its name.

    Raises
    ------
    InputError
        For a worker without chain, naming it, or for an unknown estimator.

    Notes
    -----
    P_plus and E_c come from sums in closed form, or truncated at a relative error of 1e-14 (see
    `hindsched.online.coupled.renewal_sums`). Workers with equal chains give equal numbers to the last bit, for any
    order of the set.

    Examples
    --------
    >>> always_up = Chain(((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    >>> half_up = Chain(((0.5, 0.5, 0), (0.5, 0.5, 0), (0, 0, 1)))
    >>> estimates = Estimates([always_up, half_up])
    >>> estimates.duration(0b01, 7), estimates.duration(0b11, 7)
    (7.0, 13.0)
    """

    def __init__(
        self, chains: Sequence[Chain | None], *, n_com: int | None = None, estimator: str = ESTIMATORS[0]
    ) -> None:
        self.estimator = member(Estimator, estimator, place="estimator")
        self.n_com = n_com
        self._is_conditional = self.estimator is Estimator.CONDITIONAL
        self._is_undivided = self.estimator is Estimator.UNDIVIDED
        self._shared = _shared_tables(complete(chains))
        self._sets = self._shared.sets
        self._alone: list[list[float]] = [[0.0] for _ in chains]

    def of_set(self, members: int) -> SetEstimate:
        """Return P_plus and E_c of a set of at least one worker."""
        return self._sets.get(members) or self._shared.of_set(members)

    def duration(self, members: int, slots: int) -> float:
        """Return E(W) for W = ``slots`` >= 1 slots of computation; inf beyond the range of floats."""
        if slots == 1:
            return 1.0
        p_plus, log_p_plus, e_c, e_given_success = self.of_set(members)
        if self._is_conditional:
            return 1.0 + (slots - 1) * e_given_success
        if self._is_undivided:
            e_c = undivided(e_c, log_p_plus)
        success = p_plus ** (slots - 1)
        return (1.0 + (slots - 1) * e_c) / success if success > 0.0 else math.inf

    def log_duration(self, members: int, slots: int) -> float:
        """Return the logarithm of `duration`; it is finite also where the duration overflows."""
        if slots == 1:
            return 0.0
        _, log_p_plus, e_c, e_given_success = self.of_set(members)
        if self._is_conditional:
            return math.log1p((slots - 1) * e_given_success)
        if self._is_undivided:
            e_c = undivided(e_c, log_p_plus)
        return math.log1p((slots - 1) * e_c) - (slots - 1) * log_p_plus

    def log_success(self, members: int, slots: int) -> float:
        """Return the logarithm of P_plus^(W-1), the probability that W = ``slots`` slots of computation succeed."""
        return 0.0 if slots == 1 else (slots - 1) * self.of_set(members).log_p_plus

    def duration_alone(self, worker: int, slots: int) -> float:
        """Return E^(q)(n), the expected slots until worker q was UP in n = ``slots`` slots; 0 for n = 0."""
        known = self._alone[worker]
        if slots >= _LONGEST_TABLE:
            return self.duration(1 << worker, slots)
        while len(known) <= slots:
            known.append(self.duration(1 << worker, len(known)))
        return known[slots]

    def log_not_down(self, worker: int, slots: int) -> float:
        """Return the logarithm of P_ND(t): worker q, UP now, is not DOWN within t = ``slots`` slots."""
        return self.log_not_down_row(slots)[worker]

    def log_not_down_row(self, slots: int) -> list[float]:
        """Return `log_not_down` of every worker."""
        return self._shared.not_down.get(slots) or self._shared.log_not_down_row(slots)

    def communication(self, longest: float, needed: int, num_members: int) -> float:
        """Return E_comm, the expected slots of communication.

        Parameters
        ----------
        longest
            The largest `duration_alone` of a member for the slots it has to receive.
        needed
            Slots to receive, summed over the members.
        num_members
            Number of workers with tasks.
        """
        if self.n_com is not None and num_members > self.n_com:
            return max(longest, needed / self.n_com)
        return longest

    def measure(self, needs: Mapping[int, int], slots: int) -> Estimate:
        """Return the estimates of a configuration.

        Parameters
        ----------
        needs
            Slots n_q still to receive, by worker with tasks.
        slots
            W, slots of computation that remain, at least 1.
        """
        members = 0
        for q in needs:
            members |= 1 << q
        longest = max(self.duration_alone(q, n) for q, n in needs.items())
        e_comm = self.communication(longest, sum(needs.values()), len(needs))
        row = self.log_not_down_row(whole_slots(e_comm))
        log_p_comm = sum(row[q] for q in sorted(needs))
        return self.iteration(members, slots, e_comm, log_p_comm)

    def iteration(self, members: int, slots: int, e_comm: float, log_p_comm: float) -> Estimate:
        """Return P = P_comm P_plus^(W-1) and E = E_comm + E(W), as logarithms, for W = ``slots``."""
        return Estimate(
            log_p_comm + self.log_success(members, slots), log_sum(self.log_duration(members, slots), e_comm)
        )


def undivided(e_c: float, log_p_plus: float) -> float:
    """Return A / (1 + E_u) = E_c (1 + E_u), where 1 + E_u = 1 / (1 - P_plus); E_c where P_plus is 1."""
    return e_c / -math.expm1(log_p_plus) if log_p_plus < 0.0 else e_c


def whole_slots(duration: float) -> int:
    """Return the duration rounded up to slots; `_CEIL_SLACK` absorbs rounding errors."""
    return math.ceil(duration - _CEIL_SLACK) if duration < math.inf else _ENDLESS


def log_sum(log_a: float, b: float) -> float:
    """Return log(a + b) from log(a) and b >= 0, also where a is beyond the range of floats."""
    if log_a < _LARGE_LOG or b == math.inf:
        return math.log(math.exp(min(log_a, _LARGE_LOG)) + b)
    if b == 0.0 or log_a == math.inf:
        return log_a
    low, high = sorted((log_a, math.log(b)))
    return high + math.log1p(math.exp(low - high))


class _SharedTables:
    """Cached values that depend on the chains only."""

    def __init__(self, chains: Sequence[Chain]) -> None:
        self.sets: dict[int, SetEstimate] = {}
        self.not_down: dict[int, list[float]] = {}
        self._matrices = [up_or_reclaimed(chain) for chain in chains]
        self._modes = [modes(chain) for chain in chains]

    def of_set(self, members: int) -> SetEstimate:
        # sorted by chain and not by index: equal workers then give equal sums to the last bit
        chosen = sorted(self._modes[q] for q in range(members.bit_length()) if members >> q & 1)
        if len(self.sets) >= _MOST_SETS:
            self.sets.clear()
        found = self.sets[members] = estimate_set(chosen)
        return found

    def log_not_down_row(self, slots: int) -> list[float]:
        known: dict[_Matrix, float] = {}
        for matrix in self._matrices:
            if matrix not in known:
                known[matrix] = _log_stays(matrix, slots)
        if len(self.not_down) >= _MOST_SETS // len(self._matrices):
            self.not_down.clear()
        row = self.not_down[slots] = [known[matrix] for matrix in self._matrices]
        return row


@lru_cache(maxsize=4)
def _shared_tables(chains: tuple[Chain, ...]) -> _SharedTables:
    return _SharedTables(chains)


def complete(chains: Sequence[Chain | None]) -> tuple[Chain, ...]:
    """Return the chains; an `InputError` names the first worker that has none."""
    known = []
    for q, chain in enumerate(chains):
        if chain is None:
            raise InputError(
                "missing, and the heuristics' estimates need it: add the worker's chain, "
                "or fit it on a separate training trace (import --train)",
                place=f"workers[{q}].markov",
            )
        known.append(chain)
    return tuple(known)


def estimate_set(workers: Sequence[Modes]) -> SetEstimate:
    """Return P_plus and E_c of a set of workers."""
    if all(gap == 0.0 for _, gap, _, _ in workers):
        # every worker returns to UP with certainty and the sums diverge: use the mean return time
        e_c = 1.0 / math.prod(weight for weight, _, _, _ in workers)
        return SetEstimate(1.0, 0.0, e_c, e_c)
    e_u, a = sums(workers)
    if e_u == 0.0:
        return SetEstimate(0.0, -math.inf, 0.0, math.inf)
    e_c = a / (1.0 + e_u) ** 2
    p_plus = e_u / (1.0 + e_u)
    return SetEstimate(p_plus, -math.log1p(1.0 / e_u), e_c, e_c / p_plus)


_Matrix = tuple[float, float, float, float]


def up_or_reclaimed(chain: Chain) -> _Matrix:
    """Return M = [[P_uu, P_ur], [P_ru, P_rr]] as one tuple; the identity for a worker that cannot go DOWN from UP."""
    (uu, ur, ud), (ru, rr, rd), _ = chain.rows
    if ud == 0.0 and (ur == 0.0 or rd == 0.0):
        return 1.0, 0.0, 0.0, 1.0  # rows sum to 1 only approximately; this worker loses no probability
    return uu, ur, ru, rr


def _log_stays(matrix: _Matrix, slots: int) -> float:
    """Return log of the first row's sum of M^slots, by repeated squaring; all entries are >= 0, nothing cancels."""
    a, b, c, d = matrix
    u, r = 1.0, 0.0
    log_row = log_power = 0.0  # logarithms of the scales of the row and of the power of M
    while slots:
        if slots & 1:
            u, r = u * a + r * c, u * b + r * d
            total = u + r
            if total == 0.0:
                return -math.inf
            u, r, log_row = u / total, r / total, log_row + log_power + math.log(total)
        slots >>= 1
        a, b, c, d = a * a + b * c, b * (a + d), c * (a + d), c * b + d * d
        scale = max(a, b, c, d)
        if scale == 0.0:
            return -math.inf if slots else log_row
        a, b, c, d = a / scale, b / scale, c / scale, d / scale
        log_power = 2.0 * log_power + math.log(scale)
    return log_row
