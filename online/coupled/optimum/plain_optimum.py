"""The on-line optimum of tiny instances from rules R1 to R5 alone, for reading and for comparison.

It uses no loads, teams or dominance. A state consists of the states of the workers, the configuration, the transfers
received and the slots computed, as in docs/model.md section 2. A decision is any configuration that R2 allows with any
set of workers that R3 lets the master serve. Value iteration on the reachable states gives the values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

from hindsched.instances.coupled.model import Instance
from hindsched.instances.errors import InputError
from hindsched.instances.states import DOWN, UP
from hindsched.online.coupled.optimum.value_iteration import expect_tolerance, problem_of
from hindsched.online.coupled.visible import Problem

__all__ = ["plain_horizon", "plain_optimum"]

Reals = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_ABSENT = -1  # tasks of a worker that is not enrolled
_MOST_STATES = 300_000


@dataclass(frozen=True, slots=True)
class _Work:
    """The state of the application: tasks, program and data of p workers, and the computation."""

    iteration: int
    tasks: tuple[int, ...]
    program: tuple[int, ...]
    data: tuple[int, ...]
    computed: int


_State = tuple[tuple[int, ...], _Work]


def plain_optimum(instance: Instance, *, tolerance: float = 1e-10) -> float:
    """Return the least expected makespan of any on-line policy; the twin of `online.coupled.optimum.online_optimum`.

    Parameters
    ----------
    instance
        Two workers, two tasks and lengths of one or two slots take seconds; three workers take minutes.
    tolerance
        Largest change of a value in the last sweep, above 0 and below 1.

    Raises
    ------
    InputError
        As in `online_optimum`; more than 300,000 states.

    Examples
    --------
    >>> from hindsched.instances.chains import Chain
    >>> half = Chain(((0.5, 0.5, 0.0), (0.5, 0.5, 0.0), (0.0, 0.0, 1.0)))
    >>> alone = Instance.from_letters(["u"], w=[1], tasks=3, chains=[half])
    >>> round(plain_optimum(alone), 6)
    5.0
    """
    expect_tolerance(tolerance)
    problem, now = problem_of(instance)
    process = _DecisionProcess(problem, now)
    values = np.zeros(process.size)
    while True:
        after = process.back(values, np.ones(process.num_moves))
        if float(np.abs(after - values).max()) <= tolerance:
            return float(after[0])
        values = after


def plain_horizon(instance: Instance, horizon: int, *, objective: str = "makespan") -> float:
    """Return the best expectation within a finite horizon; the twin of `online.coupled.optimum.horizon_value`.

    Examples
    --------
    >>> from hindsched.instances.chains import Chain
    >>> half = Chain(((0.5, 0.5, 0.0), (0.5, 0.5, 0.0), (0.0, 0.0, 1.0)))
    >>> alone = Instance.from_letters(["u"], w=[1], tasks=2, chains=[half])
    >>> plain_horizon(alone, 4, objective="iterations")
    1.0
    """
    problem, now = problem_of(instance, is_endless=False)
    process = _DecisionProcess(problem, now, is_endless=objective == "iterations")
    values = np.zeros(process.size)
    for _ in range(horizon):
        values = process.back(values, -process.completed if objective == "iterations" else np.ones(process.num_moves))
    return float(values[0] if objective == "makespan" else -values[0])


class _DecisionProcess:
    """All reachable states, with the decisions of each and their outcomes."""

    def __init__(self, problem: Problem, now: tuple[int, ...], *, is_endless: bool = False) -> None:
        self.problem = problem
        self.is_endless = is_endless
        self.rows = [chain.rows for chain in problem.chains if chain is not None]
        p = problem.num_workers
        nothing = (0,) * p
        start: _State = (now, _Work(0, (_ABSENT,) * p, nothing, nothing, 0))
        number: dict[_State, int] = {start: 0}
        queue = [start]
        leads: dict[tuple[tuple[int, ...], _Work], int] = {}
        moves: list[list[tuple[int, int]]] = []
        outcomes: list[list[tuple[int, float]]] = [[]]  # 0: done
        while len(moves) < len(queue):
            state, work = queue[len(moves)]
            found: set[tuple[int, int]] = set()
            for after, ends in {(after, ends) for after, ends in self._moves(state, work)}:
                if after.iteration == problem.iterations:
                    found.add((0, ends))
                    continue
                if (state, after) not in leads:
                    leads[state, after] = len(outcomes)
                    outcomes.append([])
                    for following, chance in self._next(state):
                        known = (following, self._failed(following, after))
                        if known not in number:
                            number[known] = len(queue)
                            queue.append(known)
                        outcomes[-1].append((number[known], chance))
                found.add((leads[state, after], ends))
            moves.append(sorted(found))
            if len(queue) > _MOST_STATES:
                raise InputError(f"more than {_MOST_STATES:,} states, expected a smaller instance", place="states")
        self.size = len(queue)
        self.num_moves = sum(map(len, moves))
        self._first = np.cumsum([0, *map(len, moves)])[:-1]
        self._lead = np.array([lead for each in moves for lead, _ in each])
        self.completed = np.array([float(ends) for each in moves for _, ends in each])
        self._outcome_of = np.repeat(np.arange(len(outcomes)), [len(each) for each in outcomes])
        self._to = np.array([to for each in outcomes for to, _ in each], dtype=np.int64)
        self._chance = np.array([chance for each in outcomes for _, chance in each])
        self._num_outcomes = len(outcomes)

    def back(self, values: Reals, costs: Reals) -> Reals:
        """Return the values one slot earlier."""
        expected = np.bincount(self._outcome_of, self._chance * values[self._to], minlength=self._num_outcomes)
        return np.asarray(np.minimum.reduceat(costs + expected[self._lead], self._first))

    def _next(self, now: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], float]]:
        """Yield the states of the next slot and their probability."""
        for following in product(range(3), repeat=len(now)):
            chance = 1.0
            for rows, x, y in zip(self.rows, now, following, strict=True):
                chance *= rows[x][y]
            if chance:
                yield following, chance

    @staticmethod
    def _failed(now: tuple[int, ...], work: _Work) -> _Work:
        """Apply R1: a worker that is DOWN loses everything."""
        if DOWN not in now:
            return work
        down = [state == DOWN for state in now]
        is_lost = any(out and x > 0 for out, x in zip(down, work.tasks, strict=True))
        return _Work(
            work.iteration,
            tuple(_ABSENT if out else x for out, x in zip(down, work.tasks, strict=True)),
            tuple(0 if out else have for out, have in zip(down, work.program, strict=True)),
            tuple(0 if out else have for out, have in zip(down, work.data, strict=True)),
            0 if is_lost else work.computed,
        )

    def _moves(self, now: tuple[int, ...], work: _Work) -> Iterator[tuple[_Work, int]]:
        """Yield the possible results of a slot, R2, then R3 or R4, then R5, and the number of completed iterations."""
        problem = self.problem
        choices = [
            range(_ABSENT, cap + 1) if state == UP or x != _ABSENT else (_ABSENT,)
            for state, x, cap in zip(now, work.tasks, problem.capacities, strict=True)
        ]
        for tasks in product(*choices):
            held = [max(x, 0) for x in tasks]
            if sum(held) > problem.tasks:
                continue
            computed = work.computed if held == [max(x, 0) for x in work.tasks] else 0
            program = [
                have if x != _ABSENT or have == problem.t_prog else 0
                for x, have in zip(tasks, work.program, strict=True)
            ]
            data = [have if x != _ABSENT else 0 for x, have in zip(tasks, work.data, strict=True)]
            lacking = [
                x != _ABSENT and (program[q] < problem.t_prog or data[q] < x * problem.t_data)
                for q, x in enumerate(tasks)
            ]
            members = [q for q, x in enumerate(tasks) if x > 0]
            if sum(held) < problem.tasks or any(lacking[q] for q in members):
                yield from self._served(
                    now, _Work(work.iteration, tasks, tuple(program), tuple(data), computed), lacking
                )
                continue
            if all(now[q] == UP for q in members):
                computed += 1
            if computed < max(tasks[q] * problem.w[q] for q in members):
                yield _Work(work.iteration, tasks, tuple(program), tuple(data), computed), 0
                continue
            whole = tuple(have if have == problem.t_prog else 0 for have in program)
            nothing = (0,) * len(tasks)
            following = work.iteration + (0 if self.is_endless else 1)
            yield _Work(following, (_ABSENT,) * len(tasks), whole, nothing, 0), 1

    def _served(self, now: tuple[int, ...], work: _Work, lacking: list[bool]) -> Iterator[tuple[_Work, int]]:
        """Yield the result of each service in a communication slot (R3)."""
        problem = self.problem
        waiting = [q for q, state in enumerate(now) if state == UP and lacking[q]]
        channels = len(now) if problem.n_com is None else problem.n_com
        for size in range(min(channels, len(waiting)) + 1):
            for served in combinations(waiting, size):
                program, data = list(work.program), list(work.data)
                for q in served:
                    if program[q] < problem.t_prog:
                        program[q] += 1
                    else:
                        data[q] += 1
                yield _Work(work.iteration, work.tasks, tuple(program), tuple(data), work.computed), 0
