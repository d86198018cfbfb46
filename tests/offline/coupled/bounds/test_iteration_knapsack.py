"""What an iteration pays at least, against sorting by price for a task."""

from fractions import Fraction

import numpy as np

from hindsched.offline.coupled.bounds.fractional_knapsack import pay
from hindsched.offline.coupled.bounds.iteration_knapsack import make_knapsack


def cheapest(tasks, prices, wanted) -> int:
    """The cheapest tasks first, the last worker's in part; rounded down."""
    total = Fraction(0)
    for x, price in sorted(zip(tasks, prices, strict=True), key=lambda pair: Fraction(pair[1], pair[0])):
        taken = min(x, wanted)
        total += Fraction(price * taken, x)
        wanted -= taken
    return total.__floor__()


def test_the_least_price_is_that_of_the_cheapest_tasks():
    draw = np.random.default_rng(0)
    for _ in range(500):
        n = int(draw.integers(1, 9))
        tasks, prices = draw.integers(1, 6, size=n), draw.integers(0, 12, size=n)
        wanted = int(draw.integers(1, tasks.sum(), endpoint=True))
        room = make_knapsack(n)
        room.item[:], room.item_tasks[:], room.item_price[:] = range(n), tasks, prices
        paid = pay(room.item, room.item_tasks, room.item_price, n, wanted)
        assert paid == cheapest(tasks.tolist(), prices.tolist(), wanted)
        taken = room.item_tasks > 0
        count = int(taken.sum())
        assert taken[:count].all()  # those taken come first
        assert (room.item_tasks[:count] == tasks[room.item[:count]]).all()
        assert tasks[room.item[:count]].sum() >= wanted > tasks[room.item[: count - 1]].sum()
