"""The proactive heuristics C-H: choose afresh with H in every slot, switch where criterion C gains by it."""

from __future__ import annotations

from collections.abc import Mapping

from online.coupled.criteria import Criterion, is_better, score
from online.coupled.estimates import Estimate, Estimates
from online.coupled.passive import Builder, elapsed, estimates_for
from online.coupled.visible import Visible

__all__ = ["Proactive"]


class Proactive:
    """Build a candidate in every slot and take it if it is strictly better than what is held (docs/model.md section 6).

    The candidate is built as if no task were allocated, though what enrolled workers have received counts. The
    configuration held is measured with W less the computation done, and its RECLAIMED members as if they were UP.

    Parameters
    ----------
    criterion
        What decides on a switch: P, E or Y.
    build_criterion
        What the candidate is built by, as in the passive heuristics.
    estimator
        One of `online.coupled.estimates.ESTIMATORS`.
    ties
        One of `online.coupled.criteria.TIES`.
    """

    def __init__(self, criterion: Criterion, build_criterion: Criterion, estimator: str, ties: str) -> None:
        self.name = f"{criterion}-I{build_criterion}"
        self._criterion = criterion
        self._build_criterion = build_criterion
        self._estimator = estimator
        self._ties = ties
        self._tools: tuple[Estimates, Builder] | None = None

    def choose(self, visible: Visible) -> Mapping[int, int] | None:
        """Return the candidate if nothing complete is held or it is strictly better; otherwise keep."""
        if visible.slot == 0 or self._tools is None:
            estimates = estimates_for(visible.problem, self._estimator)
            self._tools = estimates, Builder(self._build_criterion, estimates, visible.problem, self._ties)
        estimates, builder = self._tools
        candidate = builder.build(visible)
        if not visible.is_complete:
            return {} if candidate is None else candidate.tasks
        if candidate is None or candidate.tasks == visible.tasks:
            return None
        since = elapsed(visible)
        held = score(self._criterion, _measure_held(estimates, visible), since)
        gained = score(self._criterion, candidate.estimate, since)
        return candidate.tasks if is_better(gained, held) else None


def _measure_held(estimates: Estimates, visible: Visible) -> Estimate:
    work = max(x * visible.problem.w[q] for q, x in visible.tasks.items())
    needs = {q: visible.needs(q, x) for q, x in visible.tasks.items() if x}
    return estimates.measure(needs, work - visible.computed)
