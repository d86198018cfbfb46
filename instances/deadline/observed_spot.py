"""What a trace and the log of a job show of spot in slots, and what they leave unknown."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hindsched.instances.deadline.job_log import JobLog
from hindsched.instances.deadline.moves import names_of_node
from hindsched.instances.deadline.schedule import Kind
from hindsched.instances.intervals import Seconds
from hindsched.instances.states import UP
from hindsched.instances.traces.trace import Trace

__all__ = ["ObservedSpot", "node_of", "observed_spot"]


class ObservedSpot(NamedTuple):
    """Availability of spot by zone and slot, between two bounds.

    Parameters
    ----------
    least, most
        Arrays of shape (Z, N): spot is known to be there; and: it is not known to be absent. They differ where nothing
        was observed.
    corrected
        Number of slots in which the log contradicts the trace; the log counts.
    """

    least: npt.NDArray[np.bool_]
    most: npt.NDArray[np.bool_]
    corrected: int


def node_of(zone: str, nodes: Sequence[str]) -> str | None:
    """Return the node of a trace that a zone of a log means: of its name, or with its name before ``_``.

    Examples
    --------
    >>> node_of("us-east-2a", ["us-east-1a_v100_1", "us-east-2a_v100_1"]), node_of("b", ["a"])
    ('us-east-2a_v100_1', None)
    """
    return next((node for node in nodes if zone in names_of_node(node)), None)


def observed_spot(
    log: JobLog, trace: Trace | None, nodes: Sequence[tuple[str, str | None]], slot_s: int, slots: int
) -> ObservedSpot:
    """Return what is known of spot in slots that begin with the log.

    Spot is there in a slot if the trace has it available during the whole slot, or the log runs on spot during the
    whole slot. It is absent if the trace has it unavailable at any time of the slot, or the log loses it in the slot.
    The log prevails. Other slots are unknown.

    Parameters
    ----------
    log, trace
        What was observed; None: there is no trace.
    nodes
        For each zone its name in the log, and its node of the trace; None: the trace does not have it.
    slot_s, slots
        The slots.

    Raises
    ------
    InputError
        If the trace observes none of its zones in the window.
    """
    shape = len(nodes), slots
    least, most = np.zeros(shape, np.bool_), np.ones(shape, np.bool_)
    known = [node for _, node in nodes if node is not None]
    if trace is not None and known:
        unobserved_is_down, unobserved_is_reclaimed = (
            trace.states(slot_s=slot_s, start=log.start, slots=slots, nodes=known, unobserved=state)
            for state in ("down", "reclaimed")
        )
        rows = [z for z, (_, node) in enumerate(nodes) if node is not None]
        least[rows] = unobserved_is_down == UP
        most[rows] = least[rows] | (unobserved_is_down != unobserved_is_reclaimed)
    there, absent = _seen_by_log(log, [zone for zone, _ in nodes], slot_s, slots)
    corrected = int(np.count_nonzero((there & ~most) | (absent & least)))
    return ObservedSpot((least | there) & ~absent, (most | there) & ~absent, corrected)


def _seen_by_log(
    log: JobLog, zones: Sequence[str], slot_s: int, slots: int
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    there, absent = np.zeros((2, len(zones), slots), np.bool_)
    for run in log.runs:
        if run.kind is not Kind.SPOT:
            continue
        z = zones.index(run.zone)
        first, end = _slot(run.start, log.start, slot_s), _slot(run.stop, log.start, slot_s)
        there[z, ceil(first) : floor(end)] = True
        if run.is_lost and end < slots:
            absent[z, floor(end)] = True
    return there & ~absent, absent


def _slot(time: Seconds, start: Seconds, slot_s: int) -> Seconds:
    return Fraction(time - start) / slot_s
