"""Names of the guards, and of the sets of schedules that they leave. Who acts on them has rules of their own."""

from __future__ import annotations

from enum import StrEnum

from hindsched.instances.deadline.model import Instance
from hindsched.instances.errors import InputError
from hindsched.instances.text_files import excerpt

__all__ = ["Guard", "Rung", "guard_for", "guard_of_rung"]


class Rung(StrEnum):
    """The schedules that count: all, or those that the guard lets run."""

    FREE = "free"
    GUARDED = "guarded"


class Guard(StrEnum):
    """What is done in critical slots, from which only an on-demand instance surely meets the deadline.

    Attributes
    ----------
    STEP
        A spot instance that computes stays while it can be had; everything else becomes on-demand.
    STEP_OLD
        As ``STEP``, but a slot in which such an instance is lost stays empty.
    LATCHED
        On-demand from the first critical slot on, in one zone.
    """

    STEP = "step"
    STEP_OLD = "step_old"
    LATCHED = "latched"


def guard_for(instance: Instance, guard: Guard | str | None) -> Guard:
    """Return the guard that a name means on an instance; None: ``step`` with one zone and ``latched`` with several.

    Raises
    ------
    InputError
        If the name is unknown, or the guard is for one zone and there are several.
    """
    if guard is None:
        return Guard.STEP if instance.num_zones == 1 else Guard.LATCHED
    if guard not in (*Guard,):
        raise InputError(f"{excerpt(str(guard))}, expected one of {', '.join(Guard)}", place="guard")
    if guard != Guard.LATCHED and instance.num_zones > 1:
        raise InputError(f"{guard} is for one zone, expected latched for {instance.num_zones} zones", place="guard")
    return Guard(guard)


def guard_of_rung(instance: Instance, rung: Rung | str, guard: Guard | str | None) -> Guard | None:
    """Return the guard that schedules of a rung must pass; None if all schedules count.

    Raises
    ------
    InputError
        As in `guard_for`, for an unknown rung, and for a guard with the rung ``free``.
    """
    if rung not in (*Rung,):
        raise InputError(f"{excerpt(str(rung))}, expected one of {', '.join(Rung)}", place="rung")
    if rung == Rung.GUARDED:
        return guard_for(instance, guard)
    if guard is not None:
        raise InputError(f"{excerpt(str(guard))} with the rung free, expected none or the rung guarded", place="guard")
    return None
