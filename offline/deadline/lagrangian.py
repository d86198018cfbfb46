"""The Lagrangian bound B2: a price for a second of work, and a certificate (docs/deadline/model.md section 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hindsched.instances.array_types import Ints
from hindsched.instances.deadline.bound_certificate import BoundCertificate
from hindsched.instances.deadline.model import HOUR_S, Instance
from hindsched.instances.errors import InputError
from hindsched.offline.deadline.kernels.tails import lagrangian_tails, most_work, work_of_minimiser
from hindsched.offline.deadline.replay import payment_unit
from hindsched.offline.deadline.state_table import StateTable, state_table

__all__ = ["LagrangianBound", "lagrangian_bound", "largest_cost"]

#: Sums in kernels stay below it.
_LARGEST = 2**62
#: Where prices are small, the price of work has a denominator for which it is about as large as this.
_PRECISION = 2**20


@dataclass(frozen=True, slots=True)
class LagrangianBound:
    """A lower bound on the cost of complete schedules, and what it was made of.

    Parameters
    ----------
    value
        The bound, in units of money; None: no schedule is complete by the deadline.
    numerator, denominator
        The price of a second of work.
    phi
        Least q cost - p work of all tails; shape (N + 1, states).
    most
        Most seconds of work of all tails; same shape.
    table
        The states and moves.
    """

    value: int | None
    numerator: int
    denominator: int
    phi: Ints
    most: Ints
    table: StateTable

    def certificate(self, instance: Instance) -> BoundCertificate:
        """Return the certificate of the bound, which `hindsched.instances.deadline.check` verifies."""
        return BoundCertificate.of(instance, self.numerator, self.denominator, self.phi.tolist())


def largest_cost(instance: Instance) -> int:
    """Return a number that no schedule costs more than."""
    slots = instance.slot_s * sum(int(price) for price in instance.prices.max(axis=(0, 1)))
    return slots + instance.slots * HOUR_S * max(map(max, instance.move_cost))


def lagrangian_bound(instance: Instance) -> LagrangianBound:
    """Return the best Lagrangian bound, found by bisection over the price of a second of work.

    The bound is concave in the price, and the work of a minimiser tells on which side of the best price it lies.

    Raises
    ------
    InputError
        If costs exceed the 62 bits of machine code.

    Notes
    -----
    O(N S M) for each of some forty prices, with S states and M moves in each.

    Examples
    --------
    >>> from hindsched.instances.deadline.generate import generate
    >>> from hindsched.instances.deadline import check
    >>> job = generate(4, slots=12)
    >>> bound = lagrangian_bound(job)
    >>> check(job, bound.certificate(job)).outcome.value == bound.value
    True
    """
    table = state_table(instance)
    largest = largest_cost(instance)
    top = max(1, int(instance.prices.max()))
    denominator = max(1, _PRECISION // top)
    if denominator * (largest + 1) * 4 >= _LARGEST:
        denominator = 1
    # a price at which all work of the least step is worth more than everything costs
    ceiling = denominator * (largest + 1)
    if ceiling * max(instance.work_s, instance.slots * instance.slot_s) >= _LARGEST:
        ceiling = _LARGEST // (4 * max(instance.work_s, instance.slots * instance.slot_s))
    if denominator * (largest + 1) * 4 >= _LARGEST or ceiling < denominator * top:
        raise InputError("costs of more than 62 bits, expected smaller prices, fewer slots or the solver fronts")
    most = most_work(table.after, table.work_s, instance.spot)
    arrays = (table.after, table.work_s, table.move_units, instance.spot, instance.slot_s * instance.prices)
    if int(most[0, 0]) < instance.work_s:
        return LagrangianBound(None, 0, 1, np.zeros_like(most), most, table)

    best: tuple[int, int, Ints] | None = None

    def does_enough(numerator: int) -> bool:
        nonlocal best
        phi = lagrangian_tails(*arrays, numerator, denominator)
        value = numerator * instance.work_s + int(phi[0, 0])
        if best is None or value > best[0]:
            best = value, numerator, phi
        return work_of_minimiser(*arrays, numerator, denominator, phi) >= instance.work_s

    low, high = 0, denominator * top
    while high < ceiling and not does_enough(high):
        low, high = high, min(ceiling, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        if does_enough(middle):
            high = middle
        else:
            low = middle
    if best is None:
        does_enough(low)
    assert best is not None
    value, numerator, phi = best
    least = max(0, -(-value // denominator))
    unit = payment_unit(instance)
    return LagrangianBound(-(-least // unit) * unit, numerator, denominator, phi, most, table)
