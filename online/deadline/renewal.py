"""renewal: the least expected cost under hazards that depend on the age of a period, by dynamic programming.

The state of the program is the *slack*: the time to the deadline less the work that is left. A slot that computes keeps
it, a slot that waits takes a slot from it, and a launch takes its overhead. So a grid of slots resolves it well,
however long the job is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hindsched.instances.deadline.schedule import Kind, Placement
from hindsched.online.deadline.availability_periods import Hazards, Periods, Rates
from hindsched.online.deadline.kernels.expected_costs import NOTHING, ON_DEMAND, expected_costs
from hindsched.online.deadline.visible import Visible

__all__ = ["Renewal"]

#: Largest number of steps of the grid of slacks.
_MOST_STEPS = 128
#: Tables in memory; each has N x steps x 10 x states numbers of four bytes.
_TABLES = 12


class _Setting(NamedTuple):
    """What a table depends on."""

    slots: int
    slot_s: int
    work_s: int
    overhead_s: int
    spot_price: int
    on_demand_price: int
    rates: Rates


class _Table(NamedTuple):
    """Expected costs by slot, slack, spot, class of age and state, and the step of the grid in seconds."""

    costs: npt.NDArray[np.float32]
    step_s: float
    hazards: Hazards


class Renewal:
    """renewal: choose what costs least in expectation if spot has the hazards that were seen so far."""

    name = "renewal"

    def __init__(self) -> None:
        self._periods: Periods | None = None

    def choose(self, visible: Visible) -> Placement:
        """Return the decision of least expected cost, for a job in one zone."""
        job = visible.job
        if self._periods is None:
            self._periods = Periods(job.slot_s)
        has_spot = visible.has_spot()
        self._periods.see(has_spot)
        prices = visible.price(0, Kind.SPOT), visible.price(0, Kind.ON_DEMAND)
        setting = _Setting(job.slots, job.slot_s, job.work_s, job.overhead_s, *prices, self._periods.rates())
        decision = _Decision(visible, _table(setting), self._periods.age_class)
        kinds = (None, Kind.ON_DEMAND, Kind.SPOT) if has_spot else (None, Kind.ON_DEMAND)
        kind = min(kinds, key=decision.cost)
        return None if kind is None else (0, kind)


class _Decision:
    """The expected costs of the decisions in a slot."""

    def __init__(self, visible: Visible, table: _Table, age: int) -> None:
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
        costs, step_s, hazards = self.table
        place = min(max(0.0, slack_s / step_s), costs.shape[1] - 1.0)
        i = min(int(place), costs.shape[1] - 2)
        share = place - i
        later = costs[self.visible.slot + 1]
        row = (1 - share) * later[i] + share * later[i + 1]
        here, age = int(self.has_spot), self.age
        ends, ages = hazards.ends[here][age], hazards.ages[age]
        kept = float(row[here, age, state])
        if ages:
            kept += ages * (float(row[here, age + 1, state]) - kept)
        lost = NOTHING if state > ON_DEMAND else state
        return ends * float(row[1 - here, 0, lost]) + (1 - ends) * kept


@lru_cache(maxsize=_TABLES)
def _table(setting: _Setting) -> _Table:
    hazards = Hazards(setting.rates, setting.slot_s)
    spare_s = max(setting.slot_s, setting.slots * setting.slot_s - setting.work_s)
    step_s = float(setting.slot_s * max(1, -(-spare_s // (setting.slot_s * _MOST_STEPS))))
    times = (setting.slots, setting.slot_s, setting.overhead_s)
    ends, ages = np.array(hazards.ends), np.array(hazards.ages)
    prices = (setting.spot_price, setting.on_demand_price)
    costs = expected_costs(times, prices, ends, ages, step_s, int(-(-spare_s // step_s)) + 1)
    return _Table(costs, step_s, hazards)
