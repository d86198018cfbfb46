"""Lengths of the tasks of an instance: the options of ``import`` that follow from the trace where not given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import click

from hindsched.bench.shared_types import Row
from hindsched.instances.errors import InputError
from hindsched.instances.intervals import Presence, Seconds, join_touching
from hindsched.instances.traces import Trace
from hindsched.instances.traces.parsing import to_length
from hindsched.instances.traces.times import TimeUnit, in_seconds

__all__ = ["ITERATION_SHARE", "LengthOption", "Lengths", "lengths_of"]

#: A task takes this share of the mean availability period, as at the centre of the study of foresight; the program
#: takes half a task, as there, and the data of a task a fifth of the program, as in the paper's experiment.
TASK_SHARE, PROGRAM_SHARE, DATA_SHARE = Fraction(1, 5), Fraction(1, 2), Fraction(1, 5)
#: A task takes at most this share of the slots that the instance has for an iteration, so that iterations fit.
ITERATION_SHARE = Fraction(1, 4)
_UNITS = {
    "": TimeUnit.SECONDS,
    **{unit.value: unit for unit in (TimeUnit.SECONDS, TimeUnit.MINUTES, TimeUnit.HOURS, TimeUnit.DAYS)},
}
_DURATION = re.compile(r"([0-9.]+)\s*([a-z]*)")


class LengthOption(click.ParamType[Seconds]):
    """A length of time: a number of seconds, or a number with one of the units s, min, h, d."""

    name = "LENGTH"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Seconds:
        """Return the exact seconds; fail for another unit."""
        match = _DURATION.fullmatch(str(value).strip())
        if match is None or match[2] not in _UNITS:
            self.fail(f"{value!r}, expected seconds, or a number with s, min, h or d, such as 300 or 2h", param, ctx)
        try:
            number = to_length(match[1], "length") if match[1].strip("0.") else 0
        except InputError as error:
            self.fail(str(error), param, ctx)
        return in_seconds([number], _UNITS[match[2]])[0]


class Lengths(NamedTuple):
    """Slots of a task (or of one on each worker), of the program and of the data of a task, and how they came about."""

    w: int | tuple[int, ...]
    t_prog: int
    t_data: int
    assumption: str | None


def lengths_of(trace: Trace, nodes: Sequence[str], slot_s: Seconds, most: Fraction, given: Row) -> Lengths:
    """Return the lengths of an application in slots.

    Lengths that are not given follow from the trace: a task takes a fifth of the mean availability period of the nodes,
    but at most ``most`` slots, the program half a task, and the data of a task a fifth of the program. Lengths in
    seconds are rounded up to slots.

    Parameters
    ----------
    trace, nodes
        The trace, and its nodes that are workers.
    slot_s
        Seconds of a slot.
    most
        Largest number of slots of a task whose length is not given, for example `ITERATION_SHARE` of the slots of an
        iteration.
    given
        ``w``, ``t_prog``, ``t_data`` in slots, ``task_s``, ``program_s``, ``data_s`` in seconds; None: not given.

    Raises
    ------
    InputError
        For a task of no length.
    """
    known: dict[str, int | tuple[int, ...]] = {}
    for name, other in (("w", "task_s"), ("t_prog", "program_s"), ("t_data", "data_s")):
        if given[other] is not None:
            known[name] = ceil(given[other] / slot_s)
        elif given[name] is not None:
            known[name] = given[name]
    if known.get("w") == 0 and given["w"] is None:
        raise InputError("0, expected more than 0 seconds", place="--task-s")
    said: list[str] = []
    if "w" not in known:
        period = _mean_period(trace, nodes)
        known["w"], why = 1, "no node becomes unavailable"
        if period is not None:
            slots = min(TASK_SHARE * period / slot_s, most)
            hours = f"the mean availability period, {float(period) / 3600:,.3g} h"
            known["w"], why = max(1, round(slots)), f"a fifth of {hours}"
            if slots == most:
                why = f"a quarter of an iteration's share of the window: a fifth of {hours}, is too long for it"
        said.append(f"a task takes {_slots(known['w'])} ({why})")
    w = known["w"]
    task = Fraction(sum(w), len(w)) if isinstance(w, tuple) else Fraction(w)
    if "t_prog" not in known:
        known["t_prog"] = max(1, round(PROGRAM_SHARE * task))
        said.append(f"the program {_slots(known['t_prog'])} (half a task)")
    t_prog = known["t_prog"]
    assert isinstance(t_prog, int)
    if "t_data" not in known:
        known["t_data"] = max(1, round(DATA_SHARE * t_prog)) if t_prog else 0
        said.append(f"the data of a task {_slots(known['t_data'])} (a fifth of the program)")
    t_data = known["t_data"]
    assert isinstance(t_data, int)
    text = f"{', '.join(said)}; --task-s, --program-s and --data-s change this" if said else None
    return Lengths(w, t_prog, t_data, text)


def _slots(number: object) -> str:
    return f"{number} slot{'' if number == 1 else 's'}"


def _mean_period(trace: Trace, nodes: Sequence[str]) -> Fraction | None:
    """Return the mean seconds of an availability period over the nodes that become unavailable; None without one."""
    means = []
    for q in map(trace.nodes.index, nodes):
        periods = join_touching([part for part in trace.intervals[q] if part.presence is Presence.AVAILABLE])
        unobserved = {stop for _, stop in trace.spans[q]}
        ends = sum(stop not in unobserved for _, stop in periods)
        if ends:
            means.append(Fraction(sum(stop - start for start, stop in periods), ends))
    return sum(means, Fraction()) / len(means) if means else None
