"""The dual bounds for instances whose channel binds, and how they share the effort of a round.

No bound is best on all instances, and which one leads shows soon. Bounds that are behind get a small share of each
round. All start from the best known bound, whichever search has proven it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from hindsched.offline.coupled.bounds.slot_lagrangian.slot_bound import SlotLagrangianBound
from hindsched.offline.coupled.search.effort import EFFORT_PER_STEP, SPENT
from hindsched.offline.coupled.search.label_search import Incumbent
from hindsched.offline.coupled.search.workspace import Workspace

if TYPE_CHECKING:
    from hindsched.instances.coupled.lagrangian_certificate import LagrangianCertificate
    from hindsched.offline.coupled.bounds.priced_label_bound import PricedLabelBound
    from hindsched.offline.coupled.bounds.program_lagrangian.program_bound import ProgramLagrangianBound
    from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import SlotTables

__all__ = ["DualBoundParameters", "DualBounds", "can_carry_iteration"]

_SLOTS, _PROGRAMS, _LABELS = "slots", "programs", "labels"


@dataclass(frozen=True, slots=True)
class DualBoundParameters:
    """Shares of the bounds in a round, as multiples of the round's steps.

    Parameters
    ----------
    slot_share
        Share of the slot Lagrangian while it leads.
    program_share
        Share of the program Lagrangian while it alone leads; half of it while others lead too.
    label_share
        Share of the priced labels and the program Lagrangian together, where the latter's counts in proportion.
    trailing_share
        Share of a bound that is behind.
    """

    slot_share: int = 4
    program_share: int = 14
    label_share: int = 28
    trailing_share: int = 1


class DualBounds:
    """All bounds of one instance.

    Parameters
    ----------
    workspace
        With T_prog >= 1 and a channel that binds.
    mode, iterations
        As those of a `LabelSearch`. Without ``iterations`` (their number is maximised) only the slot Lagrangian works.
    parameters
        Shares of the bounds.
    """

    def __init__(
        self, workspace: Workspace, mode: int, iterations: int, parameters: DualBoundParameters = DualBoundParameters()
    ) -> None:
        self._workspace, self._parameters = workspace, parameters
        self._slots = SlotLagrangianBound(workspace, mode, iterations)
        self._programs: ProgramLagrangianBound | None = None
        self._labels: PricedLabelBound | None = None
        if iterations:
            self._programs, self._labels = _make_program_bounds(workspace, mode, iterations)
        #: For each bound the last value to which it raised the best bound.
        self._raised = dict.fromkeys((_SLOTS, _PROGRAMS, _LABELS), self._slots.bound)
        self._idle_rounds = 0  # successive rounds in which the program Lagrangian raised nothing
        self._rounds = 0
        self._reported: SlotTables | None = None

    @property
    def bound(self) -> int:
        """The best bound, in units of cost."""
        bounds = (self._slots, self._programs, self._labels)
        return max(bound.bound for bound in bounds if bound is not None)

    def _leads(self, name: str) -> bool:
        return self._raised[name] == max(self._raised.values())

    def _share(self, name: str) -> int:
        """Return the share of the program Lagrangian or of the priced labels in this round.

        The former halves with each round in which it raises nothing. The latter, which take long to begin, start in the
        second round: most instances need only one.
        """
        given = self._parameters
        if name == _LABELS and self._rounds == 1:
            return 0
        leading = [other for other in self._raised if self._leads(other)]
        share = given.program_share
        share = share if leading == [_PROGRAMS] else share // 2 if _PROGRAMS in leading else 0
        share = max(given.trailing_share, share >> self._idle_rounds)
        if name == _PROGRAMS:
            return share
        return max(given.trailing_share, given.label_share - given.label_share * share // given.program_share)

    def work(self, incumbent: Incumbent, steps: int, known: int) -> None:
        """Spend the shares of a round of ``steps``; ``known`` is the best bound of the other searches."""
        given = self._parameters
        self._rounds += 1
        known = max(known, self.bound)
        if known > max(self._raised.values()):  # by another search: none of these bounds leads
            self._raised = dict.fromkeys(self._raised, known)
        slot_share = given.slot_share if self._leads(_SLOTS) else given.trailing_share
        self._slots.work(incumbent, slot_share * steps, known)
        known = self._note_raised(_SLOTS, self._slots.bound, known)
        if self._programs is None or self._labels is None:
            return
        left = 0  # steps that the program Lagrangian cannot use go to the priced labels
        for name, bound in ((_PROGRAMS, self._programs), (_LABELS, self._labels)):
            share = self._share(name)
            if known < incumbent.cost and share:
                left = self._run(bound, incumbent, share * steps + left, known)
                if name == _PROGRAMS:
                    self._idle_rounds = 0 if bound.bound > known else self._idle_rounds + 1
                known = self._note_raised(name, bound.bound, known)
                self._report_first_ends()

    def _note_raised(self, name: str, bound: int, known: int) -> int:
        """Note whether a bound was raised above the known one; return the best bound."""
        if bound > known:
            self._raised[name] = bound
        return max(bound, known)

    def _report_first_ends(self) -> None:
        """Report to the searches when iterations end at the earliest, if the tables have grown."""
        tables = None if self._programs is None else self._programs.tables
        if tables is not None and tables is not self._reported:
            self._reported = tables
            self._workspace.raise_floor(tables.first_ends())

    def _run(
        self, bound: ProgramLagrangianBound | PricedLabelBound, incumbent: Incumbent, steps: int, known: int
    ) -> int:
        """Let a bound work for this many steps; return the steps that are left if it has nothing to do."""
        workspace = self._workspace
        left = EFFORT_PER_STEP * steps
        while left > 0:
            workspace.check()
            workspace.claim()
            spent = bound.work(known, incumbent.cost)
            if self._labels is not None and bound is self._labels:
                self._labels.offer(incumbent)
            if spent == 0:
                return left // EFFORT_PER_STEP
            left -= spent
            workspace.scratch.effort[SPENT] += spent
        return 0

    def advise(self, incumbent: Incumbent) -> None:
        """Let later searches try first the workers that paths use most, or chains if the slot Lagrangian leads."""
        slots_lead = self._raised[_SLOTS] > max(self._raised[_PROGRAMS], self._raised[_LABELS])
        merits = None if slots_lead or self._programs is None else self._programs.merits(incumbent.cost)
        if merits is None:
            self._slots.advise()
        else:
            self._workspace.set_merit(merits)

    def certificate(self) -> LagrangianCertificate | None:
        """Return the certificate of the program Lagrangian, if there is one."""
        return None if self._programs is None else self._programs.certificate()

    def bytes_held(self) -> int:
        """Return the memory taken, in bytes."""
        programs = 0 if self._programs is None else self._programs.nbytes()
        return self._slots.bytes_held() + programs + (0 if self._labels is None else self._labels.nbytes())


def can_carry_iteration(workspace: Workspace) -> bool:
    """Return whether the channel can ever carry one iteration; see `kernels.channel_feasibility`."""
    _warm_up(workspace)
    from hindsched.offline.coupled.bounds.program_lagrangian.kernels import channel_feasibility

    return channel_feasibility.can_carry_iteration(workspace.instance)


def _make_program_bounds(
    workspace: Workspace, mode: int, iterations: int
) -> tuple[ProgramLagrangianBound, PricedLabelBound]:
    _warm_up(workspace)
    from hindsched.offline.coupled.bounds.priced_label_bound import PricedLabelBound
    from hindsched.offline.coupled.bounds.program_lagrangian.program_bound import ProgramLagrangianBound

    programs = ProgramLagrangianBound(workspace.instance, iterations)
    return programs, PricedLabelBound(workspace, programs, mode)


def _warm_up(workspace: Workspace) -> None:
    """Compile or load the kernels of these bounds, once in a process; the watch does not count it."""
    with workspace.watch.stopped():
        _warm_up_once()


@cache
def _warm_up_once() -> None:
    from hindsched.offline.coupled.bounds import priced_label_search
    from hindsched.offline.coupled.bounds.program_lagrangian import program_bound

    program_bound.warm_up()
    priced_label_search.warm_up()
