"""renewal: the least expected cost under hazards that depend on the age of a period, by dynamic programming.

The state of the program is the *slack*: the time to the deadline less the work that is left. A slot that computes keeps
it, a slot that waits takes a slot from it, and a launch takes its overhead. So a grid of slots resolves it well,
however long the job is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hindsched.instances.deadline.schedule import Kind, Placement
from hindsched.online.deadline.availability_periods import Hazards, Periods, Rates
from hindsched.online.deadline.kernels.expected_costs import NOTHING, ON_DEMAND, expected_costs
from hindsched.online.deadline.visible import Visible

__all__ = ["CostTable", "Renewal", "Setting", "cheapest_kind", "cost_table"]

#: Largest and smallest number of steps of the grid of slacks.
_MOST_STEPS, _FEWEST_STEPS = 128, 8
#: Numbers of four bytes that a table should not exceed; jobs with very many slots have fewer steps.
_MOST_NUMBERS = 2**24
#: Relative change of a price after which tables are made with it.
_PRICE_CHANGE = 0.1
#: Tables in memory.
_TABLES = 12


class Setting(NamedTuple):
    """What the table of a job in one zone depends on: the job, present prices, and `Periods.rates`."""

    slots: int
    slot_s: int
    work_s: int
    overhead_s: int
    spot_price: int
    on_demand_price: int
    rates: Rates


class CostTable(NamedTuple):
    """Least expected costs of a job in one zone.

    Parameters
    ----------
    costs
        By slot, slack, spot, class of age and state; see `hindsched.online.deadline.kernels.expected_costs`.
    step_s
        Seconds between two slacks.
    ends, ages
        The hazards; see `hindsched.online.deadline.availability_periods.Hazards`.
    """

    costs: npt.NDArray[np.float32]
    step_s: float
    ends: Sequence[Sequence[float]]
    ages: Sequence[float]

    @classmethod
    def of(
        cls,
        times: tuple[int, int, int, int],
        prices: tuple[int, int],
        ends: Sequence[Sequence[float]],
        ages: Sequence[float],
        step_s: float,
    ) -> CostTable:
        """Compute the table of N, slot_s, work_s and overhead_s; prices are of spot and on-demand."""
        slots, slot_s, work_s, overhead_s = times
        steps = int(-(-max(slot_s, slots * slot_s - work_s) // step_s)) + 1
        costs = expected_costs((slots, slot_s, overhead_s), prices, np.array(ends), np.array(ages), step_s, steps)
        return cls(costs, step_s, ends, ages)


class Renewal:
    """renewal: choose what costs least in expectation if spot has the hazards that were seen so far."""

    name = "renewal"

    def __init__(self) -> None:
        self._periods: Periods | None = None
        self._prices: tuple[int, int] | None = None

    def choose(self, visible: Visible) -> Placement:
        """Return the decision of least expected cost, for a job in one zone."""
        job = visible.job
        if self._periods is None:
            self._periods = Periods(job.slot_s)
        has_spot = visible.has_spot()
        self._periods.see(has_spot)
        prices = visible.price(0, Kind.SPOT), visible.price(0, Kind.ON_DEMAND)
        if self._prices is None or _have_moved(self._prices, prices):
            self._prices = prices  # the present prices are the best forecast of later ones
        setting = Setting(job.slots, job.slot_s, job.work_s, job.overhead_s, *self._prices, self._periods.rates())
        kind = cheapest_kind(visible, cost_table(setting), self._periods.age_class)
        return None if kind is None else (0, kind)


def _have_moved(old: tuple[int, int], new: tuple[int, int]) -> bool:
    return any(abs(b - a) > _PRICE_CHANGE * a for a, b in zip(old, new, strict=True))


def cheapest_kind(visible: Visible, table: CostTable, age: int) -> Kind | None:
    """Return the kind of instance with which a job in one zone costs least in expectation; None: no instance.

    Parameters
    ----------
    visible
        The present slot.
    table
        Expected costs.
    age
        Class of the age of the present period.
    """
    decision = _Decision(visible, table, age)
    kinds = (None, Kind.ON_DEMAND, Kind.SPOT) if visible.has_spot() else (None, Kind.ON_DEMAND)
    return min(kinds, key=decision.cost)


class _Decision:
    """The expected costs of the decisions in a slot."""

    def __init__(self, visible: Visible, table: CostTable, age: int) -> None:
        self.visible, self.table, self.age = visible, table, age
        self.has_spot = visible.has_spot()

    def cost(self, kind: Kind | None) -> float:
        """Return the expected cost of an instance of a kind in this slot, and of all that follows."""
        visible = self.visible
        slot_s = visible.job.slot_s
        if kind is None:
            return self._after(visible.slots_left * slot_s - visible.work_left_s - slot_s, NOTHING)
        left_s = visible.left_s if kind is visible.kind else visible.job.overhead_s
        paid = float(slot_s * visible.price(0, kind))
        if kind is Kind.ON_DEMAND:  # its whole overhead is counted at once, since it cannot be lost
            work_s, state = slot_s - left_s, ON_DEMAND
        else:
            # the state counts the further slots that the overhead lasts
            work_s, state = max(0, slot_s - left_s), ON_DEMAND + 1 + -(-max(0, left_s - slot_s) // slot_s)
        if work_s >= visible.work_left_s:
            return paid
        slack_s = visible.slots_left * slot_s - visible.work_left_s - slot_s + work_s
        return paid + self._after(slack_s, state)

    def _after(self, slack_s: int, state: int) -> float:
        """Return the expected cost from the next slot on."""
        costs, step_s, all_ends, all_ages = self.table
        last = int(costs.shape[1]) - 1
        place = min(max(0.0, slack_s / step_s), float(last))
        i = min(int(place), last - 1)
        share = place - i
        low, high = costs[self.visible.slot + 1, i], costs[self.visible.slot + 1, i + 1]

        def at(*state: int) -> float:
            return (1 - share) * float(low[state]) + share * float(high[state])

        here, age = int(self.has_spot), self.age
        ends, ages = all_ends[here][age], all_ages[age]
        kept = at(here, age, state)
        if ages:
            kept += ages * (at(here, age + 1, state) - kept)
        lost = NOTHING if state > ON_DEMAND else state
        return ends * at(1 - here, 0, lost) + (1 - ends) * kept


@lru_cache(maxsize=_TABLES)
def cost_table(setting: Setting) -> CostTable:
    """Return the expected costs of a job, on a grid that memory allows."""
    hazards = Hazards(setting.rates, setting.slot_s)
    spare_s = max(setting.slot_s, setting.slots * setting.slot_s - setting.work_s)
    states = 2 + max(1, -(-setting.overhead_s // setting.slot_s))
    each = 2 * len(hazards.ages) * states * setting.slots
    steps = max(_FEWEST_STEPS, min(_MOST_STEPS, _MOST_NUMBERS // each))
    step_s = float(setting.slot_s * max(1, -(-spare_s // (setting.slot_s * steps))))
    times = (setting.slots, setting.slot_s, setting.work_s, setting.overhead_s)
    prices = (setting.spot_price, setting.on_demand_price)
    return CostTable.of(times, prices, hazards.ends, hazards.ages, step_s)
