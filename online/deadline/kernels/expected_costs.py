"""Expected costs by slot, slack, spot and age, from the last slot to the first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hindsched.instances.array_types import Reals
from hindsched.instances.compiling import kernel

__all__ = ["NOTHING", "ON_DEMAND", "expected_costs"]

#: States of the job: nothing runs; on-demand; and from 2 on spot with an overhead of 0, 1, 2, ... further slots.
NOTHING, ON_DEMAND = 0, 1


@kernel(allocates=True)
def expected_costs(
    times: tuple[int, int, int], prices: tuple[int, int], ends: Reals, ages: Reals, step_s: float, steps: int
) -> npt.NDArray[np.float32]:
    """Return the least expected cost from each slot on; shape (N + 1, steps + 1, 2, classes, states).

    Slacks are multiples of ``step_s``, values between them are interpolated. In a critical slot the guard ``step``
    decides. States that cannot be, such as spot in a slot without spot, cost infinity.

    Parameters
    ----------
    times
        N, slot_s and overhead_s.
    prices
        Micro-dollars an hour of spot and on-demand.
    ends, ages
        See `hindsched.online.deadline.availability_periods.Hazards`, as arrays.
    step_s, steps
        The grid of slacks.
    """
    slots, slot_s, overhead_s = times
    classes, longest = ages.shape[0], max(1, -(-overhead_s // slot_s))
    states = 2 + longest
    costs = np.zeros((slots + 1, steps + 1, 2, classes, states), dtype=np.float32)
    for t in range(slots - 1, -1, -1):
        for k in range(steps + 1):
            slack_s = k * step_s
            work_left_s = (slots - t) * slot_s - slack_s
            if work_left_s <= 0:
                continue
            costs[t, k] = np.inf
            is_critical = slack_s < overhead_s + slot_s
            for state in range(states):
                for choice in range(3):  # nothing, on-demand, spot
                    if is_critical and choice == 0:
                        continue
                    paid, work_s, after = 0.0, 0.0, choice
                    if choice == 1:
                        paid = slot_s * prices[1]
                        work_s = slot_s - (0.0 if state == 1 else overhead_s)
                    elif choice == 2:
                        left_s = overhead_s
                        if state >= 2:
                            left_s = 0 if state == 2 else overhead_s - (longest - (state - 2)) * slot_s
                        paid, work_s = slot_s * prices[0], max(0.0, slot_s - left_s)
                        after = 2 + -(-max(0, left_s - slot_s) // slot_s)
                    is_last = work_s >= work_left_s
                    if is_critical and choice == 1 and not is_last:  # it runs to the end
                        paid += np.ceil((work_left_s - work_s) / slot_s) * slot_s * prices[1]
                        is_last = True
                    place = min(max(0.0, (slack_s - slot_s + work_s) / step_s), float(steps))
                    i = min(int(place), steps - 1)
                    share = place - i
                    for has_spot in range(2):
                        if not has_spot and (choice == 2 or state >= 2):
                            continue
                        if is_critical and choice != (2 if state == 2 else 1):
                            continue
                        for age in range(classes):
                            total = paid
                            if not is_last:
                                low, high = costs[t + 1, i], costs[t + 1, i + 1]
                                lost = 0 if after >= 2 else after
                                kept = (1 - share) * low[has_spot, age, after] + share * high[has_spot, age, after]
                                if ages[age] > 0:
                                    older = (1 - share) * low[has_spot, age + 1, after]
                                    older += share * high[has_spot, age + 1, after]
                                    kept += ages[age] * (older - kept)
                                other = (1 - share) * low[1 - has_spot, 0, lost] + share * high[1 - has_spot, 0, lost]
                                total += ends[has_spot, age] * other + (1 - ends[has_spot, age]) * kept
                            costs[t, k, has_spot, age, state] = min(costs[t, k, has_spot, age, state], total)
    return costs
