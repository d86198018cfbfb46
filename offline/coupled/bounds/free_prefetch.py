"""The free-prefetch lower bound (docs/model.md section 3): cheap, proven, for both objectives.

Let F(s) be the least slot e in which an iteration that starts in slot s can end in the prefetch relaxation (see
`prefetch_relaxation`), every worker having the credit of program units received in *all* its UP slots since it was last
DOWN.

**F bounds every schedule.** Its iteration that starts in s and ends in e is a relaxed one, with at most that credit.

**F is monotone.** A relaxed iteration for the start s + 1 is one for s, with the same slots: the credit at s + 1
exceeds that at s by at most the slot s itself, which is then one of the UP slots in [s, c). Conditions 2 and 3 can only
gain.

**Composition.** If iteration i of a schedule ends in e_i, then e_1 >= F(0) and e_i >= F(e_(i-1) + 1). By induction and
monotonicity e_K is at least the K-fold composition of F. The same holds for any f <= F, monotone or not: with
f_i = f(f_(i-1) + 1), e_i >= F(e_(i-1) + 1) >= F(f_(i-1) + 1) >= f_i.

**What is computed** is such an f. For e = s, s + 1, ... the counting condition of `PrefetchRelaxation.candidates` is
tested, in O(p m) vectorised steps for each of at most p m values of W. Where it holds, the exact search looks for one,
with a budget of nodes for each e. When that is spent the answer is "perhaps", and e is taken. All budgets together are
bounded, so the bound costs O(p^2 m N) plus a bounded search. With no budget spent, f = F.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from hindsched.instances.coupled.model import Instance
from hindsched.offline.coupled.bounds.prefetch_relaxation import Budget, PrefetchRelaxation
from hindsched.offline.coupled.objectives import Objective

__all__ = ["FreePrefetch", "free_prefetch_bound"]

_NODES_PER_END = 2_000
_NODES_IN_ALL = 200_000


class FreePrefetch:
    """The function f of this module on one instance.

    Parameters
    ----------
    relaxation
        The prefetch relaxation of the instance.
    """

    def __init__(self, relaxation: PrefetchRelaxation) -> None:
        self.relaxation = relaxation
        self._slots = relaxation.instance.slots
        self._nodes = _NODES_IN_ALL
        self._known: dict[int, int | None] = {}

    def earliest_end(self, start: int) -> int | None:
        """Return f(start): no iteration that starts in ``start`` or later ends before it; None: none ends at all."""
        if start >= self._slots:
            return None
        if start not in self._known:
            self._known[start] = self._search(start)
        return self._known[start]

    def earliest_ends(self, iterations: int | None = None, proven: Sequence[int] = ()) -> list[int]:
        """Return the earliest ends of iterations 1, 2, ...: f(0), f(f(0) + 1), and so on.

        Parameters
        ----------
        iterations
            How many; there are fewer where the slots end before. None: as many as there are.
        proven
            Earliest ends of the first iterations that are known to be later; f is applied from the last of them on.
        """
        ends = list(proven)
        while iterations is None or len(ends) < iterations:
            end = self.earliest_end(ends[-1] + 1 if ends else 0)
            if end is None:
                break
            ends.append(end)
        return ends

    def latest_ends(self, last: int, iterations: int) -> list[int]:
        """Return the latest slots in which iterations 1..K can end, if iteration K ends in ``last`` or before.

        Iteration i cannot end in e if f(e + 1) is after the latest end of iteration i + 1; since F is monotone, it
        cannot end after such an e either. A negative slot means that there is no way.
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
            budget = Budget(min(_NODES_PER_END, self._nodes))
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
        Any instance; 20 workers and 100,000 slots take seconds.
    objective
        ``makespan``: no schedule completes the iterations in fewer slots than the bound; None if it is proven that none
        completes them at all. ``iterations``: no schedule completes more iterations than the bound.

    Notes
    -----
    docs/model.md section 3; the proof and the complexity are told at the top of this module.

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
