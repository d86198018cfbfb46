"""The bound of one branch node by the program Lagrangian: multipliers that refute horizons, and their proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from hindsched.instances.array_types import Ints, Reals
from hindsched.instances.coupled.lagrangian_certificate import MAX_DEPTH, Branching, Multipliers, Proof
from hindsched.offline.coupled.bounds.branch_node import BranchNode
from hindsched.offline.coupled.bounds.program_lagrangian.shortest_paths import Path, ShortestPaths
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import SlotGraph, SlotTables
from hindsched.offline.coupled.bounds.program_lagrangian.subgradient_method import (
    SCALE,
    SubgradientMethod,
    reindex_periods,
)
from hindsched.offline.coupled.bounds.sentinels import UNREACHABLE

__all__ = [
    "DEFAULT_PARAMETERS",
    "PathStatistics",
    "ProgramLagrangianParameters",
    "ProgramNode",
    "ProgramState",
    "claim",
    "nbytes",
    "proven_bound",
    "raise_bound",
]


@dataclass(frozen=True, slots=True)
class ProgramLagrangianParameters:
    """Parameters of the program Lagrangian.

    Parameters
    ----------
    step, value_step
        Step lengths of the subgradient method, as a share of the gap for multipliers and for logarithms of program
        values.
    horizon_divisor
        A horizon exceeds the bound by about this part of it; where the step is no longer than that, a failure counts.
    patience
        Evaluations of one horizon without progress before it is given up.
    progress
        Part of the gap that counts as progress.
    multiples
        Factors of the multipliers that are tried. All prove the same, but a larger one favours earlier ends.
    first_halvings, max_halvings
        Initial and largest number of halvings of boxes of arcs for a node. More give larger distances and take longer.
    usage_weight
        Least weight of the last path in the statistics of periods.
    max_stretch
        Largest factor by which statistics of paths are stretched to the length of a schedule.
    max_cells, max_product
        Limits of slots times workers, for memory, and of tasks times slots times `SCALE`, for 64 bits.
    max_multipliers, max_stored
        Limits of periods times iterations, of one node and of all nodes.
    max_depth
        Largest depth of a node.
    """

    step: float = 0.7
    value_step: float = 0.06
    horizon_divisor: int = 50
    patience: int = 5
    progress: float = 0.02
    multiples: tuple[int, ...] = (1, 8, 64, 512)
    first_halvings: int = 48
    max_halvings: int = 1024
    usage_weight: float = 0.03
    max_stretch: float = 1.5
    max_cells: int = 1 << 23
    max_product: int = 1 << 56
    max_multipliers: int = 1 << 22
    max_stored: int = 1 << 25
    max_depth: int = MAX_DEPTH


DEFAULT_PARAMETERS = ProgramLagrangianParameters()


class PathStatistics:
    """Averages over the paths found: use of each period by iteration, and ends of iterations."""

    def __init__(self, iterations: int, parameters: ProgramLagrangianParameters) -> None:
        self.used: Reals = np.zeros((iterations + 1, 0))
        self.ends: Reals = np.zeros(iterations + 1)
        self._parameters = parameters
        self._paths = 0
        self._tables: SlotTables | None = None

    def set_tables(self, tables: SlotTables) -> None:
        """Continue with the periods of other tables."""
        self.used = reindex_periods(self.used, self._tables, tables)
        self._tables = tables

    def add(self, path: Path) -> None:
        """Count a path."""
        self._paths += 1
        weight = max(1 / self._paths, self._parameters.usage_weight)
        self.used += weight * (path.used - self.used)
        self.ends += weight * (path.ends - self.ends)

    def merits(self, end: int) -> Reals | None:
        """Return the later use of each worker's period, by slot and worker; None before there is a path.

        Paths are shorter than schedules: their ends are stretched to those of a schedule that ends before slot ``end``,
        by a factor of at most ``max_stretch``.
        """
        tables = self._tables
        if tables is None or not self._paths:
            return None
        stretch = min(self._parameters.max_stretch, end / self.ends[-1])
        slots = min(tables.slots, int(stretch * self.ends[-1]))
        later = np.cumsum(self.used[:0:-1], axis=0)[::-1]  # of iterations k + 1, k + 2, ..., K
        later = np.vstack([later, np.zeros((2, later.shape[1]))])
        done = np.interp(np.arange(slots), stretch * self.ends, np.arange(len(self.ends)))
        merits = np.zeros((slots, tables.instance.num_workers))
        for t, (whole, part) in enumerate(zip(done.astype(np.int64), done % 1.0, strict=True)):
            workers = np.flatnonzero(tables.facts.period[t] >= 0)
            periods = tables.facts.period[t, workers]
            merits[t, workers] = (1.0 - part) * later[whole, periods] + part * later[whole + 1, periods]
        return merits


class _LeafProof(NamedTuple):
    """Multipliers and distances that prove a bound; both are still to be multiplied by ``multiple``."""

    bound: int
    graph: SlotGraph
    program_values: Ints
    periods: Ints
    multipliers: Ints
    distances: list[Ints]
    multiple: int


@dataclass(slots=True)
class ProgramState:
    """What the program Lagrangian keeps of a node.

    Parameters
    ----------
    parameters
        Of the bound.
    method
        Multipliers.
    max_halvings
        Halvings of boxes of arcs for a node of the slot graph.
    is_stuck
        Whether the last horizon was not refuted and the bound hardly rose.
    window_bound
        A bound that the windows alone prove.
    proof
        What proves the best bound by multipliers.
    """

    parameters: ProgramLagrangianParameters
    method: SubgradientMethod
    max_halvings: int
    is_stuck: bool = False
    window_bound: int = 0
    proof: _LeafProof | None = field(default=None)

    def for_child(self) -> ProgramState:
        """Return the state of a child: the same multipliers, and no proof."""
        return ProgramState(self.parameters, self.method.copy(), self.parameters.first_halvings)

    def nbytes(self) -> int:
        """Return the memory taken, in bytes."""
        proof = self.proof
        kept = 0 if proof is None else proof.multipliers.nbytes + proof.graph.can_receive.nbytes
        return self.method.nbytes() + kept


ProgramNode: TypeAlias = BranchNode[ProgramState]


def raise_bound(
    node: ProgramNode, graph: SlotGraph, paths: ShortestPaths, statistics: PathStatistics, limit: Callable[[], int]
) -> Iterator[int]:
    """Move the multipliers of a node until they refute the graph's horizon or stop improving; yield the effort.

    Parameters
    ----------
    node
        The node; its bound, stride and state change.
    graph
        Of the node and the horizon.
    paths
        Working memory for distances.
    statistics
        Counts the paths found.
    limit
        Returns the least makespan that need not be refuted.
    """
    state, given = node.state, node.state.parameters
    before = node.bound
    yield from _move_multipliers(node, graph, paths, statistics, limit)
    state.is_stuck = False
    if node.bound > graph.horizon:
        node.stride += 1 + node.stride // 2
    elif node.bound > before or node.stride > node.bound // given.horizon_divisor:
        node.stride //= 2
    else:
        state.is_stuck = True


def _move_multipliers(
    node: ProgramNode, graph: SlotGraph, paths: ShortestPaths, statistics: PathStatistics, limit: Callable[[], int]
) -> Iterator[int]:
    state, given = node.state, node.state.parameters
    momentum = state.method.begin(graph)
    best, since = -np.inf, 0
    is_near = graph.horizon - node.bound <= 1 + node.bound // given.horizon_divisor
    turns = 0
    while since < given.patience and (is_near or turns < 2) and node.bound <= graph.horizon and node.bound < limit():
        turns += 1
        program_values, multipliers = state.method.multipliers(graph)
        yield from paths.compute(graph, program_values, multipliers, state.max_halvings)
        length, end = _evaluate(node, graph, paths, program_values, multipliers)
        if end is None:
            continue
        path = paths.path(end, program_values, multipliers)
        gap = graph.horizon + 1 - length
        if best == -np.inf or length > best + given.progress * max(0.0, graph.horizon + 1 - best):
            best, since = max(best, length), 0
        else:
            since += 1
        state.method.step(graph, path, momentum, given.step * max(gap, 0.01 * graph.horizon), given.value_step)
        statistics.add(path)


def _evaluate(
    node: ProgramNode, graph: SlotGraph, paths: ShortestPaths, program_values: Ints, multipliers: Ints
) -> tuple[float, int | None]:
    """Take the bound that the distances prove; return the least distance plus makespan, in slots, and its end.

    The end is None if no path ends within the horizon.
    """
    low, horizon = graph.early[-1], graph.horizon
    distances = paths.distances(node.state.method.iterations)[low : horizon + 1]
    ends = np.flatnonzero(distances < UNREACHABLE)
    if not ends.size:
        _take_bound(node, graph, paths, horizon + 1, 1, program_values, multipliers)
        return np.inf, None
    lengths = (low + ends) * SCALE
    for multiple in node.state.parameters.multiples:
        least = int((lengths + multiple * distances[ends]).min())
        bound = min(horizon + 1, -(-least // SCALE))
        _take_bound(node, graph, paths, bound, multiple, program_values, multipliers)
    totals = lengths + distances[ends]
    at = int(np.argmin(totals))
    return float(totals[at]) / SCALE, int(low + ends[at])


def _take_bound(
    node: ProgramNode,
    graph: SlotGraph,
    paths: ShortestPaths,
    bound: int,
    multiple: int,
    program_values: Ints,
    multipliers: Ints,
) -> None:
    """Take a bound, with its proof, if it is better."""
    if bound <= node.bound:
        return
    node.bound = bound
    periods = np.flatnonzero(multipliers.any(axis=0))
    distances = [paths.distances(k)[: graph.horizon + 1].copy() for k in range(1, node.state.method.iterations + 1)]
    scaled = program_values * multiple, periods, multipliers[:, periods] * multiple
    node.state.proof = _LeafProof(bound, graph, *scaled, distances, multiple)


def proven_bound(node: ProgramNode) -> int:
    """Return the best bound of a node that a certificate can prove."""
    state = node.state
    own = max(state.window_bound, 0 if state.proof is None else state.proof.bound)
    return own if node.children is None else max(own, min(proven_bound(child) for child in node.children))


def claim(node: ProgramNode, bound: int) -> Proof:
    """Return the proof of a bound, by the multipliers of a node or of its descendants."""
    state, proof, iterations = node.state, node.state.proof, node.state.method.iterations
    if state.window_bound >= bound:
        return Multipliers(bound - 1, (0,) * iterations, (), ((0, ()),) * iterations)
    if proof is None or proof.bound < bound:
        assert node.children is not None
        assert node.branching is not None
        sooner, later = (claim(child, bound) for child in node.children)
        return Branching(*node.branching, sooner, later)
    graph, tables = proof.graph, proof.graph.tables
    nodes = []
    for k, distances in enumerate(proof.distances, start=1):
        row = distances[graph.early[k] : graph.late[k] + 1].tolist()
        nodes.append((graph.early[k], tuple(None if d >= UNREACHABLE else d * proof.multiple for d in row)))
    periods = zip(tables.owner[proof.periods].tolist(), tables.first[proof.periods].tolist(), strict=True)
    values = proof.multipliers[1:].T.tolist()
    return Multipliers(
        horizon=graph.horizon,
        program_values=tuple(proof.program_values[1:].tolist()),
        periods=tuple((*period, tuple(row)) for period, row in zip(periods, values, strict=True)),
        nodes=tuple(nodes),
    )


def nbytes(node: ProgramNode) -> int:
    """Return the memory taken by a node and its descendants, in bytes."""
    return node.state.nbytes() + sum(nbytes(child) for child in node.children or ())
