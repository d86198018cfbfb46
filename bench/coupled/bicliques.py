"""Decide ENCD on the graph, or through either reduction with any back end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hindsched.instances.errors import InputError, SelfCheckError
from hindsched.offline.coupled.no_communication import common_slots_reduction
from hindsched.offline.coupled.no_communication.team_solvers import BACKENDS
from hindsched.offline.coupled.objectives import Objective
from hindsched.offline.kmis.api import max_common_slots
from hindsched.offline.limits import Limits, Stopwatch
from hindsched.offline.results import Status
from hindsched.offline.solvers import AUTO, named
from hindsched.reductions import REDUCTIONS, Biclique, BipartiteGraph, Decision, Encd, solve_encd
from hindsched.reductions.largest_biclique import Measure, Widest, largest

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["DIRECT", "WAYS", "decide", "expect_way", "largest_biclique"]

DIRECT = "direct"
#: Directly on the graph, or the name of a reduction.
WAYS = (DIRECT, *REDUCTIONS)


def decide(problem: Encd, via: str = DIRECT, solver: str = AUTO, limits: Limits | None = None) -> Decision:
    """Decide an ENCD problem, and check the biclique that is found.

    Parameters
    ----------
    problem
        The problem.
    via
        One of `WAYS`.
    solver
        For a reduction: ``auto`` or a back end of `hindsched.offline.coupled.no_communication`.
    limits
        Limits of the search; None: no limit.

    Raises
    ------
    InputError
        For an unknown way or solver, or a solver named for ``direct``.
    SelfCheckError
        If the result is not a biclique of this size, which is a defect.

    Examples
    --------
    >>> from hindsched.reductions import from_matrix
    >>> problem = Encd(from_matrix([[1, 1, 0], [0, 1, 1]]), a=2, b=1)
    >>> [decide(problem, via).biclique for via in WAYS] == 3 * [Biclique((0, 1), (3,))]
    True
    """
    expect_way(via, solver)
    limits = limits or Limits()
    if via == DIRECT:
        decision = solve_encd(problem, time_limit_s=limits.time_limit_s)
    else:
        decision = _reduce_and_solve(problem, via, solver, limits)
    if decision.biclique is not None:
        try:
            problem.check(decision.biclique)
        except InputError as error:
            raise SelfCheckError(f"via {via}, solver {solver}: {error}") from None
    return decision


def _reduce_and_solve(problem: Encd, via: str, solver: str, limits: Limits) -> Decision:
    reduction = REDUCTIONS[via]
    instance, data = reduction.apply(problem)
    found = common_slots_reduction.solve(instance, Objective.MAKESPAN, solver, limits)
    if found.schedule is None:
        return Decision(False if found.status is Status.INFEASIBLE else None, None)
    return Decision(True, reduction.backward(found.schedule, data))


def largest_biclique(
    graph: BipartiteGraph | nx.Graph[Any],
    measure: Measure,
    via: str = DIRECT,
    solver: str = AUTO,
    limits: Limits | None = None,
) -> Decision:
    """Find the largest biclique by a measure; ``exists`` is False for a graph without an edge, None out of time.

    On the graph itself the core search finds the most common neighbours of a nodes, and a matching the most nodes.
    Through a reduction they are found by one decision after another.

    Raises
    ------
    InputError
        As `decide`.
    """
    expect_way(via, solver)
    graph = BipartiteGraph.of(graph)
    limits = limits or Limits()
    watch = Stopwatch(limits)
    if via == DIRECT:
        return _checked(graph, largest(graph, measure, _core_search(graph, watch)), via)

    def search(graph: BipartiteGraph, a: int, at_least: int) -> Decision:
        best = Decision(False, None)
        while True:
            left_s = watch.left_s()
            if left_s == 0.0:
                return Decision(None, None)
            problem = Encd(graph, a, at_least)
            decision = decide(problem, via, solver, replace(limits, time_limit_s=left_s))
            if decision.exists is None:
                return decision
            if decision.biclique is None:
                return best
            v = decision.biclique.v
            common = graph.matrix[[graph.rows[i] for i in v]].all(axis=0)
            w = tuple(graph.w[j] for j in np.flatnonzero(common).tolist())
            best = Decision(True, Biclique(v, w))
            at_least = len(w) + 1

    return _checked(graph, largest(graph, measure, search, is_matched=False), via)


def _checked(graph: BipartiteGraph, decision: Decision, via: str) -> Decision:
    found = decision.biclique
    if found is not None:
        try:
            Encd(graph, len(found.v), len(found.w)).check(found)
        except InputError as error:
            raise SelfCheckError(f"via {via}: {error}") from None
    return decision


def _core_search(graph: BipartiteGraph, watch: Stopwatch) -> Widest:
    matrix = graph.matrix.copy()

    def search(_: BipartiteGraph, a: int, at_least: int) -> Decision:
        left_s = watch.left_s()
        if left_s == 0.0:
            return Decision(None, None)
        found = max_common_slots(matrix, a, left_s, at_least=at_least)
        if found is None:
            return Decision(False, None)
        if found.status is not Status.OPTIMAL:
            return Decision(None, None)
        biclique = Biclique(tuple(graph.v[i] for i in found.workers), tuple(graph.w[j] for j in found.slots))
        return Decision(True, biclique)

    return search


def expect_way(via: str, solver: str) -> None:
    """Raise `InputError` for an unknown way or solver."""
    if via not in WAYS:
        raise InputError(f"{via!r}, expected one of {', '.join(WAYS)}", place="via")
    if via == DIRECT and solver != AUTO:
        raise InputError(f"{solver!r}, expected none with --via direct: the graph itself is searched", place="solver")
    if solver != AUTO:
        named(solver, BACKENDS)
