"""When CP-SAT solves a branch node, and for how long: this depends on its recent successes.

The time that a node takes differs by orders of magnitude between instances. So the size of the nodes and the budget
follow the last answers, and unsuccessful runs have a limited part of all effort.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CpsatBudget", "CpsatBudgetParameters"]


@dataclass(frozen=True, slots=True)
class CpsatBudgetParameters:
    """Parameters of the budget.

    Parameters
    ----------
    small_arcs
        A node with at most this many arcs is small, at first.
    arcs_divisor
        Each larger node raises that limit by its part ``1 / arcs_divisor``.
    first_rate
        Deterministic time for each arc of an iteration, at first.
    rate_weight
        Weight of the last success in that rate.
    success_factor
        Budget as a multiple of the time that successes took.
    min_budget, max_budget
        Limits of the deterministic time for one node.
    first_growth, growth
        Factor of the rate after an unsuccessful run: before the first success, and after it.
    unsuccessful_divisor
        Unsuccessful runs may take this part of all other effort.
    initial_effort
        Effort that counts as spent by others at the beginning.
    time_effort, variable_effort
        Effort for a unit of deterministic time, about two seconds, and for a variable of a model.
    """

    small_arcs: int = 100
    arcs_divisor: int = 16
    first_rate: float = 0.1
    rate_weight: float = 0.3
    success_factor: int = 3
    min_budget: float = 0.2
    max_budget: float = 8.0
    first_growth: float = 1.5
    growth: float = 1.1
    unsuccessful_divisor: int = 2
    initial_effort: int = 200_000_000
    time_effort: int = 40_000_000
    variable_effort: int = 250


class CpsatBudget:
    """The budget of CP-SAT for the nodes of one instance.

    Parameters
    ----------
    iterations
        K.
    parameters
        Sizes, times and efforts.

    Attributes
    ----------
    small_arcs
        Nodes with at most this many arcs are small.
    """

    def __init__(self, iterations: int, parameters: CpsatBudgetParameters = CpsatBudgetParameters()) -> None:
        self.parameters = parameters
        self.small_arcs = parameters.small_arcs
        self._iterations = iterations
        self._sure_arcs = 0  # nodes with at most this many arcs are solved despite unsuccessful runs
        self._rate = parameters.first_rate
        self._has_succeeded = False
        self._other_effort = parameters.initial_effort
        self._unsuccessful_effort = 0

    def add_effort(self, effort: int) -> None:
        """Count effort, of CP-SAT or anything else."""
        self._other_effort += effort

    def admits(self, num_arcs: int) -> bool:
        """Return whether CP-SAT should solve a node with this many arcs."""
        if num_arcs > max(self.small_arcs, self._iterations):
            self.small_arcs += 1 + self.small_arcs // self.parameters.arcs_divisor
            return False
        allowed = self._other_effort // self.parameters.unsuccessful_divisor
        return num_arcs <= self._sure_arcs or self._unsuccessful_effort <= allowed

    def time_for(self, num_arcs: int) -> float:
        """Return the deterministic time for a node with this many arcs."""
        time = self._rate * num_arcs / self._iterations
        return min(self.parameters.max_budget, max(self.parameters.min_budget, time))

    def record(self, is_decided: bool, num_arcs: int, time: float, num_variables: int) -> int:
        """Take the result of a run into account, and return its effort."""
        given = self.parameters
        effort = num_variables * given.variable_effort + int(time * given.time_effort)
        if is_decided:
            self._has_succeeded = True
            self._rate += given.rate_weight * (given.success_factor * time * self._iterations / num_arcs - self._rate)
            self.small_arcs = max(self.small_arcs, 2 * num_arcs)
            self._sure_arcs = max(self._sure_arcs, num_arcs)
        else:
            self._unsuccessful_effort += effort
            self._other_effort -= effort  # `add_effort` counts it too
            self._rate *= given.growth if self._has_succeeded else given.first_growth
            self.small_arcs = min(self.small_arcs, num_arcs - num_arcs // 4)
            self._sure_arcs = min(self._sure_arcs, num_arcs // 2)
        return effort
