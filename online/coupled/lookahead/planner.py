"""The planner: plan by the exact criterion, stand by, prefetch, compare on sampled futures (docs/lookahead.md)."""

from __future__ import annotations

from hindsched.instances.states import DOWN
from hindsched.online.coupled.lookahead.attempts import attempt_model, with_hazard
from hindsched.online.coupled.lookahead.parameters import PlannerOptions, Settings
from hindsched.online.coupled.lookahead.plans import PlanBuilder, is_less
from hindsched.online.coupled.lookahead.rollout import best_plan
from hindsched.online.coupled.lookahead.serving import arrange
from hindsched.online.coupled.visible import Decision, Problem, Visible

__all__ = ["Planner"]


class Planner:
    """Hold a plan; in every slot build another one and take it if its J is smaller.

    A *plan* gives the number of tasks y_q that each of its members computes. It ends with the iteration, or when a
    member is DOWN.

    - A plan is *built* task by task. Each task goes to the worker, UP or enrolled and RECLAIMED, that minimises J of
      the tasks assigned so far; ties go to the lowest index.
    - While the plan lacks something, the master serves its members, the largest need first. With ``stands_by`` it then
      sends programs to the others, the fastest worker first. With ``prefetches`` it then sends data to workers that
      have the program and room for one more task than they have data for. The worker with the least x_q w_q is first,
      where x_q counts that task.
    - With ``prefetches``, the configuration of such a slot enrols the workers that receive data with the corresponding
      tasks, as many as m allows, and all others with no task. No computation can be lost by this. The same holds for a
      plan that lacks nothing and has not begun to compute because a member is RECLAIMED.

    Parameters
    ----------
    name
        Its name in reports.
    options
        The options of the policy.
    settings
        The settings for the problem. None: found in slot 0 by `hindsched.online.coupled.lookahead.pilot_runs`.
    """

    def __init__(self, name: str, options: PlannerOptions, settings: Settings | None = None) -> None:
        self.name = name
        self.options = options
        self._settings = settings
        self._now = Settings(0.0)
        self._builder: PlanBuilder | None = None
        self._plan: dict[int, int] = {}
        self._iteration = 0

    def choose(self, visible: Visible) -> Decision:
        """Return the workers to enrol, and the order in which to serve them."""
        if visible.slot == 0 or self._builder is None:
            self._now = self.settings_for(visible.problem)
            problem = with_hazard(visible.problem, self._now.hazard)
            self._builder = PlanBuilder(attempt_model(problem), self._now.value)
            self._plan = {}
        if visible.iteration != self._iteration or any(visible.now[q] == DOWN for q in self._plan):
            self._plan = {}
        self._iteration = visible.iteration
        self._plan = self._next_plan(visible, self._builder) or self._plan
        return arrange(visible, self._plan, self.options)

    def _next_plan(self, visible: Visible, builder: PlanBuilder) -> dict[int, int] | None:
        """Return the plan to hold; None to keep the present one, if any."""
        if self._now.futures:
            return best_plan(visible, self._plan, builder, self._now, self.options)
        built = self._built(visible, builder)
        if built is not None and built != self._plan:
            held = builder.cost(visible, self._plan, visible.computed) if self._plan else None
            if held is None or is_less(builder.cost(visible, built), held):
                return built
        return None

    def settings_for(self, problem: Problem) -> Settings:
        """Return the settings for a problem."""
        if self._settings is not None:
            return self._settings
        from hindsched.online.coupled.lookahead.pilot_runs import settings_of  # noqa: PLC0415  # loads numba

        return settings_of(problem, self.options)

    def _built(self, visible: Visible, builder: PlanBuilder) -> dict[int, int] | None:
        """Return the plan built in this slot; with exchanges, the better of it and the plan held, both improved."""
        built = builder.build(visible)
        if built is None or not self._now.exchanges:
            return built
        built = builder.improve(visible, built)
        if self._plan:
            other = builder.improve(visible, self._plan)
            if is_less(builder.cost(visible, other), builder.cost(visible, built)):
                return other
        return built
