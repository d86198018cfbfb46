"""The policies `rr`, `sb` and `hot`: plan by the exact criterion, stand by, prefetch (docs/model.md section 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from instances.states import DOWN, UP
from online.coupled.ours.chances import Chances, chances_of
from online.coupled.visible import Decision, Problem, Visible

__all__ = ["CLEAR", "Builder", "Planner", "Rules"]

#: A configuration is better where its J is less by this part of it: more than rounding errors.
CLEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Rules:
    """What a planner does beside planning.

    Parameters
    ----------
    stands_by
        Every UP worker is enrolled and stays so until it is DOWN; who has no task in the plan is sent the program when
        channels are left. So programs and data survive a change of plan.
    prefetches
        Channels that are left then send data too, for tasks that a worker may get in a later plan.
    """

    stands_by: bool = True
    prefetches: bool = True


class Planner:
    """Hold a plan; in every slot build another one and take it if its J is less.

    A *plan* says how many tasks y_q each of its members shall compute. It ends with the iteration, or when a member is
    DOWN.

    - A plan is *built* task by task: each goes to the worker, UP or enrolled and RECLAIMED, that makes J of the tasks
      given so far least; ties go to the lowest index.
    - While the plan lacks something, the master serves its members, the largest need first. With ``stands_by`` it then
      sends programs to the others, the fastest worker first; with ``prefetches`` it then sends data: to any worker that
      has the program and could hold one task more than it has data for, the one with the least x_q w_q first, where x_q
      is the number of tasks with that one.
    - With ``prefetches`` the configuration enrols, in such a slot, the workers that are sent data with the tasks the data
      is of, as many as m allows, and everybody else with none. No computation is under way that a change could lose. A
      plan that lacks nothing and has not begun to compute because a member is RECLAIMED uses its slots so, too.

    Parameters
    ----------
    name
        What reports call it.
    rules
        What it does beside planning.
    value
        V, the slots that an iteration takes from its start: what a failure costs. None: found by pilot runs (see
        `online.coupled.ours.pilots`) in slot 0.
    """

    def __init__(self, name: str, rules: Rules, value: float | None = None) -> None:
        self.name = name
        self.rules = rules
        self._value = value
        self._builder: Builder | None = None
        self._plan: dict[int, int] = {}
        self._iteration = 0

    def choose(self, visible: Visible) -> Decision:
        """Return whom to enrol, and whom to serve in which order."""
        if visible.slot == 0 or self._builder is None:
            self._builder = Builder(chances_of(visible.problem), self._value_for(visible.problem))
            self._plan = {}
        if visible.iteration != self._iteration or any(visible.now[q] == DOWN for q in self._plan):
            self._plan = {}
        self._iteration = visible.iteration
        built = self._builder.build(visible)
        if built is not None and built != self._plan:
            held = self._builder.worth(visible, self._plan, visible.computed) if self._plan else None
            if held is None or self._builder.worth(visible, built) < held - CLEAR * abs(held):
                self._plan = built
        return self._arranged(visible)

    def _value_for(self, problem: Problem) -> float:
        if self._value is not None:
            return self._value
        from online.coupled.ours.pilots import value_of  # noqa: PLC0415  # loads numba

        return value_of(problem, self.rules)

    def _arranged(self, visible: Visible) -> Decision:
        """Return the configuration that serves the plan in this slot."""
        problem, plan, now = visible.problem, self._plan, visible.now
        others = [q for q in may_hold(visible) if q not in plan] if self.rules.stands_by else []
        asked = dict(plan) | dict.fromkeys(others, 0)
        needs = {q: visible.needs(q, y) for q, y in plan.items()}
        is_loaded = bool(plan) and not any(needs.values())
        is_waiting = is_loaded and not visible.computed and any(now[q] != UP for q in plan)
        if is_loaded and not (is_waiting and self.rules.prefetches):
            return Decision(asked)
        served = sorted((q for q in needs if needs[q] and now[q] == UP), key=lambda q: (-needs[q], q))
        served = served[: self._channels(problem)]
        without = [q for q in others if now[q] == UP and visible.program[q] < problem.t_prog]
        serve = (served + sorted(without, key=lambda q: (problem.w[q], q)))[: self._channels(problem)]
        if self.rules.prefetches:
            asked = dict.fromkeys(asked, 0)
            for q in served:
                if visible.program[q] == problem.t_prog:
                    asked[q] = _next_task(visible, q)
            self._prefetch(visible, asked, serve)
        return Decision(asked, serve)

    def _prefetch(self, visible: Visible, asked: dict[int, int], serve: list[int]) -> None:
        """Give the channels that are left to data: add to whom is served, and with how many tasks."""
        problem = visible.problem
        if not problem.t_data:
            return
        able = [q for q in asked if q not in serve and visible.now[q] == UP and visible.program[q] == problem.t_prog]
        able = [q for q in able if _next_task(visible, q) <= problem.capacities[q]]
        for q in sorted(able, key=lambda q: (_next_task(visible, q) * problem.w[q], q)):
            if len(serve) == self._channels(problem):
                break
            x = _next_task(visible, q)
            if sum(asked.values()) + x <= problem.tasks:
                asked[q] = x
                serve.append(q)

    @staticmethod
    def _channels(problem: Problem) -> int:
        return problem.num_workers if problem.n_com is None else min(problem.n_com, problem.num_workers)


class Builder:
    """Build plans by J, and say what a plan is worth.

    Parameters
    ----------
    chances
        The criterion.
    value
        V.
    """

    def __init__(self, chances: Chances, value: float) -> None:
        self._chances = chances
        self._value = value

    def worth(self, visible: Visible, plan: Mapping[int, int], done: int = 0) -> float:
        """Return J of a plan with ``done`` slots of computation done."""
        needs = [visible.needs(q, y) for q, y in plan.items()]
        return self._chances.attempt_with(plan, visible.now, needs, done).worth(self._value)

    def build(self, visible: Visible) -> dict[int, int] | None:
        """Return the plan built in this slot, by worker; None if the workers cannot hold m tasks."""
        problem = visible.problem
        able: Sequence[int] = may_hold(visible)
        if sum(problem.capacities[q] for q in able) < problem.tasks:
            return None
        plan: dict[int, int] = {}
        for _ in range(problem.tasks):
            best, least = -1, 0.0
            for q in able:
                if plan.get(q, 0) < problem.capacities[q]:
                    worth = self.worth(visible, _with_one_more(plan, q))
                    if best < 0 or worth < least - CLEAR * abs(least):
                        best, least = q, worth
            plan = _with_one_more(plan, best)
        return plan


def may_hold(visible: Visible) -> list[int]:
    """Return the workers that a plan may count on: UP, or enrolled and RECLAIMED."""
    return [q for q, state in enumerate(visible.now) if state == UP or (state != DOWN and q in visible.tasks)]


def _next_task(visible: Visible, q: int) -> int:
    """Return the tasks of which a worker would have data with the one that it can be sent next."""
    return visible.data[q] // visible.problem.t_data + 1 if visible.problem.t_data else 0


def _with_one_more(plan: Mapping[int, int], q: int) -> dict[int, int]:
    return dict(sorted({**plan, q: plan.get(q, 0) + 1}.items()))
