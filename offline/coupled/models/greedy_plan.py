"""A greedy schedule: each iteration ends as early as a short search finds, one after the other.

For each iteration the prefetch relaxation is searched, slot by slot, for an iteration that can end there, where workers
hold the programs that they hold in the schedule. The first one that the master can serve is taken. No worker receives a
program for a later iteration, so the schedule is valid without stand-by too.
"""

from __future__ import annotations

from collections.abc import Sequence

from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import DOWN, UP
from hindsched.offline.coupled.bounds.prefetch_relaxation import Budget, PrefetchRelaxation, RelaxedIteration
from hindsched.offline.coupled.plans import IterationPlan, end_of, holds_program, receive
from hindsched.offline.limits import OutOfTimeError, Stopwatch

__all__ = ["greedy_plan"]

_NODES_PER_LENGTH = 300  # of the search for one last slot and one length
_MAX_NODES = 200_000  # of one plan


def greedy_plan(
    relaxation: PrefetchRelaxation, iterations: int | None, watch: Stopwatch, begun: Sequence[IterationPlan] = ()
) -> list[IterationPlan]:
    """Return a plan of ``iterations`` iterations that continues ``begun``; None: as many iterations as fit.

    It has fewer iterations if no further one is found in the remaining slots, within the nodes, or in time: that of
    ``watch`` or of the relaxation.
    """
    instance = relaxation.instance
    left = Budget(_MAX_NODES)
    plan = list(begun)
    end = end_of(instance, plan[-1]) if plan else -1
    received: dict[int, int] = {}
    for iteration in plan:
        received = receive(instance, iteration, received)
    while end is not None and (iterations is None or len(plan) < iterations):
        start = end + 1
        holders = {q for q in received if holds_program(instance, q, received, start)}
        try:
            following = _next_iteration(relaxation, start, holders, left, watch)
        except OutOfTimeError:
            break
        if following is None:
            break
        plan.append(following)
        received = receive(instance, following, received)
        end = end_of(instance, following)
    return plan


def _next_iteration(
    relaxation: PrefetchRelaxation, start: int, holders: set[int], left: Budget, watch: Stopwatch
) -> IterationPlan | None:
    instance = relaxation.instance
    credit = [instance.t_prog if q in holders else 0 for q in range(instance.num_workers)]
    for end, length in relaxation.candidates(start, credit):
        if watch.is_over() or left.nodes == 0:
            return None
        budget = Budget(min(_NODES_PER_LENGTH, left.nodes))
        before = budget.nodes
        for relaxed in relaxation.search(start, credit, end, length, budget):
            service = _serve(instance, relaxed, start, holders)
            if service is not None:
                return IterationPlan(relaxed.tasks, service, relaxed.start)
        left.nodes -= before - budget.nodes
    return None


def _serve(instance: Instance, relaxed: RelaxedIteration, start: int, holders: set[int]) -> dict[int, list[int]] | None:
    """Return slots that serve the members of an iteration, least slack first, or None if that rule fails.

    The slack of a member is the number of its remaining UP slots less its needs; ties go to the lowest index.
    """
    needs: dict[int, int] = {}
    slots: dict[int, list[int]] = {}
    for q, tasks in relaxed.tasks.items():
        states = instance.states[q, start : relaxed.end + 1]
        downs = (states == DOWN).nonzero()[0]
        since = start + (int(downs[-1]) + 1 if downs.size else 0)
        holds = q in holders and not downs.size
        needs[q] = tasks * instance.t_data + (0 if holds else instance.t_prog)
        up = (instance.states[q, since : relaxed.start] == UP).nonzero()[0] + since
        slots[q] = up.tolist()
    service: dict[int, list[int]] = {q: [] for q, need in needs.items() if need}
    for slot in range(start, relaxed.start):
        waiting = [q for q, need in needs.items() if need and slots[q] and slots[q][0] == slot]
        waiting.sort(key=lambda q: (len(slots[q]) - needs[q], q))
        for q in waiting:
            slots[q].pop(0)
        for q in waiting[: instance.channels]:
            service[q].append(slot)
            needs[q] -= 1
    return None if any(needs.values()) else service
