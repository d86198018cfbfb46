"""Does what was built before still stand? From which step on must it be built anew?

The trace of the last build holds, for each step, the winner, its criterion and a bound on what the others could reach
there whatever the members have yet to receive. Time passes, transfers go on, workers come and go:

- Who goes without ever having been close to being chosen changes nothing. Where a chosen one goes, or one that was
  close, the steps before stand.
- Who comes, or has other needs than before, is compared with the winner of each step.
- Where winners have received something since, or time counts (criterion Y), the winner's criterion is formed anew at
  each step and compared with the bound. The bound stays valid: it was formed at an earlier time of the same
  iteration, and for workers that need the whole time of their own transfer or as if they needed none.

Whatever is nearer than a relative 1e-9 to the winner sends the step back to be built anew.
"""

from __future__ import annotations

import numpy as np

from online.coupled.kernels.build import CLEAR, LEAST, prepare
from online.coupled.kernels.compiling import NONE, ONE, WORD, kernel, lowest
from online.coupled.kernels.estimates import not_down_row, place_of_slots, whole_slots
from online.coupled.kernels.layout import BY_AY, BY_E, BY_P, BY_Y, Application, Choice, Plans, Standing, Tables, Trace
from online.coupled.kernels.nodes import fill

__all__ = ["review"]


@kernel(forceinline=True)
def review(
    application: Application,
    choice: Choice,
    tables: Tables,
    plans: Plans,
    trace: Trace,
    standing: Standing,
    gone: WORD,
    new: WORD,
    elapsed: int,
) -> int:
    """Return the first step that has to be built anew; m if none.

    Parameters
    ----------
    gone
        Workers that are UP no more.
    new
        UP workers that were not, or whose needs have changed.
    """
    criterion = choice.build
    capacities, n_com, num_tasks = application.capacities, application.n_com, application.tasks
    success, duration = plans.success, plans.duration
    built, before, need, alone = trace.built, trace.before, trace.need, trace.alone
    holders, stays, rows = trace.holders, tables.stays, tables.not_down_slots
    row_mask = rows.size - 1
    time = float(elapsed) if criterion == BY_Y else 0.0
    if gone & trace.close[0] != NONE or plans.count[0] + num_tasks >= plans.work.size:
        return 0
    stop = num_tasks
    chosen = plans.members[trace.node[num_tasks]]
    if gone & chosen != NONE:
        for k in range(num_tasks):
            if gone >> WORD(trace.worker[k]) & ONE:
                stop = k
                break
    is_moved = criterion == BY_Y or new & chosen != NONE
    if not is_moved and new == NONE:
        return stop
    rest = chosen | new if is_moved else new
    while rest != NONE:
        q = lowest(rest)
        rest &= rest - ONE
        built[q] = 0
        prepare(application, choice, tables, trace, standing, q)
    longest = 0.0
    needed = 0
    for k in range(stop):
        node = trace.node[k]
        num_holders = trace.num_holders[k]
        winner = trace.worker[k]
        if not is_moved:
            best = trace.best[k]
            longest = trace.longest[k]
            needed = trace.needed[k]
        else:
            trace.longest[k] = longest
            trace.needed[k] = needed
            x = built[winner]
            e_comm = max(longest, alone[winner])
            if num_holders + (x == 0) > n_com:
                e_comm = max(e_comm, (needed + need[winner] - before[winner]) / n_com)
            if criterion == BY_E:
                best = -(duration[node, winner] + e_comm)
            else:
                whole = whole_slots(e_comm)
                row = place_of_slots(whole, row_mask)
                if rows[row] != whole:
                    not_down_row(whole, rows, tables.not_down, stays, tables.matrices)
                best = success[node, winner]
                if x == 0:
                    best *= stays[row, winner]
                for h in range(num_holders):
                    best *= stays[row, holders[h]]
                if criterion == BY_Y or criterion == BY_AY:
                    best /= duration[node, winner] + e_comm + time
                if best < LEAST:
                    return k
            if not trace.rival[k] < best - CLEAR * abs(best):
                return k
            trace.best[k] = best
        clear = best - CLEAR * abs(best)
        rest = new
        while rest != NONE:
            q = lowest(rest)
            rest &= rest - ONE
            x = built[q]
            if q == winner or x == capacities[q]:
                continue
            computation = duration[node, q]
            if computation != computation:
                fill(application, choice, tables, plans, node, q, x + 1)
                computation = duration[node, q]
            if criterion == BY_E:
                bound = -computation
            elif criterion == BY_P:
                bound = success[node, q]
            else:
                bound = success[node, q] / (computation + time)
            if not bound < clear:
                e_comm = max(longest, alone[q])
                if num_holders + (x == 0) > n_com:
                    e_comm = max(e_comm, (needed + need[q] - before[q]) / n_com)
                if criterion == BY_E:
                    value = -(computation + e_comm)
                else:
                    whole = whole_slots(e_comm)
                    row = place_of_slots(whole, row_mask)
                    if rows[row] != whole:
                        not_down_row(whole, rows, tables.not_down, stays, tables.matrices)
                    value = success[node, q]
                    if x == 0:
                        value *= stays[row, q]
                    for h in range(num_holders):
                        value *= stays[row, holders[h]]
                    if criterion == BY_Y or criterion == BY_AY:
                        value /= computation + e_comm + time
                if not value < clear:
                    return k
                if e_comm == alone[q]:
                    bound = value
            trace.rival[k] = max(trace.rival[k], bound)
        if is_moved:
            longest = max(longest, alone[winner])
            needed += need[winner] - before[winner]
            built[winner] += 1
            if k + 1 < num_tasks and built[winner] < capacities[winner]:
                prepare(application, choice, tables, trace, standing, winner)
    if is_moved:
        trace.longest[stop] = longest
        trace.needed[stop] = needed
    return stop
