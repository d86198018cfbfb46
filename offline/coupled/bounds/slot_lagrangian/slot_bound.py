"""The slot Lagrangian bound: branch and bound over the ends of iterations (docs/bounds.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hindsched.instances.array_types import Reals
from hindsched.offline.coupled.bounds.branch_node import BranchNode, NodePool
from hindsched.offline.coupled.bounds.sentinels import REFUTED, STOPPED
from hindsched.offline.coupled.bounds.slot_lagrangian.chain_search import SlotRelaxation, make_slot_relaxation
from hindsched.offline.coupled.bounds.slot_lagrangian.slot_multipliers import (
    DEFAULT_PARAMETERS,
    SlotLagrangianParameters,
    reset_statistics,
    set_merits,
)
from hindsched.offline.coupled.bounds.slot_lagrangian.slot_refutation import branching_end, refute
from hindsched.offline.coupled.search.effort import EFFORT_PER_STEP
from hindsched.offline.coupled.search.label_search import Incumbent
from hindsched.offline.coupled.search.slot_codes import NEVER
from hindsched.offline.coupled.search.workspace import Workspace

__all__ = ["SlotLagrangianBound", "SlotState"]


@dataclass(slots=True)
class SlotState:
    """What the slot Lagrangian keeps of a node.

    Parameters
    ----------
    usage, slack, num_chains
        Statistics by which the multipliers are set, as in `SlotMultipliers`.
    rounds
        Searches for the next cost so far.
    is_final
        Whether the node can be neither refuted nor branched.
    """

    usage: Reals | None = None
    slack: Reals | None = None
    num_chains: int = 0
    rounds: int = 0
    is_final: bool = False

    def for_child(self) -> SlotState:
        """Return the state of a child: the same statistics."""
        return SlotState(self.usage, self.slack, self.num_chains)


class SlotLagrangianBound:
    """A lower bound on the cost, raised step by step.

    Parameters
    ----------
    workspace
        With T_prog >= 1 and a channel that binds.
    mode, iterations
        As those of a `LabelSearch`.
    parameters
        Patience and limits.

    Attributes
    ----------
    bound
        The bound, in units of cost, as that of a `LabelSearch`.
    """

    def __init__(
        self,
        workspace: Workspace,
        mode: int,
        iterations: int,
        parameters: SlotLagrangianParameters = DEFAULT_PARAMETERS,
    ) -> None:
        self.workspace, self.mode, self.iterations = workspace, mode, iterations
        self.bound = 0 if iterations else -NEVER
        self._parameters = parameters
        self._relaxation: SlotRelaxation | None = None
        self._pool = NodePool(BranchNode(self.bound, 1, SlotState()))

    def work(self, incumbent: Incumbent, steps: int, known: int) -> None:
        """Refute costs of the node with the least bound, or branch it, for about `steps` units of work.

        ``known`` is the best bound of the other searches.
        """
        workspace, given = self.workspace, self._parameters
        while steps > 0:
            workspace.check()
            node = self._pool.least()
            node.bound = max(node.bound, known, self.bound)
            self.bound = max(self.bound, self._pool.least().bound)
            if self.bound >= incumbent.cost or node.state.is_final:
                return
            target = min(node.bound + node.stride - 1, incumbent.cost - 1)
            iterations, end = (self.iterations, target) if self.iterations else (-target, workspace.slots)
            if end * workspace.problem.p > given.max_cells or iterations > end:
                if node.stride == 1:
                    return
                node.stride = 1
                continue
            patience = given.child_patience if len(self._pool) > 1 else given.patience
            rounds = 1 if node.stride > 1 else max(1, min(given.rounds_at_once, patience - node.state.rounds))
            before = workspace.effort_spent()
            relaxation = self._reserve(iterations, end)
            self._load(node, relaxation)
            outcome = self.refute(relaxation, iterations, end, rounds, steps)
            steps -= 1 + (workspace.effort_spent() - before) // EFFORT_PER_STEP
            self._store(node, relaxation, end)
            node.state.rounds += rounds
            if outcome == REFUTED:
                node.bound = target + 1
                node.stride *= 2
                node.state.rounds = 0
            elif outcome == STOPPED and steps <= 0:
                return
            elif node.stride > 1:
                node.stride = 1
                node.state.rounds = 0
            elif outcome == STOPPED or node.state.rounds >= patience:
                branching = branching_end(relaxation.chains, iterations)
                if branching is None:
                    node.state.is_final = True
                else:
                    node.branch_by_end(*branching, stride=1)
                    self._pool.replace(node)

    def refute(self, relaxation: SlotRelaxation, iterations: int, end: int, rounds: int, steps: int) -> int:
        """Try to refute that the iterations can be completed within `end` slots; see `slot_refutation.refute`."""
        workspace = self.workspace
        workspace.stop_after(EFFORT_PER_STEP * steps)
        tables = workspace.arrays, workspace.prefetch
        return int(refute(*tables, relaxation, self.mode, iterations, end, workspace.slots, rounds))

    def _reserve(self, iterations: int, end: int) -> SlotRelaxation:
        """Return a relaxation with room for these iterations and slots; statistics stay."""
        old, workspace = self._relaxation, self.workspace
        while workspace.slots_known() < end:
            workspace.grow()
        if old is not None and len(old.multipliers.program_value) > end and len(old.chains.earliest) > iterations:
            return old
        slots = end if old is None else max(2 * end, len(old.multipliers.usage))
        slots = min(slots, workspace.slots_known())
        new = make_slot_relaxation(workspace.problem.p, slots, iterations, self._parameters)
        reset_statistics(workspace.table, workspace.problem, new.multipliers)
        if old is not None:
            new.multipliers.usage[: len(old.multipliers.usage)] = old.multipliers.usage
            new.multipliers.slack[:] = old.multipliers.slack
            new.multipliers.num_chains[:] = old.multipliers.num_chains
        self._relaxation = new
        return new

    @staticmethod
    def _load(node: BranchNode[SlotState], relaxation: SlotRelaxation) -> None:
        """Set the windows and the statistics of a node."""
        multipliers, chains, state = relaxation.multipliers, relaxation.chains, node.state
        chains.earliest[:], chains.latest[:] = node.windows(len(chains.earliest) - 1)
        if state.usage is not None and state.slack is not None:
            multipliers.usage[: len(state.usage)] = state.usage
            multipliers.slack[:] = state.slack
            multipliers.num_chains[0] = state.num_chains

    def _store(self, node: BranchNode[SlotState], relaxation: SlotRelaxation, end: int) -> None:
        """Keep the statistics of a node, if memory allows it."""
        multipliers = relaxation.multipliers
        if len(self._pool) * end * self.workspace.problem.p <= self._parameters.max_stored:
            node.state.usage = multipliers.usage[:end].astype(np.float32)
            node.state.slack = multipliers.slack.copy()
            node.state.num_chains = int(multipliers.num_chains[0])

    def bytes_held(self) -> int:
        """Return the memory taken, in bytes."""
        if self._relaxation is None:
            return 0
        kept = sum(node.state.usage.nbytes for node in self._pool if node.state.usage is not None)
        return kept + self._relaxation.nbytes()

    def advise(self) -> None:
        """Let later searches try first the workers that chains have used most."""
        if self._relaxation is not None:
            multipliers, problem = self._relaxation.multipliers, self.workspace.problem
            end = len(multipliers.usage)
            merit = np.zeros((end, problem.p))
            set_merits(self.workspace.table, problem, multipliers, end, merit)
            self.workspace.set_merit(merit)
