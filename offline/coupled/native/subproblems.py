"""The rent bound (module `channel_bound`), raised step by step: the schedules are divided where it does not suffice."""

from __future__ import annotations

import numpy as np

from offline.coupled.native.channel_bound import Rents, begin_rents, make_rents, merits, refute, split
from offline.coupled.native.constants import (
    CELL_PATIENCE,
    MOST_CELLS,
    MOST_KEPT,
    NEVER,
    PATIENCE,
    PER_STEP,
    REFUTED,
    ROUNDS_AT_ONCE,
    STOPPED,
)
from offline.coupled.native.kernels import Reals
from offline.coupled.native.label_search import Best
from offline.coupled.native.workspace import Workspace

__all__ = ["Cell", "RentBound"]


class Cell:
    """Schedules some of whose iterations end within given slots (module `channel_bound`), and what is known of them.

    ``soonest`` and ``latest`` hold pairs (k, t): iteration k + 1 starts in t at the soonest, or at the latest.
    """

    def __init__(self, bound: int, soonest: tuple[tuple[int, int], ...], latest: tuple[tuple[int, int], ...]) -> None:
        self.bound = bound
        self.soonest, self.latest = soonest, latest
        self.usage: Reals | None = None
        self.loss: Reals | None = None
        self.chains = 0
        self.stride = 1
        self.rounds = 0
        self.is_final = False


class RentBound:
    """The rent bound (module `channel_bound`), raised step by step.

    The bound is the least bound of a cell. That cell is worked on; if its bound is not raised soon, it is divided.

    ``bound`` is in units of worth, as that of a `Store`.
    """

    def __init__(self, workspace: Workspace, mode: int, iterations: int) -> None:
        self.workspace, self.mode, self.iterations = workspace, mode, iterations
        self.bound = 0 if iterations else -NEVER
        self.rents: Rents | None = None
        self.cells: list[Cell] = [Cell(self.bound, (), ())]

    def work(self, best: Best, steps: int, known: int) -> None:
        """Spend about `steps` units of work on refuting ever more; `known` is the best bound of the other searches."""
        workspace = self.workspace
        while steps > 0:
            workspace.check()
            cell = min(self.cells, key=lambda cell: cell.bound)
            cell.bound = max(cell.bound, known, self.bound)
            self.bound = max(self.bound, min(cell.bound for cell in self.cells))
            if self.bound >= best.worth or cell.is_final:
                return
            target = min(cell.bound + cell.stride - 1, best.worth - 1)  # the worth to be refuted
            iterations, end = (self.iterations, target) if self.iterations else (-target, workspace.slots)
            if end * workspace.problem.p > MOST_CELLS or iterations > end:
                if cell.stride == 1:
                    return
                cell.stride = 1
                continue
            before = workspace.effort_spent()
            rents = self._reserve(iterations, end)
            self._enter(cell, rents)
            patience = CELL_PATIENCE if len(self.cells) > 1 else PATIENCE
            rounds = 1 if cell.stride > 1 else max(1, min(ROUNDS_AT_ONCE, patience - cell.rounds))
            answer = self.refute(rents, iterations, end, rounds, steps)
            steps -= 1 + (workspace.effort_spent() - before) // PER_STEP
            self._leave(cell, rents, end)
            cell.rounds += rounds
            if answer == REFUTED:
                cell.bound = target + 1
                cell.stride *= 2
                cell.rounds = 0
            elif answer == STOPPED and steps <= 0:
                return
            elif cell.stride > 1:
                cell.stride = 1
                cell.rounds = 0
            elif answer == STOPPED or cell.rounds >= patience:
                self._divide(cell, rents, iterations)

    def refute(self, rents: Rents, iterations: int, end: int, rounds: int, steps: int) -> int:
        """Try to refute that the iterations can be completed within `end` slots, by `rents`."""
        workspace = self.workspace
        workspace.stop_after(PER_STEP * steps)
        return int(
            refute(
                workspace.table,
                workspace.problem,
                workspace.space,
                workspace.memo,
                rents,
                self.mode,
                iterations,
                end,
                workspace.slots,
                rounds,
            )
        )

    def _enter(self, cell: Cell, rents: Rents) -> None:
        """Go on with a cell where it was left."""
        rents.soonest[:] = 0
        rents.latest[:] = NEVER
        for k, t in cell.soonest:
            if k < len(rents.soonest):
                rents.soonest[k] = max(rents.soonest[k], t)
        for k, t in cell.latest:
            if k < len(rents.latest):
                rents.latest[k] = min(rents.latest[k], t)
        if cell.usage is not None and cell.loss is not None:
            rents.usage[: len(cell.usage)] = cell.usage
            rents.loss[:] = cell.loss
            rents.chains[0] = cell.chains

    def _leave(self, cell: Cell, rents: Rents, end: int) -> None:
        """Keep what has been learnt of a cell."""
        if len(self.cells) * end * self.workspace.problem.p <= MOST_KEPT:
            cell.usage = rents.usage[:end].astype(np.float32)
            cell.loss = rents.loss.copy()
            cell.chains = int(rents.chains[0])

    def _divide(self, cell: Cell, rents: Rents, iterations: int) -> None:
        """Divide a cell by the slot in which an iteration ends, one in which its chains differ most."""
        where = split(rents, iterations)
        if where is None:
            cell.is_final = True
            return
        k, t = where
        self.cells.remove(cell)
        for part in (
            Cell(cell.bound, cell.soonest, (*cell.latest, (k, t - 1))),
            Cell(cell.bound, (*cell.soonest, (k, t)), cell.latest),
        ):
            part.usage, part.loss, part.chains = cell.usage, cell.loss, cell.chains
            self.cells.append(part)

    def bytes_held(self) -> int:
        """Memory for rents, and for what has been learnt of cells."""
        if self.rents is None:
            return 0
        kept = sum(cell.usage.nbytes for cell in self.cells if cell.usage is not None)
        return kept + sum(array.nbytes for array in self.rents)

    def advise(self) -> None:
        """Let later searches try those workers first that the chains have used most."""
        if self.rents is not None:
            end = len(self.rents.usage)
            merit = np.zeros((end, self.workspace.problem.p))
            merits(self.workspace.table, self.workspace.problem, self.rents, end, merit)
            self.workspace.set_merit(merit)

    def _reserve(self, iterations: int, end: int) -> Rents:
        """Return room for rents; what has been learnt stays."""
        old = self.rents
        workspace = self.workspace
        while workspace.slots_known() < end:
            workspace.grow()
        if old is None or len(old.phi) <= end or len(old.first) < iterations + 2:
            slots = end if old is None else max(2 * end, len(old.usage))
            new = make_rents(workspace.problem.p, min(slots, workspace.slots_known()), iterations)
            begin_rents(workspace.table, workspace.problem, new)
            if old is not None:
                new.usage[: len(old.usage)] = old.usage
                new.loss[:] = old.loss
                new.chains[:] = old.chains
            self.rents = new
            return new
        return old
