"""Compare all back ends on random instances without communication."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hindsched.bench.verification import Sample
from hindsched.instances.coupled import Instance
from hindsched.instances.errors import SelfCheckError
from hindsched.instances.random_streams import stream
from hindsched.instances.states import DOWN, RECLAIMED, UP
from hindsched.offline.coupled.api import confirm
from hindsched.offline.coupled.no_communication import common_slots_reduction
from hindsched.offline.coupled.no_communication.team_periods import is_easy
from hindsched.offline.coupled.no_communication.team_solvers import available_backends
from hindsched.offline.coupled.objectives import CoupledResult, Objective
from hindsched.offline.limits import Limits
from hindsched.offline.results import Number, Result

__all__ = ["QUESTIONS", "agree", "random_instance"]

_MOST_WORKERS_OF_BRUTE = 6

#: Every question by name: a function of instance and back end.
QUESTIONS: dict[str, Callable[[Instance, str], Result]] = {
    "exists": lambda instance, solver: common_slots_reduction.exists(instance, solver, Limits()),
    "earliest": lambda instance, solver: common_slots_reduction.earliest_finish(instance, 0, solver, Limits()),
    "makespan": lambda instance, solver: common_slots_reduction.solve(instance, Objective.MAKESPAN, solver, Limits()),
    "iterations": lambda instance, solver: common_slots_reduction.solve(
        instance, Objective.ITERATIONS, solver, Limits()
    ),
    "largest-w": lambda instance, solver: common_slots_reduction.largest_w(instance, solver, Limits()),
    "largest-m": lambda instance, solver: common_slots_reduction.largest_m(instance, solver, Limits()),
}


def random_instance(number: int, seed: int = 0) -> Instance:
    """Return a random instance without communication, of one of three kinds: mu = 1, mu unbounded, or all different.

    A third has no DOWN, a sixth no RECLAIMED. One in five is too large for ``brute``.

    Examples
    --------
    >>> instance = random_instance(3)
    >>> instance.t_prog, instance.t_data
    (0, 0)
    """
    draw = stream("agreement", 1, seed, number)
    is_large = number % 5 == 4
    p = int(draw.integers(7, 10)) if is_large else int(draw.integers(1, _MOST_WORKERS_OF_BRUTE, endpoint=True))
    slots = int(draw.integers(16, 30)) if is_large else int(draw.integers(1, 16, endpoint=True))
    kind = draw.choice(["mu=1", "mu=inf", "all different"])
    tasks = int(draw.integers(1, min(p, 6) if kind == "mu=1" else 6, endpoint=True))
    up = draw.uniform(0.4, 0.95)
    share_down = draw.choice([0.0, 0.0, 0.1, 0.3, 0.5, 1.0])
    numbers = draw.random((p, slots))
    states = np.where(numbers < up, UP, np.where(numbers < up + (1 - up) * share_down, DOWN, RECLAIMED))
    w = [int(draw.integers(1, 4))] * p
    mu: list[int | None] = [1 if kind == "mu=1" else None] * p
    if kind == "all different":
        w = draw.integers(1, 4, size=p).tolist()
        mu = [int(bound) or None for bound in draw.integers(0, tasks, size=p)]
        mu[0] = None
    return Instance(
        tasks=tasks,
        iterations=int(draw.integers(1, 4)),
        n_com=None,
        t_prog=0,
        t_data=0,
        w=tuple(w),
        mu=tuple(mu),
        states=states.astype(np.uint8),
    )


def agree(sample: Sample, solvers: Sequence[str] | None = None) -> dict[str, int]:
    """Solve random instances by every back end, with questions in turn, and compare the answers.

    Parameters
    ----------
    sample
        The numbers of the instances.
    solvers
        Back ends by name; None: all that are available.

    Returns
    -------
    dict
        Number of instances that each back end solved: ``periods`` and ``brute`` do not apply to all.

    Raises
    ------
    SelfCheckError
        At the first disagreement in status, value or bound, or a schedule that the checker rejects.

    Examples
    --------
    >>> agree(Sample(6), ["plain", "brute"])
    {'plain': 6, 'brute': 5}
    """
    solvers = available_backends() if solvers is None else solvers
    answered = dict.fromkeys(solvers, 0)
    for number in sample.numbers:
        instance = random_instance(number, sample.seed)
        question = list(QUESTIONS)[number // 5 % len(QUESTIONS)]
        answers = {}
        for solver in solvers:
            if _applies(solver, question, instance):
                answers[solver] = _checked(instance, QUESTIONS[question](instance, solver))
                answered[solver] += 1
        with sample.keeping(instance, number, question):
            if len(set(answers.values())) > 1:
                raise SelfCheckError(f"{question}: back ends disagree: {answers}")
        sample.step(question)
    return answered


def _applies(solver: str, question: str, instance: Instance) -> bool:
    if solver == "brute":  # for the largest m it tries as many tasks as fit in the slots
        return instance.num_workers <= (_MOST_WORKERS_OF_BRUTE if question != "largest-m" else 3)
    return solver != "periods" or is_easy(instance.states == UP, instance.states == DOWN)


def _checked(instance: Instance, answer: Result) -> tuple[str, Number | None, Number | None]:
    """Return status, value and bound; the checker replays the schedule."""
    if isinstance(answer, CoupledResult) and answer.schedule is not None:
        confirm(instance, answer)
    return str(answer.status), answer.value, answer.bound
