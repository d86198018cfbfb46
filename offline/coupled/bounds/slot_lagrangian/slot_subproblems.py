"""The channel bound (module `channel_bound`), raised step by step: schedules are divided where it does not suffice."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Reals
from hindsched.offline.coupled.bounds.slot_lagrangian.slot_bound import Channel, make_channel, refute, split
from hindsched.offline.coupled.bounds.slot_lagrangian.slot_multipliers import begin_prices, merits
from hindsched.offline.coupled.search.constants import (
    MOST_CELLS,
    MOST_KEPT,
    NEVER,
    PART_PATIENCE,
    PATIENCE,
    PER_STEP,
    REFUTED,
    ROUNDS_AT_ONCE,
    STOPPED,
)
from hindsched.offline.coupled.search.label_search import Incumbent
from hindsched.offline.coupled.search.workspace import Workspace

__all__ = ["ChannelBound", "Subproblem"]


class Subproblem:
    """Schedules some of whose iterations end within given slots (module `channel_bound`), and what is known of them.

    ``soonest`` and ``latest`` hold pairs (k, t): iteration k + 1 starts in t at the soonest, or at the latest. No
    schedule costs less than ``bound``; the next ``stride`` costs are to be refuted at once, which has been tried for so
    many ``rounds``. ``usage``, ``left_over`` and ``num_chains`` are what its prices are learnt from. If ``is_final`` it
    cannot be divided.
    """

    def __init__(self, bound: int, soonest: tuple[tuple[int, int], ...], latest: tuple[tuple[int, int], ...]) -> None:
        self.bound = bound
        self.soonest, self.latest = soonest, latest
        self.usage: Reals | None = None
        self.left_over: Reals | None = None
        self.num_chains = 0
        self.stride = 1
        self.rounds = 0
        self.is_final = False


class ChannelBound:
    """The channel bound, raised step by step.

    It is the least bound of a subproblem. That one is worked on; if its bound is not raised soon, it is divided.

    ``bound`` is in units of cost, as that of a `LabelSearch`.
    """

    def __init__(self, workspace: Workspace, mode: int, iterations: int) -> None:
        self.workspace, self.mode, self.iterations = workspace, mode, iterations
        self.bound = 0 if iterations else -NEVER
        self.channel: Channel | None = None
        self.parts: list[Subproblem] = [Subproblem(self.bound, (), ())]

    def work(self, incumbent: Incumbent, steps: int, known: int) -> None:
        """Spend about `steps` units of work on refuting ever more; `known` is the best bound of the other searches."""
        workspace = self.workspace
        while steps > 0:
            workspace.check()
            part = min(self.parts, key=lambda part: part.bound)
            part.bound = max(part.bound, known, self.bound)
            self.bound = max(self.bound, min(part.bound for part in self.parts))
            if self.bound >= incumbent.cost or part.is_final:
                return
            target = min(part.bound + part.stride - 1, incumbent.cost - 1)  # the cost to be refuted
            iterations, end = (self.iterations, target) if self.iterations else (-target, workspace.slots)
            if end * workspace.problem.p > MOST_CELLS or iterations > end:
                if part.stride == 1:
                    return
                part.stride = 1
                continue
            before = workspace.effort_spent()
            channel = self._reserve(iterations, end)
            self._enter(part, channel)
            patience = PART_PATIENCE if len(self.parts) > 1 else PATIENCE
            rounds = 1 if part.stride > 1 else max(1, min(ROUNDS_AT_ONCE, patience - part.rounds))
            why = self.refute(channel, iterations, end, rounds, steps)
            steps -= 1 + (workspace.effort_spent() - before) // PER_STEP
            self._leave(part, channel, end)
            part.rounds += rounds
            if why == REFUTED:
                part.bound = target + 1
                part.stride *= 2
                part.rounds = 0
            elif why == STOPPED and steps <= 0:
                return
            elif part.stride > 1:
                part.stride = 1
                part.rounds = 0
            elif why == STOPPED or part.rounds >= patience:
                self._divide(part, channel, iterations)

    def refute(self, channel: Channel, iterations: int, end: int, rounds: int, steps: int) -> int:
        """Try to refute that the iterations can be completed within `end` slots: see `channel_bound.refute`."""
        workspace = self.workspace
        workspace.stop_after(PER_STEP * steps)
        return int(
            refute(
                workspace.table,
                workspace.problem,
                workspace.scratch,
                workspace.prefetch,
                channel,
                self.mode,
                iterations,
                end,
                workspace.slots,
                rounds,
            )
        )

    def _reserve(self, iterations: int, end: int) -> Channel:
        """Return room for prices; what has been learnt stays."""
        old, workspace = self.channel, self.workspace
        while workspace.slots_known() < end:
            workspace.grow()
        if old is not None and len(old.prices.program_value) > end and len(old.chains.first) >= iterations + 2:
            return old
        slots = end if old is None else max(2 * end, len(old.prices.usage))
        new = make_channel(workspace.problem.p, min(slots, workspace.slots_known()), iterations)
        begin_prices(workspace.table, workspace.problem, new.prices)
        if old is not None:
            new.prices.usage[: len(old.prices.usage)] = old.prices.usage
            new.prices.left_over[:] = old.prices.left_over
            new.prices.num_chains[:] = old.prices.num_chains
        self.channel = new
        return new

    @staticmethod
    def _enter(part: Subproblem, channel: Channel) -> None:
        """Go on with a subproblem where it was left."""
        prices, chains = channel.prices, channel.chains
        chains.soonest[:] = 0
        chains.latest[:] = NEVER
        for k, t in part.soonest:
            if k < len(chains.soonest):
                chains.soonest[k] = max(chains.soonest[k], t)
        for k, t in part.latest:
            if k < len(chains.latest):
                chains.latest[k] = min(chains.latest[k], t)
        if part.usage is not None and part.left_over is not None:
            prices.usage[: len(part.usage)] = part.usage
            prices.left_over[:] = part.left_over
            prices.num_chains[0] = part.num_chains

    def _leave(self, part: Subproblem, channel: Channel, end: int) -> None:
        """Keep what has been learnt of a subproblem."""
        if len(self.parts) * end * self.workspace.problem.p <= MOST_KEPT:
            part.usage = channel.prices.usage[:end].astype(np.float32)
            part.left_over = channel.prices.left_over.copy()
            part.num_chains = int(channel.prices.num_chains[0])

    def _divide(self, part: Subproblem, channel: Channel, iterations: int) -> None:
        """Divide a subproblem by the slot in which an iteration ends, one in which its chains differ most."""
        where = split(channel.chains, iterations)
        if where is None:
            part.is_final = True
            return
        k, t = where
        self.parts.remove(part)
        for half in (
            Subproblem(part.bound, part.soonest, (*part.latest, (k, t - 1))),
            Subproblem(part.bound, (*part.soonest, (k, t)), part.latest),
        ):
            half.usage, half.left_over, half.num_chains = part.usage, part.left_over, part.num_chains
            self.parts.append(half)

    def bytes_held(self) -> int:
        """Memory for prices, and for what has been learnt of subproblems."""
        if self.channel is None:
            return 0
        kept = sum(part.usage.nbytes for part in self.parts if part.usage is not None)
        return kept + self.channel.nbytes()

    def advise(self) -> None:
        """Let later searches try those workers first that the chains have used most."""
        if self.channel is not None:
            prices, problem = self.channel.prices, self.workspace.problem
            end = len(prices.usage)
            merit = np.zeros((end, problem.p))
            merits(self.workspace.table, problem, prices, end, merit)
            self.workspace.set_merit(merit)
