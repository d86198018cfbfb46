"""The bounds that charge programs to the channel: by slots (module `channel_bound`) and by iterations (`rents`).

Neither is always the better one, and which is shows soon: of every round, the one whose bound is behind has a small
share. Both start from the best bound that anybody has.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from offline.coupled.native.constants import CHANNEL_SHARE, LESSER_SHARE, PER_STEP, RENT_SHARE, SPENT
from offline.coupled.native.label_search import Incumbent
from offline.coupled.native.subproblems import ChannelBound
from offline.coupled.native.workspace import Workspace

if TYPE_CHECKING:
    from instances.coupled.rents import Rents
    from offline.coupled.rents.search import RentBound
    from offline.coupled.rents.tables import Tables

__all__ = ["ChannelBounds", "could_be_served"]


class ChannelBounds:
    """Both bounds of one instance; ``bound`` is the larger one, in units of cost.

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
        self._rents: RentBound | None = _rent_bound(workspace, iterations) if iterations else None
        self._raised_by_slots = self._raised_by_rents = self._slots.bound
        self._is_turn_of_rents = False
        self._told: Tables | None = None

    @property
    def bound(self) -> int:
        """The best bound."""
        return self._slots.bound if self._rents is None else max(self._slots.bound, self._rents.bound)

    def work(self, incumbent: Incumbent, steps: int, known: int) -> None:
        """Spend the bounds' part of a round of ``steps``; ``known`` is the best bound of the other searches."""
        rents_lead = self._raised_by_rents > self._raised_by_slots
        known = max(known, self.bound)
        self._slots.work(incumbent, (LESSER_SHARE if rents_lead else CHANNEL_SHARE) * steps, known)
        if self._slots.bound > known:
            known = self._raised_by_slots = self._slots.bound
        if self._rents is not None and known < incumbent.cost:
            slots_lead = self._raised_by_slots > self._raised_by_rents
            self._charge(self._rents, incumbent, (LESSER_SHARE if slots_lead else RENT_SHARE) * steps, known)
            if self._rents.bound > known:
                self._raised_by_rents = self._rents.bound
            self._tell_ends()

    def _tell_ends(self) -> None:
        """Tell the searches when iterations can end at the earliest, if more is known of it now."""
        tables = None if self._rents is None else self._rents.tables
        if tables is not None and tables is not self._told:
            self._told = tables
            self._workspace.raise_floor(tables.first_ends())

    def _charge(self, rents: RentBound, incumbent: Incumbent, steps: int, known: int) -> None:
        """Let the bound by rents work for so many steps."""
        workspace = self._workspace
        left = PER_STEP * steps
        while left > 0:
            workspace.check()
            workspace.claim()
            spent = rents.work(known, incumbent.cost)
            if spent == 0:
                return
            left -= spent
            workspace.scratch.effort[SPENT] += spent

    def advise(self, incumbent: Incumbent) -> None:
        """Let later searches try those workers first that chains have used most, or in turn paths if rents lead."""
        self._is_turn_of_rents = not self._is_turn_of_rents and self._raised_by_rents > self._raised_by_slots
        merits = self._rents.merits(incumbent.cost) if self._rents is not None and self._is_turn_of_rents else None
        if merits is None:
            self._slots.advise()
        else:
            self._workspace.set_merit(merits)

    def certificate(self) -> Rents | None:
        """Return the certificate of the bound by rents, if there is one."""
        return None if self._rents is None else self._rents.certificate()

    def bytes_held(self) -> int:
        """Memory for both."""
        return self._slots.bytes_held() + (0 if self._rents is None else self._rents.nbytes())


def could_be_served(workspace: Workspace) -> bool:
    """Whether the channel could ever carry the data of an iteration (module `offline.coupled.rents.kernels.carry`)."""
    _get_ready(workspace)
    from offline.coupled.rents.kernels.carry import can_carry

    return can_carry(workspace.instance)


def _rent_bound(workspace: Workspace, iterations: int) -> RentBound:
    """Return the bound by rents."""
    _get_ready(workspace)
    from offline.coupled.rents.search import RentBound

    return RentBound(workspace.instance, iterations)


def _get_ready(workspace: Workspace) -> None:
    """Load the machine code of the bound by rents, or compile it, once in a process; that does not count."""
    with workspace.watch.stopped():
        _rehearse_once()


@cache
def _rehearse_once() -> None:
    from offline.coupled.rents.search import rehearse

    rehearse()
