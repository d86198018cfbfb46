"""Policies by name: published schedulers for one zone and several, and policies of users (model.md section 5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hindsched.instances.deadline.schedule import Kind, Placement
from hindsched.instances.errors import InputError
from hindsched.online.deadline.options import Bank, RunOptions
from hindsched.online.deadline.strategy_files import StrategyFile, is_strategy_file
from hindsched.online.deadline.visible import Policy, Visible
from hindsched.online.loading import load_policy

__all__ = [
    "POLICIES",
    "Greedy",
    "Sliced",
    "Uniform",
    "UniformPlain",
    "UniformText",
    "UpS",
    "is_for_one_zone",
    "make_policy",
]

_SLICED = re.compile(r"sliced:([1-9][0-9]{0,8})", re.ASCII)


class OnDemand:
    """on_demand: an on-demand instance from the first slot on."""

    name = "on_demand"

    def choose(self, visible: Visible) -> Placement:
        """Return an on-demand instance."""
        return 0, Kind.ON_DEMAND


class SpotOnly:
    """spot_only: spot wherever it can be had; only the guard meets the deadline."""

    name = "spot_only"

    def choose(self, visible: Visible) -> Placement:
        """Return spot, or nothing."""
        return (0, Kind.SPOT) if visible.has_spot() else None


class Fallback:
    """fallback: spot if it can be had, otherwise on-demand."""

    name = "fallback"

    def choose(self, visible: Visible) -> Placement:
        """Return spot, or on-demand."""
        return 0, Kind.SPOT if visible.has_spot() else Kind.ON_DEMAND


class Greedy:
    """greedy: wait for spot as long as the deadline allows; ``strawman`` in public copies."""

    name = "greedy"

    def choose(self, visible: Visible) -> Placement:
        """Return the decision of greedy's rules."""
        kind = Kind.SPOT if visible.has_spot() else None
        return _in_zone(_urgent(visible, kind, visible.work_left_s, visible.slots_left))


class UniformPlain:
    """uniform_plain: uniform progress without hysteresis; ``rc_threshold`` in public copies."""

    name = "uniform_plain"

    def choose(self, visible: Visible) -> Placement:
        """Return spot if it can be had, on-demand if the progress is behind, then greedy's rules near the deadline."""
        kind = _uniform(visible, visible.kind, has_spot=visible.has_spot(), has_hysteresis=False)
        return _in_zone(_urgent(visible, kind, visible.work_left_s, visible.slots_left))


class Uniform:
    """uniform: Can't Be Late's Uniform Progress as its public code has it, ``rc_cr_threshold``."""

    name = "uniform"

    def choose(self, visible: Visible) -> Placement:
        """Return the decision of `UniformPlain`, but keep on-demand until the progress is two launches ahead."""
        kind = _uniform(visible, visible.kind, has_spot=visible.has_spot())
        return _in_zone(_urgent(visible, kind, visible.work_left_s, visible.slots_left))


class UniformText:
    """uniform_text: the rules of Uniform Progress as descriptions in public copies state them."""

    name = "uniform_text"

    def choose(self, visible: Visible) -> Placement:
        """Return the decision of the stated rules."""
        if _slots_needed(visible, visible.work_left_s, launches=2) >= visible.slots_left:
            return 0, Kind.ON_DEMAND
        if visible.kind is Kind.ON_DEMAND and _ahead(visible, launches=2) < 0:
            return 0, Kind.ON_DEMAND
        if visible.has_spot():
            return 0, Kind.SPOT
        return (0, Kind.ON_DEMAND) if _ahead(visible) < 0 else None


class Sliced:
    """sliced:S: greedy in each of S equal slices of time, with an equal share of the work as its target.

    Parameters
    ----------
    slices
        S.
    bank
        What happens after the target of a slice is reached.
    """

    def __init__(self, slices: int, bank: Bank = Bank.NO) -> None:
        self.name = f"sliced:{slices}"
        self.slices = slices
        self.bank = bank

    def choose(self, visible: Visible) -> Placement:
        """Return greedy's decision for the present slice."""
        slots, work_s = visible.job.slots, visible.job.work_s
        i = visible.slot * self.slices // slots + 1
        while i * slots // self.slices <= visible.slot:
            i += 1
        border = i * slots // self.slices
        work_left_s = work_s * border // slots - visible.done_s
        if work_left_s <= 0:
            return (0, Kind.SPOT) if self.bank is Bank.YES and visible.has_spot() else None
        kind = Kind.SPOT if visible.has_spot() else None
        return _in_zone(_urgent(visible, kind, work_left_s, border - visible.slot))


class UpS:
    """up_s: SkyNomad's UP(S), Uniform Progress with the cheapest spot of several zones."""

    name = "up_s"

    def __init__(self) -> None:
        self._last_zone: int | None = None

    def choose(self, visible: Visible) -> Placement:
        """Return the decision of the four rules of docs/deadline/model.md section 5."""
        if visible.current is not None:
            self._last_zone = visible.current[0]
        kind = self._wanted(visible, visible.kind, has_spot=True)
        exits = False
        if visible.kind is Kind.ON_DEMAND and kind is Kind.ON_DEMAND and _ahead(visible, launches=2) > 0:
            kind, exits = Kind.SPOT, True
        if visible.current is not None and visible.current[1] is kind:
            return visible.current
        if kind is Kind.SPOT:
            zone = next((zone for zone in self._by_price(visible) if visible.has_spot(zone)), None)
            if zone is not None:
                return zone, Kind.SPOT
            kind = None if exits else self._wanted(visible, None, has_spot=False)
        if kind is not Kind.ON_DEMAND:
            return None
        stopped = visible.current[0] if visible.current is not None else None
        return next((zone for zone in (stopped, visible.home) if zone is not None), 0), Kind.ON_DEMAND

    @staticmethod
    def _wanted(visible: Visible, kind: Kind | None, *, has_spot: bool) -> Kind | None:
        chosen = _uniform(visible, kind, has_spot=has_spot)
        # its public code compares with > here, the policies of one zone with >=
        return _urgent(
            visible, chosen, visible.work_left_s, visible.slots_left, kind=kind, has_spot=has_spot, slack_slots=1
        )

    def _by_price(self, visible: Visible) -> list[int]:
        regions = visible.job.regions
        away_from = None if self._last_zone is None else regions[self._last_zone]
        return sorted(
            range(visible.job.num_zones),
            key=lambda zone: (regions[zone] == away_from, visible.price(zone, Kind.SPOT), zone),
        )


def _in_zone(kind: Kind | None) -> Placement:
    return None if kind is None else (0, kind)


def _slots_needed(visible: Visible, work_left_s: int, *, launches: int) -> int:
    """Return the slots for the work that is left and for some launches."""
    job = visible.job
    return -(-(work_left_s + launches * job.overhead_s) // job.slot_s)


def _ahead(visible: Visible, *, launches: int = 0) -> int:
    """Return by how much the progress exceeds a uniform one at a time some launches later, as a product P D - e W."""
    job = visible.job
    return visible.done_s * job.deadline_s - (visible.elapsed_s + launches * job.overhead_s) * job.work_s


def _uniform(visible: Visible, kind: Kind | None, *, has_spot: bool, has_hysteresis: bool = True) -> Kind | None:
    """Return the decision of uniform progress far from the deadline, if an instance of ``kind`` runs."""
    if has_hysteresis and kind is Kind.ON_DEMAND and (not has_spot or _ahead(visible, launches=2) <= 0):
        return Kind.ON_DEMAND
    if has_spot:
        return Kind.SPOT
    return Kind.ON_DEMAND if _ahead(visible) < 0 else None


_AS_SEEN: Any = object()


def _urgent(
    visible: Visible,
    choice: Kind | None,
    work_left_s: int,
    slots_left: int,
    *,
    kind: Kind | None = _AS_SEEN,
    has_spot: bool | None = None,
    slack_slots: int = 0,
) -> Kind | None:
    """Return a choice, or what greedy does near a deadline.

    Parameters
    ----------
    visible
        The present slot.
    choice
        The choice far from the deadline.
    work_left_s, slots_left
        Work to do, and slots to do it in.
    kind, has_spot
        Replace the kind that runs and whether spot can be had.
    slack_slots
        Slots by which the first rule is later.
    """
    kind = visible.kind if kind is _AS_SEEN else kind
    has_spot = visible.has_spot() if has_spot is None else has_spot
    if _slots_needed(visible, work_left_s, launches=2) >= slots_left + slack_slots and kind is not Kind.SPOT:
        choice = Kind.ON_DEMAND
    if _slots_needed(visible, work_left_s, launches=1) >= slots_left:
        choice = Kind.SPOT if kind is Kind.SPOT and visible.left_s == 0 else Kind.ON_DEMAND
        if visible.job.overhead_s == 0 and has_spot:
            choice = Kind.SPOT
    return choice


_MADE: Mapping[str, Callable[[], Policy]] = {
    policy.name: policy for policy in (OnDemand, SpotOnly, Fallback, Greedy, Uniform, UniformPlain, UniformText, UpS)
}
#: The classes of the built-in policies.
BUILT_IN = (*_MADE.values(), Sliced)
#: The schedulers of the toolkit, for one zone.
OURS = ("renewal",)
#: The published schedulers; ``sliced:S`` exists for every number of slices.
POLICIES = (
    "on_demand",
    "spot_only",
    "fallback",
    "greedy",
    "uniform",
    "uniform_plain",
    "uniform_text",
    "sliced:4",
    "up_s",
)


def make_policy(text: str | Policy, options: RunOptions | None = None, **changes: Any) -> Policy:
    """Return a policy by name.

    Parameters
    ----------
    text
        One of `POLICIES` or `OURS`, or ``sliced:S``, or ``path/to/file.py:ClassName``, or the name of an installed
        entry point in the group ``hindsched.policies``; or a strategy file of the public simulator,
        ``path/to/file.py``; or a policy of your own as an object, which is copied.
    options
        Options; the time-sliced policy uses ``bank``.
    **changes
        Single options by keyword; they override ``options``.

    Raises
    ------
    InputError
        For an unknown name or option, and for an unusable file or class.

    Examples
    --------
    >>> make_policy("sliced:8").slices
    8
    """
    chosen = (options or RunOptions()).changed(**changes)
    if isinstance(text, str):
        if text in _MADE:
            return _MADE[text]()
        if text in OURS:
            from hindsched.online.deadline.renewal import Renewal  # noqa: PLC0415  # numba, only where it is wanted

            return Renewal()
        sliced = _SLICED.fullmatch(text)
        if sliced:
            return Sliced(int(sliced[1]), chosen.bank)
        if is_strategy_file(text):
            return StrategyFile(text)
        if text.endswith(".py") and not Path(text).is_file():
            raise InputError("no such file", file=text)
    made: Policy = load_policy(
        text,
        dict(chosen.own),
        family="deadline",
        built_in=POLICIES,
        protocol=Policy,
        expected="a text attribute name and a method choose(visible)",
    )
    return made


def is_for_one_zone(name: str) -> bool:
    """Return whether a name is that of a built-in policy for one zone."""
    return name != UpS.name and (name in (*_MADE, *OURS) or bool(_SLICED.fullmatch(name)))
