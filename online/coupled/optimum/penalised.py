"""A lower bound on every on-line policy: information relaxation with penalties (docs/online_optimum.md).

The method is that of Brown, Smith and Sun (2010). A clairvoyant computes only where it will succeed. Let h be the
expected cost of an attempt from its present state, with a constant cost of failure. In every slot of computation the
clairvoyant is charged a share of E[h(next)] - h(next), the luck of that slot. For a policy that does not know the
future, the expected charge is 0. So the expectation of the clairvoyant's least charged makespan is a lower bound on the
expected makespan of every on-line policy. A share of 0 gives the hindsight optimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hindsched.instances.coupled.model import Instance
from hindsched.online.coupled.optimum.state_space import Space
from hindsched.online.coupled.optimum.value_iteration import problem_of

__all__ = ["Charge", "Penalised"]

Reals = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Charge:
    """The charge for luck.

    Parameters
    ----------
    failed
        The constant cost of a failure in h, in slots.
    share
        The share of luck that is charged, from 0 to 1.
    """

    failed: float
    share: float


class Penalised:
    """The bound for one problem with few workers; the clairvoyant's problem is solved exactly.

    Parameters
    ----------
    instance
        Its workers, chains and lengths are used, and its states in slot 0.
    most_states
        As for `hindsched.online.coupled.optimum.online_optimum`.
    """

    def __init__(self, instance: Instance, most_states: int = 20_000_000) -> None:
        self.problem, self.now = problem_of(instance)
        self.space = space = Space(self.problem, most_states)
        radix = np.array(space.loads) + 1
        self._strides: Ints = np.cumprod(np.concatenate(([1], radix[:0:-1])))[::-1].copy()
        self._vectors = int(radix.prod())
        pairs = [(team, attempt) for team in space.teams() for attempt in team.attempts]
        self._members = np.array([sum(1 << place for place in team.members) for team, _ in pairs])
        self._lengths = np.array([attempt.length for _, attempt in pairs])
        self._held = np.array([self._held_by(team.members, attempt.offset) for team, attempt in pairs])
        longest: dict[tuple[int, ...], int] = {}
        for team, attempt in pairs:
            longest[team.members] = max(longest.get(team.members, 0), attempt.length)
        self._longest = longest
        words = 1 << len(space.workers)
        begins, at = {}, 0
        for members, length in longest.items():
            begins[members] = at
            at += length * words
        self._first = np.array([begins[team.members] for team, _ in pairs])
        self._begins, self._size = begins, at

    def bound(self, states: npt.NDArray[np.integer], charge: Charge) -> float:
        """Return the clairvoyant's least charged makespan on one path of states, shape (p, slots).

        Work that remains at the end of the path costs nothing, so a short path also gives a lower bound.
        """
        from hindsched.online.coupled.optimum.kernels.penalised_kernels import Attempts, Luck, PathProblem, play  # noqa: PLC0415  # numba

        space, problem = self.space, self.problem
        path = np.ascontiguousarray(states[list(space.workers)].T, dtype=np.int64)
        worth, means = self._worth(charge.failed)
        channels = len(space.workers) if problem.n_com is None else problem.n_com
        lengths = problem.t_prog, problem.t_data
        given = PathProblem(np.array(space.loads), self._strides, *lengths, problem.tasks, channels)
        attempts = Attempts(self._members, self._held, self._lengths)
        luck = Luck(self._first, worth, means, charge.failed, charge.share)
        after = np.zeros((len(path), self._vectors))
        room = np.full(int((self._lengths - 1).sum()) * self._vectors, np.inf)
        for _ in range(problem.iterations):
            values = np.zeros((len(path), self._vectors))
            # beyond the end of the path all costs are 0
            room[:] = np.inf
            there = np.zeros_like(room)
            play(path, given, attempts, luck, after, values, room, there)
            after = values
        return float(after[0, 0])

    def _held_by(self, members: tuple[int, ...], offset: int) -> int:
        total = 0
        for place in members:
            digit = offset // int(self.space.strides[place]) % self.space.sizes[place]
            total += (digit - 1) * int(self._strides[place])
        return total

    def _worth(self, failed: float) -> tuple[Reals, Reals]:
        """Return h, and its expectation in the next slot, by slots left then and by the members RECLAIMED now.

        h is the expected cost of each team's attempts; an attempt may be abandoned at the cost of a failure. It is
        solved level by level of slots left, and within a level by iteration over the suspended patterns.
        """
        words = 1 << len(self.space.workers)
        worth, means = np.zeros(self._size), np.zeros(self._size)
        chains = self.space.chains
        for members, length in self._longest.items():
            patterns = [
                sum(1 << place for i, place in enumerate(members) if word >> i & 1) for word in range(1 << len(members))
            ]
            moves = np.ones((len(patterns), len(patterns)))
            for i, mine in enumerate(patterns):
                for j, following in enumerate(patterns):
                    for place in members:
                        moves[i, j] *= chains[place, mine >> place & 1, following >> place & 1]
            fails = 1.0 - moves.sum(axis=1)
            below = np.zeros(len(patterns))
            for left in range(1, length):
                level = np.full(len(patterns), failed)
                level[0] = min(failed, 1.0 + (moves[0] @ below + fails[0] * failed if left > 1 else 0.0))
                while True:
                    new = np.minimum(failed, 1.0 + moves @ level + fails * failed)
                    new[0] = level[0]
                    if float(np.abs(new - level).max()) < 1e-12:
                        break
                    level = new
                rows = self._begins[members] + left * words + np.array(patterns)
                worth[rows], means[rows] = level, moves @ level + fails * failed
                below = level
        return worth, means
