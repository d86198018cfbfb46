"""Dominance: a label is dropped if another label can do all that it can do.

(k, t1, H1) dominates (k, t2, H2) if t1 <= t2 and every worker of H2 is in H1 and not DOWN in t1..t2-1, or belongs to a
set Z to which the channel can send the program in t1..t2-1 after their last DOWN slot before t2 (a flow, see
`channel_flow`); without stand-by, Z is empty. docs/native_search.md has the proof.

The relaxed mode charges the programs of Z to the channel as well: workers of Z may compute in the next iteration, and
then their programs are not free. Symmetric workers may be exchanged: a worker r of H1 that is not DOWN in t1..t2-1 and
not in H2 can replace a worker q of H2 if both have equal w and mu and are UP from t2 to the horizon
(`_take_symmetric`). Each r replaces one q.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Words
from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.search.bitsets import add, assign, has, popcount
from hindsched.offline.coupled.search.channel_flow import YES, can_send
from hindsched.offline.coupled.search.effort import LIMIT, SPENT, STOP
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.labels import Labels
from hindsched.offline.coupled.search.modes import NO_STAND_BY
from hindsched.offline.coupled.search.normal_form import is_up_throughout
from hindsched.offline.coupled.search.search_arrays import SearchArrays
from hindsched.offline.coupled.search.state_tables import Table

DOMINANCE_EFFORT = 1 << 16
"""Units of effort for one dominance test; a label is kept if they do not suffice."""


@kernel
def is_dominated(
    arrays: SearchArrays, labels: Labels, mode: int, done: int, t: int, held: Words, horizon: int, skip: int
) -> bool:
    """Return whether a label other than `skip` that is not dropped is known to dominate (done, t, held)."""
    effort = arrays.scratch.effort
    effort[LIMIT] = min(effort[SPENT] + DOMINANCE_EFFORT, effort[STOP])
    tested = 0
    i = labels.newest[done]
    while i >= 0:
        tested += 1
        start = labels.start[i]
        is_candidate = not labels.is_dropped[i] and i != skip and start <= t
        if is_candidate and covers(arrays, mode, start, labels.held[i], t, held, horizon):
            effort[SPENT] += 1 + tested // 4
            return True
        i = labels.older[i]
    effort[SPENT] += 1 + tested // 4
    return False


@kernel
def covers(arrays: SearchArrays, mode: int, start: int, held_before: Words, t: int, held: Words, horizon: int) -> bool:
    """Return whether `held` can be the holders in slot t if `held_before` are the holders in slot `start` <= t.

    Workers that are symmetric until slot `horizon` may be exchanged.
    """
    table, problem, scratch = arrays
    parts = scratch.participants
    n = _missing(arrays, mode, start, held_before, t, held, horizon)
    # At most n_com of them never wait for the channel, and `_missing` has counted their UP slots.
    if n > problem.n_com:
        for j in range(n):
            parts.program[j] = problem.t_prog
        return bool(can_send(table, scratch.flow, parts, parts.program, n, problem.n_com, start, t) == YES)
    return bool(n >= 0)


@inlined
def _missing(arrays: SearchArrays, mode: int, start: int, held_before: Words, t: int, held: Words, horizon: int) -> int:
    """Make the set Z participants: the workers of `held` that lack the program if `held_before` held it in `start`.

    Returns their number, or -1 if one of them cannot receive the program by slot t.
    """
    table, problem = arrays.table, arrays.problem
    parts, exchanged = arrays.scratch.participants, arrays.scratch.exchanged
    n = 0
    may_exchange = False
    for k in range(problem.num_words):
        bits = held[k]
        while bits:
            lowest = bits & (~bits + np.uint64(1))
            bits ^= lowest
            q = 64 * k + popcount(lowest - np.uint64(1))
            period_start = table.down[t - 1, q] + 1 if t > 0 else 0
            if period_start <= start and held_before[k] & lowest:
                continue
            if is_up_throughout(table, q, t, horizon):
                if not may_exchange:
                    may_exchange = True
                    assign(exchanged, held)
                if _take_symmetric(table, problem, held_before, exchanged, q, start, t, horizon):
                    continue
            parts.worker[n] = q
            parts.receive_from[n] = max(period_start, start)
            if mode == NO_STAND_BY or table.cnt[t, q] - table.cnt[parts.receive_from[n], q] < problem.t_prog:
                return -1
            n += 1
    return n


@kernel
def _take_symmetric(
    table: Table, problem: Problem, held: Words, taken: Words, q: int, start: int, t: int, horizon: int
) -> bool:
    """Take a worker that holds the program from `start` to t and is symmetric to q from t on; False without one."""
    for k in range(problem.num_words):
        if held[k] & ~taken[k]:
            for r in range(64 * k, min(problem.p, 64 * k + 64)):
                if (
                    problem.kind[r] == problem.kind[q]
                    and has(held, r)
                    and not has(taken, r)
                    and is_up_throughout(table, r, t, horizon)
                    and (t == 0 or table.down[t - 1, r] < start)
                ):
                    add(taken, r)
                    return True
    return False
