"""Our own policies: plan by the exact criterion, stand by, prefetch, look at sampled futures (docs/beyond.md)."""

from __future__ import annotations

from hindsched.instances.states import DOWN
from hindsched.online.coupled.lookahead.attempts import chances_of
from hindsched.online.coupled.lookahead.parameters import Rules, Settings
from hindsched.online.coupled.lookahead.plans import Builder, is_less
from hindsched.online.coupled.lookahead.rollout import best_plan
from hindsched.online.coupled.lookahead.serving import arranged
from hindsched.online.coupled.visible import Decision, Problem, Visible

__all__ = ["Planner"]


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
    - With ``prefetches`` the configuration enrols, in such a slot, the workers that are sent data with the tasks that
      it is of, as many as m allows, and everybody else with none. No computation is under way that a change could lose.
      A plan that lacks nothing and has not begun to compute because a member is RECLAIMED uses its slots so, too.

    Parameters
    ----------
    name
        What reports call it.
    rules
        What it does beside planning.
    settings
        What is set for the problem. None: found in slot 0 by `hindsched.online.coupled.lookahead.pilot_runs`.
    """

    def __init__(self, name: str, rules: Rules, settings: Settings | None = None) -> None:
        self.name = name
        self.rules = rules
        self._settings = settings
        self._now = Settings(0.0)
        self._builder: Builder | None = None
        self._plan: dict[int, int] = {}
        self._iteration = 0

    def choose(self, visible: Visible) -> Decision:
        """Return whom to enrol, and whom to serve in which order."""
        if visible.slot == 0 or self._builder is None:
            self._now = self.settings_for(visible.problem)
            self._builder = Builder(chances_of(visible.problem), self._now.value)
            self._plan = {}
        if visible.iteration != self._iteration or any(visible.now[q] == DOWN for q in self._plan):
            self._plan = {}
        self._iteration = visible.iteration
        self._plan = self._next_plan(visible, self._builder) or self._plan
        return arranged(visible, self._plan, self.rules)

    def _next_plan(self, visible: Visible, builder: Builder) -> dict[int, int] | None:
        """Return the plan to hold; None to keep what is held, if anything."""
        if self._now.futures:
            return best_plan(visible, self._plan, builder, self._now, self.rules)
        built = self._built(visible, builder)
        if built is not None and built != self._plan:
            held = builder.worth(visible, self._plan, visible.computed) if self._plan else None
            if held is None or is_less(builder.worth(visible, built), held):
                return built
        return None

    def settings_for(self, problem: Problem) -> Settings:
        """Return the settings for a problem."""
        if self._settings is not None:
            return self._settings
        from hindsched.online.coupled.lookahead.pilot_runs import settings_of  # noqa: PLC0415  # loads numba

        return settings_of(problem, self.rules)

    def _built(self, visible: Visible, builder: Builder) -> dict[int, int] | None:
        """Return the plan built in this slot, with exchanges from there and from the plan held where there are any."""
        built = builder.build(visible)
        if built is None or not self._now.exchanges:
            return built
        built = builder.improve(visible, built)
        if self._plan:
            other = builder.improve(visible, self._plan)
            if is_less(builder.worth(visible, other), builder.worth(visible, built)):
                return other
        return built
