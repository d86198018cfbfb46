"""Whom a plan enrols in a slot, and whom the master serves."""

from __future__ import annotations

from collections.abc import Mapping

from hindsched.instances.states import UP
from hindsched.online.coupled.lookahead.parameters import Rules
from hindsched.online.coupled.lookahead.plans import may_hold
from hindsched.online.coupled.visible import Decision, Problem, Visible

__all__ = ["arranged"]


def arranged(visible: Visible, plan: Mapping[int, int], rules: Rules) -> Decision:
    """Return the configuration that serves the plan in this slot."""
    problem, now = visible.problem, visible.now
    others = [q for q in may_hold(visible) if q not in plan] if rules.stands_by else []
    asked = dict(plan) | dict.fromkeys(others, 0)
    needs = {q: visible.needs(q, y) for q, y in plan.items()}
    is_loaded = bool(plan) and not any(needs.values())
    is_waiting = is_loaded and not visible.computed and any(now[q] != UP for q in plan)
    if is_loaded and not (is_waiting and rules.prefetches):
        return Decision(asked)
    served = sorted((q for q in needs if needs[q] and now[q] == UP), key=lambda q: (-needs[q], q))
    served = served[: _channels(problem)]
    without = [q for q in others if now[q] == UP and visible.program[q] < problem.t_prog]
    serve = (served + sorted(without, key=lambda q: (problem.w[q], q)))[: _channels(problem)]
    if rules.prefetches:
        asked = dict.fromkeys(asked, 0)
        for q in served:
            if visible.program[q] == problem.t_prog:
                asked[q] = _next_task(visible, q)
        _prefetch(visible, asked, serve)
    return Decision(asked, serve)


def _prefetch(visible: Visible, asked: dict[int, int], serve: list[int]) -> None:
    """Give the channels that are left to data: add to whom is served, and with how many tasks."""
    problem = visible.problem
    if not problem.t_data:
        return
    able = [q for q in asked if q not in serve and visible.now[q] == UP and visible.program[q] == problem.t_prog]
    able = [q for q in able if _next_task(visible, q) <= problem.capacities[q]]
    for q in sorted(able, key=lambda q: (_next_task(visible, q) * problem.w[q], q)):
        if len(serve) == _channels(problem):
            break
        x = _next_task(visible, q)
        if sum(asked.values()) + x <= problem.tasks:
            asked[q] = x
            serve.append(q)


def _channels(problem: Problem) -> int:
    return problem.num_workers if problem.n_com is None else min(problem.n_com, problem.num_workers)


def _next_task(visible: Visible, q: int) -> int:
    """Return the tasks of which a worker would have data with the one that it can be sent next."""
    return visible.data[q] // visible.problem.t_data + 1 if visible.problem.t_data else 0
