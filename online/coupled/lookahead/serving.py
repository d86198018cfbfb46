"""The configuration that a plan enrols in a slot, and the workers that the master serves."""

from __future__ import annotations

from collections.abc import Mapping

from hindsched.instances.states import UP
from hindsched.online.coupled.lookahead.parameters import PlannerOptions
from hindsched.online.coupled.lookahead.plans import eligible_workers
from hindsched.online.coupled.visible import Decision, Problem, Visible

__all__ = ["arrange"]


def arrange(visible: Visible, plan: Mapping[int, int], options: PlannerOptions) -> Decision:
    """Return the configuration that serves the plan in this slot."""
    problem, now = visible.problem, visible.now
    others = [q for q in eligible_workers(visible) if q not in plan] if options.stands_by else []
    tasks = dict(plan) | dict.fromkeys(others, 0)
    needs = {q: visible.needs(q, y) for q, y in plan.items()}
    is_loaded = bool(plan) and not any(needs.values())
    is_waiting = is_loaded and not visible.computed and any(now[q] != UP for q in plan)
    if is_loaded and not (is_waiting and options.prefetches):
        return Decision(tasks)
    served = sorted((q for q in needs if needs[q] and now[q] == UP), key=lambda q: (-needs[q], q))
    served = served[: _channels(problem)]
    without = [q for q in others if now[q] == UP and visible.program[q] < problem.t_prog]
    serve = (served + sorted(without, key=lambda q: (problem.w[q], q)))[: _channels(problem)]
    if options.prefetches:
        tasks = dict.fromkeys(tasks, 0)
        for q in served:
            if visible.program[q] == problem.t_prog:
                tasks[q] = _next_task(visible, q)
        _prefetch(visible, tasks, serve)
    return Decision(tasks, serve)


def _prefetch(visible: Visible, tasks: dict[int, int], serve: list[int]) -> None:
    """Use the free channels for data: add workers to ``serve``, and their tasks to ``tasks``."""
    problem = visible.problem
    if not problem.t_data:
        return
    able = [q for q in tasks if q not in serve and visible.now[q] == UP and visible.program[q] == problem.t_prog]
    able = [q for q in able if _next_task(visible, q) <= problem.capacities[q]]
    for q in sorted(able, key=lambda q: (_next_task(visible, q) * problem.w[q], q)):
        if len(serve) == _channels(problem):
            break
        x = _next_task(visible, q)
        if sum(tasks.values()) + x <= problem.tasks:
            tasks[q] = x
            serve.append(q)


def _channels(problem: Problem) -> int:
    return problem.num_workers if problem.n_com is None else min(problem.n_com, problem.num_workers)


def _next_task(visible: Visible, q: int) -> int:
    """Return the number of tasks for which a worker has data after the next one is sent."""
    return visible.data[q] // visible.problem.t_data + 1 if visible.problem.t_data else 0
