"""From a label to the plan of its schedule."""

from __future__ import annotations

import numpy as np

from hindsched.instances.array_types import Ints
from hindsched.instances.errors import SelfCheckError
from hindsched.offline.coupled.plans import IterationPlan
from hindsched.offline.coupled.search.bitsets import has
from hindsched.offline.coupled.search.channel_flow import YES, Flow, Participants, send
from hindsched.offline.coupled.search.effort import LIMIT
from hindsched.offline.coupled.search.holders import can_serve_all
from hindsched.offline.coupled.search.labels import Labels
from hindsched.offline.coupled.search.modes import NO_STAND_BY
from hindsched.offline.coupled.search.normal_form import prepare
from hindsched.offline.coupled.search.search_arrays import SearchArrays
from hindsched.offline.coupled.search.slot_codes import NEVER


def _chain(labels: Labels, label: int) -> list[int]:
    """Return the labels from the first iteration's to `label`."""
    chain = []
    while label > 0:
        chain.append(label)
        label = int(labels.parent[label])
    return chain[::-1]


def make_plan(arrays: SearchArrays, labels: Labels, label: int, mode: int, horizon: int) -> tuple[IterationPlan, ...]:
    """Return the plan of the schedule of `label`, without programs that no later iteration uses.

    The flows of the search are solved again, for the same sets, because they give task counts and transfer slots.
    """
    problem, scratch = arrays.problem, arrays.scratch
    scratch.effort[LIMIT] = NEVER
    steps = []
    workers = np.arange(problem.p)
    later: set[int] = set()  # workers that a later iteration needs as holders
    for i in reversed(_chain(labels, label)):
        parent = int(labels.parent[i])
        s, e = int(labels.start[parent]), int(labels.start[i]) - 1
        prepare(arrays.table, problem, scratch.needs, s, e, labels.held[parent], horizon)
        computing = [q for q in range(problem.p) if has(labels.members[i], q)]
        needs = scratch.needs
        has_program = needs.data_base == arrays.table.cnt[needs.receive_from, workers]
        before = set(has_program.nonzero()[0].tolist())
        standby = sorted(later - before - set(computing)) if mode != NO_STAND_BY else []
        later = (later | set(computing)) & before
        steps.append(_plan_iteration(arrays, labels, i, computing, standby))
    return tuple(reversed(steps))


def _plan_iteration(
    arrays: SearchArrays, labels: Labels, i: int, computing: list[int], standby: list[int]
) -> IterationPlan:
    """Return the tasks and transfer slots of the last iteration of label i."""
    scratch = arrays.scratch
    s, e = int(labels.start[labels.parent[i]]), int(labels.start[i]) - 1
    c, iw = int(labels.c[i]), int(labels.iw[i])
    size, n = len(computing), len(computing) + len(standby)
    workers = np.array(computing + standby, np.int64)
    if can_serve_all(arrays, workers, s, c, iw, size) != YES:
        raise SelfCheckError(f"iteration in slots {s}..{e}: found no task counts, expected those of the search")
    parts = scratch.participants
    tasks = [int(x) for x in parts.tasks[:size]] + [0] * len(standby)
    need: Ints = parts.program[:n] + np.array(tasks, np.int64) * arrays.problem.t_data
    if send(arrays.table, scratch.flow, parts, need, n, arrays.problem.n_com, s, c) != YES:
        raise SelfCheckError(f"iteration in slots {s}..{e}: found no transfer slots, expected those of the search")
    service = service_of(scratch.flow, parts, n, s, c)
    return IterationPlan(dict(sorted(zip(computing, tasks, strict=False))), service, c)


def service_of(flow: Flow, parts: Participants, n: int, s: int, c: int) -> dict[int, tuple[int, ...]]:
    """Return the slots of s..c-1 in which the last `send` serves each worker, by ascending worker."""
    sent = flow.sent[: n * (c - s)].reshape(c - s, n).T
    service = {int(parts.worker[j]): tuple((sent[j].nonzero()[0] + s).tolist()) for j in range(n) if sent[j].any()}
    return dict(sorted(service.items()))
