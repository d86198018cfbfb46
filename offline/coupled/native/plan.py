"""From labels to the plan of a schedule."""

from __future__ import annotations

import numpy as np

from instances.errors import SelfCheckError
from offline.coupled.emit import IterationPlan
from offline.coupled.native.constants import LIMIT, NEVER, OWN, YES
from offline.coupled.native.holders import enlist, fits
from offline.coupled.native.iteration import Space, prepare
from offline.coupled.native.kernels import Ints, has
from offline.coupled.native.labels import Labels
from offline.coupled.native.parameters import Problem
from offline.coupled.native.state_tables import Table
from offline.coupled.native.transfer import send


def _chain(lab: Labels, label: int) -> list[int]:
    """Return the labels from the first iteration's to `label`."""
    chain = []
    while label > 0:
        chain.append(label)
        label = int(lab.parent[label])
    return chain[::-1]


def make_plan(
    tab: Table, prob: Problem, spc: Space, lab: Labels, label: int, mode: int, horizon: int
) -> tuple[IterationPlan, ...]:
    """Spell out the iterations that lead to `label`, leaving out programs that nobody uses.

    The flow questions of the search are asked again, for the same sets, to get their answers in
    full.
    """
    spc.effort[LIMIT] = NEVER
    steps = []
    later: set[int] = set()  # workers whose program a later iteration takes for granted
    for i in reversed(_chain(lab, label)):
        s, e = int(lab.start[lab.parent[i]]), int(lab.start[i]) - 1
        prepare(tab, prob, spc, s, e, lab.held[lab.parent[i]], horizon)
        c, iw = int(lab.c[i]), int(lab.iw[i])
        computing = [q for q in range(prob.p) if has(lab.members[i], q)]
        before = {q for q in range(prob.p) if spc.base[q] == tab.cnt[spc.lo[q], q]}
        standby = sorted(later - before - set(computing)) if mode != OWN else []
        later = (later | set(computing)) & before
        steps.append(_spell_out(tab, prob, spc, s, c, e, iw, computing, standby))
    return tuple(reversed(steps))


def _spell_out(
    tab: Table,
    prob: Problem,
    spc: Space,
    s: int,
    c: int,
    e: int,
    iw: int,
    computing: list[int],
    standby: list[int],
) -> IterationPlan:
    ns, n = len(computing), len(computing) + len(standby)
    for j, q in enumerate(computing + standby):
        enlist(tab, prob, spc, j, q, c, iw, j < ns)
    if fits(tab, prob, spc, s, c, ns, n) != YES:
        raise SelfCheckError(f"iteration in slots {s}..{e} cannot be spelled out")
    tasks = [int(x) for x in spc.x[:ns]] + [0] * (n - ns)
    need: Ints = spc.part_prog[:n] + np.array(tasks, np.int64) * prob.t_data
    if send(tab, spc.flow, prob.n_com, s, c, spc.part, need, spc.part_lo, n) != YES:
        raise SelfCheckError(f"iteration in slots {s}..{e} cannot be served")
    sent = spc.flow.sent[: n * (c - s)].reshape(c - s, n).T
    service = {int(spc.part[j]): tuple(int(t) + s for t in sent[j].nonzero()[0]) for j in range(n) if need[j] > 0}
    return IterationPlan(dict(sorted(zip(computing, tasks, strict=False))), dict(sorted(service.items())), c)
