"""Study of how good an on-line policy can be: drawn two-state chains, whose rates one of the policies knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from hindsched.instances.deadline.generate import ON_DEMAND_PRICE, SPOT_PRICE, generate
from hindsched.instances.deadline.schedule import Placement
from hindsched.offline.deadline import solve
from hindsched.online.deadline import Visible, run_policy
from hindsched.online.deadline.kernels.expected_costs import NOTHING
from hindsched.online.deadline.renewal import CostTable, cheapest_kind

__all__ = ["CHAINS", "POLICIES", "KnownRates", "how_many", "known_rates", "rows"]

#: Share of slots with spot, and probability that a slot keeps the state of the one before.
CHAINS = tuple(product((0.3, 0.6, 0.9), (0.5, 0.9, 0.98)))
#: The policies that do not know the rates.
POLICIES = ("renewal", "uniform", "greedy")
#: A day of work in 32 hours. The overhead is half a slot, so that a grid of half slots makes the table exact.
_SLOTS, _SLOT_S, _WORK_S, _OVERHEAD_S = 192, 600, 86_400, 300
_TIMES = (_SLOTS, _SLOT_S, _WORK_S, _OVERHEAD_S)


class KnownRates:
    """The policy of least expected cost under the guard ``step`` on a chain whose rates it knows.

    Parameters
    ----------
    table
        As `known_rates` returns it.
    """

    name = "known rates"

    def __init__(self, table: CostTable) -> None:
        self._table = table

    def choose(self, visible: Visible) -> Placement:
        """Return the decision of least expected cost."""
        kind = cheapest_kind(visible, self._table, 0)
        return None if kind is None else (0, kind)

    def expected(self, up: float) -> float:
        """Return the expected cost of a run that begins with spot with probability ``up``."""
        slack_s = _SLOTS * _SLOT_S - _WORK_S
        first = self._table.costs[0, round(slack_s / self._table.step_s), :, 0, NOTHING]
        return float((1 - up) * first[0] + up * first[1])


def known_rates(up: float, stay: float) -> KnownRates:
    """Return the best on-line policy on a chain (see `hindsched.instances.deadline.generate`)."""
    ends = (((1 - stay) * up,), ((1 - stay) * (1 - up),))
    return KnownRates(CostTable.of(_TIMES, (SPOT_PRICE, ON_DEMAND_PRICE), ends, (0.0,), float(_OVERHEAD_S)))


def how_many(number: int) -> int:
    """Return the number of instances."""
    return len(CHAINS) * number


def rows(number: int, step: Callable[[str], None]) -> Iterator[dict[str, object]]:
    """Yield the costs of each drawn instance in units of money; ``expected`` is that of the best policy on the chain.

    Parameters
    ----------
    number
        Instances of each chain.
    step
        Called after each instance.
    """
    for up, stay in CHAINS:
        best = known_rates(up, stay)
        for seed in range(number):
            job = generate(seed, slots=_SLOTS, slot_s=_SLOT_S, up=up, stay=stay, work_s=_WORK_S, overhead_s=_OVERHEAD_S)
            costs: dict[str, object] = {"free": solve(job).value, "known": run_policy(job, best, schedule=False).cost}
            costs |= {policy: run_policy(job, policy, schedule=False).cost for policy in POLICIES}
            yield {"up": up, "stay": stay, "seed": seed, "expected": round(best.expected(up)), **costs}
            step(f"up {up} stay {stay}")
