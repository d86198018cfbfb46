"""The state of a branch node of the priced-label bound: multipliers, steps, and searches kept between horizons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from hindsched.instances.array_types import Ints, Reals
from hindsched.offline.coupled.bounds.branch_node import BranchNode, Period
from hindsched.offline.coupled.bounds.priced_label_search import PricedLabelSearch
from hindsched.offline.coupled.bounds.program_lagrangian.shortest_paths import Path
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import SlotGraph, SlotTables
from hindsched.offline.coupled.bounds.program_lagrangian.subgradient_method import Momentum, SubgradientMethod
from hindsched.offline.coupled.bounds.sentinels import UNREACHABLE
from hindsched.offline.coupled.bounds.state_space_relaxation import NodeMultipliers

__all__ = [
    "DEFAULT_PARAMETERS",
    "PricedLabelParameters",
    "PricedNode",
    "PricedState",
    "lengthen_stride",
    "move_multipliers",
    "node_multipliers",
    "period_in_doubt",
    "shorten_stride",
]

#: Multiplier of a period in an iteration in which it cannot compute; more than any other sum.
_FORBIDDEN = 1 << 44


@dataclass(frozen=True, slots=True)
class PricedLabelParameters:
    """Parameters of the priced-label bound.

    Parameters
    ----------
    step
        Step length of the multipliers, as a multiple of the gap to a path of cost 0.
    value_step, child_value_step
        Step length of the logarithms of program values: at the root, and after a branching.
    usage_weight
        Weight of the last path in the average use of periods, which decides how nodes are branched.
    max_evaluations, patience
        Largest number of evaluations of one horizon, and of those without progress.
    progress
        Part of the best cost that counts as progress.
    evaluation_effort
        Effort of one evaluation outside the kernels.
    first_stride_divisor
        Largest excess of the first horizon over the bound, as a share of the bound.
    last_gap_divisor
        The largest horizon of interest is tried at once if the gap is this part of it or less.
    max_arcs, arcs_divisor
        Arcs of a node at first; each time that all nodes have more, the limit rises by its part ``1 / arcs_divisor``.
    tightening_factor
        Windows are tightened if a node has at most this multiple of ``max_arcs``.
    rebuild_share
        The graph is built again if this share of its arcs, or less, is left.
    max_bytes
        Limit of memory for all nodes.
    """

    step: float = 3.0
    value_step: float = 0.5
    child_value_step: float = 0.3
    usage_weight: float = 0.1
    max_evaluations: int = 60
    patience: int = 6
    progress: float = 0.03
    evaluation_effort: int = 8_000
    first_stride_divisor: int = 64
    last_gap_divisor: int = 64
    max_arcs: int = 1 << 17
    arcs_divisor: int = 2
    tightening_factor: int = 8
    rebuild_share: float = 0.8
    max_bytes: int = 1 << 28


DEFAULT_PARAMETERS = PricedLabelParameters()


@dataclass(slots=True)
class PricedState:
    """What the priced-label bound keeps of a node.

    Parameters
    ----------
    parameters
        Of the bound.
    method
        Multipliers.
    value_step
        Step length of the logarithms of program values.
    search
        The last search.
    widest
        A search for a horizon as large or larger, with which searches for smaller ones begin.
    is_rising
        Whether the last step succeeded: the next one after a success is longer.
    nearest
        The multipliers that came nearest to refuting the last horizon.
    usage
        Average use of each period of ``tables`` in the paths found.
    """

    parameters: PricedLabelParameters
    method: SubgradientMethod
    value_step: float
    search: PricedLabelSearch | None = None
    widest: PricedLabelSearch | None = None
    is_rising: bool = True
    nearest: NodeMultipliers | None = None
    tables: SlotTables | None = None
    usage: Reals = field(default_factory=lambda: np.zeros(0))

    def for_child(self) -> PricedState:
        """Return the state of a child: the same multipliers and searches."""
        search = None if self.search is None else self.search.copy()
        return PricedState(self.parameters, self.method.copy(), self.parameters.child_value_step, search, self.widest)

    def set_tables(self, tables: SlotTables) -> None:
        """Continue with the periods of other tables."""
        if tables is not self.tables:
            self.tables, self.usage = tables, np.zeros(len(tables.owner))
        self.method.set_tables(tables)

    def nbytes(self) -> int:
        """Return the memory taken, in bytes."""
        return self.method.nbytes() + (0 if self.search is None else self.search.nbytes())


PricedNode: TypeAlias = BranchNode[PricedState]


def lengthen_stride(node: PricedNode, horizon: int) -> None:
    """Take a refuted horizon as bound; double the next step, unless this was the first success after a failure."""
    state = node.state
    node.bound = horizon + 1
    node.stride += node.stride + 1 if state.is_rising else 0
    state.is_rising = True
    state.search = None  # what was removed for this horizon may be needed for a larger one
    if state.widest is not None and state.widest.horizon <= horizon:
        state.widest = None


def shorten_stride(node: PricedNode, horizon: int) -> None:
    """Halve the next step after a horizon that could not be refuted."""
    node.stride = (horizon - node.bound) // 2
    node.state.is_rising = False


def node_multipliers(node: PricedNode, graph: SlotGraph) -> NodeMultipliers:
    """Return the multipliers of a node.

    A period that computes is charged the least value of a program it can receive as a constant, and nothing else. A
    period that does not compute may have any multiplier.
    """
    program_values, members = node.state.method.multipliers(graph)
    period = graph.tables.facts.period
    members[1:, [period[t, q] for q, t in node.unused]] = _FORBIDDEN
    constant = 0
    for q, t in node.used:
        members[:, period[t, q]] = 0
        constant += int(program_values[_cheapest_iteration(graph, program_values, int(period[t, q]))])
    domains = None if node.state.search is None else node.state.search.domains(period)
    if domains is not None:
        members[~domains.member] = _FORBIDDEN
    return NodeMultipliers(period, members, program_values, constant)


def move_multipliers(
    node: PricedNode, graph: SlotGraph, multipliers: NodeMultipliers, path: Path, momentum: Momentum, length: float
) -> None:
    """Move the multipliers of a node by the subgradient at a path, which is changed."""
    state, given = node.state, node.state.parameters
    used = path.used.max(axis=0)
    state.usage = state.usage + given.usage_weight * (used - state.usage) if state.usage.any() else used
    for q, t in node.used:
        period = int(multipliers.period[t, q])
        path.used[:, period] = 0.0
        path.sent[_cheapest_iteration(graph, multipliers.program_values, period)] -= 1
    state.method.step(graph, path, momentum, given.step * length, state.value_step)
    state.method.normalize()


def period_in_doubt(node: PricedNode) -> Period | None:
    """Return the undecided period that about half of the paths use; None if no path uses one."""
    tables, usage = node.state.tables, node.state.usage
    assert tables is not None
    doubt = np.where(usage > 0.0, np.minimum(usage, 1.0 - usage) + 1e-9, 0.0)
    for q, t in (*node.used, *node.unused):
        doubt[tables.facts.period[t, q]] = 0.0
    period = int(np.argmax(doubt))
    return (int(tables.owner[period]), int(tables.first[period])) if doubt[period] > 0.0 else None


def _cheapest_iteration(graph: SlotGraph, program_values: Ints, period: int) -> int:
    """Return the iteration with the least program value of those in which a period can receive a program."""
    return int(np.argmin(np.where(graph.can_receive[:, period], program_values, UNREACHABLE)))
