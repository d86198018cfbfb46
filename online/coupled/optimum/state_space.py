"""The states of the decision problem whose best policy is the on-line optimum (docs/online_optimum.md).

A *preparing* state gives for each worker DOWN, or UP or RECLAIMED with its *load*: the number of slots of program, then
of data, that it has received. No computation is under way. A *computing* state also gives the members and the slots of
computation left. Every UP worker is enrolled, and as many workers as possible are served; neither is ever a loss
(Propositions 3 and 4 of that page).

Numbering. A worker with L + 1 possible loads has 2 L + 3 states: 0 is DOWN, 1 + l is UP with load l, L + 2 + l is
RECLAIMED with load l. A preparing state is a number in that mixed radix, worker 0 most significant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import prod

import numpy as np
import numpy.typing as npt

from hindsched.instances.errors import InputError
from hindsched.instances.states import DOWN, RECLAIMED, UP
from hindsched.online.coupled.estimates import complete
from hindsched.online.coupled.visible import Problem

__all__ = ["Attempt", "Space", "Team"]

Ints = npt.NDArray[np.int64]

#: Largest number of states, by their numbering.
MOST_STATES = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way to compute: the members, what each has received, and the fastest division of the tasks.

    Parameters
    ----------
    tasks
        Tasks of each member, in the order of ``Team.members``.
    length
        W, slots of computation of that division: the least of all divisions for which the loads suffice.
    offset
        The number of the state in which the members are UP with these loads and all other workers are DOWN.
    first
        The index of its first state among all computing states; it has `Space.levels` x patterns x block states.
    """

    tasks: tuple[int, ...]
    length: int
    offset: int
    first: int


@dataclass(frozen=True, slots=True)
class Team:
    """A set of members with its attempts.

    Parameters
    ----------
    members, others
        Indices in `Space.workers`.
    patterns
        2^|members| offsets between states: pattern 0 has all members UP, bit i of a pattern has member i RECLAIMED.
    block
        The number of each state of the others, with 0 for the members.
    attempts
        All attempts of these members.
    """

    members: tuple[int, ...]
    others: tuple[int, ...]
    patterns: Ints
    block: Ints
    attempts: tuple[Attempt, ...]


class Space:
    """The states of one problem, and the decisions in each of them.

    Parameters
    ----------
    problem
        The problem; every worker needs a chain. Workers that can hold no task are left out.
    most_states
        Largest number of states; None: the limit of the numbering.
    refuses
        Whether too many states are an error. Otherwise ``states`` is then some number above the limit.

    Raises
    ------
    InputError
        For a worker without chain, and for too many states.

    Examples
    --------
    >>> from hindsched.instances.coupled.generate import paper
    >>> drawn = paper(m=2, n_com=1, wmin=1, scenario=0, trial=0, slots=1, p=3)
    >>> space = Space(Problem.of(drawn))
    >>> space.preparing, space.computing
    (4913, 25602)
    """

    def __init__(self, problem: Problem, most_states: int | None = None, *, refuses: bool = True) -> None:
        self.problem = problem
        self.workers = tuple(q for q, cap in enumerate(problem.capacities) if cap)
        chains = complete(problem.chains)
        self.chains = np.array([chains[q].rows for q in self.workers])
        self.chains /= self.chains.sum(axis=2, keepdims=True)  # rows sum to 1 within 1e-9 only
        self.caps = tuple(problem.capacities[q] for q in self.workers)
        self.w = tuple(problem.w[q] for q in self.workers)
        self.loads = tuple(problem.t_prog + cap * problem.t_data for cap in self.caps)
        self.sizes = tuple(2 * load + 3 for load in self.loads)
        self.preparing = prod(self.sizes)
        most = MOST_STATES if most_states is None else most_states
        self.computing = self._count(most)
        if refuses and self.states > most:
            raise InputError(
                f"{self.states:,} states or more for each iteration left, expected at most {most:,}", place="states"
            )
        strides = np.cumprod((1, *self.sizes[:0:-1]))[::-1]
        self.strides: Ints = np.ascontiguousarray(strides, dtype=np.int64)

    @property
    def states(self) -> int:
        """The number of states for each number of iterations left."""
        return self.preparing + self.computing

    def levels(self, attempt: Attempt) -> int:
        """Return W - 1: the slots left of a computing state are 1 to W - 1."""
        return attempt.length - 1

    def number(self, now: tuple[int, ...], loads: tuple[int, ...]) -> int:
        """Return the number of a preparing state from states and loads of all workers of the problem."""
        return sum(
            int(self.strides[place]) * self._digit(place, now[q], loads[q]) for place, q in enumerate(self.workers)
        )

    def _digit(self, place: int, state: int, load: int) -> int:
        if state == DOWN:
            return 0
        return 1 + load + (self.loads[place] + 1 if state == RECLAIMED else 0)

    def emptied(self) -> Ints:
        """Return for each preparing state the number of its state after the end of an iteration (R5)."""
        parts = []
        for load, stride in zip(self.loads, self.strides, strict=True):
            held = np.arange(load + 1)
            kept = np.where(held >= self.problem.t_prog, self.problem.t_prog, 0)
            parts.append(stride * np.concatenate(([0], 1 + kept, load + 2 + kept)))
        return _sums(parts)

    # ---- computing

    def teams(self) -> list[Team]:
        """Return every possible set of members with its attempts."""
        found: list[Team] = []
        first = 0
        for members, attempts in self._by_members():
            others = tuple(place for place in range(len(self.workers)) if place not in members)
            between = [self.strides[place] * (self.loads[place] + 1) for place in members]
            patterns = np.array(
                [
                    sum(int(step) for bit, step in enumerate(between) if pattern >> bit & 1)
                    for pattern in _words(members)
                ]
            )
            block = _sums([self.strides[place] * np.arange(self.sizes[place]) for place in others])
            made = []
            for loads, tasks, length in attempts:
                offset = sum(int(self.strides[place]) * (1 + load) for place, load in zip(members, loads, strict=True))
                made.append(Attempt(tasks, length, offset, first))
                first += (length - 1) * patterns.size * block.size
            found.append(Team(members, others, patterns, block, tuple(made)))
        return found

    def _by_members(self) -> Iterator[tuple[tuple[int, ...], list[tuple[tuple[int, ...], tuple[int, ...], int]]]]:
        problem = self.problem
        for size in range(1, min(problem.tasks, len(self.workers)) + 1):
            for members in combinations(range(len(self.workers)), size):
                attempts = []
                if sum(self.caps[place] for place in members) < problem.tasks:
                    continue
                least = [
                    problem.t_prog
                    + problem.t_data
                    * max(1, problem.tasks - sum(self.caps[other] for other in members if other != place))
                    for place in members
                ]
                ranges = [range(low, self.loads[place] + 1) for low, place in zip(least, members, strict=True)]
                for loads in product(*ranges):
                    tasks = self._fastest(members, loads)
                    if tasks:
                        length = max(x * self.w[place] for x, place in zip(tasks, members, strict=True))
                        attempts.append((loads, tasks, length))
                yield members, attempts

    def _count(self, most: int) -> int:
        """Return the number of computing states; if it is above the limit, some number above the limit."""
        total = 0
        if self.preparing <= most:
            for members, attempts in self._by_members():
                total += sum(self._states_of(members, length) for _, _, length in attempts)
                if self.preparing + total > most:
                    break
        return total

    def _states_of(self, members: tuple[int, ...], length: int) -> int:
        others = prod(size for place, size in enumerate(self.sizes) if place not in members)
        return int((length - 1) * 2 ** len(members) * others)

    def _fastest(self, members: tuple[int, ...], loads: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return the fastest division of the tasks over exactly these members; None if loads are too small."""
        problem = self.problem
        most = [
            min(self.caps[place], (load - problem.t_prog) // problem.t_data) if problem.t_data else self.caps[place]
            for place, load in zip(members, loads, strict=True)
        ]
        if min(most) < 1 or sum(most) < problem.tasks:
            return None
        tasks = [1] * len(members)
        for _ in range(problem.tasks - len(members)):  # greedy: the least increase of the makespan is optimal
            _, best = min((self.w[place] * (tasks[i] + 1), i) for i, place in enumerate(members) if tasks[i] < most[i])
            tasks[best] += 1
        return tuple(tasks)

    # ---- preparing

    def services(self) -> tuple[npt.NDArray[np.int32], Ints, Ints, Ints]:
        """Return the services: sets of workers that the master can serve.

        Returns
        -------
        kinds
            The kind of each preparing state, by the workers that can be served and the tasks that this enrols.
        first
            The index of the first service of each kind, and the number of all services.
        steps, served
            For each service: its change of the number of the state, and the served workers as bits.
        """
        problem = self.problem
        channels = len(self.workers) if problem.n_com is None else problem.n_com
        digits, radices = [], []
        for cap, load in zip(self.caps, self.loads, strict=True):
            # 0: cannot be served; 1: program; 1 + y: data for a y-th task
            kind = [0] * (2 * load + 3)
            for held in range(load):
                data = held - problem.t_prog
                kind[1 + held] = 1 if data < 0 else 2 + data // problem.t_data
            digits.append(kind)
            radices.append(cap + 2)
        weights = np.cumprod((1, *radices[:0:-1]))[::-1]
        kinds = _sums([weight * np.array(kind) for weight, kind in zip(weights, digits, strict=True)]).astype(np.int32)
        first, steps, served = [0], [], []
        for kinds_now in product(*map(range, radices)):
            for mask in _largest(kinds_now, channels, problem.tasks):
                served.append(mask)
                steps.append(sum(int(step) for place, step in enumerate(self.strides) if mask >> place & 1))
            first.append(len(steps))
        return kinds, np.array(first), np.array(steps), np.array(served)


def _largest(kind: tuple[int, ...], channels: int, tasks: int) -> list[int]:
    """Return the maximal sets that can be served, as bits."""
    can = [place for place, each in enumerate(kind) if each]
    found: list[int] = []
    for size in range(min(channels, len(can)), -1, -1):
        for chosen in combinations(can, size):
            mask = sum(1 << place for place in chosen)
            if sum(kind[place] - 1 for place in chosen) <= tasks and not any(mask & big == mask for big in found):
                found.append(mask)
    return found


def _words(members: tuple[int, ...]) -> range:
    return range(1 << len(members))


def _sums(parts: list[Ints]) -> Ints:
    """Return all sums of one number from each part; the last part varies fastest."""
    total = np.zeros(1, dtype=np.int64)
    for part in parts:
        total = (total[:, None] + part).ravel()
    return total


assert UP == 0  # a member's pattern counts it RECLAIMED by one step
