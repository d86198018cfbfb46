"""Which labels matter: a label is dropped if another one can do whatever it can.

**Dominance.** Let (k, t1, H1) and (k, t2, H2) be labels with t1 <= t2, such that every worker
of H2 is in H1 and not DOWN in [t1, t2), or belongs to a set Z; and, with stand-by, all of Z can be
sent the program in slots [t1, t2) after their last DOWN before t2 (a flow, as in `transfer`);
without stand-by, Z is empty. Then every completion of the second label is matched by one of
the first that ends no later: the second can be dropped.

*Proof.* Take a completion from (t2, H2), its first iteration in slots t2..e. From (t1, H1) start
that iteration in t1 instead: send Z its programs in [t1, t2), with no worker computing (the
configuration is incomplete), then do as the second schedule does. At t2 at least the workers of
H2 hold the program, and the master is as free as there. This is a valid iteration in t1..e, after
which the holders include those of the second schedule; with more holders, everything the second
does later can be done too. The last slot is the same. QED

In the relaxed search, where programs for stand-by workers are free, Z is charged to the channel as well: workers of Z
may compute in that very iteration, and then their programs are not free.

Symmetric workers may be exchanged in this: let r be in H1 and not DOWN in [t1, t2), not in H2, and let q in H2 and r
have equal w and mu and both be UP in all slots from t2 to the end of what is of interest. Then r may
stand for q (`_take_symmetric`): exchange q and r in the completion of the second label, which is valid from H2
with r for q. Each r stands for one q.

With stand-by this leaves very few labels: whoever ends later must have gained, meanwhile, a
program that an idle master could not have delivered.
"""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Words
from hindsched.instances.compiling import inlined, kernel
from hindsched.offline.coupled.search.bitsets import add, assign, has, popcount
from hindsched.offline.coupled.search.channel_flow import can_send
from hindsched.offline.coupled.search.constants import DOMINANCE_EFFORT, LIMIT, OWN, SPENT, STOP, YES
from hindsched.offline.coupled.search.instance_arrays import Problem
from hindsched.offline.coupled.search.labels import Labels
from hindsched.offline.coupled.search.normal_form import is_up_throughout
from hindsched.offline.coupled.search.scratch_memory import Scratch
from hindsched.offline.coupled.search.state_tables import Table


@kernel
def is_dominated(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    labels: Labels,
    mode: int,
    done: int,
    t: int,
    held: Words,
    horizon: int,
    skip: int,
) -> bool:
    """Return whether (done, t, held) is known to be dominated by a living label other than `skip`."""
    effort = scratch.effort
    effort[LIMIT] = min(effort[SPENT] + DOMINANCE_EFFORT, effort[STOP])
    looked_at = 0
    i = labels.newest[done]
    while i >= 0:
        looked_at += 1
        start = labels.start[i]
        is_of_use = not labels.is_dropped[i] and i != skip and start <= t
        if is_of_use and covers(table, problem, scratch, mode, start, labels.held[i], t, held, horizon):
            effort[SPENT] += 1 + looked_at // 4
            return True
        i = labels.older[i]
    effort[SPENT] += 1 + looked_at // 4
    return False


@kernel
def covers(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    mode: int,
    start: int,
    held_before: Words,
    t: int,
    held: Words,
    horizon: int,
) -> bool:
    """Return whether `held` can hold the program in slot t if `held_before` do in slot `start`, not after t.

    Symmetric workers are exchanged where it is known that they are so until slot `horizon`.
    """
    parts = scratch.participants
    n = _missing(table, problem, scratch, mode, start, held_before, t, held, horizon)
    # With at most n_com of them each has the channel whenever it is UP, and `_missing` has seen to that.
    if n > problem.n_com:
        for j in range(n):
            parts.program[j] = problem.t_prog
        return bool(can_send(table, scratch.flow, parts, parts.program, n, problem.n_com, start, t) == YES)
    return bool(n >= 0)


@inlined
def _missing(
    table: Table,
    problem: Problem,
    scratch: Scratch,
    mode: int,
    start: int,
    held_before: Words,
    t: int,
    held: Words,
    horizon: int,
) -> int:
    """List as participants the set Z: those of `held` that lack the program if it was `held_before` in slot `start`.

    Returns how many they are; -1 if one of them cannot be sent the program by slot t.
    """
    parts, exchanged = scratch.participants, scratch.exchanged
    n = 0
    may_exchange = False
    for k in range(problem.num_words):
        bits = held[k]
        while bits:
            lowest = bits & (~bits + np.uint64(1))
            bits ^= lowest
            q = 64 * k + popcount(lowest - np.uint64(1))
            born = table.down[t - 1, q] + 1 if t > 0 else 0  # the first slot of q's availability period
            if born <= start and held_before[k] & lowest:
                continue
            if is_up_throughout(table, q, t, horizon):
                if not may_exchange:
                    may_exchange = True
                    assign(exchanged, held)
                if _take_symmetric(table, problem, held_before, exchanged, q, start, t, horizon):
                    continue
            parts.worker[n] = q
            parts.receive_from[n] = max(born, start)
            if mode == OWN or table.cnt[t, q] - table.cnt[parts.receive_from[n], q] < problem.t_prog:
                return -1
            n += 1
    return n


@kernel
def _take_symmetric(
    table: Table, problem: Problem, held: Words, taken: Words, q: int, start: int, t: int, horizon: int
) -> bool:
    """Take a worker that held the program from `start` to t and is symmetric to q from t on; False if there is none."""
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
