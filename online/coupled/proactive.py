"""The proactive heuristics C-IH: build a candidate by H in every slot, switch to it if criterion C is better.

Written to be read; `hindsched.online.coupled.kernels.log_criteria_kernels` is the compiled twin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hindsched.online.coupled.criteria import Criterion, is_better, score
from hindsched.online.coupled.estimates import Estimate, Estimates
from hindsched.online.coupled.options import RunOptions
from hindsched.online.coupled.passive import Builder, elapsed, estimates_for
from hindsched.online.coupled.visible import Visible

__all__ = ["Proactive"]


class Proactive:
    """Build a candidate in every slot; take it if it is strictly better than the one held (docs/model.md section 6).

    The candidate is built as if no task were allocated, but with what enrolled workers have received. The configuration
    held is measured with its remaining computation and with its RECLAIMED members as if they were UP. This describes
    the comparison ``updated``; for the others see `hindsched.online.coupled.options.Comparison`.

    Parameters
    ----------
    criterion
        Criterion that decides on a switch: P, E or Y.
    build_criterion
        Criterion by which the candidate is built, as in the passive heuristics.
    options
        Its ``estimator``, ``ties`` and ``comparison`` are used.
    """

    def __init__(self, criterion: Criterion, build_criterion: Criterion, options: RunOptions) -> None:
        self.name = f"{criterion}-I{build_criterion}"
        self._criterion = criterion
        self._build_criterion = build_criterion
        self._options = options
        self._tools: tuple[Estimates, Builder] | None = None
        self._kept = 0.0  # the score of the configuration held when it was chosen

    def choose(self, visible: Visible) -> Mapping[int, int] | None:
        """Return the candidate if nothing complete is held or the candidate is strictly better; otherwise None."""
        if visible.slot == 0 or self._tools is None:
            made = estimates_for(visible.problem, self._options.estimator)
            self._tools = made, Builder(self._build_criterion, made, visible.problem, self._options.ties)
        estimates, builder = self._tools
        comparison = self._options.comparison
        is_passive = not visible.is_complete
        is_fresh = comparison.is_fresh and not is_passive
        candidate = builder.build(_as_if_nothing_received(visible) if is_fresh else visible)
        if candidate is None:
            return {} if is_passive else None
        if candidate.tasks == visible.tasks:
            return None
        since = elapsed(visible)
        gained = score(self._criterion, candidate.estimate, since)
        if not is_passive:
            held = self._kept
            if not comparison.keeps_value:
                held = score(self._criterion, _measure(estimates, visible, visible.tasks, visible.computed), since)
            if not is_better(gained, held):
                return None
        elif comparison.keeps_value and comparison.is_fresh:
            from_nothing = _measure(estimates, _as_if_nothing_received(visible), candidate.tasks)
            gained = score(self._criterion, from_nothing, since)
        self._kept = gained
        return candidate.tasks


def _as_if_nothing_received(visible: Visible) -> Visible:
    nothing = (0,) * visible.problem.num_workers
    return replace(visible, program=nothing, data=nothing)


def _measure(estimates: Estimates, visible: Visible, tasks: Mapping[int, int], computed: int = 0) -> Estimate:
    work = max(x * visible.problem.w[q] for q, x in tasks.items())
    needs = {q: visible.needs(q, x) for q, x in tasks.items() if x}
    return estimates.measure(needs, work - computed)
