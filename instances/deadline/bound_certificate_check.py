"""The independent checker of bound certificates: form (P1), inequalities (P2) and the exact value of the bound.

All numbers are integers. This module shares no code with a solver.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

import numpy as np

from hindsched.instances.deadline.bound_certificate import CERTIFICATE_FORMATS, BoundCertificate
from hindsched.instances.deadline.model import HOUR_S, Instance
from hindsched.instances.verdict import Verdict

__all__ = ["Bound", "check_certificate"]

_KEYS = {"format", "instance", "lambda", "phi"}
#: Larger numbers are added as Python integers.
_LARGEST = 2**62


@dataclass(frozen=True, slots=True)
class Bound:
    """The lower bound that a valid certificate proves.

    Parameters
    ----------
    value
        No schedule that does all the work by the deadline costs fewer units of money.
    """

    value: int

    def __str__(self) -> str:
        return f"cost at least {self.value}"


class _State(NamedTuple):
    """A state before a slot: kind 0 (spot), 1 (on-demand) or None; overhead left; home of the checkpoint."""

    zone: int | None
    kind: int | None
    left_s: int
    home: int | None


class _Move(NamedTuple):
    """A decision in a slot: columns before and after it, the zone and kind that are paid, units and seconds of work."""

    before: int
    after: int
    zone: int | None
    kind: int | None
    move_units: int
    work_s: int


def check_certificate(instance: Instance, certificate: BoundCertificate) -> Verdict:
    """Return the bound that a certificate proves, or the first rule that it breaks.

    With the price p/q of a second of work, ``phi`` gives for each state before a slot a lower bound on q times the
    cost of all later slots less p times their work. If no decision contradicts that, and no state after the last slot
    has more than 0, then pW + phi(0, nothing yet) is a lower bound on q times the cost of every complete schedule.

    Parameters
    ----------
    instance
        The instance.
    certificate
        The certificate. A fingerprint that is not the instance's breaks P1.

    Returns
    -------
    Verdict
        With a `Bound` as outcome, or with a broken rule. P1: keys or numbers do not have the right form. P2: a
        decision in a slot costs less than ``phi`` says.

    Notes
    -----
    O(N S M) for S states and M = 2 Z + 1 decisions in each.
    """
    document = certificate.document
    states = list(_states(instance))
    defect = _defect_of_form(instance, certificate, len(states))
    if defect:
        return Verdict(None, "P1", defect)
    p, q = document["lambda"]
    largest = max((abs(value) for row in document["phi"] for value in row), default=0)
    slot_units = instance.slot_s * int(instance.prices.max())
    moves = list(_moves(instance, states))
    bound = largest + q * (slot_units + max(move.move_units for move in moves)) + p * instance.slot_s
    phi = np.array(document["phi"], dtype=np.int64 if bound < _LARGEST else object)
    final = int(np.argmax(phi[-1]))
    if phi[-1][final] > 0:
        return Verdict(instance.slots, "P2", f"phi[{instance.slots}][{final}]: {phi[-1][final]}, expected at most 0")
    broken = _broken_move(instance, phi, moves, (p, q))
    if broken is not None:
        return broken
    least = -(-(p * instance.work_s + int(phi[0][0])) // q)
    unit = _common_unit(instance)
    return Verdict(None, None, None, Bound(max(0, -(-least // unit) * unit if unit else least)))


def _defect_of_form(instance: Instance, certificate: BoundCertificate, columns: int) -> str | None:
    document = certificate.document
    if set(document) != _KEYS or document["format"] not in CERTIFICATE_FORMATS:
        return f"expected the keys {', '.join(sorted(_KEYS))} and the format {CERTIFICATE_FORMATS[0]}"
    if document["instance"] != instance.fingerprint:
        return "instance: expected the fingerprint of the instance"
    pair = document["lambda"]
    if not (isinstance(pair, list) and len(pair) == 2 and all(map(_is_integer, pair)) and pair[0] >= 0 and pair[1] > 0):
        return "lambda: expected two integers, [p >= 0, q >= 1]"
    rows = document["phi"]
    if not isinstance(rows, list) or len(rows) != instance.slots + 1:
        return f"phi: expected a list of {instance.slots + 1} rows"
    for t, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != columns or {*map(type, row)} != {int}:
            return f"phi[{t}]: expected a list of {columns} integers"
    return None


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _states(instance: Instance) -> Iterator[_State]:
    """Yield the states in the order of the columns of ``phi``."""
    yield _State(None, None, 0, None)
    zones = range(instance.num_zones)
    for z in zones:
        yield _State(None, None, 0, z)
    for z in zones:
        starts = {instance.overhead_s + instance.move_delay_s[h][z] for h in zones}
        lefts = {
            max(0, start - j * instance.slot_s) for start in starts for j in range(1, -(-start // instance.slot_s) + 2)
        }
        for kind in (0, 1):
            for left_s in sorted(lefts, reverse=True):
                yield _State(z, kind, left_s, z)


def _moves(instance: Instance, states: list[_State]) -> Iterator[_Move]:
    """Yield all decisions from all states; those that need spot, and those after a loss of spot, are the caller's."""
    column = {state: i for i, state in enumerate(states)}
    for i, state in enumerate(states):
        yield _Move(i, column[_State(None, None, 0, state.home)], None, None, 0, 0)
        for z in range(instance.num_zones):
            for kind in (0, 1):
                units, left_s = 0, state.left_s
                if (z, kind) != (state.zone, state.kind):
                    left_s = instance.overhead_s
                    if state.home is not None and state.home != z:
                        left_s += instance.move_delay_s[state.home][z]
                        units = HOUR_S * instance.move_cost[state.home][z]
                after = _State(z, kind, max(0, left_s - instance.slot_s), z)
                yield _Move(i, column[after], z, kind, units, max(0, instance.slot_s - left_s))


def _broken_move(instance: Instance, phi: np.ndarray, moves: list[_Move], price: tuple[int, int]) -> Verdict | None:
    """Return the verdict on the decision in the earliest slot that costs less than ``phi`` says.

    A spot instance that is lost leaves the same decisions, but for the one that keeps it, as one that is stopped.
    """
    p, q = price
    first: tuple[int, _Move] | None = None
    for move in moves:
        units = q * move.move_units - p * move.work_s
        low = phi[1:, move.after] + units
        can = np.ones(instance.slots, dtype=bool)
        if move.zone is not None:
            if move.kind == 0:
                can = instance.zones[move.zone].spot
            low = low + q * instance.slot_s * instance.prices[move.zone, move.kind].astype(phi.dtype)
        wrong = np.flatnonzero(can & (phi[:-1, move.before] > low))
        if wrong.size and (first is None or wrong[0] < first[0]):
            first = int(wrong[0]), move
    if first is None:
        return None
    slot, move = first
    what = "nothing runs" if move.zone is None else f"{'on-demand' if move.kind else 'spot'} runs in zone {move.zone}"
    reason = f"phi[{slot}][{move.before}]: {phi[slot][move.before]} is too much if then {what}"
    return Verdict(slot, "P2", reason)


def _common_unit(instance: Instance) -> int:
    """Return the greatest common divisor of all that a schedule can pay; 0 if everything is free."""
    found = gcd(*(HOUR_S * cost for row in instance.move_cost for cost in row))
    return gcd(found, *(instance.slot_s * int(price) for price in np.unique(instance.prices)))
