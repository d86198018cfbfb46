"""The free-prefetch lower bound for both objectives: cheap, and proven in docs/bounds.md, Proposition 2.

F(s) is the least slot in which an iteration that starts in slot s can end in the prefetch relaxation
(`prefetch_relaxation`) if each worker has received program in all its UP slots since its last DOWN. The code computes a
lower bound on F. A counting condition excludes ends, in O(p m) vectorised steps for each of at most p m values of W,
and then a search with a budget of nodes does; an end that exhausts its budget counts as possible. O(p^2 m N) in all,
plus the bounded search.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from hindsched.instances.coupled.model import Instance
from hindsched.offline.coupled.bounds.prefetch_relaxation import Budget, PrefetchRelaxation
from hindsched.offline.coupled.objectives import Objective
from hindsched.offline.limits import OutOfTimeError

__all__ = ["FreePrefetch", "free_prefetch_bound"]


class FreePrefetch:
    """A lower bound on F for one instance.

    Parameters
    ----------
    relaxation
        The prefetch relaxation of the instance.
    nodes_per_end, max_nodes
        Budgets of search nodes for each end and in all; smaller ones make the bound weaker and faster.
    """

    def __init__(self, relaxation: PrefetchRelaxation, nodes_per_end: int = 2_000, max_nodes: int = 200_000) -> None:
        self.relaxation = relaxation
        self._slots = relaxation.instance.slots
        self._nodes_per_end, self._nodes = nodes_per_end, max_nodes
        self._known: dict[int, int | None] = {}

    def earliest_end(self, start: int) -> int | None:
        """Return the slot before which no iteration ends that starts in ``start`` or later; None if none ends.

        When the time of the relaxation is over, ``start`` itself.
        """
        if start >= self._slots:
            return None
        if start not in self._known:
            try:
                self._known[start] = self._search(start)
            except OutOfTimeError:
                return start
        return self._known[start]

    def earliest_ends(self, iterations: int | None = None, proven: Sequence[int] = ()) -> list[int]:
        """Return the earliest ends of iterations 1, 2, ..., by composing the bound.

        Parameters
        ----------
        iterations
            Number of iterations; the list is shorter where the slots end before. None: as many as fit.
        proven
            Known earliest ends of the first iterations; the bound is applied from the last of them on.
        """
        ends = list(proven)
        while iterations is None or len(ends) < iterations:
            end = self.earliest_end(ends[-1] + 1 if ends else 0)
            if end is None:
                break
            ends.append(end)
        return ends

    def latest_ends(self, last: int, iterations: int) -> list[int]:
        """Return the latest slots in which iterations 1..K can end if iteration K ends in ``last`` or before.

        Iteration i ends in e at the latest if an iteration that starts in e + 1 can still end in time. A negative slot
        means that no schedule exists.
        """
        ends = [last]
        for _ in range(iterations - 1):
            low, high = -1, ends[-1] - 1  # every slot after high is excluded
            while low < high:
                end = (low + high + 1) // 2
                if self._is_in_time(end + 1, ends[-1]):
                    low = end
                else:
                    high = end - 1
            ends.append(high)
        return ends[::-1]

    def _is_in_time(self, start: int, last: int) -> bool:
        end = self.earliest_end(start)
        return end is not None and end <= last

    def _search(self, start: int) -> int | None:
        relaxation = self.relaxation
        credit = relaxation.prefetched(start)
        for end, group in groupby(relaxation.candidates(start, credit), key=lambda pair: pair[0]):
            budget = Budget(min(self._nodes_per_end, self._nodes))
            before = budget.nodes
            is_possible = any(
                next(relaxation.search(start, credit.tolist(), end, length, budget), None) or budget.is_spent
                for _, length in group
            )
            self._nodes -= before - budget.nodes
            if is_possible:
                return int(end)
        return None


def free_prefetch_bound(instance: Instance, objective: Objective | str = Objective.MAKESPAN) -> int | None:
    """Return a proven bound on the optimum, without solving anything.

    Parameters
    ----------
    instance
        The instance; 20 workers and 100,000 slots take seconds.
    objective
        ``makespan``: no schedule completes the iterations in fewer slots than the bound; None if it is proven that none
        completes them at all. ``iterations``: no schedule completes more iterations than the bound.

    Notes
    -----
    docs/bounds.md has the proof.

    Examples
    --------
    >>> pair = Instance.from_letters(["uruu", "uuru"], w=[1, 1], tasks=2, mu=[1, 1])
    >>> free_prefetch_bound(pair, "makespan"), free_prefetch_bound(pair, "iterations")
    (1, 2)
    >>> free_prefetch_bound(pair.replace(iterations=3), "makespan") is None
    True
    """
    bound = FreePrefetch(PrefetchRelaxation(instance))
    if Objective.parse(objective) is Objective.ITERATIONS:
        return len(bound.earliest_ends())
    ends = bound.earliest_ends(instance.iterations)
    return ends[-1] + 1 if len(ends) == instance.iterations else None
