"""The expected hindsight optimum, exactly, for tiny instances (docs/online_optimum.md).

A scheduler in hindsight can be regarded as being in all states that some schedule leads to. The set of these states
after slot t depends on the previous set and the states of the workers only. Together with the states of the workers it
is a Markov chain, and the hindsight optimum is its time until some state of the set is done. Dominated states of a set
are removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import DOWN, UP
from hindsched.online.coupled.optimum.value_iteration import expect_tolerance, problem_of
from hindsched.online.coupled.visible import Problem

__all__ = ["HindsightValue", "expected_hindsight", "hindsight_of_path"]


class HindsightValue(NamedTuple):
    """Two bounds on an expectation, and the number of pairs of worker states and sets."""

    lower: float
    upper: float
    sets: int


class _Position(NamedTuple):
    """A state of the application in which every UP worker is enrolled (docs/online_optimum.md, Proposition 3)."""

    iteration: int
    loads: tuple[int, ...]
    members: tuple[int, ...]  # of a computation under way, else empty
    left: int  # its slots still to do

    def is_no_worse(self, other: _Position) -> bool:
        """Return whether every schedule from the other position is possible from this one."""
        if self.iteration != other.iteration or any(
            mine < load for mine, load in zip(self.loads, other.loads, strict=True)
        ):
            return False
        return not other.members or (
            bool(self.members) and self.left <= other.left and set(self.members) <= set(other.members)
        )


_Set = frozenset[_Position]
_Now = tuple[int, ...]


def expected_hindsight(
    instance: Instance, longest: float, *, tolerance: float = 1e-6, most_sets: int = 20_000, horizon: int | None = None
) -> HindsightValue | None:
    """Return the expected hindsight optimum of the makespan; None if it needs too many sets.

    Parameters
    ----------
    instance
        Its workers, chains and lengths are used, and its states in slot 0.
    longest
        An upper bound on the expected makespan of some policy from any states of the workers.
    tolerance
        Largest difference of the bounds in slots, between 0 and 1.
    most_sets
        Largest number of pairs of worker states and sets.
    horizon
        Number of slots of a path that count; None: all.

    Examples
    --------
    >>> from hindsched.instances.chains import Chain
    >>> half = Chain(((0.5, 0.5, 0.0), (0.5, 0.5, 0.0), (0.0, 0.0, 1.0)))
    >>> pair = Instance.from_letters(["u", "u"], w=[2, 2], tasks=1, chains=[half, half])
    >>> found = expected_hindsight(pair, 10.0)
    >>> round(found.lower, 4)  # one slot now, another as soon as one of the two is UP
    2.3333
    """
    expect_tolerance(tolerance)
    problem, now = problem_of(instance)
    rows = [chain.rows for chain in problem.chains if chain is not None]
    step = _Step(problem)
    start = (now, frozenset({_Position(0, (0,) * len(now), (), 0)}))
    mass: dict[tuple[_Now, _Set], float] = {start: 1.0}
    known: dict[tuple[_Now, _Set], list[tuple[tuple[_Now, _Set], float]] | None] = {}
    slots = 0.0
    while mass and horizon != 0:
        horizon = None if horizon is None else horizon - 1
        alive = sum(mass.values())
        if alive * longest < tolerance:
            return HindsightValue(slots, slots + alive * longest, len(known))
        slots += alive
        after: dict[tuple[_Now, _Set], float] = {}
        for pair, chance in mass.items():
            if pair not in known:
                if len(known) >= most_sets:
                    return None
                reached = step.slot(*pair)
                known[pair] = (
                    None
                    if reached is None
                    else [
                        ((following, step.fail(following, reached)), share) for following, share in _next(rows, pair[0])
                    ]
                )
            for following, share in known[pair] or ():
                after[following] = after.get(following, 0.0) + chance * share
        mass = after
    return HindsightValue(slots, slots, len(known))


def hindsight_of_path(instance: Instance) -> int | None:
    """Return the hindsight optimum of the instance's own states, by the same sets; None: no schedule completes.

    Examples
    --------
    >>> hindsight_of_path(Instance.from_letters(["uruu", "uuru"], w=[1, 1], tasks=2, mu=[1, 1]))
    1
    """
    step = _Step(Problem.of(instance))
    reached: _Set | None = frozenset({_Position(0, (0,) * instance.num_workers, (), 0)})
    for slot, column in enumerate(instance.states.T.tolist()):
        now = tuple(column)
        reached = step.slot(now, step.fail(now, reached or frozenset()))
        if reached is None:
            return slot + 1
    return None


def _next(rows: Sequence[Sequence[Sequence[float]]], now: _Now) -> Iterator[tuple[_Now, float]]:
    for following in product(range(3), repeat=len(now)):
        chance = 1.0
        for row, x, y in zip(rows, now, following, strict=True):
            chance *= row[x][y]
        if chance:
            yield following, chance


class _Step:
    """The transitions of sets."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.channels = problem.num_workers if problem.n_com is None else problem.n_com
        self.most = [problem.t_prog + cap * problem.t_data if cap else 0 for cap in problem.capacities]
        ranges = [range(cap + 1) for cap in problem.capacities]
        self.divisions = [x for x in product(*ranges) if sum(x) == problem.tasks]

    def fail(self, now: _Now, reached: _Set) -> _Set:
        """Apply R1."""
        if DOWN not in now:
            return reached
        down = {q for q, state in enumerate(now) if state == DOWN}
        after = set()
        for position in reached:
            loads = tuple(0 if q in down else load for q, load in enumerate(position.loads))
            is_lost = not down.isdisjoint(position.members)
            after.add(
                position._replace(
                    loads=loads, members=() if is_lost else position.members, left=0 if is_lost else position.left
                )
            )
        return _undominated(after)

    def slot(self, now: _Now, reached: _Set) -> _Set | None:
        """Apply R2 to R5; return None if all iterations are done."""
        after: set[_Position] = set()
        for position in reached:
            for following in self._moves(now, position):
                if following.iteration == self.problem.iterations:
                    return None
                after.add(following)
        return _undominated(after)

    def _moves(self, now: _Now, position: _Position) -> Iterator[_Position]:
        yield from self._served(now, position)
        yield position  # nothing happens
        if position.members and all(now[q] == UP for q in position.members):
            yield self._computed(position, position.members, position.left)
        t_prog, t_data = self.problem.t_prog, self.problem.t_data
        for tasks in self.divisions:
            members = tuple(q for q, x in enumerate(tasks) if x)
            if all(now[q] == UP and position.loads[q] >= t_prog + tasks[q] * t_data for q in members):
                yield self._computed(position, members, max(tasks[q] * self.problem.w[q] for q in members))

    def _computed(self, position: _Position, members: tuple[int, ...], left: int) -> _Position:
        if left > 1:
            return position._replace(members=members, left=left - 1)
        whole = tuple(self.problem.t_prog if load >= self.problem.t_prog else 0 for load in position.loads)
        return _Position(position.iteration + 1, whole, (), 0)

    def _served(self, now: _Now, position: _Position) -> Iterator[_Position]:
        t_prog, t_data = self.problem.t_prog, self.problem.t_data
        can = [q for q, state in enumerate(now) if state == UP and position.loads[q] < self.most[q]]
        takes = {q: (position.loads[q] - t_prog) // t_data + 1 if position.loads[q] >= t_prog else 0 for q in can}
        for size in range(1, min(self.channels, len(can)) + 1):
            for served in combinations(can, size):
                if sum(takes[q] for q in served) <= self.problem.tasks:
                    loads = tuple(load + (q in served) for q, load in enumerate(position.loads))
                    yield _Position(position.iteration, loads, (), 0)


def _undominated(reached: set[_Position]) -> _Set:
    kept: list[_Position] = []
    for position in sorted(reached, key=lambda each: (-sum(each.loads), -len(each.members), each)):
        if not any(other.is_no_worse(position) for other in kept):
            kept = [other for other in kept if not position.is_no_worse(other)]
            kept.append(position)
    return frozenset(kept)
