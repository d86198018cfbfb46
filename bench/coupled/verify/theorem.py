"""Tests of both reductions of Theorem 4.1 on every small graph and on many larger ones.

For each question about a graph the truth comes from the graph alone. Each reduction is applied, its image is solved by
a back end for workers and slots, and four things must hold: the image has the stated size; it has a schedule
iff the graph has the biclique; that schedule passes the checker and maps back to a biclique of exactly the required
size; and a biclique of the graph maps to a schedule that passes the checker, and back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from math import comb
from pathlib import Path

import numpy as np

from hindsched.bench.coupled.verify.graphs import KINDS, Case, generated, named, small
from hindsched.instances import check
from hindsched.instances.coupled import Instance, Schedule
from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.instances.random_streams import stream
from hindsched.instances.states import DOWN, UP, to_letters
from hindsched.offline.coupled.no_communication import common_slots_reduction
from hindsched.offline.coupled.no_communication.team_solvers import BACKENDS
from hindsched.offline.coupled.objectives import Objective
from hindsched.offline.limits import Limits
from hindsched.offline.results import Status
from hindsched.offline.solvers import AUTO
from hindsched.offline.solvers import named as named_solver
from hindsched.reductions import REDUCTIONS, Biclique, ToMu1, ToMuInf, solve_encd, write_graph
from hindsched.reductions.branch_and_bound import enumerate_all
from hindsched.reductions.to_coupled import WitnessData, unsound, with_down

__all__ = [
    "ALL_KINDS",
    "Count",
    "CounterExampleError",
    "check_case",
    "easy_without_reclaimed",
    "num_graphs",
    "verify",
    "why_reclaimed",
]

#: Largest number of sets of a nodes that are enumerated.
_MOST_SETS = 2_000

#: Every kind of graphs.
ALL_KINDS = ("small", "named", *KINDS)

Step = Callable[[str], None]


class CounterExampleError(SelfCheckError):
    """A graph on which the theorem, or its implementation, fails."""

    def __init__(self, case: Case, reason: str) -> None:
        problem = case.problem
        super().__init__(f"{case.kind} graph, a = {problem.a}, b = {problem.b}: {reason}")
        self.case = case


@dataclass(slots=True)
class Count:
    """Verified questions about one kind of graphs.

    Parameters
    ----------
    graphs, yes, no
        Graphs, and questions about them by answer.
    lost_with_down
        Yes-answers that change to no if non-edges are DOWN, summed over the reductions, with the nodes in the given
        order. Each is a counter-example to reductions without RECLAIMED.
    """

    graphs: int = 0
    yes: int = 0
    no: int = 0
    lost_with_down: int = 0

    def add(self, other: Count) -> None:
        """Add the counts of other graphs."""
        self.graphs += other.graphs
        self.yes += other.yes
        self.no += other.no
        self.lost_with_down += other.lost_with_down


def verify(
    kind: str,
    numbers: range | None = None,
    *,
    graphs: int = 5_000,
    most: int = 4,
    labelled: bool = False,
    seed: int = 0,
    solver: str = AUTO,
    failures: Path | None = None,
    step: Step = lambda kind: None,
) -> Count:
    """Verify both reductions on the graphs of a kind; deterministic in its arguments.

    Parameters
    ----------
    kind
        ``small``, ``named`` or a name of `hindsched.bench.coupled.verify.graphs.KINDS`.
    numbers
        Numbers of the graphs; None: all of them.
    graphs
        Number of graphs of a generated kind.
    most, labelled
        Sizes of the small graphs, and whether isomorphic ones are repeated (see `graphs.small`).
    seed
        Seed of the generated graphs.
    solver
        The back end that solves the images.
    failures
        Folder for the graph of a counter-example; None: it is not written.
    step
        Called with the kind after each graph.

    Raises
    ------
    CounterExampleError
        On the first failure; the message names the file with the graph.

    Examples
    --------
    >>> verify("small", most=2)
    Count(graphs=20, yes=20, no=98, lost_with_down=0)
    """
    if solver != AUTO:
        named_solver(solver, BACKENDS)
    if numbers is None:
        numbers = range(num_graphs(kind, graphs=graphs, most=most, labelled=labelled))
    count = Count()
    for number, cases in zip(numbers, _graphs(kind, numbers.start, numbers.stop, most, labelled, seed), strict=True):
        for case in cases:
            try:
                _tally(count, case, solver)
            except CounterExampleError as error:
                raise _written(error, failures, f"{kind}-{number}.txt") from None
        count.graphs += 1
        step(kind)
    return count


def num_graphs(kind: str, *, graphs: int = 5_000, most: int = 4, labelled: bool = False) -> int:
    """Return the number of graphs of a kind in `verify`; raise `InputError` for an unknown kind."""
    if kind not in ALL_KINDS:
        raise InputError(f"{kind!r}, expected one of {', '.join(ALL_KINDS)}", place="kind")
    if kind == "small" and labelled:
        return sum(2 ** (num_v * num_w) for num_v in range(most + 1) for num_w in range(most + 1))
    return sum(1 for _ in _graphs(kind, 0, None, most, labelled, 0)) if kind in ("small", "named") else graphs


def _graphs(kind: str, first: int, stop: int | None, most: int, labelled: bool, seed: int) -> Iterator[list[Case]]:
    if kind == "small":
        return small(most, labelled=labelled, first=first, stop=stop)
    if kind == "named":
        return islice(named(), first, stop)
    return (generated(kind, number, seed) for number in range(first, stop or 0))


def _written(error: CounterExampleError, folder: Path | None, name: str) -> CounterExampleError:
    if folder is None:
        return error
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    write_graph(error.case.problem.graph, path)
    return CounterExampleError(error.case, f"{error}; the graph is in {path}")


def _tally(count: Count, case: Case, solver: str) -> None:
    biclique, lost = check_case(case, solver)
    count.lost_with_down += lost
    if biclique is None:
        count.no += 1
    else:
        count.yes += 1


def check_case(case: Case, solver: str = AUTO) -> tuple[Biclique | None, int]:
    """Verify both reductions on one question.

    Returns
    -------
    tuple
        A biclique (None: there is none), and the number of images without a schedule if non-edges are DOWN.

    Raises
    ------
    CounterExampleError
        Saying what does not hold.
    """
    biclique = _truth(case)
    lost = 0
    for reduction in REDUCTIONS.values():
        try:
            _check_reduction(case, reduction, biclique, solver)
            lost += _is_lost_with_down(case, reduction, biclique)
        except (InputError, SelfCheckError) as error:
            raise CounterExampleError(case, f"{reduction.name}: {error}") from error
    return biclique, lost


def _truth(case: Case) -> Biclique | None:
    """Return a biclique found on the graph alone, or None; small searches are made twice, in two ways."""
    problem = case.problem
    biclique = solve_encd(problem).biclique
    if biclique is not None:
        problem.check(biclique)
    if comb(len(problem.v), problem.a) <= _MOST_SETS:
        _expect(
            case, (next(enumerate_all(problem), None) is None) == (biclique is None), "two direct searches disagree"
        )
    if case.answer is not None:
        _expect(case, case.answer == (biclique is not None), f"made to have answer {case.answer}, but has not")
    return biclique


def _check_reduction(case: Case, reduction: ToMu1 | ToMuInf, biclique: Biclique | None, solver: str) -> None:
    problem = case.problem
    instance, data = reduction.apply(problem)
    size = reduction.size(problem)
    _expect(case, (instance.num_workers, instance.slots) == (size.workers, size.slots), "not of the stated size")
    found = common_slots_reduction.solve(instance, Objective.MAKESPAN, solver, Limits())
    _expect(case, found.status in (Status.OPTIMAL, Status.INFEASIBLE), f"left {found.status}")
    truth, image = ("no" if witness is None else "yes" for witness in (biclique, found.schedule))
    _expect(case, truth == image, f"{reduction.name} maps a {truth} to a {image}")
    if biclique is None:
        return
    problem.check(_mapped_back(case, reduction, instance, found.schedule, data))
    returned = _mapped_back(case, reduction, instance, reduction.forward(biclique, data), data)
    problem.check(returned)
    _expect(case, set(returned.v) == set(biclique.v), f"{reduction.name}: there and back changes v")


def _mapped_back(
    case: Case, reduction: ToMu1 | ToMuInf, instance: Instance, schedule: Schedule, data: WitnessData
) -> Biclique:
    verdict = check(instance, schedule)
    _expect(
        case,
        verdict.is_valid and verdict.outcome.makespan is not None,
        f"{reduction.name}: the checker finds {verdict}",
    )
    return reduction.backward(schedule, data)


def _is_lost_with_down(case: Case, reduction: ToMu1 | ToMuInf, biclique: Biclique | None) -> bool:
    """Return whether DOWN changes the answer from yes to no; a change from no to yes is an error."""
    instance, _ = reduction.apply(case.problem)
    status = common_slots_reduction.solve(with_down(instance), Objective.MAKESPAN, "periods", Limits()).status
    is_consistent = biclique is not None or status is Status.INFEASIBLE
    _expect(case, is_consistent, f"{reduction.name}: a no-instance has a schedule with DOWN")
    return biclique is not None and status is Status.INFEASIBLE


def _expect(case: Case, holds: bool, what: str) -> None:
    if not holds:
        raise CounterExampleError(case, what)


def why_reclaimed() -> list[str]:
    """Return, in lines, the smallest example in which DOWN for a non-edge loses a biclique.

    Examples
    --------
    >>> print(why_reclaimed()[-1])
    muinf: uruuuuu completes the iteration in 7 slots, uduuuuu never does
    """
    problem = unsound()
    lines = [
        "Non-edges must be RECLAIMED, not DOWN. V = {0}, W = {0, 1, 2}, edges 0-0 and 0-2,"
        f" a = {problem.a}, b = {problem.b}:"
    ]
    for reduction in REDUCTIONS.values():
        instance, _ = reduction.apply(problem)
        found = common_slots_reduction.solve(instance, Objective.MAKESPAN, "brute", Limits())
        down = with_down(instance)
        lost = common_slots_reduction.solve(down, Objective.MAKESPAN, "brute", Limits())
        if found.value is None or lost.status is not Status.INFEASIBLE:
            raise SelfCheckError(f"{reduction.name}: {found.status} with RECLAIMED, {lost.status} with DOWN")
        letters = to_letters(instance.states)[0], to_letters(down.states)[0]
        lines.append(
            f"{reduction.name}: {letters[0]} completes the iteration in {found.value} slots, {letters[1]} never does"
        )
    return lines


def easy_without_reclaimed(workers: int = 100, slots: int = 20_000) -> str:
    """Solve a large instance without RECLAIMED by the polynomial back end of ``auto``; return a line on the result.

    Examples
    --------
    >>> print(easy_without_reclaimed(workers=10, slots=100).partition(":")[0])
    With UP and DOWN only the problem is easy
    """
    up = stream("easy", 1).random((workers, slots)) < 0.9
    states = np.where(up, UP, DOWN).astype(np.uint8)
    instance = Instance(
        tasks=10,
        iterations=1,
        n_com=None,
        t_prog=0,
        t_data=0,
        w=(1,) * workers,
        mu=(None,) * workers,
        states=states,
    )
    answer = common_slots_reduction.largest_w(instance, AUTO, Limits())
    if answer.solver != "periods" or answer.status is not Status.OPTIMAL:
        raise SelfCheckError(f"auto took {answer.solver}, which answered {answer.status}")
    return (
        f"With UP and DOWN only the problem is easy: {workers} workers, {slots} slots, 10 tasks, the largest w is"
        f" {answer.value}, by windows in {answer.runtime_s:.2f} s"
    )
