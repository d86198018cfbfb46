"""The fractional knapsack against sorting by cost for a task."""

from fractions import Fraction

import numpy as np

from hindsched.offline.coupled.bounds.fractional_knapsack import solve_fractional
from hindsched.offline.coupled.bounds.iteration_knapsack import make_knapsack


def cheapest(tasks, costs, wanted) -> int:
    """Return the cost of the cheapest tasks, the last worker's in part, rounded down."""
    total = Fraction(0)
    for x, cost in sorted(zip(tasks, costs, strict=True), key=lambda pair: Fraction(pair[1], pair[0])):
        taken = min(x, wanted)
        total += Fraction(cost * taken, x)
        wanted -= taken
    return total.__floor__()


def test_the_least_cost_is_that_of_the_cheapest_tasks():
    draw = np.random.default_rng(0)
    for _ in range(500):
        n = int(draw.integers(1, 9))
        tasks, costs = draw.integers(1, 6, size=n), draw.integers(0, 12, size=n)
        wanted = int(draw.integers(1, tasks.sum(), endpoint=True))
        room = make_knapsack(n)
        room.item[:], room.item_tasks[:], room.item_cost[:] = range(n), tasks, costs
        cost = solve_fractional(room.item, room.item_tasks, room.item_cost, n, wanted)
        assert cost == cheapest(tasks.tolist(), costs.tolist(), wanted)
        taken = room.item_tasks > 0
        count = int(taken.sum())
        assert taken[:count].all()  # the items taken come first
        assert (room.item_tasks[:count] == tasks[room.item[:count]]).all()
        assert tasks[room.item[:count]].sum() >= wanted > tasks[room.item[: count - 1]].sum()
