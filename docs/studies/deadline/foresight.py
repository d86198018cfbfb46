"""Study of what some hours of foresight are worth: a yardstick that looks ahead, not an on-line policy.

`Foresight` knows spot and prices of the next hours, and plans them exactly. What follows them it values as the policy
`renewal` does. With no hour it decides as `renewal` does, with all of them it pays the hindsight optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from docs.studies.deadline.kernels.known_slots import least_costs
from hindsched.bench.deadline.sources import Window
from hindsched.instances.deadline import HOUR_S, Instance, Kind
from hindsched.instances.deadline.schedule import Placement
from hindsched.instances.errors import InputError
from hindsched.offline.deadline import solve
from hindsched.offline.deadline.state_table import state_table
from hindsched.online.deadline import Visible, run_policy
from hindsched.online.deadline.availability_periods import Hazards, Periods
from hindsched.online.deadline.kernels.expected_costs import NOTHING, ON_DEMAND
from hindsched.online.deadline.renewal import Setting, cost_table

__all__ = ["HOURS", "POLICIES", "Foresight", "columns_of_hours", "rows"]

#: Hours of foresight; none of them is `renewal`, all of them the optimum.
HOURS = (1, 2, 4, 8, 16)
#: On-line policies beside it.
POLICIES = ("renewal", "uniform", "greedy")
#: A plan is made again after this share of the foresight.
_SHARE = 16

Costs = npt.NDArray[np.float64]


class Foresight:
    """A yardstick: the plan of least cost in the known slots, plus the expected cost of those that follow.

    It decides without a guard, but leaves a known part only in states from which on-demand meets the deadline.

    Parameters
    ----------
    instance
        One zone.
    hours
        Hours that are known beyond the present slot; None: all.

    Raises
    ------
    InputError
        With several zones.
    """

    def __init__(self, instance: Instance, hours: float | None) -> None:
        if instance.num_zones > 1:
            raise InputError(f"{instance.num_zones} zones, expected one", place="foresight")
        self.name = "foresight of all hours" if hours is None else f"foresight of {hours:g} h"
        self._instance, self._table = instance, state_table(instance)
        ahead = instance.slots if hours is None else round(hours * HOUR_S / instance.slot_s)
        self._known, self._step = 1 + ahead, 1 + ahead // _SHARE
        self._unit_s = self._table.unit_s
        self._periods, self._seen = Periods(instance.slot_s), 0
        self._plan: Costs = np.zeros((1, 1, 1))
        self._first = self._done_s = 0

    def choose(self, visible: Visible) -> Placement:
        """Return the first decision of the best plan."""
        slot = visible.slot
        is_new = slot >= self._first + len(self._plan) - 1
        if is_new:
            self._make_plan(visible)
        table, i = self._table, slot - self._first
        done = (visible.done_s - self._done_s) // self._unit_s
        last = self._plan.shape[2] - 1
        u = self._state(visible)
        values = []
        for choice in range(3):
            value = np.inf
            if choice != 1 or visible.has_spot():
                paid = 0 if choice == 0 else self._instance.slot_s * self._instance.prices[0, choice - 1, slot]
                amount = min(last, done + table.work_s[u, choice] // self._unit_s)
                value = paid + self._plan[i + 1, table.after[u, choice], amount]
            values.append(value)
        choice = int(np.argmin(values))
        return None if choice == 0 else (0, (Kind.SPOT, Kind.ON_DEMAND)[choice - 1])

    def _state(self, visible: Visible) -> int:
        """Return the state of the table in which a slot begins."""
        table = self._table
        if visible.current is None:
            return 0 if visible.home is None else 1
        is_same = (table.kind == (visible.kind is Kind.ON_DEMAND)) & (table.left_s == visible.left_s)
        return int(np.flatnonzero(is_same & (table.zone == 0))[0])

    def _make_plan(self, visible: Visible) -> None:
        """Compute the least costs by slot, state and work from the present slot to the end of what is known."""
        job, table, unit_s = self._instance, self._table, self._unit_s
        first, end = visible.slot, min(job.slots, visible.slot + self._known)
        for t in range(self._seen, end):
            self._periods.see(bool(job.spot[0, t]))
        self._seen = end
        left = -(-visible.work_left_s // unit_s)
        amounts = min(left, (end - first) * (job.slot_s // unit_s)) + 1
        terminal = self._terminal(end, visible.work_left_s - unit_s * np.arange(amounts))
        keep = end - first if end == job.slots else min(end - first, self._step)
        self._plan = least_costs(
            (table.after, table.work_s // unit_s),
            job.spot[0, first:end],
            job.slot_s * job.prices[0, :, first:end],
            terminal,
            left,
            keep,
        )
        self._first, self._done_s = first, visible.done_s

    def _terminal(self, end: int, work_left_s: npt.NDArray[np.int64]) -> Costs:
        """Return the expected costs before a slot, by state and amount of work left."""
        job, table = self._instance, self._table
        costs = np.where(work_left_s <= 0, 0.0, np.full((len(table.zone), len(work_left_s)), np.inf))
        if end == job.slots:
            return costs
        rest_s = (job.slots - end) * job.slot_s
        prices = int(job.prices[0, 0, end - 1]), int(job.prices[0, 1, end - 1])
        times = job.slots, job.slot_s, job.work_s, job.overhead_s
        expected = cost_table(Setting(*times, *prices, self._periods.rates()))
        hazards = Hazards(self._periods.rates(), job.slot_s)
        age, here = self._periods.age_class, int(job.spot[0, end - 1])
        ends, older = hazards.ends[here][age], hazards.ages[age]
        grid = expected.step_s * np.arange(expected.costs.shape[1])
        for u, (zone, kind, left_s) in enumerate(zip(table.zone, table.kind, table.left_s, strict=True)):
            is_spot = zone >= 0 and kind == 0
            if is_spot and not here:
                continue
            state = NOTHING if zone < 0 else ON_DEMAND + 1 + -(-left_s // job.slot_s) if is_spot else ON_DEMAND
            overhead_s = job.overhead_s if state != ON_DEMAND else left_s
            slack_s = rest_s - work_left_s - (left_s if state == ON_DEMAND else 0)

            columns = [expected.costs[end, :, here, age, state]]
            if older:
                columns.append(expected.costs[end, :, here, age + 1, state])
            columns.append(expected.costs[end, :, 1 - here, 0, NOTHING if is_spot else state])
            kept, *aged, other = (np.interp(slack_s, grid, column) for column in columns)
            for value in aged:
                kept = kept + older * (value - kept)
            value = ends * other + (1 - ends) * kept
            is_safe = -(-(work_left_s + overhead_s) // job.slot_s) * job.slot_s <= rest_s
            costs[u] = np.where(work_left_s <= 0, 0.0, np.where(is_safe, value, np.inf))
        return costs


def columns_of_hours() -> dict[int, str]:
    """Return the column of the rows for each number of hours."""
    return {0: "renewal", **{hours: f"ahead_{hours}" for hours in HOURS}}


def rows(windows: Iterable[Window], step: Callable[[str], None]) -> Iterator[dict[str, object]]:
    """Yield the costs of each window in units of money: the optimum, on-line policies, and hours of foresight.

    Parameters
    ----------
    windows
        Windows of the experiment.
    step
        Called after each window.
    """
    for window in windows:
        job = window.load()
        costs: dict[str, object] = {"free": solve(job).value}
        costs |= {policy: run_policy(job, policy, guard="step", schedule=False).cost for policy in POLICIES}
        for hours in HOURS:
            run = run_policy(job, Foresight(job, hours), guard="none", schedule=False)
            costs[f"ahead_{hours}"] = None if run.finish is None else run.cost
        yield {
            "deadline_h": window.deadline_s // HOUR_S,
            "overhead_s": window.overhead_s,
            "zone": window.zone,
            "start": window.start_sample,
            **costs,
        }
        step(window.name)
