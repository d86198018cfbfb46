"""The bounds that charge programs to the channel.

By slots (module `channel_bound`), by iterations (package `rents`), and the latter by labels of the relaxed search
(module `paying_bound`). None is always the best one, and which is shows soon: of every round, those whose bounds are
behind have small shares. All start from the best bound that anybody has. The last also finds schedules, in the end.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from hindsched.offline.coupled.bounds.slot_lagrangian.slot_subproblems import ChannelBound
from hindsched.offline.coupled.search.constants import (
    CHANNEL_SHARE,
    LESSER_SHARE,
    PAYING_SHARE,
    PER_STEP,
    RENT_SHARE,
    SPENT,
)
from hindsched.offline.coupled.search.label_search import Incumbent
from hindsched.offline.coupled.search.workspace import Workspace

if TYPE_CHECKING:
    from hindsched.instances.coupled.lagrangian_certificate import Rents
    from hindsched.offline.coupled.bounds.priced_label_bound import PayingBound
    from hindsched.offline.coupled.bounds.program_lagrangian.program_bound import RentBound
    from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import Tables

__all__ = ["ChannelBounds", "could_be_served"]


class ChannelBounds:
    """All bounds of one instance; ``bound`` is the largest one, in units of cost.

    Parameters
    ----------
    workspace
        With T_prog >= 1 and a channel that binds.
    mode, iterations
        As of a `LabelSearch`. Rents are for the makespan; where iterations are counted there are none.
    """

    def __init__(self, workspace: Workspace, mode: int, iterations: int) -> None:
        self._workspace = workspace
        self._slots = ChannelBound(workspace, mode, iterations)
        self._rents: RentBound | None = None
        self._paying: PayingBound | None = None
        if iterations:
            self._rents, self._paying = _rent_bounds(workspace, mode, iterations)
        #: The last bound that each of them has raised.
        self._raised = dict.fromkeys(("slots", "rents", "paying"), self._slots.bound)
        self._vain = 0  # rounds in which that by rents has not, one after the other
        self._rounds = 0
        self._told: Tables | None = None

    @property
    def bound(self) -> int:
        """The best bound."""
        all_bounds = (self._slots, self._rents, self._paying)
        return max(bound.bound for bound in all_bounds if bound is not None)

    def _leads(self, name: str) -> bool:
        """Whether none of the others has raised the bound since."""
        return self._raised[name] == max(self._raised.values())

    def _share(self, name: str) -> int:
        """Return what one of the bounds by rents has of a round. Labels begin with the second: most need only one.

        The bound by rents has less the longer it has raised nothing, and where others lead too; labels, which take long
        to begin, have the rest.
        """
        if name == "paying" and self._rounds == 1:
            return 0
        first = [other for other in self._raised if self._leads(other)]
        rents = RENT_SHARE if first == ["rents"] else RENT_SHARE // 2 if "rents" in first else 0
        rents = max(LESSER_SHARE, rents >> self._vain)
        return rents if name == "rents" else max(LESSER_SHARE, PAYING_SHARE - PAYING_SHARE * rents // RENT_SHARE)

    def work(self, incumbent: Incumbent, steps: int, known: int) -> None:
        """Spend the bounds' part of a round of ``steps``; ``known`` is the best bound of the other searches."""
        self._rounds += 1
        known = max(known, self.bound)
        if known > max(self._raised.values()):  # by another search: none of these is ahead of the others
            self._raised = dict.fromkeys(self._raised, known)
        self._slots.work(incumbent, (CHANNEL_SHARE if self._leads("slots") else LESSER_SHARE) * steps, known)
        known = self._take("slots", self._slots.bound, known)
        if self._rents is None or self._paying is None:
            return
        left = 0  # what rents leave, if there is nothing more that they can do, labels have
        for name, bound in (("rents", self._rents), ("paying", self._paying)):
            share = self._share(name)
            if known < incumbent.cost and share:
                left = self._charge(bound, incumbent, share * steps + left, known)
                if name == "rents":
                    self._vain = 0 if bound.bound > known else self._vain + 1
                known = self._take(name, bound.bound, known)
                self._tell_ends()

    def _take(self, name: str, bound: int, known: int) -> int:
        """Note whether a bound was raised; return the best one."""
        if bound > known:
            self._raised[name] = bound
        return max(bound, known)

    def _tell_ends(self) -> None:
        """Tell the searches when iterations can end at the earliest, if more is known of it now."""
        tables = None if self._rents is None else self._rents.tables
        if tables is not None and tables is not self._told:
            self._told = tables
            self._workspace.raise_floor(tables.first_ends())

    def _charge(self, bound: RentBound | PayingBound, incumbent: Incumbent, steps: int, known: int) -> int:
        """Let a bound by rents work for so many steps; return how many are left, as there is nothing to be done."""
        workspace = self._workspace
        left = PER_STEP * steps
        while left > 0:
            workspace.check()
            workspace.claim()
            spent = bound.work(known, incumbent.cost)
            if bound is self._paying:
                bound.offer(incumbent)
            if spent == 0:
                return left // PER_STEP
            left -= spent
            workspace.scratch.effort[SPENT] += spent
        return 0

    def advise(self, incumbent: Incumbent) -> None:
        """Let later searches try those workers first that paths have used most; chains, if the bound by slots leads."""
        is_slots = self._raised["slots"] > max(self._raised["rents"], self._raised["paying"])
        merits = None if is_slots or self._rents is None else self._rents.merits(incumbent.cost)
        if merits is None:
            self._slots.advise()
        else:
            self._workspace.set_merit(merits)

    def certificate(self) -> Rents | None:
        """Return the certificate of the bound by rents, if there is one."""
        return None if self._rents is None else self._rents.certificate()

    def bytes_held(self) -> int:
        """Memory for all."""
        rents = 0 if self._rents is None else self._rents.nbytes()
        return self._slots.bytes_held() + rents + (0 if self._paying is None else self._paying.nbytes())


def could_be_served(workspace: Workspace) -> bool:
    """Whether the channel could ever carry the data of an iteration (module `offline.coupled.rents.kernels.carry`)."""
    _get_ready(workspace)
    from hindsched.offline.coupled.bounds.program_lagrangian.kernels.channel_feasibility import can_carry

    return can_carry(workspace.instance)


def _rent_bounds(workspace: Workspace, mode: int, iterations: int) -> tuple[RentBound, PayingBound]:
    """Return the bound by rents, and that by labels that pay them."""
    _get_ready(workspace)
    from hindsched.offline.coupled.bounds.priced_label_bound import PayingBound
    from hindsched.offline.coupled.bounds.program_lagrangian.program_bound import RentBound

    rents = RentBound(workspace.instance, iterations)
    return rents, PayingBound(workspace, rents, mode)


def _get_ready(workspace: Workspace) -> None:
    """Load the machine code of the bounds by rents, or compile it, once in a process; that does not count."""
    with workspace.watch.stopped():
        _rehearse_once()


@cache
def _rehearse_once() -> None:
    from hindsched.offline.coupled.bounds import priced_label_search
    from hindsched.offline.coupled.bounds.program_lagrangian import program_bound

    program_bound.rehearse()
    priced_label_search.rehearse()
