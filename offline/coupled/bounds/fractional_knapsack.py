"""The fractional knapsack: what tasks cost at least. Both bounds that charge the channel pay by it."""

from __future__ import annotations

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel

__all__ = ["pay"]


@kernel
def _swap(item: Ints, x: Ints, price: Ints, i: int, j: int) -> None:
    item[i], item[j] = item[j], item[i]
    x[i], x[j] = x[j], x[i]
    price[i], price[j] = price[j], price[i]


@kernel
def pay(item: Ints, x: Ints, price: Ints, n: int, tasks: int) -> int:
    """Return the least price, fractional and rounded down, of so many tasks held by ``item[:n]``, who hold enough.

    Item i holds ``x[i]`` tasks and asks ``price[i]`` for all. Puts those to be taken in front, as quickselect does:
    O(n) as a rule. Who is not taken has no tasks then.
    """
    low, high = 0, n
    left = tasks
    paid = 0
    while left > 0:
        pivot_x, pivot_price = x[(low + high) // 2], price[(low + high) // 2]
        # low..i-1 ask less for a task than the pivot, i..k-1 as much, j..high-1 more.
        i, k, j = low, low, high
        less = 0
        less_price = 0
        while k < j:
            ahead = price[k] * pivot_x - pivot_price * x[k]
            if ahead < 0:
                less += x[k]
                less_price += price[k]
                _swap(item, x, price, i, k)
                i += 1
                k += 1
            elif ahead == 0:
                k += 1
            else:
                j -= 1
                _swap(item, x, price, k, j)
        if less >= left:  # all that are taken are among the cheaper ones
            high = i
            continue
        left -= less
        paid += less_price
        while i < k and left > 0:
            if x[i] <= left:
                paid += price[i]
                left -= x[i]
            else:
                paid += price[i] * left // x[i]
                left = 0
            i += 1
        low = i
    for k in range(low, n):
        x[k] = 0
    return paid
