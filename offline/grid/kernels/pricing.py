"""Kernels of the linear program: starts of least reduced cost, and knapsacks for its cuts.

`cheapest` has ten arguments, since bundled arrays slow it down.
"""

from __future__ import annotations

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.offline.grid.kernels.subgradient_ascent import Floats

__all__ = ["cheapest", "fill", "lift", "pack"]


@kernel
def cheapest(
    submit: Ints,
    length: Ints,
    slots: Ints,
    loads: Floats,
    of: Ints,
    place: Ints,
    price: Floats,
    cumulative: Floats,
    starts: Ints,
    costs: Floats,
) -> None:
    """Find for each job the starts of least wait plus price: the submission, or the slot after a priced one.

    Parameters
    ----------
    submit, length
        Of each job.
    slots
        (K,): slots with a price, ascending.
    loads
        (resources, jobs).
    of, place, price
        Of each row: its resource, the place of its slot in ``slots``, and its price.
    cumulative
        (jobs, K + 1): scratch.
    starts, costs
        (jobs, W): the W cheapest starts, cheapest first; -1 where there are fewer.
    """
    count, most = starts.shape
    last = len(slots)
    for j in range(count):
        for k in range(last + 1):
            cumulative[j, k] = 0.0
    for row in range(len(of)):
        for j in range(count):
            cumulative[j, place[row] + 1] += loads[of[row], j] * price[row]
    for j in range(count):
        for k in range(last):
            cumulative[j, k + 1] += cumulative[j, k]
        low, high = 0, last  # the first priced slot from the submission on
        while low < high:
            middle = (low + high) >> 1
            if slots[middle] < submit[j]:
                low = middle + 1
            else:
                high = middle
        for i in range(most):
            starts[j, i], costs[j, i] = -1, 1e300
        begin, end, start = low, low, submit[j]
        while True:
            if start - submit[j] >= costs[j, most - 1]:
                break
            while end < last and slots[end] < start + length[j]:
                end += 1
            cost = start - submit[j] + cumulative[j, end] - cumulative[j, begin]
            if cost < costs[j, most - 1]:
                i = most - 1
                while i > 0 and costs[j, i - 1] > cost:
                    starts[j, i], costs[j, i] = starts[j, i - 1], costs[j, i - 1]
                    i -= 1
                starts[j, i], costs[j, i] = start, cost
            if begin == last:
                break
            start = slots[begin] + 1
            begin += 1


@kernel
def pack(width: Ints, gain: Floats, nodes: int, table: Floats, taken: Ints) -> float:
    """Choose items of largest gain that fit on the nodes together (0/1 knapsack); return the gain.

    ``table`` is scratch of shape (items + 1, nodes + 1); ``taken`` becomes 1 for chosen items, 0 for others.
    """
    count = len(width)
    for x in range(nodes + 1):
        table[0, x] = 0.0
    for i in range(count):
        for x in range(nodes + 1):
            table[i + 1, x] = table[i, x]
        for x in range(width[i], nodes + 1):
            with_it = table[i, x - width[i]] + gain[i]
            table[i + 1, x] = max(table[i + 1, x], with_it)
    x = nodes
    for i in range(count - 1, -1, -1):
        taken[i] = 0
        if table[i + 1, x] > table[i, x] + 1e-12:
            taken[i] = 1
            x -= width[i]
    total: float = table[count, nodes]
    return total


@kernel
def fill(width: Ints, order: Ints, nodes: int, taken: Ints) -> None:
    """Add further items that fit to those taken, in an order."""
    room = nodes
    for i in range(len(width)):
        room -= width[i] * taken[i]
    for i in order:
        if taken[i] == 0 and width[i] <= room:
            taken[i] = 1
            room -= width[i]


@kernel
def lift(width: Ints, loads: Ints, order: Ints, nodes: int, most: Ints) -> int:
    """Lift a cut: give jobs without a load, in an order, the largest load that keeps the limit; return the limit.

    ``loads`` change in place; ``most`` is scratch of nodes + 1 places.
    """
    for x in range(nodes + 1):
        most[x] = 0
    for j in range(len(width)):
        if loads[j] > 0:
            for x in range(nodes, width[j] - 1, -1):
                most[x] = max(most[x], most[x - width[j]] + loads[j])
    limit: int = most[nodes]
    for j in order:
        if loads[j] == 0:
            loads[j] = limit - most[nodes - width[j]]
            if loads[j] > 0:
                for x in range(nodes, width[j] - 1, -1):
                    most[x] = max(most[x], most[x - width[j]] + loads[j])
    return limit
