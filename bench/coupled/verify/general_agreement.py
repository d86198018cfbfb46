"""Compare the solvers of the general problem on small random instances."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from hindsched.bench.verification import Sample
from hindsched.instances import InputError, SelfCheckError
from hindsched.instances.coupled import Instance
from hindsched.instances.random_streams import stream
from hindsched.instances.states import DOWN, RECLAIMED, UP
from hindsched.offline import coupled as offline_coupled
from hindsched.offline.coupled.api import confirm
from hindsched.offline.coupled.brute import num_states
from hindsched.offline.coupled.objectives import CoupledResult, Objective
from hindsched.offline.limits import Limits
from hindsched.offline.results import Status

__all__ = ["IN_ROUNDS", "SETTINGS", "agree_in_general", "general_instance", "general_solvers"]

#: ``native`` whose first search is cut off at once, so that its bounds and its local search are tested.
IN_ROUNDS = "native-in-rounds"
#: Objectives and values of ``stand_by`` for every instance.
SETTINGS = tuple(product(Objective, (True, False)))

_DEFAULT = ("native", IN_ROUNDS, "cpsat", "brute")
_MOST_STATES = 2_000  # of ``brute``, which then takes at most a second for an instance


def general_instance(number: int, seed: int = 0) -> Instance:
    """Return a small random instance of the general problem; one in three is tiny, for ``brute``.

    Speeds, bounds mu, n_com, T_prog, T_data, K and the rates of states are random and may be zero.

    Examples
    --------
    >>> general_instance(3).num_workers <= 3 < general_instance(4).num_workers
    True
    """
    draw = stream("agreement", "general", 1, seed, number)
    is_tiny = number % 3 == 0
    p = int(draw.integers(1, 3, endpoint=True)) if is_tiny else int(draw.integers(4, 7, endpoint=True))
    slots = int(draw.integers(5, 11)) if is_tiny else int(draw.integers(12, 30))
    tasks = int(draw.integers(1, 2 if is_tiny else 4, endpoint=True))
    up = draw.uniform(0.55, 0.97)
    share_down = draw.choice([0.0, 0.2, 0.5, 1.0])
    numbers = draw.random((p, slots))
    states = np.where(numbers < up, UP, np.where(numbers < up + (1 - up) * share_down, DOWN, RECLAIMED))
    mu: list[int | None] = [int(bound) or None for bound in draw.integers(0, tasks, size=p, endpoint=True)]
    mu[0] = None
    return Instance(
        tasks=tasks,
        iterations=int(draw.integers(1, 4, endpoint=True)),
        n_com=int(draw.integers(0, p, endpoint=True)) or None,
        t_prog=int(draw.integers(0, 2 if is_tiny else 4, endpoint=True)),
        t_data=int(draw.integers(0, 2, endpoint=True)),
        w=tuple(draw.integers(1, 4, size=p).tolist()),
        mu=tuple(mu),
        states=states.astype(np.uint8),
    )


def general_solvers(names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the solvers to compare: those named, or without names `IN_ROUNDS`, ``native``, ``cpsat`` and ``brute``.

    Raises
    ------
    InputError
        For an unknown solver.

    Examples
    --------
    >>> general_solvers(["native", "brute"])
    ('native', 'brute')
    """
    available = (IN_ROUNDS, *offline_coupled.available_solvers())
    for name in names or ():
        if name not in available:
            raise InputError(f"{name!r}, expected one of {', '.join(available)}", place="solver")
    return tuple(name for name in _DEFAULT if name in available) if names is None else tuple(names)


def agree_in_general(sample: Sample, solvers: Sequence[str] | None = None) -> dict[str, int]:
    """Solve random instances by every solver, for each of `SETTINGS`, and compare status, value and bound.

    Parameters
    ----------
    sample
        The numbers of the instances.
    solvers
        As for `general_solvers`.

    Returns
    -------
    dict
        Number of instances that each solver solved: ``brute`` gets only small ones.

    Raises
    ------
    InputError
        For an unknown solver.
    SelfCheckError
        At the first disagreement, answer without a proof, or schedule that the checker rejects.

    Examples
    --------
    >>> agree_in_general(Sample(6), ["native", "native-in-rounds", "brute"])
    {'native': 6, 'native-in-rounds': 6, 'brute': 1}
    """
    solvers = general_solvers(solvers)
    solved = dict.fromkeys(solvers, 0)
    for number in sample.numbers:
        instance = general_instance(number, sample.seed)
        chosen = [name for name in solvers if name != "brute" or num_states(instance) <= _MOST_STATES]
        with sample.keeping(instance, number, "general"):
            for objective, stand_by in SETTINGS:
                _compare(instance, objective, stand_by, chosen)
        for name in chosen:
            solved[name] += 1
        sample.step(f"instance {number}")
    return solved


def _compare(instance: Instance, objective: Objective, stand_by: bool, solvers: Sequence[str]) -> None:
    answers = {}
    for name in solvers:
        result = _solve(instance, objective, stand_by, name)
        if result.status not in (Status.OPTIMAL, Status.INFEASIBLE):
            raise SelfCheckError(f"{objective}, stand_by={stand_by}: {name} without a limit is {result.status}")
        answers[name] = str(result.status), result.value, result.bound
    if len(set(answers.values())) > 1:
        raise SelfCheckError(f"{objective}, stand_by={stand_by}: solvers disagree: {answers}")


def _solve(instance: Instance, objective: Objective, stand_by: bool, name: str) -> CoupledResult:
    if name != IN_ROUNDS:
        return offline_coupled.solve(instance, objective, solver=name, stand_by=stand_by)
    from hindsched.offline.coupled.search.parameters import PortfolioParameters
    from hindsched.offline.coupled.search.portfolio import Portfolio

    result = Portfolio(instance, Limits(), parameters=PortfolioParameters(first_round=1)).solve(objective, stand_by)
    if result.schedule is not None:
        confirm(instance, result)
    return result
